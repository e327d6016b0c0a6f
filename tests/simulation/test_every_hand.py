"""Every five-card hand there is. Too long for the unit tests, short enough to do every time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from controller.domain.hands import hand_of, score
from controller.domain.pack import Hand
from tests.unit.test_hands import DECK, FIVE_CARD_CLASSES, KNOWN_FIVE_CARD_COUNTS


def test_all_2_598_960_five_card_hands_fall_into_the_known_numbers() -> None:
    scores = Counter(map(score, combinations(DECK, 5)))
    counts: Counter[Hand] = Counter()
    for worth, number in scores.items():
        counts[hand_of(worth)] += number
    assert counts == KNOWN_FIVE_CARD_COUNTS
    assert len(scores) == FIVE_CARD_CLASSES
