"""One meter as a hub will use it: contributions, awards, cancels and validations of many rounds,

in any order. At one table cancels come last-in first-out; here they need not.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from controller.domain.hold import Hold, give_back, join, settle, take
from controller.domain.meter import Meter, Posting, commission, contribute, post, trim
from controller.domain.money import Money
from controller.domain.pack import MeterParameters, Simultaneous
from tests.property.oracle import CENT
from tests.property.strategies import FIVE, amounts, parameters

RATE_PPM_MAX = 400_000
percents = st.sampled_from([100, 100, 10, 5])
policies = st.sampled_from(Simultaneous)
winners = st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True)


def commissioned(found: MeterParameters) -> Meter:
    """Many tables feed a hub's meter; the bound on one round of one table is left out."""
    unbound = replace(found, max_contribution=None, link="strip")
    return post(Meter(unbound), commission(unbound))


def heaps(meter: Meter) -> tuple[Money, Money, Money, Money]:
    return meter.current, meter.reserve, meter.overflow, meter.held


@dataclass
class Sums:
    """What the watcher saw come and go."""

    start: int
    contributed: int = 0
    paid: int = 0


class HubMeter(RuleBasedStateMachine):
    """Every disagreement, and every account that would fall below zero, is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.holds: list[Hold] = []
        self.taken = 0

    @initialize(found=parameters("meter", RATE_PPM_MAX))
    def commission(self, found: MeterParameters) -> None:
        self.meter = commissioned(found)
        self.sums = Sums(found.initial.ucents + found.initial_reserve.ucents)

    def _post(self, postings: tuple[Posting, ...]) -> None:
        self.meter = post(self.meter, postings)

    @rule(wagers=st.integers(1, 12))
    def a_round_contributes(self, wagers: int) -> None:
        wagered, parameters_ = FIVE * wagers, self.meter.parameters
        self._post(contribute(self.meter, wagered))
        rates_ppm = parameters_.rate_ppm + parameters_.reserve_rate_ppm
        self.sums.contributed += wagered.ucents * rates_ppm // 1_000_000

    @rule(percent=percents, policy=policies, seats=winners)
    def a_win_is_keyed(self, percent: int, policy: Simultaneous, seats: list[int]) -> None:
        served = seats[:1] if policy is Simultaneous.IN_TURN else seats
        before = self.meter
        self.taken += 1
        postings, hold = take(
            before, order=self.taken, percent=percent, seats=served, policy=policy
        )
        self._post(postings)
        self.holds.append(hold)
        assert hold.award.ucents == before.current.ucents * percent // 100 // CENT * CENT
        if percent < 100:
            assert self.meter.reserve == before.reserve, "only a whole award frees the reserve"
            assert self.meter.current == before.current - hold.award
        else:
            assert self.meter.current >= self.meter.parameters.seed

    @precondition(lambda self: self.holds)
    @rule(which=st.integers(0, 20))
    def a_win_is_cancelled(self, which: int) -> None:
        """All open shares of a hold go back, as a rejected or mistaken hand does."""
        hold: Hold | None = self.holds[which % len(self.holds)]
        assert hold is not None
        at = self.holds.index(hold)
        before, whole = self.meter, hold
        for share in hold.shares:
            if hold is not None and not share.validated:
                postings, hold = give_back(self.meter, hold, share.seat)
                self._post(postings)
        self._check_seed(before, whole, rest=hold)
        self.holds[at : at + 1] = [hold] if hold else []
        self._post(trim(self.meter))

    def _check_seed(self, before: Meter, hold: Hold, rest: Hold | None) -> None:
        seed = self.meter.parameters.seed
        undone = rest is None and hold.percent == 100 and hold.award >= hold.seed_funded
        if undone and before.current >= seed:
            assert self.meter.current >= seed, "a cancel does not take a meter below its seed"

    @precondition(lambda self: self.open_shares())
    @rule(which=st.integers(0, 20))
    def a_win_is_validated(self, which: int) -> None:
        shares = self.open_shares()
        at, seat = shares[which % len(shares)]
        share = self.holds[at].share_of(seat)
        assert share is not None
        postings, self.holds[at] = settle(self.holds[at], seat)
        self._post(postings)
        self.sums.paid += share.amount.ucents

    def open_shares(self) -> list[tuple[int, int]]:
        return [
            (at, share.seat)
            for at, hold in enumerate(self.holds)
            for share in hold.shares
            if not share.validated
        ]

    @rule(which=st.integers(0, 20), seat=st.integers(1, 6))
    def a_further_winner_joins_a_full_award(self, which: int, seat: int) -> None:
        full = [at for at, hold in enumerate(self.holds) if hold.policy is Simultaneous.FULL]
        if full and self.holds[at := full[which % len(full)]].share_of(seat) is None:
            current = self.meter.current
            postings, self.holds[at] = join(self.holds[at], seat)
            self._post(postings)
            assert self.meter.current == current, "the house pays for it"

    @rule(percent=percents, policy=policies, seats=winners)
    def a_key_pressed_twice_leaves_nothing(
        self, percent: int, policy: Simultaneous, seats: list[int]
    ) -> None:
        before, others = self.meter, list(self.holds)
        self.a_win_is_keyed(percent, policy, seats)
        self.a_win_is_cancelled(len(self.holds) - 1)
        assert (self.meter, self.holds) == (before, others)

    @invariant()
    def the_money_is_all_there(self) -> None:
        meter = self.meter
        inside = sum(heap.ucents for heap in heaps(meter))
        brought = self.sums.start + self.sums.contributed + meter.funded.ucents
        assert inside == brought - self.sums.paid
        assert meter.contributed.ucents == self.sums.contributed
        assert meter.paid.ucents == self.sums.paid
        open_ = [s.amount.ucents for h in self.holds for s in h.shares if not s.validated]
        assert meter.held.ucents == sum(open_)

    @invariant()
    def the_limit_is_kept(self) -> None:
        limit = self.meter.parameters.limit
        shown = self.meter.current.whole_cents()
        assert limit is None or shown <= limit, "crumbs of a cent aside, which do not show"


TestMeterOfAHub = pytest.mark.requirement(31, 42)(HubMeter.TestCase)


@pytest.mark.requirement(15)
@given(
    parameters("meter", RATE_PPM_MAX),
    st.lists(st.tuples(percents, policies, winners), min_size=1, max_size=6),
)
def test_holds_given_back_last_in_first_out_leave_the_meter_as_it_was(
    found: MeterParameters, wins: list[tuple[int, Simultaneous, list[int]]]
) -> None:
    start = meter = commissioned(found)
    stack = []
    for order, (percent, policy, seats) in enumerate(wins, start=1):
        served = seats[:1] if policy is Simultaneous.IN_TURN else seats
        postings, hold = take(meter, order=order, percent=percent, seats=served, policy=policy)
        stack.append((meter, hold))
        meter = post(meter, postings)
    for before, hold in reversed(stack):
        rest: Hold | None = hold
        for share in hold.shares:
            assert rest is not None
            postings, rest = give_back(meter, rest, share.seat)
            meter = post(meter, postings)
        assert rest is None
        assert meter == before
    assert meter == start


@pytest.mark.requirement(15)
@given(parameters("meter", RATE_PPM_MAX), percents, st.lists(amounts(50), max_size=5))
def test_what_came_in_while_a_win_was_pending_stays_after_a_cancel(
    found: MeterParameters, percent: int, wagers: list[Money]
) -> None:
    never = meter = commissioned(replace(found, limit=None))
    postings, hold = take(meter, order=1, percent=percent, seats=[3], policy=Simultaneous.IN_TURN)
    meter = post(meter, postings)
    for wagered in wagers:
        meter = post(meter, contribute(meter, wagered))
        never = post(never, contribute(never, wagered))
    postings, rest = give_back(meter, hold, 3)
    assert rest is None
    assert post(meter, postings) == never


@given(parameters("meter", RATE_PPM_MAX), amounts(3), amounts(8), st.integers(0, 4))
def test_a_cancel_restores_less_to_the_reserve_before_it_takes_a_meter_below_its_seed(
    found: MeterParameters, above_seed: Money, reserve: Money, wagers: int
) -> None:
    """The second award carries the reserve away that the first had released."""
    initial = (found.seed + above_seed).whole_cents() + Money(CENT)
    meter = commissioned(replace(found, initial=initial, initial_reserve=reserve, limit=None))
    holds = []
    for order in (1, 2):
        postings, hold = take(
            meter, order=order, percent=100, seats=[order], policy=Simultaneous.IN_TURN
        )
        meter = post(meter, postings)
        holds.append(hold)
    meter = post(meter, contribute(meter, FIVE * wagers))
    postings, _ = give_back(meter, holds[0], 1)
    after = post(meter, postings)
    assert after.current >= found.seed
    assert after.reserve - meter.reserve <= holds[0].reserve_released
