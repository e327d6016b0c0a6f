"""The real gear of a table: pins by the factory that its file names, displays, and real time."""

from __future__ import annotations

import time
from typing import Any, Final

from controller.adapters.machine import SystemClock
from controller.hardware import Hardware
from controller.selftest.rig import Gear, wirings
from display.glass import Glass, open_glass
from display.screens import Name
from firmware.pins import LumaPins, Pins, open_factory
from firmware.scanner import SCAN_US

SECOND_US: Final = 1_000_000


def open_gear(hardware: Hardware) -> Gear:
    """Claim every wire; a Fault says what stands in the way."""
    factory = open_factory(hardware.factory)
    glasses: dict[Name, Glass] = {}
    for name, wiring in wirings(hardware).items():
        gpio: Any = LumaPins(factory)  # in the shape of RPi.GPIO, which has no types
        glasses[name] = open_glass(wiring, gpio=gpio)
    return Gear(
        pins=Pins(hardware, factory),
        hardware=hardware,
        glasses=glasses,
        wait=lambda: time.sleep(SCAN_US / SECOND_US),
        clock=SystemClock(),
        simulated=False,
    )
