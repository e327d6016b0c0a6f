"""What the table's loop needs from the world, as protocols. Adapters and fakes answer to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from controller.chain import Row
from controller.domain.money import Money
from controller.domain.view import Lamp
from controller.screen import Screen


class Ledger(Protocol):
    """An append-only, hash-chained record and a copy of it. After a Fault only close() is left."""

    @property
    def head(self) -> Row | None: ...

    @property
    def repairs(self) -> tuple[str, ...]: ...

    def rows(self, after_seq: int = 0) -> Iterator[Row]: ...

    def last_of(self, kind: str) -> Row | None:
        """The last row of that kind."""

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row:
        """On return the row is on the disk. The copy has all rows before it, and lacks this one."""

    def mirror(self) -> None:
        """Give the copy the row that it lacks. Call it right after the lamps."""

    def check_head(self) -> None:
        """Mirror, then read the last row back from both."""

    def sync_copy(self) -> None:
        """Mirror, then make every row of the copy durable. Call it when idle."""

    def close(self) -> None: ...


class Chip(Struct, frozen=True):
    """A chip that has rested on a sensor for the settle time."""

    seat: int
    amount: Money
    since_us: int


class Sound(StrEnum):
    """What the buzzer says."""

    SILENT = "silent"
    REFUSED = "refused"  # one short beep
    FLOOR = "floor"  # until the floor has come


class Board(Protocol):
    """Sensors, lamps and buzzer of one table. Times are those of the sensor edges."""

    def now_us(self) -> int: ...

    def chips(self, at_us: int | None = None) -> tuple[Chip, ...]:
        """Chips that are settled at this moment, or were at that time."""

    def doubtful_until_us(self, at_us: int) -> int:
        """0 if `chips(at_us)` can be told now, else the time from which on it can."""

    def covered(self) -> tuple[int, ...]:
        """Seats with any covered sensor, settled or not."""

    def covered_ms(self, seat: int) -> int:
        """For how long a seat's sensor has been covered; 0 if it is not."""

    def noisy(self) -> tuple[int, ...]:
        """Seats with a sensor that chatters too much to be believed."""

    def edges(self, from_us: int, to_us: int) -> tuple[tuple[int, Money, bool, int], ...]:
        """Raw edges as evidence: seat, amount, covered, time."""

    def faults(self) -> tuple[str, ...]:
        """What keeps the table from being played on, one sentence each; none when all is well."""

    def light(self, lamps: Mapping[int, Lamp]) -> None:
        """Never raises: lamps that cannot be switched are a fault."""

    def light_out_of_service(self) -> None:
        """Every lamp that does not say accepted says out of service, until `light` comes again."""

    def test_lamps(self, *, on: bool) -> None:
        """While on, every lamp is lit whatever `light` says."""

    def sound(self, sound: Sound) -> None: ...


class Screens(Protocol):
    """The displays. Nothing here may block or raise: money never waits for glass."""

    def post(self, screen: Screen) -> None: ...

    def faults(self) -> tuple[str, ...]:
        """One sentence for each display that is down."""

    def shown(self) -> Mapping[str, Money]:
        """By meter title, the amount that the meter display really shows now."""


class Clock(Protocol):
    """Wall time as a label. Order is the ledger's sequence, never this."""

    def label(self) -> str: ...

    def wall_ms(self) -> int:
        """The same as a number, to notice when it jumps."""
