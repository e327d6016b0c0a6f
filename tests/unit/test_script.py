"""The language of `feltlink play`: every verb reads, and whatever else is said is explained."""

from __future__ import annotations

import pytest

from controller.domain.errors import BadInput
from controller.domain.meter import Account
from controller.domain.pack import Hand
from controller.domain.table import ChipCount
from mock_gpio.script import _VERBS, Adjustment, Step, parse
from tests.builders import FIVE, ONE, usd

GOOD = {
    "open": Step("open"),
    "close": Step("close"),
    "chip 3": Step("chip", seats=(3,)),
    "chip 3 5.00": Step("chip", seats=(3,), amount=FIVE),
    "lift 10": Step("lift", seats=(10,)),
    "lock": Step("lock"),
    "  lock  # no more bets": Step("lock"),
    "count 3": Step("count", number=3),
    "count 0": Step("count", number=0),
    "count 3 1.00 2 5.00": Step("count", chips=(ChipCount(ONE, 3), ChipCount(FIVE, 2))),
    "strike 2": Step("strike", seats=(2,)),
    "add 2": Step("add", seats=(2,)),
    "add 2 5.00": Step("add", seats=(2,), amount=FIVE),
    "reopen": Step("reopen"),
    "tie 1 2 3": Step("tie", seats=(1, 2, 3)),
    "win 3 royal_flush": Step("win", seats=(3,), hand=Hand.ROYAL_FLUSH),
    "validate": Step("validate"),
    "validate 3": Step("validate", seats=(3,)),
    "reject": Step("reject"),
    "reject 3": Step("reject", seats=(3,)),
    "envy": Step("envy"),
    "void cards exposed": Step("void", text="cards exposed"),
    "end": Step("end"),
    "wait 250ms": Step("wait", wait_ms=250),
    "wait 10s": Step("wait", wait_ms=10_000),
    "wait 5m": Step("wait", wait_ms=300_000),
    "wait 2h": Step("wait", wait_ms=7_200_000),
    "power-cut": Step("power-cut"),
    "show": Step("show"),
    "adjust meter current -1.50 Flora Oscar GC-7 display was wrong": Step(
        "adjust",
        adjustment=Adjustment(
            meter="meter",
            account=Account.CURRENT,
            raises=False,
            amount=usd("1.50"),
            by="Flora",
            approved_by="Oscar",
            reference="GC-7",
            reason="display was wrong",
        ),
    ),
}


@pytest.mark.parametrize(("line", "step"), GOOD.items())
def test_each_input_reads_as_one_step(line: str, step: Step) -> None:
    assert parse(line) == step


def test_every_verb_has_an_example_here() -> None:
    assert {step.verb for step in GOOD.values()} == set(_VERBS)


@pytest.mark.parametrize("line", ["", "   ", "# lock", "\t# a comment"])
def test_blank_lines_and_comments_are_no_step(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("jackpot", "'jackpot' is not an input; known are open, close"),
        ("LOCK", "'LOCK' is not an input"),
        ("lock now", "lock takes nothing after it, found 'now'. Write: lock"),
        ("chip", "A seat is wanted, and perhaps an amount. Write: chip SEAT [AMOUNT]"),
        ("chip 1 1.00 2", "A seat is wanted"),
        ("chip one", "'one' is not a seat number"),
        ("chip -1", "'-1' is not a seat number"),
        ("chip 1 -1.00", "'-1.00' is not an amount"),
        ("chip 1 1.5e3", "is not an amount"),
        ("chip \u0661", "is not a seat number"),
        ("lift", "One seat is wanted"),
        ("lift 1 2", "One seat is wanted"),
        ("count", "A number of chips is wanted"),
        ("count -1", "A number of chips is wanted"),
        ("count 1.5", "A number of chips is wanted"),
        ("count 3 1.00 2", "Each number needs its amount"),
        ("count 3 x", "'x' is not an amount"),
        ("tie", "A seat is missing"),
        ("win 1", "A seat and a hand are wanted"),
        ("win 1 royal", "'royal' is not a hand; known are royal_flush_diamonds"),
        ("void", "A reason is missing"),
        ("wait", "A time such as 250ms"),
        ("wait 250", "A time such as 250ms"),
        ("wait 1 s", "A time such as 250ms"),
        ("adjust meter current 1.00 a b c d", "An adjustment needs"),
        ("adjust meter paid +1.00 a b c d", "An adjustment needs"),
        ("adjust meter current +1.00 a b c", "An adjustment needs"),
        ("adjust meter current + a b c d", "'' is not an amount"),
    ],
)
def test_what_cannot_be_read_is_explained_with_the_way_to_write_it(line: str, why: str) -> None:
    with pytest.raises(BadInput) as bad:
        parse(line)
    assert why in str(bad.value)
