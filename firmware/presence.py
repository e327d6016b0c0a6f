"""Settled presence of chips from stamped sensor edges. Pure: time comes in with each edge."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Sensor = TypeVar("Sensor", bound=Hashable)


class Presence(Generic[Sensor]):
    """Which sensors are covered, and since when."""

    def __init__(self, *, settle_ms: int) -> None:
        self._settle_ms = settle_ms
        self._since_ms: dict[Sensor, int] = {}

    def edge(self, sensor: Sensor, *, covered: bool, at_ms: int) -> bool:
        """Take one edge; False if the sensor stood that way already."""
        if covered == (sensor in self._since_ms):
            return False
        if covered:
            self._since_ms[sensor] = at_ms
        else:
            del self._since_ms[sensor]
        return True

    def covered(self) -> dict[Sensor, int]:
        """Every covered sensor and the time of its edge."""
        return dict(self._since_ms)

    def settled(self, *, at_ms: int) -> dict[Sensor, int]:
        """The sensors that by this time had been covered for the settle time."""
        return {
            sensor: since
            for sensor, since in self._since_ms.items()
            if since + self._settle_ms <= at_ms
        }
