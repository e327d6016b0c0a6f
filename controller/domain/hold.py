"""Holds: keyed now, validated later.

A hold takes an award out of a meter the moment it is keyed. It can be given back exactly,
whatever came in meanwhile, or settled. One hold serves one winner, or, under `split` and
`full`, all winners of the same percentage of one meter in one round.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from controller.domain.errors import check
from controller.domain.meter import Account, Meter, Posting, award, post, reset
from controller.domain.money import ZERO, Money
from controller.domain.pack import PERCENT_WHOLE, Simultaneous


class Share(Struct, frozen=True):
    """What one seat gets out of a hold."""

    seat: int
    amount: Money
    validated: bool = False


class Hold(Struct, frozen=True):
    """An award that has left the meter, and all that is needed to undo it."""

    order: int  # holds of one table, numbered in the order of their turns
    meter: str
    percent: int
    policy: Simultaneous
    before: Money  # the meter when the award was taken, and after it
    after: Money
    award: Money
    seed_funded: Money
    reserve_released: Money
    overflow_released: Money
    shares: tuple[Share, ...]

    @property
    def pinned(self) -> bool:
        """A validated price stands, so a hold with one in it is never priced again."""
        return any(share.validated for share in self.shares)

    @property
    def held(self) -> Money:
        return Money(sum(s.amount.ucents for s in self.shares if not s.validated))

    def share_of(self, seat: int) -> Share | None:
        return next((share for share in self.shares if share.seat == seat), None)


def take(
    meter: Meter,
    *,
    order: int,
    percent: int,
    seats: Sequence[int],
    policy: Simultaneous,
    standing: Money | None = None,
) -> tuple[tuple[Posting, ...], Hold]:
    """Hold a percentage of the meter as it stands for these seats; 100 % resets the meter.

    `standing` is what the meter showed at their turn, where that turn is past.
    """
    check(len(seats) == 1 or policy is not Simultaneous.IN_TURN, "in-turn holds serve one seat")
    before = meter.current if standing is None else standing
    amount = min(award(before, percent), meter.current.whole_cents())
    shares = _shares(amount, sorted(seats), policy)
    from_house = Money(sum(share.amount.ucents for share in shares)) - amount
    out = _posting(meter, Account.CURRENT, Account.HELD, amount)
    emptied = post(meter, out)
    again = reset(emptied) if percent == PERCENT_WHOLE else ()
    refilled = post(emptied, again)
    hold = Hold(
        order=order,
        meter=meter.name,
        percent=percent,
        policy=policy,
        before=before,
        after=before + refilled.current - meter.current,
        award=amount,
        seed_funded=refilled.funded - meter.funded,
        reserve_released=meter.reserve - refilled.reserve,
        overflow_released=meter.overflow - refilled.overflow,
        shares=shares,
    )
    return (*out, *again, *_posting(meter, Account.FUNDED, Account.HELD, from_house)), hold


def _shares(amount: Money, seats: Sequence[int], policy: Simultaneous) -> tuple[Share, ...]:
    """Equal shares, odd cents to the seat nearest the dealer's left; or the full amount each."""
    if policy is not Simultaneous.SPLIT:
        return tuple(Share(seat, amount) for seat in seats)
    each = Money(amount.ucents // len(seats)).whole_cents()
    odd = amount - each * len(seats)
    return tuple(Share(seat, each + odd if seat == seats[0] else each) for seat in seats)


def join(hold: Hold, seat: int) -> tuple[tuple[Posting, ...], Hold]:
    """A further winner of a `full` hold gets the full amount too; the house funds it."""
    check(hold.policy is Simultaneous.FULL, "only a full hold can be joined")
    out = Posting(hold.meter, Account.FUNDED, Account.HELD, hold.award)
    shares = tuple(sorted((*hold.shares, Share(seat, hold.award)), key=lambda share: share.seat))
    return (out,) if hold.award else (), replace(hold, shares=shares)


def give_back(meter: Meter, hold: Hold, seat: int) -> tuple[tuple[Posting, ...], Hold | None]:
    """Undo one seat's share: exactly the opposite entries. The last share undoes the reset.

    The caller trims the meter to its limit afterwards, once all that goes back is back.
    """
    share = hold.share_of(seat)
    check(share is not None and not share.validated, f"seat {seat} holds nothing to give back")
    amount = share.amount if share else ZERO
    rest = tuple(other for other in hold.shares if other.seat != seat)
    if rest:
        to = Account.FUNDED if hold.policy is Simultaneous.FULL else Account.CURRENT
        return _posting(meter, Account.HELD, to, amount), replace(hold, shares=rest)
    back = _posting(meter, Account.HELD, Account.CURRENT, amount)
    return (*back, *_unreset(meter, hold, amount)), None


def _unreset(meter: Meter, hold: Hold, returned: Money) -> tuple[Posting, ...]:
    """Seed funding and transfers undone, but the meter is not left below its seed for it.

    Another award may have taken money that this reset had brought in. Then less goes back to
    the reserve. A meter that stood below its seed before the hold goes back to where it stood.
    """
    there = meter.current + returned
    seed = min(hold.seed_funded, there)
    there -= seed
    floor = min(meter.parameters.seed, hold.before)
    spare = there - floor if there > floor else ZERO
    to_reserve = min(hold.reserve_released, spare)
    to_overflow = min(hold.overflow_released, spare - to_reserve)
    return (
        *_posting(meter, Account.CURRENT, Account.FUNDED, seed),
        *_posting(meter, Account.CURRENT, Account.RESERVE, to_reserve),
        *_posting(meter, Account.CURRENT, Account.OVERFLOW, to_overflow),
    )


def settle(hold: Hold, seat: int) -> tuple[tuple[Posting, ...], Hold]:
    """Validation: held becomes paid."""
    share = hold.share_of(seat)
    check(share is not None and not share.validated, f"seat {seat} holds nothing to pay")
    amount = share.amount if share else ZERO
    paid = Posting(hold.meter, Account.HELD, Account.PAID, amount)
    shares = tuple(replace(s, validated=True) if s.seat == seat else s for s in hold.shares)
    return (paid,) if amount else (), replace(hold, shares=shares)


def _posting(meter: Meter, source: Account, target: Account, amount: Money) -> tuple[Posting, ...]:
    return (Posting(meter.name, source, target, amount),) if amount else ()
