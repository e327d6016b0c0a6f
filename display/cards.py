"""Cards: the few shapes in which both displays say things. What matters most is the largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from display.letters import (
    FACES,
    SMALL,
    TEXT_FACES,
    TINY,
    Face,
    block,
    cap_height,
    fit,
    lines_height,
    lines_in,
    pitch,
    shorten,
    width_of,
    wrap,
)
from display.sheet import Box, Sheet, turn

Leaf = Callable[[Sheet, Box, int], None]  # draws one page into a box, at a time in ms

FEET_MAX: Final = 2
GAP_PX: Final = 3
COMMA_PX: Final = 2  # so far a comma may hang into the gap above the feet
SENTENCE_FACES: Final = (*(face for face in FACES if 20 <= face.size_px <= 24), *TEXT_FACES[1:])


@dataclass(frozen=True, slots=True)
class Card:
    """What it is, the one thing that matters, and what to do about it."""

    title: str
    big: str
    feet: tuple[str, ...] = ()
    loud: bool = False


def draw_card(card: Card, sheet: Sheet, box: Box, at_ms: int) -> None:
    middle = draw_title(card.title, sheet, box, loud=card.loud)
    middle = draw_feet(card.feet, sheet, middle, at_ms)
    if card.feet and card.big.startswith("$"):
        middle = middle.above(-COMMA_PX)
    sheet.biggest(middle, card.big)


def draw_title(title: str, sheet: Sheet, box: Box, *, loud: bool = False) -> Box:
    """The line at the top of a card; the answer is the box that is left."""
    if not title:
        return box
    faces = TEXT_FACES if box.width > 200 else (SMALL, TINY)
    face, lines = block(title, box.width - 2, pitch(TINY) * 2, faces)
    top = box.top + loud
    for line in lines[:2]:
        if loud:
            sheet.bar(Box(box.left, top - 1, box.width, cap_height(face) + 2))
        left = box.left + (box.width - width_of(line, face)) // 2
        sheet.text(left, top, line, face, ink=0 if loud else 1)
        top += pitch(face)
    return box.below(top - box.top)


def draw_feet(
    feet: Sequence[str],
    sheet: Sheet,
    box: Box,
    at_ms: int,
    faces: Sequence[Face] = (SMALL, TINY),
) -> Box:
    """One or two lines at the bottom, more of them by turns; the answer is the box above.

    A single line may be larger than two of them.
    """
    lines = [line for foot in feet for line in wrap(foot, TINY, box.width)]
    if not lines:
        return box
    shown = in_turn(lines, FEET_MAX, at_ms)
    face = fit(shown[0], box.width, box.height, faces) if len(lines) == 1 else TINY
    top = box.bottom - lines_height(face, len(shown))
    for number, line in enumerate(shown):
        left = box.left + (box.width - width_of(line, face)) // 2
        sheet.text(left, top + number * pitch(face), line, face)
    return box.above(box.bottom - top + GAP_PX)


def in_turn(lines: Sequence[str], most: int, at_ms: int) -> Sequence[str]:
    """So many of the lines, those whose turn it is."""
    if len(lines) <= most:
        return lines
    groups = [lines[at : at + most] for at in range(0, len(lines), most)]
    return groups[turn(at_ms, len(groups))]


def sentence(text: str, box: Box, *, title: str = "", loud: bool = False) -> tuple[Leaf, ...]:
    """A text as large as it can be shown whole, or in the smallest face over several pages."""
    head = 0 if not title else pitch(SMALL) + 1
    inside = box.below(head)
    face, lines = block(text, inside.width, inside.height, SENTENCE_FACES)
    each = lines_in(face, inside.height)
    pages = [lines[at : at + each] for at in range(0, len(lines), each)] or [()]
    return tuple(partial(_draw_sentence, title, page, face, loud=loud) for page in pages)


def _draw_sentence(
    title: str,
    lines: Sequence[str],
    face: Face,
    sheet: Sheet,
    box: Box,
    _at_ms: int,
    *,
    loud: bool,
) -> None:
    inside = box
    if title:
        draw_title(shorten(title, TINY, box.width - 2), sheet, box, loud=loud)
        inside = box.below(pitch(SMALL) + 1)
    top = inside.top + max(0, inside.height - lines_height(face, len(lines))) // 2
    for number, line in enumerate(lines):
        sheet.text(inside.left, top + number * pitch(face), line, face)
