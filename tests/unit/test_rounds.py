"""A round from LOCK to END: the snapshot, the count, the remedies, the record."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Broken, Refused
from controller.domain.money import ZERO
from controller.domain.pack import Hand
from controller.domain.table import ChipCount, Phase, Wager
from tests.builders import (
    DEALER,
    FIVE,
    FLOOR,
    ONE,
    QUADS,
    ROYAL,
    SIX,
    STRAIGHT_FLUSH,
    Evening,
    usd,
)


@pytest.mark.requirement(4, 7)
def test_lock_is_one_snapshot_of_all_seats_with_their_amounts_under_one_round_number() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    event = evening.lock(seat4=FIVE, seat1=ONE)
    assert isinstance(event, did.BetsLocked)
    assert event.wagers == (Wager(1, ONE), Wager(4, FIVE))
    assert event.round == evening.round.number == 1
    assert evening.round.wagers == event.wagers


@pytest.mark.requirement(2, 13)
def test_no_second_lock_can_add_to_a_locked_round() -> None:
    evening = Evening()
    evening.lock(1)
    for proved in (False, True):
        if proved:
            evening.count(1)
        with pytest.raises(Refused, match="LOCK does not fit"):
            evening.lock(1, 2)
    assert evening.round.wagers == (Wager(1, ONE),)


@pytest.mark.requirement(2)
@pytest.mark.parametrize("placed", [True, False])
def test_a_late_chip_is_an_event_and_nothing_else(*, placed: bool) -> None:
    evening = Evening()
    evening.lock(1)
    before = evening.table
    event = evening.do(ask.NoteLateChip(DEALER, 2, placed))
    assert event == did.LateChipNoted(2, placed)
    totals = replace(before.totals, late_chips=1)
    assert evening.table == replace(before, totals=totals)


def test_a_chip_of_an_amount_the_table_does_not_take_is_no_wager() -> None:
    evening = Evening()
    with pytest.raises(Refused, match=r"5\.00 is not a wager of this table; it takes 1\.00"):
        evening.lock(1, wager=FIVE)
    with pytest.raises(Refused, match="There is no seat 7"):
        evening.lock(7)


def test_two_wagers_at_one_seat_in_one_snapshot_are_our_own_mistake() -> None:
    evening = Evening()
    with pytest.raises(Broken, match="one wager per seat"):
        evening.lock(1, 1)


def test_a_sensor_covered_since_before_end_takes_no_wager() -> None:
    evening = Evening()
    evening.prove(1, 2)
    evening.end(2)
    evening.lock(1, 2)
    assert evening.round.wagers == (Wager(1, ONE),)


@pytest.mark.requirement(5, 44)
def test_an_agreeing_count_proves_the_round_and_puts_the_contributions_on_the_meter() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    assert evening.meter.contributed == ZERO
    event = evening.count(3)
    assert isinstance(event, did.RoundProved)
    assert evening.is_in(Phase.IN_PLAY)
    assert evening.meter.current.exact() == "10000.60000000"
    assert evening.meter.reserve.exact() == "0.15000000"
    assert evening.round.proved
    assert evening.round.contributions == event.postings


@pytest.mark.requirement(6)
def test_chips_of_several_amounts_are_counted_by_amount() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.lock(seat1=ONE, seat2=FIVE, seat3=ONE)
    with pytest.raises(Refused, match="key how many of each"):
        evening.count(3)
    with pytest.raises(Refused, match="names one amount twice"):
        evening.do(ask.KeyCount(DEALER, (ChipCount(ONE, 1), ChipCount(ONE, 1))))
    evening.count(ones=1, fives=2)
    assert evening.is_in(Phase.MISCOUNT)
    evening.count(fives=1, ones=2)
    assert evening.is_in(Phase.IN_PLAY)


def test_a_count_in_chips_the_table_does_not_take_is_refused() -> None:
    evening = Evening()
    evening.lock(1)
    with pytest.raises(Refused, match="is not a wager of this table"):
        evening.count(fives=1)


def test_a_count_of_no_chips_proves_a_round_without_wagers() -> None:
    evening = Evening()
    evening.lock()
    evening.count(0)
    assert evening.is_in(Phase.IN_PLAY)
    assert evening.meter.contributed == ZERO


@pytest.mark.requirement(6, 13)
def test_a_miscount_moves_no_money_and_the_hand_cannot_close_over_it() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    event = evening.count(2)
    assert isinstance(event, did.CountMismatched)
    assert evening.is_in(Phase.MISCOUNT)
    assert evening.meter.contributed == ZERO
    with pytest.raises(Refused, match="END does not fit"):
        evening.end()


@pytest.mark.requirement(6)
def test_a_recount_keeps_first_and_final_count() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    evening.count(2)
    evening.count(4)
    evening.count(3)
    counts = ((ChipCount(ONE, 2),), (ChipCount(ONE, 4),), (ChipCount(ONE, 3),))
    assert evening.round.counts == counts
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    assert ended.counts == counts
    assert evening.table.totals.miscounts == 1


@pytest.mark.requirement(6, 91)
def test_the_floor_strikes_a_wager_and_the_count_then_agrees() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    evening.count(2)
    event = evening.strike(2, " chip was never there ")
    assert isinstance(event, did.MiscountResolved)
    change = event.change
    assert (change.seat, change.struck, change.by, change.reason) == (
        2,
        True,
        "Flora",
        "chip was never there",
    )
    assert evening.is_in(Phase.IN_PLAY)
    assert evening.meter.contributed == usd("0.50")
    assert evening.round.wagers == (Wager(1, ONE), Wager(3, ONE))
    assert evening.table.to_return == (Wager(2, ONE),)
    assert evening.round.changes == (change,)


@pytest.mark.requirement(6)
def test_a_strike_that_does_not_make_it_agree_leaves_the_miscount_open() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    evening.count(1)
    assert isinstance(evening.strike(2), did.WagerChanged)
    assert evening.is_in(Phase.MISCOUNT)
    evening.strike(3)
    assert evening.is_in(Phase.IN_PLAY)


def test_the_floor_may_strike_before_the_count_for_a_missing_ante() -> None:
    evening = Evening()
    evening.lock(1, 2)
    assert isinstance(evening.strike(2), did.WagerChanged)
    assert evening.is_in(Phase.LOCKED)
    evening.count(1)
    assert evening.is_in(Phase.IN_PLAY)


@pytest.mark.requirement(6)
def test_a_strike_needs_a_wager_a_reason_and_the_floor() -> None:
    evening = Evening()
    evening.lock(1)
    with pytest.raises(Refused, match="Seat 2 has no accepted wager to strike"):
        evening.strike(2)
    with pytest.raises(Refused, match="A reason is needed"):
        evening.strike(1, "  ")
    with pytest.raises(Refused, match="needs the floor; Dana is signed in as dealer"):
        evening.do(ask.StrikeWager(DEALER, 1, "why not"))


def test_a_wager_the_system_never_accepted_is_not_added() -> None:
    evening = Evening()
    evening.lock(1)
    evening.count(2)
    with pytest.raises(Refused, match="does not let the floor add"):
        evening.add(2)


@pytest.mark.requirement(6)
def test_where_the_setting_allows_it_the_floor_adds_one_and_is_named() -> None:
    evening = Evening(floor_may_add=True)
    evening.lock(3)
    evening.count(2)
    for wrong, why in (
        (ask.AddWager(FLOOR, 3, ONE, "x"), "Seat 3 already has"),
        (ask.AddWager(FLOOR, 9, ONE, "x"), "no seat 9"),
        (ask.AddWager(FLOOR, 1, FIVE, "x"), "is not a wager"),
        (ask.AddWager(FLOOR, 1, ONE, ""), "A reason is needed"),
    ):
        with pytest.raises(Refused, match=why):
            evening.do(wrong)
    event = evening.add(1, reason="lamp failed")
    assert isinstance(event, did.MiscountResolved)
    assert (event.change.by, event.change.reason, event.change.struck) == (
        "Flora",
        "lamp failed",
        False,
    )
    assert evening.round.wagers == (Wager(1, ONE), Wager(3, ONE))
    assert evening.table.to_return == ()


@pytest.mark.requirement(6)
def test_reopening_gives_all_wagers_back_and_betting_starts_again() -> None:
    evening = Evening(adjacent_boxes=2)
    evening.tie(1, 2)
    evening.lock(1, 2)
    evening.count(1)
    event = evening.reopen("chips fell over")
    assert isinstance(event, did.BetsReopened)
    assert (event.by.name, event.reason) == ("Flora", "chips fell over")
    assert evening.table.to_return == event.returned == (Wager(1, ONE), Wager(2, ONE))
    assert (evening.phase, evening.round.number) == (Phase.OPEN, 1)
    assert not evening.round.wagers
    assert evening.round.ties == ((1, 2),)
    evening.lock(1)
    assert not evening.table.to_return


@pytest.mark.requirement(6)
def test_the_round_record_keeps_counts_and_changes_from_before_a_reopening() -> None:
    evening = Evening()
    evening.lock(1, 2, 3)
    evening.count(1)
    evening.strike(3, "no ante")
    evening.reopen("chips fell over")
    evening.lock(1, 2)
    evening.count(2)
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    assert ended.counts == ((ChipCount(ONE, 1),), (ChipCount(ONE, 2),))
    assert [(change.seat, change.by, change.reason) for change in ended.changes] == [
        (3, "Flora", "no ante")
    ]


def test_fewer_chips_than_none_cannot_be_counted() -> None:
    evening = Evening()
    evening.lock(1)
    with pytest.raises(Refused, match="cannot be counted"):
        evening.do(ask.KeyCount(DEALER, number=-1))


@pytest.mark.requirement(14)
@pytest.mark.parametrize("hand", [QUADS, Hand.FLUSH, Hand.THREE_OF_A_KIND])
def test_a_seat_without_an_accepted_wager_cannot_win(hand: Hand) -> None:
    evening = Evening()
    evening.prove(1)
    with pytest.raises(Refused, match="Seat 2 has no accepted wager this round"):
        evening.win(2, hand)
    assert evening.round.claims == ()


@pytest.mark.requirement(14)
def test_a_struck_seat_cannot_win() -> None:
    evening = Evening()
    evening.lock(1, 2)
    evening.strike(2)
    evening.count(1)
    with pytest.raises(Refused, match="Seat 2 has no accepted wager"):
        evening.win(2, QUADS)


def test_a_hand_that_is_no_line_of_the_paytable_wins_nothing() -> None:
    evening = Evening()
    evening.prove(1)
    with pytest.raises(Refused, match="Two pair is not a winning line of md-uth-a"):
        evening.win(1, Hand.TWO_PAIR)


@pytest.mark.requirement(16)
def test_a_validated_win_can_be_neither_taken_off_nor_replaced_nor_rejected() -> None:
    evening = Evening()
    evening.prove(1)
    evening.win(1, STRAIGHT_FLUSH)
    evening.validate()
    for hand in (STRAIGHT_FLUSH, ROYAL):
        with pytest.raises(Refused, match="Seat 1 has been validated; its win stands"):
            evening.win(1, hand)
    with pytest.raises(Refused, match="No win of seat 1 waits for the floor"):
        evening.reject(1)
    with pytest.raises(Refused, match=r"^No win waits for the floor"):
        evening.validate()


@pytest.mark.requirement(17)
def test_the_floor_validates_in_pay_order_unless_it_names_a_seat() -> None:
    evening = Evening()
    evening.prove(*SIX)
    for seat in (2, 6, 4):
        evening.win(seat, STRAIGHT_FLUSH)
    validated = []
    for _ in range(3):
        event = evening.validate()
        assert isinstance(event, did.WinValidated)
        validated.append(event.win.seat)
    assert validated == [6, 4, 2]


@pytest.mark.requirement(13)
def test_end_waits_for_the_count_and_for_the_floor() -> None:
    evening = Evening()
    evening.lock(1)
    with pytest.raises(Refused, match="not counted yet"):
        evening.end()
    evening.count(1)
    evening.win(1, STRAIGHT_FLUSH)
    with pytest.raises(Refused, match="Seat 1 waits for the floor"):
        evening.end()
    evening.reject(reason="was a flush")
    evening.end()
    assert evening.is_in(Phase.OPEN)


def test_a_round_nobody_wagered_in_ends_without_a_count() -> None:
    evening = Evening()
    evening.lock()
    evening.end()
    assert (evening.phase, evening.round.number) == (Phase.OPEN, 2)


@pytest.mark.requirement(20)
def test_end_writes_the_round_record_clears_the_seats_and_opens_the_next() -> None:
    evening = Evening()
    evening.prove(1, 5)
    evening.win(5, QUADS)
    ended = evening.end(5)
    assert isinstance(ended, did.RoundEnded)
    assert (ended.round, ended.fingerprint) == (1, evening.table.pack.fingerprint)
    assert ended.wagers == (Wager(1, ONE), Wager(5, ONE))
    assert ended.counts == ((ChipCount(ONE, 2),),)
    assert [(win.seat, win.amount) for win in ended.wins] == [(5, usd("300.00"))]
    (reading,) = ended.readings
    assert (reading.meter, reading.current) == ("meter", evening.meter.current)
    assert (evening.phase, evening.round.number) == (Phase.OPEN, 2)
    assert evening.round.wagers == ()
    assert evening.table.must_clear == (5,)
    assert evening.table.totals.rounds == 1


def test_a_hand_keyed_for_envy_alone_is_no_win_of_the_record() -> None:
    evening = Evening()
    evening.prove(1)
    evening.win(3, ROYAL)
    evening.envy()
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    assert ended.wins == ()
    assert [(envy.seat, envy.holder) for envy in ended.envy] == [(1, 3)]
