"""The self-test: a good table passes, and of a bad one the record names exactly what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from luma.core.device import dummy
from luma.core.interface.serial import noop
from msgspec.structs import replace as rewired

from controller.adapters.machine import digest
from controller.adapters.pack_files import load_map, load_pack
from controller.config import TableFile, table_from_document
from controller.domain import rounds
from controller.domain.errors import BadInput, Fault
from controller.domain.meter import Account, Meter, Posting, contribute, post
from controller.domain.money import Money
from controller.domain.pack import MeterParameters, Overflow
from controller.domain.view import Lamp
from controller.hardware import (
    BUZZER,
    DOOR,
    DROP,
    END,
    FLOOR_KEY,
    LOCK,
    Hardware,
    Line,
    LineKind,
    lamp,
    sensor,
)
from controller.hardware_file import simulated
from controller.process import OpenLedger
from controller.screen import Screen
from controller.selftest import walk as walking
from controller.selftest.coin import Coins, check_coins, expected
from controller.selftest.facts import check_answers, map_of
from controller.selftest.keys import check_keys
from controller.selftest.record import Outcome, Record, Result, failed, passed, skipped
from controller.selftest.rig import Gear, Rig
from controller.selftest.sensors import check_sensors
from controller.selftest.session import Session
from controller.selftest.simulated import SimulatedTechnician
from controller.selftest.switches import check_buttons, check_door
from controller.selftest.tasks import GoOn, LookAtLamps, Task, Technician, Together
from controller.selftest.terminal import Terminal
from controller.selftest.walk import Order, Walk
from display.glass import Glass, Wire, dummy_glass
from display.pattern import pattern_frame
from display.screens import Name, Screens
from firmware.keys import EQUAL_SCANS, Keypad
from firmware.pins import Pins
from mock_gpio.pins import Plan, SimulatedPins
from tests.builders import parameters
from tests.fake_expander import FakeBus, FakeChip
from tests.fakes import FakeLedger
from tests.wiring_tables import ready

DATE = "2026-03-31T18:00:00.000Z"
Part = Callable[[Session], Iterator[Result]]


def table_file(
    pack: str = "md-uth-a",
    *,
    ready_map: str = "header-6",
    seats: int | None = None,
    meters: dict[str, object] | None = None,
    software: str | None = None,
    pins: dict[str, object] | None = None,
    **rules: object,
) -> TableFile:
    document: dict[str, object] = {
        "table": {"id": "T07"} | ({"seats": seats} if seats else {}),
        "rules": {"pack": pack, **rules},
        "meters": meters or {},
        "hardware": {"map": ready_map},
        "pins": pins or {},
        "software": {"sha256": software} if software else {},
    }
    return table_from_document(document, where="table.toml", find_pack=load_pack, load_map=load_map)


def two_spots() -> TableFile:
    """A table that takes $1 and $5, each on a spot of its own."""
    ones = ("GPIO5", "GPIO6", "GPIO12")
    fives = ("GPIO13", "GPIO16", "GPIO17")
    pins = {"sensors": [list(pair) for pair in zip(ones, fives, strict=True)]}
    pins["lamps"] = ["X1.A0", "X1.A1", "X1.A2"]  # type: ignore[list-item]
    return table_file(
        ready_map="expander-6", seats=3, pins={**pins}, wagers=["1.00", "5.00"], count="blind"
    )


def new_ledger() -> OpenLedger:
    ledger = FakeLedger()
    return lambda: ledger


class Bench:
    """A table on simulated pins with whatever is wrong with it, and somebody who tests it."""

    def __init__(
        self,
        file: TableFile | None = None,
        *,
        hands: type[SimulatedPins] = SimulatedPins,
        glasses: dict[Name, Glass] | None = None,
        each_seat: bool = False,
        who: type[SimulatedTechnician] = SimulatedTechnician,
    ) -> None:
        self.file = file or table_file()
        settings = self.file.settings
        self.hardware = simulated(
            self.file.hardware, seats=settings.seats, spots=len(settings.wagers)
        )
        self.said: list[str] = []
        self.tess = who(self.hardware, say=self.said.append, make_hands=hands, glasses=glasses)
        self.hands = self.tess.hands
        self.coins = Coins(new_ledger, each_seat)

    def walk(self, technician: Technician | None = None) -> Record:
        order = Order(
            file=self.file,
            hardware=self.hardware,
            by="Tess",
            date=DATE,
            coins=self.coins,
            simulated=True,
        )
        return Walk(order, technician or self.tess).run(self.tess.gear)

    def part(self, check: Part) -> list[Result]:
        rig = Rig(self.tess.gear(), self.file.settings)
        rig.begin()
        return list(check(Session(rig, self.tess)))

    def coin_test(self) -> list[Result]:
        return self.part(partial(check_coins, file=self.file, coins=self.coins))

    @property
    def heard(self) -> str:
        return "\n".join(self.said)


def not_passed(results: tuple[Result, ...] | list[Result]) -> dict[str, str]:
    """What failed, and the sentence about each."""
    return {each.name: each.says for each in results if each.outcome is Outcome.FAIL}


def names(results: tuple[Result, ...] | list[Result], part: str) -> list[str]:
    return [each.name for each in results if each.part == part]


# A good table.


@pytest.mark.parametrize(
    "file",
    [
        table_file(),
        table_file("sd-uthp-01", ready_map="expander-6"),
        table_file("md-jh-a", seats=3),
        table_file("ca-texas-holdem", ready_map="expander-10"),
        table_file("md-uth-b", ready_map="expander-6", count="sensor"),
        two_spots(),
    ],
    ids=["header", "several meters", "three seats", "ten seats", "drop slot", "two spots"],
)
def test_a_good_table_passes_from_the_facts_to_the_coins(file: TableFile) -> None:
    record = Bench(file).walk()
    assert not_passed(record.results) == {}
    assert record.is_passed
    seats = file.settings.seats
    assert len(names(record.results, "sensors")) == seats * len(file.settings.wagers)
    assert len(names(record.results, "coin test")) == len(file.settings.wagers)
    assert [name for name in names(record.results, "lamps") if name.startswith("lamp ")] == [
        f"lamp {seat}" for seat in range(1, seats + 1)
    ]
    assert ("drop slot" in names(record.results, "buttons")) is (
        file.settings.count.value == "sensor"
    )


@pytest.mark.requirement(68)
def test_the_record_says_which_program_tested_which_rules_on_which_wires() -> None:
    bench = Bench()
    facts = bench.walk().facts
    assert facts["table"] == "T07"
    assert (facts["by"], facts["date"]) == ("Tess", DATE)
    assert len(facts["program digest"]) == 64
    assert (facts["pack"], facts["fingerprint"]) == ("md-uth-a", bench.file.pack.fingerprint)
    assert (facts["pin factory"], facts["map"]) == ("mock", "header-6")


def test_wires_that_are_no_ready_map_are_called_so() -> None:
    file = table_file(pins={"buzzer": "GPIO4", "lock": "GPIO26"})
    assert file.hardware is not None
    assert map_of(file, file.hardware) == "wires of its own"


def test_with_fewer_seats_than_patterns_every_pattern_is_still_shown() -> None:
    record = Bench(table_file(seats=3)).walk()
    assert names(record.results, "lamps")[-2:] == ["patterns 1", "patterns 2"]


def test_a_sensor_is_measured_while_it_is_tested() -> None:
    bench = Bench()
    seat_1 = bench.part(check_sensors)[0]
    assert seat_1.figures["pin"] == "GPIO5"
    assert seat_1.figures["edges"] == 6  # three for the chip that comes, three for it as it goes
    assert 0 < int(seat_1.figures["longest_bounce_us"]) < 2_000
    settle_ms = bench.hardware.timing.settle_ms + bench.hardware.timing.bounce_ms
    assert settle_ms <= int(seat_1.figures["seen_after_ms"]) <= settle_ms + 5


@pytest.mark.requirement(70)
def test_every_display_says_test_from_the_first_frame_to_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posted: list[Screen] = []
    post_it = Screens.post

    def watched(self: Screens, screen: Any) -> None:
        posted.append(screen)
        post_it(self, screen)

    monkeypatch.setattr(Screens, "post", watched)
    Bench().walk()
    assert any(screen.view.meters for screen in posted)  # the coin test shows amounts
    assert all(screen.alerts[0].startswith("TEST") for screen in posted)
    pages = [screen.page for screen in posted if screen.page is not None]
    assert {"SELF-TEST", "TEST COUNT"} <= {page.title for page in pages}
    assert all("TEST" in page.title for page in pages)


# One thing wrong.


class DeadLamp(SimulatedPins):
    """The lamp of seat 3 is burnt out."""

    def lit(self, line: Line) -> bool:
        return line != lamp(3) and super().lit(line)


class CrossedLamps(SimulatedPins):
    """The plugs of lamps 3 and 4 went into each other's sockets."""

    def lit(self, line: Line) -> bool:
        return super().lit({lamp(3): lamp(4), lamp(4): lamp(3)}.get(line, line))


class LeakyLamp(SimulatedPins):
    """Lamp 2 lights whenever lamp 1 does."""

    def lit(self, line: Line) -> bool:
        return super().lit(line) or (line == lamp(2) and super().lit(lamp(1)))


class Silent(SimulatedPins):
    """The buzzer is not connected."""

    def lit(self, line: Line) -> bool:
        return line != BUZZER and super().lit(line)


class Rewired(SimulatedPins):
    """Some wires go elsewhere."""

    WIRES: Mapping[Line, Line]

    def bounce(self, line: Line, **how: Any) -> Plan:
        return super().bounce(self.WIRES.get(line, line), **how)

    def drive(self, line: Line, *, active: bool, at_us: int | None = None) -> None:
        super().drive(self.WIRES.get(line, line), active=active, at_us=at_us)


class SwappedSensors(Rewired):
    WIRES: Mapping[Line, Line] = {sensor(3): sensor(4), sensor(4): sensor(3)}


class SwappedButtons(Rewired):
    WIRES: Mapping[Line, Line] = {LOCK: END, END: LOCK}


class Shorted(SimulatedPins):
    """Whoever covers seat 5 covers seat 6 as well."""

    def drive(self, line: Line, *, active: bool, at_us: int | None = None) -> None:
        super().drive(line, active=active, at_us=at_us)
        if line == sensor(5):
            super().drive(sensor(6), active=active, at_us=at_us)


class Chattering(SimulatedPins):
    """The sensor of seat 2 cannot make up its mind while a chip lies on it."""

    def bounce(self, line: Line, **how: Any) -> Plan:
        if line == sensor(2) and how["active"]:
            how |= {"edges": 101, "within_us": 1_000_000}
        return super().bounce(line, **how)


class Deaf(SimulatedPins):
    """Levels change, and no edge is ever told."""

    DEAF: Line

    def drive(self, line: Line, *, active: bool, at_us: int | None = None) -> None:
        if line == self.DEAF:
            self.drop_edges(line, 1)
        super().drive(line, active=active, at_us=at_us)


class DeafSensor(Deaf):
    DEAF = sensor(1)


class DeafLock(Deaf):
    DEAF = LOCK


class Stuck(SimulatedPins):
    """Some lines never move."""

    LINES: tuple[tuple[Line, bool], ...] = ()

    def __init__(self, hardware: Hardware, now_us: Callable[[], int]) -> None:
        super().__init__(hardware, now_us)
        for line, active in self.LINES:
            self.stick(line, active=active)


class DeadSensor(Stuck):
    LINES = ((sensor(1), False),)


class StuckSensor(Stuck):
    LINES = ((sensor(1), True),)


class HeldLock(Stuck):
    LINES = ((LOCK, True),)


class CutDoor(Stuck):
    LINES = ((DOOR, True),)


class DeadSlot(Stuck):
    LINES = ((DROP, False),)


class StuckKey(SimulatedPins):
    """The key 5 hangs."""

    def __init__(self, hardware: Hardware, now_us: Callable[[], int]) -> None:
        super().__init__(hardware, now_us)
        self.press_key(1, 1)

    def release_key(self, row: int, column: int) -> None:
        if (row, column) != (1, 1):
            super().release_key(row, column)


class SwappedRows(SimulatedPins):
    """The wires of the first two rows of the keypad are swapped."""

    def press_key(self, row: int, column: int) -> None:
        super().press_key({0: 1, 1: 0}.get(row, row), column)

    def release_key(self, row: int, column: int) -> None:
        super().release_key({0: 1, 1: 0}.get(row, row), column)


class DeadColumn(SimulatedPins):
    """The last column of the keypad is not connected."""

    def press_key(self, row: int, column: int) -> None:
        if column != 3:
            super().press_key(row, column)


def test_a_dead_lamp_is_named_with_its_pin() -> None:
    record = Bench(hands=DeadLamp).walk()
    assert not_passed(record.results) == {
        "lamp 3": "Lamp 3 stays dark: replace the lamp, then check its wire on GPIO20.",
        "patterns": "Lamps 3 do not show their pattern: replace them, then check the wires.",
    }
    assert record.verdict == "FAIL"


def test_crossed_lamps_are_named_both() -> None:
    wrong = not_passed(Bench(hands=CrossedLamps).walk().results)
    assert wrong["lamp 3"] == "Lamp 4 lit instead: are the wires of lamps 3 and 4 swapped?"
    assert wrong["lamp 4"] == "Lamp 3 lit instead: are the wires of lamps 4 and 3 swapped?"
    assert set(wrong) == {"lamp 3", "lamp 4", "patterns"}


def test_a_lamp_that_lights_beside_another_is_named() -> None:
    wrong = not_passed(Bench(hands=LeakyLamp).walk().results)
    assert wrong["lamp 1"].startswith("Lamp 2 lit as well")
    assert "lamp 2" not in wrong


def test_a_silent_buzzer_fails() -> None:
    wrong = not_passed(Bench(hands=Silent).walk().results)
    assert list(wrong) == ["buzzer"]
    assert "GPIO26" in wrong["buzzer"]


def test_swapped_sensors_are_named_both_and_nothing_else_is() -> None:
    wrong = not_passed(Bench(hands=SwappedSensors).part(check_sensors))
    assert wrong == {
        "seat 3": "seat 4 moved instead: are the wires of seat 3 and seat 4 swapped?",
        "seat 4": "seat 3 moved instead: are the wires of seat 4 and seat 3 swapped?",
    }


def test_swapped_spots_of_one_seat_are_named_by_their_amounts() -> None:
    class SwappedSpots(Rewired):
        WIRES: Mapping[Line, Line] = {
            sensor(2, 0): sensor(2, 1),
            sensor(2, 1): sensor(2, 0),
        }

    wrong = not_passed(Bench(two_spots(), hands=SwappedSpots).part(check_sensors))
    assert list(wrong) == ["seat 2 ($1.00 spot)", "seat 2 ($5.00 spot)"]
    assert wrong["seat 2 ($1.00 spot)"].startswith("seat 2 ($5.00 spot) moved instead")


def test_a_sensor_that_moves_along_with_another_is_named() -> None:
    wrong = not_passed(Bench(hands=Shorted).part(check_sensors))
    assert wrong == {"seat 5": "seat 6 moved as well: look for wires that touch near GPIO16."}


def test_a_chattering_sensor_is_named_with_its_edges_and_takes_no_wager() -> None:
    bench = Bench(hands=Chattering)
    seat_2 = bench.part(check_sensors)[1]
    assert seat_2.outcome is Outcome.FAIL
    assert seat_2.says.startswith("It chatters, with more than 30 edges in a second")
    assert int(seat_2.figures["edges"]) > 30


@pytest.mark.parametrize(
    ("hands", "says"),
    [
        (DeadSensor, "Nothing was seen: check the sensor, its plug, and its wire on GPIO5."),
        (StuckSensor, "It reads covered with nothing on it"),
        (DeafSensor, "the sensor of seat 1 changed and no edge came: check its wiring"),
    ],
)
def test_a_sensor_that_is_dead_stuck_or_deaf_is_told_apart(
    hands: type[SimulatedPins], says: str
) -> None:
    wrong = not_passed(Bench(hands=hands).part(check_sensors))
    assert list(wrong) == ["seat 1"]
    assert wrong["seat 1"].startswith(says)


def test_a_sensor_that_keeps_its_chip_is_told() -> None:
    class Sticky(SimulatedPins):
        def drive(self, line: Line, *, active: bool, at_us: int | None = None) -> None:
            super().drive(line, active=active or line == sensor(1), at_us=at_us)

    bench = Bench(hands=Sticky)
    wrong = not_passed(bench.part(check_sensors))
    assert wrong == {"seat 1": "It stays covered: clean the sensor, then check its wire on GPIO5."}


def test_a_chip_left_on_a_sensor_is_asked_for_first() -> None:
    bench = Bench()
    bench.hands.cover(sensor(2))
    assert not_passed(bench.part(check_sensors)) == {}
    assert "Take everything off seat 2." in bench.heard
    assert "Take everything off seat 1." not in bench.heard


def test_a_stuck_key_is_named_and_the_others_wait_for_its_repair() -> None:
    results = Bench(hands=StuckKey).part(check_keys)
    assert not_passed(results) == {
        "no key pressed": "Key 5 reads pressed with no finger on it: free or replace the keypad."
    }
    rest = {each.outcome for each in results[1:]}
    assert rest == {Outcome.SKIPPED}
    assert results[1].says == "key 5 reads pressed all the time"


def test_a_key_that_gets_stuck_while_it_is_tested_is_named() -> None:
    class Sticky(StuckKey):
        def __init__(self, hardware: Hardware, now_us: Callable[[], int]) -> None:
            SimulatedPins.__init__(self, hardware, now_us)

    results = Bench(hands=Sticky).part(check_keys)
    assert not_passed(results) == {"key 5": "It stays pressed: free or replace the keypad."}


def test_swapped_rows_of_the_keypad_show_what_came_instead() -> None:
    wrong = not_passed(Bench(hands=SwappedRows).part(check_keys))
    assert list(wrong) == [
        "key 1",
        "key 2",
        "key 3",
        "key WIN",
        "key 4",
        "key 5",
        "key 6",
        "key TIE",
    ]
    assert wrong["key 1"].startswith("4 came instead")
    assert "GPIO14 and GPIO9" in wrong["key 1"]


def test_keys_that_are_never_seen_are_named_with_their_two_wires() -> None:
    wrong = not_passed(Bench(hands=DeadColumn).part(check_keys))
    assert list(wrong) == ["key WIN", "key TIE", "key FLOOR", "key MENU"]
    assert wrong["key MENU"] == "It was not seen: check the keypad's wires on GPIO25 and GPIO27."


def test_two_keys_of_which_one_is_dead_are_never_seen_together() -> None:
    class NoTwo(SimulatedPins):
        def press_key(self, row: int, column: int) -> None:
            if (row, column) != (0, 1):
                super().press_key(row, column)

    wrong = not_passed(Bench(hands=NoTwo).part(check_keys))
    assert list(wrong) == ["key 2", "two keys at once"]
    assert wrong["two keys at once"] == "The two keys were never seen down together."


class Clumsy(SimulatedTechnician):
    """Presses two keys at once as people do: one after the other."""

    def told(self, task: Task) -> None:
        super().told(replace(task, deeds=()) if isinstance(task.deeds[0], Together) else task)
        if isinstance(task.deeds[0], Together):
            first, second = (self._places[name] for name in task.deeds[0].names)
            now_us = self.now.us
            self._later(now_us + 100_000, partial(self.hands.press_key, *first))
            self._later(now_us + 150_000, partial(self.hands.press_key, *second))
            self._later(now_us + 250_000, partial(self.hands.release_key, *first))
            self._later(now_us + 250_000, partial(self.hands.release_key, *second))


def test_two_keys_that_came_one_after_the_other_are_asked_for_again() -> None:
    bench = Bench(who=Clumsy)
    wrong = not_passed(bench.part(check_keys))
    assert wrong == {
        "two keys at once": "The keys came one after the other: use the edge of a ruler."
    }
    assert bench.heard.count("once more, please") == 3


def test_a_keypad_that_makes_a_press_of_two_keys_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Naive(Keypad):
        """Takes the last of several keys for the one that was meant."""

        def scan(self, closed: frozenset[tuple[int, int]], *, at_us: int) -> str | None:
            pressed = super().scan(closed, at_us=at_us)
            both = len(closed) > 1 and self._equal == EQUAL_SCANS
            return self._name(max(closed)) if both else pressed

    monkeypatch.setattr("controller.selftest.rig.Keypad", Naive)
    wrong = not_passed(Bench().part(check_keys))
    assert wrong == {"two keys at once": "2 came: replace the keypad, whose keys touch."}


def test_swapped_buttons_are_named_by_what_came() -> None:
    wrong = not_passed(Bench(hands=SwappedButtons).part(check_buttons))
    assert wrong["LOCK"] == ("END came instead: are the wires swapped? This one belongs on GPIO4.")
    assert wrong["END"].startswith("LOCK came instead")


def test_a_lock_button_without_edges_is_told_from_one_without_a_wire() -> None:
    assert not_passed(Bench(hands=DeafLock).part(check_buttons)) == {
        "LOCK": "LOCK was pressed and no edge was told, so it could lock nothing: restart the"
        " unit; if it stays so, replace the unit."
    }

    class NoLock(Stuck):
        LINES = ((LOCK, False),)

    assert not_passed(Bench(hands=NoLock).part(check_buttons)) == {
        "LOCK": "Nothing came: check the LOCK and its wire on GPIO4."
    }


def test_a_button_that_hangs_is_no_press() -> None:
    wrong = not_passed(Bench(hands=HeldLock).part(check_buttons))
    assert wrong["LOCK"].startswith("It reads pressed with nobody at it")


def test_a_cut_door_wire_reads_as_an_open_door_and_fails() -> None:
    wrong = not_passed(Bench(hands=CutDoor).part(check_door))
    assert wrong == {"door": "Nothing came: check the door and its wire on R5C2."}


def test_a_door_that_stands_open_and_a_key_that_is_on_are_first_shut_and_off() -> None:
    bench = Bench()
    bench.hands.drive(DOOR, active=True)
    bench.hands.drive(FLOOR_KEY, active=True)
    assert not_passed(bench.part(check_door)) == {}
    assert bench.heard.count("Close the cabinet door.") == 2
    fresh = Bench()
    fresh.hands.drive(FLOOR_KEY, active=True)
    assert not_passed(fresh.part(check_buttons)) == {}
    assert fresh.heard.count("Turn the floor key off.") == 2


def test_a_dead_drop_slot_fails_where_it_counts_and_a_missing_one_is_refused_before() -> None:
    file = table_file("md-uth-b", ready_map="expander-6", count="sensor")
    assert not_passed(Bench(file, hands=DeadSlot).part(check_buttons)) == {
        "drop slot": "Nothing came: check the drop slot and its wire on GPIO18."
    }
    with pytest.raises(BadInput, match="without a drop slot"):
        table_file("md-uth-b", ready_map="header-6", count="sensor")


def test_a_spike_of_lock_is_told_although_the_press_came() -> None:
    class Spiky(SimulatedPins):
        """Wherever the LOCK button moves, it makes a spike a little earlier."""

        def bounce(self, line: Line, **how: Any) -> Plan:
            plan = super().bounce(line, **how)
            if line == LOCK and how["active"]:
                late = tuple((at_us + 200_000, active) for at_us, active in plan)
                return ((plan[0][0] - 100, True), (plan[0][0] - 50, False), *late)
            return plan

    wrong = not_passed(Bench(hands=Spiky).part(check_buttons))
    assert wrong["LOCK"].startswith("the LOCK button made a spike")


def test_switches_that_are_not_wired_are_no_failure() -> None:
    bench = Bench()
    lines = tuple(each for each in bench.hardware.lines if each[0] not in (DOOR, BUZZER))
    bench.hardware = rewired(bench.hardware, lines=lines)
    bench.tess = SimulatedTechnician(bench.hardware, say=bench.said.append)
    results = bench.walk().results
    absent = [each.name for each in results if each.outcome is Outcome.NOT_FITTED]
    assert absent == ["expanders answer", "door", "buzzer"]
    assert not_passed(results) == {}


def test_a_keypad_that_goes_dead_while_a_switch_is_tested_is_what_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class NoLock(Stuck):
        LINES = ((LOCK, False),)

    def dead(_pins: Pins) -> frozenset[tuple[int, int]]:
        raise Fault("The keypad cannot be scanned.")

    monkeypatch.setattr(Pins, "closed_keys", dead)
    wrong = not_passed(Bench(hands=NoLock).part(check_buttons))
    assert wrong["LOCK"] == "The keypad cannot be scanned."


def test_inputs_that_came_too_fast_are_looked_at_anew() -> None:
    bench = Bench()
    rig = Rig(bench.tess.gear(), bench.file.settings)
    rig.begin()
    bench.hands.cover(sensor(4))
    rig._inbox.lost += 1
    for _ in range(50):
        rig.turn()
    assert [chip.seat for chip in rig.desk.chips()] == [4]
    rig.pins.close()


# Displays.


class Unplugged(noop):  # type: ignore[misc]  # luma has no types
    """A bus on which no display answers."""

    def command(self, *_bytes: int) -> None:
        raise OSError(121, "Remote I/O error")

    data = command


def dead_glass() -> Glass:
    wire = Wire()
    device = dummy(width=128, height=64, mode="1", serial_interface=wire)
    device.hide = wire.command  # a panel is spoken to before it is drawn on
    wire.stop_noting()
    return Glass(device, wire, Unplugged, "0x3c on bus 1", "I2C bus 1")


class Dark(Glass):
    """A panel that answers and stays dark: what is drawn on it nobody sees."""

    def __init__(self) -> None:
        wire = Wire()
        device = dummy(width=128, height=64, mode="1", serial_interface=wire)
        wire.stop_noting()
        super().__init__(device, wire, noop, "memory", "memory")

    def draw(self, image: Any, *, again: bool = False) -> None:
        super().draw(image, again=again)
        self.image = None


def test_a_display_that_does_not_answer_is_named_with_its_address() -> None:
    glasses: dict[Name, Glass] = {"dealer": dead_glass(), "meter": dummy_glass((128, 64))}
    wrong = not_passed(Bench(glasses=glasses).walk().results)
    says = "no answer at 0x3c on bus 1: check its cable."
    assert wrong == {"dealer display answers": f"dealer display: {says}", "dealer display": says}


def test_a_display_that_answers_and_stays_dark_is_named() -> None:
    glasses: dict[Name, Glass] = {"dealer": dummy_glass((128, 64)), "meter": Dark()}
    wrong = not_passed(Bench(glasses=glasses).walk().results)
    assert list(wrong) == ["meter display"]
    assert "[displays.meter] driver" in wrong["meter display"]


def test_a_display_that_is_not_wired_is_no_failure() -> None:
    record = Bench(glasses={"dealer": dummy_glass((128, 64))}).walk()
    absent = [each.name for each in record.results if each.outcome is Outcome.NOT_FITTED]
    assert absent == ["expanders answer", "meter display answers", "meter display"]
    assert record.is_passed


@pytest.mark.parametrize("size", [(128, 64), (256, 64)])
def test_the_test_picture_reaches_every_edge_of_the_glass(size: tuple[int, int]) -> None:
    frame, (width, height) = pattern_frame(size, "TEST METER"), size
    edge = [(x, y) for x in range(width) for y in (0, height - 1)]
    edge += [(x, y) for y in range(height) for x in (0, width - 1)]
    assert all(frame.getpixel(place) for place in edge)
    words = frame.crop((width // 5, 1, width - width // 5, height - 1))
    assert words.getbbox() is not None


# The coin test.


@pytest.mark.requirement(97)
def test_the_coin_test_proves_each_seat_and_each_meter_to_the_micro_cent() -> None:
    meters: dict[str, object] = {"meter": {"rate": "0.142857", "reserve_rate": "0.050001"}}
    results = Bench(table_file(meters=meters), each_seat=True).coin_test()
    assert not_passed(results) == {}
    assert [each.name for each in results] == [
        "all seats, $1.00",
        *(f"seat {seat} alone" for seat in range(1, 7)),
    ]
    assert dict(results[0].figures) == {"meter": "+0.85714200", "meter_reserve": "+0.30000600"}
    assert dict(results[6].figures) == {"meter": "+0.14285700", "meter_reserve": "+0.05000100"}


def test_every_level_of_a_paytable_and_both_spots_are_proved() -> None:
    several = Bench(table_file("sd-uthp-01", ready_map="expander-6")).coin_test()
    assert len(several[0].figures) >= 2
    both = Bench(two_spots()).coin_test()
    assert [each.name for each in both] == ["all seats, $1.00", "all seats, $5.00"]
    assert both[1].figures["meter"] == "+3.00000000"  # three wagers of $5 at 20 %


@pytest.mark.requirement(97)
def test_a_meter_that_is_off_by_one_micro_cent_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def short(meter: Meter, wagered: Money) -> tuple[Posting, ...]:
        first, *rest = contribute(meter, wagered)
        return (Posting(first.meter, first.source, first.target, first.amount - Money(1)), *rest)

    monkeypatch.setattr(rounds, "contribute", short)
    wrong = not_passed(Bench().coin_test())
    assert wrong == {
        "all seats, $1.00": "Meter meter stands at 10001.19999999 (reserve 0.30000000, overflow"
        " 0.00000000) and not at 10001.20000000 (reserve 0.30000000, overflow 0.00000000): take"
        " the table out of service and report this."
    }


MONEY = st.integers(0, 10**13).map(Money)


@given(
    start=MONEY,
    limit=st.none() | MONEY,
    overflow=st.sampled_from(Overflow),
    rate_ppm=st.integers(0, 600_000),
    reserve_ppm=st.integers(0, 400_000),
    cents=st.integers(0, 100_000),
)
def test_what_a_meter_must_gain_is_what_the_table_gives_it(
    start: Money,
    limit: Money | None,
    overflow: Overflow,
    rate_ppm: int,
    reserve_ppm: int,
    cents: int,
) -> None:
    wagered = Money(cents * 1_000_000)
    rules: MeterParameters = parameters(
        rate_ppm=rate_ppm, reserve_rate_ppm=reserve_ppm, limit=limit, overflow=overflow
    )
    meter = post(Meter(rules), [Posting("meter", Account.INITIAL, Account.CURRENT, start)])
    after = post(meter, contribute(meter, wagered))
    found = (after.current.ucents, after.reserve.ucents, after.overflow.ucents)
    assert expected(rules, (start.ucents, 0, 0), wagered.ucents) == found


def test_a_seat_that_is_not_seen_is_named_before_lock() -> None:
    wrong = not_passed(Bench(hands=DeadSensor).coin_test())
    assert wrong == {
        "all seats, $1.00": "No chip is seen at seat 1: see what the sensor test says of it."
    }


def test_a_seat_that_stays_covered_is_named_before_the_first_chip() -> None:
    wrong = not_passed(Bench(hands=StuckSensor).coin_test())
    assert wrong == {
        "all seats, $1.00": "Seat 1 reads covered: see what the sensor test says of it."
    }


def test_a_chip_from_before_the_coin_test_has_to_go_first() -> None:
    bench = Bench()
    bench.hands.cover(sensor(2))
    assert not_passed(bench.coin_test()) == {}
    assert "Take everything off the sensors." in bench.heard


class TooMany(SimulatedTechnician):
    """Lays a second chip where none was asked for."""

    def told(self, task: Task) -> None:
        super().told(task)
        if "chip on seat 1" in task.text:
            self.hands.cover(sensor(2))


def test_a_snapshot_with_a_seat_too_many_fails() -> None:
    results = Bench(each_seat=True, who=TooMany).coin_test()
    assert not_passed(results) == {
        "seat 1 alone": "The snapshot at LOCK is wrong: missing seats: none; seats too many: 2."
    }
    assert len(results) == 2  # the rest waits for the repair


def test_the_coin_test_says_why_a_key_did_nothing() -> None:
    bench = Bench(hands=CutDoor)
    wrong = not_passed(bench.coin_test())
    says = "The cabinet door is open; close it before betting is locked."
    assert wrong == {"all seats, $1.00": f"LOCK did nothing. {says}"}
    assert f"The table says: {says}" in bench.heard


def test_a_count_that_cannot_be_keyed_fails() -> None:
    class NoEnter(SimulatedPins):
        def press_key(self, row: int, column: int) -> None:
            if (row, column) != (3, 2):
                super().press_key(row, column)

    wrong = not_passed(Bench(hands=NoEnter).coin_test())
    assert wrong == {"all seats, $1.00": "The count was not proved: the table is locked."}


def test_a_dead_end_button_fails_the_round_after_its_proof() -> None:
    class NoEnd(Stuck):
        LINES = ((END, False),)

    wrong = not_passed(Bench(hands=NoEnd).coin_test())
    assert wrong == {"all seats, $1.00": "END did nothing."}


def test_a_program_that_is_not_approved_fails_and_plays_no_round() -> None:
    record = Bench(table_file(software="0" * 64)).walk()
    wrong = not_passed(record.results)
    assert set(wrong) == {"approved program", "start"}
    assert "approves " + "0" * 64 in wrong["approved program"]
    assert names(record.results, "coin test") == ["start"]


def test_the_approved_program_passes() -> None:
    record = Bench(table_file(software=digest())).walk()
    assert record.is_passed
    assert record.results[0] == passed("facts", "approved program")


def test_a_ledger_that_fails_fails_the_coin_test_and_says_why() -> None:
    bench = Bench()

    def full() -> OpenLedger:
        ledger = FakeLedger()
        ledger.disk_fault = "the disk is full"
        return lambda: ledger

    bench.coins = Coins(full, each_seat=False)
    assert not_passed(bench.coin_test()) == {"all seats, $1.00": "the disk is full"}


# The technician.


class Repairs(SimulatedTechnician):
    """Puts things right when asked whether to try again."""

    def told(self, task: Task) -> None:
        super().told(task)
        if isinstance(task.deeds[0], GoOn):
            self.hands.unstick(sensor(1))
            self._judge = lambda: "y"


def test_what_was_repaired_on_the_spot_passes_with_its_tries() -> None:
    results = Bench(hands=DeadSensor, who=Repairs).part(check_sensors)
    assert not_passed(results) == {}
    assert results[0].figures["tries"] == 2
    assert "tries" not in results[1].figures


def test_a_coin_test_that_is_tried_again_begins_with_a_new_ledger() -> None:
    bench = Bench(hands=DeadSensor, who=Repairs)
    opened: list[OpenLedger] = []

    def watched() -> OpenLedger:
        opened.append(new_ledger())
        return opened[-1]

    bench.coins = Coins(watched, each_seat=False)
    results = bench.coin_test()
    assert not_passed(results) == {}
    assert len(opened) == 2
    assert [each.name for each in results] == ["all seats, $1.00"]


class Answers(SimulatedTechnician):
    """Answers questions from a list, and tells nothing of what he sees."""

    script: list[str]

    def told(self, task: Task) -> None:
        super().told(task)
        if task.is_question:
            self._judge, self._judge_us = (lambda: self.script.pop(0)), self.now.us
        elif self.script and self.script[0] == "skip":
            self._judge, self._judge_us = (lambda: "s"), self.now.us

    def news(self, text: str) -> None:
        super().news(text)
        if text.startswith("Please answer"):
            self._judge = lambda: self.script.pop(0)


def answering(*script: str) -> type[SimulatedTechnician]:
    return type("Scripted", (Answers,), {"script": [*script]})


def lamps_only(bench: Bench) -> list[Result]:
    return bench.part(walking.PARTS["lamps"])


def test_a_lamp_can_be_shown_again_and_an_odd_answer_is_no_answer() -> None:
    bench = Bench(table_file(seats=5), who=answering("r", "maybe", *"yyyyyy"))
    results = lamps_only(bench)
    assert {each.outcome for each in results} == {Outcome.PASS}
    assert bench.heard.count("Did lamp 1 alone light?") == 2
    assert "Please answer y or n or r or s." in bench.heard


def test_a_wrong_lamp_is_named_by_a_number_that_exists() -> None:
    bench = Bench(table_file(seats=5), who=answering("n", "9", "two", "", "1", "n", *"yyyyy"))
    results = lamps_only(bench)
    assert list(not_passed(results)) == ["lamp 1"]
    assert bench.heard.count("Which lamps are wrong?") == 4


def test_what_was_skipped_was_not_tested_so_the_table_has_not_passed() -> None:
    bench = Bench(table_file(seats=5), who=answering("s", *"yyyyy"))
    results = lamps_only(bench)
    assert [each.outcome for each in results[:2]] == [Outcome.SKIPPED, Outcome.PASS]
    record = Record({}, tuple(results), simulated=False)
    assert record.verdict == "FAIL"
    assert "1 of 6 checks not passed: lamp 1" in record.as_text()


@pytest.mark.parametrize("part", ["sensors", "keypad", "buttons", "door"])
def test_every_deed_can_be_skipped(part: str) -> None:
    results = Bench(who=answering("skip")).part(walking.PARTS[part])
    outcomes = [each.outcome for each in results if each.name != "no key pressed"]
    assert set(outcomes) == {Outcome.SKIPPED}


@pytest.mark.parametrize("part", ["displays", "buzzer"])
def test_every_question_can_be_skipped_or_put_again(part: str) -> None:
    results = Bench(who=answering("r", *"ss")).part(walking.PARTS[part])
    assert {each.outcome for each in results} == {Outcome.SKIPPED}


def test_a_coin_test_can_be_skipped() -> None:
    results = Bench(who=answering("skip"), each_seat=True).coin_test()
    assert [each.outcome for each in results] == [Outcome.SKIPPED]


@pytest.mark.parametrize("gone", [EOFError, KeyboardInterrupt])
def test_a_technician_who_leaves_leaves_a_record_that_failed_and_a_dark_table(
    gone: type[BaseException],
) -> None:
    class Leaves(SimulatedTechnician):
        def answer(self) -> str | None:
            if any("Cover the sensor of seat 2" in line for line in bench.said):
                raise gone
            return super().answer()

    bench = Bench(who=Leaves)
    record = bench.walk()
    assert not_passed(record.results) == {"stopped": walking.STOPPED}
    assert names(record.results, "sensors") == ["seat 1", "stopped"]
    assert not any(
        bench.hands.lit(line) for line in bench.hands._pin_of if line.kind is LineKind.LAMP
    )


# Pins and expanders.


def test_pins_that_cannot_be_opened_are_the_whole_record() -> None:
    bench = Bench()

    def busy() -> Gear:
        raise Fault("GPIO5 cannot be claimed: stop whatever else uses it.")

    order = Order(bench.file, bench.hardware, "Tess", DATE, bench.coins, simulated=False)
    record = Walk(order, bench.tess).run(busy)
    assert not_passed(record.results) == {
        "pins": "GPIO5 cannot be claimed: stop whatever else uses it. Nothing else could be tested."
    }
    assert record.facts["table"] == "T07"


def test_pins_that_cannot_be_read_end_it_early_and_let_everything_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dead(_pins: Pins, _lines: object) -> dict[Line, bool]:
        raise Fault("The pins cannot be read.")

    monkeypatch.setattr(Pins, "levels", dead)
    assert not_passed(Bench().walk().results) == {"pins": "The pins cannot be read."}


def test_a_part_that_fails_as_a_whole_does_not_keep_the_next_from_being_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dead(_pins: Pins) -> frozenset[tuple[int, int]]:
        raise Fault("The keypad cannot be scanned.")

    def broken(session: Session) -> Iterator[Result]:
        monkeypatch.setattr(Pins, "closed_keys", dead)
        yield from check_keys(session)

    def mended(session: Session) -> Iterator[Result]:
        monkeypatch.undo()
        session.pause(2_000_000)  # the scanner rests after trouble
        yield from check_buttons(session)

    parts = {"keypad": broken, "buttons": mended}
    with monkeypatch.context() as patch:
        patch.setattr(walking, "PARTS", parts)
        results = Bench().walk().results
    assert not_passed(results) == {"keypad": "The keypad cannot be scanned."}
    assert names(results, "buttons") == ["LOCK", "END", "floor key"]


class OnExpander:
    """Sensors on simulated header pins, lamps and keypad on expanders that can be pulled out."""

    def __init__(self) -> None:
        hardware = ready("expander-10")
        self.chips = (FakeChip(), FakeChip())
        bus = FakeBus(at_20=self.chips[0], at_21=self.chips[1])
        self.tess = SimulatedTechnician(hardware, say=lambda _text: None)
        gear = Gear(
            pins=Pins(hardware, self.tess.hands, expander_bus=lambda _number: bus),
            hardware=hardware,
            glasses={},
            wait=self.tess.wait,
            clock=self.tess.now,
            simulated=False,
        )
        self.rig = Rig(gear, table_file("ca-texas-holdem", ready_map="expander-10").settings)
        self.rig.begin()

    def check(self) -> Result:
        return next(check_answers(Session(self.rig, self.tess)))


@contextmanager
def ten() -> Iterator[OnExpander]:
    bench = OnExpander()
    try:
        yield bench
    finally:
        bench.rig.pins.close()


def test_expanders_that_answer_are_named_with_their_addresses() -> None:
    with ten() as bench:
        assert bench.check() == passed("facts", "expanders answer", found="X1 at 0x20, X2 at 0x21")


def test_an_expander_that_is_gone_or_forgot_its_settings_is_named() -> None:
    with ten() as bench:
        bench.chips[1].unplug()
        gone = bench.check()
        assert gone.outcome is Outcome.FAIL
        assert "X2" in gone.says
        bench.chips[1].replug()
        assert bench.check() == failed(
            "facts",
            "expanders answer",
            "X2 had lost its settings: check its supply and its reset wire.",
        )
        assert bench.check().outcome is Outcome.PASS


def test_lamps_that_cannot_be_switched_fail_without_a_question() -> None:
    with ten() as bench:
        bench.chips[0].unplug()
        first = next(walking.PARTS["lamps"](Session(bench.rig, bench.tess)))
    assert first.outcome is Outcome.FAIL
    assert "lamp cannot be switched" in first.says or "X1" in first.says


# The terminal.


class Pipe:
    """A terminal at the end of a pipe."""

    def __init__(self) -> None:
        self.out = StringIO()
        self._read, self._write = os.pipe()
        self.terminal = Terminal(self._read, self.out)

    def type(self, text: str) -> None:
        os.write(self._write, text.encode())

    def hang_up(self) -> None:
        os.close(self._write)
        self._write = -1

    def close(self) -> None:
        os.close(self._read)
        if self._write >= 0:
            os.close(self._write)


@pytest.fixture
def line() -> Iterator[Pipe]:
    line = Pipe()
    yield line
    line.close()


QUESTION = Task("Did lamp 3 alone light? [y/n/r/s]", (GoOn(),), ("y", "n", "r", "s"))


def test_what_was_typed_before_a_question_does_not_answer_it(line: Pipe) -> None:
    line.type("y\ny\nn")
    line.terminal.told(QUESTION)
    assert line.terminal.answer() is None
    line.type("Y \n")
    assert line.terminal.answer() == "y"
    assert line.terminal.answer() is None
    assert line.out.getvalue() == "\nDid lamp 3 alone light? [y/n/r/s] "


def test_half_a_line_is_no_answer_yet(line: Pipe) -> None:
    line.terminal.told(QUESTION)
    line.type("n")
    assert line.terminal.answer() is None
    line.type("\r\n")
    assert line.terminal.answer() == "n"


def test_a_closed_terminal_is_told_after_its_last_line(line: Pipe) -> None:
    line.terminal.told(QUESTION)
    line.type("s\n")
    line.hang_up()
    assert line.terminal.answer() == "s"
    with pytest.raises(EOFError):
        line.terminal.answer()


def test_a_line_that_is_cut_ends_the_test_and_raises_nothing_while_it_writes(line: Pipe) -> None:
    def cut(_text: str) -> int:
        raise OSError(5, "Input/output error")

    line.out.write = cut  # type: ignore[method-assign]
    line.terminal.news("PASS")
    with pytest.raises(EOFError):
        line.terminal.answer()


def test_the_name_is_asked_until_there_is_one(line: Pipe) -> None:
    line.type("\n  \nTess Turner\n")
    assert line.terminal.name() == "Tess Turner"
    assert line.out.getvalue().count("Who runs this self-test?") == 3


def test_nobody_at_the_terminal_is_bad_input(line: Pipe) -> None:
    line.hang_up()
    with pytest.raises(BadInput, match="--by NAME"):
        line.terminal.name()


def test_a_whole_test_is_led_through_a_terminal(line: Pipe) -> None:
    """The deeds are simulated; the words go through the pipe, as over ssh."""
    bench = Bench(hands=DeadLamp)

    class Typist:
        def told(self, task: Task) -> None:
            line.terminal.told(task)
            bench.tess.told(task)

        def answer(self) -> str | None:
            answer = bench.tess.answer()
            if answer is not None:
                line.type(f"{answer}\n")
            return line.terminal.answer()

        def news(self, text: str) -> None:
            line.terminal.news(text)

    record = bench.walk(Typist())
    assert set(not_passed(record.results)) == {"lamp 3", "patterns"}
    shown = line.out.getvalue()
    assert "Did lamp 3 alone light? [y/n/r/s]" in shown
    assert "FAIL        lamp 3" in shown
    assert "Press LOCK and let go. [s = skip]\n" in shown


# The record.


def test_the_record_reads_the_same_as_text_and_as_json() -> None:
    results = (
        passed("lamps", "lamp 1", pin="GPIO18"),
        failed("lamps", "lamp 2", "Lamp 2 stays dark: replace it.", pin="GPIO19", tries=2),
        skipped("door", "door"),
    )
    record = Record({"table": "T07", "by": "Tess"}, results, simulated=False)
    text = record.as_text()
    assert "table           T07\n" in text
    assert "  PASS        lamp 1                        pin GPIO18\n" in text
    assert "  FAIL        lamp 2                        pin GPIO19  tries 2\n" in text
    assert "              Lamp 2 stays dark: replace it.\n" in text
    assert "RESULT          FAIL: 2 of 3 checks not passed: lamp 2, door\n" in text
    assert "SIMULATED" not in text
    document = json.loads(record.as_json())
    assert (document["result"], document["simulated"]) == ("FAIL", False)
    assert document["facts"] == {"table": "T07", "by": "Tess"}
    assert document["checks"][1] == {
        "part": "lamps",
        "name": "lamp 2",
        "result": "fail",
        "says": "Lamp 2 stays dark: replace it.",
        "figures": {"pin": "GPIO19", "tries": 2},
    }


def test_a_simulated_record_says_so_in_its_first_line() -> None:
    record = Record({}, (passed("lamps", "lamp 1"),), simulated=True)
    assert record.as_text().splitlines()[0].endswith("(SIMULATED: no real wire was tested)")
    assert json.loads(record.as_json())["simulated"] is True


def test_the_simulated_eye_tells_every_pattern_from_every_other() -> None:
    for shown in Lamp:
        for asked in Lamp:
            bench = Bench()
            rig = Rig(bench.tess.gear(), bench.file.settings)
            rig.begin()
            rig.desk.light({1: shown, 2: Lamp.SEEN})  # a blinking one, so that he looks long
            task = Task("?", (LookAtLamps({1: asked, 2: Lamp.SEEN}),), ("y", "n"))
            assert Session(rig, bench.tess).ask(task) == ("y" if shown is asked else "n")
            rig.pins.close()
