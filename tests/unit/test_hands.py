"""Our evaluator against two strangers' evaluators, and the hands that disputes are about.

Every set of five to seven cards is covered but for suits that cannot matter: each multiset of
ranks once without a flush, each set of ranks that can be suited once with one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pokerkit import StandardHighHand
from treys import Card as TreysCard
from treys import Evaluator as TreysEvaluator

from controller.domain.cards import ACE, SUIT_WORDS, Card, Deal, parse_card, parse_deal
from controller.domain.errors import BadInput, Broken
from controller.domain.hands import best_five, evaluate, hand_of, score, winning_line
from controller.domain.pack import Hand, HandBasis, Pack
from tests.builders import pack_of

SUITS = tuple(SUIT_WORDS)
DECK = [Card(rank, suit) for rank in range(2, 15) for suit in SUITS]
TREYS_NAMES = {
    "Royal Flush": Hand.ROYAL_FLUSH,
    "Straight Flush": Hand.STRAIGHT_FLUSH,
    "Four of a Kind": Hand.FOUR_OF_A_KIND,
    "Full House": Hand.FULL_HOUSE,
    "Flush": Hand.FLUSH,
    "Straight": Hand.STRAIGHT,
    "Three of a Kind": Hand.THREE_OF_A_KIND,
    "Two Pair": Hand.TWO_PAIR,
    "Pair": Hand.PAIR,
    "High Card": Hand.HIGH_CARD,
}
# pokerkit has no royal: it is the ace-high straight flush there.
POKERKIT_NAMES = {
    "Straight flush": {Hand.ROYAL_FLUSH, Hand.STRAIGHT_FLUSH},
    "Four of a kind": {Hand.FOUR_OF_A_KIND},
    "Full house": {Hand.FULL_HOUSE},
    "Flush": {Hand.FLUSH},
    "Straight": {Hand.STRAIGHT},
    "Three of a kind": {Hand.THREE_OF_A_KIND},
    "Two pair": {Hand.TWO_PAIR},
    "One pair": {Hand.PAIR},
    "High card": {Hand.HIGH_CARD},
}
KNOWN_FIVE_CARD_COUNTS = {
    Hand.ROYAL_FLUSH: 4,
    Hand.STRAIGHT_FLUSH: 36,
    Hand.FOUR_OF_A_KIND: 624,
    Hand.FULL_HOUSE: 3_744,
    Hand.FLUSH: 5_108,
    Hand.STRAIGHT: 10_200,
    Hand.THREE_OF_A_KIND: 54_912,
    Hand.TWO_PAIR: 123_552,
    Hand.PAIR: 1_098_240,
    Hand.HIGH_CARD: 1_302_540,
}
FIVE_CARD_CLASSES = 7462  # how many five-card hands differ in worth

hands_of_cards = st.lists(st.sampled_from(DECK), min_size=5, max_size=7, unique=True)


class Treys:
    """The first oracle; its ranks run from 1, the best, to 7462."""

    def __init__(self) -> None:
        self._evaluator = TreysEvaluator()
        self._cards = {card: TreysCard.new(str(card)) for card in DECK}

    def rank(self, cards: list[Card]) -> int:
        return int(self._evaluator.evaluate([self._cards[card] for card in cards], []))

    def hand(self, rank: int) -> Hand:
        name = self._evaluator.class_to_string(self._evaluator.get_rank_class(rank))
        return TREYS_NAMES[name]


@pytest.fixture(scope="module")
def treys() -> Treys:
    return Treys()


def assert_treys_agrees(treys: Treys, hands: list[list[Card]]) -> dict[int, int]:
    """Same name and same order for all of them; gives back which score has which treys rank."""
    rank_of: dict[int, int] = {}
    for cards in hands:
        worth, rank = score(cards), treys.rank(cards)
        assert rank_of.setdefault(worth, rank) == rank, cards
        assert hand_of(worth) is treys.hand(rank), cards
    ranks = [rank_of[worth] for worth in sorted(rank_of, reverse=True)]
    assert all(better < worse for better, worse in pairwise(ranks))
    return rank_of


def unsuited_hands(size: int, random: Random) -> Iterator[list[Card]]:
    """Each multiset of ranks once, in random suits without a flush."""
    for ranks in combinations_with_replacement(range(2, 15), size):
        numbers = Counter(ranks)
        if max(numbers.values()) > len(SUITS):
            continue
        while True:
            cards = [Card(r, s) for r, n in numbers.items() for s in random.sample(SUITS, n)]
            if max(Counter(card.suit for card in cards).values()) < 5:
                break
        random.shuffle(cards)
        yield cards


def suited_hands(size: int, random: Random) -> Iterator[list[Card]]:
    """Each set of five or more ranks once in one suit, filled up from the other suits."""
    for suited in range(5, size + 1):
        for ranks in combinations(range(2, 15), suited):
            suit = random.choice(SUITS)
            others = [card for card in DECK if card.suit != suit]
            cards = [Card(rank, suit) for rank in ranks] + random.sample(others, size - suited)
            random.shuffle(cards)
            yield cards


@pytest.mark.parametrize("seed", [1811])
def test_treys_agrees_on_every_five_card_hand_there_can_be(treys: Treys, seed: int) -> None:
    random = Random(seed)
    rank_of = assert_treys_agrees(treys, [*unsuited_hands(5, random), *suited_hands(5, random)])
    assert len(rank_of) == FIVE_CARD_CLASSES
    assert sorted(rank_of.values()) == list(range(1, FIVE_CARD_CLASSES + 1))


@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("seed", [1812])
def test_treys_agrees_on_every_six_or_seven_card_hand(treys: Treys, seed: int, size: int) -> None:
    random = Random(seed)
    assert_treys_agrees(treys, [*unsuited_hands(size, random), *suited_hands(size, random)])


@pytest.mark.parametrize(("size", "number"), [(5, 20_000), (6, 15_000), (7, 20_000)])
@pytest.mark.parametrize("seed", [1813])
def test_treys_agrees_on_random_hands(treys: Treys, seed: int, size: int, number: int) -> None:
    random = Random(seed)
    assert_treys_agrees(treys, [random.sample(DECK, size) for _ in range(number)])


@pytest.mark.parametrize("size", [5, 6, 7])
@pytest.mark.parametrize("seed", [1814])
def test_pokerkit_agrees_on_names_and_order(seed: int, size: int) -> None:
    random = Random(seed)
    suited = random.sample(list(suited_hands(size, random)), 200)
    dealt = [random.sample(DECK, size) for _ in range(1300)] + suited
    judged = []
    for cards in dealt:
        theirs = StandardHighHand.from_game("".join(map(str, cards)))
        judged.append((score(cards), theirs))
        assert hand_of(score(cards)) in POKERKIT_NAMES[theirs.entry.label.value], cards
    judged.sort(key=lambda pair: pair[0])
    for (lower, theirs_lower), (upper, theirs_upper) in pairwise(judged):
        assert (lower < upper) == (theirs_lower < theirs_upper)
        assert (lower == upper) == (theirs_lower == theirs_upper)


@given(cards=hands_of_cards, data=st.data())
def test_neither_the_order_of_cards_nor_which_suit_is_which_matters(
    cards: list[Card], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(cards))
    suits = dict(zip(SUITS, data.draw(st.permutations(SUITS)), strict=True))
    assert score([Card(card.rank, suits[card.suit]) for card in shuffled]) == score(cards)


@given(cards=hands_of_cards)
def test_the_best_five_are_dealt_cards_worth_as_much_as_all(cards: list[Card]) -> None:
    worth = score(cards)
    chosen = best_five(cards, worth)
    assert len(set(chosen)) == 5
    assert set(chosen) <= set(cards)
    assert score(chosen) == worth
    assert worth == max(score(five) for five in combinations(cards, 5))


@pytest.mark.parametrize("size", [0, 4, 8])
def test_a_hand_is_judged_on_five_to_seven_cards_only(size: int) -> None:
    with pytest.raises(Broken):
        score(DECK[:size])


@pytest.mark.parametrize(
    ("deal", "hand", "cards"),
    [
        ("Ah 2c | 3d 4s 5h Kc Kd", Hand.STRAIGHT, "5h 4s 3d 2c Ah"),
        ("Ah 2c | 3d 4s 5h 6c Kd", Hand.STRAIGHT, "6c 5h 4s 3d 2c"),
        ("Ah 2h | 3h 4h 5h Kc Kd", Hand.STRAIGHT_FLUSH, "5h 4h 3h 2h Ah"),
        ("Kh Qh | Jh Th 9h Ac 2d", Hand.STRAIGHT_FLUSH, "Kh Qh Jh Th 9h"),
        ("Kh Qh | Jh Th 9h Ah 2d", Hand.ROYAL_FLUSH, "Ah Kh Qh Jh Th"),
        ("Ah Kh | Qh Jh Tc 2h 3d", Hand.FLUSH, "Ah Kh Qh Jh 2h"),
        ("As Kd | Qh Jh Th 2h 3h", Hand.FLUSH, "Qh Jh Th 3h 2h"),
        ("Qd Ks | Ah 2c 3d 4s 9c", Hand.HIGH_CARD, "Ah Ks Qd 9c 4s"),
        ("Kh 2c | 9c 9d 9h 9s Qd", Hand.FOUR_OF_A_KIND, "9c 9d 9h 9s Kh"),
        ("3h 2c | 9c 9d 9h 9s Qd", Hand.FOUR_OF_A_KIND, "9c 9d 9h 9s Qd"),
        ("9h 9c | 9s 4d 4c 4h 2d", Hand.FULL_HOUSE, "9h 9c 9s 4d 4c"),
        ("4h 4c | 9s 4d 9c 2h 2d", Hand.FULL_HOUSE, "4h 4c 4d 9s 9c"),
        ("9h 9c | 5s 5d 4c 4h Kd", Hand.TWO_PAIR, "9h 9c 5s 5d Kd"),
        ("9h 9c | 5s 5d 4c 4h 3d", Hand.TWO_PAIR, "9h 9c 5s 5d 4c"),
        ("9h 9c | 9s 8d 7c 6h 5d", Hand.STRAIGHT, "9h 8d 7c 6h 5d"),
        ("9h 9c | 9s Kd 7c 6h 2d", Hand.THREE_OF_A_KIND, "9h 9c 9s Kd 7c"),
        ("9h 9c | As Kd 7c 6h 2d", Hand.PAIR, "9h 9c As Kd 7c"),
        ("9h 9c | As Kd 7c", Hand.PAIR, "9h 9c As Kd 7c"),
        ("9h 9c | As Kd 7c 9d", Hand.THREE_OF_A_KIND, "9h 9c 9d As Kd"),
    ],
)
def test_a_disputed_hand_is_named_with_its_five_cards(deal: str, hand: Hand, cards: str) -> None:
    found = evaluate(parse_deal(deal))
    assert (found.hand, " ".join(map(str, found.cards))) == (hand, cards)
    assert found.suit is None or hand is Hand.ROYAL_FLUSH


def test_a_royal_has_its_own_suit_whatever_lies_beside_it() -> None:
    for suit, word in SUIT_WORDS.items():
        royal = [Card(rank, suit) for rank in range(10, 15)]
        rag = Card(ACE, "c" if suit != "c" else "s")
        found = evaluate(Deal((rag, royal[0]), tuple(royal[1:])))
        assert (found.hand, found.suit) == (Hand.ROYAL_FLUSH, word)


@pytest.mark.parametrize(
    ("deal", "first_five", "community"),
    [
        ("Ah Kh | Qh Jh Th 2c 3d", True, False),  # a royal, then two rags
        ("Ah Kh | Qh Jh 2c Th 3d", False, False),  # completed on the turn
        ("2c 3d | Ah Kh Qh Jh Th", False, True),  # the board is royal
        ("Ah 2c | Kh Qh Jh Th 3d", False, False),  # four of the royal on the board
        ("2c 3d | 9h 9c 9s 9d Ah", False, True),  # the board's ace kicks for everybody
        ("Ac 3d | 9h 9c 9s 9d Ah", False, True),  # equal to the board, so the board plays
        ("Ac 3d | 9h 9c 9s 9d Kh", False, False),  # the hole ace kicks
        ("9h 8c | 7s 6d 5h 5c 5d", True, False),
        ("9h 8c | 7s 6d 5h 9c 8d", True, True),  # two straights of the same worth
        ("9h 9c | 2s 3d 5h 7c Jd", False, False),  # the pair stands, better kickers came later
        ("9h 9c | As Kd Qh 7c 2d", True, False),
        ("2h 2c | As Ad Kh Kc Qd", False, True),
        ("9h 9c | As Kd Qh", True, False),  # a board of three is no hand
        ("9h 9c | As Kd Qh 9d", False, False),
    ],
)
def test_where_a_hand_comes_from_is_told(deal: str, first_five: bool, community: bool) -> None:
    found = evaluate(parse_deal(deal))
    assert (found.first_five, found.community) == (first_five, community)


FLOP_PACK = pack_of(HandBasis.HOLE_AND_FLOP, *(hand for hand in TREYS_NAMES.values()))
DIAMONDS_PACK = pack_of(
    HandBasis.HOLE_AND_FLOP, Hand.ROYAL_FLUSH_DIAMONDS, Hand.ROYAL_FLUSH, Hand.FLUSH
)
SEVEN_PACK = pack_of(
    HandBasis.BEST_OF_SEVEN,
    Hand.ROYAL_FLUSH_FIRST_FIVE,
    Hand.COMMUNITY_ROYAL_FLUSH,
    Hand.ROYAL_FLUSH,
    Hand.STRAIGHT_FLUSH,
    Hand.FLUSH,
)
SEVEN_DIAMONDS_PACK = pack_of(HandBasis.BEST_OF_SEVEN, Hand.ROYAL_FLUSH_DIAMONDS, Hand.STRAIGHT)


@pytest.mark.parametrize(
    ("pack", "deal", "line"),
    [
        (FLOP_PACK, "Ah Kh | Qh Jh Th 2c 3d", Hand.ROYAL_FLUSH),
        (FLOP_PACK, "Ah Kh | Qh Jh Th", Hand.ROYAL_FLUSH),
        (FLOP_PACK, "Ah Kh | Qh Jh 2c Th 3d", Hand.HIGH_CARD),  # turn and river do not count
        (FLOP_PACK, "2c 3d | Ah Kh Qh Jh Th", Hand.HIGH_CARD),
        (FLOP_PACK, "9h 9c | 2s 3d 5h 9s 9d", Hand.PAIR),
        (DIAMONDS_PACK, "Ad Kd | Qd Jd Td", Hand.ROYAL_FLUSH_DIAMONDS),
        (DIAMONDS_PACK, "As Ks | Qs Js Ts 2d 3d", Hand.ROYAL_FLUSH),
        (DIAMONDS_PACK, "Kd Qd | Jd Td 9d Ad", None),  # a straight flush is no flush, nor royal yet
        (DIAMONDS_PACK, "Kd Qd | Jd Td 2d Ad", Hand.FLUSH),
        (SEVEN_PACK, "Ah Kh | Qh Jh Th 2c 3d", Hand.ROYAL_FLUSH_FIRST_FIVE),
        (SEVEN_PACK, "2c 3d | Ah Kh Qh Jh Th", Hand.COMMUNITY_ROYAL_FLUSH),
        (SEVEN_PACK, "Ah Kh | Qh Jh 2c Th 3d", Hand.ROYAL_FLUSH),
        (SEVEN_PACK, "Ah 2c | Kh Qh Jh Th 3d", Hand.ROYAL_FLUSH),
        (SEVEN_PACK, "9h 2c | Kh Qh Jh Th 3d", Hand.STRAIGHT_FLUSH),
        (SEVEN_PACK, "2h 3h | 4h 5h 6h Kc Kd", Hand.STRAIGHT_FLUSH),
        (SEVEN_PACK, "2h 3h | 4h 5h 9h Kc Kd", Hand.FLUSH),
        (SEVEN_PACK, "9h 9c | 9s 4d 4c 4h 2d", None),
        (SEVEN_DIAMONDS_PACK, "2c 3d | Ad Kd Qd Jd Td", Hand.ROYAL_FLUSH_DIAMONDS),
        (SEVEN_DIAMONDS_PACK, "2d 3d | Ah Kh Qh Jh Th", None),  # a royal is no straight
        (SEVEN_DIAMONDS_PACK, "Ad Kd | Qd Jd Th 2c 3c", Hand.STRAIGHT),
    ],
)
def test_a_deal_wins_the_one_line_its_pack_gives_it(
    pack: Pack, deal: str, line: Hand | None
) -> None:
    assert winning_line(parse_deal(deal), pack) == line


def test_the_order_of_the_paytable_decides_between_lines_that_both_fit() -> None:
    lines = (Hand.ROYAL_FLUSH, Hand.ROYAL_FLUSH_DIAMONDS, Hand.ROYAL_FLUSH_FIRST_FIVE)
    deal = parse_deal("Ad Kd | Qd Jd Td 2c 3c")
    for start in range(len(lines)):
        order = lines[start:] + lines[:start]
        assert winning_line(deal, pack_of(HandBasis.BEST_OF_SEVEN, *order)) == order[0]


def test_a_board_royal_is_nothing_where_the_flop_decides() -> None:
    pack = pack_of(HandBasis.HOLE_AND_FLOP, Hand.COMMUNITY_ROYAL_FLUSH, Hand.ROYAL_FLUSH)
    assert winning_line(parse_deal("2c 3d | Ah Kh Qh Jh Th"), pack) is None


@pytest.mark.parametrize("deal", ["Ah Kh | Qh Jh Th", "Ah Kh | Qh Jh Th 2c"])
def test_best_of_seven_is_not_decided_before_the_river(deal: str) -> None:
    with pytest.raises(BadInput, match=r"house .* needs all five community cards"):
        winning_line(parse_deal(deal), SEVEN_PACK)


@given(cards=hands_of_cards)
def test_the_flop_basis_names_the_hand_of_the_first_five_cards(cards: list[Card]) -> None:
    deal = Deal(tuple(cards[:2]), tuple(cards[2:]))
    assert winning_line(deal, FLOP_PACK) is hand_of(score(cards[:5]))


def test_a_helper_that_compares_with_treys_can_fail(treys: Treys) -> None:
    pair, higher_pair = "2c 2d 5h 7s 9c", "3c 3d 5h 7s 9c"

    class Swapped(Treys):
        def rank(self, cards: list[Card]) -> int:
            return -super().rank(cards) + 2 * FIVE_CARD_CLASSES

        def hand(self, rank: int) -> Hand:
            return Hand.PAIR

    hands = [[parse_card(text) for text in hand.split()] for hand in (pair, higher_pair)]
    assert_treys_agrees(treys, hands)
    with pytest.raises(AssertionError):
        assert_treys_agrees(Swapped(), hands)
