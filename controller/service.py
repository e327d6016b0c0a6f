"""The table's loop body: take one input, decide, write it down, change state, then show.

One order, always. Lamps and displays never run ahead of the ledger. This file knows the ports
and the domain; it opens no file and reads no clock of its own.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller import wire
from controller.config import TableFile
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Broken, Fault, Refused, check
from controller.domain.meter import commission
from controller.domain.pack import Settings
from controller.domain.table import Person, Phase, Role, Table, Wager
from controller.domain.view import IN_ROUND, View, lamps, view_of
from controller.ports import Board, Chip, Clock, Ledger

UNIT: Final = Person("unit", Role.SYSTEM)
STUCK_AFTER_MS: Final = 60_000


def replay(ledger: Ledger) -> Table | None:
    """The state that the rows fold to; None for a ledger without rows."""
    table: Table | None = None
    for row in ledger.rows():
        event = wire.decode(row.kind, row.version, row.payload)
        table = fold(table, event, row.seq)
    return table


def fold(table: Table | None, event: did.Event, seq: int) -> Table:
    """One row more. A row that cannot follow stops everything, by its number."""
    if isinstance(event, did.Commissioned):
        check(table is None, f"row {seq} commissions the table a second time")
        return machine.commission(event)
    if table is None:
        raise Broken(f"row {seq} comes before the table was commissioned")
    try:
        return machine.apply(table, event)
    except Broken as broken:
        raise Broken(f"row {seq}: {broken}") from broken


class TableService:
    """One table, alive: its state, and the only way to change it."""

    def __init__(
        self, *, ledger: Ledger, board: Board, clock: Clock, file: TableFile, software: str
    ) -> None:
        self._ledger, self._board, self._clock = ledger, board, clock
        self._boot = ledger.head.boot + 1 if ledger.head else 1
        self._late_seats: set[int] = set()  # where a chip was placed after LOCK
        self.stopped = ""  # why the table stopped, if the ledger failed
        table = replay(ledger)
        self.table = self._commission(file) if table is None else table
        self._record(did.Started(self._boot, software, ledger.repairs))
        self._take_settings(file)
        self._sweep()
        self.show()

    def _commission(self, file: TableFile) -> Table:
        postings = (posting for meter in file.settings.meters for posting in commission(meter))
        event = did.Commissioned(file.pack, file.settings, tuple(postings))
        self._append(event)
        return machine.commission(event)

    def _take_settings(self, file: TableFile) -> None:
        """A changed table file takes effect now, as an event, or the table does not start."""
        table = self.table
        if file.settings.table_id != table.settings.table_id:
            raise Fault(
                f"The ledger is table {table.settings.table_id}'s, the table file is"
                f" {file.settings.table_id}'s; give each table its own data directory."
            )
        same_pack = file.pack.fingerprint == table.pack.fingerprint
        if same_pack and file.settings == table.settings:
            return
        if table.phase is not Phase.CLOSED:
            raise Fault(
                f"The table file differs from the rules in force and the table is"
                f" {table.phase.value}: start it with the old file and close it first."
            )
        by = Person(file.approval_by or "", Role.TECHNICIAN)
        change = ask.ChangeSettings(by, file.approval_reference or "", file.pack, file.settings)
        try:
            self._record(machine.decide(table, change))
        except Refused as refused:
            raise Fault(f"The table file differs from the rules in force. {refused}") from refused

    @property
    def settings(self) -> Settings:
        return self.table.settings

    def ask(self, command: ask.Command) -> did.Event:
        """Answer one command: its event, durable and applied; or Refused, logged and shown."""
        self._check_running()
        try:
            event = machine.decide(self.table, command)
        except Refused as refused:
            self._record(did.InputRefused(command.by, machine.described(command), str(refused)))
            raise
        self._record(event)
        self.show()
        return event

    def _record(self, event: did.Event) -> None:
        """Write it down, then change state. Critical data is read back before and after a round."""
        if isinstance(event, did.BetsLocked):
            self._late_seats.clear()
            self._checked_head()
        self._append(event)
        self.table = machine.apply(self.table, event)
        if isinstance(event, did.RoundEnded):
            self._checked_head()

    def _append(self, event: did.Event) -> None:
        kind = wire.KIND_OF[type(event)]
        try:
            self._ledger.append(
                boot=self._boot,
                time=self._clock.label(),
                kind=kind,
                version=wire.VERSION,
                payload=wire.encode(event),
            )
        except Fault as fault:
            self.stopped = str(fault)
            raise

    def _checked_head(self) -> None:
        try:
            self._ledger.check_head()
        except Fault as fault:
            self.stopped = str(fault)
            raise

    def _check_running(self) -> None:
        if self.stopped:
            raise Fault(self.stopped)

    def show(self) -> None:
        seen = self.seen() if self.table.phase is Phase.OPEN else ()
        self._board.light(lamps(self.table, seen))

    @property
    def phase(self) -> Phase:
        """Where the table stands for people; a stopped one is out of service, whatever it did."""
        return Phase.FAULT if self.stopped else self.table.phase

    def view(self) -> View:
        view = view_of(self.table, self.seen())
        fault = self.stopped or self.table.fault
        return replace(view, phase=self.phase, fault=fault)

    def seen(self) -> dict[int, Chip]:
        """The chip that counts at each seat: the first to settle, at a seat that may wager."""
        first: dict[int, Chip] = {}
        for chip in sorted(self._board.chips(), key=lambda c: (c.since_ms, c.amount.ucents)):
            if chip.seat not in self.table.must_clear:
                first.setdefault(chip.seat, chip)
        return first

    def lock(self, by: Person) -> did.Event:
        chips = tuple(Wager(chip.seat, chip.amount) for chip in self.seen().values())
        return self.ask(ask.LockBets(by, chips))

    def end(self, by: Person) -> did.Event:
        return self.ask(ask.EndRound(by, self._board.covered()))

    def void(self, by: Person, reason: str) -> did.Event:
        return self.ask(ask.VoidRound(by, reason, self._board.covered()))

    def open(self, by: Person) -> did.Event:
        return self.ask(ask.OpenTable(by, self._board.covered()))

    def sensor_changed(self, seat: int, *, covered: bool) -> did.Event | None:
        """A chip came or went. Before LOCK only lamps follow; after it, a late chip is noted."""
        self._check_running()
        event = self._late(seat, covered=covered)
        self._sweep()
        self.show()
        return event

    def _late(self, seat: int, *, covered: bool) -> did.Event | None:
        """Lifting an accepted or struck chip is the dealer's work; all else after LOCK is late."""
        if self.table.phase not in IN_ROUND:
            return None
        round_ = self.table.round
        struck = any(change.seat == seat and change.struck for change in round_.changes)
        dealt_with = struck or round_.wager_of(seat) is not None
        if dealt_with and not covered and seat not in self._late_seats:
            return None
        self._late_seats.add(seat)
        event = machine.decide(self.table, ask.NoteLateChip(UNIT, seat, placed=covered))
        self._record(event)
        return event

    def tick(self) -> None:
        """Time has passed: settled chips light up, sensors covered too long go out of service."""
        self._check_running()
        self._sweep()
        self.show()

    def _sweep(self) -> None:
        """Compare the sensors with what the ledger knows of them."""
        covered = self._board.covered()
        for seat in self.table.must_clear:
            if seat not in covered:
                self._record(machine.decide(self.table, ask.NoteSeatEmpty(UNIT, seat)))
            elif self._is_stuck(seat):
                self._record(machine.decide(self.table, ask.NoteSeatStuck(UNIT, seat)))

    def _is_stuck(self, seat: int) -> bool:
        return (
            self.table.phase is Phase.OPEN
            and seat not in self.table.out_of_service
            and self._board.covered_ms(seat) >= STUCK_AFTER_MS
        )
