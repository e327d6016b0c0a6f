"""What a deal is worth: the best five cards, and the paytable line they win. Pays nothing itself.

A score is one whole number: the category, then the ranks of the five cards, the most significant
first, four bits each. A greater score is a better hand and equal scores tie. Scores come straight
from one bit mask of ranks per suit, so seven cards cost no more than five.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from controller.domain.cards import ACE, COMMUNITY_CARDS, SUIT_WORDS, Card, Deal
from controller.domain.errors import BadInput, check
from controller.domain.pack import Hand, HandBasis, Pack

HAND_CARDS: Final = 5

_CATEGORIES: Final = (
    Hand.HIGH_CARD,
    Hand.PAIR,
    Hand.TWO_PAIR,
    Hand.THREE_OF_A_KIND,
    Hand.STRAIGHT,
    Hand.FLUSH,
    Hand.FULL_HOUSE,
    Hand.FOUR_OF_A_KIND,
    Hand.STRAIGHT_FLUSH,
    Hand.ROYAL_FLUSH,
)
(
    _HIGH_CARD,
    _PAIR,
    _TWO_PAIR,
    _THREE,
    _STRAIGHT,
    _FLUSH,
    _FULL_HOUSE,
    _FOUR,
    _STRAIGHT_FLUSH,
    _ROYAL_FLUSH,
) = range(len(_CATEGORIES))
_RANK_BITS: Final = 4
_CATEGORY_SHIFT: Final = HAND_CARDS * _RANK_BITS
_SUITED: Final = frozenset({Hand.FLUSH, Hand.STRAIGHT_FLUSH, Hand.ROYAL_FLUSH})


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The best hand in a deal, by its plain name, and where its cards came from."""

    hand: Hand
    suit: str | None  # in words, of a royal flush only
    cards: tuple[Card, ...]  # the best five, the most significant first
    first_five: bool  # the hole cards and the flop alone are worth as much
    community: bool  # the board alone is worth as much


def evaluate(deal: Deal) -> Evaluation:
    """Name the best five of all the cards given."""
    best = score(deal.cards)
    hand = hand_of(best)
    cards = best_five(deal.cards, best)
    return Evaluation(
        hand=hand,
        suit=SUIT_WORDS[cards[0].suit] if hand is Hand.ROYAL_FLUSH else None,
        cards=cards,
        first_five=score(deal.first_five) == best,
        community=_board_is_worth(deal, best),
    )


def winning_line(deal: Deal, pack: Pack) -> Hand | None:
    """The first line of the paytable, in its order, that the deal satisfies on the pack's basis."""
    matches = _lines_matched(deal, pack)
    return next((pay.hand for pay in pack.pays if pay.hand in matches), None)


def _lines_matched(deal: Deal, pack: Pack) -> set[Hand]:
    seven = pack.hand_basis is HandBasis.BEST_OF_SEVEN
    if seven and len(deal.community) < COMMUNITY_CARDS:
        raise BadInput(
            f"found {len(deal.community)} community cards; {pack.id} is decided on the best five"
            f" of seven and needs all five community cards"
        )
    cards = deal.cards if seven else deal.first_five
    best = score(cards)
    hand = hand_of(best)
    matches = {hand}
    if hand is Hand.ROYAL_FLUSH:
        if best_five(cards, best)[0].suit == "d":
            matches.add(Hand.ROYAL_FLUSH_DIAMONDS)
        if score(deal.first_five) == best:
            matches.add(Hand.ROYAL_FLUSH_FIRST_FIVE)
        if _board_is_worth(deal, best):
            matches.add(Hand.COMMUNITY_ROYAL_FLUSH)
    return matches


def _board_is_worth(deal: Deal, best: int) -> bool:
    return len(deal.community) == COMMUNITY_CARDS and score(deal.community) == best


def hand_of(worth: int) -> Hand:
    """The category of a score. A royal is apart from the other straight flushes."""
    return _CATEGORIES[worth >> _CATEGORY_SHIFT]


def best_five(cards: Sequence[Card], worth: int) -> tuple[Card, ...]:
    """The five cards that a score of these cards stands for; of equal cards, the first dealt."""
    left = list(cards)
    if hand_of(worth) in _SUITED:
        suits = [card.suit for card in cards]
        left = [card for card in cards if suits.count(card.suit) >= HAND_CARDS]
    chosen = []
    for shift in range(_CATEGORY_SHIFT - _RANK_BITS, -1, -_RANK_BITS):
        rank = worth >> shift & 0xF
        card = next(card for card in left if card.rank == rank)
        left.remove(card)
        chosen.append(card)
    return tuple(chosen)


def score(cards: Sequence[Card]) -> int:
    """What the best five of five to seven different cards are worth."""
    check(HAND_CARDS <= len(cards) <= 7, "a hand is judged on five to seven cards")
    masks = {"c": 0, "d": 0, "h": 0, "s": 0}
    for card in cards:
        masks[card.suit] |= 1 << card.rank
    for mask in masks.values():
        # Five of one suit are five ranks, and two more cards make no full house or four of a kind.
        if mask.bit_count() >= HAND_CARDS:
            return _score_suited(mask)
    return _score_unsuited(*masks.values())


def straight_top(ranks: int) -> int:
    """The top rank of the best straight in a mask of ranks, 0 if there is none."""
    with_low_ace = ranks | ranks >> ACE << 1
    pairs = with_low_ace & with_low_ace >> 1
    runs = pairs & pairs >> 2 & with_low_ace >> 4
    return runs.bit_length() + 3 if runs else 0


def _score_suited(ranks: int) -> int:
    top = straight_top(ranks)
    if top == ACE:
        return _packed(_ROYAL_FLUSH, *_run(top))
    if top:
        return _packed(_STRAIGHT_FLUSH, *_run(top))
    return _packed(_FLUSH, *_highest(ranks, HAND_CARDS))


def _score_unsuited(clubs: int, diamonds: int, hearts: int, spades: int) -> int:
    ranks = clubs | diamonds | hearts | spades
    # Add the four masks bit by bit: which ranks are there at least twice, three and four times.
    minor_two, minor_one = clubs & diamonds, clubs ^ diamonds
    major_two, major_one = hearts & spades, hearts ^ spades
    twice = minor_two | major_two | minor_one & major_one
    thrice = minor_two & (major_one | major_two) | major_two & minor_one
    four = minor_two & major_two
    if four:
        rank = _top(four)
        return _packed(_FOUR, rank, rank, rank, rank, _top(ranks ^ 1 << rank))
    if thrice:
        rank = _top(thrice)
        under = twice ^ 1 << rank
        if under:
            pair = _top(under)
            return _packed(_FULL_HOUSE, rank, rank, rank, pair, pair)
    straight = straight_top(ranks)
    if straight:
        return _packed(_STRAIGHT, *_run(straight))
    if thrice:
        return _packed(_THREE, rank, rank, rank, *_highest(ranks ^ thrice, 2))
    return _score_pairs(ranks, twice)


def _score_pairs(ranks: int, twice: int) -> int:
    if not twice:
        return _packed(_HIGH_CARD, *_highest(ranks, HAND_CARDS))
    high = _top(twice)
    ranks ^= 1 << high
    twice ^= 1 << high
    if not twice:
        return _packed(_PAIR, high, high, *_highest(ranks, 3))
    low = _top(twice)
    return _packed(_TWO_PAIR, high, high, low, low, _top(ranks ^ 1 << low))


def _packed(category: int, first: int, second: int, third: int, fourth: int, fifth: int) -> int:
    ranks = first << 16 | second << 12 | third << 8 | fourth << 4 | fifth
    return category << _CATEGORY_SHIFT | ranks


def _run(top: int) -> tuple[int, int, int, int, int]:
    return top, top - 1, top - 2, top - 3, top - 4 if top > HAND_CARDS else ACE


def _top(ranks: int) -> int:
    return ranks.bit_length() - 1


def _highest(ranks: int, count: int) -> list[int]:
    found = []
    for _ in range(count):
        rank = ranks.bit_length() - 1
        ranks ^= 1 << rank
        found.append(rank)
    return found
