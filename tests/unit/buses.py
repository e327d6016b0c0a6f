"""Fake buses for displays: an I2C panel that understands an SSD1306, and an SPI port."""

from __future__ import annotations

import errno
from typing import Any, ClassVar

import pytest
from PIL import Image

COMMAND, DATA = 0x00, 0x40
_ARGUMENTS = dict.fromkeys((0x20, 0x81, 0x8D, 0xA8, 0xD3, 0xD5, 0xD9, 0xDA, 0xDB), 1) | {
    0x21: 2,
    0x22: 2,
}


class Panel1306:
    """One SSD1306 on a bus: what it shows follows from the bytes that reached it."""

    def __init__(self) -> None:
        self.plugged = True
        self.fails_with = errno.EREMOTEIO
        self.data_fails = False  # the panel answers to commands but not to pictures
        self.opened = 0  # how many handles on the bus are open
        self.log: list[bytes] = []
        self.lose_power()

    def lose_power(self) -> None:
        self.lit, self.contrast = False, 0x7F
        self.memory = bytearray(b"\x55" * 1024)
        self._column = self._page = 0

    def write(self, mode: int, data: bytes) -> None:
        if not self.plugged or (mode == DATA and self.data_fails):
            raise OSError(self.fails_with, "no answer")
        self.log.append(bytes([mode]) + data)
        if mode == COMMAND:
            self._command(list(data))
            return
        for byte in data:
            self.memory[self._page * 128 + self._column] = byte
            self._column = (self._column + 1) % 128
            self._page = (self._page + (self._column == 0)) % 8

    def _command(self, data: list[int]) -> None:
        while data:
            code = data.pop(0)
            given = [data.pop(0) for _ in range(_ARGUMENTS.get(code, 0))]
            if code in (0xAE, 0xAF):
                self.lit = code == 0xAF
            if code == 0x81:
                (self.contrast,) = given
            if code == 0x21:
                self._column = given[0]
            if code == 0x22:
                self._page = given[0]

    def image(self) -> Image.Image:
        """What a person in front of it sees."""
        seen = Image.new("1", (128, 64))
        for y in range(64 if self.lit else 0):
            for x in range(128):
                seen.putpixel((x, y), self.memory[y // 8 * 128 + x] >> y % 8 & 1)
        return seen


class FakeSMBus:
    """smbus2.SMBus with one panel at each address that `panels` knows."""

    panels: ClassVar[dict[int, Panel1306]] = {}
    missing: ClassVar[OSError | None] = None

    def __init__(self, port: int) -> None:
        if self.missing is not None:
            raise self.missing
        for panel in self.panels.values():
            panel.opened += 1

    def write_i2c_block_data(self, address: int, register: int, data: list[int]) -> None:
        self.panels[address].write(register, bytes(data))

    def i2c_rdwr(self, message: Any) -> None:
        data = bytes(list(message))
        self.panels[message.addr].write(data[0], data[1:])

    def close(self) -> None:
        for panel in self.panels.values():
            panel.opened -= 1


def on_i2c(patch: pytest.MonkeyPatch, address: int = 0x3C) -> Panel1306:
    """A panel at that address of every bus, for as long as the test lasts."""
    panel = Panel1306()
    patch.setattr(FakeSMBus, "panels", {**FakeSMBus.panels, address: panel})
    patch.setattr("smbus2.SMBus", FakeSMBus)
    return panel


class FakePins:
    """The pins' owner, with the levels that were set, in order."""

    HIGH, LOW, OUT = 1, 0, 0

    def __init__(self) -> None:
        self.levels: list[tuple[str, int]] = []
        self.outputs: list[str] = []

    def setup(self, pin: str, direction: int) -> None:
        self.outputs.append(pin)

    def output(self, pin: str, level: int) -> None:
        self.levels.append((pin, level))


class FakeSpiDev:
    """spidev.SpiDev; `sent` is what went out while it was open, all ports together."""

    sent: ClassVar[list[bytes]] = []
    missing: ClassVar[OSError | None] = None
    max_speed_hz = 0

    def open(self, port: int, device: int) -> None:
        if self.missing is not None:
            raise self.missing

    def writebytes(self, data: list[int]) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        pass
