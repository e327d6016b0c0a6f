"""Who is at the table: signing in, wrong PINs, calling the floor, and the cabinet door."""

from __future__ import annotations

import pytest

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.access import (
    FIRST_WAIT_MS,
    LONGEST_WAIT_MS,
    may_use_floor_key,
    wait_ms,
)
from controller.domain.errors import Refused
from controller.domain.table import Phase, Role
from tests.builders import DEALER, FLOOR, TECHNICIAN, UNIT, Evening


def failed(evening: Evening, times: int) -> None:
    for _ in range(times):
        evening.do(ask.NoteSignInFailed(UNIT, "101"))


@pytest.mark.requirement(79)
def test_a_dealer_who_signs_on_is_named_until_he_signs_off() -> None:
    evening = Evening()
    evening.do(ask.SignIn(DEALER))
    assert evening.table.dealer == "Dana"
    evening.do(ask.SignIn(FLOOR))
    assert evening.table.dealer == "Dana"
    evening.do(ask.SignOut(FLOOR))
    assert evening.table.dealer == "Dana"
    evening.do(ask.SignOut(DEALER))
    assert evening.table.dealer == ""


def test_wrong_pins_are_counted_in_a_row_and_a_right_one_begins_anew() -> None:
    evening = Evening()
    failed(evening, 4)
    assert evening.table.failed_sign_ins == 4
    last = evening.events[-1]
    assert last == did.SignInFailed("101", 4)
    evening.do(ask.SignIn(TECHNICIAN))
    assert evening.table.failed_sign_ins == 0


def test_after_three_wrong_pins_the_keypad_waits_longer_each_time_up_to_a_quarter_hour() -> None:
    assert [wait_ms(n) for n in range(3)] == [0, 0, 0]
    assert wait_ms(3) == FIRST_WAIT_MS
    assert wait_ms(4) == 2 * FIRST_WAIT_MS
    assert wait_ms(50) == LONGEST_WAIT_MS
    waits = [wait_ms(n) for n in range(40)]
    assert waits == sorted(waits)


@pytest.mark.requirement(16)
def test_the_key_switch_is_not_for_dealers() -> None:
    allowed = {role for role in Role if may_use_floor_key(role)}
    assert allowed == {Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR}


def test_the_floor_is_called_once_and_the_call_ends_when_the_floor_signs_in() -> None:
    evening = Evening()
    evening.do(ask.CallFloor(DEALER))
    assert evening.table.floor_called
    with pytest.raises(Refused, match="called already"):
        evening.do(ask.CallFloor(DEALER))
    evening.do(ask.SignIn(TECHNICIAN))
    assert evening.table.floor_called
    evening.do(ask.SignIn(FLOOR))
    assert not evening.table.floor_called


@pytest.mark.requirement(8, 78)
def test_betting_is_not_locked_while_the_cabinet_door_is_open() -> None:
    evening = Evening()
    evening.do(ask.NoteDoor(UNIT, opened=True))
    with pytest.raises(Refused, match="door is open"):
        evening.lock(1)
    assert evening.is_in(Phase.OPEN)
    with pytest.raises(Refused, match="already"):
        evening.do(ask.NoteDoor(UNIT, opened=True))
    evening.do(ask.NoteDoor(UNIT, opened=False))
    evening.lock(1)
    assert evening.is_in(Phase.LOCKED)


def test_a_door_opened_in_a_round_does_not_stop_the_round() -> None:
    evening = Evening()
    evening.prove(1)
    evening.do(ask.NoteDoor(UNIT, opened=True))
    evening.end()
    assert evening.is_in(Phase.OPEN)


@pytest.mark.requirement(11)
def test_a_chattering_sensor_is_out_of_service_until_it_has_been_seen_empty() -> None:
    evening = Evening()
    evening.do(ask.NoteSeatNoisy(UNIT, 3))
    assert evening.table.out_of_service == (3,)
    with pytest.raises(Refused, match="already"):
        evening.do(ask.NoteSeatNoisy(UNIT, 3))
    evening.lock(3)
    assert not evening.round.wagers
    evening.end()
    evening.do(ask.NoteSeatNoisy(UNIT, 3))
    evening.do(ask.NoteSeatEmpty(UNIT, 3))
    evening.lock(3)
    assert [wager.seat for wager in evening.round.wagers] == [3]
