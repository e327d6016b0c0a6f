"""What the keypad is in the middle of: an entry or an amount as large as can be, or a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from controller.screen import Page
from display.cards import Card, Leaf, draw_card, draw_feet, draw_title, in_turn
from display.letters import FACES, SMALL, TINY, cap_height, fit, lines_height, pitch, width_of, wrap
from display.sheet import Box, Sheet

FEW: Final = 2  # with more lines than that, text is a list
ENTRY_PX_MIN: Final = 46  # width of two digits that can be read in passing
ENTRY_PX_HIGH: Final = 17  # and their height
WORD_FACES: Final = tuple(face for face in FACES if face.size_px <= 24)

_AMOUNT: Final = re.compile(r"(?:PAYS? )?(\$[\d,]+\.\d\d)")


def page_leaves(page: Page, box: Box) -> tuple[Leaf, ...]:
    """The pages below the header: one, unless there are more lines than go there."""
    if _is_list(page):
        lines, most = _lines(page, box), _rows(box)
        each = most if len(lines) <= most else most - 1
        parts = [lines[at : at + each] for at in range(0, len(lines), each)]
        return tuple(partial(_draw_list, page, part) for part in parts)
    if page.entry:
        return (partial(_draw_entry, page),)
    card = _amount_card(page)
    return (partial(draw_card, card) if card else partial(_draw_words, page),)


def header_words(page: Page, box: Box) -> tuple[str, ...]:
    """What stands in the header because the page needs the room; nothing if it does not."""
    if not _is_list(page):
        crowded = len(page.lines) > 1 if page.entry else _amount_card(page)
        return (page.title,) if crowded else ()
    full = len(_lines(page, box)) == _rows(box)
    return (page.title, page.hint) if full and page.hint else (page.title,)


def _is_list(page: Page) -> bool:
    return len(page.lines) > FEW and not page.entry and not _amount_card(page)


def _rows(box: Box) -> int:
    return box.height // pitch(TINY)


def _lines(page: Page, box: Box) -> list[str]:
    """Each line as it is, or over several if it is too wide."""
    lines: list[str] = []
    for line in page.lines:
        lines += [line] if width_of(line, TINY) <= box.width else wrap(line, TINY, box.width)
    return lines


def _amount_card(page: Page) -> Card | None:
    """A page about one amount: what comes before it is its title, what follows its foot."""
    found = [_AMOUNT.fullmatch(line) for line in page.lines]
    if sum(match is not None for match in found) != 1 or len(page.lines) > FEW + 1:
        return None
    at = next(number for number, match in enumerate(found) if match)
    amount = _AMOUNT.fullmatch(page.lines[at])
    feet = (*page.lines[at + 1 :], *([page.hint] if page.hint else []))
    return Card(" ".join(page.lines[:at]), amount[1] if amount else "", feet)


def _draw_words(page: Page, sheet: Sheet, box: Box, at_ms: int) -> None:
    """A question or a line or two of text, as large as they fit one below the other."""
    lines = _lines(page, box)
    if not lines:
        sheet.biggest(box, page.title)
        return
    middle = draw_title(page.title, sheet, box)
    middle = draw_feet((page.hint,), sheet, middle, at_ms, (TINY,))
    for number, line in enumerate(lines):
        part = middle.height // len(lines)
        row = Box(middle.left, middle.top + number * part, middle.width, part)
        sheet.centred(row, line, fit(line, row.width, row.height - 3, WORD_FACES))


def _draw_entry(page: Page, sheet: Sheet, box: Box, at_ms: int) -> None:
    """What has been keyed is the largest; beside it or above it what it is about."""
    lines, middle = _lines(page, box), box
    if len(lines) <= 1:
        middle = draw_title(page.title, sheet, middle)
    middle = draw_feet((page.hint,), sheet, middle, at_ms, (TINY,) if lines else (SMALL, TINY))
    beside = bool(lines) and width_of(lines[0], TINY) <= box.width - ENTRY_PX_MIN
    room = max(1, (middle.height - ENTRY_PX_HIGH) // pitch(TINY))
    middle = _draw_rows(
        in_turn(lines[1:], room, at_ms) if beside else (), sheet, middle, at_foot=True
    )
    if beside:
        face = fit(lines[0], middle.width - ENTRY_PX_MIN, cap_height(SMALL), (SMALL, TINY))
        top = middle.top + (middle.height - cap_height(face)) // 2
        used = sheet.text(middle.left, top, lines[0], face) + 4 - middle.left
        middle = Box(middle.left + used, middle.top, middle.width - used, middle.height)
    else:
        middle = _draw_rows(in_turn(lines, room, at_ms), sheet, middle, at_foot=False)
    sheet.biggest(middle, page.entry)


def _draw_rows(lines: Sequence[str], sheet: Sheet, box: Box, *, at_foot: bool) -> Box:
    """Small lines at the head or the foot of a box; the answer is what is left of it."""
    if not lines:
        return box
    used = lines_height(TINY, len(lines)) + 2
    top = box.bottom - used + 1 if at_foot else box.top + 1
    for number, line in enumerate(lines):
        sheet.text(box.left, top + number * pitch(TINY), line, TINY)
    return box.above(used) if at_foot else box.below(used)


def _draw_list(page: Page, lines: Sequence[str], sheet: Sheet, box: Box, _at_ms: int) -> None:
    for row, line in enumerate(lines):
        sheet.text(box.left, box.top + row * pitch(TINY), line, TINY)
    if len(lines) < _rows(box):
        sheet.text(box.left, box.bottom - cap_height(TINY) - 1, page.hint, TINY)
