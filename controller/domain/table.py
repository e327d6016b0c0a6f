"""The state of one table, as frozen values: the fold of its ledger rows and nothing else."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from controller.domain.hold import Hold
from controller.domain.meter import Meter, Posting
from controller.domain.money import ZERO, Money
from controller.domain.pack import Hand, Pack, Settings


class Phase(StrEnum):
    """Where the round stands."""

    CLOSED = "closed"
    OPEN = "open"
    LOCKED = "locked"
    MISCOUNT = "miscount"
    IN_PLAY = "in_play"
    FAULT = "fault"


class Role(StrEnum):
    """What a person's credential allows."""

    DEALER = "dealer"
    FLOOR = "floor"
    TECHNICIAN = "technician"
    AUDITOR = "auditor"
    SYSTEM = "system"  # the unit itself: sensors, start-up, self-checks


class Person(Struct, frozen=True):
    """Who acts, and with which credential."""

    name: str
    role: Role


class Wager(Struct, frozen=True):
    """One accepted progressive wager, or one to hand back."""

    seat: int
    amount: Money


class ChipCount(Struct, frozen=True):
    """So many chips of one amount."""

    amount: Money
    number: int


class PaidFrom(StrEnum):
    """Where a keyed hand's pay comes from. `ENVY` hands pay their holder nothing."""

    METER = "meter"
    ODDS = "odds"
    ENVY = "envy"


class ClaimStatus(StrEnum):
    """How far a keyed hand has come."""

    KEYED = "keyed"  # needs no floor; the dealer pays it
    WAITING = "waiting"  # for the floor
    PAID = "paid"  # validated


class Claim(Struct, frozen=True):
    """A hand the dealer keyed for a seat."""

    seat: int
    hand: Hand
    paid_from: PaidFrom
    amount: Money
    status: ClaimStatus
    keyed_by: str
    validated_by: str = ""
    late: bool = False  # keyed after its turn had passed, so priced last


class Priced(Struct, frozen=True):
    """The claims of a round with their prices, the holds behind them, and how we got there."""

    claims: tuple[Claim, ...]
    holds: tuple[Hold, ...]
    postings: tuple[Posting, ...]


class Envy(Struct, frozen=True):
    """What one bettor is owed because another player holds a qualifying hand."""

    seat: int
    holder: int
    hand: Hand
    amount: Money


class RawEdge(Struct, frozen=True):
    """One raw sensor edge, kept as evidence. Its time counts from the LOCK edge."""

    seat: int
    amount: Money
    covered: bool
    offset_us: int  # negative: before LOCK


class Reminder(StrEnum):
    """What the house wants done between rounds (MD 8.E, 3.C)."""

    STUB_COUNT = "stub_count"
    DECK_CHANGE = "deck_change"


class Reminded(Struct, frozen=True):
    """A reminder, and who says it was done."""

    what: Reminder
    by: str


class WagerChange(Struct, frozen=True):
    """A wager the floor struck or added before the round was proved."""

    seat: int
    amount: Money
    struck: bool
    by: str
    reason: str


class WinRecord(Struct, frozen=True):
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
    round: int = 0


HITS_KEPT = 25  # what a controller shows of its history


class Round(Struct, frozen=True):
    """One round, from opening the betting to END."""

    number: int
    wagers: tuple[Wager, ...] = ()  # accepted, lowest seat first
    counts: tuple[tuple[ChipCount, ...], ...] = ()  # since LOCK, first to last
    past_counts: tuple[tuple[ChipCount, ...], ...] = ()  # before betting was reopened
    changes: tuple[WagerChange, ...] = ()
    proved: bool = False  # chips and wagers agreed; the contributions stand on the meters
    contributions: tuple[Posting, ...] = ()
    claims: tuple[Claim, ...] = ()
    holds: tuple[Hold, ...] = ()  # in the order in which they were taken
    ties: tuple[tuple[int, ...], ...] = ()
    envy_paid: tuple[Envy, ...] = ()
    reminded: tuple[Reminded, ...] = ()

    def wager_of(self, seat: int) -> Wager | None:
        return next((wager for wager in self.wagers if wager.seat == seat), None)

    def claim_of(self, seat: int) -> Claim | None:
        return next((claim for claim in self.claims if claim.seat == seat), None)


class Totals(Struct, frozen=True):
    """Lifetime totals of the table that belong to no single meter. They never reset."""

    wagers: int = 0
    wagered: Money = ZERO
    voided_wagers: int = 0
    voided: Money = ZERO
    odds_paid: Money = ZERO
    envy_paid: Money = ZERO
    rounds: int = 0
    voided_rounds: int = 0
    miscounts: int = 0
    late_chips: int = 0


class Table(Struct, frozen=True):
    """Everything a table knows that must survive a power cut."""

    pack: Pack
    settings: Settings
    meters: tuple[Meter, ...]
    phase: Phase = Phase.CLOSED
    resume: Phase = Phase.CLOSED  # where FAULT came from
    fault: str = ""
    round: Round = Round(1)
    must_clear: tuple[int, ...] = ()  # seats covered since before the last END
    out_of_service: tuple[int, ...] = ()  # of those, the ones covered too long
    to_return: tuple[Wager, ...] = ()  # wagers to hand back to the players
    totals: Totals = Totals()
    holds_taken: int = 0
    door_open: bool = False
    floor_called: bool = False
    dealer: str = ""  # who signed on as the dealer; empty: nobody did
    failed_sign_ins: int = 0  # wrong PINs since the last right one
    rounds_since_stub: int = 0
    hits: tuple[WinRecord, ...] = ()  # the last ones paid from a meter, oldest first
    deck_ms: int = 0  # how long this deck has been in use, as of the last round

    def meter(self, name: str) -> Meter:
        return next(meter for meter in self.meters if meter.name == name)


def pay_order(seats: int) -> range:
    """Payment runs from the dealer's right, so from the last seat down to seat 1 (MD 11.H)."""
    return range(seats, 0, -1)


def with_change(wagers: tuple[Wager, ...], change: WagerChange) -> tuple[Wager, ...]:
    """The accepted wagers once the floor has struck or added one."""
    others = [wager for wager in wagers if wager.seat != change.seat]
    if not change.struck:
        others.append(Wager(change.seat, change.amount))
    return tuple(sorted(others, key=lambda wager: wager.seat))
