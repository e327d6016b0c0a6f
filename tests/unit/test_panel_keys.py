"""The keys for each task are exact: pressed on a real keypad they do that task and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from controller.adapters.pack_files import pack_ids
from controller.domain import commands as ask
from controller.domain.errors import Refused
from controller.domain.money import Money
from controller.domain.pack import Hand, HandBasis
from controller.domain.table import ChipCount, Phase, Reminder
from controller.panel import DEFAULT_REASONS, Action, OpenNow, Panel, VoidNow, keys
from tests.builders import (
    DEALER,
    FIVE,
    FLOOR,
    ONE,
    QUADS,
    ROYAL,
    SIX,
    STRAIGHT_FLUSH,
    TECHNICIAN,
    Evening,
    pack_of,
    still_meter,
    usd,
)
from tests.keypad import NUMBERS, Keypad

KEYPAD_PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "keypad.md"


def evening_in(phase: Phase, **settings: Any) -> Evening:
    evening = Evening(opened=phase is not Phase.CLOSED, **settings)
    if phase in (Phase.LOCKED, Phase.MISCOUNT, Phase.IN_PLAY):
        evening.lock(1, 2)
    if phase in (Phase.MISCOUNT, Phase.IN_PLAY):
        evening.count(2 if phase is Phase.IN_PLAY else 1)
    if phase is Phase.FAULT:
        evening.fault()
    return evening


def as_dealer(evening: Evening, pressed: Sequence[str]) -> Action | None:
    return Keypad(evening).press(*pressed)


def as_floor(evening: Evening, pressed: Sequence[str]) -> Action | None:
    keypad = Keypad(evening)
    keypad.sign_in()
    return keypad.press(*pressed)


def refuses(evening: Evening, command: ask.Command) -> bool:
    table = evening.table
    try:
        evening.do(command)
    except Refused:
        return True
    evening.table = table
    return False


@pytest.mark.parametrize("count", ["shown", "blind", "sensor"])
@pytest.mark.parametrize("wagers", [["1.00"], ["1.00", "5.00"], ["1.00", "2.00", "5.00", "10.00"]])
@pytest.mark.parametrize("phase", [Phase.LOCKED, Phase.MISCOUNT])
def test_every_count_can_be_keyed(count: str, wagers: list[str], phase: Phase) -> None:
    amounts = [usd(wager) for wager in wagers]
    for accepted, numbers in product(amounts, product((0, 3, 12), repeat=len(amounts))):
        evening = Evening("md-jh-a", count=count, wagers=wagers)
        evening.lock(1, 2, wager=accepted)
        if phase is Phase.MISCOUNT:
            evening.do(ask.KeyCount(DEALER, number=9))
        chips = [ChipCount(each, many) for each, many in zip(amounts, numbers, strict=True) if many]
        pressed = keys.count_keys(evening.table, chips)
        assert pressed is not None
        action = as_dealer(evening, pressed)
        assert isinstance(action, ask.KeyCount)
        assert [chip for chip in action.chips if chip.number] == chips


@pytest.mark.parametrize("count", ["shown", "blind", "sensor"])
@pytest.mark.parametrize("accepted", [(), (ONE,), (FIVE,)])
def test_a_number_alone_is_of_the_amount_that_was_accepted(
    count: str, accepted: tuple[Money, ...]
) -> None:
    evening = Evening(count=count, wagers=["1.00", "5.00"])
    evening.lock(*range(1, len(accepted) + 1), wager=accepted[0] if accepted else ONE)
    pressed = keys.count_keys(evening.table, 7)
    assert pressed is not None
    action = as_dealer(evening, pressed)
    assert isinstance(action, ask.KeyCount)
    amount = accepted[0] if accepted else ONE
    assert [chip for chip in action.chips if chip.number] == [ChipCount(amount, 7)]


def test_a_count_that_no_keys_express_is_refused_by_the_table_or_beyond_any_tray() -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.lock(1, seat2=FIVE)
    table = evening.table
    assert keys.count_keys(table, 2) is None
    assert refuses(evening, ask.KeyCount(DEALER, number=2))
    for chips in ([ChipCount(usd("2.00"), 1)], [ChipCount(ONE, -1)], [ChipCount(ONE, 1)] * 2):
        assert keys.count_keys(table, chips) is None
        assert refuses(evening, ask.KeyCount(DEALER, tuple(chips)))
    assert keys.count_keys(table, [ChipCount(ONE, 100)]) is None


@pytest.mark.parametrize("pack", pack_ids())
@pytest.mark.parametrize("must_wager", [True, False])
def test_every_hand_of_every_seat_can_be_keyed_or_is_refused_by_the_table(
    pack: str, *, must_wager: bool
) -> None:
    evening = Evening(pack, envy_holder_must_wager=must_wager)
    seats = evening.table.settings.seats
    evening.prove(*range(1, seats + 1, 2), wager=evening.table.settings.wagers[0])
    for seat, hand in product(range(seats + 2), Hand):
        pressed = keys.win_keys(evening.table, seat, hand)
        command = ask.KeyWin(DEALER, seat, hand)
        if pressed is None:
            assert refuses(evening, command)
            continue
        assert len(pressed) == 3
        before = evening.table
        assert as_dealer(evening, pressed) == command
        evening.table = before


def test_beyond_ten_hands_menu_turns_to_the_next_ten() -> None:
    hands = list(Hand)
    evening = Evening()
    evening.prove(1)
    long_pack = replace(pack_of(HandBasis.BEST_OF_SEVEN, *hands), meters=evening.table.pack.meters)
    evening.table = replace(evening.table, pack=long_pack)
    for hand in hands:
        pressed = keys.win_keys(evening.table, 1, hand)
        assert pressed is not None
        before = evening.table
        assert as_dealer(evening, pressed) == ask.KeyWin(DEALER, 1, hand)
        evening.table = before
    assert keys.win_keys(evening.table, 1, hands[9]) == ("1", "0", "enter")
    assert keys.win_keys(evening.table, 1, hands[12]) == ("1", "menu", "menu", "3", "enter")


@pytest.mark.parametrize("others", [1, 2, 5])
def test_the_envy_of_a_round_is_walked_and_acknowledged(others: int) -> None:
    evening = still_meter(*SIX[: others + 1])
    assert keys.envy_keys(evening.table) is None
    evening.win(1, STRAIGHT_FLUSH)
    assert keys.envy_keys(evening.table) is None  # the floor first
    evening.validate()
    pressed = keys.envy_keys(evening.table)
    assert pressed == ("enter",) * (others + 1)
    assert as_dealer(evening, pressed) == ask.AcknowledgeEnvy(DEALER)
    assert len(evening.round.envy_paid) == others


def test_a_win_that_waits_and_owes_no_envy_does_not_stop_the_walk() -> None:
    evening = Evening(validate="all")
    evening.prove(1, 2)
    evening.win(1, STRAIGHT_FLUSH)
    evening.win(2, QUADS)
    evening.validate(1)
    pressed = keys.envy_keys(evening.table)
    assert pressed is not None
    assert as_dealer(evening, pressed) == ask.AcknowledgeEnvy(DEALER)
    assert len(evening.round.envy_paid) == 1


@pytest.mark.parametrize("phase", list(Phase))
def test_seats_are_tied_in_every_phase_that_allows_it(phase: Phase) -> None:
    evening = evening_in(phase, adjacent_boxes=3)
    for seats in ((1, 2), (3, 2), (2,), (1, 2, 3)):
        command = ask.TieSeats(DEALER, seats)
        pressed = keys.tie_keys(evening.table, seats)
        if pressed is None:
            assert refuses(evening, command)
        else:
            assert as_dealer(evening, pressed) == command
    assert keys.tie_keys(evening.table, ()) is None
    assert keys.tie_keys(evening.table, (11, 12)) is None


FLOOR_TASKS: Final[dict[str, tuple[Callable[[Evening], keys.Keys | None], Action]]] = {
    "open": (lambda e: keys.open_keys(e.table), OpenNow(FLOOR)),
    "close": (lambda e: keys.close_keys(e.table), ask.CloseTable(FLOOR)),
    "strike": (
        lambda e: keys.strike_keys(e.table, 2, 6),
        ask.StrikeWager(FLOOR, 2, DEFAULT_REASONS[6]),
    ),
    "add": (
        lambda e: keys.add_keys(e.table, 5, FIVE, 5),
        ask.AddWager(FLOOR, 5, FIVE, DEFAULT_REASONS[5]),
    ),
    "reopen": (
        lambda e: keys.reopen_keys(e.table, 4),
        ask.ReopenBets(FLOOR, DEFAULT_REASONS[4]),
    ),
    "void": (lambda e: keys.void_keys(e.table, 1), VoidNow(FLOOR, DEFAULT_REASONS[1])),
}


@pytest.mark.parametrize("task", FLOOR_TASKS)
@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("floor_may_add", [True, False])
def test_the_floors_tasks_can_be_keyed_exactly_where_the_table_takes_them(
    task: str, phase: Phase, *, floor_may_add: bool
) -> None:
    evening = evening_in(phase, floor_may_add=floor_may_add, wagers=["1.00", "5.00"])
    make, action = FLOOR_TASKS[task]
    commands: dict[type, Action] = {
        OpenNow: ask.OpenTable(FLOOR),
        VoidNow: ask.VoidRound(FLOOR, DEFAULT_REASONS[1]),
    }
    command = commands.get(type(action), action)
    pressed = make(evening)
    assert isinstance(command, ask.Command)
    assert refuses(evening, command) is (pressed is None)
    if pressed is not None:
        assert as_floor(evening, pressed) == action


def test_a_reason_beyond_the_tenth_is_reached_with_menu() -> None:
    reasons = tuple(f"reason {number}" for number in range(1, 14))
    evening = evening_in(Phase.LOCKED)
    for at, reason in enumerate(reasons):
        keypad = Keypad(evening)
        keypad.panel = Panel(reasons=reasons)
        keypad.sign_in()
        before = evening.table
        assert keypad.press(*(keys.void_keys(evening.table, at) or ())) == VoidNow(FLOOR, reason)
        evening.table = before


def test_seats_and_amounts_that_are_not_there_have_no_keys() -> None:
    table = evening_in(Phase.LOCKED, floor_may_add=True).table
    assert keys.strike_keys(table, 7) is None
    assert keys.strike_keys(table, 0) is None
    assert keys.add_keys(table, 7, ONE) is None
    assert keys.add_keys(table, 3, FIVE) is None
    assert keys.add_keys(table, 3, ONE) == ("3", "3", "1", "enter")


@pytest.mark.parametrize("seat", [None, 6, 5, 4, 3, 2, 1])
@pytest.mark.parametrize("checklist", [None, "0.01", "1000.00"])
def test_any_waiting_win_can_be_validated_or_rejected_in_any_order(
    seat: int | None, checklist: str | None
) -> None:
    evening = still_meter(*SIX)
    limit = usd(checklist) if checklist else None
    settings = replace(evening.table.settings, checklist_from=limit)
    evening.table = replace(evening.table, settings=settings)
    for each in SIX:
        evening.win(each, STRAIGHT_FLUSH)
    before = evening.table
    large = limit is not None and evening.claim(seat or 6).amount >= limit
    pressed = keys.validate_keys(evening.table, seat)
    assert pressed is not None
    action = as_floor(evening, pressed)
    assert isinstance(action, ask.ValidateWin)
    assert (action.by, action.seat, bool(action.checked)) == (FLOOR, seat or 6, large)
    evening.table = before
    pressed = keys.reject_keys(evening.table, seat, 3)
    assert pressed is not None
    assert as_floor(evening, pressed) == ask.RejectWin(FLOOR, "wrong hand keyed", seat or 6)


@pytest.mark.parametrize("phase", list(Phase))
def test_without_a_waiting_win_there_is_nothing_to_validate(phase: Phase) -> None:
    evening = evening_in(phase)
    for seat in (None, 1):
        assert keys.validate_keys(evening.table, seat) is None
        assert keys.reject_keys(evening.table, seat) is None
        assert refuses(evening, ask.ValidateWin(FLOOR, seat))
        assert refuses(evening, ask.RejectWin(FLOOR, "misread", seat))


@pytest.mark.parametrize("phase", [p for p in Phase if p not in (Phase.LOCKED, Phase.MISCOUNT)])
def test_outside_its_phase_no_count_win_or_envy_has_keys(phase: Phase) -> None:
    table = evening_in(phase).table
    assert keys.count_keys(table, 2) is None
    assert keys.envy_keys(table) is None
    if phase is not Phase.IN_PLAY:
        assert keys.win_keys(table, 1, ROYAL) is None


# How many presses a task takes, as docs/keypad.md says.


def presses(evening: Evening, pressed: Sequence[str] | None, *, floor: bool = False) -> int:
    """The number of presses, once they have been seen to change the table."""
    before = evening.table
    assert pressed is not None
    _ = as_floor(evening, pressed) if floor else as_dealer(evening, pressed)
    assert evening.table != before
    return len(pressed)


def waiting_win(checklist: str | None = None) -> Evening:
    evening = still_meter(*SIX)
    limit = usd(checklist) if checklist else None
    settings = replace(evening.table.settings, checklist_from=limit)
    evening.table = replace(evening.table, settings=settings)
    evening.win(6, ROYAL)
    return evening


def owing(others: int) -> Evening:
    evening = still_meter(*SIX[: others + 1])
    evening.win(1, STRAIGHT_FLUSH)
    evening.validate()
    return evening


def measured() -> dict[str, int]:
    locked, miscount = Phase.LOCKED, Phase.MISCOUNT
    in_play, adding = evening_in(Phase.IN_PLAY), evening_in(locked, floor_may_add=True)
    ten = Evening("ca-texas-holdem")
    ten.lock(*range(1, 11))
    number, pin = "101", NUMBERS["101"][0]
    sign_on = ("menu", "1", *keys.sign_in_keys(number, pin))
    key_win = keys.win_keys(in_play.table, 2, QUADS)
    counted = evening_in(locked)
    voided, struck, reopened = evening_in(locked), evening_in(locked), evening_in(miscount)
    closed, opened = evening_in(Phase.CLOSED), Evening(adjacent_boxes=2)
    tied = keys.tie_keys(opened.table, (1, 2))
    result = {
        "count up to 9 chips": presses(counted, keys.count_keys(counted.table, 2)),
        "count 10 chips": presses(ten, keys.count_keys(ten.table, 10)),
        "key a win": presses(in_play, key_win),
        "take a win off": presses(in_play, keys.win_keys(in_play.table, 2, QUADS)),
        "tie two seats": presses(opened, tied),
        "call the floor": presses(opened, ("floor",)),
        "sign on": presses(opened, sign_on),
        "sign off": presses(opened, ("menu", "2", "enter")),
        "the deck was changed early": presses(opened, ("menu", "3", "enter")),
        "sign in": len(keys.sign_in_keys("201", NUMBERS["201"][0])),
        "open or close the table": presses(closed, keys.open_keys(closed.table), floor=True),
        "strike a wager": presses(struck, keys.strike_keys(struck.table, 1), floor=True),
        "void the round": presses(voided, keys.void_keys(voided.table), floor=True),
        "add a wager": presses(adding, keys.add_keys(adding.table, 5, ONE), floor=True),
        "reopen betting": presses(reopened, keys.reopen_keys(reopened.table), floor=True),
    }
    return result | _measured_wins()


def _measured_wins() -> dict[str, int]:
    one, five = owing(1), owing(5)
    win, large, wrong = waiting_win(), waiting_win("1.00"), waiting_win()
    return {
        "hand over one envy": presses(one, keys.envy_keys(one.table)),
        "hand over five envies": presses(five, keys.envy_keys(five.table)),
        "accept a win": presses(win, keys.validate_keys(win.table), floor=True),
        "accept a win with the list": presses(large, keys.validate_keys(large.table), floor=True),
        "reject a win": presses(wrong, keys.reject_keys(wrong.table), floor=True),
    }


def documented() -> dict[str, int]:
    rows = re.findall(r"^\| ([^|]+?) \| \w+ \| .* \| (\d+) \|$", KEYPAD_PAGE.read_text(), re.M)
    return {task: int(number) for task, number in rows}


def test_the_page_for_dealers_says_how_many_presses_each_task_takes() -> None:
    sensor, reminded = Keypad(Evening(count="sensor"), drops=2), Keypad()
    sensor.evening.lock(1, 2)
    sensor.press("enter")
    assert sensor.evening.is_in(Phase.IN_PLAY)
    reminded.knows(reminders=(Reminder.STUB_COUNT,))
    assert isinstance(reminded.press("enter"), ask.AcknowledgeReminder)
    single = {"take the drop slot's number": 1, "answer a reminder": 1}
    faulty = Keypad(evening_in(Phase.FAULT), readout=tuple((str(n), ()) for n in range(6)))
    faulty.sign_in(TECHNICIAN)
    faulty.press("8", "enter")
    assert not faulty.evening.is_in(Phase.FAULT)
    assert documented() == measured() | single | {"clear a fault": 2}


def test_the_dealers_common_tasks_take_three_presses_at_most() -> None:
    common = ("count up to 9 chips", "count 10 chips", "key a win", "take a win off")
    assert all(measured()[task] <= 3 for task in common)
