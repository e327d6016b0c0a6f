"""What displays and lamps are told: data only, taken from the state."""

from __future__ import annotations

import pytest

from controller.domain import commands as ask
from controller.domain.pack import Hand
from controller.domain.table import Phase, Wager
from controller.domain.view import Lamp, collection_fee, due, lamps, view_of
from tests.builders import FIVE, ONE, QUADS, ROYAL, STRAIGHT_FLUSH, UNIT, Evening, usd


def lit(evening: Evening, *seen: int) -> dict[int, str]:
    shown = lamps(evening.table, seen)
    return {seat: lamp.value for seat, lamp in shown.items() if lamp is not Lamp.OFF}


@pytest.mark.requirement(3)
def test_accepted_lamps_stay_lit_until_end_although_no_chip_lies_there() -> None:
    evening = Evening()
    assert lit(evening, 1, 3) == {1: "seen", 3: "seen"}
    evening.lock(1, 3)
    assert lit(evening) == {1: "accepted", 3: "accepted"}
    evening.count(1)
    assert lit(evening) == {1: "accepted", 3: "accepted"}
    evening.count(2)
    evening.win(1, QUADS)
    assert lit(evening) == {1: "accepted", 3: "accepted"}
    evening.end()
    assert lit(evening) == {}


@pytest.mark.requirement(2)
def test_a_chip_after_lock_lights_no_lamp() -> None:
    evening = Evening()
    evening.lock(1)
    assert lit(evening, 1, 2, 3) == {1: "accepted"}


def test_a_closed_table_lights_nothing() -> None:
    assert lit(Evening(opened=False), 1, 2) == {}


@pytest.mark.requirement(3)
def test_a_fault_puts_out_no_accepted_lamp_and_shows_no_new_chip() -> None:
    evening = Evening()
    evening.lock(2)
    evening.fault()
    others = dict.fromkeys((1, 3, 4, 5, 6), "out_of_service")
    assert lit(evening, 4) == others | {2: "accepted"}
    idle = Evening()
    idle.fault()
    assert lit(idle, 4) == others | {2: "out_of_service"}


def test_a_seat_that_wants_a_hand_blinks_and_a_bad_one_flashes_twice() -> None:
    evening = Evening()
    evening.lock(1, 2)
    evening.void("misdeal", 3, 4)
    evening.do(ask.NoteSeatStuck(UNIT, 4))
    assert lit(evening) == {
        1: "attention",
        2: "attention",
        3: "attention",
        4: "out_of_service",
    }
    assert lit(evening, 1)[1] == "seen"
    evening.close()
    assert lit(evening) == {4: "out_of_service"}


def test_seen_seats_are_shown_only_while_betting_is_open() -> None:
    evening = Evening()
    assert view_of(evening.table, {3, 1}).seen == (1, 3)
    evening.lock(1)
    assert view_of(evening.table, {3, 1}).seen == ()


@pytest.mark.requirement(5)
@pytest.mark.parametrize(("count", "hidden"), [("shown", False), ("blind", True)])
def test_a_blind_count_hides_the_number_until_the_dealer_has_keyed_one(
    count: str, *, hidden: bool
) -> None:
    evening = Evening(count=count)
    evening.lock(1, 2)
    before = view_of(evening.table, ())
    assert before.count_hidden is hidden
    assert before.counted == ()
    assert before.accepted == (Wager(1, ONE), Wager(2, ONE))
    evening.count(1)
    after = view_of(evening.table, ())
    assert not after.count_hidden
    assert [(chip.number, chip.amount) for chip in after.counted] == [(1, ONE)]


@pytest.mark.requirement(16, 45)
def test_a_meter_says_pending_while_a_win_waits_and_limit_while_it_is_full() -> None:
    evening = Evening(meters={"meter": {"initial": "10000.00", "limit": "10000.10"}})
    (plain,) = view_of(evening.table, ()).meters
    assert (plain.title, plain.pending, plain.at_limit) == ("Progressive", False, False)
    evening.prove(1)
    (full,) = view_of(evening.table, ()).meters
    assert (full.shown, full.at_limit) == (usd("10000.10"), True)
    evening.win(1, ROYAL)
    (pending,) = view_of(evening.table, ()).meters
    assert pending.pending
    evening.validate()
    (paid,) = view_of(evening.table, ()).meters
    assert not paid.pending


@pytest.mark.requirement(32)
def test_the_shown_value_is_the_exact_one_rounded_down_to_the_cent() -> None:
    evening = Evening(meters={"meter": {"rate": "0.1999", "reserve_rate": "0"}})
    evening.prove(1)
    (meter,) = view_of(evening.table, ()).meters
    assert evening.meter.current.exact() == "10000.19990000"
    assert meter.shown == usd("10000.19")


@pytest.mark.requirement(17)
def test_claims_are_listed_in_pay_order() -> None:
    evening = Evening()
    evening.prove(1, 2, 6)
    for seat in (2, 6, 1):
        evening.win(seat, Hand.FLUSH)
    assert [claim.seat for claim in view_of(evening.table, ()).claims] == [6, 2, 1]


def test_triggering_hands_stay_face_up_until_all_envy_is_paid() -> None:
    evening = Evening()
    evening.prove(1, 2)
    evening.win(1, STRAIGHT_FLUSH)
    evening.win(2, QUADS)
    waiting = view_of(evening.table, ())
    assert (waiting.face_up, waiting.envy) == ((1,), ())
    evening.validate()
    owed = view_of(evening.table, ())
    assert [(envy.seat, envy.amount) for envy in owed.envy] == [(2, usd("300.00"))]
    evening.envy()
    done = view_of(evening.table, ())
    assert (done.face_up, done.envy) == ((), ())


@pytest.mark.requirement(22)
def test_what_is_due_is_the_exact_sum_to_hand_each_seat() -> None:
    evening = Evening(wagers=["1.00", "5.00"], meters={"meter": {"rate": "0"}})
    evening.prove(seat1=ONE, seat2=FIVE, seat3=ONE)
    evening.win(1, STRAIGHT_FLUSH)
    evening.win(2, QUADS)
    assert due(evening.table) == (Wager(2, usd("1500.00")),)
    evening.validate()
    assert due(evening.table) == (
        Wager(1, usd("1000.00")),
        Wager(2, usd("3000.00")),
        Wager(3, usd("300.00")),
    )
    evening.envy()
    assert due(evening.table) == (Wager(1, usd("1000.00")), Wager(2, usd("1500.00")))
    evening.end()
    assert due(evening.table) == ()


@pytest.mark.requirement(21)
def test_wagers_of_a_void_round_are_due_to_their_seats() -> None:
    evening = Evening()
    evening.prove(2, 4)
    evening.void()
    assert evening.is_in(Phase.OPEN)
    assert due(evening.table) == (Wager(2, ONE), Wager(4, ONE))


@pytest.mark.parametrize(
    ("players", "band", "fee"),
    [(10, 0, "5.00"), (7, 0, "5.00"), (6, 1, "4.00"), (5, 1, "4.00"), (4, 2, "3.00")],
)
def test_the_collection_fee_follows_the_number_of_players(
    players: int, band: int, fee: str
) -> None:
    evening = Evening("ca-texas-holdem", fees=["5.00", "4.00", "3.00"])
    assert collection_fee(evening.table) is None
    evening.lock(*range(1, players + 1))
    label = evening.table.pack.collection[band].label
    assert collection_fee(evening.table) == (label, usd(fee))
    assert view_of(evening.table, ()).fee == (label, usd(fee))


def test_without_a_set_fee_only_the_band_is_shown() -> None:
    evening = Evening("ca-texas-holdem")
    evening.lock(1, 2)
    label = evening.table.pack.collection[2].label
    assert collection_fee(evening.table) == (label, None)


def test_a_pack_without_a_collection_or_a_round_without_players_has_no_fee() -> None:
    maryland = Evening()
    maryland.lock(1)
    assert collection_fee(maryland.table) is None
    empty = Evening("ca-texas-holdem")
    empty.lock()
    assert collection_fee(empty.table) is None
