"""An MCP23017 as its data sheet has it, on a bus without wires: for tests to plug and unplug."""

from __future__ import annotations

from typing import Final

from firmware.mcp23017 import LINES

DIRECTION: Final = 0x00
CONTROL: Final = 0x0A
PULL_UP: Final = 0x0C
LEVEL: Final = 0x12
LATCH: Final = 0x14
_MOVED: Final = 0x80  # the bit of CONTROL that puts each port's registers together


class FakeChip:
    """Registers, and contacts between its lines and ground or among each other."""

    def __init__(self) -> None:
        self.is_plugged = True
        self.keeps_writes = True
        self.grounded: set[str] = set()
        self.joined: set[tuple[str, str]] = set()
        self.registers: list[int] = []
        self.replug()

    def replug(self) -> None:
        """Power comes back: all lines are inputs without pull-up, and nothing is remembered."""
        self.is_plugged = True
        self.registers = [0] * 0x16
        self.registers[DIRECTION : DIRECTION + 2] = [0xFF, 0xFF]

    def unplug(self) -> None:
        self.is_plugged = False

    def pair(self, register: int) -> int:
        return self.registers[register] | self.registers[register + 1] << 8

    def is_output(self, line: str) -> bool:
        return not self.pair(DIRECTION) >> LINES.index(line) & 1

    def is_driven_high(self, line: str) -> bool:
        return self.is_output(line) and bool(self.pair(LATCH) >> LINES.index(line) & 1)

    def read(self, register: int) -> int:
        where = self._where(register)
        if where in (LEVEL, LEVEL + 1):
            lines = LINES[8 * (where - LEVEL) :][:8]
            return sum(self._level(line) << bit for bit, line in enumerate(lines))
        return self.registers[where]

    def write(self, register: int, value: int) -> None:
        where = self._where(register)
        if not self.keeps_writes:
            return
        if where in (CONTROL, CONTROL + 1):
            self.registers[CONTROL] = self.registers[CONTROL + 1] = value
        else:
            self.registers[where] = value

    def _where(self, register: int) -> int:
        if self.registers[CONTROL] & _MOVED:
            return (register & 0x0F) * 2 + (register >> 4)
        return register

    def _level(self, line: str) -> bool:
        if self.is_output(line):
            return self.is_driven_high(line)
        others = {b for a, b in self.joined if a == line} | {a for a, b in self.joined if b == line}
        pulled_low = any(self.is_output(o) and not self.is_driven_high(o) for o in others)
        is_up = bool(self.pair(PULL_UP) >> LINES.index(line) & 1)
        return is_up and not pulled_low and line not in self.grounded


class FakeBus:
    """An I2C bus with chips by address, which notes every transfer."""

    def __init__(self, **chips: FakeChip) -> None:
        self.chips = {int(name.removeprefix("at_"), 16): chip for name, chip in chips.items()}
        self.writes: list[tuple[int, int, int]] = []
        self.reads: list[tuple[int, int]] = []
        self.is_closed = False

    def read_i2c_block_data(self, address: int, register: int, length: int, /) -> list[int]:
        self.reads.append((address, register))
        chip = self._answering(address)
        return [chip.read(register + offset) for offset in range(length)]

    def write_byte_data(self, address: int, register: int, value: int, /) -> None:
        self._answering(address).write(register, value)
        self.writes.append((address, register, value))

    def close(self) -> None:
        self.is_closed = True

    def _answering(self, address: int) -> FakeChip:
        chip = self.chips.get(address)
        if chip is None or not chip.is_plugged:
            raise OSError(121, "Remote I/O error")
        return chip
