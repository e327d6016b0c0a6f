"""One MCP23017 port expander: sixteen lines behind two I2C wires, and what it must be told again.

Pure registers: the bus is handed in, and gpiozero is not known here. The chip forgets everything
when it loses power, so what was asked of it is kept here and can be written anew. One thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from controller.domain.errors import Fault, check
from controller.hardware import Expander

T = TypeVar("T")

LINES: Final = tuple(f"{port}{bit}" for port in "AB" for bit in range(8))
# As inputs these two can disturb the I2C data line: a fault of the silicon, by its data sheet.
OUTPUT_ONLY: Final = frozenset({"A7", "B7"})

# Each register is a pair, port A then port B, at the addresses the chip has after power-on.
_DIRECTION: Final = 0x00  # 1 is an input
_POLARITY: Final = 0x02
_CONTROL: Final = 0x0A
_PULL_UP: Final = 0x0C
_LEVEL: Final = 0x12
_LATCH: Final = 0x14
_CONTROL_ELSEWHERE: Final = 0x05  # where control lies if other software had moved the registers

_BIT: Final = {line: 1 << number for number, line in enumerate(LINES)}
_ALL_BUT_OUTPUT_ONLY: Final = 0x7F7F


class Bus(Protocol):
    """What the driver needs of an I2C bus; smbus2's SMBus is one."""

    def read_i2c_block_data(self, address: int, register: int, length: int, /) -> list[int]: ...

    def write_byte_data(self, address: int, register: int, value: int, /) -> None: ...

    def close(self) -> None: ...


class Mcp23017:
    """Sixteen lines, "A0" to "B7". Unused ones are inputs with pull-up; A7 and B7 outputs, low."""

    def __init__(self, bus: Bus, expander: Expander) -> None:
        self._bus = bus
        self._address = expander.address
        self._called = (
            f"Expander {expander.name} at 0x{expander.address:02x} on I2C bus {expander.bus}"
        )
        # What the chip should hold, latch first: a line must not flash while it becomes an output.
        self._asked = {
            _LATCH: 0,
            _PULL_UP: _ALL_BUT_OUTPUT_ONLY,
            _DIRECTION: _ALL_BUT_OUTPUT_ONLY,
        }
        self._doubtful = True  # the chip may hold something else than what was asked of it
        self.restore()

    def restore(self) -> None:
        """Write everything that was asked for, and read it back to see that the chip took it."""
        self._doubtful = True
        self._write(_CONTROL_ELSEWHERE, 0)
        for register in (_CONTROL, _POLARITY, _POLARITY + 1):
            self._write(register, 0)
        for register, value in self._asked.items():
            for port in (0, 1):
                self._write(register + port, _byte(value, port))
        if not self.remembers():
            raise Fault(
                f"{self._called} does not keep what is written to it: see that nothing else has"
                " its address, then replace it."
            )

    def remembers(self) -> bool:
        """Whether the chip still holds what was asked of it; it does not after a loss of power."""
        held = all(self._read(register) == value for register, value in self._asked.items())
        self._doubtful = not held
        return held

    def output(self, line: str, *, high: bool) -> None:
        self._ask(_LATCH, line, on=high)
        self._ask(_DIRECTION, line, on=False)

    def input(self, line: str, *, pull_up: bool) -> None:
        check(line not in OUTPUT_ONLY, f"{line} of an MCP23017 may only be an output")
        self._ask(_PULL_UP, line, on=pull_up)
        self._ask(_DIRECTION, line, on=True)

    def release(self, line: str) -> None:
        """Back to how an unused line is kept."""
        if line in OUTPUT_ONLY:
            self.output(line, high=False)
        else:
            self.input(line, pull_up=True)

    def is_output(self, line: str) -> bool:
        return not self._asked[_DIRECTION] & _BIT[line]

    def is_pulled_up(self, line: str) -> bool:
        return bool(self._asked[_PULL_UP] & _BIT[line])

    def is_set(self, line: str) -> bool:
        """What an output was told to be. The bus is not asked."""
        return bool(self._asked[_LATCH] & _BIT[line])

    def high_lines(self) -> frozenset[str]:
        """Every line that is high at this moment, in one transfer.

        The pull-ups are read along with the levels: without them an input reads anything, and a
        chip that was out for a moment would press keys by itself.
        """
        if self._doubtful:
            self.restore()
        pull_ups, levels = self._read_inputs()
        if pull_ups != self._asked[_PULL_UP]:
            self.restore()
            _, levels = self._read_inputs()
        return frozenset(line for line in LINES if levels & _BIT[line])

    def _ask(self, register: int, line: str, *, on: bool) -> None:
        """Change one bit: one write to its port, and none if it stands that way already."""
        before = self._asked[register]
        after = before | _BIT[line] if on else before & ~_BIT[line]
        self._asked[register] = after
        if self._doubtful:
            self.restore()
        elif after != before:
            port = "AB".index(line[0])
            self._write(register + port, _byte(after, port))
            # A loss of power is known by the pull-ups: they may not be right while the rest is not.
            if register == _PULL_UP and not self.remembers():
                self.restore()

    def _write(self, register: int, value: int) -> None:
        self._transfer(lambda: self._bus.write_byte_data(self._address, register, value))

    def _read(self, register: int) -> int:
        return _pair(self._read_block(register, 2))

    def _read_inputs(self) -> tuple[int, int]:
        """Pull-ups and levels, with the four registers between them that are not used."""
        block = self._read_block(_PULL_UP, _LEVEL + 2 - _PULL_UP)
        return _pair(block[:2]), _pair(block[-2:])

    def _read_block(self, register: int, length: int) -> list[int]:
        return self._transfer(
            lambda: self._bus.read_i2c_block_data(self._address, register, length)
        )

    def _transfer(self, do: Callable[[], T]) -> T:
        try:
            return do()
        except OSError as error:
            self._doubtful = True
            raise Fault(
                f"{self._called} does not answer ({error.strerror or error}): check its cable, its"
                " power and its address pins."
            ) from error


def _pair(ports: list[int]) -> int:
    return ports[0] | ports[1] << 8


def _byte(value: int, port: int) -> int:
    return value >> 8 * port & 0xFF
