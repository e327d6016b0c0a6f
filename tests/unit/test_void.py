"""VOID: every wager goes back, and the meters stand as if the round had not been."""

from __future__ import annotations

import pytest

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Refused
from controller.domain.money import ZERO
from controller.domain.table import Phase, Wager
from tests.builders import DEALER, FIVE, ONE, ROYAL, STRAIGHT_FLUSH, Evening, usd


@pytest.mark.requirement(21)
@pytest.mark.parametrize("stage", ["locked", "miscount", "in play", "keyed"])
def test_a_void_gives_every_wager_back_and_leaves_the_meters_as_before(stage: str) -> None:
    evening = Evening(wagers=["1.00", "5.00"])
    before = evening.meter
    evening.lock(seat2=FIVE, seat3=ONE)
    if stage == "miscount":
        evening.count(ones=1)
    if stage in ("in play", "keyed"):
        evening.count(ones=1, fives=1)
    if stage == "keyed":
        evening.win(2, ROYAL)
        evening.win(3, STRAIGHT_FLUSH)
    event = evening.void("misdeal")
    assert isinstance(event, did.RoundVoided)
    assert event.by.name == "Flora"
    assert event.returned == evening.table.to_return == (Wager(2, FIVE), Wager(3, ONE))
    assert (evening.meter.current, evening.meter.reserve, evening.meter.held) == (
        before.current,
        before.reserve,
        ZERO,
    )
    assert evening.meter.adjusted_up == evening.meter.adjusted_down == ZERO
    assert evening.meter.voided == evening.meter.contributed
    assert (evening.phase, evening.round.number) == (Phase.OPEN, 2)
    assert evening.table.totals.voided_rounds == 1


@pytest.mark.requirement(21)
def test_a_void_needs_the_floor_and_a_reason() -> None:
    evening = Evening()
    evening.lock(1)
    with pytest.raises(Refused, match="A reason is needed"):
        evening.void(" ")
    with pytest.raises(Refused, match="needs the floor"):
        evening.do(ask.VoidRound(DEALER, "misdeal"))


@pytest.mark.requirement(21)
def test_a_round_with_a_validated_win_or_paid_envy_can_no_longer_be_void() -> None:
    paid = Evening()
    paid.prove(1)
    paid.win(1, STRAIGHT_FLUSH)
    paid.validate()
    with pytest.raises(Refused, match="has been validated"):
        paid.void()
    envied = Evening()
    envied.prove(1)
    envied.win(2, ROYAL)
    envied.envy()
    with pytest.raises(Refused, match="Envy of this round has been paid"):
        envied.void()


def test_a_table_that_keeps_contributions_lets_the_house_fund_a_void() -> None:
    evening = Evening(void_contributions="keep")
    evening.prove(1)
    grown = evening.meter.current
    evening.void()
    assert evening.meter.current == grown
    assert evening.meter.funded == evening.meter.voided == usd("0.25")


def test_wagers_of_a_void_and_of_a_strike_before_it_are_all_handed_back() -> None:
    evening = Evening()
    evening.lock(1, 2)
    evening.strike(2)
    evening.void()
    assert evening.table.to_return == (Wager(2, ONE), Wager(1, ONE))
    assert evening.table.totals.voided == ZERO
