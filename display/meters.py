"""The meter display: every level in dollars and cents, and what players must know about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from controller.domain.table import Claim, ClaimStatus, PaidFrom, Phase
from controller.domain.view import MeterView, View
from controller.screen import Screen
from display import text
from display.cards import Card, draw_card
from display.letters import (
    FACES,
    SMALL,
    TEXT_FACES,
    TINY,
    Face,
    amount_height,
    amount_width,
    cap_height,
    fit,
    pitch,
    shorten,
    width_of,
)
from display.sheet import Box, Sheet, Size, turn

LEVELS_MS: Final = 4000
WIDE_PX: Final = 200  # from here on every level has a line of its own
LEVELS_WIDE: Final = 5
LEVELS_NARROW: Final = 2
STRIP_PX: Final = 12
DOT_PX: Final = 5
GAP_PX: Final = 4
TITLE_PX_MAX: Final = 66  # a longer title may be cut before the amount gets smaller for it

Levels = tuple[MeterView, ...]


def draw(sheet: Sheet, screen: Screen, since_ms: int) -> None:
    """One page of the meters, or of a win that was validated."""
    if screen.simulated:
        sheet.upright(text.SIMULATED)
    box = _draw_status(sheet, screen, since_ms)
    wide = box.width > WIDE_PX
    shown = _page(screen.view, since_ms, wide=wide)
    if isinstance(shown, Claim):
        _draw_win(sheet, box, shown, since_ms)
    elif not shown:
        _draw_no_meter(sheet, box, screen.view, since_ms)
    elif wide and len(shown) > 1:
        _draw_lines(sheet, box, shown, since_ms)
    else:
        dots = _draw_dots(sheet, box, _groups(screen.view.meters, wide=wide), shown)
        _draw_stacked(sheet, box, shown, since_ms, dots)


def levels_at(view: View, since_ms: int, size: Size) -> Levels:
    """The meters whose amounts are on the page of that time; none while a win is up."""
    shown = _page(view, since_ms, wide=size[0] > WIDE_PX)
    return () if isinstance(shown, Claim) else shown


def _page(view: View, since_ms: int, *, wide: bool) -> Claim | Levels:
    groups = _groups(view.meters, wide=wide)
    wins = hits(view)
    pages: list[Claim | Levels] = [] if wins else [*groups]
    for win in wins:
        pages += [win, *groups]
    return pages[turn(since_ms, len(pages), LEVELS_MS)]


def _groups(meters: Levels, *, wide: bool) -> tuple[Levels, ...]:
    each = LEVELS_WIDE if wide else LEVELS_NARROW
    return tuple(meters[at : at + each] for at in range(0, len(meters), each)) or ((),)


def hits(view: View) -> tuple[Claim, ...]:
    """The wins that players are shown: validated, and paid from a meter."""
    paid = (claim for claim in view.claims if claim.status is ClaimStatus.PAID)
    return tuple(claim for claim in paid if claim.paid_from is PaidFrom.METER)


def _draw_status(sheet: Sheet, screen: Screen, since_ms: int) -> Box:
    """A strip at the foot for what is wrong or closed; the answer is the box above it."""
    view = screen.view
    closed = view.phase in (Phase.CLOSED, Phase.FAULT) and bool(view.meters)
    words = ((text.PHASE_WORDS[view.phase],) if closed else ()) + screen.alerts
    if not words:
        return sheet.box
    box = sheet.box
    word = shorten(words[turn(since_ms, len(words), LEVELS_MS)], TINY, box.width)
    top = box.bottom - cap_height(TINY) - 2
    sheet.bar(Box(box.left, top, box.width, cap_height(TINY) + 2))
    sheet.text(box.left + (box.width - width_of(word, TINY)) // 2, top + 1, word, TINY, ink=0)
    return box.above(STRIP_PX)


def _draw_win(sheet: Sheet, box: Box, claim: Claim, since_ms: int) -> None:
    hand, amount = text.hand_words(claim.hand), claim.amount.for_people()
    if box.width > WIDE_PX:
        card = Card(f"WIN SEAT {claim.seat} {hand}", amount, loud=True)
    else:
        card = Card(f"WIN SEAT {claim.seat}", amount, (hand,), loud=True)
    draw_card(card, sheet, box, since_ms)


def _draw_no_meter(sheet: Sheet, box: Box, view: View, since_ms: int) -> None:
    """A table without a progressive, or one whose state cannot be read: no number at all."""
    big = text.OUT_OF_SERVICE if view.phase is Phase.FAULT else "NO PROGRESSIVE"
    draw_card(Card(view.table_id, big), sheet, box, since_ms)


def _draw_dots(sheet: Sheet, box: Box, groups: Sequence[Levels], shown: Levels) -> int:
    """Which of several pages this is; the answer is the width that the dots take."""
    if len(groups) == 1:
        return 0
    left = box.right - DOT_PX * len(groups)
    for number, group in enumerate(groups):
        dot = Box(left + number * DOT_PX + 1, box.top + 2, DOT_PX - 2, DOT_PX - 2)
        sheet.bar(dot if group == shown else Box(dot.left + 1, dot.top + 1, 1, 1))
    return DOT_PX * len(groups) + GAP_PX


def _draw_name(
    sheet: Sheet, box: Box, meter: MeterView, faces: Sequence[Face], since_ms: int
) -> None:
    """The title at the left and its mark at the right of a line."""
    room = box.width - _draw_mark(sheet, box.right, box.top, meter, since_ms)
    face = fit(meter.title.upper(), room, box.height, faces)
    sheet.text(box.left, box.top, shorten(meter.title.upper(), face, room), face)


def _draw_mark(sheet: Sheet, right: int, top: int, meter: MeterView, since_ms: int) -> int:
    """PENDING and LIMIT, by turns if both; the answer is the width that they take."""
    marks = text.marks(meter)
    if not marks:
        return 0
    mark = marks[turn(since_ms, len(marks))]
    sheet.loud(right - width_of(mark, TINY) - 2, top + 1, mark)
    return _MARK_PX + GAP_PX


_MARK_PX: Final = width_of(text.PENDING, TINY) + 2


def _draw_lines(sheet: Sheet, box: Box, levels: Levels, since_ms: int) -> None:
    """A line for each level: title, mark, amount."""
    each = box.height // len(levels)
    stacked = each >= 2 * pitch(SMALL)
    face = _common_face(levels, box.width, each, stacked=stacked)
    for number, meter in enumerate(levels):
        amount = meter.shown.for_people()
        row = Box(box.left, box.top + number * each, box.width, each)
        top = sheet.amount(row, amount, face)
        room = row.width - amount_width(amount, face) - GAP_PX
        if stacked:
            _draw_label_stacked(sheet, row, room, meter, since_ms)
        else:
            middle = top + (cap_height(face) - cap_height(TINY)) // 2
            taken = _draw_mark(sheet, row.left + room, middle - 1, meter, since_ms)
            name_face = fit(meter.title.upper(), room - taken, cap_height(face), (SMALL, TINY))
            name = shorten(meter.title.upper(), name_face, room - taken)
            lower = (cap_height(face) - cap_height(name_face)) // 2
            sheet.text(row.left, top + lower, name, name_face)


def _draw_label_stacked(sheet: Sheet, row: Box, room: int, meter: MeterView, since_ms: int) -> None:
    face = fit(meter.title.upper(), room, row.height, TEXT_FACES)
    top = row.top + 3
    sheet.text(row.left, top, shorten(meter.title.upper(), face, room), face)
    _draw_mark(sheet, row.left + _MARK_PX, top + cap_height(face) + 2, meter, since_ms)


def _common_face(levels: Levels, width: int, height: int, *, stacked: bool) -> Face:
    """One face for all amounts of a page, with room for each title and a mark beside it."""
    for face in FACES:
        for meter in levels:
            amount = meter.shown.for_people()
            title = min(width_of(meter.title.upper(), TINY), TITLE_PX_MAX)
            label = max(title, _MARK_PX) if stacked else title + _MARK_PX + GAP_PX
            if amount_width(amount, face) + GAP_PX + label > width:
                break
            if amount_height(face) > height:
                break
        else:
            return face
    return FACES[-1]


def _draw_stacked(sheet: Sheet, box: Box, levels: Levels, since_ms: int, dots_px: int) -> None:
    """The title above its amount: one level on any display, two on a narrow one."""
    each = box.height // len(levels)
    alone = len(levels) == 1
    faces = TEXT_FACES if alone and box.width > WIDE_PX else (SMALL, TINY) if alone else (TINY,)
    for number, meter in enumerate(levels):
        row = Box(box.left, box.top + number * each + 1, box.width, each - 2)
        name = Box(row.left, row.top, row.width - (0 if number else dots_px), pitch(faces[0]))
        _draw_name(sheet, name, meter, faces, since_ms)
        sheet.biggest(row.below(pitch(faces[0])), meter.shown.for_people())
