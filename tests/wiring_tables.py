"""Writes the pin tables of docs/wiring.md from the ready maps, so that the two cannot differ.

`python -m tests.wiring_tables` writes them; a unit test compares them with what is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.adapters.pack_files import load_map
from controller.document import Problems, Section
from controller.hardware import DisplayWiring, Hardware, Line, LineKind
from controller.hardware_file import SECTIONS, read_hardware
from controller.maps import ReadyMap

FILE: Final = Path(__file__).parents[1] / "docs" / "wiring.md"

# Where each line of the header is on the 40-pin connector, the same on every model since 2014.
CONNECTOR: Final = {
    f"GPIO{gpio}": pin
    for gpio, pin in {
        2: 3, 3: 5, 4: 7, 5: 29, 6: 31, 7: 26, 8: 24, 9: 21, 10: 19, 11: 23, 12: 32, 13: 33, 14: 8,
        15: 10, 16: 36, 17: 11, 18: 12, 19: 35, 20: 38, 21: 40, 22: 15, 23: 16, 24: 18, 25: 22,
        26: 37, 27: 13,
    }.items()
}  # fmt: skip
# Where each line is on the MCP23017 in its 28-pin case.
CASE: Final = {f"B{n}": 1 + n for n in range(8)} | {f"A{n}": 21 + n for n in range(8)}


def _called(line: Line) -> str:
    if line.kind in (LineKind.SENSOR, LineKind.LAMP):
        return f"{line.kind} of seat {line.seat}"
    words = {LineKind.FLOOR_KEY: "floor key", LineKind.DROP: "drop slot"}
    upper = (LineKind.LOCK, LineKind.END)
    return words.get(line.kind, line.kind.upper() if line.kind in upper else line.kind.value)


def _where(pin: str) -> str:
    if pin in CONNECTOR:
        return f"connector {CONNECTOR[pin]}"
    name, _, line = pin.partition(".")
    if line:
        return f"{name} case {CASE[line]}"
    return f"row {pin[1]}, column {pin[3]}"


def _wires(hardware: Hardware) -> Iterator[tuple[str, str]]:
    for line, pin in hardware.lines:
        yield _called(line), pin
    for number, pin in enumerate(hardware.keypad_rows, start=1):
        yield f"keypad row {number}", pin
    for number, pin in enumerate(hardware.keypad_columns, start=1):
        yield f"keypad column {number}", pin
    for name, display in (
        ("dealer display", hardware.dealer_display),
        ("meter display", hardware.meter_display),
    ):
        if display is not None and display.interface == "spi":
            yield f"{name} clock", "GPIO11"
            yield f"{name} data in", "GPIO10"
            yield f"{name} chip select", ("GPIO8", "GPIO7")[display.address]
            yield f"{name} D/C", display.data_pin
            yield f"{name} reset", display.reset_pin
    yield "I2C data", "GPIO2"
    yield "I2C clock", "GPIO3"


def _display(display: DisplayWiring | None) -> str:
    if display is None:
        return "none"
    if display.interface == "i2c":
        return f"{display.driver.upper()} on I2C bus {display.bus} at 0x{display.address:02X}"
    return f"{display.driver.upper()} on SPI bus {display.bus}, chip select {display.address}"


def ready(name: str, *, seats: int | None = None) -> Hardware:
    """A ready map as a table of so many seats has it; all of its own unless stated."""
    problems = Problems(name)
    root = Section({"hardware": {"map": name}}, SECTIONS, problems)
    seats = ReadyMap(name).seats if seats is None else seats
    hardware = read_hardware(root, problems, seats=seats, spots=1, load_map=load_map)
    problems.stop_if_any()
    return hardware


def table(name: ReadyMap) -> str:
    """One map as a table for the technician: what, which pin, where to find it."""
    hardware = ready(name.value)
    wires = list(_wires(hardware))
    used = {pin for _, pin in wires}
    free = ", ".join(pin for pin in CONNECTOR if pin not in used) or "none"
    chips = "; ".join(f"{e.name} at 0x{e.address:02X}, bus {e.bus}" for e in hardware.expanders)
    return "\n".join(
        [
            f"- dealer display: {_display(hardware.dealer_display)}",
            f"- meter display: {_display(hardware.meter_display)}",
            f"- expanders: {chips or 'none'}",
            f"- free header pins: {free}",
            "",
            "| wire | pin | where |",
            "|---|---|---|",
            *(f"| {what} | `{pin}` | {_where(pin)} |" for what, pin in wires),
        ]
    )


def page(text: str) -> str:
    """The page with every table between its two marks written anew."""
    for name in ReadyMap:
        start, end = f"<!-- map {name} -->\n", f"<!-- end {name} -->\n"
        before, found, rest = text.partition(start)
        _, found_end, after = rest.partition(end)
        if not (found and found_end):
            raise ValueError(f"docs/wiring.md has no place for {name}")
        text = f"{before}{start}{table(name)}\n{end}{after}"
    return text


if __name__ == "__main__":
    FILE.write_text(page(FILE.read_text("utf-8")), encoding="utf-8")
