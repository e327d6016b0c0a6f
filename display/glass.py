"""One OLED through luma: opened late, opened again after every fault, and never created twice.

luma registers a hook at exit for each device that is made and keeps it for ever, so a display
that comes and goes must not be made anew. The device is made once, against a wire that leads
nowhere and only notes what a new panel has to be told; opening the bus replays those notes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from luma.core.device import dummy
from luma.core.error import DeviceNotFoundError, DevicePermissionError
from luma.core.error import Error as LumaError
from luma.core.framebuffer import full_frame
from luma.core.interface.serial import i2c, noop, spi
from luma.oled.device import sh1106, ssd1306, ssd1309, ssd1322
from PIL import Image

from controller.domain.errors import Fault, check
from controller.hardware import DisplayWiring
from display.sheet import Size

NARROW: Final = (128, 64)
WIDE: Final = (256, 64)
DRIVERS: Final[dict[str, tuple[Any, Size]]] = {
    "ssd1306": (ssd1306, NARROW),
    "ssd1309": (ssd1309, NARROW),
    "sh1106": (sh1106, NARROW),
    "ssd1322": (ssd1322, WIDE),
}
BRIGHT: Final = 0xCF
DIM: Final = 0x08
RESET_S: Final = 0.001  # the panels want 0.1 ms
# Longer than any setting of a panel: such data is a picture, which is not part of the notes.
_PICTURE_BYTES: Final = 64

_DOWN: Final = (LumaError, OSError, ImportError)


class Pins(Protocol):
    """The part of RPi.GPIO that luma needs for SPI; whoever owns the pins hands it in.

    `setup` is called again whenever the display is opened again.
    """

    HIGH: int
    LOW: int
    OUT: int

    def setup(self, pin: str, direction: int) -> None: ...

    def output(self, pin: str, level: int) -> None: ...


class Interface(Protocol):
    """What luma calls a serial interface."""

    def command(self, *bytes_: int) -> None: ...

    def data(self, data: list[int]) -> None: ...

    def cleanup(self) -> None: ...


class Wire:
    """Stands between a device and its bus. Without a bus it takes notes of the settings."""

    def __init__(self) -> None:
        self._notes: list[tuple[bool, tuple[int, ...]]] = []  # is it a command, and the bytes
        self._noting = True
        self._interface: Interface | None = None

    def command(self, *bytes_: int) -> None:
        if self._noting:
            self._notes.append((True, bytes_))
        else:
            self._connected().command(*bytes_)

    def data(self, data: list[int]) -> None:
        if not self._noting:
            self._connected().data(data)
        elif len(data) <= _PICTURE_BYTES:
            self._notes.append((False, tuple(data)))

    def stop_noting(self) -> None:
        self._noting = False

    def connect(self, interface: Interface) -> None:
        self._interface = interface

    @property
    def is_connected(self) -> bool:
        return self._interface is not None

    def replay(self, *, dark: bool) -> None:
        """Tell a panel, new or known, all its settings; dark: all but the last, which lights it."""
        interface = self._connected()
        for is_command, bytes_ in self._notes[: -1 if dark else None]:
            if is_command:
                interface.command(*bytes_)
            else:
                interface.data(list(bytes_))

    def cleanup(self) -> None:
        """Let the bus go, also one that fails while it is let go."""
        interface, self._interface = self._interface, None
        if interface is not None:
            with suppress(*_DOWN):
                interface.cleanup()

    def _connected(self) -> Interface:
        if self._interface is None:
            raise DeviceNotFoundError("the display is not connected")
        return self._interface


class Glass:
    """One display to draw on. `Fault` says in words for a technician why it cannot be."""

    def __init__(
        self, device: Any, wire: Wire, connect: Callable[[], Interface], where: str, bus: str
    ) -> None:
        self._device, self._wire, self._connect = device, wire, connect
        self._where, self._bus = where, bus
        self._level = BRIGHT
        self.size: Size = device.size
        self.image: Image.Image | None = None  # what stands on the glass, as far as we know

    def draw(self, image: Image.Image, *, again: bool = False) -> None:
        """Show it, unless it is up already. `again` tells the panel its settings anew as well.

        Without that a panel that lost its power for a moment would stay dark for ever.
        """
        if image == self.image and not again:
            return
        self._try(lambda: self._display(image, fresh=again))

    def clear(self) -> None:
        self.draw(Image.new("1", self.size), again=True)

    def contrast(self, level: int) -> None:
        """From 0 to 255; kept for the next time the display is opened."""
        if level != self._level:
            self._level = level
            if self._wire.is_connected:
                self._try(lambda: self._device.contrast(level))

    def close(self) -> None:
        """Let go of the bus; what is drawn stays, and luma's hook at exit cannot reach it."""
        self._wire.cleanup()
        self.image = None

    def _display(self, image: Image.Image, *, fresh: bool) -> None:
        opened = not self._wire.is_connected
        if opened:
            self._wire.connect(self._connect())
            self._device.hide()  # it may still hold the picture of another day
        if opened or fresh:
            self._wire.replay(dark=opened)
            self._device.contrast(self._level)
        self._device.display(image)
        if opened:
            self._device.show()
        self.image = image

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except _DOWN as error:
            why = self._why(error)
            self.close()
            raise Fault(why) from error

    def _why(self, error: Exception) -> str:
        if isinstance(error, ImportError):
            return f"the Python module {error.name} is missing: install feltlink[spi]"
        if isinstance(error, DevicePermissionError | PermissionError):
            return f"no permission for {self._bus}: add the unit's user to its group"
        if not self._wire.is_connected:
            return f"{self._bus} cannot be opened: switch it on in the Pi's configuration"
        return f"no answer at {self._where}: check its cable"


def size_of(wiring: DisplayWiring) -> Size:
    check(wiring.driver in DRIVERS, f"unknown display driver {wiring.driver}")
    return DRIVERS[wiring.driver][1]


def open_glass(wiring: DisplayWiring, *, gpio: Pins | None = None) -> Glass:
    """The display of that wiring. Nothing is sent to it before the first picture."""
    width, height = size_of(wiring)
    check(wiring.rotate in (0, 2), "a display lies flat: it is turned by 0 or 2 quarters")
    check(wiring.interface == "i2c" or gpio is not None, "a display on SPI needs the pins' owner")
    wire = Wire()
    device = DRIVERS[wiring.driver][0](
        serial_interface=wire,
        width=width,
        height=height,
        rotate=wiring.rotate,
        mode="1",
        framebuffer=full_frame(),
    )
    wire.stop_noting()
    return Glass(device, wire, _connector(wiring, gpio), *_places(wiring))


def dummy_glass(size: Size) -> Glass:
    """A display that is not there: it only keeps its picture, for pages and tests."""
    wire = Wire()
    device = dummy(width=size[0], height=size[1], mode="1", serial_interface=wire)
    wire.stop_noting()
    return Glass(device, wire, noop, "memory", "memory")


def _places(wiring: DisplayWiring) -> tuple[str, str]:
    """Where the panel is, and on which bus, in words."""
    if wiring.interface == "i2c":
        return f"{wiring.address:#04x} on bus {wiring.bus}", f"I2C bus {wiring.bus}"
    chip = f"SPI port {wiring.bus}, chip select {wiring.address}"
    return chip, chip


def _connector(wiring: DisplayWiring, gpio: Pins | None) -> Callable[[], Interface]:
    if wiring.interface == "i2c":
        return lambda: i2c(port=wiring.bus, address=wiring.address)
    return lambda: spi(
        gpio=gpio,
        port=wiring.bus,
        device=wiring.address,
        gpio_DC=wiring.data_pin or None,
        gpio_RST=wiring.reset_pin or None,
        reset_hold_time=RESET_S,
        reset_release_time=RESET_S,
    )
