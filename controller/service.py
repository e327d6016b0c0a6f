"""The table's loop body: take one input, decide, write it down, change state, then show.

One order, always. Lamps and displays never run ahead of the ledger. This file knows the ports
and the domain; it opens no file and reads no clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn

from msgspec.structs import replace

from controller import wire
from controller.config import TableFile
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Broken, Fault, Refused, check
from controller.domain.meter import check_identity, commission
from controller.domain.pack import Settings
from controller.domain.table import Person, Phase, RawEdge, Reminder, Role, Table, Wager
from controller.domain.view import IN_ROUND, View, lamps, view_of
from controller.ports import Board, Chip, Clock, Ledger

UNIT: Final = Person("unit", Role.SYSTEM)
STUCK_AFTER_MS: Final = 60_000
SNAPSHOT_ROUNDS: Final = 500
EVIDENCE_BEFORE_US: Final = 3_000_000  # raw edges kept with each LOCK
EVIDENCE_AFTER_US: Final = 2_000_000


def replay(ledger: Ledger) -> Table | None:
    """The state that the rows fold to; None for a ledger without rows.

    The fold begins at the last snapshot. Opening the ledger has proved that row's place in the
    chain, in both files; what it says is checked against the money identity here, and against
    all rows before it by every audit.
    """
    table, after_seq = _snapshot(ledger)
    for row in ledger.rows(after_seq):
        event = wire.decode(row.kind, row.version, row.payload)
        table = fold(table, event, row.seq)
    return table


def _snapshot(ledger: Ledger) -> tuple[Table | None, int]:
    row = ledger.last_of(wire.KIND_OF[did.SnapshotTaken])
    if row is None:
        return None, 0
    event = wire.decode(row.kind, row.version, row.payload)
    if not isinstance(event, did.SnapshotTaken):
        raise Broken(f"row {row.seq} is not the snapshot it is filed as")
    for meter in event.table.meters:
        check_identity(meter)
    return event.table, row.seq


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
        self,
        *,
        ledger: Ledger,
        board: Board,
        clock: Clock,
        file: TableFile,
        software: str,
        digest: str = "",
    ) -> None:
        self._ledger, self._board, self._clock = ledger, board, clock
        self._boot = ledger.head.boot + 1 if ledger.head else 1
        self._late_seats: set[int] = set()  # where a chip was placed after LOCK
        self._locked_us: int | None = None  # while edges after LOCK are still to be kept
        self._opened_us = board.now_us()  # since when betting has been open
        self._aged_us = board.now_us()  # up to when the age of the deck is in the ledger
        self.stopped = ""  # why the table stopped, if the ledger failed
        table = replay(ledger)
        self.table = self._commission(file) if table is None else table
        change = self._changed_settings(file)  # before a row is written: it may not fit
        self._record(did.Started(self._boot, software, ledger.repairs, digest))
        if change is not None:
            self._record(change)
        self._sweep()
        self._show_and_mirror()

    def _commission(self, file: TableFile) -> Table:
        postings = (posting for meter in file.settings.meters for posting in commission(meter))
        event = did.Commissioned(file.pack, file.settings, tuple(postings))
        self._append(event)
        return machine.commission(event)

    def _changed_settings(self, file: TableFile) -> did.Event | None:
        """A changed table file takes effect now, as an event, or the table does not start."""
        table = self.table
        if file.settings.table_id != table.settings.table_id:
            raise Fault(
                f"The ledger is table {table.settings.table_id}'s, the table file is"
                f" {file.settings.table_id}'s; give each table its own data directory."
            )
        same_pack = file.pack.fingerprint == table.pack.fingerprint
        if same_pack and file.settings == table.settings:
            return None
        if table.phase is not Phase.CLOSED:
            raise Fault(
                f"The table file differs from the rules in force and the table is"
                f" {table.phase.value}: start it with the old file and close it first."
            )
        by = Person(file.approval_by or "", Role.TECHNICIAN)
        change = ask.ChangeSettings(by, file.approval_reference or "", file.pack, file.settings)
        try:
            return machine.decide(table, change)
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
            self._log_refusal(command.by, machine.described(command), str(refused))
            raise
        if isinstance(event, did.RoundEnded | did.RoundVoided | did.BetsReopened):
            self._keep_edges()
        self._record(event)
        self._show_and_mirror()
        return event

    def refuse(self, by: Person, asked: str, why: str) -> NoReturn:
        """A key that leads nowhere is logged like any other that does not fit."""
        self._check_running()
        self._log_refusal(by, asked, why)
        raise Refused(why)

    def _log_refusal(self, by: Person, asked: str, why: str) -> None:
        self._record(did.InputRefused(by, asked, why))
        self._on_disk(self._ledger.mirror)

    def rest(self) -> None:
        """Nothing is going on: make the second copy durable too."""
        self._on_disk(self._ledger.sync_copy)

    def _show_and_mirror(self) -> None:
        """The row is durable: light the lamps first, then bring the second copy up to date."""
        self.show()
        self._on_disk(self._ledger.mirror)

    def _record(self, event: did.Event) -> None:
        """Write it down, then change state. Critical data is read back before and after a round."""
        if isinstance(event, did.BetsLocked):
            self._late_seats.clear()
            self._checked_head()
        self._append(event)
        self.table = machine.apply(self.table, event)
        if isinstance(event, did.RoundEnded | did.RoundVoided | did.TableOpened):
            self._opened_us = self._board.now_us()
        if isinstance(event, did.RoundEnded):
            self._aged_us = self._board.now_us()
            self._checked_head()
            if self.table.totals.rounds % SNAPSHOT_ROUNDS == 0:
                self._append(did.SnapshotTaken(self.table))

    def _append(self, event: did.Event) -> None:
        row = partial(
            self._ledger.append,
            boot=self._boot,
            time=self._clock.label(),
            kind=wire.KIND_OF[type(event)],
            version=wire.VERSION,
            payload=wire.encode(event),
        )
        self._on_disk(row)

    def _checked_head(self) -> None:
        self._on_disk(self._ledger.check_head)

    def _on_disk(self, act: Callable[[], object]) -> None:
        """A failed write or read stops the table, and it says why."""
        try:
            act()
        except Fault as fault:
            self.stopped = str(fault)
            raise

    def _check_running(self) -> None:
        if self.stopped:
            raise Fault(self.stopped)

    def show(self) -> None:
        seen = self.seen() if self.table.phase is Phase.OPEN else {}
        self._board.light(lamps(self.table, seen))

    @property
    def phase(self) -> Phase:
        """Where the table stands for people; a stopped one is out of service, whatever it did."""
        return Phase.FAULT if self.stopped else self.table.phase

    def view(self) -> View:
        view = view_of(self.table, self.seen())
        fault = self.stopped or self.table.fault
        return replace(view, phase=self.phase, fault=fault)

    def seen(self, at_us: int | None = None) -> dict[int, Chip]:
        """The chip that counts at each seat: the first to settle, at a seat that may wager."""
        first: dict[int, Chip] = {}
        for chip in sorted(self._board.chips(at_us), key=lambda c: (c.since_us, c.amount.ucents)):
            if chip.seat not in self.table.must_clear:
                first.setdefault(chip.seat, chip)
        return first

    def lock(self, by: Person, at_us: int | None = None) -> did.Event:
        """Bets as they lay at the LOCK edge, with the raw edges before it as evidence."""
        lock_us = self._board.now_us() if at_us is None else at_us
        chips = tuple(Wager(chip.seat, chip.amount) for chip in self.seen(lock_us).values())
        edges = self._edges(lock_us - EVIDENCE_BEFORE_US, lock_us, lock_us)
        event = self.ask(ask.LockBets(by, chips, edges))
        self._locked_us = lock_us
        self._note_unsettled()
        self._on_disk(self._ledger.mirror)
        return event

    def _edges(self, from_us: int, to_us: int, lock_us: int) -> tuple[RawEdge, ...]:
        return tuple(
            RawEdge(seat, amount, covered, at_us - lock_us)
            for seat, amount, covered, at_us in self._board.edges(from_us, to_us)
        )

    def _note_unsettled(self) -> None:
        """A chip that lay there at LOCK but had not settled is late like any other."""
        for seat in self._board.covered():
            if self.table.round.wager_of(seat) is None and seat not in self.table.must_clear:
                self._late(seat, covered=True)

    def _keep_edges(self) -> None:
        """Write down what the sensors said after LOCK, once."""
        if self._locked_us is None:
            return
        lock_us, self._locked_us = self._locked_us, None
        edges = self._edges(lock_us + 1, lock_us + EVIDENCE_AFTER_US, lock_us)
        if edges:
            self._record(machine.decide(self.table, ask.KeepEdges(UNIT, edges)))

    def elapsed_ms(self) -> int:
        """Since the age of the deck was last written down."""
        return (self._board.now_us() - self._aged_us) // 1000

    def end(self, by: Person) -> did.Event:
        return self.ask(ask.EndRound(by, self._board.covered(), self.elapsed_ms()))

    def void(self, by: Person, reason: str) -> did.Event:
        return self.ask(ask.VoidRound(by, reason, self._board.covered()))

    def remind(self, by: Person, what: Reminder) -> did.Event:
        """The dealer has done what the house asks between rounds."""
        event = self.ask(ask.AcknowledgeReminder(by, what, self.elapsed_ms()))
        self._aged_us = self._board.now_us()
        return event

    def open(self, by: Person) -> did.Event:
        return self.ask(ask.OpenTable(by, self._board.covered()))

    def sensor_changed(self, seat: int, *, covered: bool) -> did.Event | None:
        """A chip came or went. Before LOCK only lamps follow; after it, a late chip is noted."""
        self._check_running()
        event = self._late(seat, covered=covered)
        self._sweep()
        self._show_and_mirror()
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
        if (
            self._locked_us is not None
            and self._board.now_us() >= self._locked_us + EVIDENCE_AFTER_US
        ):
            self._keep_edges()
        self._show_and_mirror()

    def _sweep(self) -> None:
        """Compare the sensors with what the ledger knows of them."""
        covered, noisy = self._board.covered(), self._board.noisy()
        if self.table.phase is Phase.OPEN:
            for seat in noisy:
                if seat not in self.table.out_of_service:
                    self._record(machine.decide(self.table, ask.NoteSeatNoisy(UNIT, seat)))
        for seat in self.table.must_clear:
            if seat not in covered and seat not in noisy:
                self._record(machine.decide(self.table, ask.NoteSeatEmpty(UNIT, seat)))
            elif self._is_stuck(seat):
                self._record(machine.decide(self.table, ask.NoteSeatStuck(UNIT, seat)))

    def _is_stuck(self, seat: int) -> bool:
        """Covered too long, in a round in which the dealer has had that long to clear it."""
        open_ms = (self._board.now_us() - self._opened_us) // 1000
        return (
            self.table.phase is Phase.OPEN
            and seat not in self.table.out_of_service
            and min(self._board.covered_ms(seat), open_ms) >= STUCK_AFTER_MS
        )
