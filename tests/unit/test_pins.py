"""The pins: the named driver or none, every wire once, edges with their own time, no surprises."""

from __future__ import annotations

import gc
import platform
import sys
import threading
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest
from gpiozero.exc import PinInvalidPin, PinInvalidPull, PinSetInput
from gpiozero.pins import local
from luma.core.interface.serial import spi
from msgspec.structs import replace

from controller.domain.errors import Broken, Fault
from controller.hardware import (
    BUZZER,
    DOOR,
    END,
    FLOOR_KEY,
    LOCK,
    FactoryName,
    Hardware,
    Line,
    lamp,
    sensor,
)
from controller.hardware_file import simulated
from firmware import pin_driver
from firmware.mcp23017 import Mcp23017
from firmware.pins import ExpanderFactory, LumaPins, Pins, open_bus, open_factory
from mock_gpio.pins import SimulatedPins
from tests.fake_expander import FakeBus, FakeChip
from tests.fake_lgpio import FakeLgpio
from tests.wiring_tables import ready

PI_4 = 0xC03115


def install(monkeypatch: pytest.MonkeyPatch, *distributions: str) -> None:
    def version(name: str) -> str:
        if name not in distributions:
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)


@pytest.fixture
def lgpio(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLgpio]:
    """A Pi 4 with lgpio, and nothing of it left behind afterwards."""
    module = FakeLgpio()
    install(monkeypatch, "lgpio", "rpi-lgpio")
    monkeypatch.setitem(sys.modules, "lgpio", module)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    monkeypatch.setattr(local, "get_pi_revision", lambda: PI_4)
    yield module
    sys.modules.pop("gpiozero.pins.lgpio", None)
    local.LocalPiFactory.pins.clear()
    local.LocalPiFactory._reservations.clear()


def fault_of(name: FactoryName) -> str:
    with pytest.raises(Fault) as told:
        open_factory(name)
    return str(told.value)


def test_simulated_pins_are_never_opened_as_if_they_were_real() -> None:
    with pytest.raises(Broken, match="simulated pins are handed in"):
        open_factory(FactoryName.MOCK)


def test_exactly_the_named_driver_is_opened_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, lgpio: FakeLgpio
) -> None:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    factory = open_factory(FactoryName.LGPIO)
    assert type(factory).__name__ == "LGPIOFactory"
    factory.close()


def test_a_driver_that_is_not_installed_is_told_and_not_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch)
    monkeypatch.setitem(sys.modules, "lgpio", None)
    monkeypatch.setitem(sys.modules, "RPi", None)
    assert fault_of(FactoryName.LGPIO).startswith("lgpio cannot be loaded (")
    told = fault_of(FactoryName.RPIGPIO)
    assert told.startswith("RPi.GPIO cannot be loaded (")
    assert "install python3-lgpio and python3-rpi-lgpio" in told


def test_the_empty_lgpio_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "lgpio")
    monkeypatch.setitem(sys.modules, "lgpio", ModuleType("lgpio"))
    assert "empty release 0.0.0.2: install lgpio 0.2.2.0 or later" in fault_of(FactoryName.LGPIO)


def test_two_drivers_that_own_the_same_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "RPi.GPIO", "rpi-lgpio")
    for name in (FactoryName.LGPIO, FactoryName.RPIGPIO):
        assert fault_of(name).startswith("RPi.GPIO and rpi-lgpio are both installed")


@pytest.mark.parametrize(
    ("kernel", "installed", "is_deaf"),
    [
        ("6.12.20+rpt-rpi-v8", "RPi.GPIO", True),
        ("6.6.0", "RPi.GPIO", True),
        ("10.0", "RPi.GPIO", True),
        ("6.1.21-v8+", "RPi.GPIO", False),
        ("5.15.84", "RPi.GPIO", False),
        ("unknown", "RPi.GPIO", False),
        ("6.12.20+rpt-rpi-v8", "rpi-lgpio", False),
    ],
)
def test_the_old_driver_is_refused_on_kernels_where_it_hears_no_edge(
    monkeypatch: pytest.MonkeyPatch, kernel: str, installed: str, is_deaf: bool
) -> None:
    install(monkeypatch, installed)
    monkeypatch.setattr(platform, "release", lambda: kernel)
    monkeypatch.setitem(sys.modules, "RPi", None)
    told = fault_of(FactoryName.RPIGPIO)
    assert told.startswith(f"RPi.GPIO sees no edges on kernel {kernel}") is is_deaf
    assert told.startswith("RPi.GPIO cannot be loaded") is not is_deaf


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            FileNotFoundError(2, "No such file", ".lgd-nfy-3"),
            "give the service a WorkingDirectory=",
        ),
        (RuntimeError("can only be run on a Raspberry Pi"), "refuses this machine"),
    ],
)
def test_a_driver_that_fails_while_it_loads_is_told_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def import_module(_name: str) -> None:
        raise error

    install(monkeypatch)
    monkeypatch.setattr(pin_driver, "import_module", import_module)
    assert told in fault_of(FactoryName.LGPIO)


def test_pins_that_may_not_be_opened_are_told(
    monkeypatch: pytest.MonkeyPatch, lgpio: FakeLgpio
) -> None:
    lgpio.has_chip = False
    assert fault_of(FactoryName.LGPIO) == (
        "lgpio cannot open the pins (can not open gpiochip): run this on a Raspberry Pi, as a user"
        ' of the group gpio; to try without one, set factory = "mock".'
    )


def test_a_machine_that_is_no_raspberry_pi_is_told(
    monkeypatch: pytest.MonkeyPatch, lgpio: FakeLgpio
) -> None:
    def unknown() -> int:
        raise local.PinUnknownPi("unable to locate Pi revision")

    monkeypatch.setattr(local, "get_pi_revision", unknown)
    assert "lgpio cannot open the pins (unable to locate Pi revision)" in fault_of(
        FactoryName.LGPIO
    )


def test_a_bus_that_is_not_there_is_told_with_what_switches_it_on() -> None:
    with pytest.raises(Fault, match=r"I2C bus 97 cannot be opened .*dtparam=i2c_arm=on"):
        open_bus(97)


class OnLgpio:
    """A table on the header of a Pi, through gpiozero's own lgpio factory."""

    def __init__(self, lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lgpio = lgpio
        self.factory = open_factory(FactoryName.LGPIO)
        monkeypatch.setattr(self.factory, "ticks", lambda: 5_000.25, raising=False)
        self.edges: list[tuple[Line, bool, int]] = []
        self.pins = Pins(ready("header-6"), self.factory)

    def watch(self) -> None:
        self.pins.watch(lambda line, active, at_us: self.edges.append((line, active, at_us)))


@pytest.fixture
def table(lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnLgpio]:
    table = OnLgpio(lgpio, monkeypatch)
    yield table
    table.pins.close()
    table.factory.close()


def test_an_edge_keeps_the_time_that_the_kernel_put_on_it(table: OnLgpio) -> None:
    table.watch()
    table.lgpio.fire(5, 0, 4_999_123_456_789)
    table.lgpio.fire(4, 1, 5_000_000_000_499)
    assert table.edges == [(sensor(1), True, 4_999_123_457), (LOCK, False, 5_000_000_000)]
    assert table.pins.now_us() == 5_000_250_000
    assert table.pins.unstamped == 0


@pytest.mark.parametrize("at_ns", [1_763_000_000_000_000_000, 0, 4_990_249_999_000])
def test_a_stamp_of_another_clock_is_replaced_and_counted(table: OnLgpio, at_ns: int) -> None:
    table.watch()
    table.lgpio.fire(5, 0, at_ns)
    assert table.edges == [(sensor(1), True, 5_000_250_000)]
    assert table.pins.unstamped == 1


def test_edges_before_the_watch_begins_are_not_reported(table: OnLgpio) -> None:
    table.lgpio.fire(5, 0, 5_000_000_000_000)
    table.watch()
    assert table.edges == []


def test_a_report_that_fails_is_counted_and_never_reaches_the_driver(table: OnLgpio) -> None:
    def fail(_line: Line, _active: bool, _at_us: int) -> None:
        raise ValueError("full")

    table.pins.watch(fail)
    table.lgpio.fire(5, 0, 5_000_000_000_000)
    table.lgpio.fire(6, 0, 5_000_000_000_000)
    assert table.pins.lost == 2
    table.watch()
    table.lgpio.fire(5, 1, 5_000_000_000_000)
    assert table.edges == [(sensor(1), False, 5_000_000_000)]


def test_watching_goes_on_although_gpiozero_holds_nobody_alive(table: OnLgpio) -> None:
    table.watch()
    gc.collect()
    table.lgpio.fire(17, 0, 5_000_000_000_000)
    assert table.edges == [(sensor(6), True, 5_000_000_000)]


def test_no_driver_is_asked_to_debounce(table: OnLgpio) -> None:
    assert table.lgpio.debounces == {0}


def test_inputs_are_pulled_up_and_lamps_start_dark(table: OnLgpio) -> None:
    modes, latches = table.lgpio.modes, table.lgpio.latches
    assert all(modes[gpio] == FakeLgpio.SET_PULL_UP for gpio in (4, 5, 6, 7, 12, 13, 16, 17))
    assert all(latches[gpio] == 0 for gpio in (18, 19, 20, 21, 22, 23, 26))


def test_levels_are_read_as_they_are_wired(table: OnLgpio) -> None:
    table.lgpio.grounded = {5, 7}
    table.lgpio.joined = {(8, 10)}  # the door is shut
    lines = [sensor(1), sensor(2), FLOOR_KEY, DOOR, END]
    assert list(table.pins.levels(lines).values()) == [True, False, True, False, False]
    table.lgpio.joined = {(8, 9)}  # the door's cable is cut, and END is pressed
    assert list(table.pins.levels(lines).values()) == [True, False, True, True, True]


def test_every_line_with_a_pin_of_its_own_is_watched_and_no_other(table: OnLgpio) -> None:
    assert set(table.lgpio.alerts) == {4, 5, 6, 7, 12, 13, 16, 17}


@pytest.mark.parametrize("row", range(4))
def test_keys_are_found_row_by_row_and_no_row_stays_behind(table: OnLgpio, row: int) -> None:
    rows, columns = (14, 15, 24, 25), (9, 10, 11, 27)
    assert table.pins.closed_keys() == set()
    table.lgpio.joined = {(rows[row], columns[3 - row]), (rows[3], columns[0])}
    for _ in range(2):
        assert table.pins.closed_keys() == {(row, 3 - row), (3, 0)}
    table.lgpio.joined = set()
    assert table.pins.closed_keys() == set()


def test_a_lamp_is_switched_and_all_are_dark_after_the_end(table: OnLgpio) -> None:
    table.watch()
    table.pins.set(lamp(2), True)
    table.pins.set(BUZZER, True)
    assert (table.lgpio.latches[19], table.lgpio.latches[26]) == (1, 1)
    table.pins.close()
    table.pins.close()
    assert (table.lgpio.latches[19], table.lgpio.latches[26]) == (0, 0)
    assert table.lgpio.alerts == {}
    Pins(ready("header-6"), table.factory).close()


def test_what_was_let_go_is_not_used_any_more(table: OnLgpio) -> None:
    table.pins.close()
    for use in (
        table.pins.closed_keys,
        lambda: table.pins.level(DOOR),
        lambda: table.pins.level(LOCK),
        lambda: table.pins.set(BUZZER, True),
    ):
        with pytest.raises(Broken):
            use()


def test_a_pin_that_another_program_holds_is_told_and_the_rest_let_go(
    lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch
) -> None:
    lgpio.busy = {27}
    with pytest.raises(Fault, match=r"GPIO27 cannot be claimed \(GPIO busy\): stop whatever else"):
        OnLgpio(lgpio, monkeypatch)
    assert lgpio.alerts == {}
    lgpio.busy = set()
    OnLgpio(lgpio, monkeypatch).pins.close()


def test_a_driver_that_fails_later_is_told_too(table: OnLgpio) -> None:
    table.lgpio.modes.clear()

    def fail(*_args: object) -> int:
        raise FakeLgpio.error("bad handle")

    for name in ("gpio_read", "gpio_write", "gpio_claim_output", "gpio_get_mode"):
        setattr(table.lgpio, name, fail)
    for use in (
        lambda: table.pins.level(LOCK),
        lambda: table.pins.level(DOOR),
        table.pins.closed_keys,
        lambda: table.pins.set(lamp(1), True),
    ):
        with pytest.raises(Fault, match="bad handle"):
            use()


def test_lines_that_are_not_there_are_our_own_mistake(table: OnLgpio) -> None:
    for use in (
        lambda: table.pins.level(sensor(7)),
        lambda: table.pins.level(lamp(1)),
        lambda: table.pins.set(sensor(1), True),
    ):
        with pytest.raises(Broken, match="of this table"):
            use()


class OnExpander:
    """Sensors on simulated header pins, lamps and keypad on expanders that can be pulled out."""

    def __init__(self, hardware: Hardware) -> None:
        self.chip, self.second = FakeChip(), FakeChip()
        self.bus = FakeBus(at_20=self.chip, at_21=self.second)
        self.hands = SimulatedPins(hardware, lambda: 0)
        self.pins = Pins(hardware, self.hands, expander_bus=self.open_bus)

    def open_bus(self, number: int) -> FakeBus:
        assert number == 1
        return self.bus


@pytest.fixture
def ten() -> OnExpander:
    return OnExpander(ready("expander-10"))


def test_lamps_on_expanders_are_switched_each_on_its_own_chip(ten: OnExpander) -> None:
    ten.pins.set(lamp(7), True)
    ten.pins.set(lamp(10), True)
    assert ten.chip.is_driven_high("A7")
    assert ten.second.is_driven_high("A1")
    ten.pins.close()
    assert not ten.chip.is_driven_high("A7")
    assert not ten.second.is_driven_high("A1")
    assert ten.bus.is_closed


def test_a_look_at_an_idle_keypad_is_one_transfer(ten: OnExpander) -> None:
    ten.pins.closed_keys()
    ten.bus.reads.clear()
    ten.bus.writes.clear()
    assert ten.pins.closed_keys() == set()
    assert (len(ten.bus.reads), ten.bus.writes) == (1, [])


def test_a_keypad_on_an_expander_is_read_key_by_key(ten: OnExpander) -> None:
    ten.chip.joined = {("B4", "B1"), ("A6", "B3")}
    assert ten.pins.closed_keys() == {(0, 1), (3, 3)}
    assert ten.pins.closed_keys() == {(0, 1), (3, 3)}


def test_sensors_do_not_wait_for_a_bus_and_survive_its_loss(ten: OnExpander) -> None:
    edges: list[Line] = []
    ten.pins.watch(lambda line, _active, _at_us: edges.append(line))
    ten.chip.unplug()
    ten.bus.reads.clear()
    ten.hands.cover(sensor(9))
    assert ten.pins.levels([sensor(9), LOCK, DOOR]) == {sensor(9): True, LOCK: False, DOOR: False}
    assert edges == [sensor(9)]
    assert ten.bus.reads == []


def test_an_expander_pulled_out_and_plugged_in_again_lights_what_it_should(ten: OnExpander) -> None:
    ten.pins.set(lamp(1), True)
    ten.chip.unplug()
    told = "Expander X1 at 0x20 on I2C bus 1 does not answer"
    with pytest.raises(Fault, match=told):
        ten.pins.set(lamp(2), True)
    with pytest.raises(Fault, match=told):
        ten.pins.closed_keys()
    with pytest.raises(Fault, match=told):
        ten.pins.restore()
    ten.chip.replug()
    assert ten.pins.restore() == ("X1",)
    assert ten.chip.is_driven_high("A0")
    assert ten.chip.is_driven_high("A1")
    assert ten.pins.restore() == ()
    ten.chip.joined = {("B5", "B0")}
    assert ten.pins.closed_keys() == {(1, 0)}


def test_an_expander_that_is_gone_does_not_keep_the_other_dark(ten: OnExpander) -> None:
    ten.pins.set(lamp(9), True)
    ten.chip.unplug()
    ten.second.replug()
    with pytest.raises(Fault, match="X1"):
        ten.pins.restore()
    assert ten.second.is_driven_high("A0")


def test_pins_are_let_go_although_an_expander_is_gone(ten: OnExpander) -> None:
    ten.pins.set(lamp(9), True)
    ten.chip.unplug()
    ten.pins.close()
    assert not ten.second.is_driven_high("A0")
    assert ten.bus.is_closed


def test_a_missing_expander_stops_the_start_and_lets_everything_go() -> None:
    hardware = ready("expander-6")
    hands = SimulatedPins(hardware, lambda: 0)
    bus = FakeBus()
    with pytest.raises(Fault, match="Expander X1"):
        Pins(hardware, hands, expander_bus=lambda _number: bus)
    assert bus.is_closed
    whole = FakeBus(at_20=FakeChip())
    Pins(hardware, hands, expander_bus=lambda _number: whole).close()


def test_simulated_tables_open_no_bus() -> None:
    hardware = simulated(ready("expander-8"), seats=8, spots=1)
    hands = SimulatedPins(hardware, lambda: 0)

    def no_bus(_number: int) -> FakeBus:
        raise AssertionError

    pins = Pins(hardware, hands, expander_bus=no_bus)
    pins.set(lamp(8), True)
    assert hands.lit(lamp(8))


def test_slow_switches_on_an_expander_are_read_though_they_report_no_edge() -> None:
    hardware = ready("expander-6")
    moved = [(line, "X1.A6" if line == FLOOR_KEY else pin) for line, pin in hardware.lines]
    rows = (*hardware.keypad_rows[:3], "GPIO14")
    table = OnExpander(replace(hardware, lines=tuple(moved), keypad_rows=rows))
    assert not table.pins.level(FLOOR_KEY)
    table.chip.grounded = {"A6"}
    assert table.pins.level(FLOOR_KEY)


def test_lines_of_an_expander_are_pins_like_any_other() -> None:
    chip = FakeChip()
    factory = ExpanderFactory(Mcp23017(FakeBus(at_20=chip), ready("expander-6").expanders[0]), "X1")
    pin: Any = factory.pin("A3")
    assert (pin.function, pin.pull, pin.state) == ("input", "up", True)
    with pytest.raises(PinSetInput, match="A3 is an input"):
        pin.state = True
    with pytest.raises(PinInvalidPull, match="A3 has no pull-down"):
        pin.pull = "down"
    pin.pull = "floating"
    assert (pin.pull, pin.state) == ("floating", False)
    pin.function = "output"
    pin.state = True
    assert (pin.function, pin.state) == ("output", True)
    assert chip.is_driven_high("A3")
    with pytest.raises(PinInvalidPin, match="Expander X1 has no pin C0"):
        factory.pin("C0")


def test_lamps_may_be_switched_while_another_thread_scans_the_keypad(ten: OnExpander) -> None:
    ten.chip.joined = {("B4", "B1")}
    read: list[frozenset[tuple[int, int]]] = []
    thread = threading.Thread(
        target=lambda: read.extend(ten.pins.closed_keys() for _ in range(300))
    )
    thread.start()
    for number in range(1_000):
        ten.pins.set(lamp(1 + number % 8), number % 3 == 0)
    thread.join()
    assert set(read) == {frozenset({(0, 1)})}
    assert ten.pins.restore() == ()


class FakeSpi:
    """A bus that a display writes to."""

    def __init__(self) -> None:
        self.max_speed_hz = 0
        self.written: list[tuple[bool, list[int]]] = []
        self.data_pin: Any = None

    def open(self, _port: int, _device: int) -> None: ...

    def writebytes(self, data: list[int]) -> None:
        self.written.append((self.data_pin.lit, list(data)))

    def close(self) -> None: ...


def test_a_display_on_spi_uses_the_same_pins_as_everything_else() -> None:
    hardware = simulated(ready("expander-6"), seats=6, spots=1)
    hands = SimulatedPins(hardware, lambda: 0)
    bus, luma = FakeSpi(), LumaPins(hands)
    bus.data_pin = hands.pin("GPIO24")
    for _ in range(2):  # a display that was unplugged is started anew on the same pins
        serial = spi(spi=bus, gpio=luma, gpio_DC="GPIO24", gpio_RST="GPIO25")
    assert hands.pin("GPIO25").lit
    serial.command(0xAF)
    serial.data([1, 2])
    assert bus.written == [(False, [0xAF]), (True, [1, 2])]
    with pytest.raises(Fault, match="GPIO24 cannot be claimed"):
        LumaPins(hands).setup("GPIO24", luma.OUT)
    luma.cleanup()
    assert not hands.pin("GPIO25").lit
    LumaPins(hands).setup("GPIO24", luma.OUT)
