"""The hardware sections of a table file: which wire goes where, read and then checked as a whole.

Pure: no file access. Whoever calls hands in the document and a way to load a ready map. What the
file does not say comes from the map, and what no map says from the defaults here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import count
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from controller.document import (
    FLAG,
    Kind,
    Problems,
    Section,
    one_of,
    parse,
    show,
    text_up_to,
    whole,
)
from controller.hardware import (
    DisplayWiring,
    Expander,
    FactoryName,
    Hardware,
    Line,
    LineKind,
    Timing,
    lamp,
    sensor,
)
from controller.maps import ReadyMap, default_map
from controller.wiring import check_wiring, used_expanders

# Every key of the hardware sections, in the form of controller.config.KEYS.
HARDWARE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "hardware": ("factory", "map"),
    "pins": (
        "sensors",
        "lamps",
        "keypad_rows",
        "keypad_columns",
        "lock",
        "end",
        "floor_key",
        "door",
        "buzzer",
        "drop",
    ),
    "expanders.NAME": ("bus", "address"),
    "keypad": ("keys",),
    "timing": ("settle_ms", "bounce_ms", "chatter_edges"),
    "displays.NAME": (
        "enabled",
        "driver",
        "interface",
        "bus",
        "address",
        "data_pin",
        "reset_pin",
        "rotate",
    ),
}
SECTIONS: Final = tuple(name.partition(".")[0] for name in HARDWARE_KEYS)
DISPLAYS: Final = ("dealer", "meter")

DEFAULT_KEYMAP: Final = (
    ("1", "2", "3", "win"),
    ("4", "5", "6", "tie"),
    ("7", "8", "9", "floor"),
    ("clear", "0", "enter", "menu"),
)
_SINGLE: Final = {
    "lock": LineKind.LOCK,
    "end": LineKind.END,
    "floor_key": LineKind.FLOOR_KEY,
    "door": LineKind.DOOR,
    "buzzer": LineKind.BUZZER,
    "drop": LineKind.DROP,
}
_NONE: Final = "none"  # as a pin: not fitted
_EXPANDER: Final = re.compile(r"X([1-8])", re.ASCII)
_FIRST_EXPANDER: Final = 0x20


class _Driver(StrEnum):
    SSD1306 = "ssd1306"
    SSD1309 = "ssd1309"
    SH1106 = "sh1106"
    SSD1322 = "ssd1322"


class _Interface(StrEnum):
    I2C = "i2c"
    SPI = "spi"


_PLAIN_DISPLAY: Final = {
    _Interface.I2C: DisplayWiring(_Driver.SSD1306.value, _Interface.I2C.value),
    _Interface.SPI: DisplayWiring(_Driver.SSD1322.value, _Interface.SPI.value, bus=0, address=0),
}


def _read_names(value: object) -> tuple[str, ...] | None:
    names = value if isinstance(value, list) else [None]
    texts = tuple(name for name in names if isinstance(name, str))
    return texts if len(texts) == len(names) else None


def _read_sensors(value: object) -> tuple[tuple[str, ...], ...] | None:
    flat = _read_names(value)
    if flat is not None:
        return tuple((name,) for name in flat)
    rows = [_read_names(row) for row in value] if isinstance(value, list) else [None]
    seats = tuple(row for row in rows if row is not None)
    return seats if len(seats) == len(rows) else None


def _read_keymap(value: object) -> tuple[tuple[str, ...], ...] | None:
    rows = _read_sensors(value)
    shape = [len(row) for row in DEFAULT_KEYMAP]
    if rows is None or [len(row) for row in rows] != shape:
        return None
    known = sorted(key for row in DEFAULT_KEYMAP for key in row)
    return rows if sorted(key for row in rows for key in row) == known else None


def _names(low: int, high: int) -> Kind[tuple[str, ...]]:
    def read(value: object) -> tuple[str, ...] | None:
        names = _read_names(value)
        return names if names is not None and low <= len(names) <= high else None

    number = f"{low}" if low == high else f"{low} to {high}"
    return Kind(f'a list of {number} pins, such as ["GPIO17"]', read)


def _address(low: int, high: int) -> Kind[int]:
    return replace(whole(low, high), allowed=f"an address from 0x{low:02x} to 0x{high:02x}")


_PIN: Final = text_up_to(20)
_PIN_OR_NOTHING: Final = Kind("a pin, or nothing between the quotes", lambda value: _pin(value))
_SENSORS: Final = Kind(
    'a list with a pin, or a list of pins, for each seat, such as ["GPIO5", "GPIO6"]', _read_sensors
)
_LAMPS: Final = _names(1, 10)
_ROWS: Final = _names(4, 8)
_COLUMNS: Final = _names(4, 4)
_KEYMAP: Final = Kind(
    "4 rows of 4 keys: 0 to 9, win, tie, floor, menu, clear and enter, each once", _read_keymap
)
_I2C_BUS: Final = whole(0, 31)
_I2C_ADDRESS: Final = _address(0x08, 0x77)
_EXPANDER_ADDRESS: Final = _address(0x20, 0x27)
_SPI_BUS: Final = replace(whole(0, 0), allowed="0, the only SPI bus that is wired")
_ROTATE: Final = Kind(
    "0 or 2 quarter turns", lambda value: value if value in (0, 2) and value is not False else None
)
_SPI_SELECT: Final = replace(whole(0, 1), allowed="0 or 1, the chip select")


def _pin(value: object) -> str | None:
    return "" if value == "" else _PIN.read(value)


class _Wires(Struct, frozen=True):
    """What a map says, and after it a table file."""

    sensors: tuple[tuple[str, ...], ...] = ()
    lamps: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    single: Mapping[str, str] = field(default_factory=dict)
    expanders: Mapping[str, Expander] = field(default_factory=dict)
    displays: Mapping[str, DisplayWiring | None] = field(default_factory=dict)


def says_hardware(root: Section) -> bool:
    """Whether a file has any hardware section."""
    return any(root.has(name) for name in SECTIONS)


def simulated(hardware: Hardware | None, *, seats: int, spots: int) -> Hardware:
    """The hardware of a bench: as the table is wired, or wires enough; all of them simulated."""
    if hardware is not None:
        return replace(hardware, factory=FactoryName.MOCK)
    wires = _wires_enough(seats, spots)
    return _hardware(FactoryName.MOCK, wires, DEFAULT_KEYMAP, Timing())


def read_hardware(
    root: Section,
    problems: Problems,
    *,
    seats: int,
    spots: int,
    load_map: Callable[[str], str],
) -> Hardware:
    """Everything that a table file says about wires, with all its problems reported."""
    return _Reader(root, problems, seats, spots).read(load_map)


class _Reader:
    """One pass over one document."""

    def __init__(self, root: Section, problems: Problems, seats: int, spots: int) -> None:
        self._root, self._problems = root, problems
        self._seats, self._spots = seats, spots

    def read(self, load_map: Callable[[str], str]) -> Hardware:
        section = self._root.section("hardware", HARDWARE_KEYS["hardware"])
        factory = section.take("factory", one_of(FactoryName), FactoryName.LGPIO)
        named = section.take("map", one_of(ReadyMap), None)
        keymap = self._section("keypad").take("keys", _KEYMAP, DEFAULT_KEYMAP)
        timing = self._timing(self._section("timing"))
        if factory is FactoryName.MOCK and named is None and not self._root.has("pins"):
            base = _wires_enough(self._seats, self._spots)
            return _hardware(factory, _read_wires(self._root, base, self._problems), keymap, timing)
        ready = named or default_map(self._seats, self._spots)
        base = _load(ready, load_map)
        wires = self._fit(_read_wires(self._root, base, self._problems), base, ready)
        hardware = _hardware(factory, wires, keymap, timing)
        check_wiring(hardware, self._problems)
        used = used_expanders(hardware)
        fitted = tuple(each for each in hardware.expanders if each.name in used)
        return replace(hardware, expanders=fitted)

    def _section(self, name: str) -> Section:
        return self._root.section(name, HARDWARE_KEYS[name])

    def _timing(self, section: Section) -> Timing:
        plain = Timing()
        timing = Timing(
            settle_ms=section.take("settle_ms", whole(50, 1000), plain.settle_ms),
            bounce_ms=section.take("bounce_ms", whole(5, 100), plain.bounce_ms),
            chatter_edges=section.take("chatter_edges", whole(10, 200), plain.chatter_edges),
        )
        if 2 * timing.bounce_ms > timing.settle_ms:
            allowed = f"at most half of settle_ms, which is {timing.settle_ms}"
            section.refuse("bounce_ms", timing.bounce_ms, allowed)
        return timing

    def _fit(self, wires: _Wires, base: _Wires, ready: ReadyMap) -> _Wires:
        """As many seats as the table has: exactly those the file lists, or the first of the map."""
        seats, spots = self._seats, self._spots
        from_map = wires.sensors is base.sensors or wires.lamps is base.lamps
        if from_map and ready.seats < seats:
            fitting = ", ".join(f'"{each}"' for each in ReadyMap if each.seats >= seats)
            self._problems.say("hardware.map", f"{show(ready)} at {seats} seats", fitting)
        if wires.sensors is base.sensors:
            if spots > 1:
                allowed = f"{spots} pins for each of {seats} seats, since ready maps have one"
                self._problems.say("pins.sensors", "nothing", allowed)
        elif [len(pins) for pins in wires.sensors] != [spots] * seats:
            allowed = f"{spots} for each of {seats} seats"
            self._problems.say("pins.sensors", _counted(wires.sensors), allowed)
        if wires.lamps is not base.lamps and len(wires.lamps) != seats:
            self._problems.say("pins.lamps", f"{len(wires.lamps)} pins", f"{seats}, one a seat")
        return replace(wires, sensors=wires.sensors[:seats], lamps=wires.lamps[:seats])


def _load(ready: ReadyMap, load_map: Callable[[str], str]) -> _Wires:
    problems = Problems(ready)
    document = parse(load_map(ready), where=ready)
    root = Section(document, ("pins", "expanders", "displays"), problems)
    wires = _read_wires(root, _Wires(), problems)
    problems.stop_if_any()
    return wires


def _read_wires(root: Section, base: _Wires, problems: Problems) -> _Wires:
    pins = root.section("pins", HARDWARE_KEYS["pins"])
    displays = root.section("displays", DISPLAYS)
    expanders = root.named("expanders", HARDWARE_KEYS["expanders.NAME"])
    return _Wires(
        sensors=pins.take("sensors", _SENSORS, base.sensors),
        lamps=pins.take("lamps", _LAMPS, base.lamps),
        rows=pins.take("keypad_rows", _ROWS, base.rows),
        columns=pins.take("keypad_columns", _COLUMNS, base.columns),
        single={key: pins.take(key, _PIN, base.single.get(key, _NONE)) for key in _SINGLE},
        expanders={**base.expanders, **_read_expanders(expanders, base, problems)},
        displays={
            name: _read_display(
                displays.section(name, HARDWARE_KEYS["displays.NAME"]), base.displays.get(name)
            )
            for name in DISPLAYS
        },
    )


def _read_expanders(
    sections: Mapping[str, Section], base: _Wires, problems: Problems
) -> dict[str, Expander]:
    found = {}
    for name, section in sections.items():
        number = _EXPANDER.fullmatch(name)
        if number is None:
            problems.say("expanders", f"an expander {show(name)}", '"X1" to "X8"')
            continue
        usual = Expander(name, 1, _FIRST_EXPANDER + int(number[1]) - 1)
        before = base.expanders.get(name, usual)
        bus = section.take("bus", _I2C_BUS, before.bus)
        found[name] = Expander(
            name, bus, section.take("address", _EXPANDER_ADDRESS, before.address)
        )
    return found


def _read_display(section: Section, base: DisplayWiring | None) -> DisplayWiring | None:
    """A display as the map has it, but for what the file says; one on another bus starts anew."""
    usual = _Interface(base.interface) if base else _Interface.I2C
    enabled = section.take("enabled", FLAG, True)  # noqa: FBT003 - the default
    interface = section.take("interface", one_of(_Interface), usual)
    before = base if base and base.interface == interface else _PLAIN_DISPLAY[interface]
    is_spi = interface is _Interface.SPI
    display = DisplayWiring(
        driver=section.take("driver", one_of(_Driver), _Driver(before.driver)).value,
        interface=interface.value,
        bus=section.take("bus", _SPI_BUS if is_spi else _I2C_BUS, before.bus),
        address=section.take("address", _SPI_SELECT if is_spi else _I2C_ADDRESS, before.address),
        data_pin=section.take("data_pin", _PIN_OR_NOTHING, before.data_pin),
        reset_pin=section.take("reset_pin", _PIN_OR_NOTHING, before.reset_pin),
        rotate=section.take("rotate", _ROTATE, before.rotate),
    )
    if enabled:
        _check_display(display, section)
    return display if enabled else None


def _check_display(display: DisplayWiring, section: Section) -> None:
    if display.interface == _Interface.SPI:
        if not display.data_pin:
            section.refuse("data_pin", None, "the header pin of D/C, as the display is on SPI")
        return
    if display.driver == _Driver.SSD1322:
        section.refuse("driver", display.driver, "another driver on I2C, or interface spi")
    for key, pin in (("data_pin", display.data_pin), ("reset_pin", display.reset_pin)):
        if pin:
            section.refuse(key, pin, "none, as the display is on I2C")


def _wires_enough(seats: int, spots: int) -> _Wires:
    """Wires for any table that is only simulated."""
    names = (f"SIM{number}" for number in count(1))
    return _Wires(
        sensors=tuple(tuple(next(names) for _ in range(spots)) for _ in range(seats)),
        lamps=tuple(next(names) for _ in range(seats)),
        rows=tuple(next(names) for _ in DEFAULT_KEYMAP),
        columns=tuple(next(names) for _ in DEFAULT_KEYMAP[0]),
        single={key: next(names) for key in _SINGLE},
        displays={
            "dealer": _PLAIN_DISPLAY[_Interface.I2C],
            "meter": replace(_PLAIN_DISPLAY[_Interface.SPI], data_pin=next(names)),
        },
    )


def _hardware(
    factory: FactoryName, wires: _Wires, keymap: tuple[tuple[str, ...], ...], timing: Timing
) -> Hardware:
    seats = list(enumerate(wires.sensors, start=1))
    single = ((key, pin) for key, pin in wires.single.items() if (key, pin) != ("drop", _NONE))
    return Hardware(
        factory=factory,
        lines=(
            *((sensor(seat, spot), pin) for seat, pins in seats for spot, pin in enumerate(pins)),
            *((lamp(seat), pin) for seat, pin in enumerate(wires.lamps, start=1)),
            *((Line(_SINGLE[key]), pin) for key, pin in single),
        ),
        keypad_rows=wires.rows,
        keypad_columns=wires.columns,
        keymap=keymap,
        expanders=tuple(wires.expanders.values()),
        dealer_display=wires.displays["dealer"],
        meter_display=wires.displays["meter"],
        timing=timing,
    )


def _counted(sensors: tuple[tuple[str, ...], ...]) -> str:
    return f"{sum(map(len, sensors))} pins for {len(sensors)} seats"
