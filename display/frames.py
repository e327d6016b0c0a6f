"""Whole frames for the two displays: a moment and a time in, a picture of pixels out. Pure.

`at_ms` moves the slow pixel shift; what takes turns does so from `since_ms` on, the time at which
the moment came up, so that a new one is always read from its first page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PIL import Image

from controller.domain.money import Money
from controller.screen import Screen
from display import dealer, meters
from display.cards import Card, draw_card, sentence
from display.sheet import Sheet, Size
from display.text import CALL_ATTENDANT, CALL_FLOOR, OUT_OF_SERVICE

DEALER_SIZE: Final = (128, 64)
WIDE_SIZE: Final = (256, 64)
FINGERPRINT_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Starting:
    """How far the unit has come before there is a table to show."""

    step: str  # SELF-CHECK, LEDGER CHECK, SENSORS
    version: str
    fingerprint: str = ""  # of the pack, once it is read


def dealer_frame(
    screen: Screen, *, at_ms: int, since_ms: int = 0, size: Size = DEALER_SIZE
) -> Image.Image:
    """What the dealer sees."""
    sheet = Sheet(size)
    dealer.draw(sheet, screen, at_ms - since_ms)
    return sheet.finish(at_ms)


def meter_frame(screen: Screen, *, size: Size, at_ms: int, since_ms: int = 0) -> Image.Image:
    """What the players see."""
    sheet = Sheet(size)
    meters.draw(sheet, screen, at_ms - since_ms)
    return sheet.finish(at_ms)


def amounts_on(screen: Screen, *, size: Size, at_ms: int, since_ms: int = 0) -> dict[str, Money]:
    """The amounts that the meter frame of that time carries, by title."""
    levels = meters.levels_at(screen.view, at_ms - since_ms, size)
    return {level.title: level.shown for level in levels}


def blank(size: Size) -> Image.Image:
    return Image.new("1", size)


def stale_frame(size: Size, *, at_ms: int = 0) -> Image.Image:
    """Nothing has been heard for too long: dashes, never the last number."""
    return _card(size, Card("NO DATA", "$-,---.--", (CALL_FLOOR,), loud=True), at_ms)


def start_frame(size: Size, starting: Starting, *, at_ms: int = 0) -> Image.Image:
    """Where the start has come to, which program it is, and by which rules it will play."""
    feet = [f"FELTLINK {starting.version}"]
    if starting.fingerprint:
        feet.append(f"PACK {starting.fingerprint[:FINGERPRINT_DIGITS]}")
    return _card(size, Card("STARTING", starting.step, tuple(feet)), at_ms)


def stopped_frame(size: Size, why: str, *, at_ms: int = 0) -> Image.Image:
    """The last frame of a unit that has stopped and will not look again."""
    sheet = Sheet(size)
    said = f"{why.upper().rstrip('.')}. {CALL_ATTENDANT}."
    pages = sentence(said, sheet.box, title=OUT_OF_SERVICE, loud=True)
    pages[0](sheet, sheet.box, at_ms)
    return sheet.finish(at_ms)


def _card(size: Size, card: Card, at_ms: int) -> Image.Image:
    sheet = Sheet(size)
    draw_card(card, sheet, sheet.box, at_ms)
    return sheet.finish(at_ms)
