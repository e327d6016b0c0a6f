"""Keyed hands and their prices: pay order, several winners, taking off, validation."""

from __future__ import annotations

import pytest

from controller.domain import events as did
from controller.domain.errors import Refused
from controller.domain.money import ZERO
from controller.domain.pack import Hand, OddsPay, Style
from controller.domain.table import ClaimStatus, PaidFrom, WinRecord
from controller.domain.wins import odds_amount
from tests.builders import (
    FIVE,
    ONE,
    POLICIES,
    QUADS,
    ROYAL,
    SIX,
    STRAIGHT_FLUSH,
    Evening,
    still_meter,
    usd,
)

# One meter of exactly $12,000.00 once one wager's 20 cents stand on it.
STOCKED = {"meter": {"initial": "11999.80", "rate": "0.2", "reserve_rate": "0"}}


@pytest.mark.requirement(16)
def test_a_keyed_jackpot_waits_for_the_floor_and_is_pending_until_then() -> None:
    evening = still_meter(3)
    evening.win(3, ROYAL)
    claim = evening.claim(3)
    assert (claim.status, claim.paid_from) == (ClaimStatus.WAITING, PaidFrom.METER)
    assert claim.amount == evening.meter.held == usd("12000.00")
    assert (evening.meter.paid, evening.meter.hits) == (ZERO, 0)
    assert evening.meter.current == usd("10000.00")


@pytest.mark.requirement(16, 42)
def test_validation_pays_the_hit_and_counts_it_once() -> None:
    evening = still_meter(3)
    evening.win(3, ROYAL)
    evening.validate()
    assert (evening.meter.held, evening.meter.paid, evening.meter.hits) == (
        ZERO,
        usd("12000.00"),
        1,
    )
    claim = evening.claim(3)
    assert (claim.status, claim.validated_by) == (ClaimStatus.PAID, "Flora")


def test_a_winner_is_paid_from_a_meter_that_holds_his_own_contribution() -> None:
    evening = Evening(meters=STOCKED)
    evening.prove(3)
    evening.win(3, ROYAL)
    assert evening.amounts() == {3: "12000.00"}


def test_a_percentage_does_not_scale_with_the_wager_but_odds_do() -> None:
    evening = still_meter(1, policy="in-turn")
    evening.win(1, ROYAL)
    richer = Evening(
        meters={"meter": {"initial": "12000.00", "rate": "0", "reserve_rate": "0"}},
        wagers=["1.00", "5.00"],
    )
    richer.prove(seat1=FIVE, seat2=FIVE)
    richer.win(1, ROYAL)
    richer.win(2, QUADS)
    assert evening.amounts() == {1: "12000.00"}
    assert richer.amounts() == {1: "12000.00", 2: "1500.00"}


@pytest.mark.requirement(15)
@pytest.mark.parametrize("hand", [ROYAL, STRAIGHT_FLUSH, QUADS])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_key_again_leaves_the_table_as_if_never_pressed_and_both_are_logged(
    policy: str, hand: Hand
) -> None:
    evening = still_meter(*SIX, policy=policy, initial="12345.67890123")
    evening.win(4, STRAIGHT_FLUSH)
    before = evening.table
    evening.win(2, hand)
    evening.win(2, hand)
    assert evening.table.meters == before.meters
    assert evening.round.claims == before.round.claims
    keyed, taken_off = evening.events[-2:]
    assert isinstance(keyed, did.WinKeyed)
    assert isinstance(taken_off, did.WinTakenOff)
    assert (taken_off.seat, taken_off.hand, taken_off.by.name) == (2, hand, "Dana")


@pytest.mark.requirement(17, 26)
def test_the_next_seat_sees_the_meter_that_the_last_one_left() -> None:
    evening = still_meter(*SIX)
    for seat in (6, 5, 4):
        evening.win(seat, STRAIGHT_FLUSH)
    assert evening.amounts() == {6: "1200.00", 5: "1080.00", 4: "972.00"}
    assert evening.meter.current == usd("8748.00")


@pytest.mark.requirement(17)
def test_in_turn_a_royal_at_the_dealers_right_leaves_the_next_royal_the_seed() -> None:
    evening = still_meter(*SIX)
    evening.win(1, ROYAL)
    assert evening.amounts() == {1: "12000.00"}
    evening.win(6, ROYAL)
    assert evening.amounts() == {1: "10000.00", 6: "12000.00"}


@pytest.mark.requirement(17)
def test_a_seat_keyed_after_its_turn_is_priced_last_and_says_so() -> None:
    evening = still_meter(*SIX)
    evening.win(2, STRAIGHT_FLUSH)
    evening.validate(2)
    evening.win(5, STRAIGHT_FLUSH)
    evening.win(1, STRAIGHT_FLUSH)
    assert evening.claim(5).late
    assert not evening.claim(1).late
    assert evening.amounts() == {2: "1200.00", 1: "1080.00", 5: "972.00"}


def test_a_validated_price_stands_while_the_others_are_priced_again() -> None:
    evening = still_meter(*SIX)
    evening.win(6, STRAIGHT_FLUSH)
    evening.win(2, STRAIGHT_FLUSH)
    evening.validate(6)
    evening.win(4, STRAIGHT_FLUSH)
    assert evening.amounts() == {6: "1200.00", 4: "1080.00", 2: "972.00"}
    evening.win(4, STRAIGHT_FLUSH)
    assert evening.amounts() == {6: "1200.00", 2: "1080.00"}


def test_taking_an_early_seat_off_prices_a_validated_later_one_no_more() -> None:
    evening = still_meter(*SIX)
    evening.win(6, STRAIGHT_FLUSH)
    evening.win(2, STRAIGHT_FLUSH)
    evening.validate(2)
    evening.win(6, STRAIGHT_FLUSH)
    assert evening.amounts() == {2: "1080.00"}
    assert evening.meter.current == usd("10920.00")


def test_a_first_five_royal_takes_all_and_a_seven_card_royal_five_percent() -> None:
    evening = Evening(
        "sd-uthp-01", meters={"meter": {"initial": "50000.00", "rate": "0", "seed": "100.00"}}
    )
    evening.prove(1, 2)
    evening.win(1, Hand.ROYAL_FLUSH_FIRST_FIVE)
    evening.win(2, ROYAL)
    assert evening.amounts() == {2: "2500.00", 1: "47500.00"}


@pytest.mark.requirement(37)
@pytest.mark.parametrize("hand", [ROYAL, STRAIGHT_FLUSH])
def test_no_payout_limit_cuts_a_huge_progressive(hand: Hand) -> None:
    evening = still_meter(1, initial="999999999999.99")
    evening.win(1, hand)
    full = {ROYAL: "999999999999.99", STRAIGHT_FLUSH: "99999999999.99"}[hand]
    assert evening.amounts() == {1: full}
    evening.validate()
    record = evening.events[-1]
    assert isinstance(record, did.WinValidated)
    assert record.win.amount == usd(full)


@pytest.mark.requirement(22)
@pytest.mark.parametrize(
    ("style", "returned", "paid"),
    [
        (Style.FOR, False, "1500.00"),
        (Style.FOR, True, "1500.00"),
        (Style.TO, False, "1500.00"),
        (Style.TO, True, "1505.00"),
    ],
)
def test_to_one_may_return_the_stake_and_for_one_never_does(
    style: Style, *, returned: bool, paid: str
) -> None:
    pay = OddsPay(QUADS, 300, style)
    assert odds_amount(pay, FIVE, stake_returned=returned) == usd(paid)


@pytest.mark.requirement(22)
@pytest.mark.parametrize(("returned", "due"), [(False, "300.00"), (True, "301.00")])
def test_the_table_setting_decides_whether_the_chip_goes_back(*, returned: bool, due: str) -> None:
    evening = Evening(stake_returned=returned)
    evening.prove(2)
    evening.win(2, QUADS)
    assert evening.amounts() == {2: due}


@pytest.mark.requirement(30, 43)
def test_odds_come_from_the_tray_and_are_counted_apart() -> None:
    evening = still_meter(1, 2)
    before = evening.meter
    evening.win(1, QUADS)
    evening.win(2, Hand.FLUSH)
    assert evening.claim(1).status is ClaimStatus.KEYED
    assert evening.meter == before
    evening.end()
    assert evening.table.totals.odds_paid == usd("340.00")
    assert evening.meter.paid == ZERO


@pytest.mark.parametrize(
    ("validate", "waiting"), [("meter", []), ("all", [1, 2]), ("300.00", [1]), ("300.01", [])]
)
def test_which_odds_wins_wait_for_the_floor_is_a_setting(validate: str, waiting: list[int]) -> None:
    evening = Evening(validate=validate)
    evening.prove(1, 2)
    evening.win(1, QUADS)
    evening.win(2, Hand.FLUSH)
    claims = evening.round.claims
    assert [c.seat for c in claims if c.status is ClaimStatus.WAITING] == waiting
    for seat in waiting:
        evening.validate(seat)
    evening.end()
    assert evening.table.totals.odds_paid == usd("340.00")
    assert evening.meter.hits == 0


@pytest.mark.requirement(18)
def test_a_higher_hand_replaces_a_lower_one_and_a_lower_one_is_refused() -> None:
    evening = still_meter(1)
    evening.win(1, Hand.FLUSH)
    event = evening.win(1, STRAIGHT_FLUSH)
    assert isinstance(event, did.WinKeyed)
    assert event.replaced is Hand.FLUSH
    assert evening.amounts() == {1: "1200.00"}
    with pytest.raises(Refused, match="only the highest pays"):
        evening.win(1, QUADS)
    evening.win(1, ROYAL)
    assert evening.amounts() == {1: "12000.00"}
    assert len(evening.round.holds) == 1


def test_a_rejected_win_gives_its_money_back_and_prices_the_others_again() -> None:
    evening = still_meter(1, 6)
    evening.win(6, STRAIGHT_FLUSH)
    evening.win(1, STRAIGHT_FLUSH)
    event = evening.reject(6)
    assert isinstance(event, did.WinRejected)
    assert (event.seat, event.reason, event.by.name) == (6, "misread", "Flora")
    assert evening.amounts() == {1: "1200.00"}
    evening.reject()
    assert evening.meter.current == usd("12000.00")
    assert evening.meter.held == ZERO


def test_a_cancelled_win_leaves_a_meter_with_a_limit_where_it_stood() -> None:
    meters = {"meter": {"initial": "10000.00", "limit": "10000.50", "rate": "0.2"}}
    evening = Evening(meters=meters)
    evening.prove(1, 2)
    evening.win(1, STRAIGHT_FLUSH)
    evening.win(1, STRAIGHT_FLUSH)
    assert evening.meter.current == usd("10000.40")
    evening.win(2, ROYAL)
    evening.win(2, ROYAL)
    assert evening.meter.current == usd("10000.40")


@pytest.mark.requirement(19)
def test_a_folded_seat_and_a_seat_that_lost_to_the_dealer_are_paid_all_the_same() -> None:
    """The table knows neither fold nor dealer hand: only the accepted wager counts."""
    evening = still_meter(1, 2)
    evening.win(1, QUADS)
    evening.win(2, STRAIGHT_FLUSH)
    evening.validate(2)
    ended = evening_end(evening)
    assert [(win.seat, win.amount.payable()) for win in ended.wins] == [
        (2, "1200.00"),
        (1, "300.00"),
    ]


def evening_end(evening: Evening) -> did.RoundEnded:
    evening.envy()
    event = evening.end()
    assert isinstance(event, did.RoundEnded)
    return event


@pytest.mark.requirement(92)
def test_a_win_record_names_table_seat_level_hand_wager_meters_amount_and_people() -> None:
    evening = Evening("md-uth-c", table_id="BJ-7", wagers=["1.00", "5.00"])
    evening.prove(seat2=FIVE)
    before = evening.table.meter("major").current
    evening.win(2, STRAIGHT_FLUSH)
    event = evening.validate()
    assert isinstance(event, did.WinValidated)
    assert event.win == WinRecord(
        table="BJ-7",
        seat=2,
        hand=STRAIGHT_FLUSH,
        wager=FIVE,
        meter="major",
        meter_before=before,
        meter_after=evening.table.meter("major").current,
        overflow="reserve",
        amount=before.whole_cents(),
        keyed_by="Dana",
        validated_by="Flora",
        round=1,
    )


@pytest.mark.requirement(92)
def test_an_odds_win_is_recorded_without_a_meter_in_the_round_record() -> None:
    evening = still_meter(3)
    evening.win(3, QUADS)
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    (win,) = ended.wins
    assert (win.seat, win.hand, win.wager, win.meter, win.amount, win.keyed_by) == (
        3,
        QUADS,
        ONE,
        "",
        usd("300.00"),
        "Dana",
    )
    assert win.validated_by == ""
