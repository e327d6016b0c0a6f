"""The dealer's display: which pages the moment calls for. The state, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from controller.domain.table import Claim, ClaimStatus, PaidFrom, Phase
from controller.domain.view import View
from controller.screen import Screen
from display import text
from display.cards import Card, Leaf, draw_card, draw_feet, draw_title, in_turn, sentence
from display.keypad import header_words, page_leaves
from display.letters import (
    FACES,
    TEXT_FACES,
    TINY,
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

HEADER_PX: Final = 11
COUNT_FACES: Final = tuple(face for face in FACES if face.size_px <= 40)


def draw(sheet: Sheet, screen: Screen, since_ms: int) -> None:
    """One page of the moment below the header; the first one when the moment is new."""
    body = sheet.box.below(HEADER_PX)
    pages = leaves(screen, body)
    at = turn(since_ms, len(pages))
    mark = f"{at + 1}/{len(pages)}" if len(pages) > 1 else ""
    _draw_header(sheet, screen, since_ms, mark)
    # What takes turns inside a page moves on each time that page comes round again.
    pages[at](sheet, body, since_ms if not mark else since_ms // len(pages))


def leaves(screen: Screen, box: Box) -> tuple[Leaf, ...]:
    """The pages for the space below the header, in the order in which they take turns."""
    view = screen.view
    if screen.notice and (screen.page or view.phase is not Phase.FAULT):
        return sentence(f"NO: {screen.notice.upper()}", box)
    if screen.page:
        return page_leaves(screen.page, box)
    if view.phase is Phase.FAULT:
        return _fault(view, box)
    cards = [*_returns(view), *_PAGES[view.phase](view)]
    reminders = (sentence(each.upper(), box, title="REMINDER") for each in screen.reminders)
    return (*cards, *(leaf for pages in reminders for leaf in pages))


def _draw_header(sheet: Sheet, screen: Screen, since_ms: int, mark: str) -> None:
    """Where we are, or what is wrong. SIMULATED stands at the right in any case."""
    right = sheet.box.right
    if screen.simulated:
        right -= width_of(text.SIMULATED, TINY) + 2
        sheet.loud(right, 1, text.SIMULATED)
        right -= 2
    if mark:
        right = sheet.text_right(right, 1, mark, TINY) - 2
    body = sheet.box.below(HEADER_PX)
    words = header_words(screen.page, body) if screen.page and not screen.notice else ()
    if screen.alerts and not words:
        alert = screen.alerts[turn(since_ms, len(screen.alerts))]
        if width_of(alert, TINY) + 2 <= right:
            sheet.loud(0, 1, alert)
        else:
            sheet.text(0, 1, shorten(alert, TINY, right), TINY)
        return
    words = words or (_place(screen, right),)
    if len(words) > 1 and width_of("  ".join(words), TINY) <= right:
        sheet.text_right(right, 1, words[-1], TINY)
        words = words[:1]
    sheet.text(0, 1, shorten(words[turn(since_ms, len(words))], TINY, right), TINY)


def _place(screen: Screen, room: int) -> str:
    """The state where something else fills the page, else the table and its round."""
    view = screen.view
    if screen.page or screen.notice:
        return text.PHASE_WORDS[view.phase]
    named = f"{view.table_id} ROUND {view.round}"
    return named if view.round and width_of(named, TINY) <= room else view.table_id


def _card(title: str, big: str, *feet: str, loud: bool = False) -> Leaf:
    return partial(draw_card, Card(title, big, feet, loud))


def _closed(_view: View) -> Iterator[Leaf]:
    yield _card("", "CLOSED", "FLOOR OPENS THE TABLE")


def _open(view: View) -> Iterator[Leaf]:
    blocked = tuple(text.blocked_seats(view))
    if view.seen:
        label = "SEEN AT THIS SEAT" if len(view.seen) == 1 else "SEEN AT THESE SEATS"
        yield _card("BETS OPEN", text.seat_list(view.seen), label, *(blocked or ("NEXT: LOCK",)))
    else:
        yield _card("", "BETS OPEN", *(blocked or ("NO CHIP SEEN YET",)))


def _locked(view: View) -> Iterator[Leaf]:
    if view.count_hidden:
        yield _card("NO MORE BETS", "COUNT", "THE CHIPS, THEN KEY")
    elif view.accepted:
        yield _tally(view, "NEXT: COUNT THE CHIPS")
    else:
        yield _card("NO MORE BETS", "NO WAGERS", "NEXT: END")


def _in_play(view: View) -> Iterator[Leaf]:
    walked = {envy.holder for envy in view.envy}
    claims = [c for c in view.claims if c.paid_from is not PaidFrom.ENVY or c.seat not in walked]
    yield from (_claim(claim, view) for claim in claims)
    yield from _envy(view)
    if not claims and not view.envy:
        yield _tally(view, "NEXT: KEY WINS OR END")


def _tally(view: View, following: str) -> Leaf:
    return partial(_draw_tally, view, (*text.chips_by_amount(view.accepted), following))


def _draw_tally(view: View, feet: tuple[str, ...], sheet: Sheet, box: Box, at_ms: int) -> None:
    """How many wagers, as large as can be, and beside it at which seats."""
    middle = draw_title(text.PHASE_WORDS[view.phase], sheet, box)
    foot = (*feet, *text.fee(view))
    middle = draw_feet((foot[turn(at_ms, len(foot))],), sheet, middle, at_ms)
    number = str(len(view.accepted))
    face = fit(number, middle.width // 2, middle.height, COUNT_FACES)
    width = width_of(number, face)
    sheet.centred(Box(middle.left, middle.top, width, middle.height), number, face)
    beside = Box(width + 5, middle.top, middle.width - width - 5, middle.height)
    listed = text.seat_list(wager.seat for wager in view.accepted)
    said = f"{'WAGER' if number == '1' else 'WAGERS'}: {listed}"
    seat_face, lines = block(said, beside.width, beside.height, TEXT_FACES)
    top = beside.top + (beside.height - lines_height(seat_face, len(lines))) // 2 + 1
    for row, line in enumerate(lines):
        sheet.text(beside.left, top + row * pitch(seat_face), line, seat_face)


def _claim(claim: Claim, view: View) -> Leaf:
    hand, seat = text.hand_words(claim.hand), f"SEAT {claim.seat}"
    notes = ("LATE KEY: PRICED LAST",) * claim.late
    hand += " FACE UP" * (claim.seat in view.face_up)
    if claim.paid_from is PaidFrom.ENVY:
        return _card(seat, "NO PAY", hand, "NO WAGER: ENVY ONLY", *notes)
    amount = claim.amount.for_people()
    if claim.status is ClaimStatus.WAITING:
        return _card(f"{text.CALL_FLOOR} {seat}", amount, hand, *notes, loud=True)
    return _card(f"PAY {seat}", amount, hand, *notes)


def _envy(view: View) -> Iterator[Leaf]:
    """One page for each hand and sum: who gets it, how much each, and what stays face up."""
    for holder, amount in dict.fromkeys((e.holder, e.amount) for e in view.envy):
        seats = [e.seat for e in view.envy if (e.holder, e.amount) == (holder, amount)]
        title = f"ENVY {'SEATS' if len(seats) > 1 else 'SEAT'} {text.seat_list(seats)}"
        feet = [] if view.face_up == (holder,) else [f"FOR THE HAND OF SEAT {holder}"]
        feet.append(f"FACE UP: SEAT {text.seat_list(view.face_up)}")
        yield _card(title, amount.for_people(), *feet)


def _returns(view: View) -> Iterator[Leaf]:
    """Wagers to hand back, one page for each amount."""
    for amount in dict.fromkeys(wager.amount for wager in view.to_return):
        seats = [wager.seat for wager in view.to_return if wager.amount == amount]
        to = f"EACH TO SEATS {text.seat_list(seats)}" if len(seats) > 1 else f"TO SEAT {seats[0]}"
        yield _card("RETURN WAGER", amount.for_people(), to, loud=True)


def _miscount(view: View) -> Iterator[Leaf]:
    yield partial(_draw_miscount, view)


def _draw_miscount(view: View, sheet: Sheet, box: Box, at_ms: int) -> None:
    """Chips and wagers side by side, apart by amount where there are several."""
    middle = draw_title(text.PHASE_WORDS[view.phase], sheet, box, loud=True)
    seats = text.seat_list(wager.seat for wager in view.accepted)
    way_out = (text.RECOUNT, f"WAGERS AT SEATS {seats}" if seats else "NO WAGERS")
    middle = draw_feet((way_out[turn(at_ms, 2)],), sheet, middle, at_ms)
    rows = text.side_by_side(view.counted, view.accepted)
    if len(rows) <= 1:
        chips, wagers = (rows[0][1], rows[0][2]) if rows else (0, 0)
        left = Box(middle.left, middle.top, middle.width // 2 - 1, middle.height)
        _draw_labelled(sheet, left, "CHIPS", str(chips))
        right = Box(left.right + 2, middle.top, middle.width - left.width - 2, middle.height)
        _draw_labelled(sheet, right, "WAGERS", str(wagers))
        return
    said = (f"{a.for_people()}: {chips} CHIPS, {wagers} WAGERS" for a, chips, wagers in rows)
    lines = [line for each in said for line in wrap(each, TINY, middle.width)]
    for number, line in enumerate(in_turn(lines, lines_in(TINY, middle.height), at_ms)):
        sheet.text(middle.left, middle.top + 1 + number * pitch(TINY), line, TINY)


def _draw_labelled(sheet: Sheet, box: Box, label: str, value: str) -> None:
    top = box.top + (box.height - cap_height(TINY)) // 2
    right = sheet.text(box.left, top, label, TINY) + 3
    number = Box(right, box.top, box.right - right, box.height)
    face = fit(value, number.width, number.height)
    sheet.centred(Box(right, box.top, width_of(value, face), box.height), value, face)


def _fault(view: View, box: Box) -> tuple[Leaf, ...]:
    said = f"{view.fault.upper().rstrip('.')}. {text.CALL_ATTENDANT}."
    return sentence(said, box, title=text.OUT_OF_SERVICE, loud=True)


_PAGES: Final = {
    Phase.CLOSED: _closed,
    Phase.OPEN: _open,
    Phase.LOCKED: _locked,
    Phase.MISCOUNT: _miscount,
    Phase.IN_PLAY: _in_play,
}
