"""The hardware sections of a table file: ready maps, overrides, and every way to wire it wrong."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.pack_files import load_map
from controller.document import Problems, Section
from controller.domain.errors import Broken
from controller.hardware import (
    BUZZER,
    DOOR,
    DROP,
    END,
    FLOOR_KEY,
    LOCK,
    DisplayWiring,
    Expander,
    FactoryName,
    Hardware,
    Timing,
    lamp,
    sensor,
)
from controller.hardware_file import (
    DEFAULT_KEYMAP,
    HARDWARE_KEYS,
    SECTIONS,
    read_hardware,
    says_hardware,
    simulated,
)
from controller.maps import ReadyMap, default_map
from tests.pack_documents import Document, mangle, put
from tests.wiring_tables import FILE, page, ready

SAMPLE = """
[hardware]
factory = "lgpio"
map = "expander-6"

[pins]
sensors = [
  ["GPIO5", "GPIO6"], ["GPIO12", "GPIO13"], ["GPIO16", "GPIO17"],
  ["GPIO22", "GPIO23"], ["GPIO26", "GPIO27"], ["GPIO14", "GPIO15"],
]
lamps = ["X2.A0", "X2.A1", "X2.A2", "X2.A3", "X2.A4", "X2.A7"]
keypad_rows = ["X1.A0", "X1.A1", "X1.A2", "X1.A3", "X1.A4"]
keypad_columns = ["X1.B0", "X1.B1", "X1.B2", "X1.B3"]
lock = "GPIO4"
end = "R5C3"
floor_key = "X2.B0"
door = "R5C4"
buzzer = "X2.B7"
drop = "GPIO18"

[expanders.X1]
bus = 1
address = 0x20

[expanders.X2]
bus = 3
address = 0x20

[keypad]
keys = [
  ["7", "8", "9", "win"],
  ["4", "5", "6", "tie"],
  ["1", "2", "3", "floor"],
  ["clear", "0", "enter", "menu"],
]

[timing]
settle_ms = 200
bounce_ms = 20
chatter_edges = 50

[displays.dealer]
enabled = true
driver = "sh1106"
interface = "i2c"
bus = 1
address = 0x3D
rotate = 2

[displays.meter]
driver = "ssd1322"
interface = "spi"
bus = 0
address = 1
data_pin = "GPIO20"
reset_pin = ""
rotate = 0
"""


def read(document: Document, *, seats: int = 6, spots: int = 1) -> tuple[Hardware, list[str]]:
    problems = Problems("table.toml")
    root = Section(document, SECTIONS, problems)
    hardware = read_hardware(root, problems, seats=seats, spots=spots, load_map=load_map)
    return hardware, problems.sentences


def sample() -> Document:
    return tomllib.loads(SAMPLE)


def test_a_table_file_can_say_where_every_wire_goes() -> None:
    hardware, problems = read(sample(), spots=2)
    assert problems == []
    pins = dict(hardware.lines)
    assert pins[sensor(1, 0)] == "GPIO5"
    assert pins[sensor(6, 1)] == "GPIO15"
    assert pins[lamp(6)] == "X2.A7"
    assert [pins[line] for line in (LOCK, END, FLOOR_KEY, DOOR, BUZZER, DROP)] == [
        "GPIO4",
        "R5C3",
        "X2.B0",
        "R5C4",
        "X2.B7",
        "GPIO18",
    ]
    assert len(pins) == 12 + 6 + 6
    assert hardware.keypad_rows == ("X1.A0", "X1.A1", "X1.A2", "X1.A3", "X1.A4")
    assert hardware.keymap[0] == ("7", "8", "9", "win")
    assert hardware.expanders == (Expander("X1", 1, 0x20), Expander("X2", 3, 0x20))
    assert hardware.timing == Timing(200, 20, 50)
    assert hardware.dealer_display == DisplayWiring("sh1106", "i2c", 1, 0x3D, rotate=2)
    assert hardware.meter_display == DisplayWiring("ssd1322", "spi", 0, 1, data_pin="GPIO20")


@pytest.mark.parametrize("name", list(ReadyMap))
def test_each_ready_map_is_good_for_its_seats_and_for_fewer(name: ReadyMap) -> None:
    for seats in range(1, name.seats + 1):
        hardware = ready(name, seats=seats)
        lines = [line for line, _ in hardware.lines]
        assert [sensor(seat) in lines for seat in range(1, 11)] == [
            s <= seats for s in range(1, 11)
        ]
        assert [lamp(seat) in lines for seat in range(1, 11)] == [s <= seats for s in range(1, 11)]
        assert {LOCK, END, FLOOR_KEY, DOOR, BUZZER} < set(lines)
        assert hardware.dealer_display
        assert hardware.meter_display
        assert hardware.keymap == DEFAULT_KEYMAP
        assert hardware.factory is FactoryName.LGPIO


def test_lamps_and_buzzer_of_ready_maps_are_dark_while_a_pi_starts() -> None:
    """GPIO2 to GPIO8 are pulled up until a program takes them, which a lamp driver would see."""
    for name in ReadyMap:
        outputs = [pin for line, pin in ready(name).lines if line.kind in ("lamp", "buzzer")]
        header = [int(pin.removeprefix("GPIO")) for pin in outputs if pin.startswith("GPIO")]
        assert all(number >= 9 for number in header), name


@pytest.mark.parametrize(
    ("seats", "spots", "name"),
    [
        (1, 1, "header-6"),
        (6, 1, "header-6"),
        (6, 2, "expander-6"),
        (7, 1, "expander-7"),
        (8, 1, "expander-8"),
        (9, 1, "expander-10"),
        (10, 3, "expander-10"),
    ],
)
def test_a_file_without_a_map_gets_the_smallest_that_fits(
    seats: int, spots: int, name: str
) -> None:
    assert default_map(seats, spots) == name
    if spots == 1:
        assert read({}, seats=seats) == (ready(name, seats=seats), [])


def test_no_ready_map_is_made_up_for_more_seats_than_there_are() -> None:
    with pytest.raises(Broken, match="no ready map has 11 seats"):
        default_map(11, 1)


def test_two_spots_a_seat_need_their_pins_written_out() -> None:
    _, problems = read({}, spots=2)
    assert problems == [
        "table.toml: pins.sensors: found nothing; allowed 2 pins for each of 6 seats, since ready"
        " maps have one"
    ]


def test_six_seats_with_two_spots_fit_the_smallest_expander_map() -> None:
    pins = {"sensors": sample()["pins"]["sensors"]}
    hardware, problems = read({"pins": pins}, spots=2)
    assert problems == []
    assert len([line for line, _ in hardware.lines if line.kind == "sensor"]) == 12
    assert [expander.name for expander in hardware.expanders] == ["X1"]


def test_an_expander_that_no_wire_needs_is_not_looked_for() -> None:
    assert [e.name for e in ready("expander-10", seats=8).expanders] == ["X1"]
    assert [e.name for e in ready("expander-10", seats=9).expanders] == ["X1", "X2"]
    its_address = {"hardware": {"map": "expander-10"}, "displays": {"dealer": {"address": 0x21}}}
    assert read(its_address, seats=8)[1] == []
    assert len(read(its_address, seats=9)[1]) == 1


def test_a_drop_slot_can_be_left_out() -> None:
    hardware, problems = read({"pins": {"drop": "none"}}, seats=7)
    assert problems == []
    assert DROP not in dict(hardware.lines)
    assert DROP in dict(ready("expander-7").lines)
    assert DROP not in dict(ready("header-6").lines)


def test_a_display_can_be_turned_or_switched_off_without_saying_the_rest_again() -> None:
    document = {"displays": {"dealer": {"rotate": 2}, "meter": {"enabled": False}}}
    hardware, problems = read(document, seats=8)
    assert problems == []
    assert hardware.dealer_display == DisplayWiring("ssd1306", "i2c", 1, 0x3C, rotate=2)
    assert hardware.meter_display is None


def test_a_display_moved_to_another_bus_forgets_the_pins_of_the_old_one() -> None:
    document = {"displays": {"meter": {"interface": "i2c", "driver": "ssd1309", "address": 0x3D}}}
    hardware, problems = read(document, seats=8)
    assert problems == []
    assert hardware.meter_display == DisplayWiring("ssd1309", "i2c", 1, 0x3D)


def test_pins_of_a_display_that_is_switched_off_are_free() -> None:
    off = {"displays": {"meter": {"enabled": False}}}
    pins = {"pins": {"lock": "GPIO24", "end": "GPIO10", "floor_key": "GPIO8", "door": "GPIO9"}}
    assert len(read(pins, seats=8)[1]) == 3
    assert read(off | pins, seats=8)[1] == []


def test_i2c_pins_are_free_where_nothing_is_on_that_bus() -> None:
    off = {"displays": {"dealer": {"enabled": False}, "meter": {"enabled": False}}}
    assert read(off | {"pins": {"lock": "GPIO3"}})[1] == []
    moved = {"displays": {"dealer": {"bus": 3}, "meter": {"bus": 3}}}
    assert read(moved | {"pins": {"lock": "GPIO3"}})[1] == []


# What somebody puts where in the sample, and what he is told.
BROKEN: list[tuple[str, Any, str]] = [
    ("hardware/colour", 1, "hardware.colour: found an unknown key; allowed factory, map"),
    ("hardware/factory", "pigpio", 'factory: found "pigpio"; allowed "lgpio", "rpigpio", "mock"'),
    ("hardware/map", "own", 'hardware.map: found "own"; allowed "header-6", "expander-6", '),
    ("pins/colour", 1, "pins.colour: found an unknown key; allowed sensors, lamps, keypad_rows"),
    ("pins/sensors", "GPIO5", 'pins.sensors: found "GPIO5"; allowed a list with a pin, or a list'),
    ("pins/sensors", [["GPIO5"], 5], "pins.sensors: found [a list, 5]; allowed a list with a pin"),
    ("pins/sensors", ["GPIO5"], "pins.sensors: found 1 pins for 1 seats; allowed 2 for each of 6"),
    ("pins/sensors/5/1", "GPIO5", 'pins.sensors[6][2]: found "GPIO5", which pins.sensors[1][1] u'),
    ("pins/sensors/0/0", "X1.A5", "only header pins stamp their edges"),
    ("pins/sensors/0/0", "R5C1", "only header pins stamp their edges"),
    ("pins/lamps", ["X2.A0"], "pins.lamps: found 1 pins; allowed 6, one a seat"),
    ("pins/lamps", [], "pins.lamps: found []; allowed a list of 1 to 10 pins"),
    ("pins/lamps/1", 7, "pins.lamps: found "),
    ("pins/lamps/1", "X2.A0", 'pins.lamps[2]: found "X2.A0", which pins.lamps[1] uses; allowed a'),
    ("pins/lamps/0", "X5.A0", 'pins.lamps[1]: found "X5.A0"; allowed "GPIO2" to "GPIO27"'),
    ("pins/lamps/0", "R5C1", 'pins.lamps[1]: found "R5C1"; allowed "GPIO2" to "GPIO27"'),
    ("pins/keypad_rows", ["GPIO9"], "pins.keypad_rows: found "),
    ("pins/keypad_rows/0", "X1.A7", "but not A7 and B7, which may only be outputs"),
    ("pins/keypad_columns/0", "X1.B7", "but not A7 and B7, which may only be outputs"),
    ("pins/keypad_columns/0", "R5C1", 'pins.keypad_columns[1]: found "R5C1"; allowed "GPIO2"'),
    ("pins/lock", 17, "pins.lock: found 17; allowed text"),
    ("pins/lock", "17", 'pins.lock: found "17"; allowed "GPIO2" to "GPIO27"'),
    ("pins/lock", "GPIO0", "GPIO0 and GPIO1 belong to the memory of add-on boards"),
    ("pins/lock", "GPIO1", "GPIO0 and GPIO1 belong to the memory of add-on boards"),
    ("pins/lock", "GPIO28", 'pins.lock: found "GPIO28"; allowed'),
    ("pins/lock", "gpio4", 'pins.lock: found "gpio4"; allowed'),
    ("pins/lock", "X1.B5", "only header pins stamp their edges"),
    ("pins/lock", "none", 'pins.lock: found "none"; allowed "GPIO2"'),
    ("pins/drop", "X1.B5", "only header pins stamp their edges"),
    ("pins/lock", "GPIO2", 'pins.lock: found "GPIO2", which I2C bus 1 uses; allowed a pin that'),
    ("pins/lock", "GPIO3", 'pins.lock: found "GPIO3", which I2C bus 1 uses; allowed'),
    ("pins/lock", "GPIO10", 'pins.lock: found "GPIO10", which SPI bus 0 uses; allowed'),
    ("pins/lock", "GPIO11", 'pins.lock: found "GPIO11", which SPI bus 0 uses; allowed'),
    ("pins/lock", "GPIO7", 'pins.lock: found "GPIO7", which SPI bus 0 uses; allowed'),
    ("pins/lock", "GPIO20", 'pins.lock: found "GPIO20", which displays.meter.data_pin uses'),
    ("pins/end", "R4C1", 'pins.end: found "R4C1"; allowed "R5C1" to "R5C4", the crossings that no'),
    ("pins/end", "R6C1", 'pins.end: found "R6C1"; allowed "R5C1" to "R5C4"'),
    ("pins/end", "R5C5", 'pins.end: found "R5C5"; allowed "R5C1" to "R5C4"'),
    ("pins/end", "R5C4", 'pins.door: found "R5C4", which pins.end uses; allowed a pin'),
    ("pins/floor_key", "R5C1", 'pins.floor_key: found "R5C1"; allowed "GPIO2" to "GPIO27"'),
    ("pins/floor_key", "X2.A7", "pins.floor_key: found"),
    ("pins/door", "X2.B7", "which pins.door uses"),
    ("pins/buzzer", "X3.A0", 'or "X1.A0" to "X1.B7", or "X2.A0" to "X2.B7"'),
    ("expanders", [], "expanders: found []; allowed a table, written [expanders]"),
    ("expanders/Y1", {}, 'expanders: found an expander "Y1"; allowed "X1" to "X8"'),
    ("expanders/X1/speed", 1, "expanders.X1.speed: found an unknown key; allowed bus, address"),
    ("expanders/X1/bus", -1, "expanders.X1.bus: found -1; allowed a whole number from 0 to 31"),
    ("expanders/X1/address", 0x28, "found 40; allowed an address from 0x20 to 0x27"),
    ("expanders/X2/bus", 1, "expanders.X2.address: found 0x20 on i2c bus 1, which expanders.X1.ad"),
    ("keypad/keys", [["1"]], "keypad.keys: found [a list]; allowed 4 rows of 4 keys"),
    ("keypad/keys/0/0", "1", "keypad.keys: found [a list, a list, a list, a list]; allowed 4 rows"),
    ("keypad/keys/0/0", 7, "keypad.keys: found "),
    ("timing/settle_ms", 49, "timing.settle_ms: found 49; allowed a whole number from 50 to 1000"),
    ("timing/settle_ms", 1001, "timing.settle_ms: found 1001; allowed"),
    ("timing/bounce_ms", 4, "timing.bounce_ms: found 4; allowed a whole number from 5 to 100"),
    ("timing/bounce_ms", True, "timing.bounce_ms: found true; allowed a whole number"),
    ("timing/chatter_edges", 201, "chatter_edges: found 201; allowed a whole number from 10 to 2"),
    ("displays/sign", {}, "displays.sign: found an unknown key; allowed dealer, meter"),
    ("displays/dealer/font", 1, "displays.dealer.font: found an unknown key; allowed enabled, dr"),
    ("displays/dealer/enabled", 1, "displays.dealer.enabled: found 1; allowed true or false"),
    ("displays/dealer/driver", "ssd1322", "displays.dealer.driver: found"),
    ("displays/dealer/driver", "lcd", 'found "lcd"; allowed "ssd1306", "ssd1309", "sh1106", "ssd'),
    ("displays/dealer/interface", "usb", 'found "usb"; allowed "i2c", "spi"'),
    ("displays/dealer/address", 0x78, "found 120; allowed an address from 0x08 to 0x77"),
    ("displays/dealer/address", 0x20, "found 0x20 on i2c bus 1, which expanders.X1.address has"),
    ("displays/dealer/rotate", 4, "rotate: found 4; allowed 0 or 2 quarter turns"),
    ("displays/dealer/data_pin", "GPIO9", 'data_pin: found "GPIO9"; allowed none, as the display'),
    ("displays/meter/bus", 1, "displays.meter.bus: found 1; allowed 0, the only SPI bus"),
    ("displays/meter/address", 2, "displays.meter.address: found 2; allowed 0 or 1, the chip sel"),
    ("displays/meter/data_pin", "", "displays.meter.data_pin: found nothing; allowed the header"),
    ("displays/meter/data_pin", "X1.B5", 'displays.meter.data_pin: found "X1.B5"; allowed "GPIO'),
    ("displays/meter/reset_pin", 25, "displays.meter.reset_pin: found 25; allowed a pin, or noth"),
]


@pytest.mark.parametrize(("place", "value", "told"), BROKEN)
def test_a_table_that_is_wired_wrong_is_told_where_and_what_would_do(
    place: str, value: Any, told: str
) -> None:
    document = sample()
    steps = tuple(int(step) if step.isdigit() else step for step in place.split("/"))
    put(document, steps, value)
    _, problems = read(document, spots=2)
    assert all(problem.startswith("table.toml: ") for problem in problems)
    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("pins/lock", "GPIO9"),
        ("pins/buzzer", "X1.A7"),
        ("pins/end", "X1.B6"),
        ("displays/meter/address", 0),
        ("timing/settle_ms", 50),
        ("expanders/X2/address", 0x27),
    ],
)
def test_what_is_just_allowed_passes(place: str, value: Any) -> None:
    document = sample()
    put(document, tuple(place.split("/")), value)
    assert read(document, spots=2)[1] == []


def test_a_map_that_is_too_small_is_told_with_those_that_fit() -> None:
    _, problems = read({"hardware": {"map": "header-6"}}, seats=8)
    assert problems == [
        'table.toml: hardware.map: found "header-6" at 8 seats; allowed "expander-8", "expander-10"'
    ]


def test_a_small_map_serves_a_bigger_table_that_lists_its_own_seats() -> None:
    pins = {
        "sensors": [f"GPIO{n}" for n in (5, 6, 12, 13, 16, 17, 22)],
        "lamps": [f"X1.{line}" for line in ("A0", "A1", "A2", "A3", "A4", "A5", "A7")],
    }
    assert read({"hardware": {"map": "expander-6"}, "pins": pins}, seats=7)[1] == []


def test_settling_lasts_at_least_two_bounces_or_lock_could_not_be_judged() -> None:
    assert read({"timing": {"settle_ms": 60, "bounce_ms": 30}})[1] == []
    _, problems = read({"timing": {"settle_ms": 60, "bounce_ms": 31}})
    assert problems == [
        "table.toml: timing.bounce_ms: found 31; allowed at most half of settle_ms, which is 60"
    ]


def test_all_problems_are_told_at_once() -> None:
    document = sample()
    document["hardware"]["factory"] = "best"
    document["pins"]["lock"] = "GPIO1"
    document["timing"]["settle_ms"] = 5
    document["displays"]["meter"]["driver"] = "lcd"
    document["keypad"]["keys"] = []
    assert len(read(document, spots=2)[1]) == 5


def test_simulated_sensors_may_lie_anywhere() -> None:
    document = sample()
    document["hardware"]["factory"] = "mock"
    document["pins"]["sensors"][0][0] = "X1.B5"
    hardware, problems = read(document, spots=2)
    assert problems == []
    assert hardware.factory is FactoryName.MOCK


@pytest.mark.parametrize(("seats", "spots"), [(1, 1), (6, 2), (10, 8)])
def test_a_simulated_table_without_a_map_has_wires_enough(seats: int, spots: int) -> None:
    hardware, problems = read({"hardware": {"factory": "mock"}}, seats=seats, spots=spots)
    assert problems == []
    assert hardware == simulated(None, seats=seats, spots=spots)
    pins = [*dict(hardware.lines).values(), *hardware.keypad_rows, *hardware.keypad_columns]
    assert len(set(pins)) == len(pins) == seats * spots + seats + 6 + 8
    assert hardware.factory is FactoryName.MOCK


def test_a_bench_runs_on_the_wires_of_the_file() -> None:
    hardware, _ = read(sample(), spots=2)
    bench = simulated(hardware, seats=6, spots=2)
    assert bench.factory is FactoryName.MOCK
    assert bench.lines == hardware.lines


def test_a_file_that_says_nothing_of_hardware_is_known() -> None:
    problems = Problems("table.toml")
    for name in SECTIONS:
        assert says_hardware(Section({name: {}}, SECTIONS, problems))
    assert not says_hardware(Section({}, SECTIONS, problems))


def test_the_sample_says_everything_that_can_be_said() -> None:
    for name, keys in HARDWARE_KEYS.items():
        section = sample()[name.partition(".")[0]]
        sections = section.values() if name.endswith(".NAME") else [section]
        assert {key for each in sections for key in each} == set(keys), name


@given(
    data=st.data(),
    seats=st.integers(1, 10),
    spots=st.integers(1, 9),
)
def test_no_text_makes_the_reader_fail(data: st.DataObject, seats: int, spots: int) -> None:
    document = sample()
    mangle(document, data)
    mangle(document, data)
    problems = Problems("table.toml")
    root = Section(document, (*SECTIONS, "table"), problems)
    read_hardware(root, problems, seats=seats, spots=spots, load_map=load_map)
    assert all(sentence.isprintable() for sentence in problems.sentences)


def test_the_wiring_page_shows_the_ready_maps_as_they_are() -> None:
    """If this fails, run python -m tests.wiring_tables."""
    assert FILE.read_text("utf-8") == page(FILE.read_text("utf-8"))
