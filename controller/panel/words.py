"""Short words for the keypad's pages: hands, pays, amounts, numbered choices. Nothing is decided.

A line has 21 characters. What is longer is folded at a word, or cut where only one line is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final

from controller.domain.money import Money
from controller.domain.pack import Hand, MeterPay, Pay, Style

WIDTH: Final = 21
LINES: Final = 5  # between title and hint, what has been keyed included
CHOICES: Final = 10  # one for each digit; "0" is the tenth
DIGITS: Final = "1234567890"

HANDS: Final = {
    Hand.ROYAL_FLUSH_DIAMONDS: "ROYAL DIAMONDS",
    Hand.ROYAL_FLUSH_FIRST_FIVE: "ROYAL 1ST FIVE",
    Hand.COMMUNITY_ROYAL_FLUSH: "BOARD ROYAL",
    Hand.ROYAL_FLUSH: "ROYAL FLUSH",
    Hand.STRAIGHT_FLUSH: "STR FLUSH",
    Hand.FOUR_OF_A_KIND: "QUADS",
    Hand.FULL_HOUSE: "FULL HOUSE",
    Hand.FLUSH: "FLUSH",
    Hand.STRAIGHT: "STRAIGHT",
    Hand.THREE_OF_A_KIND: "TRIPS",
    Hand.TWO_PAIR: "TWO PAIR",
    Hand.PAIR: "PAIR",
    Hand.HIGH_CARD: "HIGH CARD",
}


def fit(text: str) -> str:
    """One line, cut to its width."""
    return text[:WIDTH].rstrip()


def fold(text: str) -> tuple[str, ...]:
    """As many lines as it takes; a word longer than a line is broken."""
    return tuple(wrap(text, WIDTH))


def amount_lines(label: str, amount: Money) -> tuple[str, ...]:
    """A label and an amount, on two lines if one is too short. An amount is never cut."""
    return fold(f"{label} {amount.for_people()}")


def pay_words(pay: Pay | None) -> str:
    """ "100%" of a meter; "300:1" is 300 to 1, "300X" is 300 for 1; no pay of its own: "ENVY"."""
    if pay is None:
        return "ENVY"
    if isinstance(pay, MeterPay):
        return f"{pay.percent}%"
    return f"{pay.multiplier}:1" if pay.style is Style.TO else f"{pay.multiplier}X"


def hand_words(hand: Hand, pay: Pay | None, *, width: int = WIDTH) -> str:
    """A hand with its pay; the name gives way to the pay."""
    paid = pay_words(pay)
    return f"{HANDS[hand][: width - len(paid) - 1]} {paid}"


def seat_of(digit: str) -> int:
    return 10 if digit == "0" else int(digit)


def digit_of(number: int) -> str:
    return str(number % 10)


def page_count(count: int, size: int = LINES) -> int:
    return max(1, -(-count // size))


def page_after(shown: int, count: int, size: int = LINES) -> int:
    """The next page; after the last comes the first."""
    return (shown + 1) % page_count(count, size)


def part(lines: Sequence[str], shown: int, size: int = LINES) -> tuple[str, ...]:
    """The lines of one page out of many."""
    first = shown % page_count(len(lines), size) * size
    return tuple(lines[first : first + size])


def paged(blocks: Iterable[tuple[str, ...]], size: int) -> list[tuple[str, ...]]:
    """Pages of so many lines. A block that fits on a page is not torn apart."""
    pages: list[tuple[str, ...]] = []
    for block in blocks:
        if pages and len(pages[-1]) + len(block) <= size:
            pages[-1] += block
        else:
            pages += [block[at : at + size] for at in range(0, len(block), size)]
    return pages


def more(count: int, otherwise: str, size: int = LINES) -> str:
    """The hint, which is how to turn the page where there is more than one."""
    return "MENU = MORE" if page_count(count, size) > 1 else otherwise


def numbered(texts: Sequence[str], shown: int, marked: int | None = None) -> tuple[str, ...]:
    """Choices, each behind its digit; a star stands at the one in force."""
    lines = [
        fit(f"{digit_of(at + 1)}{'*' if at == marked else ' '}{text}")
        for at, text in enumerate(texts)
    ]
    return part(lines, shown)


def picked(digit: str, choices: int, shown: int) -> int | None:
    """Which choice a digit means. Beyond ten choices it depends on the page that shows."""
    first = shown * LINES // CHOICES * CHOICES
    at = first + DIGITS.index(digit)
    return at if at < choices else None


def keys_to_pick(at: int) -> tuple[str, ...]:
    """The keys that pick one of many from the first page on."""
    pages = at // CHOICES * CHOICES // LINES
    return ("menu",) * pages + (digit_of(at + 1),)
