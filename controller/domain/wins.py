"""Keyed hands and their prices: keying, taking off, rejecting, validating.

Wins of one round that the floor has not validated are always priced in pay order, whatever
order they were keyed in. A validated price stands. Changing one claim therefore gives back
the holds that come after it and takes them again, on a scratch copy of the meters; the event
carries the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from controller.domain.hold import Hold, give_back, join, settle, take
from controller.domain.meter import Meter, Posting, post, trim
from controller.domain.money import ZERO, Money
from controller.domain.pack import MeterPay, OddsPay, Settings, Simultaneous, Style
from controller.domain.table import Claim, ClaimStatus, PaidFrom, Priced, Round, Table, Wager


def odds_amount(pay: OddsPay, wager: Money, *, stake_returned: bool) -> Money:
    """The exact sum to hand over. Only "to 1" can return the stake; "for 1" contains it."""
    won = wager * pay.multiplier
    return won + wager if stake_returned and pay.style is Style.TO else won


def odds_claim(table: Table, *, seat: int, pay: OddsPay, wager: Wager, keyed_by: str) -> Claim:
    settings = table.settings
    amount = odds_amount(pay, wager.amount, stake_returned=settings.stake_returned)
    status = ClaimStatus.WAITING if _waits(settings, amount) else ClaimStatus.KEYED
    return Claim(seat, pay.hand, PaidFrom.ODDS, amount, status, keyed_by)


def meter_claim(table: Table, *, seat: int, pay: MeterPay, keyed_by: str) -> Claim:
    """A claim on a meter, as it stands before pricing. It always waits for the floor."""
    late = _turn_has_passed(table, pay.meter, seat)
    return Claim(seat, pay.hand, PaidFrom.METER, ZERO, ClaimStatus.WAITING, keyed_by, late=late)


def _waits(settings: Settings, amount: Money) -> bool:
    from_amount = settings.validate_from
    return settings.validate_all or (from_amount is not None and amount >= from_amount)


def _turn_has_passed(table: Table, meter: str, seat: int) -> bool:
    """Somebody who is paid later than this seat has been validated already."""
    return any(
        share.validated and share.seat < seat
        for hold in table.round.holds
        if hold.meter == meter
        for share in hold.shares
    )


def price(table: Table, claims: Sequence[Claim]) -> Priced:
    """Bring the holds into line with these claims."""
    desk = _Desk(table)
    for meter in table.meters:
        _price_meter(desk, table, meter.name, claims)
    holds = tuple(sorted(desk.holds, key=lambda hold: hold.order))
    return Priced(tuple(_with_price(claim, holds) for claim in claims), holds, desk.made())


def _with_price(claim: Claim, holds: Sequence[Hold]) -> Claim:
    if claim.paid_from is not PaidFrom.METER:
        return claim
    share = next(share for hold in holds if (share := hold.share_of(claim.seat)))
    return replace(claim, amount=share.amount)


class _Desk:
    """A scratch copy of meters and holds; what it does, it writes down as postings."""

    def __init__(self, table: Table) -> None:
        self.meters: dict[str, Meter] = {meter.name: meter for meter in table.meters}
        self.holds: list[Hold] = list(table.round.holds)
        self.policy = table.settings.simultaneous
        self._taken = table.holds_taken
        self._made: list[Posting] = []

    def made(self) -> tuple[Posting, ...]:
        return tuple(self._made)

    def give_back(self, hold: Hold, seat: int) -> Hold | None:
        postings, rest = give_back(self.meters[hold.meter], hold, seat)
        self._post(hold.meter, postings)
        self._put(hold, rest)
        return rest

    def give_all_back(self, hold: Hold) -> None:
        for share in hold.shares:
            hold = self.give_back(hold, share.seat) or hold

    def trim(self, meter: str) -> None:
        self._post(meter, trim(self.meters[meter]))

    def take(self, meter: str, percent: int, seats: Sequence[int]) -> None:
        self._taken += 1
        postings, hold = take(
            self.meters[meter], order=self._taken, percent=percent, seats=seats, policy=self.policy
        )
        self._post(meter, postings)
        self.holds.append(hold)

    def take_again(self, hold: Hold, seats: Sequence[int], standing: Money) -> Hold:
        """Price a hold anew in the turn it had, on the meter as it stood then."""
        postings, again = take(
            self.meters[hold.meter],
            order=hold.order,
            percent=hold.percent,
            seats=seats,
            policy=self.policy,
            standing=standing,
        )
        self._post(hold.meter, postings)
        self.holds = sorted([*self.holds, again], key=lambda other: other.order)
        return again

    def join(self, hold: Hold, seat: int) -> None:
        postings, joined = join(hold, seat)
        self._post(hold.meter, postings)
        self._put(hold, joined)

    def _post(self, meter: str, postings: Sequence[Posting]) -> None:
        self.meters[meter] = post(self.meters[meter], postings)
        self._made += postings

    def _put(self, old: Hold, new: Hold | None) -> None:
        at = self.holds.index(old)
        self.holds[at : at + 1] = [] if new is None else [new]


def _price_meter(desk: _Desk, table: Table, meter: str, claims: Sequence[Claim]) -> None:
    wanted = {
        claim.seat: (pay.percent, claim)
        for claim in claims
        if claim.paid_from is PaidFrom.METER
        and isinstance(pay := table.pack.pay_for(claim.hand), MeterPay)
        and pay.meter == meter
    }
    _drop_unwanted(desk, meter, wanted)
    placed = {s.seat for hold in _holds_of(desk, meter) for s in hold.shares}
    for seat in [seat for seat in wanted if seat not in placed]:
        full = _pinned_full_hold(desk, meter, wanted[seat][0])
        if full is not None:
            desk.join(full, seat)
    _price_tail(desk, meter, wanted)


def _holds_of(desk: _Desk, meter: str) -> list[Hold]:
    return [hold for hold in desk.holds if hold.meter == meter]


def _pinned_full_hold(desk: _Desk, meter: str, percent: int) -> Hold | None:
    """Under `full`, a validated amount is what every further winner of that line gets too."""
    return next(
        (
            hold
            for hold in _holds_of(desk, meter)
            if hold.policy is Simultaneous.FULL and hold.percent == percent and hold.pinned
        ),
        None,
    )


def _tail(desk: _Desk, meter: str) -> list[Hold]:
    """The holds taken after the last validated one: those whose prices are still free."""
    tail: list[Hold] = []
    for hold in reversed(_holds_of(desk, meter)):
        if hold.pinned:
            break
        tail.insert(0, hold)
    return tail


def _drop_unwanted(desk: _Desk, meter: str, wanted: dict[int, tuple[int, Claim]]) -> None:
    """Give back what is no longer claimed, and every free price that was built upon it."""
    holds = _holds_of(desk, meter)
    kept = [all(_is_wanted(hold, share.seat, wanted) for share in hold.shares) for hold in holds]
    if all(kept):
        return
    changed = holds[kept.index(False) :]
    for hold in reversed(changed):
        if not hold.pinned:
            desk.give_all_back(hold)
            continue
        for share in hold.shares:
            if not _is_wanted(hold, share.seat, wanted):
                hold = desk.give_back(hold, share.seat) or hold
    _price_past_turns(desk, changed, wanted)


def _price_past_turns(
    desk: _Desk, changed: Sequence[Hold], wanted: dict[int, tuple[int, Claim]]
) -> None:
    """Between a claim that fell away and a validated one, the turns are past but not yet paid.

    They get what the meter would have given them at their turn without the fallen claim.
    """
    last_pinned = max((at for at, hold in enumerate(changed) if hold.pinned), default=-1)
    standing = changed[0].before
    for hold in changed[: last_pinned + 1]:
        seats = [s.seat for s in hold.shares if _is_wanted(hold, s.seat, wanted)]
        if hold.pinned:
            standing = _after(standing, hold)
        elif seats:
            standing = desk.take_again(hold, seats, standing).after


def _after(standing: Money, hold: Hold) -> Money:
    """The meter after a hold whose price stands, had it shown this before."""
    brought = hold.seed_funded + hold.reserve_released + hold.overflow_released
    return standing - min(standing, hold.award) + brought


def _is_wanted(hold: Hold, seat: int, wanted: dict[int, tuple[int, Claim]]) -> bool:
    return seat in wanted and wanted[seat][0] == hold.percent


def _price_tail(desk: _Desk, meter: str, wanted: dict[int, tuple[int, Claim]]) -> None:
    """Take the free holds again in pay order, leaving those alone that come out the same."""
    tail = _tail(desk, meter)
    free = {share.seat for hold in tail for share in hold.shares}
    placed = {share.seat for hold in _holds_of(desk, meter) for share in hold.shares} - free
    order = _groups(desk.policy, {s: w for s, w in wanted.items() if s not in placed})
    same = 0
    for hold, (percent, seats) in zip(tail, order, strict=False):
        if (hold.percent, tuple(share.seat for share in hold.shares)) != (percent, seats):
            break
        same += 1
    for hold in reversed(tail[same:]):
        desk.give_all_back(hold)
    desk.trim(meter)
    for percent, seats in order[same:]:
        desk.take(meter, percent, seats)


def _groups(
    policy: Simultaneous, wanted: dict[int, tuple[int, Claim]]
) -> list[tuple[int, tuple[int, ...]]]:
    """Who is priced together, in turn: from the last seat down, those keyed too late at the end."""
    turns = sorted(wanted, key=lambda seat: (wanted[seat][1].late, -seat))
    if policy is Simultaneous.IN_TURN:
        return [(wanted[seat][0], (seat,)) for seat in turns]
    percents = dict.fromkeys(wanted[seat][0] for seat in turns)
    return [
        (percent, tuple(sorted(seat for seat in turns if wanted[seat][0] == percent)))
        for percent in percents
    ]


def settle_claim(round_: Round, claim: Claim, validated_by: str) -> Priced:
    """Validation: the claim is paid, its hold settled, its price stands from now on."""
    paid = replace(claim, status=ClaimStatus.PAID, validated_by=validated_by)
    claims = tuple(paid if other is claim else other for other in round_.claims)
    hold = hold_of(round_, claim)
    if hold is None:
        return Priced(claims, round_.holds, ())
    postings, settled = settle(hold, claim.seat)
    holds = tuple(settled if other is hold else other for other in round_.holds)
    return Priced(claims, holds, postings)


def hold_of(round_: Round, claim: Claim) -> Hold | None:
    if claim.paid_from is not PaidFrom.METER:
        return None
    return next(hold for hold in round_.holds if hold.share_of(claim.seat) is not None)
