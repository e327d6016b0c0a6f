"""The dealer's desk: raw edges and scans in, what people did out; lamps and buzzer the other way.

Everything here runs in the thread that owns the state. It is the Board of the table's unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from controller.domain.errors import Fault
from controller.domain.money import Money
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
)
from controller.inputs import (
    ChipDropped,
    ChipsMoved,
    DoorSwitched,
    EndPressed,
    Input,
    KeyPressed,
    KeySwitched,
    LockPressed,
    LockUnheard,
    Odd,
)
from controller.ports import Chip, Sound
from firmware.inbox import Edge, Failure, Key, Seen, Sweep, Trouble
from firmware.keys import Button, Drops, LockButton
from firmware.patterns import BEEP_MS, lit, sounds
from firmware.pins import Pins
from firmware.presence import Presence

FORGET_AFTER_US: Final = 10_000_000
RESTORE_EVERY_US: Final = 2_000_000

_SAYS: Final[Mapping[Line, Callable[[bool], tuple[Input, ...]]]] = {
    END: lambda active: (EndPressed(),) if active else (),
    FLOOR_KEY: lambda active: (KeySwitched(active),),
    DOOR: lambda active: (DoorSwitched(active),),
}


class Desk:
    """One table's sensors, buttons, lamps and buzzer."""

    def __init__(self, pins: Pins, hardware: Hardware, wagers: tuple[Money, ...]) -> None:
        self._pins, self._wagers, self._timing = pins, wagers, hardware.timing
        lines = {line for line, _ in hardware.lines}
        self._sensors = tuple(sorted(each for each in lines if each.kind is LineKind.SENSOR))
        self._switches = tuple(line for line in _SAYS if line in lines)
        others = tuple(line for line in (LOCK, DROP) if line in lines)
        self.inputs = (*self._sensors, *self._switches, *others)
        self._seats = tuple(sorted(line.seat for line in lines if line.kind is LineKind.LAMP))
        self._has_buzzer = BUZZER in lines
        self._lamps: dict[int, Lamp] = {}
        self._testing = False
        self._sound, self._beep_until_us = Sound.SILENT, 0
        self._on: dict[Line, bool] = {}  # what the pins were told last
        self._read_fault = self._write_fault = ""
        self._restore_us = 0

    def begin(self, levels: Mapping[Line, bool]) -> None:
        """Take the levels as they stand. What was held down through a power cut is no press."""
        bounce_ms = self._timing.bounce_ms
        self._presence: Presence[Line] = Presence(self._sensors, self._timing)
        self._presence.resync(self._of_sensors(levels), at_us=self.now_us())
        self._lock = LockButton(bounce_ms=bounce_ms)
        self._buttons = {
            line: Button(active=levels[line], bounce_ms=bounce_ms, late_ms=bounce_ms)
            for line in self._switches
        }
        self._drops = Drops(late_ms=bounce_ms)
        self._counted: dict[str, int] = {}

    def _of_sensors(self, levels: Mapping[Line, bool]) -> dict[Line, bool]:
        return {line: levels[line] for line in self._sensors}

    def fail(self, what: str) -> None:
        """The pins cannot be read; the next sweep that can be says it is over."""
        self._read_fault = what

    def resync(self) -> None:
        """Inputs were lost: what lies on the sensors has to settle anew."""
        self._presence.resync(self._pins.levels(self._sensors), at_us=self.now_us())

    # What people did.

    def take(self, seen: Seen) -> Iterator[Input]:
        """What one edge, key, sweep or failure amounts to."""
        match seen:
            case Edge():
                yield from self._edge(seen)
            case Key():
                yield KeyPressed(seen.name)
            case Sweep():
                self._read_fault = ""
                yield from self._sweep(seen.levels, seen.at_us)
            case Trouble():
                yield Odd(seen.what)
            case Failure():
                self.fail(seen.what)

    def _edge(self, edge: Edge) -> Iterator[Input]:
        line = edge.line
        if line.kind is LineKind.SENSOR:
            self._presence.edge(line, covered=edge.active, at_us=edge.at_us)
        elif line == LOCK:
            yield from _pressed(
                self._lock.edge(
                    pressed=edge.active, reads_pressed=self._pins.level(LOCK), at_us=edge.at_us
                )
            )
        elif line == DROP:
            self._drops.edge(blocked=edge.active, at_us=edge.at_us)
        elif line in self._buttons:
            self._buttons[line].edge(active=edge.active, at_us=edge.at_us)

    def _sweep(self, levels: Mapping[Line, bool], at_us: int) -> Iterator[Input]:
        for line in self._presence.sweep(self._of_sensors(levels), at_us=at_us):
            yield Odd(f"the sensor of seat {line.seat} changed and no edge came: check its wiring")
        if LOCK in levels:
            missed = self._lock.missed
            yield from _pressed(self._lock.sweep(reads_pressed=levels[LOCK], at_us=at_us))
            if self._lock.missed > missed:
                yield LockUnheard()
        for line, button in self._buttons.items():
            for change in button.sweep(active=levels[line], at_us=at_us):
                yield from _SAYS[line](change.active)
        if DROP in levels:
            chips = self._drops.sweep(blocked=levels[DROP], at_us=at_us)
            yield from (ChipDropped() for _ in range(chips))
        yield from self._oddities()
        yield ChipsMoved()

    def _oddities(self) -> Iterator[Input]:
        """What sensors should not do, told once each."""
        together = self._presence.together()
        if together:
            level = "covered" if together[0].covered else "uncovered"
            yield Odd(f"all sensors were {level} within 5 ms: look for static or a bad supply")
        tardy = self._presence.tardy()
        if tardy:
            seats = " ".join(str(seat) for seat in sorted({edge.sensor.seat for edge in tardy}))
            yield Odd(f"{len(tardy)} edges of seat {seats} were told too late to be judged by")
        for what, count in self._counts().items():
            if count > self._counted.get(what, 0):
                yield Odd(what)
            self._counted[what] = count

    def _counts(self) -> dict[str, int]:
        """How often each of these has happened since the start."""
        return {
            "the LOCK button made a spike: check its wiring": self._lock.noise,
            "something unlike a chip fell through the drop slot": self._drops.odd,
            "the drop slot is jammed: free it": int(self._drops.jammed),
        }

    def turn(self) -> None:
        """What time alone demands: blinking, and an expander that comes back."""
        now_us = self.now_us()
        self._presence.forget(now_us - FORGET_AFTER_US)
        if now_us >= self._restore_us:
            self._restore_us = now_us + RESTORE_EVERY_US
            self._restore()
        self._switch_lamps(now_us)

    # The board, as the unit sees it.

    def now_us(self) -> int:
        return self._pins.now_us()

    def chips(self, at_us: int | None = None) -> tuple[Chip, ...]:
        """At a time that is past for good, or as of now without the flicker of noise."""
        steady_us = self.now_us() - self._timing.bounce_ms * 1000
        settled = self._presence.settled(steady_us if at_us is None else at_us)
        return tuple(
            Chip(line.seat, self._wagers[line.spot], since_us) for line, since_us in settled.items()
        )

    def doubtful_until_us(self, at_us: int) -> int:
        try:
            levels = self._pins.levels(self._sensors)
        except Fault as fault:
            self.fail(str(fault))
            return self.now_us() + 1  # not before the pins can be read again
        return self._presence.doubtful(at_us, self.now_us(), levels)

    def covered(self) -> tuple[int, ...]:
        return tuple(sorted({line.seat for line in self._presence.covered(self.now_us())}))

    def covered_ms(self, seat: int) -> int:
        now_us = self.now_us()
        since = [us for line, us in self._presence.covered(now_us).items() if line.seat == seat]
        return (now_us - min(since)) // 1000 if since else 0

    def noisy(self) -> tuple[int, ...]:
        return tuple(sorted({line.seat for line in self._presence.chattering(self.now_us())}))

    def edges(self, from_us: int, to_us: int) -> tuple[tuple[int, Money, bool, int], ...]:
        return tuple(
            (edge.sensor.seat, self._wagers[edge.sensor.spot], edge.covered, edge.at_us)
            for edge in self._presence.edges_between(from_us, to_us)
            if not edge.swept
        )

    def faults(self) -> tuple[str, ...]:
        return tuple(fault for fault in (self._read_fault, self._write_fault) if fault)

    def light(self, lamps: Mapping[int, Lamp]) -> None:
        self._lamps = dict(lamps)
        self._switch_lamps(self.now_us())

    def light_out_of_service(self) -> None:
        self._lamps = {
            seat: lamp if lamp is Lamp.ACCEPTED else Lamp.OUT_OF_SERVICE
            for seat, lamp in (dict.fromkeys(self._seats, Lamp.OFF) | self._lamps).items()
        }

    def test_lamps(self, *, on: bool) -> None:
        self._testing = on

    def sound(self, sound: Sound) -> None:
        if sound is Sound.REFUSED:
            self._beep_until_us = self.now_us() + BEEP_MS * 1000
        else:
            self._sound = sound

    def _switch_lamps(self, now_us: int) -> None:
        at_ms = now_us // 1000
        wanted = {
            lamp(seat): self._testing or lit(state, at_ms)
            for seat, state in self._lamps.items()
            if seat in self._seats
        }
        if self._has_buzzer:
            wanted[BUZZER] = now_us < self._beep_until_us or sounds(self._sound, at_ms)
        try:
            for line, on in wanted.items():
                if self._on.get(line) is not on:
                    self._pins.set(line, on)
                    self._on[line] = on
        except Fault as fault:
            self._write_fault = str(fault)

    def _restore(self) -> None:
        """An expander that lost its power forgot everything, and its lamps are switched anew."""
        try:
            forgetful = self._pins.restore()
        except Fault as fault:
            self._write_fault = str(fault)
            return
        if forgetful or self._write_fault:
            self._on.clear()
        self._write_fault = ""


def _pressed(at_us: int | None) -> Iterator[Input]:
    if at_us is not None:
        yield LockPressed(at_us)
