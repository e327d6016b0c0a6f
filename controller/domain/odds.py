"""Exact chances of every line of a paytable, for one player, in whole numbers. Knows no money.

Hands are counted by the pattern of their ranks (how many of each) and by their suits, never one
by one, so that seven-card counts take milliseconds on a Pi.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from math import comb, factorial, prod
from typing import Final

from controller.domain.cards import ACE, SUIT_WORDS
from controller.domain.hands import HAND_CARDS, straight_top
from controller.domain.pack import ROYALS, Hand, HandBasis, Pack

_DECK: Final = 52
_SUITS: Final = 4
_RANKS: Final = range(2, ACE + 1)
_ALL_SEVEN: Final = 7

# Where a royal's five cards lie, and in how many of the equally likely ways: of the 21 choices of
# five places out of seven, one is the hole cards and the flop, another is the board.
_PLACES_IN_FIVE: Final[Mapping[Hand, int]] = {Hand.ROYAL_FLUSH_FIRST_FIVE: 1}
_PLACES_IN_SEVEN: Final[Mapping[Hand, int]] = {
    Hand.ROYAL_FLUSH_FIRST_FIVE: 1,
    Hand.COMMUNITY_ROYAL_FLUSH: 1,
    Hand.ROYAL_FLUSH: comb(_ALL_SEVEN, HAND_CARDS) - 2,
}


def line_counts(pack: Pack) -> dict[Hand, tuple[int, int]]:
    """Numerator and denominator of each line's chance; the denominator is the same for all.

    A deal belongs to the first line that it satisfies, so lines of royals depend on their order.
    """
    seven = pack.hand_basis is HandBasis.BEST_OF_SEVEN
    dealt, places = (_ALL_SEVEN, _PLACES_IN_SEVEN) if seven else (HAND_CARDS, _PLACES_IN_FIVE)
    hands = category_counts(dealt)
    placings = sum(places.values())
    counts = {pay.hand: hands[pay.hand] * placings for pay in pack.pays if pay.hand not in ROYALS}
    counts |= _royal_counts(pack, hands[Hand.ROYAL_FLUSH], places)
    deals = comb(_DECK, dealt) * placings
    if all(count % placings == 0 for count in counts.values()):  # nobody asks for places
        counts = {hand: count // placings for hand, count in counts.items()}
        deals //= placings
    return {pay.hand: (counts[pay.hand], deals) for pay in pack.pays}


def _royal_counts(pack: Pack, royals: int, places: Mapping[Hand, int]) -> dict[Hand, int]:
    left = {
        (suit, place): royals // _SUITS * ways
        for suit in SUIT_WORDS
        for place, ways in places.items()
    }
    lines = [pay.hand for pay in pack.pays if pay.hand in ROYALS]
    return {line: sum(left.pop(kind) for kind in _kinds_of(line, left)) for line in lines}


def _kinds_of(line: Hand, left: Mapping[tuple[str, Hand], int]) -> list[tuple[str, Hand]]:
    """Which of the royals left over, by suit and place, a line takes."""
    if line is Hand.ROYAL_FLUSH:
        return list(left)
    if line is Hand.ROYAL_FLUSH_DIAMONDS:
        return [kind for kind in left if kind[0] == "d"]
    return [kind for kind in left if kind[1] is line]


@cache
def category_counts(dealt: int) -> Mapping[Hand, int]:
    """How many sets of so many cards have each hand as their best, royals of all kinds together."""
    counts: Counter[Hand] = Counter()
    for suited in range(HAND_CARDS, dealt + 1):
        others = comb(_DECK - len(_RANKS), dealt - suited)
        for ranks in combinations(_RANKS, suited):
            counts[_suited_hand(straight_top(_mask(ranks)))] += _SUITS * others
    for pattern in _patterns(dealt, _SUITS):
        different = len(pattern)
        straights = _straight_rank_sets(different)
        ways = _arrangements(pattern) * _suitings_without_flush(pattern)
        counts[Hand.STRAIGHT] += straights * ways
        counts[_matched_hand(pattern)] += (comb(len(_RANKS), different) - straights) * ways
    return counts


def _suited_hand(straight: int) -> Hand:
    if straight == ACE:
        return Hand.ROYAL_FLUSH
    return Hand.STRAIGHT_FLUSH if straight else Hand.FLUSH


def _matched_hand(pattern: tuple[int, ...]) -> Hand:
    """The hand in how many cards there are of each rank, largest number first."""
    most, second = pattern[0], pattern[1]
    if most == 4:
        return Hand.FOUR_OF_A_KIND
    if most == 3:
        return Hand.FULL_HOUSE if second > 1 else Hand.THREE_OF_A_KIND
    if most == 2:
        return Hand.TWO_PAIR if second > 1 else Hand.PAIR
    return Hand.HIGH_CARD


def _patterns(cards: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Every way to share cards among ranks, largest number first: (4, 1), (3, 2), (3, 1, 1)…"""
    if cards == 0:
        yield ()
    for first in range(min(cards, largest), 0, -1):
        for rest in _patterns(cards - first, first):
            yield (first, *rest)


def _arrangements(pattern: tuple[int, ...]) -> int:
    """In how many ways the numbers of a pattern go to so many given ranks."""
    same = Counter(pattern).values()
    return factorial(len(pattern)) // prod(factorial(number) for number in same)


def _straight_rank_sets(different: int) -> int:
    return sum(straight_top(_mask(ranks)) > 0 for ranks in combinations(_RANKS, different))


def _suitings_without_flush(pattern: tuple[int, ...]) -> int:
    """In how many ways given ranks take their suits with no five cards of one suit."""
    ways: Counter[tuple[int, ...]] = Counter({(0,) * _SUITS: 1})
    for number in pattern:
        more: Counter[tuple[int, ...]] = Counter()
        for cards, count in ways.items():
            for suits in combinations(range(_SUITS), number):
                more[tuple(n + (suit in suits) for suit, n in enumerate(cards))] += count
        ways = more
    return sum(count for cards, count in ways.items() if max(cards) < HAND_CARDS)


def _mask(ranks: tuple[int, ...]) -> int:
    return sum(1 << rank for rank in ranks)
