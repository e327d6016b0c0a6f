"""A sheet to draw on: the frame without its margin, and the slow shift that spares the pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PIL import Image

from display.letters import (
    TINY,
    Face,
    amount_extent,
    amount_height,
    amount_width,
    cap_height,
    dollar_face,
    extent,
    figures_width,
    fit,
    fit_amount,
    glyph,
    printable,
    width_of,
)

Size = tuple[int, int]

MARGIN_PX: Final = 2
SHIFT_MS: Final = 60_000
# Once around the margin and through its middle, so that no pixel is lit for ever.
_SHIFTS: Final = ((1, 1), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2))
PAGE_MS: Final = 3000


def turn(at_ms: int, choices: int, every_ms: int = PAGE_MS) -> int:
    """Which of several things is up now, when they take turns."""
    return at_ms // every_ms % choices if choices else 0


def shift_at(at_ms: int) -> tuple[int, int]:
    return _SHIFTS[turn(at_ms, len(_SHIFTS), SHIFT_MS)]


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a sheet."""

    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height

    def below(self, used_px: int) -> Box:
        return Box(self.left, self.top + used_px, self.width, self.height - used_px)

    def above(self, used_px: int) -> Box:
        return Box(self.left, self.top, self.width, self.height - used_px)


class Sheet:
    """One frame in the making. Positions are those of the capitals' top left corner."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._paper = Image.new("1", (size[0] - MARGIN_PX, size[1] - MARGIN_PX))
        self.box = Box(0, 0, *self._paper.size)

    def text(self, left: int, top: int, text: str, face: Face, *, ink: int = 1) -> int:
        """Draw one line; the answer is where its ink ends."""
        at = left
        for letter in printable(text):
            sign = glyph(face, letter)
            if sign.ink:
                self._paper.paste(ink, (at + sign.left, top + sign.top), sign.ink)
            at += sign.advance
        return left + width_of(text, face)

    def text_right(self, right: int, top: int, text: str, face: Face, *, ink: int = 1) -> int:
        """Draw one line that ends there; the answer is where it begins."""
        left = right - width_of(text, face)
        self.text(left, top, text, face, ink=ink)
        return left

    def centred(self, box: Box, text: str, face: Face) -> None:
        """Draw one line in the middle of a box, both ways."""
        taken = extent(text, face)
        height = taken.above + cap_height(face) + taken.below
        left = box.left + (box.width - taken.width) // 2
        top = box.top + (box.height - height) // 2 + taken.above
        self.text(left, top, text, face)

    def biggest(self, box: Box, text: str) -> None:
        """Draw one line as large as the box allows."""
        if not text.startswith("$"):
            self.centred(box, text, fit(text, box.width, box.height))
            return
        face = fit_amount(text, box.width, box.height)
        right = box.left + (box.width + amount_width(text, face)) // 2
        self.amount(Box(box.left, box.top, right - box.left, box.height), text, face)

    def amount(self, box: Box, amount: str, face: Face) -> int:
        """Draw "$1,234.56" at the right of a box, half-way down; the answer is its top."""
        top = box.top + (box.height - amount_height(face)) // 2 + amount_extent(face).above
        left = box.right - figures_width(amount, face)
        self.text(left, top, amount.removeprefix("$"), face)
        sign = dollar_face(face)
        lower = (cap_height(face) - cap_height(sign)) // 2
        self.text_right(left - 2, top + lower, "$", sign)
        return top

    def bar(self, box: Box) -> None:
        self._paper.paste(1, (box.left, box.top, box.right, box.bottom))

    def loud(self, left: int, top: int, text: str, face: Face = TINY) -> int:
        """Draw one line dark on light; the answer is where its bar ends."""
        width = width_of(text, face) + 2
        self.bar(Box(left, top - 1, width, cap_height(face) + 2))
        self.text(left + 1, top, text, face, ink=0)
        return left + width

    def upright(self, text: str, face: Face = TINY) -> None:
        """Draw a text dark on light up the left edge, and take that strip out of the box."""
        height = self.box.height
        strip = Sheet((height + MARGIN_PX, cap_height(face) + 3 + MARGIN_PX))
        strip.bar(Box(0, 0, height, cap_height(face) + 2))
        strip.text((height - width_of(text, face)) // 2, 1, text, face, ink=0)
        turned = strip._paper.transpose(Image.Transpose.ROTATE_90)
        self._paper.paste(turned, (0, 0))
        used = turned.width + 1
        self.box = Box(used, 0, self.box.width - used, height)

    def finish(self, at_ms: int) -> Image.Image:
        """The frame, with the sheet where the shift of this minute puts it."""
        frame = Image.new("1", self._size)
        frame.paste(self._paper, shift_at(at_ms))
        return frame
