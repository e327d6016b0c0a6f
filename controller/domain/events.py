"""What happened, in the past tense. Each event is one ledger row, complete in itself:

it carries the postings and the prices that were decided, so replaying a ledger never
computes an amount again and an auditor can read one without our code.
"""

from __future__ import annotations

from msgspec import Struct

from controller.domain.meter import Account, Posting
from controller.domain.money import Money
from controller.domain.pack import Hand, Pack, Settings
from controller.domain.table import (
    ChipCount,
    Envy,
    Person,
    Priced,
    RawEdge,
    Reminded,
    Reminder,
    Table,
    Wager,
    WagerChange,
    WinRecord,
)


class Commissioned(Struct, frozen=True):
    """The first row: rules, settings and start-up money."""

    pack: Pack
    settings: Settings
    postings: tuple[Posting, ...]


class SettingsChanged(Struct, frozen=True):
    by: Person
    reference: str
    changes: tuple[str, ...]  # "meters.meter.rate: 0.1 -> 0.2", for people
    pack: Pack
    settings: Settings


class TableOpened(Struct, frozen=True):
    by: Person
    round: int
    must_clear: tuple[int, ...]
    fingerprint: str


class TableClosed(Struct, frozen=True):
    by: Person


class BetsLocked(Struct, frozen=True):
    by: Person
    round: int
    wagers: tuple[Wager, ...]
    edges: tuple[RawEdge, ...] = ()


class CountMismatched(Struct, frozen=True):
    by: Person
    count: tuple[ChipCount, ...]


class RoundProved(Struct, frozen=True):
    """Chips and wagers agree: the contributions stand on the meters."""

    by: Person
    count: tuple[ChipCount, ...]
    postings: tuple[Posting, ...]


class WagerChanged(Struct, frozen=True):
    change: WagerChange


class MiscountResolved(Struct, frozen=True):
    """The floor's change made chips and wagers agree."""

    change: WagerChange
    postings: tuple[Posting, ...]


class BetsReopened(Struct, frozen=True):
    by: Person
    reason: str
    returned: tuple[Wager, ...]


class SeatsTied(Struct, frozen=True):
    by: Person
    seats: tuple[int, ...]
    ties: tuple[tuple[int, ...], ...]


class WinKeyed(Struct, frozen=True):
    by: Person
    seat: int
    hand: Hand
    replaced: Hand | None
    priced: Priced
    shown: Money | None = None  # what the meter display showed at that moment, if it worked


class WinTakenOff(Struct, frozen=True):
    by: Person
    seat: int
    hand: Hand
    priced: Priced


class WinRejected(Struct, frozen=True):
    by: Person
    seat: int
    hand: Hand
    reason: str
    priced: Priced


class WinValidated(Struct, frozen=True):
    by: Person
    win: WinRecord
    priced: Priced
    checked: tuple[str, ...] = ()


class EnvyAcknowledged(Struct, frozen=True):
    by: Person
    paid: tuple[Envy, ...]


class RoundVoided(Struct, frozen=True):
    by: Person
    round: int
    reason: str
    returned: tuple[Wager, ...]
    must_clear: tuple[int, ...]
    postings: tuple[Posting, ...]


class MeterReading(Struct, frozen=True):
    """A meter as it stood when the round ended."""

    meter: str
    current: Money
    reserve: Money
    overflow: Money


class RoundEnded(Struct, frozen=True):
    """The round record."""

    by: Person
    round: int
    fingerprint: str
    wagers: tuple[Wager, ...]
    counts: tuple[tuple[ChipCount, ...], ...]
    changes: tuple[WagerChange, ...]
    wins: tuple[WinRecord, ...]
    envy: tuple[Envy, ...]
    readings: tuple[MeterReading, ...]
    must_clear: tuple[int, ...]
    reminded: tuple[Reminded, ...] = ()
    elapsed_ms: int = 0


class LateChipNoted(Struct, frozen=True):
    seat: int
    placed: bool


class SeatCleared(Struct, frozen=True):
    seat: int


class SeatStuck(Struct, frozen=True):
    seat: int


class SeatNoisy(Struct, frozen=True):
    """A sensor chatters and cannot be believed."""

    seat: int


class EdgesKept(Struct, frozen=True):
    round: int
    edges: tuple[RawEdge, ...]


class DoorMoved(Struct, frozen=True):
    opened: bool
    while_off: bool


class ClockStepped(Struct, frozen=True):
    """Wall time jumped against the time that passed. Order is the sequence, never the clock."""

    step_ms: int


class HardwareNoted(Struct, frozen=True):
    """Something a technician may want to read later; play went on."""

    what: str


class SignedIn(Struct, frozen=True):
    by: Person


class SignInFailed(Struct, frozen=True):
    number: str
    failures: int  # in a row, this one included


class SignedOut(Struct, frozen=True):
    by: Person


class FloorCalled(Struct, frozen=True):
    by: Person


class ReminderAcknowledged(Struct, frozen=True):
    by: Person
    what: Reminder
    elapsed_ms: int


class SnapshotTaken(Struct, frozen=True):
    """The whole state as the rows before fold to it: a start may begin here."""

    table: Table


class MeterAdjusted(Struct, frozen=True):
    by: Person
    approved_by: Person
    meter: str
    account: Account
    before: Money
    after: Money
    reason: str
    reference: str
    postings: tuple[Posting, ...]


class FaultRaised(Struct, frozen=True):
    what: str


class FaultCleared(Struct, frozen=True):
    by: Person


class InputRefused(Struct, frozen=True):
    """A key that did not fit. It leaves this row and nothing else."""

    by: Person
    asked: str
    why: str


class Started(Struct, frozen=True):
    """A process opened the ledger: a new boot, and what it had to repair to do so."""

    boot: int
    software: str
    repairs: tuple[str, ...]
    digest: str = ""  # SHA-256 over the program's own files


Event = (
    Commissioned
    | SettingsChanged
    | TableOpened
    | TableClosed
    | BetsLocked
    | CountMismatched
    | RoundProved
    | WagerChanged
    | MiscountResolved
    | BetsReopened
    | SeatsTied
    | WinKeyed
    | WinTakenOff
    | WinRejected
    | WinValidated
    | EnvyAcknowledged
    | RoundVoided
    | RoundEnded
    | LateChipNoted
    | SeatCleared
    | SeatStuck
    | SeatNoisy
    | EdgesKept
    | DoorMoved
    | ClockStepped
    | HardwareNoted
    | SignedIn
    | SignInFailed
    | SignedOut
    | FloorCalled
    | ReminderAcknowledged
    | SnapshotTaken
    | MeterAdjusted
    | FaultRaised
    | FaultCleared
    | InputRefused
    | Started
)
