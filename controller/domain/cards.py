"""Cards, and the cards one player can use, read from text. Says nothing about what they are worth.

A deal is written as at the table: two hole cards, a bar, then the community cards in the order
dealt, so that the flop can be told from the turn and the river: "Ah Kh | Qh Jh Th 2c 3d".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from controller.domain.errors import BadInput, check

ACE: Final = 14
SUIT_WORDS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
HOLE_CARDS: Final = 2
FLOP_CARDS: Final = 3
COMMUNITY_CARDS: Final = 5

_RANK_LETTERS: Final = "23456789TJQKA"  # rank 2 stands first
_CARD: Final = re.compile(r"(10|[2-9tjqka])([cdhs])", re.ASCII | re.IGNORECASE)
_EXAMPLE: Final = '"Ah Kh | Qh Jh Th 2c 3d"'


@dataclass(frozen=True, slots=True)
class Card:
    """One card: rank 2 to 14 (the ace), suit c, d, h or s."""

    rank: int
    suit: str

    def __post_init__(self) -> None:
        check(2 <= self.rank <= ACE and self.suit in SUIT_WORDS, f"bad card {self.rank}{self.suit}")

    def __str__(self) -> str:
        return f"{_RANK_LETTERS[self.rank - 2]}{self.suit}"


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards one player can use, the community cards in the order dealt."""

    hole: tuple[Card, ...]
    community: tuple[Card, ...]

    def __post_init__(self) -> None:
        check(len(self.hole) == HOLE_CARDS, "a deal without two hole cards")
        check(FLOP_CARDS <= len(self.community) <= COMMUNITY_CARDS, "a deal without a board")
        check(len(set(self.cards)) == len(self.cards), "a deal with the same card twice")

    @property
    def cards(self) -> tuple[Card, ...]:
        return self.hole + self.community

    @property
    def first_five(self) -> tuple[Card, ...]:
        """The two hole cards and the flop."""
        return self.hole + self.community[:FLOP_CARDS]


def parse_card(text: str) -> Card:
    """Read "Ah", "td" or "10D"."""
    found = _CARD.fullmatch(text)
    if found is None:
        raise BadInput(
            f"{text!r} is not a card; write a rank (2-9, T or 10, J, Q, K, A) and a suit"
            " (c, d, h, s)"
        )
    rank, suit = found.groups()
    letter = "T" if rank == "10" else rank.upper()
    return Card(_RANK_LETTERS.index(letter) + 2, suit.lower())


def parse_deal(text: str) -> Deal:
    """Read "Ah Kh | Qh Jh Th 2c 3d"; three to five community cards may lie on the table."""
    if not text.strip():
        raise BadInput(f"no cards were given; write a deal such as {_EXAMPLE}")
    cards, problems = _parse_cards(text.replace("|", " ").split())
    parts = [part.split() for part in text.split("|")]
    problems += _layout_problems(parts)
    if problems:
        raise BadInput(*problems)
    return Deal(tuple(cards[:HOLE_CARDS]), tuple(cards[HOLE_CARDS:]))


def _parse_cards(words: list[str]) -> tuple[list[Card], list[str]]:
    cards: list[Card] = []
    problems: list[str] = []
    for word in words:
        try:
            card = parse_card(word)
        except BadInput as bad:
            problems += bad.problems
            continue
        if card in cards:
            problems.append(f"{card} is there more than once; a deck has one of each card")
        cards.append(card)
    return cards, list(dict.fromkeys(problems))


def _layout_problems(parts: list[list[str]]) -> list[str]:
    bars = len(parts) - 1
    if bars != 1:
        return [
            f"found {bars or 'no'} bar{'s' * (bars > 1)}; put one between hole and community"
            f" cards, such as {_EXAMPLE}"
        ]
    hole, community = len(parts[0]), len(parts[1])
    problems = []
    if hole != HOLE_CARDS:
        problems.append(f"hole cards before the bar: found {hole}, needs exactly {HOLE_CARDS}")
    if not FLOP_CARDS <= community <= COMMUNITY_CARDS:
        problems.append(
            f"community cards after the bar: found {community}, needs {FLOP_CARDS} to"
            f" {COMMUNITY_CARDS}"
        )
    return problems
