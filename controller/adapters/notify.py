"""Tells systemd how the process is: starting, ready, alive, leaving. Without systemd it is silent.

It may not hold up or stop the table: nothing here waits, and a message that cannot be delivered
is dropped. Whether a silent table is restarted is for systemd's watchdog to decide.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUS_CHARACTERS_MAX: Final = 200  # systemd ignores a message of more than 4096 bytes

_US_PER_MS: Final = 1000


class Notifier:
    """The notify socket of one process; made by from_environment()."""

    watchdog_ms: int | None  # how often to call watchdog(); None if nobody listens for it

    def __init__(self, address: str | None, *, watchdog_ms: int | None) -> None:
        self._address = address
        self.watchdog_ms = watchdog_ms

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Notifier:
        """What systemd left in the environment for us, or a notifier that keeps silent."""
        address = _address(environ.get("NOTIFY_SOCKET", ""))
        return cls(address, watchdog_ms=_watchdog_ms(environ) if address else None)

    def ready(self, status: str) -> None:
        """The start is complete. From now on the watchdog counts."""
        self._send("READY=1", _status(status))

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(_status(text))

    def watchdog(self) -> None:
        """The loop did its work. Call it from nowhere else: a thread of its own proves nothing."""
        self._send("WATCHDOG=1")

    def watchdog_within(self, ms: int) -> None:
        """From now on the watchdog bites after this time, not after the unit file's."""
        self._send(f"WATCHDOG_USEC={ms * _US_PER_MS}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def extend(self, ms: int) -> None:
        """Starting or stopping goes on, and is not to be broken off within this time."""
        self._send(f"EXTEND_TIMEOUT_USEC={ms * _US_PER_MS}")

    def _send(self, *assignments: str) -> None:
        if self._address is None:
            return
        message = "\n".join(assignments).encode("utf-8", "replace")
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(0)
            sender.sendto(message, self._address)


def _address(name: str) -> str | None:
    """A path, or an abstract name, which systemd writes with @ and the kernel wants with a NUL."""
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else None


def _watchdog_ms(environ: Mapping[str, str]) -> int | None:
    """Half of what systemd waits, if it waits for us and not for another process."""
    if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    waits_us = environ.get("WATCHDOG_USEC", "")
    return int(waits_us) // (2 * _US_PER_MS) or None if waits_us.isdecimal() else None


def _status(text: str) -> str:
    """On one line: a line break would begin another assignment."""
    return "STATUS=" + " ".join(text.split())[:STATUS_CHARACTERS_MAX]
