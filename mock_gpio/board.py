"""FakeBoard: sensors and lamps of one table on simulated time, behind the Board port."""

from __future__ import annotations

from collections.abc import Mapping

from controller.domain.money import Money
from controller.domain.view import Lamp
from controller.ports import Chip
from firmware.presence import Presence

SETTLE_MS = 150


class FakeBoard:
    """Chips lie where the script puts them; time passes only when it says so."""

    def __init__(self, *, now_ms: int) -> None:
        self.now_ms = now_ms
        self.lamps: Mapping[int, Lamp] = {}
        self._presence: Presence[tuple[int, Money]] = Presence(settle_ms=SETTLE_MS)

    def sense(self, seat: int, amount: Money, *, covered: bool) -> bool:
        return self._presence.edge((seat, amount), covered=covered, at_ms=self.now_ms)

    def chips(self) -> tuple[Chip, ...]:
        settled = self._presence.settled(at_ms=self.now_ms)
        return tuple(Chip(seat, amount, since) for (seat, amount), since in settled.items())

    def lying(self) -> list[tuple[int, Money]]:
        """The chips on the layout, settled or not."""
        return list(self._presence.covered())

    def covered(self) -> tuple[int, ...]:
        return tuple(sorted({seat for seat, _amount in self._presence.covered()}))

    def covered_ms(self, seat: int) -> int:
        since = [at for (place, _), at in self._presence.covered().items() if place == seat]
        return self.now_ms - min(since) if since else 0

    def light(self, lamps: Mapping[int, Lamp]) -> None:
        self.lamps = lamps
