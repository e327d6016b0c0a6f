"""Notices what nobody presses a key for: a clock that jumps, a display that goes and comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.domain import commands as ask
from controller.domain.view import View
from controller.ports import Board, Clock, Screens
from controller.service import UNIT

CLOCK_STEP_MS: Final = 1000


class Watch:
    """Compares what is now with what was when it last looked."""

    def __init__(self, clock: Clock, board: Board, screens: Screens) -> None:
        self._clock, self._board, self._screens = clock, board, screens
        self._drift_ms: int | None = None
        self.display_faults: tuple[str, ...] = ()

    def notes(self) -> Iterator[ask.Command]:
        """What the ledger should know of."""
        step_ms = self._clock_step_ms()
        if abs(step_ms) >= CLOCK_STEP_MS:
            yield ask.NoteClock(UNIT, step_ms)
        before, self.display_faults = self.display_faults, self._screens.faults()
        for cured in sorted({*before} - {*self.display_faults}):
            yield ask.NoteHardware(UNIT, f"again in order: {cured}")
        for fault in sorted({*self.display_faults} - {*before}):
            yield ask.NoteHardware(UNIT, fault)

    def _clock_step_ms(self) -> int:
        """By how much wall time jumped against the time that really passed."""
        drift_ms = self._clock.wall_ms() - self._board.now_us() // 1000
        before_ms = drift_ms if self._drift_ms is None else self._drift_ms
        self._drift_ms = drift_ms
        return drift_ms - before_ms


def alerts(view: View, display_faults: tuple[str, ...]) -> tuple[str, ...]:
    """Short words for everybody."""
    words = {
        "DOOR OPEN": view.door_open,
        "FLOOR CALLED": view.floor_called,
        "DISPLAY FAULT": bool(display_faults),
    }
    return tuple(word for word, on in words.items() if on)
