"""A whole table on simulated pins and simulated time: the daemon's own loop, pushed by hand.

Whoever holds it is the people at the table: chips, buttons, keys and the floor key move the
pins, and time passes only when they say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from controller.config import TableFile
from controller.domain.money import Money
from controller.domain.table import Person, Role
from controller.hardware import FLOOR_KEY, Line, LineKind, matrix_place
from controller.hardware_file import simulated
from controller.process import CheckPin, Loop, OpenLedger, World
from controller.screen import Screen
from firmware.inbox import Sweep
from firmware.pins import Pins
from firmware.scanner import SCAN_US
from mock_gpio.pins import SimulatedPins

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
PRESS_MS: Final = 70  # how long a finger stays on a button
KEY_SCANS: Final = 3  # enough for the keypad to see a key go down, or up
LOOKS_WITHOUT_EDGES: Final = 3
BOUNCES: Final = 3
BOUNCE_US: Final = 2_000


class SimulatedClock:
    """Wall time of the simulation: a fixed start plus what has passed on the pins' clock."""

    def __init__(self, table: SimulatedTable) -> None:
        self._table = table

    def label(self) -> str:
        now = EPOCH + timedelta(microseconds=self._table.now_us)
        return now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"

    def wall_ms(self) -> int:
        return self._table.now_us // 1000


class LastScreen:
    """Displays that keep the last screen they were given, for whoever wants to read it."""

    def __init__(self) -> None:
        self.screen: Screen | None = None

    def post(self, screen: Screen) -> None:
        self.screen = screen

    def faults(self) -> tuple[str, ...]:
        return ()

    def shown(self) -> dict[str, Money]:
        """These displays work: what was posted last is what shows."""
        meters = self.screen.view.meters if self.screen else ()
        return {meter.title: meter.shown for meter in meters}


FLOOR_NUMBER: Final = "900"
FLOOR_PIN: Final = "2580"


def simulated_staff(number: str, pin: str) -> Person | None:
    """The one floorperson of a simulated table."""
    right = (number, pin) == (FLOOR_NUMBER, FLOOR_PIN)
    return Person("floor", Role.FLOOR) if right else None


class SimulatedTable:
    """One table from power-up on. `us` is what its pins' clock shows."""

    def __init__(
        self,
        file: TableFile,
        open_ledger: OpenLedger,
        *,
        now_us: int = 0,
        lying: Iterable[Line] = (),
        check_pin: CheckPin = simulated_staff,
    ) -> None:
        settings = file.settings
        self.file = file
        self.hardware = simulated(file.hardware, seats=settings.seats, spots=len(settings.wagers))
        self.now_us = now_us
        self.hands = SimulatedPins(self.hardware, lambda: self.now_us)
        for line in lying:
            self.hands.cover(line)
        self.screens = LastScreen()
        world = World(
            pins=Pins(self.hardware, self.hands),
            hardware=self.hardware,
            screens=self.screens,
            clock=SimulatedClock(self),
            check_pin=check_pin,
            pause=self._pause,
            simulated=True,
        )
        self.loop = Loop(file, world, open_ledger)
        self.unit = self.loop.unit
        self.loop.start()
        self._seed = 0
        self._pin_of = dict(self.hardware.lines)
        self._place = {
            name: (row, column)
            for row, names in enumerate(self.hardware.keymap)
            for column, name in enumerate(names)
        }
        self._scan()  # all keys are up

    def _pause(self) -> None:
        self.now_us += SCAN_US

    def pass_ms(self, passed_ms: int) -> None:
        """Let time pass, then look at all levels: what happened when is in the edges."""
        self.now_us += passed_ms * 1000
        self.look()

    def look(self) -> None:
        """One sweep of all levels, and whatever has come of it and of the time."""
        loop = self.loop
        loop.inbox.put(Sweep(loop.levels(), self.now_us))
        self._drain()
        loop.turn()

    def _drain(self) -> None:
        self.loop.drain()
        self.unit.judge_lock()

    def move(self, line: Line, *, active: bool) -> None:
        """A contact closes or opens, and bounces as contacts do."""
        self._seed += 1
        plan = self.hands.bounce(
            line, active=active, seed=self._seed, edges=BOUNCES, within_us=BOUNCE_US
        )
        self.hands.play(line, plan)
        self.now_us += BOUNCE_US
        self._drain()

    def lying(self) -> list[Line]:
        """The sensors that something lies on."""
        levels = self.loop.levels()
        return [line for line, on in levels.items() if on and line.kind is LineKind.SENSOR]

    def press(self, line: Line) -> None:
        """A finger on LOCK or END."""
        # A switch on the keypad's wires has no edges, so only sweeps can tell that it moved.
        looks = LOOKS_WITHOUT_EDGES if matrix_place(self._pin_of[line]) else 1
        for active in (True, False):
            self.move(line, active=active)
            for _ in range(looks):
                self.pass_ms(PRESS_MS)

    def turn_key(self, *, on: bool) -> None:
        self.move(FLOOR_KEY, active=on)
        self.pass_ms(PRESS_MS)

    def keys(self, names: Iterable[str]) -> None:
        """Keys of the keypad, one after the other."""
        for name in names:
            place = self._place[name]
            self.hands.press_key(*place)
            self._scan()
            self.hands.release_key(*place)
            self._scan()

    def _scan(self) -> None:
        for _ in range(KEY_SCANS):
            self.now_us += SCAN_US
            self.loop.scanner.scan()
            self._drain()
