"""The box under the table as people use it: keys, PINs, doors, calls, reminders and displays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.domain import events as did
from controller.domain.table import Person, Phase, Reminder, Role
from controller.hardware import BUZZER, DOOR, DROP, END, FLOOR_KEY, LOCK, sensor
from controller.panel import keys as pressing
from controller.panel.keys import sign_in_keys
from display.frames import amounts_on
from display.text import dealer_lines
from mock_gpio.table import LastScreen, SimulatedClock
from tests.builders import AUDITOR, DEALER, FLOOR, QUADS, ROYAL, SIX, TECHNICIAN, table_file
from tests.keypad import NUMBERS
from tests.whole_table import BROKEN, WholeTable, opened

if TYPE_CHECKING:
    from controller.config import TableFile

FLOOR_NUMBER, FLOOR_PIN = "201", NUMBERS["201"][0]


def why(table: WholeTable) -> str:
    """The sentence of the last refusal, which must stand on the display and in the ledger."""
    assert table.screen.notice == table.unit.notice
    assert table.last(did.InputRefused).why == table.unit.notice
    return table.unit.notice


# The floor key and PINs.


@pytest.mark.requirement(79)
def test_the_floor_signs_in_with_key_and_pin_and_out_by_turning_the_key() -> None:
    table = WholeTable()
    table.sign_in(FLOOR)
    assert table.text().startswith("FLOOR FLORA")
    table.sign_out()
    assert table.text() == ""
    assert table.kinds()[-2:] == ["signed_in", "signed_out"]
    assert table.last(did.SignedIn).by == table.last(did.SignedOut).by == FLOOR


@pytest.mark.requirement(79)
def test_a_wrong_pin_is_told_counted_and_on_record_without_the_pin() -> None:
    table = WholeTable()
    table.sign_in(FLOOR, pin="0000")
    assert table.unit.notice == "Wrong number or PIN."
    assert table.last(did.SignInFailed) == did.SignInFailed(FLOOR_NUMBER, 1)
    assert not any(b"0000" in row.payload for row in table.ledger.stored[2:])
    table.keys(*sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
    assert table.text().startswith("FLOOR FLORA")
    assert table.table.failed_sign_ins == 0


def test_after_three_wrong_pins_the_keypad_waits_and_pulling_the_plug_does_not_help() -> None:
    table = WholeTable()
    table.sign_in(FLOOR, pin="0000")
    for _ in range(2):
        table.keys(*sign_in_keys(FLOOR_NUMBER, "0000"))
    table.keys(*sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
    assert "wait" in table.unit.notice
    table = table.again(lying=[FLOOR_KEY])
    assert "WAIT 30 S" in table.text()
    table.keys(*sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
    assert "wait" in why(table)
    assert table.events(did.SignedIn) == []
    table.wait(31_000)
    table.keys(*sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
    assert table.text().startswith("FLOOR FLORA")


def test_each_further_wrong_pin_doubles_the_wait() -> None:
    table = WholeTable()
    table.sign_in(FLOOR, pin="0000")
    for _ in range(2):
        table.keys(*sign_in_keys(FLOOR_NUMBER, "0000"))
    for expected_s in (60, 120):
        table.wait(900_000)
        table.keys(*sign_in_keys(FLOOR_NUMBER, "0000"))
        assert f"WAIT {expected_s} S" in table.text()


def test_a_dealer_is_refused_at_the_floor_key_though_his_pin_is_right() -> None:
    table = WholeTable()
    table.sign_in(DEALER)
    assert "may not sign in at the floor key" in table.unit.notice
    assert table.events(did.SignedIn) == []
    assert len(table.events(did.SignInFailed)) == 1


def test_a_dealer_signs_on_without_the_floor_key_and_stands_in_the_record() -> None:
    table = opened()
    table.keys("menu", "1", *sign_in_keys("101", NUMBERS["101"][0]))
    assert table.table.dealer == DEALER.name
    table.chip(1)
    table.lock()
    assert table.last(did.BetsLocked).by == DEALER
    assert table.again().table.dealer == DEALER.name


def test_without_the_floor_key_nobody_learns_whether_a_floor_pin_is_right() -> None:
    """Or a dealer could try PINs of the floor in peace, until one answer is another."""
    answers = []
    for pin in ("0000", FLOOR_PIN):
        table = opened()
        table.keys("menu", "1", *sign_in_keys(FLOOR_NUMBER, pin))
        answers.append(table.unit.notice)
    assert answers[0] == answers[1]


def test_a_dealers_own_pin_does_not_wipe_out_the_wrong_pins_of_others() -> None:
    table = opened()
    for _ in range(2):
        table.keys("menu", "1", *sign_in_keys(FLOOR_NUMBER, "0000"), "clear")
        table.keys("menu", "1", *sign_in_keys(FLOOR_NUMBER, "1111"), "clear")
        table.keys("menu", "1", *sign_in_keys("101", NUMBERS["101"][0]))
    assert table.unit._info().locked_out_ms > 0


@pytest.mark.parametrize("person", [TECHNICIAN, AUDITOR])
def test_technician_and_auditor_sign_in_at_the_key_and_may_not_open_the_table(
    person: Person,
) -> None:
    table = WholeTable()
    table.sign_in(person)
    assert table.text().startswith(person.role.value.upper())
    table.keys("1", "clear", *"1234567890", "enter")
    table.sign_out()
    assert table.is_in(Phase.CLOSED)
    assert table.last(did.SignedIn).by == person


def test_a_key_turned_off_while_the_ledger_is_down_takes_the_floor_with_it() -> None:
    table = opened()
    table.prove(1)
    table.win(1, ROYAL)
    table.sign_in(FLOOR)
    table.break_disk()
    table.keys("floor", "clear")  # the refusal cannot be written
    assert table.unit.service is None
    table.sign_out()
    table.cure_disk()
    table.wait(40_000)
    assert table.is_in(Phase.IN_PLAY)
    assert not table.unit.panel.key_on
    table.keys("1", "enter", "enter", "enter", "enter")
    assert table.events(did.WinValidated) == [], "the dealer validated without a floor key"


def test_a_key_turned_on_while_the_ledger_is_down_asks_for_a_pin_once_it_is_up() -> None:
    table = WholeTable(broken=BROKEN)
    table.sim.turn_key(on=True)
    table.cure_disk()
    table.wait(40_000)
    assert table.text().startswith("STAFF NO")


def test_a_sign_in_that_could_not_be_written_can_be_tried_again_when_the_ledger_is_up() -> None:
    table = WholeTable()
    table.break_disk()
    table.sign_in(FLOOR)
    assert table.unit.service is None
    table.cure_disk()
    table.wait(5_000)
    table.keys(*sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
    assert table.text().startswith("FLOOR FLORA")


@pytest.mark.requirement(79)
def test_a_sign_out_that_could_not_be_written_is_written_when_the_ledger_is_up() -> None:
    table = WholeTable()
    table.sign_in(FLOOR)
    table.break_disk()
    table.sign_out()
    assert table.unit.service is None
    table.cure_disk()
    table.wait(5_000)
    assert [event.by for event in table.events(did.SignedOut)] == [FLOOR]
    assert table.text() == ""


# Calling the floor.


def sounds(table: WholeTable, passed_ms: int = 2_000) -> bool:
    """Whether the buzzer sounds at any time from a moment on; a beep is over by then."""
    table.wait(200)
    heard = False
    for _ in range(passed_ms // 50):
        table.wait(50)
        heard = heard or table.hands.lit(BUZZER)
    return heard


def test_the_floor_is_called_by_its_key_until_it_signs_in() -> None:
    table = opened()
    assert not sounds(table)
    table.keys("floor")
    assert sounds(table, 10_000)
    assert "FLOOR CALLED" in table.screen.alerts
    table = table.again()
    assert sounds(table), "a power cut is not an answer"
    table.sign_in(FLOOR)
    assert not sounds(table)
    table.sign_out()
    assert not sounds(table)
    assert table.screen.alerts == ()


def test_the_key_alone_without_a_pin_does_not_answer_a_call() -> None:
    table = opened()
    table.keys("floor")
    table.sim.turn_key(on=True)
    table.sim.turn_key(on=False)
    assert sounds(table)


@pytest.mark.requirement(16)
def test_a_meter_win_calls_the_floor_by_itself_and_waits_for_it() -> None:
    table = opened()
    table.prove(1, 2)
    table.win(2, QUADS)
    assert not sounds(table)
    table.win(1, ROYAL)
    assert sounds(table)
    table.end()
    assert "waits for the floor" in why(table)
    table = table.again()
    assert sounds(table)
    table.floor(pressing.validate_keys(table.table))
    assert table.last(did.WinValidated).by == FLOOR
    assert not sounds(table)


# The door.


@pytest.mark.requirement(78)
def test_an_open_door_is_on_record_and_shown_and_no_bets_are_locked() -> None:
    table = opened()
    table.chip(1)
    table.sim.move(DOOR, active=True)
    table.wait(200)
    assert table.last(did.DoorMoved) == did.DoorMoved(opened=True, while_off=False)
    assert "DOOR OPEN" in table.screen.alerts
    table.lock()
    assert why(table) == "The cabinet door is open; close it before betting is locked."
    table.sim.move(DOOR, active=False)
    table.wait(200)
    table.lock()
    assert table.wagers() == [1]
    assert len(table.events(did.DoorMoved)) == 2


@pytest.mark.requirement(78)
def test_a_door_opened_while_the_power_was_off_is_found_at_start() -> None:
    table = opened().again(lying=[DOOR])
    assert table.last(did.DoorMoved) == did.DoorMoved(opened=True, while_off=True)
    table = table.again(lying=[])
    assert table.last(did.DoorMoved) == did.DoorMoved(opened=False, while_off=True)
    assert len(table.again(lying=[]).events(did.DoorMoved)) == 2


@pytest.mark.requirement(78)
def test_a_door_opened_while_the_ledger_is_down_is_on_record_once_it_is_up() -> None:
    table = opened()
    table.chip(1)
    table.break_disk()
    table.keys("7")
    table.sim.move(DOOR, active=True)
    table.wait(200)
    table.cure_disk()
    table.wait(40_000)
    assert table.table.door_open
    table.lock()
    assert table.is_in(Phase.OPEN)


@pytest.mark.requirement(78)
def test_a_door_found_open_by_a_start_without_ledger_is_on_record_once_it_is_up() -> None:
    table = opened().again(lying=[DOOR], broken=BROKEN)
    table.cure_disk()
    table.wait(40_000)
    assert [event.opened for event in table.events(did.DoorMoved)] == [True]


# What was held down while the power failed.


@pytest.mark.requirement(62)
def test_end_held_through_a_power_cut_is_no_press() -> None:
    table = opened()
    table.prove(1)
    table = table.again(lying=[END])
    table.wait(2_000)
    assert (table.phase, table.wagers()) == (Phase.IN_PLAY, [1])
    table.sim.move(END, active=False)
    table.wait(200)
    assert table.is_in(Phase.IN_PLAY)
    table.end()
    assert table.is_in(Phase.OPEN)


@pytest.mark.requirement(62)
def test_lock_held_through_a_power_cut_is_no_press() -> None:
    table = opened().again(lying=[LOCK, sensor(1)])
    table.wait(2_000)
    table.sim.move(LOCK, active=False)
    table.wait(200)
    assert table.is_in(Phase.OPEN)
    table.lock()
    assert table.wagers() == [1]


def test_a_floor_key_left_on_through_a_power_cut_asks_for_a_pin() -> None:
    table = WholeTable()
    table.sign_in(FLOOR)
    table = table.again(lying=[FLOOR_KEY])
    assert table.text().startswith("STAFF NO")
    table.sign_out()
    assert table.text() == ""


# Counting.


def test_in_a_blind_count_no_number_shows_before_the_dealer_has_keyed_one() -> None:
    table = opened(table_file(count="blind"))
    table.chip(1, 3)
    table.lock()
    shown = " ".join((*dealer_lines(table.screen.view), table.text()))
    assert "COUNT THE CHIPS" in shown
    assert "2 WAGERS" not in shown
    assert "SEEN" not in shown
    table.keys("5")
    assert "ACCEPTED" not in table.text()
    table.keys("enter")
    assert table.is_in(Phase.MISCOUNT)
    assert "AT SEATS 1 3" in dealer_lines(table.screen.view)


@pytest.mark.requirement(5)
def test_otherwise_the_dealer_is_shown_how_many_wagers_and_at_which_seats() -> None:
    table = opened(table_file(count="shown"))
    table.chip(1, 3)
    table.lock()
    assert "2 WAGERS: 1 3" in dealer_lines(table.screen.view)


def drop_chips(table: WholeTable, number: int) -> None:
    for _ in range(number):
        table.hands.cover(DROP)
        table.after_us(40_000)
        table.hands.uncover(DROP)
        table.wait(150)


def slotted() -> TableFile:
    return table_file(count="sensor")


def test_the_drop_slot_counts_the_chips_and_enter_takes_its_number() -> None:
    table = opened(slotted())
    drop_chips(table, 2)  # a test of the slot between rounds counts for nothing
    table.chip(1, 2, 3)
    table.lock()
    drop_chips(table, 3)
    table.keys("enter")
    assert table.is_in(Phase.IN_PLAY)


def test_a_lock_key_that_does_not_fit_leaves_the_drop_count_alone() -> None:
    table = opened(slotted())
    table.chip(1, 2)
    table.lock()
    drop_chips(table, 2)
    table.lock()
    assert "does not fit" in why(table)
    table.keys("enter")
    assert table.is_in(Phase.IN_PLAY)


def test_after_a_power_cut_the_slot_gives_no_number_rather_than_a_wrong_one() -> None:
    table = opened(slotted())
    table.chip(1, 2)
    table.lock()
    drop_chips(table, 2)
    table = table.again()
    table.keys("enter")
    assert table.is_in(Phase.LOCKED)
    table.keys("2", "enter")
    assert table.is_in(Phase.IN_PLAY)


def test_chips_that_fell_while_the_ledger_was_down_make_the_slots_number_unknown() -> None:
    table = opened(slotted())
    table.chip(1, 2)
    table.lock()
    drop_chips(table, 1)
    table.break_disk()
    table.end()
    drop_chips(table, 1)
    table.cure_disk()
    table.wait(5_000)
    table.keys("enter")
    assert table.is_in(Phase.LOCKED)
    table.keys("2", "enter")
    assert table.is_in(Phase.IN_PLAY)


# Reminders.


def play_round(table: WholeTable) -> None:
    table.lock()
    table.end()


def test_a_reminder_shows_between_rounds_and_its_answer_stands_in_the_round_record() -> None:
    table = opened()
    table = opened(reminding(stub_count_rounds=2))
    play_round(table)
    assert table.reminders() == ()
    play_round(table)
    assert table.reminders() == ("COUNT THE STUB",)
    assert table.text().startswith("HOUSE RULE")
    table.keys("enter")
    assert table.reminders() == ()
    play_round(table)
    reminded = table.last(did.RoundEnded).reminded
    assert [(each.what, each.by) for each in reminded] == [(Reminder.STUB_COUNT, "dealer")]


def test_a_deck_is_due_after_its_hours_also_across_power_cuts() -> None:
    table = opened(reminding(deck_change_hours=1))
    play_round(table)
    table.sim.pass_ms(40 * 60_000)
    play_round(table)
    table = table.again()
    assert table.reminders() == ()
    table.sim.pass_ms(20 * 60_000)
    assert table.reminders() == ("CHANGE THE DECK",)
    table.keys("enter")
    assert table.last(did.ReminderAcknowledged).what is Reminder.DECK_CHANGE
    assert table.reminders() == ()


def test_nothing_is_reminded_of_in_the_middle_of_a_round() -> None:
    table = opened(reminding(stub_count_rounds=1))
    play_round(table)
    table.chip(1)
    table.lock()
    assert table.reminders() == ()
    assert table.text() == ""


def reminding(**house: int) -> TableFile:
    from controller.config import table_from_document
    from tests.builders import _pack_file

    document = {"table": {"id": "T01"}, "rules": {"pack": "md-uth-a"}, "house": house}
    return table_from_document(document, where="table.toml", find_pack=_pack_file)


# Clock and displays.


def test_a_clock_that_jumps_is_on_record_and_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = opened()
    real = SimulatedClock.wall_ms
    table.wait(1_000)
    monkeypatch.setattr(SimulatedClock, "wall_ms", lambda clock: real(clock) - 7_200_000)
    table.wait(1_000)
    assert table.events(did.ClockStepped) == [did.ClockStepped(-7_200_000)]
    assert table.is_in(Phase.OPEN)


def test_a_display_that_fails_is_noted_once_and_once_again_when_it_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = opened()
    monkeypatch.setattr(LastScreen, "faults", lambda _: ("meter display: no answer",))
    table.wait(5_000)
    assert "DISPLAY FAULT" in table.screen.alerts
    table.chip(1)
    table.lock()
    assert table.wagers() == [1], "money never waits for glass"
    monkeypatch.undo()
    table.wait(1_000)
    assert [event.what for event in table.events(did.HardwareNoted)] == [
        "meter display: no answer",
        "again in order: meter display: no answer",
    ]
    assert table.screen.alerts == ()


# The technician.


def pages(table: WholeTable) -> str:
    """All the pages of what is being read."""
    seen: list[str] = []
    while table.text() not in seen:
        seen.append(table.text())
        table.keys("menu")
    return "\n".join(seen)


@pytest.mark.requirement(53)
def test_a_technician_reads_the_last_twenty_five_hits() -> None:
    table = opened()
    for number in range(1, 28):
        table.prove(1)
        table.win(1, ROYAL)
        table.floor(pressing.validate_keys(table.table))
        table.end()
        assert table.is_in(Phase.OPEN), number
    table = table.again()
    table.sign_in(TECHNICIAN)
    table.keys("4")
    read = pages(table)
    rounds = [line.split()[1] for line in read.splitlines() if line.startswith("ROUND ")]
    assert rounds == [str(number) for number in range(27, 2, -1)]


@pytest.mark.requirement(68)
def test_a_technician_reads_versions_and_fingerprints() -> None:
    table = WholeTable()
    table.sign_in(TECHNICIAN)
    table.keys("3")
    read = "".join(line for line in pages(table).splitlines() if "=" not in line)
    assert table.table.pack.fingerprint in read


def test_the_self_test_lights_every_lamp_and_sounds_the_buzzer_and_ends_by_itself() -> None:
    table = WholeTable()
    table.sign_in(TECHNICIAN)
    table.keys(*self_test_keys(table), "enter")
    table.wait(100)
    assert table.lit() == set(SIX)
    heard = False
    for _ in range(80):
        table.wait(50)
        heard = heard or table.hands.lit(BUZZER)
    assert heard, "the buzzer was not tested"
    table.wait(6_000)
    assert (table.lit(), table.hands.lit(BUZZER)) == (set(), False)


def self_test_keys(table: WholeTable) -> tuple[str, ...]:
    """MENU until the line shows, then its digit."""
    for turns in range(5):
        for line in table.text().splitlines():
            if line.endswith("SELF-TEST"):
                return (line[0],)
        assert turns < 4, table.text()
        table.keys("menu")
    return ()


def test_no_lamp_of_a_self_test_is_lit_once_betting_is_open() -> None:
    table = WholeTable()
    table.sign_in(TECHNICIAN)
    table.keys(*self_test_keys(table), "enter")
    table.sign_out()
    table.open()
    table.wait(100)
    assert table.is_in(Phase.OPEN)
    assert table.lit() == set(), "lamps that look accepted, and no wager"


# A table that is not in play.


@pytest.mark.requirement(8)
def test_a_table_that_is_closed_or_under_test_takes_no_wager() -> None:
    table = WholeTable()
    table.chip(1)
    table.lock()
    assert "the floor opens it" in why(table)
    table.sign_in(TECHNICIAN)
    table.keys(*self_test_keys(table), "enter")
    table.lock()
    assert table.is_in(Phase.CLOSED)
    assert table.wagers() == []


@pytest.mark.requirement(8)
def test_a_table_without_its_ledger_takes_no_wager_then_or_later() -> None:
    table = opened()
    table.chip(1)
    table.break_disk()
    table.keys("7")
    table.lock()
    table.cure_disk()
    table.wait(5_000)
    assert table.is_in(Phase.OPEN)
    assert table.wagers() == []


# Keys that do not fit.


@pytest.mark.requirement(13, 24)
def test_a_key_that_does_not_fit_changes_nothing_says_why_and_is_logged() -> None:
    table = opened()
    before = table.table
    for press in (table.end, lambda: table.keys("5"), lambda: table.keys("clear")):
        press()
        assert len(why(table)) > 10
    assert table.table == before
    assert table.kinds()[-3:] == ["input_refused"] * 3


@pytest.mark.requirement(23)
def test_two_keys_at_once_count_as_none() -> None:
    table = opened()
    table.prove(1)
    rows = len(table.ledger.stored)
    places = table.sim._place
    for name in ("1", "enter"):
        table.hands.press_key(*places[name])
    table.sim._scan()
    for name in ("1", "enter"):
        table.hands.release_key(*places[name])
        table.sim._scan()
    assert (table.text(), len(table.ledger.stored)) == ("", rows)


def test_the_last_sentence_goes_with_the_next_key_that_does_something() -> None:
    table = opened()
    table.end()
    assert table.screen.notice
    table.chip(1)
    table.lock()
    assert table.screen.notice == ""


def test_a_half_keyed_count_does_not_survive_the_end_of_its_phase() -> None:
    table = opened()
    table.lock()
    table.keys("1")
    table.end()
    assert (table.phase, table.text()) == (Phase.OPEN, "")


def test_the_unit_signs_its_own_rows_and_nobody_elses() -> None:
    table = opened()
    table.keys("5")
    assert table.last(did.InputRefused).by == Person("dealer", Role.DEALER)


@pytest.mark.requirement(56)
def test_the_meter_display_rises_with_each_proved_wager_and_lands_on_the_true_value() -> None:
    table = opened(table_file(meters={"meter": {"rate": "0.1425"}}))
    shown = []
    for seats in ((1,), (2, 3), (4, 5, 6)):
        table.prove(*seats)
        shown.append(table.screen.view.meters[0].shown)
        assert shown[-1] == table.table.meters[0].current.whole_cents()
        frame_amounts = amounts_on(table.screen, size=(256, 64), at_ms=0)
        assert list(frame_amounts.values()) == [shown[-1]]
        table.end()
    assert [amount.payable() for amount in shown] == ["10000.14", "10000.42", "10000.85"]
