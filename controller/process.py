"""One table put together: ledger, service, unit and desk, and the loop that owns them all.

The daemon runs the loop on real time with threads that fill its inbox; a simulation runs the
same loop on simulated time and fills the inbox itself. Nothing else differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from controller import VERSION
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.adapters.machine import addresses, check_software, digest
from controller.config import TableFile
from controller.domain.errors import Fault
from controller.domain.table import Person
from controller.hardware import DOOR, FLOOR_KEY, Hardware, Line
from controller.inputs import DoorSwitched, InputsLost, KeySwitched
from controller.ports import Clock, Ledger, Screens
from controller.readout import Facts
from controller.service import TableService
from controller.surroundings import Surroundings
from controller.unit import Unit
from firmware.desk import Desk
from firmware.inbox import LIMIT, Inbox, Seen
from firmware.keys import Keypad
from firmware.pins import Pins
from firmware.scanner import Scanner

TURN_US: Final = 50_000
EQUAL_SWEEPS: Final = 5  # before the sensors are believed after power-up
SWEEP_TRIES: Final = 100

CheckPin = Callable[[str, str], Person | None]
OpenLedger = Callable[[], Ledger]


class World(Struct, frozen=True):
    """What a table stands in: real, or simulated."""

    pins: Pins
    hardware: Hardware
    screens: Screens
    clock: Clock
    check_pin: CheckPin
    pause: Callable[[], None]  # between the sweeps at start
    simulated: bool


class Books:
    """Opens the ledger and a service on it, each time anew, and closes the one before."""

    def __init__(self, file: TableFile, open_ledger: OpenLedger, desk: Desk, clock: Clock) -> None:
        self._file, self._open_ledger = file, open_ledger
        self._desk, self._clock = desk, clock
        self._ledger: Ledger | None = None
        self.repairs: tuple[str, ...] = ()
        self.takes_long: Callable[[bool], None] = lambda _long: None  # whoever watches is told

    def open(self) -> TableService:
        self.close()
        self.takes_long(True)  # noqa: FBT003 - a callback
        try:
            self._ledger = self._open_ledger()
        finally:
            self.takes_long(False)  # noqa: FBT003 - a callback
        self.repairs = self._ledger.repairs
        return TableService(
            ledger=self._ledger,
            board=self._desk,
            clock=self._clock,
            file=self._file,
            software=VERSION,
            digest=digest(),
        )

    def close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


def ledger_opener(file: TableFile, data: Path) -> OpenLedger:
    copy = Path(file.ledger_copy) if file.ledger_copy else None
    return lambda: SqliteLedger.open(data, copy=copy, table_id=file.settings.table_id)


class Loop:
    """The one thread that owns the state of a table."""

    def __init__(self, file: TableFile, world: World, open_ledger: OpenLedger) -> None:
        check_software(file.software)
        self._world, self._file = world, file
        self.inbox = Inbox()
        self._lost = 0
        self._must_resync = False
        self.desk = Desk(world.pins, world.hardware, file.settings.wagers)
        self.scanner = Scanner(
            world.pins, Keypad(world.hardware.keymap), self.desk.inputs, self.inbox
        )
        self.books = Books(file, open_ledger, self.desk, world.clock)
        self.unit = Unit(self.books.open, self._surroundings())
        self._turn_us = 0

    def _surroundings(self) -> Surroundings:
        facts = Facts(addresses(), VERSION, digest(), self._world.hardware.factory.value)
        return Surroundings(
            board=self.desk,
            screens=self._world.screens,
            clock=self._world.clock,
            check_pin=self._world.check_pin,
            facts=lambda: facts,
            table_id=self._file.settings.table_id,
            simulated=self._world.simulated,
        )

    def start(self) -> None:
        """Levels first, until they stand still; then the ledger; then whatever it says."""
        self._world.pins.watch(self.inbox.edge)
        levels = self._steady_levels()
        self.desk.begin(levels)
        self.unit.start(door_open=levels.get(DOOR, False), key_on=levels.get(FLOOR_KEY, False))
        self._begin_again()

    def _begin_again(self) -> None:
        """Checking a long ledger takes a while; what was pressed meanwhile was pressed in vain."""
        self.inbox.clear()
        levels = self.levels()
        self.desk.begin(levels)
        if levels.get(DOOR, False) != self.unit.door_open:
            self.unit.take(DoorSwitched(levels[DOOR]))
        if levels.get(FLOOR_KEY, False) != self.unit.panel.key_on:
            self.unit.take(KeySwitched(levels[FLOOR_KEY]))

    def _steady_levels(self) -> Mapping[Line, bool]:
        """Just after power-up inputs tell stories: wait for sweeps that agree, not for ever."""
        pins, lines = self._world.pins, self.desk.inputs
        levels, equal = pins.levels(lines), 1
        for _ in range(SWEEP_TRIES):
            if equal == EQUAL_SWEEPS:
                break
            self._world.pause()
            again = pins.levels(lines)
            levels, equal = again, equal + 1 if again == levels else 1
        return levels

    def levels(self) -> dict[Line, bool]:
        """Every input as it stands."""
        return self._world.pins.levels(self.desk.inputs)

    def step(self, wait_us: int) -> bool:
        """Take one thing from the inbox, if one comes in that time, and turn when it is due."""
        seen = self.inbox.take(wait_us)
        if seen is not None:
            self.handle(seen)
            self.drain()
        self.unit.judge_lock()
        if self.desk.now_us() >= self._turn_us:
            self.turn()
        return seen is not None

    def drain(self) -> None:
        """Everything that lies in the inbox now: LOCK is judged when all of it is known."""
        for _ in range(LIMIT):
            seen = self.inbox.take(0)
            if seen is None:
                break
            self.handle(seen)

    def handle(self, seen: Seen) -> None:
        try:
            self._handle(seen)
        except Fault as fault:
            self.desk.fail(str(fault))

    def _handle(self, seen: Seen) -> None:
        if self.inbox.lost != self._lost:
            self._lost = self.inbox.lost
            self._must_resync = True
            self.unit.take(InputsLost())
        if self._must_resync:
            self.desk.resync()
            self._must_resync = False
        for act in self.desk.take(seen):
            self.unit.take(act)

    def turn(self) -> None:
        """What time alone demands."""
        self._turn_us = self.desk.now_us() + TURN_US
        self.desk.turn()
        was_down = self.unit.service is None
        self.unit.turn()
        if was_down and self.unit.service is not None:
            self._begin_again()

    def rest(self) -> None:
        """Nothing is going on: whatever can be made safer now is."""
        self.unit.rest()

    def until_turn_us(self) -> int:
        return max(0, self._turn_us - self.desk.now_us())

    def close(self) -> None:
        self.books.close()
        self._world.pins.close()
