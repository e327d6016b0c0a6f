"""A table as its people find it: every pin, a staff, and a ledger that outlives the process.

Nothing reaches the table but through its pins. The ledger is in memory; what is stored in it
survives a restart and a disk that fails and is cured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from controller import wire
from controller.domain.errors import Fault
from controller.hardware import END, LOCK, Line, sensor
from controller.hardware import lamp as lamp_line
from controller.panel import keys as pressing
from mock_gpio.bench import LIFT_MS
from mock_gpio.table import SimulatedTable
from tests.builders import FLOOR, NOW_US, SETTLED_MS, WatchedLedger, table_file
from tests.keypad import NUMBER_OF, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.chain import Row
    from controller.config import TableFile
    from controller.domain.pack import Hand
    from controller.domain.table import Person, Phase, Table
    from controller.domain.view import Lamp
    from controller.screen import Screen
    from controller.service import TableService

Event = TypeVar("Event")

TURN_MS: Final = 50
BROKEN: Final = "the disk is full; make room"


def check_pin(number: str, pin: str) -> Person | None:
    """The staff of this house; see tests/keypad.py."""
    right, person = NUMBERS.get(number, ("", FLOOR))
    return person if pin and pin == right else None


class WholeTable:
    """One life of a table. `again` is the next one, after the plug was pulled."""

    def __init__(
        self,
        file: TableFile | None = None,
        *,
        rows: Iterable[Row] = (),
        lying: Iterable[Line] = (),
        now_us: int = NOW_US,
        broken: str = "",
    ) -> None:
        self.file = file or table_file()
        self.diary: list[str] = []
        self.ledger = WatchedLedger(self.diary, rows)
        self.broken = broken  # while it says something, the ledger cannot be opened
        self.opens: list[int] = []  # when somebody tried
        self.now_us = now_us
        self.sim = SimulatedTable(
            self.file, self._open_ledger, now_us=now_us, lying=lying, check_pin=check_pin
        )
        self.unit, self.desk, self.hands = self.sim.unit, self.sim.loop.desk, self.sim.hands
        self.wait(SETTLED_MS)

    def _open_ledger(self) -> WatchedLedger:
        self.opens.append(self.sim.now_us if hasattr(self, "sim") else self.now_us)
        if self.broken:
            raise Fault(self.broken)
        self.ledger = WatchedLedger(self.diary, self.ledger.stored)
        return self.ledger

    def again(self, *, lying: Iterable[Line] | None = None, broken: str = "") -> WholeTable:
        """The plug was pulled and put back: nothing is left but the rows and the chips."""
        chips = self.sim.lying() if lying is None else lying
        later_us = self.sim.now_us + 1_000_000
        rows = self.ledger.stored
        return WholeTable(self.file, rows=rows, lying=chips, now_us=later_us, broken=broken)

    # The state, and what shows of it.

    @property
    def service(self) -> TableService:
        if self.unit.service is None:
            raise Fault(self.unit.down)
        return self.unit.service

    @property
    def table(self) -> Table:
        return self.service.table

    @property
    def phase(self) -> Phase:
        return self.unit.phase

    def is_in(self, phase: Phase) -> bool:
        return self.unit.phase is phase

    @property
    def screen(self) -> Screen:
        return self.unit.screen()

    @property
    def lamps(self) -> Mapping[int, Lamp]:
        return dict(self.desk._lamps)

    def lamp(self, seat: int) -> Lamp:
        return self.lamps[seat]

    def reminders(self) -> tuple[str, ...]:
        return self.unit.screen().reminders

    def lit(self) -> set[int]:
        """The seats whose lamp is lit at this instant, as the pins have it."""
        seats = range(1, self.file.settings.seats + 1)
        return {seat for seat in seats if self.hands.lit(lamp_line(seat))}

    def wagers(self) -> list[int]:
        return [wager.seat for wager in self.table.round.wagers]

    # The ledger.

    def kinds(self) -> list[str]:
        return [row.kind for row in self.ledger.stored]

    def events(self, kind: type[Event]) -> list[Event]:
        """Every event of a kind, oldest first."""
        found = [wire.decode(r.kind, r.version, r.payload) for r in self.ledger.stored]
        return [event for event in found if isinstance(event, kind)]

    def last(self, kind: type[Event]) -> Event:
        return self.events(kind)[-1]

    def break_disk(self, why: str = BROKEN) -> None:
        """From now on nothing can be written, and the ledger cannot be opened either."""
        self.broken = self.ledger.disk_fault = why

    def cure_disk(self) -> None:
        self.broken, self.ledger.disk_fault = "", None

    # Time.

    def wait(self, passed_ms: int) -> None:
        """Time passes as it does in the daemon: a look and a turn every 50 ms."""
        while passed_ms > 0:
            self.sim.pass_ms(min(passed_ms, TURN_MS))
            passed_ms -= TURN_MS

    def after_us(self, passed_us: int) -> int:
        """Time passes and nobody looks."""
        self.sim.now_us += passed_us
        return self.sim.now_us

    # Hands.

    def chip(self, *seats: int, rest_ms: int = SETTLED_MS) -> None:
        for seat in seats:
            self.sim.move(sensor(seat), active=True)
        self.wait(rest_ms)

    def lift(self, *seats: int) -> None:
        for seat in seats:
            self.sim.move(sensor(seat), active=False)
        self.wait(LIFT_MS)

    def lock(self) -> None:
        self.sim.press(LOCK)

    def end(self) -> None:
        self.sim.press(END)

    def keys(self, *names: str) -> None:
        self.sim.keys(names)

    def text(self) -> str:
        """The keypad's page as one text; nothing if the round shows."""
        page = self.screen.page
        return "\n".join((page.title, *page.lines, page.entry, page.hint)) if page else ""

    def sign_in(self, person: Person = FLOOR, pin: str | None = None) -> None:
        """Turn the floor key, key number and PIN."""
        number = NUMBER_OF[person]
        self.sim.turn_key(on=True)
        self.keys(*pressing.sign_in_keys(number, pin or NUMBERS[number][0]))

    def sign_out(self) -> None:
        self.sim.turn_key(on=False)

    def floor(self, keys: tuple[str, ...] | None) -> None:
        """The floor comes, does one thing and goes."""
        assert keys is not None, "the keypad cannot express it now"
        self.sign_in()
        self.keys(*keys)
        self.sign_out()

    def open(self) -> None:
        self.floor(pressing.open_keys(self.table))

    def count(self, number: int) -> None:
        self.keys(*(pressing.count_keys(self.table, number) or ()))

    def prove(self, *seats: int) -> None:
        """LOCK with chips at these seats, and a count that agrees; the chips are collected."""
        self.chip(*seats)
        self.lock()
        self.count(len(seats))
        self.lift(*seats)

    def win(self, seat: int, hand: Hand) -> None:
        self.keys(*(pressing.win_keys(self.table, seat, hand) or ()))


def opened(file: TableFile | None = None) -> WholeTable:
    """A table on which betting is open."""
    table = WholeTable(file)
    table.open()
    return table
