"""One progressive meter: its accounts, and every way money may move between them.

Double entry: each movement is a `Posting` from one account to another, so the identity

    current + reserve + overflow + held
        = initial + funded + contributed + adjusted up - adjusted down - paid - voided

holds after every event by construction, and `check_identity` says so again. The functions
below only propose postings; `post` alone changes a meter. Whole rounds are not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain.errors import Broken, Refused
from controller.domain.money import ZERO, Money
from controller.domain.pack import MeterParameters, Overflow, VoidContributions


class Account(StrEnum):
    """Where money can stand. The first four are the meter's, the others face the world."""

    CURRENT = "current"
    RESERVE = "reserve"
    OVERFLOW = "overflow"
    HELD = "held"
    INITIAL = "initial"  # start-up money, once, at commissioning
    FUNDED = "funded"  # the house: seeds, and the rest of a `full` award
    CONTRIBUTED = "contributed"  # the players' wagers, at the rate of progression
    PAID = "paid"
    VOIDED = "voided"
    ADJUSTED = "adjusted"


class Posting(Struct, frozen=True):
    """One movement of money on one meter."""

    meter: str
    source: Account
    target: Account
    amount: Money


class Meter(Struct, frozen=True):
    """A meter's parameters and running meters."""

    parameters: MeterParameters
    current: Money = ZERO
    reserve: Money = ZERO
    overflow: Money = ZERO
    held: Money = ZERO
    initial: Money = ZERO
    funded: Money = ZERO
    contributed: Money = ZERO
    paid: Money = ZERO
    voided: Money = ZERO
    adjusted_up: Money = ZERO
    adjusted_down: Money = ZERO
    hits: int = 0

    @property
    def name(self) -> str:
        return self.parameters.name

    @property
    def at_limit(self) -> bool:
        return self.parameters.limit is not None and self.current >= self.parameters.limit


def post(meter: Meter, postings: Iterable[Posting]) -> Meter:
    """Carry out the postings that name this meter, in order."""
    balances: dict[str, int] = {}
    for posting in postings:
        if posting.meter == meter.name:
            _move(meter, balances, _field_out(posting.source), posting.amount, incoming=False)
            _move(meter, balances, _field_in(posting.target), posting.amount, incoming=True)
    if not balances:
        return meter
    changes: dict[str, Any] = {field: Money(ucents) for field, ucents in balances.items()}
    posted = replace(meter, **changes)
    check_identity(posted)
    return posted


def _field_out(account: Account) -> str:
    return "adjusted_up" if account is Account.ADJUSTED else account.value


def _field_in(account: Account) -> str:
    return "adjusted_down" if account is Account.ADJUSTED else account.value


def _move(
    meter: Meter, balances: dict[str, int], field: str, amount: Money, *, incoming: bool
) -> None:
    """A source counts what it gave, so giving raises it; the others count what they hold."""
    raises = incoming != (field in _GIVING)
    before = balances[field] if field in balances else getattr(meter, field).ucents
    after = before + amount.ucents if raises else before - amount.ucents
    if after < 0:
        raise Broken(f"meter {meter.name}: {field} would fall below zero")
    balances[field] = after


_GIVING: Final = frozenset({"initial", "funded", "contributed", "adjusted_up"})


def check_identity(meter: Meter) -> None:
    """The money identity, to the micro-cent."""
    inside = meter.current + meter.reserve + meter.overflow + meter.held
    brought = meter.initial + meter.funded + meter.contributed + meter.adjusted_up
    taken = meter.paid + meter.voided + meter.adjusted_down
    if inside + taken != brought:
        raise Broken(f"meter {meter.name}: the money identity does not hold")


def commission(parameters: MeterParameters) -> tuple[Posting, ...]:
    """Start-up money. The only time a live value is set by hand."""
    return _without_zero(
        Posting(parameters.name, Account.INITIAL, Account.CURRENT, parameters.initial),
        Posting(parameters.name, Account.INITIAL, Account.RESERVE, parameters.initial_reserve),
    )


def contribute(meter: Meter, wagered: Money) -> tuple[Posting, ...]:
    """What the wagers of a round add: the rate to the meter, the hidden rate to the reserve."""
    parameters = meter.parameters
    visible = wagered.share(parameters.rate_ppm)
    hidden = wagered.share(parameters.reserve_rate_ppm)
    bound = parameters.max_contribution
    if bound is not None and visible + hidden > bound:
        raise Refused(
            f"The round would add {(visible + hidden).exact()} to meter {meter.name}, over the set"
            f" bound of {bound.exact()}; void the round and call a technician."
        )
    fits = min(visible, _room(meter))
    return _without_zero(
        Posting(meter.name, Account.CONTRIBUTED, Account.CURRENT, fits),
        Posting(meter.name, Account.CONTRIBUTED, _above_limit(meter), visible - fits),
        Posting(meter.name, Account.CONTRIBUTED, Account.RESERVE, hidden),
    )


def uncontribute(
    meter: Meter, contributed: Iterable[Posting], policy: VoidContributions
) -> tuple[Posting, ...]:
    """Take a void round's contributions back, or let the house stand in for them.

    What an account no longer holds, because an award came in between, the house funds.
    """
    postings = []
    balance = {account: getattr(meter, account.value) for account in _INSIDE}
    for entry in contributed:
        if entry.meter != meter.name:
            continue
        keep = policy is VoidContributions.KEEP
        back = ZERO if keep else min(entry.amount, balance[entry.target])
        balance[entry.target] -= back
        postings += [
            Posting(meter.name, entry.target, Account.VOIDED, back),
            Posting(meter.name, Account.FUNDED, Account.VOIDED, entry.amount - back),
        ]
    return _without_zero(*postings)


_INSIDE: Final = (Account.CURRENT, Account.RESERVE, Account.OVERFLOW)


def award(standing: Money, percent: int) -> Money:
    """A percentage of a meter as it stands, rounded down to the cent; the rest stays on it."""
    return Money(standing.ucents * percent // 100).whole_cents()


def reset(meter: Meter) -> tuple[Posting, ...]:
    """After a 100 % award: seed plus the whole reserve, as far as the limit lets them show."""
    parameters = meter.parameters
    seeded = meter.current + parameters.seed
    room = _room(replace(meter, current=seeded))
    from_overflow = ZERO
    if parameters.overflow is Overflow.NEXT:
        from_overflow = min(meter.overflow, room)
    from_reserve = min(meter.reserve, room - from_overflow)
    return _without_zero(
        Posting(meter.name, Account.FUNDED, Account.CURRENT, parameters.seed),
        Posting(meter.name, Account.OVERFLOW, Account.CURRENT, from_overflow),
        Posting(meter.name, Account.RESERVE, Account.CURRENT, from_reserve),
    )


def trim(meter: Meter) -> tuple[Posting, ...]:
    """What shows above the limit, moved to where the table's setting sends it.

    A sub-cent remainder on a meter that was reset to its limit does not show, and stays.
    """
    limit = meter.parameters.limit
    if limit is None or meter.current.whole_cents() <= limit:
        return ()
    over = meter.current - limit
    return (Posting(meter.name, Account.CURRENT, _above_limit(meter), over),)


def _room(meter: Meter) -> Money:
    """How much the meter may still rise. Without a limit: more than any round can bring."""
    limit = meter.parameters.limit
    if limit is None:
        return _UNLIMITED
    return limit - meter.current if meter.current < limit else ZERO


_UNLIMITED: Final = Money(10**30)


def _above_limit(meter: Meter) -> Account:
    overflow = meter.parameters.overflow
    return Account.RESERVE if overflow is Overflow.RESERVE else Account.OVERFLOW


def _without_zero(*postings: Posting) -> tuple[Posting, ...]:
    return tuple(posting for posting in postings if posting.amount)
