"""What the table's loop needs from the world, as protocols. Adapters and fakes answer to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from controller.chain import Row
from controller.domain.money import Money
from controller.domain.view import Lamp


class Ledger(Protocol):
    """An append-only, hash-chained record. `append` returns once the row is on the disk."""

    @property
    def head(self) -> Row | None: ...

    @property
    def repairs(self) -> tuple[str, ...]: ...

    def rows(self, after_seq: int = 0) -> Iterator[Row]: ...

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row: ...

    def check_head(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Chip:
    """A chip that has rested on a sensor for the settle time."""

    seat: int
    amount: Money
    since_ms: int


class Board(Protocol):
    """Sensors and lamps of one table."""

    def chips(self) -> tuple[Chip, ...]:
        """Chips that are settled at this moment."""

    def covered(self) -> tuple[int, ...]:
        """Seats with any covered sensor, settled or not."""

    def covered_ms(self, seat: int) -> int:
        """For how long a seat's sensor has been covered; 0 if it is not."""

    def light(self, lamps: Mapping[int, Lamp]) -> None: ...


class Clock(Protocol):
    """Wall time as a label. Order is the ledger's sequence, never this."""

    def label(self) -> str: ...
