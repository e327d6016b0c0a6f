"""Several winners of one meter in one round, by each of the named policies."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from controller.domain.money import ZERO, Money
from controller.domain.pack import Hand
from controller.domain.table import ClaimStatus
from tests.builders import POLICIES, QUADS, ROYAL, SIX, STRAIGHT_FLUSH, Evening, still_meter, usd


@pytest.mark.requirement(17, 26)
@pytest.mark.parametrize("policy", POLICIES)
def test_prices_follow_pay_order_whatever_order_the_dealer_keyed_in(policy: str) -> None:
    hands = {5: STRAIGHT_FLUSH, 3: ROYAL, 2: STRAIGHT_FLUSH, 1: ROYAL}
    outcomes = set()
    for order in permutations(hands):
        evening = still_meter(*SIX, policy=policy)
        for seat in order:
            evening.win(seat, hands[seat])
        outcomes.add((tuple(sorted(evening.amounts().items())), evening.meter.current.exact()))
    assert len(outcomes) == 1


@pytest.mark.requirement(27)
@pytest.mark.parametrize(
    ("policy", "amounts", "left"),
    [
        ("in-turn", {5: "12000.01", 2: "10000.00"}, "10000.00"),
        ("split", {5: "6000.00", 2: "6000.01"}, "10000.00"),
        ("full", {5: "12000.01", 2: "12000.01"}, "10000.00"),
    ],
)
def test_two_royals_are_paid_by_the_named_policy(
    policy: str, amounts: dict[int, str], left: str
) -> None:
    evening = still_meter(*SIX, policy=policy, initial="12000.01")
    evening.win(5, ROYAL)
    evening.win(2, ROYAL)
    assert evening.amounts() == amounts
    assert evening.meter.current == usd(left)


@pytest.mark.requirement(27, 36)
@pytest.mark.parametrize(
    ("policy", "amounts"),
    [
        ("in-turn", ["12000.05", *["10000.00"] * 5]),
        ("split", [*["2000.00"] * 5, "2000.05"]),
        ("full", ["12000.05"] * 6),
    ],
)
def test_a_board_royal_with_six_wagers_comes_out_right_in_each_policy(
    policy: str, amounts: list[str]
) -> None:
    evening = still_meter(*SIX, policy=policy, initial="12000.05")
    for seat in SIX:
        evening.win(seat, ROYAL)
    paid = evening.amounts()
    assert [paid[seat] for seat in (6, 5, 4, 3, 2, 1)] == amounts
    for seat in (6, 5, 4, 3, 2, 1):
        evening.validate()
        assert evening.claim(seat).status is ClaimStatus.PAID
    assert evening.meter.hits == 6
    assert evening.meter.current == usd("10000.00")
    assert evening.meter.paid == Money(sum(usd(each).ucents for each in amounts))


@pytest.mark.requirement(36)
@pytest.mark.parametrize(
    ("policy", "amounts", "left"),
    [
        ("in-turn", ["1200.00", "1080.00", "972.00", "874.80", "787.32", "708.58"], "6377.30"),
        ("split", ["200.00"] * 6, "10800.00"),
        ("full", ["1200.00"] * 6, "10800.00"),
    ],
)
def test_a_board_straight_flush_with_six_wagers_comes_out_right_in_each_policy(
    policy: str, amounts: list[str], left: str
) -> None:
    evening = still_meter(*SIX, policy=policy)
    for seat in (3, 1, 6, 2, 5, 4):
        evening.win(seat, STRAIGHT_FLUSH)
    paid = evening.amounts()
    assert [paid[seat] for seat in (6, 5, 4, 3, 2, 1)] == amounts
    assert evening.meter.current == usd(left)


@pytest.mark.requirement(30, 36)
def test_a_community_royal_in_south_dakota_pays_odds_and_leaves_the_meter_alone() -> None:
    evening = Evening("sd-uthp-01", meters={"meter": {"initial": "50000.00"}})
    evening.prove(*SIX)
    before = evening.meter
    for seat in SIX:
        evening.win(seat, Hand.COMMUNITY_ROYAL_FLUSH)
    assert set(evening.amounts().values()) == {"3000.00"}
    assert evening.meter == before
    evening.end()
    assert evening.table.totals.odds_paid == usd("18000.00")


@pytest.mark.requirement(37)
def test_no_payout_limit_cuts_full_awards_for_a_whole_table() -> None:
    evening = still_meter(*SIX, policy="full", initial="99999999.99")
    for seat in SIX:
        evening.win(seat, ROYAL)
    assert set(evening.amounts().values()) == {"99999999.99"}


def test_under_full_a_winner_keyed_after_a_validation_gets_the_same_amount() -> None:
    evening = still_meter(2, 4, 6, policy="full")
    evening.win(4, ROYAL)
    evening.validate(4)
    evening.win(2, ROYAL)
    evening.win(6, ROYAL)
    assert set(evening.amounts().values()) == {"12000.00"}
    evening.win(6, ROYAL)
    assert evening.meter.held == usd("12000.00")
    evening.validate(2)
    assert evening.meter.paid == usd("24000.00")
    assert evening.meter.current == usd("10000.00")


def test_a_share_taken_off_a_split_that_was_partly_validated_goes_back_to_the_meter() -> None:
    evening = still_meter(2, 4, policy="split")
    evening.win(2, ROYAL)
    evening.win(4, ROYAL)
    evening.validate(4)
    evening.win(2, ROYAL)
    assert evening.amounts() == {4: "6000.00"}
    assert evening.meter.current == usd("16000.00")
    assert evening.meter.held == ZERO


@pytest.mark.parametrize("policy", POLICIES)
def test_several_meters_are_priced_apart(policy: str) -> None:
    evening = Evening("md-uth-c", simultaneous=policy)
    evening.prove(*SIX)
    before: dict[str, Any] = {meter.name: meter for meter in evening.table.meters}
    evening.win(4, STRAIGHT_FLUSH)
    evening.win(3, QUADS)
    mega, major, minor = evening.table.meters
    assert mega == before["mega"]
    assert evening.claim(4).amount == before["major"].current.whole_cents() == major.held
    assert evening.claim(3).amount == before["minor"].current.whole_cents() == minor.held
    evening.win(4, STRAIGHT_FLUSH)
    evening.win(3, QUADS)
    assert {meter.name: meter for meter in evening.table.meters} == before


PAST = {
    "meter": {"initial": "12000.00", "initial_reserve": "500.00", "rate": "0", "reserve_rate": "0"}
}


@pytest.mark.requirement(17, 26)
def test_a_past_turn_is_priced_as_the_meter_stood_then_when_an_earlier_claim_falls_away() -> None:
    evening = Evening(meters=PAST)
    evening.prove(1, 2, 4)
    evening.win(4, STRAIGHT_FLUSH)
    evening.win(2, STRAIGHT_FLUSH)
    evening.win(1, ROYAL)
    evening.validate(1)
    assert evening.claim(2).amount == usd("1080.00")
    evening.win(4, STRAIGHT_FLUSH)
    assert evening.claim(2).amount == usd("1200.00")
    assert evening.claim(1).amount == usd("9720.00")
    assert evening.table.meter("meter").current == usd("11580.00")


@pytest.mark.requirement(17, 26)
def test_the_next_royal_inherits_the_jackpot_of_one_that_was_rejected() -> None:
    evening = Evening(meters=PAST)
    evening.prove(2, 4, 6)
    for seat in (6, 4, 2):
        evening.win(seat, ROYAL)
    assert [evening.claim(seat).amount for seat in (6, 4, 2)] == [
        usd("12000.00"),
        usd("10500.00"),
        usd("10000.00"),
    ]
    evening.validate(2)
    evening.reject(6)
    assert evening.claim(4).amount == usd("12000.00")


def test_past_turns_on_both_sides_of_a_validated_one_keep_their_order() -> None:
    """Seats 6, 5 and 3 wait around the validated 4 and 1; 6 falls away."""
    evening = Evening(meters=PAST)
    evening.prove(1, 3, 4, 5, 6)
    for seat in (6, 5, 4, 3, 1):
        evening.win(seat, STRAIGHT_FLUSH)
    evening.validate(4)
    evening.validate(1)
    assert [evening.claim(s).amount for s in (6, 5, 4, 3, 1)] == [
        *(usd("1200.00"), usd("1080.00"), usd("972.00"), usd("874.80"), usd("787.32"))
    ]
    evening.win(6, STRAIGHT_FLUSH)
    # Seat 5 now has the first turn: 10 % of 12000. Seat 3's turn follows 5 and the paid 4:
    # 12000 - 1200 - 972 = 9828.
    assert [evening.claim(s).amount for s in (5, 4, 3, 1)] == [
        *(usd("1200.00"), usd("972.00"), usd("982.80"), usd("787.32"))
    ]
