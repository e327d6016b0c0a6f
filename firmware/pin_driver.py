"""Whether the pin driver that a table file names is there, whole, and fit for this kernel.

A driver that is missing, empty or deaf is refused by a sentence that says what to install. It is
never replaced by another one. Nothing is opened here.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module, metadata
from typing import Final

from controller.domain.errors import Fault, check
from controller.hardware import FactoryName

_DEAF_FROM_KERNEL: Final = (6, 6)


def load_driver(name: FactoryName) -> None:
    check(name is not FactoryName.MOCK, "simulated pins are handed in, never opened")
    _refuse_rivals()
    if name is FactoryName.RPIGPIO:
        _refuse_deaf_driver()
        _import("RPi.GPIO")
    else:
        _import("lgpio")
        _refuse_empty_lgpio()


def driver_errors() -> tuple[type[Exception], ...]:
    """All that a driver may raise; lgpio's own error exists only once lgpio is loaded."""
    own = getattr(sys.modules.get("lgpio"), "error", OSError)
    return (OSError, RuntimeError, own)


def _import(driver: str) -> None:
    try:
        import_module(driver)
    except ImportError as error:
        raise Fault(
            f"{driver} cannot be loaded ({error}): install python3-lgpio and python3-rpi-lgpio of"
            " Raspberry Pi OS, or this project with [pi]."
        ) from error
    except OSError as error:
        raise Fault(
            f"lgpio cannot make its pipe in the working directory ({error}): give the service a"
            " WorkingDirectory= that it may write to, or name one in LG_WD."
        ) from error
    except RuntimeError as error:
        raise Fault(f"{driver} refuses this machine ({error}): use a Raspberry Pi.") from error


def _refuse_empty_lgpio() -> None:
    if not hasattr(sys.modules["lgpio"], "gpiochip_open"):
        raise Fault(
            "The installed lgpio is the empty release 0.0.0.2: install lgpio 0.2.2.0 or later, or"
            " python3-lgpio of Raspberry Pi OS."
        )


def _refuse_rivals() -> None:
    if _is_installed("RPi.GPIO") and _is_installed("rpi-lgpio"):
        raise Fault(
            "RPi.GPIO and rpi-lgpio are both installed and overwrite each other's files: uninstall"
            " both, then install rpi-lgpio alone."
        )


def _refuse_deaf_driver() -> None:
    """The old RPi.GPIO loads on newer kernels, reads levels, and never hears an edge."""
    import platform

    numbers = re.match(r"(\d+)\.(\d+)", platform.release())
    kernel = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    if kernel >= _DEAF_FROM_KERNEL and _is_installed("RPi.GPIO"):
        raise Fault(
            f"RPi.GPIO sees no edges on kernel {platform.release()}: uninstall it and install"
            ' rpi-lgpio, or set factory = "lgpio".'
        )


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
