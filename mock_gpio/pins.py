"""Simulated pins: a gpiozero factory for every wire of a table, driven by scripts, tests and pages.

The table's own `firmware` runs on them unchanged. Edges carry the time of the clock handed in. Only
somebody who asks for them gets them: nothing falls back to simulated pins.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any
from weakref import WeakMethod, ref

from gpiozero.exc import PinInvalidPull, PinSetInput
from gpiozero.pins import Factory, Pin

from controller.domain.errors import BadInput, check
from controller.hardware import OUTPUTS, Hardware, Line, closed_when_active, matrix_place
from firmware.pins import PinNames

Plan = tuple[tuple[int, bool], ...]  # edges of one line: when, and whether active then


@dataclass(frozen=True, slots=True)
class Call:
    """One callback: the line, its level after the edge, and the edge's own time."""

    line: Line
    high: bool
    at_us: int


class SimulatedPin(Pin):  # type: ignore[misc]  # gpiozero has no types
    """One pin. As an input it is low while its contact is closed, and high by its pull-up."""

    def __init__(self, info: Any, is_low: Callable[[], bool]) -> None:
        super().__init__()
        self._info = info
        self._is_low = is_low
        self._is_output = False
        self._latch = False
        self._pull = "floating"
        self._handler: Callable[[], Callable[[float, bool], None] | None] | None = None

    def __repr__(self) -> str:
        return str(self._info.name)

    def close(self) -> None:
        self._handler = None
        self._is_output = self._latch = False

    @property
    def lit(self) -> bool:
        return self._is_output and self._latch

    @property
    def pulls_low(self) -> bool:
        return self._is_output and not self._latch

    def tell(self, ticks: float, *, high: bool) -> None:
        """Call whoever watches this input. Like the real pins it holds nobody alive."""
        handler = self._handler() if self._handler else None
        if handler is not None and not self._is_output:
            handler(ticks, high)

    def _get_info(self) -> Any:
        return self._info

    def _get_function(self) -> str:
        return "output" if self._is_output else "input"

    def _set_function(self, value: str) -> None:
        self._is_output = value == "output"

    def _get_state(self) -> bool:
        if self._is_output:
            return self._latch
        # Without its pull-up an open contact floats; low is the reading that would be noticed.
        return self._pull == "up" and not self._is_low()

    def _set_state(self, value: object) -> None:
        if not self._is_output:
            raise PinSetInput(f"{self!r} is an input")
        self._latch = bool(value)

    def _get_pull(self) -> str:
        return self._pull

    def _set_pull(self, value: str) -> None:
        if value not in ("up", "floating"):
            raise PinInvalidPull(f"{self!r} is wired for a pull-up, not for {value}")
        self._pull = value

    def _set_edges(self, value: str) -> None:
        check(value == "both", f"{self!r} reports both edges, not {value}")

    def _get_when_changed(self) -> object:
        return self._handler() if self._handler else None

    def _set_when_changed(self, value: Any) -> None:
        if value is None:
            self._handler = None
        else:
            self._handler = WeakMethod(value) if isinstance(value, MethodType) else ref(value)


class SimulatedPins(Factory):  # type: ignore[misc]  # gpiozero has no types
    """All pins of one table, and the hands that cover sensors and press keys. Any thread may."""

    def __init__(self, hardware: Hardware, now_us: Callable[[], int]) -> None:
        super().__init__()
        self._hardware = hardware
        self._now_us = now_us
        self._lock = threading.RLock()
        self._names = PinNames("The simulated table", dict.fromkeys(_pin_names(hardware)))
        self._pins: dict[str, SimulatedPin] = {}
        self._pin_of = dict(hardware.lines)
        self._active = {line: False for line in self._pin_of if line.kind not in OUTPUTS}
        self._driven = dict(self._active)
        self._stuck: set[Line] = set()
        self._closed: set[str] = set()  # pins whose contact is closed to ground
        self._crossed: set[tuple[int, int]] = set()  # keys and switches that join row and column
        self._held: list[Call] | None = None
        self._to_drop: Counter[Line] = Counter()
        for line in self._active:
            self._join(line)

    def _get_board_info(self) -> PinNames:
        return self._names

    def ticks(self) -> float:
        return self._now_us() / 1_000_000

    def ticks_diff(self, later: float, earlier: float) -> float:
        return later - earlier

    def pin(self, name: str) -> SimulatedPin:
        info = self._names.info(name)
        if name not in self._pins:
            self._pins[name] = SimulatedPin(info, self._low_reader(name))
        return self._pins[name]

    def _low_reader(self, name: str) -> Callable[[], bool]:
        if name not in self._hardware.keypad_columns:
            return lambda: name in self._closed
        column = self._hardware.keypad_columns.index(name)
        return lambda: column in self._low_columns()

    def _low_columns(self) -> set[int]:
        """The columns that keys join to a row driven low, through as many keys as it takes.

        A keypad has no diodes: three keys of a rectangle join the fourth crossing too. Switches on
        rows of their own have one each, so such a row pulls columns low and never the reverse.
        """
        with self._lock:
            rows = set(self._rows_driven_low())
            columns: set[int] = set()
            while found := {column for row, column in self._crossed if row in rows} - columns:
                columns |= found
                joined = {row for row, column in self._crossed if column in columns}
                rows |= {row for row in joined if row < len(self._hardware.keymap)}
            return columns

    def _rows_driven_low(self) -> Iterator[int]:
        for number, name in enumerate(self._hardware.keypad_rows):
            if name in self._pins and self._pins[name].pulls_low:
                yield number

    def lit(self, line: Line) -> bool:
        """Whether a lamp is lit, or the buzzer sounds."""
        name = self._pin_of.get(line)
        if name is None or line in self._active:
            raise BadInput(f"{_called(line)} is no lamp or buzzer of this table")
        return name in self._pins and self._pins[name].lit

    def cover(self, line: Line) -> None:
        self.drive(line, active=True)

    def uncover(self, line: Line) -> None:
        self.drive(line, active=False)

    press, release = cover, uncover

    def drive(self, line: Line, *, active: bool, at_us: int | None = None) -> None:
        """Make a line active or not: now, or as of another time."""
        with self._lock:
            self._driven[self._input(line)] = active
            if line not in self._stuck:
                self._turn(line, active=active, at_us=at_us)

    def press_key(self, row: int, column: int) -> None:
        with self._lock:
            self._crossed.add(self._key(row, column))

    def release_key(self, row: int, column: int) -> None:
        with self._lock:
            self._crossed.discard(self._key(row, column))

    def stick(self, line: Line, *, active: bool) -> None:
        """Let a sensor hang: whatever is done to it, it reads like this."""
        with self._lock:
            self._stuck.add(self._input(line))
            self._turn(line, active=active, at_us=None)

    def unstick(self, line: Line) -> None:
        """Let it read again what has been done to it meanwhile."""
        with self._lock:
            self._stuck.discard(self._input(line))
            self._turn(line, active=self._driven[line], at_us=None)

    def bounce(
        self, line: Line, *, active: bool, seed: int, edges: int = 8, within_us: int = 5_000
    ) -> Plan:
        """The edges of a bouncing contact, from now on, about so many, the last one to `active`."""
        turns = self._active[self._input(line)] != active
        number = edges if edges % 2 == turns else edges + 1
        check(0 < number <= within_us, "a bounce has an edge, and a microsecond for each")
        now_us = self._now_us()
        chance = random.Random(seed)  # noqa: S311 - a test must be able to repeat it
        later = sorted(chance.sample(range(now_us + 1, now_us + within_us), number - 1))
        levels = [active == bool((number - place) % 2) for place in range(number)]
        return tuple(zip([now_us, *later], levels, strict=True))

    def chatter(
        self, line: Line, *, seed: int, edges: int = 100, within_us: int = 1_000_000
    ) -> Plan:
        """The edges of a sensor that cannot make up its mind, back to where it stands now."""
        stands = self._active[self._input(line)]
        return self.bounce(line, active=stands, seed=seed, edges=edges, within_us=within_us)

    def play(self, line: Line, plan: Plan) -> None:
        """Make every edge of a plan at once, each with its own time."""
        for at_us, active in plan:
            self.drive(line, active=active, at_us=at_us)

    def drop_edges(self, line: Line, number: int) -> None:
        """Lose the callbacks of the next so many edges, as a starved machine does."""
        with self._lock:
            self._to_drop[self._input(line)] = number

    def hold_calls(self) -> None:
        """Keep callbacks back from now on. Levels change at once, as on a busy machine."""
        with self._lock:
            self._held = []

    @property
    def held(self) -> tuple[Call, ...]:
        return tuple(self._held or ())

    def deliver(self, order: Sequence[int] | None = None) -> None:
        """Make the held callbacks, with their own times, in this order; hold no more."""
        with self._lock:
            held, self._held = self.held, None
            numbers = range(len(held)) if order is None else order
            check(sorted(numbers) == list(range(len(held))), "each held callback comes once")
            for number in numbers:
                self._call(held[number])

    def power_cut(self) -> None:
        """The unit dies without a goodbye: all claims are gone, all lamps dark. Chips stay."""
        with self._lock:
            self._pins.clear()
            self._reservations.clear()
            self._to_drop.clear()
            self._held = None

    def _turn(self, line: Line, *, active: bool, at_us: int | None) -> None:
        if self._active[line] == active:
            return
        self._active[line] = active
        self._join(line)
        call = Call(
            line,
            high=active != closed_when_active(line),
            at_us=self._now_us() if at_us is None else at_us,
        )
        if self._to_drop[line]:
            self._to_drop[line] -= 1
        elif self._held is None:
            self._call(call)
        else:
            self._held.append(call)

    def _join(self, line: Line) -> None:
        """Open or close the contact of a line as it now stands."""
        name = self._pin_of[line]
        place = matrix_place(name)
        joined = self._active[line] == closed_when_active(line)
        if place is None:
            (self._closed.add if joined else self._closed.discard)(name)
        else:
            (self._crossed.add if joined else self._crossed.discard)(place)

    def _call(self, call: Call) -> None:
        pin = self._pins.get(self._pin_of[call.line])
        if pin is not None:
            pin.tell(call.at_us / 1_000_000, high=call.high)

    def _input(self, line: Line) -> Line:
        if line not in self._active:
            raise BadInput(f"{_called(line)} is no sensor, button or switch of this table")
        return line

    def _key(self, row: int, column: int) -> tuple[int, int]:
        keymap = self._hardware.keymap
        if not (0 <= row < len(keymap) and 0 <= column < len(keymap[row])):
            raise BadInput(f"Row {row}, column {column}, from 0, is no key of this keypad")
        return row, column


def _called(line: Line) -> str:
    return f"{line.kind} {line.seat} spot {line.spot}" if line.seat else str(line.kind)


def _pin_names(hardware: Hardware) -> Iterator[str]:
    """Every pin that somebody may claim; a crossing of the keypad's wires is none."""
    yield from (pin for _, pin in hardware.lines if matrix_place(pin) is None)
    yield from (*hardware.keypad_rows, *hardware.keypad_columns)
    for display in (hardware.dealer_display, hardware.meter_display):
        if display is not None:
            yield from filter(None, (display.data_pin, display.reset_pin))
