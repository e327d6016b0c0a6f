"""One OLED and its bus: unplugged, plugged in again, without power for a moment, or not there."""

from __future__ import annotations

import atexit
import errno
import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import ModuleType

import pytest
from PIL import Image

from controller.domain.errors import Broken, Fault
from controller.hardware import DisplayWiring
from display.glass import BRIGHT, DIM, Glass, dummy_glass, open_glass, size_of
from tests.unit.buses import DATA, FakePins, FakeSMBus, FakeSpiDev, Panel1306, on_i2c

# luma reads pictures in a way that Pillow 14 drops; see docs/displays.md.
pytestmark = pytest.mark.filterwarnings("ignore:Image.Image.getdata is deprecated")

I2C = DisplayWiring("ssd1306", "i2c")
SPI = DisplayWiring("ssd1322", "spi", 0, 0, "GPIO24", "GPIO25")


def picture(*, at: int = 10, size: tuple[int, int] = (128, 64)) -> Image.Image:
    image = Image.new("1", size)
    image.paste(1, (at, at, at + 20, at + 9))
    return image


def same(one: Image.Image | None, other: Image.Image) -> bool:
    return one is not None and one.tobytes() == other.tobytes()


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch) -> Panel1306:
    return on_i2c(monkeypatch)


@pytest.fixture
def glass(panel: Panel1306) -> Glass:
    return open_glass(I2C)


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What would run when the process ends."""
    found: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", found.append)
    return found


def pictures(panel: Panel1306) -> int:
    return sum(entry[0] == DATA for entry in panel.log)


def test_nothing_is_sent_before_the_first_picture(panel: Panel1306, glass: Glass) -> None:
    assert (panel.log, panel.opened) == ([], 0)
    assert glass.size == (128, 64)


@pytest.mark.parametrize("driver", ["ssd1306", "ssd1309"])
def test_what_is_drawn_stands_on_the_panel(panel: Panel1306, driver: str) -> None:
    glass = open_glass(DisplayWiring(driver, "i2c"))
    glass.draw(picture())
    assert same(panel.image(), picture())
    assert same(glass.image, picture())
    assert panel.contrast == BRIGHT


def test_a_panel_lights_up_only_once_its_old_picture_is_gone(panel: Panel1306) -> None:
    panel.lit = True
    open_glass(I2C).draw(picture())
    before = next(number for number, entry in enumerate(panel.log) if entry[0] == DATA)
    assert b"\x00\xaf" not in panel.log[:before]
    assert panel.log[0] == b"\x00\xae"
    assert panel.lit


def test_a_turned_display_shows_the_same_picture_upside_down(panel: Panel1306) -> None:
    open_glass(DisplayWiring("ssd1306", "i2c", rotate=2)).draw(picture())
    assert same(panel.image(), picture().rotate(180))


def test_the_same_picture_is_not_sent_twice(panel: Panel1306, glass: Glass) -> None:
    glass.draw(picture())
    glass.draw(picture())
    assert pictures(panel) == 1
    glass.draw(picture(at=20))
    assert pictures(panel) == 2


def test_a_panel_that_lost_its_power_comes_back_when_it_is_told_everything_again(
    panel: Panel1306, glass: Glass
) -> None:
    glass.draw(picture())
    panel.lose_power()
    glass.draw(picture())
    assert not same(panel.image(), picture())
    glass.draw(picture(), again=True)
    assert same(panel.image(), picture())


def test_an_unplugged_display_is_a_fault_with_address_and_bus(
    panel: Panel1306, glass: Glass
) -> None:
    panel.plugged = False
    with pytest.raises(Fault, match=r"^no answer at 0x3c on bus 1: check its cable$"):
        glass.draw(picture())
    assert glass.image is None
    assert panel.opened == 0


@pytest.mark.parametrize("code", [errno.EREMOTEIO, errno.EIO, errno.ENXIO, errno.EBUSY])
def test_whatever_the_bus_says_and_whenever_it_is_the_same_fault(
    panel: Panel1306, glass: Glass, code: int
) -> None:
    panel.fails_with, panel.data_fails = code, True
    with pytest.raises(Fault, match="no answer at 0x3c"):
        glass.draw(picture())
    panel.data_fails = False
    glass.draw(picture())
    assert same(panel.image(), picture())


def test_a_missing_bus_and_a_forbidden_one_say_what_to_do(
    panel: Panel1306, glass: Glass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSMBus, "missing", FileNotFoundError(errno.ENOENT, "", "/dev/i2c-1"))
    with pytest.raises(Fault, match="I2C bus 1 cannot be opened: switch it on"):
        glass.draw(picture())
    monkeypatch.setattr(FakeSMBus, "missing", PermissionError(errno.EACCES, "", "/dev/i2c-1"))
    with pytest.raises(Fault, match="no permission for I2C bus 1"):
        glass.draw(picture())


def test_after_a_fault_the_same_picture_is_drawn_again(panel: Panel1306, glass: Glass) -> None:
    glass.draw(picture())
    panel.plugged = False
    with pytest.raises(Fault):
        glass.draw(picture(at=20))
    panel.lose_power()
    panel.plugged = True
    glass.draw(picture(at=20))
    assert same(panel.image(), picture(at=20))


def test_a_display_can_come_and_go_for_ever_without_a_trace(panel: Panel1306, glass: Glass) -> None:
    """A device made anew each time keeps a hook at exit and a third of a megabyte."""

    def come_and_go(times: int) -> None:
        for number in range(times):
            panel.plugged = False
            with pytest.raises(Fault):
                glass.draw(picture(at=number % 20))
            panel.plugged = True
            glass.draw(picture(at=number % 20))
            panel.log.clear()
            gc.collect(0)

    come_and_go(20)
    hooks = atexit._ncallbacks()
    tracemalloc.start()
    try:
        before, _peak = tracemalloc.get_traced_memory()
        come_and_go(500)
        gc.collect()
        after, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert atexit._ncallbacks() == hooks
    assert after - before < 100_000
    assert panel.opened == 1


def test_one_display_leaves_one_hook_at_exit_and_it_is_silent_when_the_display_is_gone(
    panel: Panel1306, hooks: list[Callable[[], None]]
) -> None:
    glass = open_glass(I2C)
    glass.draw(picture())
    panel.plugged = False
    assert len(hooks) == 1
    hooks[0]()
    glass.close()
    hooks[0]()


def test_a_process_that_ends_without_a_word_leaves_no_number_behind(
    panel: Panel1306, hooks: list[Callable[[], None]]
) -> None:
    open_glass(I2C).draw(picture())
    hooks[0]()
    assert panel.image().getbbox() is None
    assert not any(panel.memory)


def test_what_a_closed_display_shows_stays(
    panel: Panel1306, hooks: list[Callable[[], None]]
) -> None:
    glass = open_glass(I2C)
    glass.draw(picture())
    glass.close()
    hooks[0]()
    assert same(panel.image(), picture())


def test_clearing_leaves_nothing_on_the_panel(panel: Panel1306, glass: Glass) -> None:
    glass.draw(picture())
    glass.clear()
    assert panel.image().getbbox() is None
    assert not any(panel.memory)


def test_contrast_is_kept_through_a_fault(panel: Panel1306, glass: Glass) -> None:
    glass.contrast(DIM)
    glass.draw(picture())
    assert panel.contrast == DIM
    panel.plugged = False
    with pytest.raises(Fault):
        glass.contrast(BRIGHT)
    panel.lose_power()
    panel.plugged = True
    glass.draw(picture())
    assert panel.contrast == BRIGHT
    sent = len(panel.log)
    glass.contrast(BRIGHT)
    assert len(panel.log) == sent


def test_another_controller_on_i2c_gets_its_own_commands(panel: Panel1306) -> None:
    open_glass(DisplayWiring("sh1106", "i2c")).draw(picture())
    assert sum(len(entry) - 1 for entry in panel.log if entry[0] == DATA) == 1024
    assert pictures(panel) == 8


@pytest.fixture
def spidev(monkeypatch: pytest.MonkeyPatch) -> type[FakeSpiDev]:
    module = ModuleType("spidev")
    module.SpiDev = FakeSpiDev  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spidev", module)
    monkeypatch.setattr(FakeSpiDev, "sent", [])
    return FakeSpiDev


def test_the_wide_panel_on_spi_uses_the_pins_it_is_handed(spidev: type[FakeSpiDev]) -> None:
    pins = FakePins()
    glass = open_glass(SPI, gpio=pins)
    assert glass.size == (256, 64)
    glass.draw(picture(size=(256, 64)))
    assert pins.outputs == ["GPIO24", "GPIO25"]
    assert pins.levels[:2] == [("GPIO25", 0), ("GPIO25", 1)]
    assert {pin for pin, _level in pins.levels[2:]} == {"GPIO24"}
    frame = b"".join(data for data in spidev.sent if len(data) > 64)
    assert len(frame) == 256 * 64 // 2
    assert sum(byte.bit_count() for byte in frame) == 20 * 9 * 4
    assert "RPi" not in sys.modules


def test_a_reset_that_is_tied_high_needs_no_pin(spidev: type[FakeSpiDev]) -> None:
    pins = FakePins()
    wiring = DisplayWiring("ssd1309", "spi", 0, 1, "GPIO24")
    open_glass(wiring, gpio=pins).draw(picture())
    assert pins.outputs == ["GPIO24"]
    assert spidev.sent


def test_a_wide_panel_that_is_told_again_gets_its_whole_picture(spidev: type[FakeSpiDev]) -> None:
    glass = open_glass(SPI, gpio=FakePins())
    for _twice in range(2):
        spidev.sent.clear()
        glass.draw(picture(size=(256, 64)), again=True)
        assert sum(len(data) for data in spidev.sent if len(data) > 64) == 256 * 64 // 2


def test_a_missing_port_or_module_for_spi_says_what_to_do(
    spidev: type[FakeSpiDev], monkeypatch: pytest.MonkeyPatch
) -> None:
    glass = open_glass(SPI, gpio=FakePins())
    monkeypatch.setattr(FakeSpiDev, "missing", FileNotFoundError(errno.ENOENT, "none"))
    with pytest.raises(Fault, match="SPI port 0, chip select 0 cannot be opened"):
        glass.draw(picture(size=(256, 64)))
    monkeypatch.setitem(sys.modules, "spidev", None)
    with pytest.raises(Fault, match=r"module spidev is missing: install feltlink\[spi\]"):
        glass.draw(picture(size=(256, 64)))


def test_a_wiring_that_cannot_be_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(Broken, match="pins' owner"):
        open_glass(SPI)
    with pytest.raises(Broken, match="quarters"):
        open_glass(DisplayWiring("ssd1306", "i2c", rotate=1))
    with pytest.raises(Broken, match="hd44780"):
        size_of(DisplayWiring("hd44780", "i2c"))


def test_a_simulated_display_only_keeps_its_picture() -> None:
    glass = dummy_glass((256, 64))
    assert glass.image is None
    glass.contrast(DIM)
    glass.draw(picture(size=(256, 64)), again=True)
    assert same(glass.image, picture(size=(256, 64)))
    glass.clear()
    assert glass.image is not None
    assert glass.image.getbbox() is None
