"""The lgpio module without a Raspberry Pi: as much of it as gpiozero's own factory calls."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

_OUT = 1 << 1
_PULLS = (1 << 5) | (1 << 6) | (1 << 7)

Alert = Callable[[int, int, int, int], None]


class LgpioError(Exception):
    """What lgpio raises; its only base is Exception."""


class _Callback:
    def __init__(self, alerts: dict[int, Alert], gpio: int) -> None:
        self._alerts, self._gpio = alerts, gpio

    def cancel(self) -> None:
        self._alerts.pop(self._gpio, None)


class FakeLgpio(ModuleType):
    """Lines of one chip, each with its mode, and contacts to ground or between two of them."""

    SET_PULL_UP, SET_PULL_DOWN, SET_PULL_NONE = 1 << 5, 1 << 6, 1 << 7
    RISING_EDGE, FALLING_EDGE, BOTH_EDGES = 1, 2, 3
    error = LgpioError

    def __init__(self) -> None:
        super().__init__("lgpio")
        self.has_chip = True
        self.busy: set[int] = set()
        self.grounded: set[int] = set()
        self.joined: set[tuple[int, int]] = set()
        self.modes: dict[int, int] = {}
        self.latches: dict[int, int] = {}
        self.alerts: dict[int, Alert] = {}
        self.debounces: set[int] = set()

    def fire(self, gpio: int, level: int, at_ns: int) -> None:
        """An edge, as lgpio's own thread reports it."""
        self.alerts[gpio](0, gpio, level, at_ns)

    def gpiochip_open(self, _chip: int) -> int:
        if not self.has_chip:
            raise LgpioError("can not open gpiochip")
        return 0

    def gpiochip_close(self, _handle: int) -> None:
        self.modes.clear()

    def gpio_claim_input(self, _handle: int, gpio: int, flags: int = 0) -> None:
        if gpio in self.busy:
            raise LgpioError("GPIO busy")
        self.modes[gpio] = flags & _PULLS

    def gpio_claim_output(self, _handle: int, gpio: int, level: int = 0) -> None:
        self.modes[gpio] = _OUT
        self.latches[gpio] = level

    def gpio_claim_alert(self, _handle: int, gpio: int, _edges: int, flags: int) -> None:
        self.modes[gpio] = flags & _PULLS

    def gpio_free(self, _handle: int, gpio: int) -> None:
        del self.modes[gpio]

    def gpio_get_mode(self, _handle: int, gpio: int) -> int:
        return self.modes.get(gpio, 0)

    def gpio_write(self, _handle: int, gpio: int, level: int) -> None:
        self.latches[gpio] = level

    def gpio_read(self, _handle: int, gpio: int) -> int:
        if self.modes[gpio] & _OUT:
            return int(self.latches[gpio])
        ends = {b for a, b in self.joined if a == gpio} | {a for a, b in self.joined if b == gpio}
        pulled = any(self.modes.get(end, 0) & _OUT and not self.latches[end] for end in ends)
        is_up = self.modes[gpio] & self.SET_PULL_UP
        return int(bool(is_up) and not pulled and gpio not in self.grounded)

    def gpio_set_debounce_micros(self, _handle: int, _gpio: int, micros: int) -> None:
        self.debounces.add(micros)

    def callback(self, _handle: int, gpio: int, _edges: int, func: Alert) -> _Callback:
        self.alerts[gpio] = func
        return _Callback(self.alerts, gpio)
