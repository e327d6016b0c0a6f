"""The watcher's own books: plain sums in micro-cents, beside the table's."""

from __future__ import annotations

from dataclasses import dataclass, field

from controller.domain.meter import Meter
from controller.domain.pack import Hand
from tests.property.oracle import Pot


@dataclass
class Book:
    """Lifetime sums of one meter. `funded` is up to date between rounds only."""

    initial: int
    funded: int = 0
    contributed: int = 0
    paid: int = 0
    voided: int = 0
    adjusted: int = 0
    hits: int = 0


@dataclass
class RoundBook:
    """What the watcher knows of the round."""

    wagers: dict[int, int] = field(default_factory=dict)
    proved: bool = False
    brought: dict[str, int] = field(default_factory=dict)
    start: dict[str, Pot] = field(default_factory=dict)
    keyed: dict[int, Hand] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)
    paid: dict[int, int] = field(default_factory=dict)
    fixed: dict[str, list[int]] = field(default_factory=dict)  # turns that validation has frozen
    unsure: set[str] = field(default_factory=set)  # meters the oracle no longer prices
    envy_paid: set[tuple[int, int, Hand]] = field(default_factory=set)


def pot_of(meter: Meter) -> Pot:
    return Pot(meter.parameters, meter.current.ucents, meter.reserve.ucents, meter.overflow.ucents)
