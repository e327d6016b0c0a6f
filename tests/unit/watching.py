"""Notes what is written on a frame and where, so that tests can ask what was cut or covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from display.letters import Face, cap_height, extent
from display.sheet import Sheet


class Drawn:
    """Everything that was written on one frame, and where.

    For the words of the house all ink counts; for any text on earth, with its accents and tails,
    the width does and in height the capitals.
    """

    def __init__(self, *, all_ink: bool) -> None:
        self.all_ink = all_ink
        self.texts: list[str] = []
        self.boxes: list[tuple[Sheet, str, tuple[int, int, int, int]]] = []
        self.outside: list[str] = []

    def note(self, sheet: Sheet, left: int, top: int, said: str, face: Face) -> None:
        taken = extent(said, face)
        above, below = (taken.above, taken.below) if self.all_ink else (0, 0)
        box = (left, top - above, left + taken.width, top + cap_height(face) + below)
        width, height = sheet._paper.size
        self.texts.append(said)
        if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height:
            self.outside.append(f"{said!r} at {box} on {width}x{height}")
        self.boxes.append((sheet, said, box))

    def overlaps(self) -> list[str]:
        found = []
        for number, (sheet, said, one) in enumerate(self.boxes):
            for other_sheet, other_said, two in self.boxes[number + 1 :]:
                apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
                if sheet is other_sheet and not apart and said.strip() and other_said.strip():
                    found.append(f"{said!r} {one} and {other_said!r} {two}")
        return found


@contextmanager
def watched(*, all_ink: bool = False) -> Iterator[Drawn]:
    drawn, write = Drawn(all_ink=all_ink), Sheet.text

    def text(self: Sheet, left: int, top: int, said: str, face: Face, *, ink: int = 1) -> int:
        drawn.note(self, left, top, said, face)
        return write(self, left, top, said, face, ink=ink)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sheet, "text", text)
        yield drawn


def said_by(draw: Callable[..., object], **keys: Any) -> list[str]:
    """Every text of one frame, in the order of drawing."""
    with watched() as drawn:
        draw(**keys)
    return drawn.texts
