"""Chances of paytable lines against textbook formulas, treys, and deals counted one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb

import pytest
from treys import Card as TreysCard
from treys import Evaluator as TreysEvaluator

from controller.domain.cards import Card, Deal
from controller.domain.hands import winning_line
from controller.domain.odds import category_counts, line_counts
from controller.domain.pack import ROYALS, Hand, HandBasis
from tests.builders import pack_of

SUITS = "cdhs"
DECK = [Card(rank, suit) for rank in range(2, 15) for suit in SUITS]
PLACES_OF_FIVE = list(combinations(range(7), 5))
SEVEN_CARD_DEALS = comb(52, 7)
PLAIN = [hand for hand in Hand if hand not in ROYALS - {Hand.ROYAL_FLUSH}]


def chances(basis: HandBasis, *hands: Hand) -> dict[Hand, Fraction]:
    counts = line_counts(pack_of(basis, *hands))
    return {hand: Fraction(*count) for hand, count in counts.items()}


def textbook_five_card_counts() -> dict[Hand, int]:
    straights, any_ranks = 10, comb(13, 5)
    return {
        Hand.ROYAL_FLUSH: 4,
        Hand.STRAIGHT_FLUSH: 4 * (straights - 1),
        Hand.FOUR_OF_A_KIND: 13 * 48,
        Hand.FULL_HOUSE: 13 * comb(4, 3) * 12 * comb(4, 2),
        Hand.FLUSH: 4 * (any_ranks - straights),
        Hand.STRAIGHT: straights * (4**5 - 4),
        Hand.THREE_OF_A_KIND: 13 * comb(4, 3) * comb(12, 2) * 4**2,
        Hand.TWO_PAIR: comb(13, 2) * comb(4, 2) ** 2 * 44,
        Hand.PAIR: 13 * comb(4, 2) * comb(12, 3) * 4**3,
        Hand.HIGH_CARD: (any_ranks - straights) * (4**5 - 4),
    }


def treys_counts(dealt: int) -> Counter[str]:
    """Every set of so many cards, by name: treys judges one for all that differ in suits alone."""
    evaluator = TreysEvaluator()

    def name(cards: list[str]) -> str:
        rank = evaluator.evaluate([TreysCard.new(card) for card in cards], [])
        return str(evaluator.class_to_string(evaluator.get_rank_class(rank)))

    counts: Counter[str] = Counter()
    suitings: dict[tuple[int, ...], tuple[int, list[str]]] = {}
    for ranks in combinations_with_replacement("23456789TJQKA", dealt):
        numbers = tuple(Counter(ranks).values())
        if max(numbers) <= 4:
            if numbers not in suitings:
                suitings[numbers] = suitings_without_flush(numbers)
            ways, suits = suitings[numbers]
            counts[name([f"{r}{s}" for r, s in zip(ranks, suits, strict=True)])] += ways
    for suited in range(5, dealt + 1):
        for ranks in combinations("23456789TJQKA", suited):
            fillers = ["2c", "3d"][: dealt - suited]
            counts[name([f"{r}h" for r in ranks] + fillers)] += 4 * comb(39, dealt - suited)
    return counts


def suitings_without_flush(numbers: tuple[int, ...]) -> tuple[int, list[str]]:
    """How many ways to suit so many cards of each rank without five of a suit, and one of them."""
    ways, example = 0, ""
    for choice in product(*(combinations(SUITS, number) for number in numbers)):
        suits = "".join(suit for chosen in choice for suit in chosen)
        if max(Counter(suits).values()) < 5:
            ways, example = ways + 1, suits
    return ways, list(example)


def royal_deal(suit: str, places: tuple[int, ...], rags: tuple[Card, ...]) -> Deal:
    """A deal with the royal of a suit in five given places of the seven, rags in the others."""
    royal, rest = iter(range(10, 15)), iter(rags)
    cards = [Card(next(royal), suit) if i in places else next(rest) for i in range(7)]
    return Deal(tuple(cards[:2]), tuple(cards[2:]))


def test_five_card_lines_have_the_textbook_counts() -> None:
    expected = {hand: (n, 2_598_960) for hand, n in textbook_five_card_counts().items()}
    assert line_counts(pack_of(HandBasis.HOLE_AND_FLOP, *PLAIN)) == expected
    assert sum(textbook_five_card_counts().values()) == 2_598_960


@pytest.mark.parametrize("dealt", [5, 6, 7])
def test_treys_counts_the_same_hands(dealt: int) -> None:
    ours = {
        hand.replace("_", " ").title().replace(" Of A ", " of a "): count
        for hand, count in category_counts(dealt).items()
    }
    theirs = treys_counts(dealt)
    assert ours == theirs
    assert theirs.total() == comb(52, dealt)


def test_seven_card_lines_of_plain_hands_are_out_of_all_seven_card_deals() -> None:
    counts = line_counts(pack_of(HandBasis.BEST_OF_SEVEN, *PLAIN))
    assert {denominator for _, denominator in counts.values()} == {133_784_560}
    assert sum(numerator for numerator, _ in counts.values()) == 133_784_560
    assert counts[Hand.ROYAL_FLUSH] == (4_324, 133_784_560)


def test_royals_counted_deal_by_deal_agree_on_best_of_seven() -> None:
    lines = (Hand.ROYAL_FLUSH_FIRST_FIVE, Hand.COMMUNITY_ROYAL_FLUSH, Hand.ROYAL_FLUSH)
    pack = pack_of(HandBasis.BEST_OF_SEVEN, *lines)
    won: Counter[Hand | None] = Counter()
    for suit in SUITS:
        others = [card for card in DECK if card.suit != suit or card.rank < 10]
        for places in PLACES_OF_FIVE:
            for rags in combinations(others, 2):
                won[winning_line(royal_deal(suit, places, rags), pack)] += 1
    deals = SEVEN_CARD_DEALS * len(PLACES_OF_FIVE)
    assert won.total() == 4 * 21 * comb(47, 2)
    assert line_counts(pack) == {line: (won[line], deals) for line in lines}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_royal_lines_in_any_order_share_the_royals_as_deals_do(number: int) -> None:
    rags = (Card(2, "c"), Card(2, "d"))
    for lines in permutations(sorted(ROYALS), number):
        pack = pack_of(HandBasis.BEST_OF_SEVEN, *lines)
        won = Counter(
            winning_line(royal_deal(suit, places, rags), pack)
            for suit in SUITS
            for places in PLACES_OF_FIVE
        )
        royal = Fraction(comb(47, 2), SEVEN_CARD_DEALS * len(PLACES_OF_FIVE))
        assert chances(pack.hand_basis, *lines) == {line: won[line] * royal for line in lines}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_royal_lines_in_any_order_share_the_royals_of_the_flop(number: int) -> None:
    rags = (Card(2, "c"), Card(2, "d"))
    for lines in permutations(sorted(ROYALS), number):
        pack = pack_of(HandBasis.HOLE_AND_FLOP, *lines)
        won = Counter(winning_line(royal_deal(suit, (0, 1, 2, 3, 4), rags), pack) for suit in SUITS)
        assert line_counts(pack) == {line: (won[line], comb(52, 5)) for line in lines}


@pytest.mark.parametrize("basis", HandBasis)
def test_diamonds_are_a_quarter_of_the_royals_and_the_rest_three(basis: HandBasis) -> None:
    (alone,) = chances(basis, Hand.ROYAL_FLUSH).values()
    shared = chances(basis, Hand.ROYAL_FLUSH_DIAMONDS, Hand.ROYAL_FLUSH)
    assert shared[Hand.ROYAL_FLUSH_DIAMONDS] * 4 == alone
    assert shared[Hand.ROYAL_FLUSH] * 4 == alone * 3


def test_a_royal_in_the_first_five_or_on_the_board_is_as_rare_as_in_five_cards() -> None:
    first_five, community = Hand.ROYAL_FLUSH_FIRST_FIVE, Hand.COMMUNITY_ROYAL_FLUSH
    found = chances(HandBasis.BEST_OF_SEVEN, first_five, community)
    assert found == {first_five: Fraction(1, 649_740), community: Fraction(1, 649_740)}


def test_lines_keep_the_order_of_the_paytable_and_one_denominator() -> None:
    lines = (Hand.COMMUNITY_ROYAL_FLUSH, Hand.PAIR, Hand.ROYAL_FLUSH, Hand.FLUSH)
    counts = line_counts(pack_of(HandBasis.BEST_OF_SEVEN, *lines))
    assert tuple(counts) == lines
    assert len({denominator for _, denominator in counts.values()}) == 1
    assert Fraction(*counts[Hand.PAIR]) == Fraction(58_627_800, SEVEN_CARD_DEALS)


def test_a_pack_without_lines_has_no_chances() -> None:
    assert line_counts(pack_of(HandBasis.BEST_OF_SEVEN)) == {}
