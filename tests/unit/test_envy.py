"""Envy: who is owed what because another player holds a straight flush or a royal."""

from __future__ import annotations

import pytest

from controller.domain import events as did
from controller.domain.envy import envies, owed, payable, qualifies, same_player
from controller.domain.errors import Refused
from controller.domain.pack import Hand
from controller.domain.table import Envy
from tests.builders import FIVE, ONE, QUADS, ROYAL, SIX, STRAIGHT_FLUSH, Evening, usd


def of(evening: Evening) -> dict[tuple[int, int], str]:
    """Receiver and holder to amount."""
    found = envies(evening.table.pack, evening.round)
    return {(envy.seat, envy.holder): envy.amount.payable() for envy in found}


@pytest.mark.requirement(33)
def test_every_other_bettor_is_owed_envy_and_the_holder_is_not() -> None:
    evening = Evening()
    evening.prove(1, 2, 4)
    evening.win(2, ROYAL)
    assert of(evening) == {(4, 2): "1000.00", (1, 2): "1000.00"}


@pytest.mark.requirement(7, 33)
def test_envy_follows_the_receivers_own_wager_not_the_holders() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.prove(seat1=ONE, seat2=FIVE, seat3=FIVE)
    evening.win(3, STRAIGHT_FLUSH)
    assert of(evening) == {(2, 3): "1500.00", (1, 3): "300.00"}
    evening.win(1, ROYAL)
    assert of(evening) == {
        (2, 3): "1500.00",
        (1, 3): "300.00",
        (3, 1): "5000.00",
        (2, 1): "5000.00",
    }


@pytest.mark.requirement(7, 33)
def test_in_south_dakota_envy_adjusts_with_the_wager_amount() -> None:
    evening = Evening("sd-pmg-01", wagers=["1.00", "2.00"])
    evening.prove(1, seat2=usd("2.00"), seat3=usd("2.00"))
    evening.win(3, STRAIGHT_FLUSH)
    assert of(evening) == {(2, 3): "600.00", (1, 3): "300.00"}


@pytest.mark.requirement(33)
def test_two_qualifying_hands_give_a_third_player_two_envies_and_each_holder_one() -> None:
    evening = Evening()
    evening.prove(1, 2, 3)
    evening.win(1, ROYAL)
    evening.win(2, STRAIGHT_FLUSH)
    assert of(evening) == {
        (3, 2): "300.00",
        (1, 2): "300.00",
        (3, 1): "1000.00",
        (2, 1): "1000.00",
    }


@pytest.mark.requirement(33)
def test_the_dealers_hand_cannot_be_keyed_and_owes_nobody_envy() -> None:
    evening = Evening()
    evening.prove(1, 2)
    for place in (0, 7):
        with pytest.raises(Refused, match=f"There is no seat {place}"):
            evening.win(place, ROYAL)
    assert of(evening) == {}


def test_four_of_a_kind_owes_no_envy() -> None:
    evening = Evening()
    evening.prove(1, 2)
    evening.win(1, QUADS)
    assert of(evening) == {}
    assert not qualifies(evening.table.pack, QUADS)


@pytest.mark.parametrize("pack_id", ["md-jh-a", "sd-uthp-01"])
def test_a_pack_without_an_envy_schedule_owes_none(pack_id: str) -> None:
    evening = Evening(pack_id)
    evening.prove(1, 2)
    evening.win(1, ROYAL)
    assert of(evening) == {}


@pytest.mark.requirement(33, 36)
@pytest.mark.parametrize(("hand", "each"), [(ROYAL, "1000.00"), (STRAIGHT_FLUSH, "300.00")])
def test_a_hand_on_the_board_gives_six_bettors_five_envies_each(hand: Hand, each: str) -> None:
    evening = Evening()
    evening.prove(*SIX)
    for seat in SIX:
        evening.win(seat, hand)
    found = of(evening)
    assert len(found) == 30
    assert set(found.values()) == {each}
    for seat in SIX:
        assert {holder for receiver, holder in found if receiver == seat} == set(SIX) - {seat}
    for _ in SIX:
        evening.validate()
    evening.envy()
    evening.end()
    assert (
        evening.table.totals.envy_paid.payable()
        == {
            "1000.00": "30000.00",
            "300.00": "9000.00",
        }[each]
    )


@pytest.mark.requirement(34)
def test_a_hand_without_a_wager_owes_envy_only_where_the_house_says_so() -> None:
    generous = Evening(envy_holder_must_wager=False)
    generous.prove(1, 2)
    generous.win(5, ROYAL)
    assert of(generous) == {(2, 5): "1000.00", (1, 5): "1000.00"}
    assert generous.claim(5).amount == usd("0.00")
    strict = Evening(envy_holder_must_wager=True)
    strict.prove(1, 2)
    with pytest.raises(Refused, match="here a hand without one owes no envy"):
        strict.win(5, ROYAL)
    assert of(strict) == {}


@pytest.mark.requirement(35)
def test_boxes_of_one_player_give_each_other_no_envy() -> None:
    evening = Evening(adjacent_boxes=2)
    evening.prove(1, 2, 3)
    evening.tie(1, 2)
    evening.win(1, ROYAL)
    assert of(evening) == {(3, 1): "1000.00"}
    assert same_player(evening.round, 1, 2)
    assert not same_player(evening.round, 2, 3)


@pytest.mark.requirement(35)
def test_a_box_that_is_let_go_is_owed_envy_again() -> None:
    evening = Evening(adjacent_boxes=3)
    evening.prove(1, 2, 3)
    evening.tie(1, 2, 3)
    evening.win(1, ROYAL)
    assert of(evening) == {}
    evening.tie(3)
    assert of(evening) == {(3, 1): "1000.00"}
    assert same_player(evening.round, 1, 2)
    evening.tie(2)
    assert not evening.round.ties


@pytest.mark.requirement(35)
def test_ties_that_touch_are_one_player_and_others_stay_apart() -> None:
    evening = Evening(adjacent_boxes=3)
    evening.tie(1, 2)
    evening.tie(5, 6)
    evening.tie(2, 3)
    assert evening.round.ties == ((1, 2, 3), (5, 6))


@pytest.mark.requirement(35)
@pytest.mark.parametrize(
    ("boxes", "seats", "why"),
    [
        (1, (1, 2), "at most 1 adjacent"),
        (2, (1, 2, 3), "at most 2 adjacent"),
        (3, (1, 3), "Only adjacent boxes"),
        (2, (6, 7), "There is no seat 7"),
        (2, (), "Name the seats"),
    ],
)
def test_a_tie_the_rules_do_not_know_is_refused(
    boxes: int, seats: tuple[int, ...], why: str
) -> None:
    evening = Evening(adjacent_boxes=boxes)
    with pytest.raises(Refused, match=why):
        evening.tie(*seats)
    assert evening.round.ties == ()


@pytest.mark.requirement(35)
def test_ties_end_with_the_round() -> None:
    evening = Evening(adjacent_boxes=2)
    evening.tie(1, 2)
    evening.prove(1, 2)
    evening.end()
    assert evening.round.ties == ()


def test_envy_of_a_hand_that_waits_for_the_floor_is_owed_but_not_payable() -> None:
    evening = Evening()
    evening.prove(1, 2)
    evening.win(1, STRAIGHT_FLUSH)
    assert len(owed(evening.table)) == 1
    assert payable(evening.table) == ()
    with pytest.raises(Refused, match="Seat 1 waits for the floor"):
        evening.envy()
    evening.validate()
    assert payable(evening.table) == (Envy(2, 1, STRAIGHT_FLUSH, usd("300.00")),)


def test_a_waiting_hand_that_owes_nobody_envy_does_not_hold_up_another_one() -> None:
    evening = Evening()
    evening.prove(4)
    evening.win(4, STRAIGHT_FLUSH)
    evening.win(5, STRAIGHT_FLUSH)  # without a wager: it owes seat 4 envy
    evening.envy()
    assert owed(evening.table) == ()


def test_a_royal_that_the_paytable_does_not_know_is_refused_with_and_without_a_wager() -> None:
    evening = Evening("md-uth-a")
    evening.prove(1)
    for seat in (1, 2):
        with pytest.raises(Refused):
            evening.win(seat, Hand.ROYAL_FLUSH_DIAMONDS)


def test_an_odds_win_that_waits_does_not_hold_up_the_envy_of_another_hand() -> None:
    evening = Evening(validate="all")
    evening.prove(1, 2)
    evening.win(5, ROYAL)
    evening.win(1, QUADS)
    event = evening.envy()
    assert isinstance(event, did.EnvyAcknowledged)
    assert len(event.paid) == 2


def test_end_waits_for_the_envy_and_then_it_is_paid_once() -> None:
    evening = Evening()
    evening.prove(1, 2)
    evening.win(1, ROYAL)
    evening.validate()
    with pytest.raises(Refused, match="Envy is owed"):
        evening.end()
    evening.envy()
    with pytest.raises(Refused, match="No envy is owed"):
        evening.envy()
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    assert ended.envy == (Envy(2, 1, ROYAL, usd("1000.00")),)
    assert evening.table.totals.envy_paid == usd("1000.00")


def test_a_second_qualifying_hand_after_an_envy_was_paid_owes_only_the_new_one() -> None:
    evening = Evening()
    evening.prove(1, 2, 3)
    evening.win(1, ROYAL)
    evening.validate()
    evening.envy()
    evening.win(2, STRAIGHT_FLUSH)
    assert {(envy.seat, envy.holder) for envy in owed(evening.table)} == {(1, 2), (3, 2)}


def test_envy_that_was_handed_over_cannot_be_taken_off_by_a_key() -> None:
    evening = Evening(adjacent_boxes=2)
    evening.prove(1, 2)
    evening.win(4, STRAIGHT_FLUSH)
    evening.envy()
    for hand in (STRAIGHT_FLUSH, ROYAL):
        with pytest.raises(Refused, match="has been paid already"):
            evening.win(4, hand)
    assert len(evening.round.envy_paid) == 2


def test_a_tie_after_the_envy_was_paid_is_refused() -> None:
    evening = Evening(adjacent_boxes=2)
    evening.prove(1, 2)
    evening.win(2, STRAIGHT_FLUSH)
    evening.validate()
    evening.envy()
    with pytest.raises(Refused, match="has been paid already"):
        evening.tie(1, 2)
