"""The keypad under the floor key: signing in, deciding, validating; technician and auditor."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.table import Person, Phase
from controller.panel import (
    DEFAULT_REASONS,
    KEYS,
    Action,
    CheckPin,
    OpenNow,
    RunSelfTest,
    Say,
    VoidNow,
)
from controller.panel.keys import sign_in_keys
from controller.panel.validation import needs_tax_form
from tests.builders import (
    AUDITOR,
    FIVE,
    FLOOR,
    ONE,
    QUADS,
    ROYAL,
    SIX,
    STRAIGHT_FLUSH,
    TECHNICIAN,
    Evening,
    still_meter,
    usd,
)
from tests.keypad import Keypad

MISDEAL = DEFAULT_REASONS[1]
READOUT = (
    ("ADDRESSES", ("TABLE T01", "wlan0 192.0.2.17")),
    ("VERSIONS", ("FELTLINK 0.1.0",)),
    ("FINGERPRINTS", ("f" * 64,)),
    ("LAST HITS", tuple(f"ROUND {number}" for number in range(25))),
    ("METERS", ("METER", " 10000.14250000")),
    ("FAULTS", ("NONE",)),
)


def at_phase(phase: Phase, **keys: Any) -> Evening:
    evening = Evening(opened=phase is not Phase.CLOSED, **keys)
    if phase in (Phase.LOCKED, Phase.MISCOUNT, Phase.IN_PLAY):
        evening.lock(1, 2)
    if phase in (Phase.MISCOUNT, Phase.IN_PLAY):
        evening.do(ask.KeyCount(FLOOR, number=2 if phase is Phase.IN_PLAY else 1))
    if phase is Phase.FAULT:
        evening.fault("the second copy of the ledger cannot be written")
    assert evening.is_in(phase)
    return evening


def floor_at(phase: Phase, **keys: Any) -> Keypad:
    keypad = Keypad(at_phase(phase, **keys))
    keypad.sign_in(FLOOR)
    return keypad


# Signing in.


def test_the_key_asks_for_number_and_pin_and_the_pin_never_shows() -> None:
    keypad = Keypad()
    keypad.turn_key(on=True)
    keypad.press(*"201")
    assert keypad.page is not None
    assert (keypad.page.title, keypad.page.entry) == ("STAFF NO", "201")
    keypad.press("enter")
    for digit in "1379":
        keypad.press(digit)
        assert not re.search(r"[379]", keypad.text())
    assert keypad.page is not None
    assert keypad.page.entry == "****"
    action = keypad.press("enter")
    assert action == CheckPin("201", "1379")
    assert "1379" not in repr(action)
    assert keypad.title == "FLOOR FLORA"


@pytest.mark.parametrize(("number", "pin"), [("201", "1378"), ("999", "1379"), ("101", "2580")])
def test_a_wrong_pin_an_unknown_number_and_a_dealer_stay_outside(number: str, pin: str) -> None:
    keypad = Keypad()
    keypad.turn_key(on=True)
    keypad.press(*sign_in_keys(number, pin))
    assert keypad.said == "Wrong number or PIN."
    assert keypad.page is not None
    assert (keypad.page.title, keypad.page.entry) == ("STAFF NO", "")


def test_while_locked_out_no_digit_is_taken_and_the_wait_shows() -> None:
    keypad = Keypad(locked_out_ms=29_001)
    keypad.turn_key(on=True)
    assert "WAIT 30 S" in keypad.text()
    for key in ("2", "enter", "menu"):
        assert keypad.press(key) == Say("Too many wrong PINs; wait 30 seconds.")
    keypad.knows(locked_out_ms=0)
    keypad.press("2")
    assert keypad.page is not None
    assert keypad.page.entry == "2"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("1 enter", "A staff number has at least 2 digits."),
        ("1 2 3 4 5 6 7", "A staff number has at most 6 digits."),
        ("1 2 enter 1 2 3 enter", "A PIN has at least 4 digits."),
        ("1 2 enter 1 2 3 4 5 6 7 8 9", "A PIN has at most 8 digits."),
        ("clear", "Turn the floor key off to leave."),
        ("win", "Key your staff number, ENTER, your PIN, ENTER."),
    ],
)
def test_signing_in_says_what_it_wants(keys: str, says: str) -> None:
    keypad = Keypad()
    keypad.turn_key(on=True)
    keypad.press(*keys.split())
    assert keypad.said == says


def test_turning_the_key_off_signs_out_and_forgets_the_half_entry() -> None:
    keypad = floor_at(Phase.LOCKED)
    keypad.press("1", "1", "2")
    assert keypad.leave() == ask.SignOut(FLOOR)
    assert keypad.page is None
    assert not keypad.panel.key_on
    keypad.turn_key(on=True)
    assert keypad.title == "STAFF NO"
    assert keypad.leave() is None


def test_an_answer_that_comes_after_the_key_was_turned_off_signs_nobody_in() -> None:
    keypad = Keypad(at_phase(Phase.CLOSED))
    panel, table = keypad.panel, keypad.evening.table
    panel.key_switch(True)
    for key in sign_in_keys("201", "1379"):
        panel.press(key, table, keypad.info)
    assert keypad.title == "CHECKING PIN"
    assert panel.press("1", table, keypad.info) == Say("One moment: the PIN is being checked.")
    panel.key_switch(False)
    panel.key_switch(True)
    panel.signed_in(FLOOR)
    assert keypad.title == "STAFF NO"
    panel.sign_in_failed()
    assert keypad.title == "STAFF NO"


def test_a_number_half_keyed_at_the_floor_key_outlives_a_lock() -> None:
    keypad = Keypad()
    keypad.turn_key(on=True)
    keypad.press("2", "0")
    keypad.evening.lock(1)
    assert keypad.page is not None
    assert keypad.page.entry == "20"


# What the floor decides, by phase.


@pytest.mark.parametrize(
    ("phase", "lines"),
    [
        (Phase.CLOSED, ("1 OPEN TABLE",)),
        (Phase.OPEN, ("1 CLOSE TABLE",)),
        (Phase.LOCKED, ("1 STRIKE SEAT", "2 VOID ROUND")),
        (Phase.MISCOUNT, ("$1.00: 1 FOR 2", "1 STRIKE SEAT", "2 VOID ROUND", "4 REOPEN BETS")),
        (Phase.IN_PLAY, ("NO WIN WAITS", "3 VOID ROUND")),
    ],
)
def test_the_floor_is_offered_what_fits_the_phase(phase: Phase, lines: tuple[str, ...]) -> None:
    page = floor_at(phase).page
    assert page is not None
    assert page.lines == lines


@pytest.mark.parametrize(
    ("phase", "keys", "action"),
    [
        (Phase.CLOSED, "1 enter", OpenNow(FLOOR)),
        (Phase.OPEN, "1 enter", ask.CloseTable(FLOOR)),
        (Phase.LOCKED, "1 2 2 enter", ask.StrikeWager(FLOOR, 2, MISDEAL)),
        (Phase.LOCKED, "1 2 3 2 enter", ask.StrikeWager(FLOOR, 2, MISDEAL)),
        (Phase.LOCKED, "1 2 menu 7 enter", ask.StrikeWager(FLOOR, 2, DEFAULT_REASONS[6])),
        (Phase.LOCKED, "2 2 enter", VoidNow(FLOOR, MISDEAL)),
        (Phase.MISCOUNT, "1 2 2 enter", ask.StrikeWager(FLOOR, 2, MISDEAL)),
        (Phase.MISCOUNT, "2 2 enter", VoidNow(FLOOR, MISDEAL)),
        (Phase.MISCOUNT, "4 2 enter", ask.ReopenBets(FLOOR, MISDEAL)),
        (Phase.MISCOUNT, "4 2 clear clear 2 2 enter", VoidNow(FLOOR, MISDEAL)),
        (Phase.IN_PLAY, "3 2 enter", VoidNow(FLOOR, MISDEAL)),
    ],
)
def test_a_decision_of_the_floor_is_a_number_a_reason_and_enter(
    phase: Phase, keys: str, action: Action
) -> None:
    keypad = floor_at(phase)
    assert keypad.press(*keys.split()) == action
    assert keypad.said == ""


@pytest.mark.parametrize(
    ("keys", "wagers", "amount"),
    [("3 5 6 enter", ["1.00"], ONE), ("3 5 2 6 enter", ["1.00", "5.00"], FIVE)],
)
def test_a_wager_is_added_where_the_house_allows_it(
    keys: str, wagers: list[str], amount: Any
) -> None:
    keypad = floor_at(Phase.LOCKED, floor_may_add=True, wagers=wagers)
    assert keypad.press(*keys.split()) == ask.AddWager(FLOOR, 5, amount, "sensor fault")
    assert keypad.said == ""


def test_where_the_house_does_not_allow_it_there_is_nothing_to_add() -> None:
    keypad = floor_at(Phase.LOCKED)
    assert keypad.press("3") == Say("Pick one of the numbers shown.")


@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.FAULT])
def test_nothing_is_decided_without_enter(phase: Phase) -> None:
    """Every way of two and three keys without ENTER leaves the table as it was."""
    keypad = floor_at(phase, floor_may_add=True)
    before = keypad.evening.table
    others = [key for key in KEYS if key != "enter"]
    for first in others:
        for second in others:
            keypad.press(first, second, "1", "clear", "clear", "clear", "clear")
            assert keypad.evening.table == before


def test_a_fault_says_what_it_is_and_that_a_technician_clears_it() -> None:
    keypad = floor_at(Phase.FAULT)
    assert "THE SECOND COPY OF" in keypad.text()
    assert "A TECHNICIAN\nCLEARS IT" in keypad.text()
    for key in ("1", "2", "enter", "menu", "clear"):
        assert keypad.press(key) == Say("Out of service; a technician clears it.")


def test_the_floor_does_not_call_itself() -> None:
    assert floor_at(Phase.OPEN).press("floor") == Say("The floor is signed in already.")


def test_a_seat_that_is_not_there_cannot_be_struck() -> None:
    keypad = floor_at(Phase.LOCKED)
    assert keypad.press("1", "7") == Say("There is no seat 7.")
    assert keypad.press("menu") == Say("Key the number of a seat.")


@pytest.mark.requirement(25)
def test_under_a_blind_count_the_floors_pages_hint_at_nothing_either() -> None:
    def pages(*seats: int) -> list[str]:
        evening = Evening(count="blind", floor_may_add=True, wagers=["1.00", "5.00"])
        evening.lock(*seats)
        keypad = Keypad(evening)
        keypad.sign_in()
        seen = []
        for keys in ("1", "1 3", "1 3 2", "2", "3", "3 4", "3 4 2"):
            keypad.press(*keys.split())
            seen.append(keypad.text())
            keypad.press("clear", "clear", "clear")
        return seen

    assert pages() == pages(1, 2, 3)


# Validation.


def waiting(*wins: tuple[int, Any], **info: Any) -> Keypad:
    """Six wagers, these wins keyed, and the floor signed in."""
    evening = still_meter(*SIX)
    keypad = Keypad(evening, **info)
    for seat, hand in wins:
        line = {ROYAL: "1", STRAIGHT_FLUSH: "2", QUADS: "3"}[hand]
        keypad.press(str(seat), line, "enter")
    keypad.sign_in()
    return keypad


@pytest.mark.requirement(38)
def test_before_accepting_the_floor_sees_everything_about_a_win() -> None:
    keypad = waiting((3, ROYAL), (6, STRAIGHT_FLUSH), shown={"meter": usd("12000.00")})
    first = keypad.pages()
    text = "\n".join(first)
    for line in (
        "WIN 1/2",
        "SEAT 6 STR FLUSH",
        "PAY $1,200.00",
        "WAGER $1.00",
        "PROGRESSIVE",
        "BEFORE $12,000.00",
        "AFTER $10,800.00",
        "ENVY SEAT 5 $300.00",
        "ENVY SEAT 1 $300.00",
        "FROM TRAY $1,500.00",
        "TRAY ALL $6,500.00",
    ):
        assert line in text
    assert "TAX FORM" not in text
    assert all("1 ACCEPT 2 REJECT" in page for page in first)
    keypad.press("win")
    text = "\n".join(keypad.pages())
    for line in (
        "WIN 2/2",
        "SEAT 3 ROYAL FLUSH",
        "PAY $10,800.00",
        "TAX FORM SEAT 3",
        "AFTER $10,000.00",
        "FROM TRAY $5,000.00",
    ):
        assert line in text
    keypad.press("win")
    assert keypad.title.startswith("WIN 1/2")


@pytest.mark.requirement(60)
def test_where_display_and_controller_differed_at_the_hit_the_floor_sees_both() -> None:
    keypad = waiting((6, ROYAL), shown={"meter": usd("11999.00")})
    keypad.knows(shown={"meter": usd("10000.00")})  # it has reseeded by now
    text = "\n".join(keypad.pages())
    assert "DISPLAY $11,999.00" in text
    assert "CONTROLLER $12,000.00" in text
    assert "CONTROLLER PAYS" in text
    assert "PAY $12,000.00" in text


@pytest.mark.parametrize(
    ("shown", "says"), [("12000.00", "DISPLAY AGREED"), (None, "DISPLAY: NOT KNOWN")]
)
def test_where_they_agreed_or_nobody_knows_one_line_says_so(shown: str | None, says: str) -> None:
    keypad = waiting((6, ROYAL), shown={"meter": usd(shown)} if shown else {})
    text = "\n".join(keypad.pages())
    assert says in text
    assert "CONTROLLER PAYS" not in text


def test_a_refused_key_does_not_change_what_the_display_showed_at_the_hit() -> None:
    keypad = waiting((6, ROYAL), shown={"meter": usd("11999.00")})
    keypad.leave()
    keypad.knows(shown={"meter": usd("10000.00")})
    keypad.press("6", "2", "enter")
    assert "higher hand" in keypad.said
    keypad.sign_in()
    assert "DISPLAY $11,999.00" in "\n".join(keypad.pages())


def test_what_the_display_showed_is_kept_over_a_fault() -> None:
    keypad = waiting((6, ROYAL), shown={"meter": usd("11999.00")})
    keypad.evening.fault()
    assert "OUT OF SERVICE" in keypad.text()
    keypad.evening.do(ask.ClearFault(TECHNICIAN))
    assert "DISPLAY $11,999.00" in "\n".join(keypad.pages())


def test_shared_wins_say_how_they_are_shared() -> None:
    for policy, line in (("split", "SPLIT 2 WAYS"), ("full", "IN FULL TO EACH")):
        evening = still_meter(*SIX, policy=policy)
        evening.win(6)
        evening.win(2)
        keypad = Keypad(evening)
        keypad.sign_in()
        assert line in "\n".join(keypad.pages())


def test_a_win_keyed_after_its_turn_says_so() -> None:
    keypad = waiting((2, ROYAL))
    keypad.press("1", "enter")
    keypad.leave()
    keypad.press("6", "2", "enter")
    keypad.sign_in()
    assert "KEYED LATE: LAST TURN" in "\n".join(keypad.pages())


@pytest.mark.parametrize(
    ("amount", "wager", "needed"),
    [
        ("2000.00", "1.00", True),
        ("1999.99", "1.00", False),
        ("2000.00", "6.67", False),
        ("3000.00", "10.00", True),
        ("2999.99", "10.00", False),
    ],
)
def test_a_tax_form_is_due_from_a_sum_and_from_a_multiple(
    amount: str, wager: str, *, needed: bool
) -> None:
    assert needs_tax_form(usd(amount), usd(wager)) is needed


def test_an_envy_can_need_a_tax_form_of_its_own() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.prove(6, seat2=FIVE)
    evening.win(6)
    keypad = Keypad(evening)
    keypad.sign_in()
    assert "ENVY SEAT 2 $5,000.00\nTAX FORM SEAT 2" in "\n".join(keypad.pages())


@pytest.mark.requirement(16)
def test_accept_and_enter_pay_the_win_and_accept_alone_does_not() -> None:
    keypad = waiting((6, ROYAL))
    assert keypad.press("1") is None
    assert keypad.evening.meter.paid.ucents == 0
    assert keypad.press("enter") == ask.ValidateWin(FLOOR, 6)
    assert keypad.evening.meter.paid == usd("12000.00")
    assert "NO WIN WAITS" in keypad.text()


@pytest.mark.parametrize("key", [key for key in KEYS if key not in ("enter", "floor")])
def test_no_other_key_accepts(key: str) -> None:
    keypad = waiting((6, ROYAL), (2, QUADS))
    keypad.press("1", key)
    assert keypad.evening.meter.paid.ucents == 0


def test_a_seat_out_of_pay_order_can_be_accepted_first() -> None:
    keypad = waiting((6, ROYAL), (4, ROYAL), (2, ROYAL))
    assert keypad.press("win", "win", "1", "enter") == ask.ValidateWin(FLOOR, 2)
    assert keypad.title.startswith("WIN 1/2")
    assert "SEAT 6" in keypad.text()


def test_a_rejection_carries_its_reason_and_the_seat() -> None:
    keypad = waiting((6, ROYAL), (4, ROYAL))
    assert keypad.press("2", "4", "enter") == ask.RejectWin(FLOOR, "wrong hand keyed", 6)
    assert [claim.seat for claim in keypad.evening.round.claims] == [4]


def test_the_round_can_be_void_while_a_win_waits_and_no_more_once_one_is_validated() -> None:
    keypad = waiting((6, ROYAL), (4, ROYAL))
    assert "3 VOID ROUND" in "\n".join(keypad.pages())
    keypad.press("1", "enter")
    keypad.press("3", "2", "enter")
    assert keypad.said == "A win of this round has been validated; the round can no longer be void."
    other = waiting((6, ROYAL))
    assert other.press("3", "2", "enter") == VoidNow(FLOOR, MISDEAL)
    assert other.evening.is_in(Phase.OPEN)


def test_a_win_that_changed_while_it_was_looked_at_is_not_accepted() -> None:
    keypad = waiting((2, ROYAL))
    keypad.press("1")
    keypad.evening.win(6, STRAIGHT_FLUSH)  # pays first, so seat 2 gets less now
    keypad.press("enter")
    assert keypad.said == "The win has changed; read it again."
    assert keypad.evening.meter.paid.ucents == 0


@pytest.mark.requirement(100)
def test_a_large_win_takes_the_floor_through_the_list_which_is_recorded() -> None:
    evening = still_meter(*SIX)
    settings = replace(evening.table.settings, checklist_from=usd("1200.00"))
    evening.table = replace(evening.table, settings=settings)
    evening.win(6, STRAIGHT_FLUSH)
    keypad = Keypad(evening)
    keypad.sign_in()
    keypad.press("1")
    seen = []
    for _ in range(3):
        seen.append(keypad.text())
        assert keypad.press("enter") is None
    assert "HAND FACE UP ON" in seen[0]
    assert "DECK COUNTED" in seen[1]
    assert "HAND AND DECK KEPT" in seen[2]
    checked = ("hand face up on camera", "deck counted", "hand and deck kept")
    assert keypad.press("enter") == ask.ValidateWin(FLOOR, 6, checked)


def test_the_list_is_for_meter_wins_only() -> None:
    evening = Evening(validate="all")
    settings = replace(evening.table.settings, checklist_from=usd("1.00"))
    evening.table = replace(evening.table, settings=settings)
    evening.prove(1)
    evening.win(1, QUADS)
    keypad = Keypad(evening)
    keypad.sign_in()
    assert keypad.press("1", "enter") == ask.ValidateWin(FLOOR, 1)


# Technician and auditor.


def signed_in(person: Person, phase: Phase = Phase.CLOSED) -> Keypad:
    keypad = Keypad(at_phase(phase), readout=READOUT)
    keypad.sign_in(person)
    return keypad


@pytest.mark.parametrize("person", [TECHNICIAN, AUDITOR])
def test_every_topic_can_be_read_to_its_last_line(person: Person) -> None:
    keypad = signed_in(person)
    assert keypad.panel.reads_out
    for at, (title, lines) in enumerate(READOUT, start=1):
        keypad.press(str(at))
        assert keypad.title == title
        text = "".join("".join(page.splitlines()[1:-2]) for page in keypad.pages("enter"))
        assert "".join(lines).replace(" ", "") in text.replace(" ", "")
        keypad.press("clear")


def test_all_twenty_five_hits_show_five_to_a_page() -> None:
    keypad = signed_in(AUDITOR)
    keypad.press("4")
    pages = keypad.pages()
    assert len(pages) == 5
    assert "ROUND 24" in pages[-1]


def test_a_topic_stays_open_while_the_table_plays_on() -> None:
    keypad = signed_in(TECHNICIAN, Phase.OPEN)
    keypad.press("1")
    keypad.evening.lock(1)
    assert keypad.title == "ADDRESSES"


def test_the_technician_clears_a_fault_after_reading_it() -> None:
    keypad = signed_in(TECHNICIAN, Phase.FAULT)
    keypad.press("8")
    assert "THE SECOND COPY OF" in keypad.text()
    assert keypad.press("enter") == ask.ClearFault(TECHNICIAN)
    assert keypad.evening.is_in(Phase.OPEN)
    assert keypad.press("8") == Say("There is no fault to clear.")


def test_the_self_test_runs_only_while_the_table_is_closed() -> None:
    assert signed_in(TECHNICIAN).press("7", "enter") == RunSelfTest(TECHNICIAN)
    keypad = signed_in(TECHNICIAN, Phase.OPEN)
    assert keypad.press("7") == Say("The self-test runs while the table is closed.")


def test_an_auditor_is_offered_nothing_but_reading() -> None:
    keypad = signed_in(AUDITOR)
    text = "\n".join(keypad.pages())
    assert "SELF-TEST" not in text
    assert "CLEAR FAULT" not in text
    assert keypad.press("7") == Say("Pick one of the numbers shown.")
    assert keypad.press("clear") == Say("Turn the floor key off to leave.")


@pytest.mark.requirement(76, 79)
@pytest.mark.parametrize("person", [TECHNICIAN, AUDITOR])
@pytest.mark.parametrize("phase", list(Phase))
def test_who_opens_the_cabinet_has_no_key_that_opens_a_table_or_moves_a_meter(
    person: Person, phase: Phase
) -> None:
    """Every way of three keys, each finished with ENTER."""
    keypad = signed_in(person, phase)
    if phase is Phase.IN_PLAY:
        keypad.evening.win(1)
    meters, phases = keypad.evening.table.meters, {phase}
    for first in KEYS:
        for second in KEYS:
            keypad.press(first, second, "1", "enter", "enter", "clear", "clear")
            phases.add(keypad.evening.phase)
    assert keypad.evening.table.meters == meters
    cleared = {Phase.OPEN} if phase is Phase.FAULT and person is TECHNICIAN else set()
    assert phases == {phase} | cleared


def test_the_floor_has_no_key_that_clears_a_fault() -> None:
    keypad = floor_at(Phase.FAULT)
    for first in KEYS:
        for second in KEYS:
            keypad.press(first, second, "enter")
            assert keypad.evening.is_in(Phase.FAULT)
    assert not keypad.panel.reads_out


def test_a_technician_can_call_the_floor() -> None:
    assert signed_in(TECHNICIAN).press("floor") == ask.CallFloor(TECHNICIAN)
