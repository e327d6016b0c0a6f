"""Simulated pins: they must behave as wires do, bad ones too, and forget nothing but history."""

from __future__ import annotations

import gc
from itertools import product
from typing import Any

import pytest
from gpiozero import DigitalInputDevice, GPIOPinInUse
from gpiozero.exc import PinInvalidPin, PinInvalidPull, PinSetInput
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.errors import BadInput, Broken
from controller.hardware import (
    BUZZER,
    DOOR,
    DROP,
    END,
    LOCK,
    Hardware,
    Line,
    lamp,
    sensor,
)
from controller.hardware_file import simulated
from firmware.pins import LumaPins, Pins
from mock_gpio.pins import SimulatedPins
from tests.wiring_tables import ready

Edges = list[tuple[Line, bool, int]]


class Bench:
    """A table on simulated pins, its clock, and every edge that was reported."""

    def __init__(self, hardware: Hardware) -> None:
        self.now_us = 1_000_000
        self.hands = SimulatedPins(hardware, lambda: self.now_us)
        self.edges: Edges = []
        self.hardware = hardware
        self.pins = self.boot()

    def boot(self) -> Pins:
        pins = Pins(self.hardware, self.hands)
        pins.watch(lambda line, active, at_us: self.edges.append((line, active, at_us)))
        return pins


@pytest.fixture
def bench() -> Bench:
    return Bench(simulated(None, seats=6, spots=2))


@pytest.fixture
def wired() -> Bench:
    """The same on the wires of the header map, where END and door hang on the keypad."""
    return Bench(simulated(ready("header-6"), seats=6, spots=1))


def test_a_chip_on_a_sensor_is_an_edge_with_the_time_of_the_simulated_clock(bench: Bench) -> None:
    bench.now_us = 1_234_567
    bench.hands.cover(sensor(3, 1))
    assert bench.pins.level(sensor(3, 1))
    assert not bench.pins.level(sensor(3, 0))
    bench.now_us += 1
    bench.hands.uncover(sensor(3, 1))
    assert bench.edges == [(sensor(3, 1), True, 1_234_567), (sensor(3, 1), False, 1_234_568)]
    assert bench.pins.now_us() == 1_234_568


def test_covering_a_covered_sensor_is_no_edge(bench: Bench) -> None:
    bench.hands.cover(sensor(1))
    bench.hands.cover(sensor(1))
    assert len(bench.edges) == 1


def test_an_edge_can_be_older_than_the_moment_at_which_it_is_driven(bench: Bench) -> None:
    bench.hands.drive(LOCK, active=True, at_us=900_000)
    assert bench.edges == [(LOCK, True, 900_000)]


def test_a_table_of_ten_seats_and_eight_spots_has_pins_enough() -> None:
    bench = Bench(simulated(None, seats=10, spots=8))
    places = [sensor(seat, spot) for seat, spot in product(range(1, 11), range(8))]
    for place in places:
        bench.hands.cover(place)
    assert all(bench.pins.levels(places).values())
    assert len(bench.edges) == 80


def test_lamps_and_buzzer_can_be_looked_at(bench: Bench) -> None:
    for line in (lamp(2), BUZZER):
        assert not bench.hands.lit(line)
        bench.pins.set(line, True)
        assert bench.hands.lit(line)
        bench.pins.set(line, False)
        assert not bench.hands.lit(line)


def test_the_door_is_shut_until_somebody_opens_it(wired: Bench, bench: Bench) -> None:
    for each in (wired, bench):
        assert not each.pins.level(DOOR)
        each.hands.press(DOOR)
        assert each.pins.level(DOOR)
        each.hands.release(DOOR)
        assert not each.pins.level(DOOR)


@pytest.mark.parametrize(("row", "column"), list(product(range(4), range(4))))
def test_each_key_is_read_where_it_is_pressed(wired: Bench, row: int, column: int) -> None:
    wired.hands.press(END)
    wired.hands.press_key(row, column)
    assert wired.pins.closed_keys() == {(row, column)}
    wired.hands.release_key(row, column)
    assert wired.pins.closed_keys() == set()


def test_three_keys_of_a_rectangle_close_the_fourth_as_on_any_keypad(wired: Bench) -> None:
    for key in ((0, 0), (0, 2), (3, 0)):
        wired.hands.press_key(*key)
    assert wired.pins.closed_keys() == {(0, 0), (0, 2), (3, 0), (3, 2)}
    wired.hands.release_key(0, 0)
    assert wired.pins.closed_keys() == {(0, 2), (3, 0)}


def ghosts(keys: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """What a matrix without diodes reads: grow each connected patch of keys to its whole block."""
    seen = set(keys)
    while True:
        more = {(a, d) for a, b in seen for c, d in seen if (c, b) in seen and (a, d) not in seen}
        if not more:
            return seen
        seen |= more


KEYS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=7)


@given(keys=KEYS, door_open=st.booleans(), end=st.booleans())
def test_any_keys_pressed_together_read_as_the_wires_connect_them(
    keys: set[tuple[int, int]], door_open: bool, end: bool
) -> None:
    wired = Bench(simulated(ready("header-6"), seats=6, spots=1))
    wired.hands.drive(DOOR, active=door_open)
    wired.hands.drive(END, active=end)
    for key in keys:
        wired.hands.press_key(*key)
    assert wired.pins.closed_keys() == ghosts(keys)


@given(keys=KEYS)
def test_no_keys_pressed_together_press_end_or_hide_an_open_door(
    keys: set[tuple[int, int]],
) -> None:
    wired = Bench(simulated(ready("header-6"), seats=6, spots=1))
    shut = wired.pins.levels([DOOR, END])
    for key in keys:
        wired.hands.press_key(*key)
    assert wired.pins.levels([DOOR, END]) == shut == {DOOR: False, END: False}
    wired.hands.press(DOOR)
    assert wired.pins.levels([DOOR, END]) == {DOOR: True, END: False}


def test_a_bouncing_contact_ends_where_it_should_and_the_seed_repeats_it(bench: Bench) -> None:
    plan = bench.hands.bounce(sensor(1), active=True, seed=7, edges=8, within_us=3_000)
    assert plan == bench.hands.bounce(sensor(1), active=True, seed=7, edges=8, within_us=3_000)
    assert plan != bench.hands.bounce(sensor(1), active=True, seed=8, edges=8, within_us=3_000)
    bench.hands.play(sensor(1), plan)
    assert bench.edges == [(sensor(1), active, at_us) for at_us, active in plan]
    assert len(plan) == 9
    assert bench.pins.level(sensor(1))


@given(
    seed=st.integers(0, 2**32),
    edges=st.integers(1, 60),
    covered=st.booleans(),
    active=st.booleans(),
)
def test_every_bounce_alternates_within_its_time_and_ends_in_its_level(
    seed: int, edges: int, covered: bool, active: bool
) -> None:
    bench = Bench(simulated(None, seats=1, spots=1))
    bench.hands.drive(sensor(1), active=covered)
    plan = bench.hands.bounce(sensor(1), active=active, seed=seed, edges=edges, within_us=2_000)
    times = [at_us for at_us, _ in plan]
    assert times == sorted(set(times))
    assert times[0] == 1_000_000
    assert times[-1] < 1_002_000
    assert edges <= len(plan) <= edges + 1
    assert [level for _, level in plan][::-1] == [active ^ bool(n % 2) for n in range(len(plan))]
    assert plan[0][1] is not covered


def test_a_chattering_sensor_ends_where_it_began(bench: Bench) -> None:
    bench.hands.cover(sensor(2))
    plan = bench.hands.chatter(sensor(2), seed=1)
    bench.hands.play(sensor(2), plan)
    assert len(plan) == 100
    assert bench.pins.level(sensor(2))
    assert len(bench.edges) == 101


def test_a_stuck_sensor_does_not_follow_until_it_is_freed(bench: Bench) -> None:
    bench.hands.stick(sensor(1), active=True)
    assert bench.pins.level(sensor(1))
    bench.hands.cover(sensor(1))
    bench.hands.uncover(sensor(1))
    assert bench.pins.level(sensor(1))
    bench.hands.unstick(sensor(1))
    assert not bench.pins.level(sensor(1))
    assert [active for _, active, _ in bench.edges] == [True, False]


def test_callbacks_held_back_come_in_any_order_with_their_own_times(bench: Bench) -> None:
    bench.hands.hold_calls()
    bench.hands.cover(sensor(1))
    bench.now_us += 10
    bench.hands.press(LOCK)
    bench.now_us += 10
    bench.hands.cover(sensor(2))
    assert bench.pins.level(LOCK)
    assert bench.edges == []
    assert [call.line for call in bench.hands.held] == [sensor(1), LOCK, sensor(2)]
    bench.now_us += 5_000
    bench.hands.deliver([2, 1, 0])
    assert bench.edges == [
        (sensor(2), True, 1_000_020),
        (LOCK, True, 1_000_010),
        (sensor(1), True, 1_000_000),
    ]
    bench.hands.uncover(sensor(1))
    assert bench.edges[-1] == (sensor(1), False, 1_005_020)


def test_an_order_that_forgets_a_held_callback_is_a_mistake_of_the_test(bench: Bench) -> None:
    bench.hands.hold_calls()
    bench.hands.cover(sensor(1))
    bench.hands.cover(sensor(2))
    with pytest.raises(Broken, match="each held callback comes once"):
        bench.hands.deliver([0, 0])


def test_edges_can_get_lost_while_levels_stay_true(bench: Bench) -> None:
    bench.hands.drop_edges(sensor(1), 2)
    bench.hands.cover(sensor(1))
    bench.hands.uncover(sensor(1))
    bench.hands.cover(sensor(2))
    bench.hands.cover(sensor(1))
    assert bench.pins.level(sensor(1))
    assert [line for line, _, _ in bench.edges] == [sensor(2), sensor(1)]


def test_after_a_power_cut_lamps_are_dark_and_chips_lie_where_they_lay(bench: Bench) -> None:
    bench.hands.cover(sensor(4))
    bench.pins.set(lamp(4), True)
    bench.hands.power_cut()
    assert not bench.hands.lit(lamp(4))
    dead, bench.pins = bench.pins, bench.boot()
    assert bench.pins.level(sensor(4))
    bench.pins.set(lamp(4), True)
    bench.edges.clear()
    dead.close()  # what is left of the dead process cannot reach the new one
    assert bench.hands.lit(lamp(4))
    bench.hands.uncover(sensor(4))
    assert bench.edges == [(sensor(4), False, 1_000_000)]


def test_a_second_owner_of_a_pin_is_refused(bench: Bench) -> None:
    with pytest.raises(GPIOPinInUse):
        DigitalInputDevice("SIM1", pull_up=True, pin_factory=bench.hands)


def test_unknown_pins_lines_and_keys_are_told_plainly(bench: Bench, wired: Bench) -> None:
    with pytest.raises(PinInvalidPin, match="The simulated table has no pin GPIO99, only SIM1, "):
        bench.hands.pin("GPIO99")
    with pytest.raises(BadInput, match="sensor 7 spot 0 is no sensor, button or switch"):
        bench.hands.cover(sensor(7))
    with pytest.raises(BadInput, match="lamp 1 spot 0 is no sensor"):
        bench.hands.cover(lamp(1))
    with pytest.raises(BadInput, match="drop is no sensor"):
        wired.hands.press(DROP)
    with pytest.raises(BadInput, match="lock is no lamp or buzzer"):
        bench.hands.lit(LOCK)
    with pytest.raises(BadInput, match="Row 4, column 0, from 0, is no key"):
        bench.hands.press_key(4, 0)


def test_a_pin_is_as_strict_as_a_real_one(bench: Bench) -> None:
    pin = bench.hands.pin("SIM1")
    with pytest.raises(PinSetInput):
        pin.state = True
    with pytest.raises(PinInvalidPull):
        pin.pull = "down"
    pin.pull = "floating"
    assert not pin.state
    assert repr(pin) == "SIM1"


def test_pins_hold_no_watcher_alive_just_as_the_real_ones(bench: Bench) -> None:
    pin: Any = bench.hands.pin("SIM1")
    heard: list[bool] = []

    def watcher(_ticks: float, state: bool) -> None:
        heard.append(state)

    pin.when_changed = watcher
    bench.hands.cover(sensor(1))
    del watcher
    gc.collect()
    bench.hands.uncover(sensor(1))
    assert heard == [False]
    assert pin.when_changed is None


def test_display_pins_of_the_hardware_exist_too() -> None:
    bench = Bench(simulated(ready("expander-8"), seats=8, spots=1))
    luma = LumaPins(bench.hands)
    luma.setup("GPIO24", luma.OUT)
    luma.output("GPIO24", luma.HIGH)
    assert bench.hands.pin("GPIO24").lit


def test_ten_thousand_edges_leave_nothing_behind(bench: Bench) -> None:
    def size() -> int:
        held = vars(bench.hands).values()
        return sum(len(each) for each in held if isinstance(each, dict | list | set))

    bench.pins.watch(lambda _line, _active, _at_us: None)
    bench.hands.cover(sensor(1))
    bench.hands.uncover(sensor(1))
    before = size()
    for _ in range(5_000):
        bench.hands.cover(sensor(1))
        bench.hands.uncover(sensor(1))
    assert size() == before
