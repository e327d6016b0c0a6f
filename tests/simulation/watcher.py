"""Watches a table while a monkey plays with it, and writes down what must never happen."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from controller import wire
from controller.domain import events as did
from controller.domain.errors import Broken
from controller.domain.meter import check_identity
from controller.domain.table import Phase, Role
from controller.domain.view import IN_ROUND, Lamp
from controller.hardware import DOOR, FLOOR_KEY
from controller.hardware import lamp as lamp_line
from controller.service import fold
from tests.keypad import fits

if TYPE_CHECKING:
    from controller.domain.table import Table
    from tests.whole_table import WholeTable

REMEMBERED: Final = 25
FOLD_EVERY: Final = 10

# What needs the floor's credential (MD 11.J(2)(c)).
FLOOR_EVENTS: Final = (
    did.TableOpened,
    did.TableClosed,
    did.WagerChanged,
    did.MiscountResolved,
    did.BetsReopened,
    did.WinValidated,
    did.WinRejected,
    did.RoundVoided,
)
# What a table may write down by itself while nobody touches it.
NOTES: Final = (
    did.Started,  # a cured ledger was opened again
    did.SignedOut,  # a key that was turned off meanwhile
    did.LateChipNoted,
    did.SeatCleared,
    did.SeatStuck,
    did.SeatNoisy,
    did.EdgesKept,
    did.DoorMoved,
    did.ClockStepped,
    did.HardwareNoted,
    did.FaultRaised,
    did.FaultCleared,
)


class Watcher:
    """Reads every new row, and looks at lamps and pages after each input."""

    def __init__(self, table: WholeTable, name: str) -> None:
        self.table, self.name = table, name
        self.inputs = 0
        self.kinds: Counter[str] = Counter()
        self.phases: set[Phase] = set()
        self.wrong: dict[str, str] = {}  # the first of each sort
        self.idle = False
        self._last: deque[str] = deque(maxlen=REMEMBERED)
        self._read = 0
        self._folded: Table | None = None
        self._floor_in = False  # the floor has signed in and the key has been on since
        self._key_was_on = False  # at any time since the last look
        self._notice = ""

    def must(self, good: bool, what: str, why: str = "") -> None:
        if not good and what not in self.wrong:
            self.wrong[what] = (
                f"{self.name}, input {self.inputs}: {why}; the last inputs were"
                f" {' | '.join(self._last)}"
            )

    def key_turned(self, *, on: bool) -> None:
        self._floor_in = False
        self._key_was_on = self._key_was_on or on

    def look(self, name: str, *, several: bool = False) -> None:
        """After an input, or several at once: whatever it was, the table is in order."""
        self.inputs += 1
        self._last.append(name)
        was_in = self._floor_in
        events = self._new_events()
        for event in events:
            self._check_floor(event, was_in=was_in)
        self._key_was_on = self.table.hands._driven[FLOOR_KEY]
        self._floor_in = self._floor_in and self._key_was_on
        if self.idle:
            strange = [type(event).__name__ for event in events if not isinstance(event, NOTES)]
            self.must(not strange, "written while nobody pressed anything", str(strange))
            self._check_switches()
            self.idle = False
        self.phases.add(self.table.phase)
        self._check_sentences(events, several=several)
        self._check_shown()
        self._check_money()
        self._check_lamps()

    def _new_events(self) -> list[did.Event]:
        rows = self.table.ledger.stored[self._read :]
        self._read += len(rows)
        events = []
        for row in rows:
            event = wire.decode(row.kind, row.version, row.payload)
            self._folded = fold(self._folded, event, row.seq)
            self.kinds[row.kind] += 1
            events.append(event)
        return events

    def _check_floor(self, event: did.Event, *, was_in: bool) -> None:
        if isinstance(event, did.SignedIn) and event.by.role is Role.FLOOR:
            self.must(self._key_was_on, "the floor signed in without its key")
            self._floor_in = True
        if isinstance(event, FLOOR_EVENTS):
            kind = type(event).__name__
            self.must(self._floor_in or was_in, f"{kind} without the floor at its key")

    def _check_switches(self) -> None:
        """Once things have come to rest the table knows how its key and its door stand."""
        unit, stands = self.table.unit, self.table.hands._driven
        if unit.service is not None:
            self.must(unit.panel.key_on is stands[FLOOR_KEY], "the floor key is not known")
            self.must(unit.service.table.door_open is stands[DOOR], "the door is not known")

    def _check_sentences(self, events: list[did.Event], *, several: bool) -> None:
        """A refusal is a sentence on the display and a row; neither comes alone."""
        unit = self.table.unit
        refused = [event.why for event in events if isinstance(event, did.InputRefused)]
        failed = any(isinstance(event, did.SignInFailed) for event in events)
        if unit.service is None:
            self.must(bool(unit.down), "a stopped table does not say why")
        else:
            new = unit.notice if unit.notice != self._notice else ""
            rowless = bool(new) and new not in refused and not failed
            self.must(not rowless, "a sentence without a row", new)
            last = bool(events) and isinstance(events[-1], did.InputRefused)
            unsaid = last and not unit.notice and not several
            self.must(not unsaid, "a refusal without a sentence", str(refused))
        self._notice = unit.notice

    def _check_shown(self) -> None:
        screen = self.table.unit.screen()
        page = screen.page
        self.must(page is None or fits(page), "a page that does not fit", str(page))
        is_out = screen.view.phase is Phase.FAULT
        self.must(not is_out or bool(screen.view.fault), "out of service without a reason")

    def _check_money(self) -> None:
        service = self.table.unit.service
        if service is None:
            return
        for meter in service.table.meters:
            try:
                check_identity(meter)
            except Broken as broken:
                self.must(False, "money", str(broken))
        if self.inputs % FOLD_EVERY == 0:
            self.must(service.table == self._folded, "the state is not what the rows fold to")

    def _check_lamps(self) -> None:
        """Accepted lamps are the wagers of the ledger: no more and no fewer, and really lit."""
        service, lamps = self.table.unit.service, self.table.lamps
        accepted = {seat for seat, lamp in lamps.items() if lamp is Lamp.ACCEPTED}
        if service is None or self._folded is None:
            return
        table = service.table
        phase = table.resume if table.phase is Phase.FAULT else table.phase
        wagers = {wager.seat for wager in table.round.wagers} if phase in IN_ROUND else set()
        self.must(accepted == wagers, "accepted lamps are not the wagers", f"{accepted} {wagers}")
        if table.phase is not Phase.FAULT and not self.table.desk.faults():
            dark = {seat for seat in wagers if not self.table.hands.lit(lamp_line(seat))}
            self.must(not dark, "an accepted lamp is dark", str(dark))
