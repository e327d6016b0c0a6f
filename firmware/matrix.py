"""The keypad's wires: rows that are driven, columns that are read, keys and switches between them.

The pins are handed in, in gpiozero's form; whoever does that sees that one thread scans at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from controller.domain.errors import check
from controller.hardware import Line, closed_when_active

Place = tuple[int, int]  # row and column, from 0


class Matrix:
    """Finds out which rows and columns are joined."""

    def __init__(
        self,
        rows: Sequence[Any],
        columns: Sequence[Any],
        *,
        key_rows: int,
        one_reading: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._rows, self._columns = rows, columns
        self._key_rows = key_rows
        self._one_reading = one_reading
        self._are_rows_low = False

    def closed_keys(self) -> frozenset[Place]:
        """Every key that reads closed, by one reading as long as there is none."""
        # Between looks all key rows stay low, and a key pressed anywhere shows in some column.
        if not self._are_rows_low:
            for pin in self._rows[: self._key_rows]:
                pin.output_with_state(state=False)
            self._are_rows_low = True
        return self._scan(range(self._key_rows)) if self._low_columns() else frozenset()

    def closed(self) -> frozenset[Place]:
        """Every crossing that reads closed, those of switches too."""
        return self._scan(range(len(self._rows)))

    def _scan(self, rows: Iterable[int]) -> frozenset[Place]:
        """Drive each row low in turn; the others are left open, so that no two keys can short."""
        self._are_rows_low = False
        for pin in self._rows:
            if pin.function == "output":
                pin.function = "input"
        return frozenset((row, column) for row in rows for column in self._joined_to(row))

    def _joined_to(self, row: int) -> list[int]:
        self._rows[row].output_with_state(state=False)
        try:
            return self._low_columns()
        finally:
            self._rows[row].function = "input"

    def _low_columns(self) -> list[int]:
        with self._one_reading():
            return [number for number, pin in enumerate(self._columns) if not pin.state]


class Crossings:
    """Switches on the keypad's wires, told apart from what pressed keys make of them.

    Keys can only make an open switch read closed, and only by way of a key in its column. While
    one is down there, a switch that reads closed stays what it was last known to be. One that was
    never known is open: a door not shut, a button not pressed.
    """

    def __init__(self, places: Mapping[Line, Place], *, key_rows: int) -> None:
        self._places = places
        self._key_rows = key_rows
        self._closed = dict.fromkeys(places, False)

    def active(self, lines: Collection[Line], closed: Collection[Place]) -> dict[Line, bool]:
        """Which of these switches are active, by what all rows read."""
        hidden = {column for row, column in closed if row < self._key_rows}
        for line in lines:
            check(line in self._places, f"{line} is no input of this table")
            place = self._places[line]
            if place not in closed or place[1] not in hidden:
                self._closed[line] = place in closed
        return {line: self._closed[line] == closed_when_active(line) for line in lines}
