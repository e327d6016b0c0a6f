"""Cards and deals as dealers and floorpersons write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.cards import SUIT_WORDS, Card, Deal, parse_card, parse_deal
from controller.domain.errors import BadInput, Broken

DECK = [Card(rank, suit) for rank in range(2, 15) for suit in SUIT_WORDS]


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(BadInput) as caught:
        parse_deal(text)
    return caught.value.problems


def test_every_card_of_the_deck_reads_back_as_it_is_written() -> None:
    assert [parse_card(str(card)) for card in DECK] == DECK
    assert len({str(card) for card in DECK}) == 52


@pytest.mark.parametrize("text", ["Td", "td", "TD", "tD", "10d", "10D"])
def test_a_ten_may_be_written_in_every_usual_way(text: str) -> None:
    assert parse_card(text) == Card(10, "d")
    assert str(parse_card(text)) == "Td"


@pytest.mark.parametrize(
    "text", ["", "A", "h", "1h", "0h", "11h", "100h", "Ax", "AAh", "Ahh", " Ah", "A h", "A♥", "٢h"]
)
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a card; write a rank"):
        parse_card(text)


@pytest.mark.parametrize("text", ["A\u017f", "\u212ah"])
def test_a_foreign_letter_that_folds_to_a_card_letter_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_card(text)


def test_a_deal_keeps_hole_cards_apart_and_the_board_in_the_order_dealt() -> None:
    deal = parse_deal("Ah Kh | Qh Jh Th 2c 3d")
    assert deal.hole == (Card(14, "h"), Card(13, "h"))
    assert " ".join(map(str, deal.community)) == "Qh Jh Th 2c 3d"
    assert " ".join(map(str, deal.first_five)) == "Ah Kh Qh Jh Th"
    assert len(deal.cards) == 7


@pytest.mark.parametrize("text", ["Ah Kh|Qh Jh Th", "  ah\tkH |qH jh   10h\n", "AH KH | QH JH TH"])
def test_spacing_and_case_do_not_matter(text: str) -> None:
    assert parse_deal(text) == parse_deal("Ah Kh | Qh Jh Th")


@given(cards=st.permutations(DECK), board=st.integers(3, 5))
def test_any_deal_reads_back_as_it_is_written(cards: list[Card], board: int) -> None:
    deal = Deal(tuple(cards[:2]), tuple(cards[2 : 2 + board]))
    text = f"{' '.join(map(str, deal.hole))} | {' '.join(map(str, deal.community))}"
    assert parse_deal(text) == deal


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_text_is_asked_for_cards(text: str) -> None:
    (problem,) = problems_of(text)
    assert problem.startswith("no cards were given")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Ah Kh Qh Jh Th", "found no bar"),
        ("Ah Kh | Qh Jh Th | 2c 3d", "found 2 bars"),
        ("Ah | Qh Jh Th", "hole cards before the bar: found 1, needs exactly 2"),
        ("Ah Kh Qh | Jh Th 2c", "hole cards before the bar: found 3, needs exactly 2"),
        ("Ah Kh | Qh Jh", "community cards after the bar: found 2, needs 3 to 5"),
        ("Ah Kh |", "community cards after the bar: found 0, needs 3 to 5"),
        ("Ah Kh | Qh Jh Th 2c 3d 4s", "community cards after the bar: found 6, needs 3 to 5"),
        ("Ah Kh | Qh Jh Ah", "Ah is there more than once"),
        ("Ah Ah | Ah Jh Th", "Ah is there more than once"),
        ("Td Kh | 10D Jh Th", "Td is there more than once"),
        ("Ah Kh | Qh 1x Th", "'1x' is not a card"),
    ],
)
def test_one_mistake_is_told_in_one_sentence(text: str, problem: str) -> None:
    (found,) = problems_of(text)
    assert found.startswith(problem)


def test_every_mistake_of_a_deal_is_told_at_once() -> None:
    found = problems_of("Ah 1x 2h | Zz 9s 9s Th 11c 3d")
    assert [problem.split(" ")[0] for problem in found] == [
        "'1x'",
        "'Zz'",
        "9s",
        "'11c'",
        "hole",
        "community",
    ]


def test_a_lone_bar_misses_both_sides() -> None:
    assert [problem.split(" ")[0] for problem in problems_of("|")] == ["hole", "community"]


@pytest.mark.parametrize(("rank", "suit"), [(1, "h"), (15, "h"), (2, "x"), (2, "H")])
def test_a_card_outside_the_deck_cannot_exist(rank: int, suit: str) -> None:
    with pytest.raises(Broken):
        Card(rank, suit)


@pytest.mark.parametrize(("hole", "board"), [(1, 3), (3, 3), (2, 2), (2, 6)])
def test_a_deal_of_the_wrong_size_cannot_exist(hole: int, board: int) -> None:
    with pytest.raises(Broken):
        Deal(tuple(DECK[:hole]), tuple(DECK[hole : hole + board]))


def test_a_deal_with_one_card_twice_cannot_exist() -> None:
    with pytest.raises(Broken):
        Deal((DECK[0], DECK[1]), (DECK[2], DECK[3], DECK[0]))
