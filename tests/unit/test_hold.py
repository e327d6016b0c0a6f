"""Holds: an award leaves the meter when it is keyed, and comes back exactly if it must."""

from __future__ import annotations

import pytest

from controller.domain.errors import Broken
from controller.domain.hold import Hold, give_back, join, settle, take
from controller.domain.meter import Account, Meter, Posting, commission, post
from controller.domain.money import ZERO, Money, total
from controller.domain.pack import Overflow, Simultaneous
from tests.builders import parameters, usd

IN_TURN, SPLIT, FULL = Simultaneous.IN_TURN, Simultaneous.SPLIT, Simultaneous.FULL


def standing(current: str, reserve: str = "0.00", **changed: object) -> Meter:
    given = parameters(initial=usd(current), initial_reserve=usd(reserve), **changed)
    return post(Meter(given), commission(given))


def held(
    meter: Meter, percent: int, *seats: int, policy: Simultaneous = IN_TURN
) -> tuple[Meter, Hold]:
    postings, hold = take(meter, order=1, percent=percent, seats=seats, policy=policy)
    return post(meter, postings), hold


def amounts(hold: Hold) -> dict[int, str]:
    return {share.seat: share.amount.payable() for share in hold.shares}


@pytest.mark.requirement(16, 28)
def test_a_keyed_jackpot_is_held_and_the_meter_starts_again_from_seed_and_reserve() -> None:
    before = standing("12000.75500000", "40.00")
    meter, hold = held(before, 100, 3)
    assert (meter.current, meter.reserve, meter.held) == (
        usd("10040.005"),
        ZERO,
        usd("12000.75"),
    )
    assert meter.paid == ZERO
    assert (hold.before, hold.after) == (before.current, meter.current)
    assert (hold.seed_funded, hold.reserve_released) == (usd("10000.00"), usd("40.00"))


@pytest.mark.requirement(26)
def test_ten_percent_never_touches_reserve_or_seed() -> None:
    meter, hold = held(standing("12000.00", "40.00"), 10, 3)
    assert (meter.current, meter.reserve, meter.held) == (
        usd("10800.00"),
        usd("40.00"),
        usd("1200.00"),
    )
    assert (hold.seed_funded, hold.reserve_released) == (ZERO, ZERO)


@pytest.mark.requirement(15)
@pytest.mark.parametrize("percent", [100, 10])
def test_giving_a_hold_back_leaves_the_meter_as_if_it_had_never_been_taken(percent: int) -> None:
    before = standing("12000.12345678", "40.5")
    meter, hold = held(before, percent, 3)
    postings, rest = give_back(meter, hold, 3)
    assert rest is None
    assert post(meter, postings) == before


@pytest.mark.requirement(15)
def test_what_came_in_meanwhile_stays_when_a_hold_is_given_back() -> None:
    meter, hold = held(standing("12000.00", "40.00"), 100, 3)
    grown = post(meter, [Posting("meter", Account.CONTRIBUTED, Account.CURRENT, usd("0.20"))])
    after = post(grown, give_back(grown, hold, 3)[0])
    assert (after.current, after.reserve, after.funded) == (usd("12000.20"), usd("40.00"), ZERO)


def test_a_cancel_never_leaves_a_meter_below_its_seed() -> None:
    """Another award took money that the reset had brought in: less goes back to the reserve."""
    before = standing("10000.00", "500.00")
    meter, hold = held(before, 100, 3)
    drained = post(meter, [Posting("meter", Account.CURRENT, Account.PAID, usd("100.00"))])
    after = post(drained, give_back(drained, hold, 3)[0])
    assert after.current == usd("10000.00")
    assert after.reserve == usd("400.00")


def test_a_meter_that_stood_below_its_seed_goes_back_to_where_it_stood() -> None:
    before = standing("9000.00", "500.00")
    meter, hold = held(before, 100, 3)
    assert post(meter, give_back(meter, hold, 3)[0]) == before


def test_overflow_that_started_the_new_jackpot_overflows_again_after_a_cancel() -> None:
    given = parameters(overflow=Overflow.NEXT, limit=usd("30000.00"))
    entries = (
        *commission(given),
        Posting("meter", Account.CONTRIBUTED, Account.OVERFLOW, usd("7.00")),
    )
    before = post(Meter(given), entries)
    meter, hold = held(before, 100, 2)
    assert (hold.overflow_released, meter.overflow) == (usd("7.00"), ZERO)
    assert post(meter, give_back(meter, hold, 2)[0]) == before


@pytest.mark.requirement(27)
@pytest.mark.parametrize(
    ("cents", "shares"),
    [
        (100_000, {1: "500.00", 4: "500.00"}),
        (100_001, {1: "500.01", 4: "500.00"}),
    ],
)
def test_a_split_gives_odd_cents_to_the_seat_nearest_the_dealers_left(
    cents: int, shares: dict[int, str]
) -> None:
    _, hold = held(standing(Money(cents * 10**6).exact(), seed=ZERO), 100, 4, 1, policy=SPLIT)
    assert amounts(hold) == shares


@pytest.mark.requirement(27)
def test_shares_of_a_split_always_add_up_to_the_award() -> None:
    for cents in range(1_000_000, 1_000_013):
        for seats in range(1, 7):
            meter = standing(Money(cents * 10**6).exact())
            _, hold = held(meter, 100, *range(1, seats + 1), policy=SPLIT)
            assert total([share.amount for share in hold.shares]) == hold.award


@pytest.mark.requirement(27)
def test_full_pays_everyone_the_whole_amount_and_the_house_funds_the_rest() -> None:
    meter, hold = held(standing("12000.00"), 100, 2, 5, policy=FULL)
    assert amounts(hold) == {2: "12000.00", 5: "12000.00"}
    assert (meter.held, meter.funded) == (usd("24000.00"), usd("22000.00"))


def test_in_turn_holds_serve_one_seat_each() -> None:
    with pytest.raises(Broken, match="one seat"):
        held(standing("12000.00"), 100, 1, 2)


@pytest.mark.parametrize("policy", [SPLIT, FULL])
def test_giving_shares_back_one_by_one_restores_the_meter(policy: Simultaneous) -> None:
    before = standing("12000.01", "3.00")
    meter, hold = held(before, 100, 1, 2, 3, policy=policy)
    rest: Hold | None = hold
    for seat in (2, 1, 3):
        assert rest is not None
        postings, rest = give_back(meter, rest, seat)
        meter = post(meter, postings)
    assert rest is None
    assert meter == before


def test_a_further_winner_joins_a_full_hold_at_the_full_amount() -> None:
    meter, hold = held(standing("12000.00"), 100, 4, policy=FULL)
    postings, joined = join(hold, 2)
    assert amounts(joined) == {2: "12000.00", 4: "12000.00"}
    assert post(meter, postings).held == joined.held == usd("24000.00")


def test_only_a_full_hold_can_be_joined() -> None:
    _, hold = held(standing("12000.00"), 100, 4, policy=SPLIT)
    with pytest.raises(Broken, match="only a full hold"):
        join(hold, 2)


def test_an_award_of_nothing_moves_nothing() -> None:
    meter, hold = held(standing("0.00", seed=ZERO), 100, 4, policy=FULL)
    assert meter == standing("0.00", seed=ZERO)
    assert settle(hold, 4)[0] == ()
    assert join(hold, 5)[0] == ()


@pytest.mark.requirement(42)
def test_validation_turns_held_into_paid_and_pins_the_price() -> None:
    meter, hold = held(standing("12000.00"), 100, 4)
    assert not hold.pinned
    postings, settled = settle(hold, 4)
    after = post(meter, postings)
    assert (after.held, after.paid) == (ZERO, usd("12000.00"))
    assert settled.pinned
    assert settled.held == ZERO


@pytest.mark.parametrize("seat", [4, 5])
def test_a_seat_that_holds_nothing_is_neither_paid_nor_given_back(seat: int) -> None:
    meter, hold = held(standing("12000.00"), 100, 4)
    _, settled = settle(hold, 4)
    with pytest.raises(Broken, match=f"seat {seat} holds nothing to pay"):
        settle(settled, seat)
    with pytest.raises(Broken, match=f"seat {seat} holds nothing to give back"):
        give_back(meter, settled, seat)
