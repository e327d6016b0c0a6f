"""The one module of the table unit that talks to gpiozero: every wire claimed once, edges stamped.

Nothing is decided here. Levels are read, raw edges are handed on, lamps are switched. There is no
debouncing: drivers disagree about what it means, so `firmware` does its own on the raw edges.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, Final

from gpiozero import DigitalInputDevice, DigitalOutputDevice, InputDevice, OutputDevice
from gpiozero.exc import GPIOZeroError, PinInvalidPin, PinInvalidPull, PinSetInput
from gpiozero.pins import Factory, Pin, PinInfo
from smbus2 import SMBus

from controller.domain.errors import Fault, check
from controller.hardware import (
    OUTPUTS,
    FactoryName,
    Hardware,
    Line,
    closed_when_active,
    matrix_place,
)
from firmware.matrix import Crossings, Matrix
from firmware.mcp23017 import LINES, Bus, Mcp23017
from firmware.pin_driver import driver_errors, load_driver

Report = Callable[[Line, bool, int], None]

STAMP_OFF_MAX_US: Final = 10_000_000  # an edge further than this from now was stamped elsewhere
_CLAIMED: Final = (
    "{} cannot be claimed ({}): stop whatever else uses it, and see that config.txt gives it to"
    " nothing else."
)
_READ: Final = "The pins cannot be read ({}): restart the unit, then check its wiring."
_SWITCHED: Final = "{} cannot be switched ({}): restart the unit, then check its wiring."


def open_factory(name: FactoryName) -> Any:
    """Exactly the gpiozero factory that the table file names: no guess, no second choice."""
    load_driver(name)
    with _explained(
        f"{name} cannot open the pins ({{}}): run this on a Raspberry Pi, as a user of the group"
        ' gpio; to try without one, set factory = "mock".'
    ):
        if name is FactoryName.LGPIO:
            return import_module("gpiozero.pins.lgpio").LGPIOFactory()
        return import_module("gpiozero.pins.rpigpio").RPiGPIOFactory()


def _errors() -> tuple[type[Exception], ...]:
    return (GPIOZeroError, *driver_errors())


@contextmanager
def _explained(sentence: str) -> Iterator[None]:
    """Turn whatever gpiozero or its driver raises into a Fault, with its words in the braces."""
    try:
        yield
    except _errors() as error:
        raise Fault(sentence.format(error)) from error


def open_bus(number: int) -> Bus:
    with _explained(
        f"I2C bus {number} cannot be opened ({{}}): put dtparam=i2c_arm=on into config.txt, and"
        " the user into the group i2c."
    ):
        bus: Bus = SMBus(number)
    return bus


class PinNames:
    """The little that gpiozero must know of a board to hand out its pins: their names."""

    def __init__(self, board: str, names: Iterable[str]) -> None:
        self._board = board
        self._infos = {
            name: PinInfo(number, name, frozenset({name}), "", number, 1, frozenset({"gpio"}))
            for number, name in enumerate(names, start=1)
        }

    def info(self, name: str) -> Any:
        if name not in self._infos:
            raise PinInvalidPin(f"{self._board} has no pin {name}, only {', '.join(self._infos)}")
        return self._infos[name]

    def find_pin(self, name: str) -> Iterator[tuple[None, Any]]:
        yield None, self.info(name)


class ExpanderFactory(Factory):  # type: ignore[misc]  # gpiozero has no types
    """The sixteen lines of one expander as gpiozero pins. They can be read, but report no edges."""

    def __init__(self, chip: Mcp23017, name: str) -> None:
        super().__init__()
        self.chip = chip
        self._names = PinNames(f"Expander {name}", LINES)
        self._pins = {line: ExpanderPin(self, self._names.info(line)) for line in LINES}
        self._is_one_reading = False
        self._high: frozenset[str] | None = None

    def _get_board_info(self) -> PinNames:
        return self._names

    def pin(self, name: str) -> ExpanderPin:
        return self._pins[self._names.info(name).name]

    def high(self) -> frozenset[str]:
        if self._high is not None:
            return self._high
        high = self.chip.high_lines()
        if self._is_one_reading:
            self._high = high
        return high

    @contextmanager
    def one_reading(self) -> Iterator[None]:
        """Inside, all lines are read in one transfer, when the first of them is asked for."""
        self._is_one_reading = True
        try:
            yield
        finally:
            self._is_one_reading, self._high = False, None


class ExpanderPin(Pin):  # type: ignore[misc]  # gpiozero has no types
    """One line of an expander."""

    def __init__(self, factory: ExpanderFactory, info: Any) -> None:
        super().__init__()
        self._factory, self._chip = factory, factory.chip
        self._info, self._line = info, info.name

    def close(self) -> None:
        # A pulled-out expander cannot be told, and what hung on it is dark anyway.
        with suppress(Fault):
            self._chip.release(self._line)

    def _get_info(self) -> Any:
        return self._info

    def _get_function(self) -> str:
        return "output" if self._chip.is_output(self._line) else "input"

    def _set_function(self, value: str) -> None:
        if value == "output":
            self._chip.output(self._line, high=self._chip.is_set(self._line))
        else:
            self._chip.input(self._line, pull_up=self._chip.is_pulled_up(self._line))

    def output_with_state(self, state: object) -> None:
        self._chip.output(self._line, high=bool(state))

    def _get_state(self) -> bool:
        if self._chip.is_output(self._line):
            return self._chip.is_set(self._line)
        return self._line in self._factory.high()

    def _set_state(self, value: object) -> None:
        if not self._chip.is_output(self._line):
            raise PinSetInput(f"{self._line} is an input")
        self._chip.output(self._line, high=bool(value))

    def _get_pull(self) -> str:
        return "up" if self._chip.is_pulled_up(self._line) else "floating"

    def _set_pull(self, value: str) -> None:
        if value not in ("up", "floating"):
            raise PinInvalidPull(f"{self._line} has no pull-down")
        self._chip.input(self._line, pull_up=value == "up")


class Pins:
    """Every wire of one table, for any number of threads."""

    def __init__(
        self, hardware: Hardware, factory: Any, *, expander_bus: Callable[[int], Bus] = open_bus
    ) -> None:
        self.lost = 0  # edges whose report failed
        self.unstamped = 0  # edges whose time came from another clock
        self._hardware, self._factory = hardware, factory
        self._report: Report | None = None
        self._lock = threading.RLock()  # a scanner reads while the table's loop switches lamps
        self._claimed: list[Any] = []
        self._handlers: list[object] = []  # gpiozero itself keeps only weak references
        self._buses: dict[int, Bus] = {}
        self._expanders: dict[str, ExpanderFactory] = {}
        self._inputs: dict[Line, Any] = {}
        self._outputs: dict[Line, Any] = {}
        places = {line: matrix_place(pin) for line, pin in hardware.lines}
        self._switches = {line: place for line, place in places.items() if place}
        self._crossings = Crossings(self._switches, key_rows=len(hardware.keymap))
        try:
            self._claim_everything(expander_bus)
            self._matrix = self._claim_keypad()
        except BaseException:
            self.close()
            raise

    def _claim_everything(self, expander_bus: Callable[[int], Bus]) -> None:
        # Simulated pins stand for the expanders' lines as well.
        if self._hardware.factory is not FactoryName.MOCK:
            self._open_expanders(expander_bus)
        for line, pin in self._hardware.lines:
            if line.kind in OUTPUTS:
                self._outputs[line] = self._claim(DigitalOutputDevice, pin, initial_value=False)
            elif line not in self._switches:
                self._inputs[line] = self._claim_input(line, pin)

    def _claim_keypad(self) -> Matrix:
        rows, columns = (
            [self._claim(InputDevice, name, pull_up=True).pin for name in names]
            for names in (self._hardware.keypad_rows, self._hardware.keypad_columns)
        )
        key_rows = len(self._hardware.keymap)
        return Matrix(rows, columns, key_rows=key_rows, one_reading=self._one_reading)

    def _open_expanders(self, expander_bus: Callable[[int], Bus]) -> None:
        for expander in self._hardware.expanders:
            if expander.bus not in self._buses:
                self._buses[expander.bus] = expander_bus(expander.bus)
            chip = Mcp23017(self._buses[expander.bus], expander)
            self._expanders[expander.name] = ExpanderFactory(chip, expander.name)

    def _claim(self, device: Any, pin: str, **how: object) -> Any:
        expander, _, line = pin.partition(".")
        with _explained(_CLAIMED.format(pin, "{}")):
            if expander in self._expanders:
                claimed = device(line, pin_factory=self._expanders[expander], **how)
            else:
                claimed = device(pin, pin_factory=self._factory, **how)
        self._claimed.append(claimed)
        return claimed

    def _claim_input(self, line: Line, pin: str) -> Any:
        if pin.partition(".")[0] in self._expanders:
            return self._claim(InputDevice, pin, pull_up=True)
        device = self._claim(DigitalInputDevice, pin, pull_up=True)
        self._handlers.append(self._handler(line))
        device.pin.when_changed = self._handlers[-1]
        return device

    def _handler(self, line: Line) -> Callable[[float, object], None]:
        """What the driver calls at each edge. lgpio has one thread for all: it must not die."""
        active_when_low = closed_when_active(line)

        def changed(ticks: float, state: object) -> None:
            report = self._report
            if report is None:
                return
            try:
                report(line, bool(state) != active_when_low, self._stamp_us(ticks))
            except Exception:  # noqa: BLE001 - raising would end the driver's only thread
                self.lost += 1

        return changed

    def _stamp_us(self, ticks: float) -> int:
        """The edge's own time, unless its driver stamps by another clock than it tells."""
        at_us, now_us = round(ticks * 1_000_000), self.now_us()
        if abs(at_us - now_us) <= STAMP_OFF_MAX_US:
            return at_us
        self.unstamped += 1
        return now_us

    def now_us(self) -> int:
        """Now, on the clock of the edges."""
        now_us: int = round(self._factory.ticks() * 1_000_000)
        return now_us

    def watch(self, report: Report) -> None:
        """Report each raw edge from now on as line, active, time; in the driver's thread.

        Lines on an expander or on the keypad's wires have no edges. They must be read.
        """
        self._report = report

    def level(self, line: Line) -> bool:
        """Whether an input is active at this moment."""
        device = self._inputs.get(line)
        if device is None:
            return self.levels((line,))[line]
        try:
            with self._lock:
                return bool(device.pin.state) != closed_when_active(line)
        except _errors() as error:
            raise Fault(_READ.format(error)) from error

    def levels(self, lines: Iterable[Line]) -> dict[Line, bool]:
        """Inputs as close to one moment as the wiring allows."""
        asked = tuple(lines)
        crossed = [line for line in asked if line not in self._inputs]
        with self._lock:
            found = self._crossed(crossed) if crossed else {}
            with self._one_reading():
                return {line: found[line] if line in found else self.level(line) for line in asked}

    def _crossed(self, lines: list[Line]) -> dict[Line, bool]:
        with _explained(_READ):
            check(bool(self._claimed), f"{lines[0]} is read after it was let go")
            return self._crossings.active(lines, self._matrix.closed())

    def set(self, line: Line, on: bool) -> None:  # noqa: FBT001 - reads as it acts
        check(line in self._outputs, f"{line} is no output of this table")
        with self._lock, _explained(_SWITCHED.format(line.kind, "{}")):
            self._outputs[line].value = on

    def closed_keys(self) -> frozenset[tuple[int, int]]:
        """Row and column, from 0, of every key of the keypad that reads closed."""
        with self._lock, _explained(_READ):
            check(bool(self._claimed), "the keypad is scanned after it was let go")
            return self._matrix.closed_keys()

    @contextmanager
    def _one_reading(self) -> Iterator[None]:
        with ExitStack() as stack:
            for expander in self._expanders.values():
                stack.enter_context(expander.one_reading())
            yield

    def restore(self) -> tuple[str, ...]:
        """Configure anew every expander that lost its power meanwhile; the names of those."""
        restored, faults = [], []
        with self._lock:
            for name, expander in self._expanders.items():
                try:
                    if not expander.chip.remembers():
                        expander.chip.restore()
                        restored.append(name)
                except Fault as fault:  # the others must not wait for it
                    faults.append(str(fault))
        if faults:
            raise Fault(" ".join(faults))
        return tuple(restored)

    def close(self) -> None:
        """Lamps and buzzer off, every pin let go. The factory stays with whoever opened it."""
        self._report = None
        too_late = suppress(Fault, *_errors())  # at the end nobody can act on it
        with self._lock:
            for output in self._outputs.values():
                with too_late:
                    output.off()
            for device in self._claimed:
                with too_late:
                    if device.pin.when_changed is not None:
                        device.pin.when_changed = None
                with too_late:
                    device.close()
            for bus in self._buses.values():
                bus.close()
            for kept in (self._claimed, self._inputs, self._outputs, self._buses):
                kept.clear()


class LumaPins:
    """The few pins that a display on SPI needs besides the bus, in the shape that luma wants."""

    OUT: Final = "output"
    HIGH: Final = True
    LOW: Final = False

    def __init__(self, factory: Any) -> None:
        self._factory = factory
        self._devices: dict[str, Any] = {}

    def setup(self, pin: str, _direction: str) -> None:
        """Claim a pin; a display that starts again asks for the same ones again."""
        if pin not in self._devices:
            with _explained(_CLAIMED.format(pin, "{}")):
                self._devices[pin] = OutputDevice(pin, pin_factory=self._factory)

    def output(self, pin: str, value: object) -> None:
        with _explained(_SWITCHED.format(pin, "{}")):
            self._devices[pin].value = bool(value)

    def cleanup(self, _pins: object = None) -> None:
        """Let all of them go, whichever luma names."""
        while self._devices:
            self._devices.popitem()[1].close()
