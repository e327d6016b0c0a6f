"""What happened, in the past tense. Each event is one ledger row, complete in itself:

it carries the postings and the prices that were decided, so replaying a ledger never
computes an amount again and an auditor can read one without our code.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.domain.hold import Hold
from controller.domain.meter import Account, Posting
from controller.domain.money import Money
from controller.domain.pack import Hand, Pack, Settings
from controller.domain.table import ChipCount, Claim, Envy, Person, Wager, WagerChange


@dataclass(frozen=True, slots=True)
class Commissioned:
    """The first row: rules, settings and start-up money."""

    pack: Pack
    settings: Settings
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    by: Person
    reference: str
    changes: tuple[str, ...]  # "meters.meter.rate: 0.1 -> 0.2", for people
    pack: Pack
    settings: Settings


@dataclass(frozen=True, slots=True)
class TableOpened:
    by: Person
    round: int
    must_clear: tuple[int, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class TableClosed:
    by: Person


@dataclass(frozen=True, slots=True)
class BetsLocked:
    by: Person
    round: int
    wagers: tuple[Wager, ...]


@dataclass(frozen=True, slots=True)
class CountMismatched:
    by: Person
    count: tuple[ChipCount, ...]


@dataclass(frozen=True, slots=True)
class RoundProved:
    """Chips and wagers agree: the contributions stand on the meters."""

    by: Person
    count: tuple[ChipCount, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class WagerChanged:
    change: WagerChange


@dataclass(frozen=True, slots=True)
class MiscountResolved:
    """The floor's change made chips and wagers agree."""

    change: WagerChange
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class BetsReopened:
    by: Person
    reason: str
    returned: tuple[Wager, ...]


@dataclass(frozen=True, slots=True)
class SeatsTied:
    by: Person
    seats: tuple[int, ...]
    ties: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class WinKeyed:
    by: Person
    seat: int
    hand: Hand
    replaced: Hand | None
    claims: tuple[Claim, ...]
    holds: tuple[Hold, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class WinTakenOff:
    by: Person
    seat: int
    hand: Hand
    claims: tuple[Claim, ...]
    holds: tuple[Hold, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class WinRejected:
    by: Person
    seat: int
    hand: Hand
    reason: str
    claims: tuple[Claim, ...]
    holds: tuple[Hold, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class WinRecord:
    """One award as the house keeps it. Its date and time are those of the ledger row."""

    table: str
    seat: int
    hand: Hand
    wager: Money
    meter: str  # empty for odds
    meter_before: Money
    meter_after: Money
    overflow: str  # where money above the limit went at the time; empty for odds
    amount: Money
    keyed_by: str
    validated_by: str


@dataclass(frozen=True, slots=True)
class WinValidated:
    by: Person
    win: WinRecord
    claims: tuple[Claim, ...]
    holds: tuple[Hold, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class EnvyAcknowledged:
    by: Person
    paid: tuple[Envy, ...]


@dataclass(frozen=True, slots=True)
class RoundVoided:
    by: Person
    round: int
    reason: str
    returned: tuple[Wager, ...]
    must_clear: tuple[int, ...]
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class MeterReading:
    """A meter as it stood when the round ended."""

    meter: str
    current: Money
    reserve: Money
    overflow: Money


@dataclass(frozen=True, slots=True)
class RoundEnded:
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


@dataclass(frozen=True, slots=True)
class LateChipNoted:
    seat: int
    placed: bool


@dataclass(frozen=True, slots=True)
class SeatCleared:
    seat: int


@dataclass(frozen=True, slots=True)
class SeatStuck:
    seat: int


@dataclass(frozen=True, slots=True)
class MeterAdjusted:
    by: Person
    approved_by: Person
    meter: str
    account: Account
    before: Money
    after: Money
    reason: str
    reference: str
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class FaultRaised:
    what: str


@dataclass(frozen=True, slots=True)
class FaultCleared:
    by: Person


@dataclass(frozen=True, slots=True)
class InputRefused:
    """A key that did not fit. It leaves this row and nothing else."""

    by: Person
    asked: str
    why: str


@dataclass(frozen=True, slots=True)
class Started:
    """A process opened the ledger: a new boot, and what it had to repair to do so."""

    boot: int
    software: str
    repairs: tuple[str, ...]


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
    | MeterAdjusted
    | FaultRaised
    | FaultCleared
    | InputRefused
    | Started
)
