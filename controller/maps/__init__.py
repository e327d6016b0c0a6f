"""The ready pin maps that come with Feltlink, one TOML file each, drawn up in docs/wiring.md."""

from __future__ import annotations

from enum import StrEnum

from controller.domain.errors import check


class ReadyMap(StrEnum):
    """Each map by what its lamps and keypad hang on, and by how many seats it has."""

    HEADER_6 = "header-6"
    EXPANDER_6 = "expander-6"
    EXPANDER_7 = "expander-7"
    EXPANDER_8 = "expander-8"
    EXPANDER_10 = "expander-10"

    @property
    def seats(self) -> int:
        return int(self.rpartition("-")[2])


def default_map(seats: int, spots: int) -> ReadyMap:
    """The smallest map for so many seats; only expander maps leave pins for a second spot."""
    fit = [each for each in ReadyMap if each.seats >= seats]
    check(bool(fit), f"no ready map has {seats} seats")
    return fit[0] if spots == 1 else next(each for each in fit if each != ReadyMap.HEADER_6)
