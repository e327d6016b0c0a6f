"""What is wired to a table: lines, pins, expanders, displays and times. Values only."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct


class FactoryName(StrEnum):
    """The gpiozero pin factory that a table file names. Nothing is ever chosen by itself."""

    LGPIO = "lgpio"
    RPIGPIO = "rpigpio"
    MOCK = "mock"


class LineKind(StrEnum):
    """What one wire means."""

    SENSOR = "sensor"
    LAMP = "lamp"
    LOCK = "lock"
    END = "end"
    FLOOR_KEY = "floor_key"
    DOOR = "door"
    DROP = "drop"  # the drop slot that counts chips
    BUZZER = "buzzer"


OUTPUTS: Final = frozenset({LineKind.LAMP, LineKind.BUZZER})


class Line(NamedTuple):
    """One wire. Only sensors and lamps have a seat; only sensors have a spot."""

    kind: LineKind
    seat: int = 0
    spot: int = 0  # which of the table's wager amounts, counted from 0


LOCK: Final = Line(LineKind.LOCK)
END: Final = Line(LineKind.END)
FLOOR_KEY: Final = Line(LineKind.FLOOR_KEY)
DOOR: Final = Line(LineKind.DOOR)
DROP: Final = Line(LineKind.DROP)
BUZZER: Final = Line(LineKind.BUZZER)


_ON_THE_KEYPAD: Final = re.compile(r"R([1-9])C([1-9])", re.ASCII)


def sensor(seat: int, spot: int = 0) -> Line:
    return Line(LineKind.SENSOR, seat, spot)


def lamp(seat: int) -> Line:
    return Line(LineKind.LAMP, seat)


def closed_when_active(line: Line) -> bool:
    """A contact closes to ground when something happens; the door's opens, as a cut wire does."""
    return line.kind is not LineKind.DOOR


def matrix_place(pin: str) -> tuple[int, int] | None:
    """Row and column, from 0, of a switch on the keypad's wires; None for a pin of its own."""
    place = _ON_THE_KEYPAD.fullmatch(pin)
    return (int(place[1]) - 1, int(place[2]) - 1) if place else None


class Timing(Struct, frozen=True):
    """How raw edges become chips. See docs/wiring.md."""

    settle_ms: int = 150  # a chip that has rested this long is seen
    bounce_ms: int = 30  # a level that did not last this long never was
    chatter_edges: int = 30  # more edges than this in a second: the sensor cannot be believed


class Expander(Struct, frozen=True):
    """One MCP23017, by the name that pins use for it."""

    name: str
    bus: int
    address: int


class DisplayWiring(Struct, frozen=True):
    """One OLED: its driver, and the bus it hangs on."""

    driver: str  # ssd1306 | ssd1309 | sh1106 | ssd1322
    interface: str  # i2c | spi
    bus: int = 1  # I2C bus, or SPI port
    address: int = 0x3C  # I2C address, or SPI chip select
    data_pin: str = ""  # SPI only: D/C
    reset_pin: str = ""  # SPI only; empty when reset is tied high
    rotate: int = 0  # quarter turns


class Hardware(Struct, frozen=True):
    """Everything wired to one table.

    A pin is "GPIO17", or "X1.A0" on an expander. A slow switch may instead be a crossing of the
    keypad's wires, "R5C1": row 5, column 1. Keypad rows beyond the keymap exist for such switches.
    """

    factory: FactoryName
    lines: tuple[tuple[Line, str], ...]
    keypad_rows: tuple[str, ...]
    keypad_columns: tuple[str, ...]
    keymap: tuple[tuple[str, ...], ...]
    expanders: tuple[Expander, ...]
    dealer_display: DisplayWiring | None
    meter_display: DisplayWiring | None
    timing: Timing = Timing()
