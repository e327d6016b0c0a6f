"""Whether the wires of a table can lie where its file puts them: each pin once, and fit for it.

Pure rules over a Hardware value. Every clash is a sentence that names both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from controller.document import Problems, show
from controller.hardware import (
    OUTPUTS,
    DisplayWiring,
    FactoryName,
    Hardware,
    Line,
    LineKind,
    matrix_place,
)

_HEADER_PIN: Final = re.compile(r"GPIO([2-9]|1[0-9]|2[0-7])", re.ASCII)
_EXPANDER_PIN: Final = re.compile(r"(X[1-8])\.[AB]([0-7])", re.ASCII)
_OUTPUT_ONLY_BIT: Final = "7"  # GPA7 and GPB7 of an MCP23017: a fault of the silicon

_ON_HEADER: Final = '"GPIO2" to "GPIO27" (GPIO0 and GPIO1 belong to the memory of add-on boards)'
_ITS_OWN: Final = "a pin that nothing else uses"

_I2C_1: Final = ("GPIO2", "GPIO3")
_SPI_0: Final = ("GPIO10", "GPIO11")  # data and clock; no_miso leaves GPIO9 free
_SPI_0_SELECT: Final = ("GPIO8", "GPIO7")


class _Need(Enum):
    """What a pin must be able to do."""

    STAMP = "stamp"  # an input whose edges the kernel stamps
    READ = "read"  # an input that is slow enough to be read now and then
    CROSS = "cross"  # such an input that may also be a crossing of the keypad's wires
    SWITCH = "switch"
    SCAN = "scan"  # a wire of the keypad
    DISPLAY = "display"


class _Use(Struct, frozen=True):
    key: str  # where a table file says it
    pin: str
    need: _Need


def check_wiring(hardware: Hardware, problems: Problems) -> None:
    """Report every pin that is unknown, unfit or used twice, and every address used twice."""
    owners = dict(_bus_pins(hardware))
    for use in _uses(hardware):
        allowed = _ITS_OWN if use.pin in owners else _unfit(use, hardware)
        if allowed:
            owner = f", which {owners[use.pin]} uses" if use.pin in owners else ""
            problems.say(use.key, show(use.pin) + owner, allowed)
        owners.setdefault(use.pin, use.key)
    _check_addresses(hardware, problems)


def used_expanders(hardware: Hardware) -> frozenset[str]:
    pins = (_EXPANDER_PIN.fullmatch(use.pin) for use in _uses(hardware))
    return frozenset(pin[1] for pin in pins if pin)


def _uses(hardware: Hardware) -> Iterator[_Use]:
    for name, display in _displays(hardware):
        for key, pin in (("data_pin", display.data_pin), ("reset_pin", display.reset_pin)):
            if pin:
                yield _Use(f"{name}.{key}", pin, _Need.DISPLAY)
    several = any(line.spot for line, _ in hardware.lines)
    for line, pin in hardware.lines:
        yield _Use(_key(line, several=several), pin, _need(line.kind))
    for key, pins in (
        ("pins.keypad_rows", hardware.keypad_rows),
        ("pins.keypad_columns", hardware.keypad_columns),
    ):
        for number, pin in enumerate(pins, start=1):
            yield _Use(f"{key}[{number}]", pin, _Need.SCAN)


def _displays(hardware: Hardware) -> Iterator[tuple[str, DisplayWiring]]:
    if hardware.dealer_display:
        yield "displays.dealer", hardware.dealer_display
    if hardware.meter_display:
        yield "displays.meter", hardware.meter_display


def _key(line: Line, *, several: bool) -> str:
    if line.kind is LineKind.SENSOR:
        return f"pins.sensors[{line.seat}]" + (f"[{line.spot + 1}]" if several else "")
    return f"pins.lamps[{line.seat}]" if line.kind is LineKind.LAMP else f"pins.{line.kind}"


def _need(kind: LineKind) -> _Need:
    if kind in OUTPUTS:
        return _Need.SWITCH
    if kind in (LineKind.SENSOR, LineKind.LOCK, LineKind.DROP):
        return _Need.STAMP
    # Two keys pressed at once can pass for a crossing: never for the floor's key.
    return _Need.READ if kind is LineKind.FLOOR_KEY else _Need.CROSS


def _bus_pins(hardware: Hardware) -> Iterator[tuple[str, str]]:
    """The header pins that buses take, and the bus that takes each."""
    displays = [display for _, display in _displays(hardware)]
    used = used_expanders(hardware)
    i2c = [display.bus for display in displays if display.interface == "i2c"]
    if 1 in (*i2c, *(each.bus for each in hardware.expanders if each.name in used)):
        yield from ((pin, "I2C bus 1") for pin in _I2C_1)
    for display in displays:
        if display.interface == "spi":
            yield from ((pin, "SPI bus 0") for pin in (*_SPI_0, _SPI_0_SELECT[display.address]))


def _unfit(use: _Use, hardware: Hardware) -> str:
    """What may stand there instead; empty if the pin is fit for its use."""
    if _HEADER_PIN.fullmatch(use.pin):
        return ""
    if use.need is _Need.DISPLAY:
        return _ON_HEADER
    if use.need is _Need.STAMP and hardware.factory is not FactoryName.MOCK:
        return f"{_ON_HEADER}, since only header pins stamp their edges"
    place = matrix_place(use.pin)
    if use.need is _Need.CROSS and place:
        return _off_the_matrix(place, hardware)
    names = [expander.name for expander in hardware.expanders]
    pin = _EXPANDER_PIN.fullmatch(use.pin)
    is_ours = pin is not None and pin[1] in names
    if pin and is_ours and (pin[2] != _OUTPUT_ONLY_BIT or use.need is _Need.SWITCH):
        return ""
    others = "".join(f', or "{name}.A0" to "{name}.B7"' for name in names)
    but = " but not A7 and B7, which may only be outputs" if use.need is not _Need.SWITCH else ""
    return _ON_HEADER + others + (but if names else "")


def _off_the_matrix(place: tuple[int, int], hardware: Hardware) -> str:
    first, rows = len(hardware.keymap), len(hardware.keypad_rows)
    columns = len(hardware.keypad_columns)
    if first <= place[0] < rows and place[1] < columns:
        return ""
    if rows <= first:
        return f"{_ON_HEADER}, or a crossing in a further row of pins.keypad_rows"
    return f'"R{first + 1}C1" to "R{rows}C{columns}", the crossings that no key has'


def _check_addresses(hardware: Hardware, problems: Problems) -> None:
    used = used_expanders(hardware)
    found = [
        (f"expanders.{each.name}.address", ("i2c", each.bus, each.address))
        for each in hardware.expanders
        if each.name in used
    ]
    found += [
        (f"{name}.address", (display.interface, display.bus, display.address))
        for name, display in _displays(hardware)
    ]
    owners: dict[tuple[str, int, int], str] = {}
    for key, address in found:
        if address in owners:
            where = f"0x{address[2]:02x} on {address[0]} bus {address[1]}"
            problems.say(key, f"{where}, which {owners[address]} has", "an address of its own")
        owners.setdefault(address, key)
