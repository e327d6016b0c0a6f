"""The dealer's keypad: count, win, envy, tie, reminders, menu."""

from __future__ import annotations

from typing import Any

import pytest

from controller.domain import commands as ask
from controller.domain.money import Money
from controller.domain.pack import Hand
from controller.domain.table import ChipCount, Person, Phase, Reminder, Role
from controller.panel import Action, CheckPin, Say
from tests.builders import DEALER, FIVE, ONE, QUADS, ROYAL, SIX, STRAIGHT_FLUSH, Evening, usd
from tests.keypad import Keypad

BOTH = ["1.00", "5.00"]
DANA = Person("Dana", Role.DEALER)


def counted(ones: int = 0, fives: int | None = None) -> ask.KeyCount:
    chips = (ChipCount(ONE, ones),)
    return ask.KeyCount(DEALER, chips if fives is None else (*chips, ChipCount(FIVE, fives)))


def locked(*seats: int, **keys: Any) -> Keypad:
    evening = Evening(**keys)
    evening.lock(*seats)
    return Keypad(evening)


def in_play(*seats: int, pack: str = "md-uth-a", **keys: Any) -> Keypad:
    evening = Evening(pack, **keys)
    evening.prove(*seats)
    return Keypad(evening)


# The count.


def test_a_count_is_its_digits_and_enter() -> None:
    keypad = locked(1, 2, 3)
    assert keypad.page is None
    assert keypad.press("3") is None
    assert keypad.page is not None
    assert keypad.page.entry == "3"
    assert keypad.press("enter") == counted(3)
    assert keypad.evening.is_in(Phase.IN_PLAY)


@pytest.mark.parametrize(
    ("keys", "chips"),
    [
        ("0 enter", 0),
        ("1 0 enter", 10),
        ("4 clear 3 enter", 3),
        ("4 5 clear clear 3 enter", 3),
        ("0 3 enter", 3),
    ],
)
def test_a_digit_keyed_by_mistake_is_cleared(keys: str, chips: int) -> None:
    assert locked(1, 2, 3).press(*keys.split()) == counted(chips)


def test_clear_on_nothing_leaves_the_count() -> None:
    keypad = locked(1)
    keypad.press("4", "clear")
    assert keypad.title == "COUNT"
    keypad.press("clear")
    assert keypad.page is None


def test_enter_alone_counts_nothing_since_a_miscount_is_on_record_for_ever() -> None:
    keypad = locked(1)
    assert keypad.press("enter") == Say("Key how many chips, then press ENTER.")
    assert keypad.evening.round.counts == ()


def test_a_third_digit_is_refused_and_the_count_stays() -> None:
    keypad = locked(1)
    assert isinstance(keypad.press("1", "2", "3"), Say)
    assert keypad.page is not None
    assert keypad.page.entry == "12"


def test_a_second_count_after_a_miscount_is_a_recount() -> None:
    keypad = locked(1, 2)
    keypad.press("3", "enter")
    assert keypad.evening.is_in(Phase.MISCOUNT)
    keypad.press("2")
    assert keypad.title == "RECOUNT"
    keypad.press("enter")
    assert keypad.evening.is_in(Phase.IN_PLAY)


@pytest.mark.parametrize(
    ("keys", "ones", "fives"),
    [
        ("2 enter 1 enter", 2, 1),
        ("2 enter enter", 2, 0),
        ("enter 3 enter", 0, 3),
        ("2 enter clear 4 enter clear clear 5 enter 1 enter", 25, 1),
    ],
)
def test_each_amount_of_the_table_is_asked_for_and_blank_is_none(
    keys: str, ones: int, fives: int
) -> None:
    keypad = locked(1, 2, wagers=BOTH, count="blind")
    assert keypad.press(*keys.split()) == counted(ones, fives)


def test_enter_through_all_amounts_counts_nothing() -> None:
    keypad = locked(1, wagers=BOTH, count="blind")
    assert isinstance(keypad.press("enter", "enter"), Say)
    assert keypad.evening.round.counts == ()


@pytest.mark.requirement(25)
def test_a_blind_count_asks_the_same_whatever_was_accepted() -> None:
    """Nothing on any page of the count hints at number, seats or amounts."""

    def pages(*seats: int, **amounts: Money) -> list[str]:
        evening = Evening(wagers=BOTH, count="blind")
        evening.lock(*seats, **amounts)
        keypad = Keypad(evening)
        seen = []
        for key in ("menu", "clear", "tie", "clear", "2", "menu", "enter", "1"):
            keypad.press(key)
            seen.append(f"{keypad.text()} {keypad.said}")
        return seen

    assert pages() == pages(1) == pages(1, 2, 3) == pages(6, wager=FIVE) == pages(1, seat5=FIVE)
    assert any("$5.00 CHIPS" in page for page in pages())


@pytest.mark.requirement(5)
def test_a_shown_count_names_number_and_seats_and_asks_only_what_was_accepted() -> None:
    keypad = locked(2, 5, wagers=BOTH, count="shown")
    keypad.press("2")
    assert "2 ACCEPTED: 2 5" in keypad.text()
    assert "$5.00" not in keypad.text()
    assert keypad.press("enter") == counted(2)


def test_a_chip_of_an_amount_nobody_was_accepted_with_is_counted_after_menu() -> None:
    keypad = locked(2, 5, wagers=BOTH, count="shown")
    keypad.press("2", "menu")
    assert keypad.page is not None
    assert keypad.page.entry == "2"
    assert keypad.press("enter", "1", "enter") == counted(2, 1)
    assert keypad.evening.is_in(Phase.MISCOUNT)


def test_menu_in_a_count_of_all_amounts_says_so() -> None:
    keypad = locked(1)
    keypad.press("1", "menu")
    assert keypad.said == "Every amount of this table is asked for already."


def test_enter_alone_takes_what_the_drop_slot_counted() -> None:
    keypad = locked(1, 2, count="sensor")
    keypad.knows(drops=2)
    assert keypad.press("enter") == ask.KeyCount(DEALER, number=2)
    assert keypad.evening.is_in(Phase.IN_PLAY)


def test_a_silent_drop_slot_leaves_the_count_to_the_dealer() -> None:
    keypad = locked(1, count="sensor")
    keypad.press("enter")
    assert keypad.said == "The drop slot gives no number; key how many chips."
    assert keypad.press("1", "enter") == counted(1)


@pytest.mark.requirement(23)
def test_digits_keyed_in_one_phase_never_count_in_another() -> None:
    keypad = locked(1)
    keypad.press("1", "2")
    keypad.evening.void()
    assert keypad.page is None
    keypad.evening.lock(1)
    keypad.press("1")
    assert keypad.page is not None
    assert keypad.page.entry == "1"


@pytest.mark.requirement(23)
def test_a_phase_that_came_and_went_unseen_drops_the_entry_too() -> None:
    keypad = locked(1)
    keypad.press("9")
    keypad.panel.phase_changed()
    assert keypad.page is None


# Wins.


@pytest.mark.parametrize(
    ("keys", "seat", "hand"),
    [
        ("3 1 enter", 3, ROYAL),
        ("win 3 1 enter", 3, ROYAL),
        ("3 2 enter", 3, STRAIGHT_FLUSH),
        ("3 1 3 enter", 3, QUADS),
        ("3 1 clear 3 enter", 3, QUADS),
        ("1 clear 3 1 enter", 3, ROYAL),
        ("1 win 3 1 enter", 3, ROYAL),
        ("3 menu 7 enter", 3, Hand.THREE_OF_A_KIND),
        ("3 7 enter", 3, Hand.THREE_OF_A_KIND),
    ],
)
def test_a_win_is_seat_hand_enter(keys: str, seat: int, hand: Hand) -> None:
    keypad = in_play(1, 3)
    action = keypad.press(*keys.split())
    assert isinstance(action, ask.KeyWin)
    assert (action.by, action.seat, action.hand) == (DEALER, seat, hand)
    assert keypad.page is None
    assert keypad.evening.claim(seat).hand == hand


def test_the_hands_are_listed_as_the_rules_test_them_with_short_pays() -> None:
    keypad = in_play(1)
    keypad.press("1")
    assert keypad.pages() == [
        "SEAT 1\n1 ROYAL FLUSH 100%\n2 STR FLUSH 10%\n3 QUADS 300:1\n4 FULL HOUSE 50:1\n"
        "5 FLUSH 40:1\n\nMENU = MORE",
        "SEAT 1\n6 STRAIGHT 30:1\n7 TRIPS 9:1\n\nMENU = MORE",
    ]


def test_before_enter_the_dealer_sees_what_the_hand_pays() -> None:
    keypad = in_play(1)
    keypad.press("1", "3")
    assert "PAYS $300.00" in keypad.text()
    keypad.press("1")
    assert "OF PROGRESSIVE" in keypad.text()


@pytest.mark.requirement(15)
def test_the_keyed_hand_is_marked_and_keyed_again_it_is_taken_off() -> None:
    keypad = in_play(1)
    before = keypad.evening.meter
    keypad.press("1", "2", "enter")
    keypad.press("1")
    assert keypad.page is not None
    assert keypad.page.lines[1] == "2*STR FLUSH 10%"
    keypad.press("2")
    assert "ENTER = TAKE OFF" in keypad.text()
    keypad.press("enter")
    assert keypad.evening.round.claims == ()
    assert keypad.evening.meter == before


@pytest.mark.requirement(14)
def test_a_seat_without_a_wager_has_no_win_to_key() -> None:
    keypad = in_play(1, envy_holder_must_wager=True)
    keypad.press("2")
    assert keypad.said == "Seat 2 has no accepted wager this round."
    assert keypad.page is None
    keypad.press("win", "2")
    assert keypad.said == "Seat 2 has no accepted wager this round."


def test_a_hand_without_a_wager_is_offered_for_envy_only_and_says_so() -> None:
    keypad = in_play(1)
    keypad.press("2")
    assert keypad.page is not None
    assert keypad.page.title == "SEAT 2 ENVY ONLY"
    assert keypad.page.lines == ("1 ROYAL FLUSH ENVY", "2 STR FLUSH ENVY")
    keypad.press("2")
    assert "NO WAGER: ENVY ONLY" in keypad.text()
    assert keypad.press("enter") == ask.KeyWin(DEALER, 2, STRAIGHT_FLUSH)


def test_seat_ten_is_the_zero_and_there_is_none_at_a_table_of_six() -> None:
    keypad = in_play(1)
    keypad.press("0")
    assert keypad.said == "There is no seat 10."
    keypad.press("win", "7")
    assert keypad.said == "There is no seat 7."


def test_a_table_without_a_paytable_says_that_nothing_wins() -> None:
    evening = Evening("ca-texas-holdem")
    evening.prove(10)
    keypad = Keypad(evening)
    keypad.press("0")
    assert keypad.said == "These rules have no winning line."


@pytest.mark.requirement(60)
def test_a_meter_win_carries_what_the_meter_display_showed_and_an_odds_win_does_not() -> None:
    keypad = in_play(1, 2)
    keypad.knows(shown={"meter": usd("9999.00")})
    assert keypad.press("1", "1", "enter") == ask.KeyWin(DEALER, 1, ROYAL, usd("9999.00"))
    assert keypad.press("2", "3", "enter") == ask.KeyWin(DEALER, 2, QUADS)


def test_a_refused_win_leaves_nothing_half_entered() -> None:
    keypad = in_play(1)
    keypad.press("1", "1", "enter")
    keypad.press("1", "3", "enter")
    assert keypad.said == "Seat 1 has a higher hand keyed; only the highest pays."
    assert keypad.page is None


# Envy.


def with_envy() -> Keypad:
    """Seat 6 has a straight flush; the floor has validated it."""
    keypad = in_play(2, 4, 6)
    keypad.evening.win(6, STRAIGHT_FLUSH)
    keypad.evening.validate()
    return keypad


def test_the_walk_shows_one_envy_at_a_time_and_the_last_enter_acknowledges_all() -> None:
    keypad = with_envy()
    assert keypad.page is None  # first of all the dealer sees what the winner gets
    keypad.press("enter")
    assert keypad.page is not None
    assert keypad.page.title == "ENVY 1 OF 2"
    assert keypad.page.lines == ("SEAT 4", "$300.00", "FACE UP SEAT 6")
    assert keypad.press("enter") is None
    assert keypad.title == "ENVY 2 OF 2"
    assert keypad.press("enter") == ask.AcknowledgeEnvy(DEALER)
    assert keypad.page is None
    keypad.evening.end()


def test_another_win_can_be_keyed_in_the_middle_of_the_walk_which_then_goes_on() -> None:
    keypad = with_envy()
    keypad.press("enter", "enter")
    assert keypad.title == "ENVY 2 OF 2"
    assert isinstance(keypad.press("2", "3", "enter"), ask.KeyWin)
    keypad.press("enter")
    assert keypad.title == "ENVY 2 OF 2"
    assert isinstance(keypad.press("enter"), ask.AcknowledgeEnvy)


def test_clear_shows_the_round_again_and_enter_goes_on_with_the_walk() -> None:
    keypad = with_envy()
    keypad.press("enter", "enter", "clear")
    assert keypad.page is None
    keypad.press("enter")
    assert keypad.title == "ENVY 2 OF 2"


def test_an_end_that_is_refused_in_the_middle_of_the_walk_does_not_set_it_back() -> None:
    keypad = with_envy()
    keypad.press("enter", "enter")
    keypad.panel.refused()  # END: envy is owed
    assert keypad.title == "ENVY 2 OF 2"


def test_a_hand_taken_off_in_the_middle_of_the_walk_starts_it_anew() -> None:
    keypad = in_play(2, 4, 6, pack="sd-pmg-01")
    keypad.press("1", "1", "enter")  # no wager at seat 1, so it needs no floor
    keypad.press("enter", "enter")
    assert keypad.title == "ENVY 2 OF 3"
    keypad.press("1", "1", "enter")
    assert keypad.evening.round.claims == ()
    keypad.press("1", "1", "enter", "enter")
    assert keypad.title == "ENVY 1 OF 3"


def test_a_tie_that_ends_the_last_envy_leaves_the_others_to_acknowledge() -> None:
    keypad = in_play(4, 5, 6, adjacent_boxes=2)
    keypad.evening.win(6, STRAIGHT_FLUSH)
    keypad.evening.validate()
    keypad.press("enter", "enter")
    assert keypad.title == "ENVY 2 OF 2"
    keypad.evening.tie(5, 6)  # of the two, seat 5 was handed over
    keypad.press("clear", "enter")
    assert "SEAT 4" in keypad.text()
    keypad.press("enter")
    assert keypad.evening.round.envy_paid != ()


def test_if_all_that_is_left_was_handed_over_one_enter_acknowledges_it() -> None:
    keypad = in_play(3, 4, 6, adjacent_boxes=4)
    keypad.evening.win(6, STRAIGHT_FLUSH)
    keypad.evening.validate()
    keypad.evening.win(2, ROYAL)  # no wager: envy only
    keypad.press(*["enter"] * 5)
    assert keypad.title == "ENVY 5 OF 5"
    keypad.evening.tie(2, 3)  # the last one was seat 3's for the hand of seat 2
    assert "ALL HANDED OVER" in keypad.text()
    assert isinstance(keypad.press("enter"), ask.AcknowledgeEnvy)
    keypad.evening.end()


def test_envy_that_waits_for_the_floor_says_for_which_seat() -> None:
    keypad = in_play(2, 6)
    keypad.evening.win(6, ROYAL)
    keypad.press("enter")
    assert keypad.said == "Seat 6 waits for the floor; envy comes after."


# Ties, the floor, reminders, the menu.


@pytest.mark.parametrize(
    ("keys", "seats"),
    [
        ("tie 1 2 enter", (1, 2)),
        ("tie 1 4 clear 2 enter", (1, 2)),
        ("tie 2 enter", (2,)),
        ("tie clear tie 2 1 enter", (2, 1)),
    ],
)
def test_seats_of_one_player_are_tied(keys: str, seats: tuple[int, ...]) -> None:
    keypad = Keypad(Evening(adjacent_boxes=3))
    assert keypad.press(*keys.split()) == ask.TieSeats(DEALER, seats)
    assert keypad.said == ""
    assert keypad.page is None


def test_a_seat_keyed_twice_and_no_seat_at_all_are_no_tie() -> None:
    keypad = Keypad(Evening(adjacent_boxes=3))
    keypad.press("tie", "enter")
    assert keypad.said == "Key the seats of one player, then ENTER."
    keypad.press("1", "1")
    assert keypad.said == "Seat 1 is keyed already."


@pytest.mark.parametrize("half", ["", "4", "menu", "tie 1", "menu 1 1 0 1 enter 2"])
def test_one_key_calls_the_floor_whatever_is_half_entered(half: str) -> None:
    keypad = locked(1)
    keypad.press(*half.split())
    before = keypad.text()
    assert keypad.press("floor") == ask.CallFloor(DEALER)
    assert keypad.evening.table.floor_called
    assert keypad.text() == before
    keypad.press("floor")
    assert keypad.said == "The floor has been called already."


@pytest.mark.requirement(23)
def test_a_reminder_waits_for_an_idle_moment_and_stops_no_betting() -> None:
    evening = Evening()
    keypad = Keypad(evening, reminders=(Reminder.STUB_COUNT, Reminder.DECK_CHANGE))
    assert "COUNT THE STUB" in keypad.text()
    evening.lock(1)
    assert keypad.page is None
    keypad.press("1", "enter")
    evening.end()
    assert "COUNT THE STUB" in keypad.text()
    assert keypad.press("enter") == ask.AcknowledgeReminder(DEALER, Reminder.STUB_COUNT)
    keypad.knows(reminders=(Reminder.DECK_CHANGE,))
    assert "CHANGE THE DECK" in keypad.text()


def test_a_reminder_put_off_comes_back_after_the_round() -> None:
    keypad = Keypad(reminders=(Reminder.DECK_CHANGE,))
    keypad.press("clear")
    assert keypad.page is None
    keypad.press("enter")
    assert keypad.said == "Press LOCK first."
    keypad.evening.lock()
    keypad.evening.end()
    assert "CHANGE THE DECK" in keypad.text()


def test_wagers_to_return_and_sensors_to_clear_come_before_a_reminder() -> None:
    evening = Evening()
    keypad = Keypad(evening, reminders=(Reminder.DECK_CHANGE,))
    evening.lock(1)
    evening.void()
    assert keypad.page is None
    evening.lock()
    evening.end(3)
    assert keypad.page is None
    evening.do(ask.NoteSeatStuck(DEALER, 3))  # that can last the whole evening
    assert "CHANGE THE DECK" in keypad.text()


@pytest.mark.parametrize("keys", ["menu", "menu 1 1", "menu 4", "menu 3", "tie 1"])
def test_lock_brings_the_dealer_back_to_the_round_from_every_page(keys: str) -> None:
    keypad = Keypad()
    keypad.press(*keys.split())
    assert keypad.page is not None
    keypad.evening.lock(1)
    assert keypad.page is None


@pytest.mark.parametrize(
    ("keys", "action"),
    [
        ("menu 3 enter", ask.AcknowledgeReminder(DEALER, Reminder.DECK_CHANGE)),
        ("menu 1 1 0 1 enter 2 5 8 0 enter", CheckPin("101", "2580")),
        ("menu 1 1 0 2 clear 1 enter 9 clear 2 5 8 0 enter", CheckPin("101", "2580")),
        ("menu 2", Say("Nobody is signed on as the dealer.")),
        ("menu 9", Say("Pick 1 to 4, or CLEAR to leave.")),
    ],
)
def test_the_dealers_menu(keys: str, action: Action) -> None:
    assert Keypad().press(*keys.split()) == action


def test_a_dealer_signs_on_and_off() -> None:
    keypad = Keypad()
    keypad.press("menu", "1", *"101", "enter", *"2580", "enter")
    assert keypad.evening.table.dealer == "Dana"
    assert keypad.page is None
    keypad.press("menu")
    assert "2 SIGN OFF DANA" in keypad.text()
    assert keypad.press("2", "enter") == ask.SignOut(DANA)
    assert keypad.evening.table.dealer == ""


def test_the_floors_number_does_not_sign_on_as_a_dealer() -> None:
    keypad = Keypad()
    keypad.press("menu", "1", *"201", "enter", *"1379", "enter")
    assert keypad.evening.table.dealer == ""
    assert keypad.title == "STAFF NO"


def test_every_level_can_be_read_and_nothing_changed_there() -> None:
    keypad = in_play(*SIX, pack="md-jh-e")
    keypad.evening.win(1, Hand.ROYAL_FLUSH_DIAMONDS)
    keypad.press("menu", "4")
    text = "\n".join(keypad.pages())
    for title in ("STAR", "SPADE", "HEART", "DIAMOND", "CLUB"):
        assert title in text
    assert "PENDING" in text
    keypad.press("1")
    assert keypad.said == "This is to read only; CLEAR leaves it."


@pytest.mark.requirement(24)
@pytest.mark.parametrize(
    ("phase", "keys", "says"),
    [
        (Phase.CLOSED, "1 win tie enter", "The table is closed; the floor opens it."),
        (Phase.OPEN, "1 0 win enter", "Press LOCK first."),
        (Phase.LOCKED, "win enter", "Key how many chips, then press ENTER."),
        (Phase.MISCOUNT, "win", "Recount the chips, or call the floor."),
        (Phase.IN_PLAY, "enter", "Key the winner's seat, or press END."),
        (Phase.FAULT, "1 win tie enter", "Out of service; call a technician."),
    ],
)
def test_a_key_that_does_not_fit_says_what_would(phase: Phase, keys: str, says: str) -> None:
    evening = Evening(opened=phase is not Phase.CLOSED)
    if phase in (Phase.LOCKED, Phase.MISCOUNT, Phase.IN_PLAY):
        evening.lock(1)
    if phase in (Phase.MISCOUNT, Phase.IN_PLAY):
        evening.count(1 if phase is Phase.IN_PLAY else 2)
    if phase is Phase.FAULT:
        evening.fault()
    assert evening.is_in(phase)
    keypad = Keypad(evening)
    for key in keys.split():
        assert keypad.press(key) == Say(says)
    keypad.press("clear")
    assert keypad.said == "There is nothing to clear."
