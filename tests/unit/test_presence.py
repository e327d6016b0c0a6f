"""Settled presence from stamped edges: the edge times decide, nothing else."""

from __future__ import annotations

import pytest

from controller.domain.view import Lamp
from firmware.presence import Presence
from mock_gpio.board import SETTLE_MS, FakeBoard
from tests.builders import FIVE, ONE


@pytest.mark.parametrize(("at_ms", "settled"), [(149, {}), (150, {"1": 0}), (9_999, {"1": 0})])
def test_a_chip_is_settled_once_it_has_rested_for_the_settle_time(
    at_ms: int, settled: dict[str, int]
) -> None:
    presence: Presence[str] = Presence(settle_ms=150)
    assert presence.edge("1", covered=True, at_ms=0)
    assert presence.settled(at_ms=at_ms) == settled


def test_a_chip_that_bounces_settles_from_its_last_edge() -> None:
    presence: Presence[str] = Presence(settle_ms=150)
    for at_ms, covered in ((0, True), (3, False), (5, True), (9, False), (12, True)):
        assert presence.edge("1", covered=covered, at_ms=at_ms)
    assert presence.settled(at_ms=161) == {}
    assert presence.settled(at_ms=162) == {"1": 12}


def test_an_edge_that_says_what_is_known_changes_nothing() -> None:
    presence: Presence[str] = Presence(settle_ms=150)
    assert not presence.edge("1", covered=False, at_ms=0)
    presence.edge("1", covered=True, at_ms=10)
    assert not presence.edge("1", covered=True, at_ms=100)
    assert presence.covered() == {"1": 10}


def test_a_lifted_chip_is_gone_at_once() -> None:
    presence: Presence[str] = Presence(settle_ms=150)
    presence.edge("1", covered=True, at_ms=0)
    presence.edge("1", covered=False, at_ms=500)
    assert presence.covered() == {}
    assert presence.settled(at_ms=500) == {}


def test_nobody_outside_can_move_the_chips_of_a_presence() -> None:
    presence: Presence[str] = Presence(settle_ms=150)
    presence.covered()["1"] = 0
    assert presence.covered() == {}


def test_a_simulated_board_tells_chips_seats_and_times() -> None:
    board = FakeBoard(now_ms=1_000)
    board.sense(2, ONE, covered=True)
    board.now_ms += 100
    board.sense(2, FIVE, covered=True)
    board.sense(1, ONE, covered=True)
    board.now_ms += SETTLE_MS - 100
    assert [(chip.seat, chip.amount, chip.since_ms) for chip in board.chips()] == [(2, ONE, 1_000)]
    assert board.covered() == (1, 2)
    assert (board.covered_ms(2), board.covered_ms(1), board.covered_ms(3)) == (150, 50, 0)
    assert board.lying() == [(2, ONE), (2, FIVE), (1, ONE)]
    board.light({1: Lamp.SEEN})
    assert board.lamps == {1: Lamp.SEEN}
