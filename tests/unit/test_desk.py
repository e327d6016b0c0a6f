"""The desk on simulated pins: the instant of LOCK, lamps in time, and hardware that misbehaves."""

from __future__ import annotations

from typing import Any

import pytest

from controller.chain import Row
from controller.domain import events as did
from controller.domain.errors import Fault
from controller.domain.table import Phase, RawEdge
from controller.domain.view import Lamp
from controller.hardware import BUZZER, LOCK, Line, sensor
from firmware.desk import Desk
from firmware.pins import Pins
from tests.builders import ONE, SIX, WatchedLedger, table_file
from tests.whole_table import TURN_MS, WholeTable, opened

MS = 1000


def notes(table: WholeTable) -> list[str]:
    return [event.what for event in table.events(did.HardwareNoted)]


def at_the_same_time(table: WholeTable, *moves: tuple[Line, bool, int]) -> None:
    """Edges at these offsets from now, in µs; their callbacks are kept back."""
    now_us = table.sim.now_us
    table.hands.hold_calls()
    for line, active, offset_us in moves:
        table.hands.drive(line, active=active, at_us=now_us + offset_us)


def deliver(table: WholeTable, *order: int, after_us: int = 0) -> None:
    table.sim.now_us += after_us
    table.hands.deliver(order)
    table.sim._drain()


# The instant of LOCK.


@pytest.mark.requirement(12)
def test_the_lock_edge_decides_though_its_callback_comes_before_that_of_an_earlier_lift() -> None:
    table = opened()
    table.chip(1, 2, 3)
    at_the_same_time(
        table, (sensor(1), False, -5 * MS), (LOCK, True, 0), (sensor(2), False, 5 * MS)
    )
    deliver(table, 1, 2, 0, after_us=20 * MS)
    assert table.is_in(Phase.OPEN), "whether seat 1 was lifted before LOCK is still in doubt"
    table.wait(100)
    assert table.wagers() == [2, 3]


@pytest.mark.requirement(12)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_in_whatever_order_the_callbacks_run_the_snapshot_is_the_same(
    order: tuple[int, ...],
) -> None:
    table = opened()
    table.chip(1, 4)
    at_the_same_time(table, (sensor(1), False, -1), (LOCK, True, 0), (sensor(5), True, 1))
    deliver(table, *order, after_us=10 * MS)
    table.wait(100)
    assert table.wagers() == [4]
    assert table.is_in(Phase.LOCKED)


def test_a_lock_that_nothing_casts_doubt_on_is_judged_with_its_own_edge() -> None:
    table = opened()
    table.chip(1)
    table.sim.move(LOCK, active=True)
    assert table.is_in(Phase.LOCKED)


def test_a_lock_press_that_is_over_before_anybody_hears_of_it_still_counts() -> None:
    table = opened()
    table.chip(2)
    at_the_same_time(table, (LOCK, True, 0), (LOCK, False, 40 * MS))
    deliver(table, 0, 1, after_us=45 * MS)
    table.wait(100)
    assert (table.phase, table.wagers()) == (Phase.LOCKED, [2])


@pytest.mark.requirement(12)
def test_a_chip_that_settles_at_the_very_microsecond_of_lock_is_in_and_one_later_is_out() -> None:
    table = opened()
    now_us = table.sim.now_us
    table.hands.drive(sensor(1), active=True, at_us=now_us)
    table.hands.drive(sensor(2), active=True, at_us=now_us + 1)
    table.after_us(150 * MS)
    table.sim.move(LOCK, active=True)
    table.wait(100)
    assert table.wagers() == [1]


@pytest.mark.requirement(2)
def test_a_chip_down_but_not_settled_at_lock_is_one_late_chip() -> None:
    table = opened()
    table.chip(1)
    table.chip(2, rest_ms=100)
    table.lock()
    table.wait(500)
    assert table.wagers() == [1]
    assert table.events(did.LateChipNoted) == [did.LateChipNoted(2, placed=True)]


@pytest.mark.requirement(2)
def test_a_chip_that_no_sweep_saw_before_lock_is_noted_late_once_and_not_twice() -> None:
    table = opened()
    table.chip(1)
    table.sim.move(sensor(2), active=True)
    table.after_us(45 * MS)  # down for longer than a bounce, and the next sweep is still to come
    table.lock()
    table.wait(500)
    assert table.wagers() == [1]
    assert table.events(did.LateChipNoted) == [did.LateChipNoted(2, placed=True)]


@pytest.mark.requirement(2)
def test_chips_placed_and_lifted_again_after_lock_change_no_wager_and_are_all_on_record() -> None:
    table = opened()
    table.chip(1)
    table.lock()
    table.chip(3)
    table.lift(3)
    table.lift(1)
    assert table.wagers() == [1]
    assert table.events(did.LateChipNoted) == [
        did.LateChipNoted(3, placed=True),
        did.LateChipNoted(3, placed=False),
    ]


def test_raw_edges_before_lock_stand_in_the_snapshot_and_those_after_it_beside_it() -> None:
    table = opened()
    table.wait(4_000)  # what the sensors read at power-up is evidence too, but not of this
    lock_us = table.sim.now_us + 1_000 * MS
    table.hands.drive(sensor(1), active=True, at_us=lock_us - 700 * MS)
    table.hands.drive(sensor(2), active=True, at_us=lock_us - 20 * MS)
    table.after_us(1_000 * MS)
    table.hands.press(LOCK)
    table.sim._drain()
    table.after_us(50 * MS)
    table.hands.release(LOCK)
    table.wait(100)
    table.hands.drive(sensor(2), active=False, at_us=lock_us + 400 * MS)
    table.wait(3_000)
    assert table.last(did.BetsLocked).edges == (
        RawEdge(1, ONE, covered=True, offset_us=-700 * MS),
        RawEdge(2, ONE, covered=True, offset_us=-20 * MS),
    )
    kept = table.last(did.EdgesKept)
    assert kept.round == 1
    assert kept.edges == (RawEdge(2, ONE, covered=False, offset_us=400 * MS),)
    assert len(table.events(did.EdgesKept)) == 1


def test_an_end_pressed_too_early_does_not_cut_the_evidence_after_lock_short() -> None:
    table = opened()
    table.chip(1)
    table.lock()
    table.end()
    assert "not counted" in table.unit.notice
    table.chip(4)
    table.wait(3_000)
    seats = {edge.seat for event in table.events(did.EdgesKept) for edge in event.edges}
    assert seats == {4}


def test_a_lock_edge_that_was_lost_is_not_guessed_but_told() -> None:
    table = opened()
    table.chip(1)
    table.hands.drop_edges(LOCK, 1)
    table.hands.press(LOCK)
    table.wait(300)
    table.hands.release(LOCK)
    table.wait(300)
    assert table.is_in(Phase.OPEN)
    assert "LOCK" in table.unit.notice, "the dealer pressed LOCK and is told nothing"
    table.lock()
    assert table.wagers() == [1]


# Lamps and buzzer as the pins have them.


def rhythm(table: WholeTable, seat: int, passed_ms: int = 3_000) -> list[int]:
    """How long the lamp was lit and dark in turn, in ms, without the cut-off ends."""
    spans: list[int] = []
    last = None
    for _ in range(passed_ms // 5):
        table.sim.now_us += 5 * MS
        table.sim.loop.turn()
        now = seat in table.lit()
        if now is last:
            spans[-1] += 5
        else:
            spans.append(5)
        last = now
    return spans[1:-1]


@pytest.mark.requirement(9)
def test_a_seen_chip_blinks_slowly_and_an_empty_seat_is_dark() -> None:
    table = opened()
    table.chip(2)
    assert table.lamp(2) is Lamp.SEEN
    assert set(rhythm(table, 2)) == {500}
    assert rhythm(table, 1) == []
    assert 1 not in table.lit()


@pytest.mark.requirement(1, 9)
def test_an_accepted_lamp_is_steady_from_the_very_first_instant_to_end() -> None:
    table = opened()
    table.chip(2)
    while 2 in table.lit():
        table.wait(TURN_MS)  # the dark half of seen
    table.sim.move(LOCK, active=True)
    assert table.lit() == {2}
    assert rhythm(table, 2) == []
    assert table.lit() == {2}


@pytest.mark.requirement(4)
def test_no_lamp_is_lit_for_accepted_before_its_row_is_durable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = opened()
    table.chip(1, 4)
    while table.lit():
        table.wait(TURN_MS)
    stored, seen = WatchedLedger.append, []

    def watched(ledger: WatchedLedger, **row: Any) -> Row:
        seen.append((row["kind"], table.lit(), Lamp.ACCEPTED in table.lamps.values()))
        return stored(ledger, **row)

    monkeypatch.setattr(WatchedLedger, "append", watched)
    table.sim.move(LOCK, active=True)
    assert seen == [("bets_locked", set(), False)]
    assert table.lit() == {1, 4}


@pytest.mark.requirement(3)
def test_the_lamp_stays_lit_after_the_chip_is_lifted_until_end() -> None:
    table = opened()
    table.prove(2, 5)
    assert table.lit() == {2, 5}
    assert rhythm(table, 5) == []
    table.end()
    assert table.is_in(Phase.OPEN)
    table.wait(1_000)
    assert table.lit() == set()


@pytest.mark.requirement(9)
def test_a_seat_that_wants_a_hand_flickers_and_one_out_of_service_flashes_twice() -> None:
    table = opened()
    table.chip(2)
    table.lock()
    table.count(1)
    table.end()  # the chip still lies there
    assert table.lamp(2) is Lamp.ATTENTION
    assert set(rhythm(table, 2)) == {125}
    table.wait(61_000)
    assert table.lamp(2) is Lamp.OUT_OF_SERVICE
    assert set(zip(*[iter(rhythm(table, 2, 6_000))] * 4, strict=False)) <= {
        (100, 150, 100, 1150),
        (150, 100, 1150, 100),
        (100, 1150, 100, 150),
        (1150, 100, 150, 100),
    }


def test_patterns_survive_turns_that_come_only_every_fifty_milliseconds() -> None:
    table = opened()
    table.chip(2)
    levels = []
    for _ in range(40):
        table.wait(TURN_MS)
        levels.append(2 in table.lit())
    assert levels.count(True) == levels.count(False) == 20


def test_a_refused_key_beeps_once_and_briefly() -> None:
    table = opened()
    table.keys("7")
    table.sim.loop.turn()
    assert table.hands.lit(BUZZER)
    table.wait(200)
    assert not table.hands.lit(BUZZER)


# Sensors that misbehave.


def test_a_lost_edge_is_healed_by_the_sweep_and_noted_once() -> None:
    table = opened()
    table.hands.drop_edges(sensor(3), 1)
    table.hands.cover(sensor(3))
    table.wait(400)
    assert notes(table) == ["the sensor of seat 3 changed and no edge came: check its wiring"]
    assert table.lamp(3) is Lamp.SEEN
    table.lock()
    assert table.wagers() == [3]


def test_all_sensors_within_five_milliseconds_are_noted_once_as_a_disturbance() -> None:
    table = opened()
    now_us = table.sim.now_us
    for number, seat in enumerate(SIX):
        table.hands.drive(sensor(seat), active=True, at_us=now_us + number * 900)
    table.after_us(10 * MS)
    table.wait(1_000)
    assert notes(table) == ["all sensors were covered within 5 ms: look for static or a bad supply"]


def test_six_players_within_six_seconds_are_no_disturbance() -> None:
    table = opened()
    for seat in SIX:
        table.chip(seat, rest_ms=1_000)
    assert notes(table) == []


def test_an_edge_told_too_late_to_count_is_noted() -> None:
    table = opened()
    at_the_same_time(table, (sensor(3), True, 0), (sensor(3), False, MS))
    table.wait(200)
    table.hands.deliver()
    table.wait(100)
    assert len(notes(table)) == 1
    assert "seat 3" in notes(table)[0]
    assert "too late" in notes(table)[0]


def chatter(table: WholeTable, seat: int, edges: int = 60, within_us: int = 500_000) -> None:
    plan = table.hands.chatter(sensor(seat), seed=7, edges=edges, within_us=within_us)
    table.hands.play(sensor(seat), plan)
    table.after_us(within_us)


@pytest.mark.requirement(11)
def test_a_sensor_that_chatters_through_lock_gives_no_wager_and_comes_back_when_quiet() -> None:
    table = opened()
    table.chip(2, 4)
    chatter(table, 4)
    table.wait(TURN_MS)
    assert table.lamp(4) is Lamp.OUT_OF_SERVICE
    assert 4 in table.screen.view.out_of_service
    table.lock()
    assert table.wagers() == [2]
    table.count(1)
    table.lift(2, 4)
    table.end()
    table.wait(2_000)
    assert table.table.out_of_service == ()
    table.chip(4)
    table.lock()
    assert table.wagers() == [4]


def test_a_sensor_that_chatters_right_up_to_lock_gives_no_wager_though_no_sweep_saw_it() -> None:
    table = opened()
    table.chip(2, 4)
    chatter(table, 4)
    table.after_us(35 * MS)
    table.sim.move(LOCK, active=True)
    assert table.wagers() == [2]


@pytest.mark.requirement(11)
def test_a_sensor_stuck_since_before_the_opening_takes_no_wager_and_goes_out_of_service() -> None:
    table = WholeTable()
    table.hands.stick(sensor(6), active=True)
    table.wait(200)
    table.open()
    assert table.table.must_clear == (6,)
    table.wait(61_000)
    assert table.events(did.SeatStuck) == [did.SeatStuck(6)]
    table.lock()
    assert table.wagers() == []
    table.hands.unstick(sensor(6))
    table.wait(200)
    assert table.table.out_of_service == ()


# Pins that cannot be read or switched.


@pytest.mark.requirement(66)
def test_lamps_that_cannot_be_switched_take_the_table_out_of_service_until_they_can() -> None:
    table = opened()
    table.prove(2)
    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "set", broken_switch)
        table.keys("7")  # the beep cannot be switched
        table.wait(200)
        assert table.is_in(Phase.FAULT)
        assert table.last(did.FaultRaised).what == "Hardware: the expander X1 is silent"
        assert "the expander X1 is silent" in table.screen.view.fault
        table.lock()
        assert "out of service" in table.unit.notice
        table.wait(10_000)
        assert len(table.events(did.FaultRaised)) == 1
    table.wait(2_500)
    assert (table.phase, table.wagers(), table.lit()) == (Phase.IN_PLAY, [2], {2})
    assert len(table.events(did.FaultCleared)) == 1


def broken_switch(_pins: Pins, _line: Line, _on: bool) -> None:
    raise Fault("the expander X1 is silent")


def broken_read(*_: object) -> dict[Line, bool]:
    raise Fault("the pins cannot be read")


def test_pins_that_cannot_be_read_take_the_table_out_of_service_until_they_can() -> None:
    table = opened()
    table.chip(2)
    loop = table.sim.loop
    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "levels", broken_read)
        for _ in range(4):
            table.after_us(50 * MS)
            loop.scanner.scan()
            table.sim._drain()
            loop.turn()
        assert table.is_in(Phase.FAULT)
        assert table.lamp(2) is Lamp.OUT_OF_SERVICE
    table.wait(100)
    assert table.is_in(Phase.FAULT)  # it might be a loose plug
    table.wait(1_100)
    assert table.is_in(Phase.OPEN)
    table.wait(200)
    table.lock()
    assert table.wagers() == [2]


def test_a_lock_that_the_pins_cannot_confirm_is_not_taken_and_leaves_its_row() -> None:
    table = opened()
    table.chip(2)
    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "levels", broken_read)
        table.hands.press(LOCK)
        table.sim._drain()
        table.after_us(100 * MS)
        table.sim.loop.turn()
    table.hands.release(LOCK)
    table.wait(1_300)
    assert (table.phase, table.wagers()) == (Phase.OPEN, [])
    assert [event.asked for event in table.events(did.InputRefused)] == ["LOCK"]


def test_a_table_without_buzzer_and_drop_slot_is_a_table() -> None:
    table = opened(table_file(seats=3))
    assert isinstance(table.desk, Desk)
    assert len([line for line in table.desk.inputs if line.kind.value == "sensor"]) == 3
