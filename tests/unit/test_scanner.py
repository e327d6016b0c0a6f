"""The scanner: keys, levels every 50 ms, and what it does when the pins cannot be read."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from controller.domain.errors import Fault
from controller.hardware import DOOR, END, Line, sensor
from controller.hardware_file import DEFAULT_KEYMAP, simulated
from firmware.inbox import Failure, Inbox, Key, Seen, Sweep, Trouble
from firmware.keys import Keypad
from firmware.pins import Pins
from firmware.scanner import REST_AFTER_TROUBLE_US, SCAN_US, SWEEP_US, Scanner
from mock_gpio.pins import SimulatedPins


class Eyes:
    """A scanner on simulated pins, looked through by hand."""

    def __init__(self) -> None:
        hardware = simulated(None, seats=6, spots=1)
        self.now_us = 1_000_000
        self.hands = SimulatedPins(hardware, lambda: self.now_us)
        self.pins = Pins(hardware, self.hands)
        self.inbox = Inbox()
        lines = (sensor(1), END, DOOR)
        self.scanner = Scanner(self.pins, Keypad(DEFAULT_KEYMAP), lines, self.inbox)
        self.look(3)
        self.taken()

    def look(self, times: int) -> None:
        for _ in range(times):
            self.now_us += self.scanner.scan()

    def taken(self) -> list[Seen]:
        found = []
        while (seen := self.inbox.take(0)) is not None:
            found.append(seen)
        return found

    def keys(self) -> list[str]:
        return [seen.name for seen in self.taken() if isinstance(seen, Key)]


def test_a_key_is_told_once_however_long_it_is_held() -> None:
    eyes = Eyes()
    eyes.hands.press_key(0, 0)
    eyes.look(100)
    assert eyes.keys() == ["1"]
    eyes.hands.release_key(0, 0)
    eyes.look(3)
    eyes.hands.press_key(3, 2)
    eyes.look(3)
    assert eyes.keys() == ["enter"]


def test_a_touch_shorter_than_three_looks_is_no_key() -> None:
    eyes = Eyes()
    eyes.hands.press_key(0, 0)
    eyes.look(2)
    eyes.hands.release_key(0, 0)
    eyes.look(10)
    assert eyes.keys() == []


@pytest.mark.requirement(23)
def test_two_keys_together_are_none_and_a_third_after_them_is_none_either() -> None:
    eyes = Eyes()
    for place in ((0, 0), (1, 1)):
        eyes.hands.press_key(*place)
    eyes.look(5)
    eyes.hands.press_key(2, 2)
    eyes.look(5)
    eyes.hands.release_key(0, 0)
    eyes.hands.release_key(1, 1)
    eyes.look(5)
    assert eyes.keys() == []


def test_levels_are_swept_every_fifty_milliseconds() -> None:
    eyes = Eyes()
    eyes.hands.cover(sensor(1))
    eyes.hands.press(DOOR)
    eyes.look(200)
    sweeps = [seen for seen in eyes.taken() if isinstance(seen, Sweep)]
    assert len(sweeps) == 200 * SCAN_US // SWEEP_US
    assert sweeps[-1].levels == {sensor(1): True, END: False, DOOR: True}
    gaps = {after.at_us - before.at_us for before, after in pairwise(sweeps)}
    assert gaps == {SWEEP_US}


def test_a_stuck_key_is_told_once_with_its_name_and_again_only_when_it_sticks_again() -> None:
    eyes = Eyes()
    for _ in range(2):
        eyes.hands.press_key(0, 1)
        eyes.look(4_000)
        told = [seen for seen in eyes.taken() if isinstance(seen, Trouble)]
        assert told == [Trouble("key 2 of the keypad is stuck: free or replace it")]
        eyes.hands.release_key(0, 1)
        eyes.look(10)


def broken(*_: object) -> frozenset[tuple[int, int]]:
    raise Fault("the keypad is not there")


def test_pins_that_cannot_be_read_are_told_and_tried_again_after_a_rest() -> None:
    eyes = Eyes()
    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "closed_keys", broken)
        assert eyes.scanner.scan() == REST_AFTER_TROUBLE_US
        assert eyes.taken() == [Failure("the keypad is not there")]
        eyes.now_us += REST_AFTER_TROUBLE_US
        assert eyes.scanner.beat_us < eyes.now_us
        eyes.scanner.scan()
        assert eyes.scanner.beat_us == eyes.now_us, "it goes round although it cannot read"
    eyes.taken()
    assert eyes.scanner.scan() == SCAN_US
    assert isinstance(eyes.taken()[0], Sweep)


def test_a_sweep_that_failed_is_made_up_for_at_the_next_look() -> None:
    eyes = Eyes()
    eyes.look(10)
    eyes.taken()

    def unreadable(_pins: Pins, _lines: object) -> dict[Line, bool]:
        raise Fault("a level cannot be read")

    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "levels", unreadable)
        eyes.now_us += SWEEP_US
        eyes.scanner.scan()
        assert eyes.taken() == [Failure("a level cannot be read")]
    eyes.now_us += REST_AFTER_TROUBLE_US
    eyes.scanner.scan()
    assert any(isinstance(seen, Sweep) for seen in eyes.taken())


def test_its_own_thread_looks_until_it_is_stopped() -> None:
    eyes = Eyes()
    swept = threading.Event()
    put = eyes.inbox.put

    def noted(seen: Seen) -> None:
        put(seen)
        swept.set()

    eyes.inbox.put = noted  # type: ignore[method-assign]
    eyes.now_us += SWEEP_US
    assert not eyes.scanner.is_alive
    eyes.scanner.start()
    assert swept.wait(60)
    assert eyes.scanner.is_alive
    eyes.scanner.stop()
    assert not eyes.scanner.is_alive
