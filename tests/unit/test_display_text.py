"""The words on the displays: short lines for the dealer, dollars and cents for the players."""

from __future__ import annotations

import pytest

from controller.domain import commands as ask
from controller.domain.pack import Hand
from controller.domain.view import view_of
from display.text import DEALER_WIDTH, SIMULATED, dealer_lines, meter_lines
from tests.builders import FIVE, ONE, QUADS, ROYAL, STRAIGHT_FLUSH, UNIT, Evening, still_meter


def dealer(evening: Evening, *seen: int, notice: str = "") -> list[str]:
    return list(dealer_lines(view_of(evening.table, seen), notice=notice))


def meters(evening: Evening) -> list[str]:
    return list(meter_lines(view_of(evening.table, ())))


def test_a_closed_table_says_so() -> None:
    assert dealer(Evening(opened=False)) == ["T01 ROUND 1", "CLOSED"]


def test_an_open_table_shows_seats_seen_and_sensors_to_clear() -> None:
    assert dealer(Evening()) == ["T01 ROUND 1", "BETS OPEN"]
    evening = Evening(opened=False)
    evening.open(5)
    assert dealer(evening, 3, 1) == [
        "T01 ROUND 1",
        "BETS OPEN",
        "SEEN: 1 3",
        "CLEAR SENSOR: SEAT 5",
    ]


def test_a_stuck_sensor_is_out_of_service_and_no_longer_asked_to_be_cleared() -> None:
    evening = Evening(opened=False)
    evening.open(5, 6)
    evening.do(ask.NoteSeatStuck(UNIT, 6))
    assert dealer(evening)[2:] == ["CLEAR SENSOR: SEAT 5", "OUT OF SERVICE: SEAT", "6"]


@pytest.mark.requirement(5)
def test_at_lock_the_dealer_sees_how_many_wagers_and_at_which_seats() -> None:
    evening = Evening()
    evening.lock(2, 4, 5)
    assert dealer(evening) == [
        "T01 ROUND 1",
        "NO MORE BETS",
        "3 WAGERS: 2 4 5",
        "COUNT THE CHIPS",
    ]


@pytest.mark.requirement(5, 7)
def test_chips_of_several_amounts_are_told_apart() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.lock(seat1=ONE, seat2=FIVE, seat3=ONE)
    assert "2 x $1.00, 1 x $5.00" in dealer(evening)


def test_a_blind_count_shows_no_number() -> None:
    evening = Evening(count="blind")
    evening.lock(1, 2)
    assert dealer(evening) == ["T01 ROUND 1", "NO MORE BETS", "COUNT THE CHIPS"]
    with_fee = Evening("ca-texas-holdem", fees=["5.00", "4.00", "3.00"], count="blind")
    with_fee.lock(1, 2)
    assert "FEE" not in " ".join(dealer(with_fee))


def test_a_round_without_wagers_asks_for_end() -> None:
    evening = Evening()
    evening.lock()
    assert dealer(evening) == ["T01 ROUND 1", "NO MORE BETS", "NO WAGERS", "PRESS END"]


@pytest.mark.requirement(6)
def test_a_miscount_shows_chips_and_wagers_side_by_side_and_the_way_out() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    evening.count(2)
    assert dealer(evening) == [
        "T01 ROUND 1",
        "MISCOUNT",
        "CHIPS 2 x $1.00",
        "WAGERS 3 x $1.00",
        "AT SEATS 1 2 3",
        "RECOUNT OR CALL FLOOR",
    ]
    evening.count(0)
    assert "CHIPS 0" in dealer(evening)


@pytest.mark.requirement(16, 22)
def test_a_win_shows_the_exact_sum_or_calls_the_floor() -> None:
    evening = still_meter(1, 2)
    evening.win(2, STRAIGHT_FLUSH)
    evening.win(1, QUADS)
    assert dealer(evening)[3:7] == [
        "SEAT 2 STRAIGHT FLUSH",
        "$1,200.00 CALL FLOOR",
        "SEAT 1 FOUR OF A KIND",
        "PAY $300.00",
    ]
    evening.validate()
    assert "PAY $1,200.00" in dealer(evening)


def test_a_win_without_envy_asks_for_no_hand_to_be_left_face_up() -> None:
    evening = still_meter(2)
    evening.win(2, QUADS)
    assert dealer(evening)[1:] == [
        "IN PLAY",
        "1 WAGER: 2",
        "SEAT 2 FOUR OF A KIND",
        "PAY $300.00",
    ]


def test_the_envy_walk_names_seat_amount_and_the_hand_to_leave_face_up() -> None:
    evening = still_meter(1, 2)
    evening.win(4, ROYAL)
    assert dealer(evening)[3:] == [
        "SEAT 4 ROYAL FLUSH",
        "ENVY SEAT 2 $1,000.00",
        "ENVY SEAT 1 $1,000.00",
        "FACE UP: SEAT 4",
    ]


@pytest.mark.requirement(17)
def test_a_seat_keyed_after_its_turn_is_flagged() -> None:
    evening = still_meter(1, 5)
    evening.win(1, STRAIGHT_FLUSH)
    evening.validate()
    evening.win(5, STRAIGHT_FLUSH)
    assert " ".join(dealer(evening)).count("KEYED AFTER ITS TURN: PRICED LAST") == 1


@pytest.mark.requirement(21)
def test_wagers_to_hand_back_are_listed_with_seat_and_amount() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.prove(seat2=FIVE, seat3=ONE)
    evening.void()
    assert dealer(evening)[2:] == ["RETURN SEAT 2 $5.00", "RETURN SEAT 3 $1.00"]


@pytest.mark.requirement(13)
def test_a_refusal_is_said_on_the_dealer_display() -> None:
    said = dealer(Evening(), notice="WIN does not fit: betting is open; press LOCK first.")
    assert said[2].startswith("NO: WIN does not fit")
    assert all(len(line) <= DEALER_WIDTH for line in said)


def test_a_fault_says_what_and_whom_to_call_and_the_players_see_it_too() -> None:
    evening = Evening()
    evening.fault("sensor 3 is silent")
    assert dealer(evening)[1:] == ["OUT OF SERVICE", "sensor 3 is silent", "CALL ATTENDANT"]
    assert meters(evening) == ["OUT OF SERVICE", "PROGRESSIVE $10,000.00"]


@pytest.mark.requirement(41)
def test_every_level_is_shown_in_dollars_and_cents() -> None:
    evening = Evening("md-uth-c")
    evening.prove(1)
    assert [line.rsplit(" ", 1)[1] for line in meters(evening)] == [
        "$10,000.12",
        "$1,000.05",
        "$250.03",
    ]


@pytest.mark.requirement(16, 45)
def test_pending_and_limit_stand_beside_the_amount() -> None:
    evening = Evening(meters={"meter": {"initial": "10000.00", "limit": "10000.00"}})
    assert meters(evening) == ["PROGRESSIVE $10,000.00 LIMIT"]
    evening.prove(1)
    evening.win(1, STRAIGHT_FLUSH)
    assert meters(evening) == ["PROGRESSIVE $9,000.00 PENDING"]


def test_a_simulated_table_says_so_on_every_display() -> None:
    view = view_of(Evening().table, ())
    assert dealer_lines(view, simulated=True)[-1] == SIMULATED
    assert meter_lines(view, simulated=True)[-1] == SIMULATED
    assert SIMULATED not in (*dealer_lines(view), *meter_lines(view))


def test_a_collection_fee_is_shown_with_its_band_or_the_band_alone() -> None:
    with_fees = Evening("ca-texas-holdem", fees=["5.00", "4.00", "3.00"])
    without = Evening("ca-texas-holdem")
    for evening in (with_fees, without):
        evening.lock(1, 2)
    assert "FEE $3.00:" in " ".join(dealer(with_fees))
    assert "FEE BAND" in " ".join(dealer(without))


def test_no_line_of_the_dealer_display_is_wider_than_the_display() -> None:
    evening = still_meter(1, 2, 3, 4, 5, 6, initial="99999999.99")
    for seat in (1, 2, 3, 4, 5, 6):
        evening.win(seat, Hand.STRAIGHT_FLUSH)
    assert all(len(line) <= DEALER_WIDTH for line in dealer(evening))
