"""Money is exact: whole micro-cents, read from text alone, rounded down only where it is paid."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from controller.domain.errors import BadInput, Broken
from controller.domain.money import (
    UCENTS_PER_CENT,
    ZERO,
    Money,
    parse_money,
    parse_rate,
    show_rate,
    total,
)
from tests.builders import usd


class NumpyLike(int):
    """What numpy.int64 would be to us: counts like an int, but is none of ours."""


class FloatLike:
    """What numpy.float64 offers: it converts, if somebody lets it."""

    def __repr__(self) -> str:
        return "FloatLike()"

    def __float__(self) -> float:
        return 1.5

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1


NOT_OURS: list[Any] = [
    1.0,
    0.1,
    float("nan"),
    float("inf"),
    True,
    False,
    Decimal("1.00"),
    Fraction(1, 2),
    NumpyLike(100),
    FloatLike(),
    1j,
    None,
    b"1.00",
    [1],
]


@pytest.mark.requirement(31)
@pytest.mark.parametrize("value", NOT_OURS, ids=repr)
def test_no_float_nor_anything_like_a_number_becomes_money(value: Any) -> None:
    with pytest.raises(Broken):
        Money(value)
    with pytest.raises(BadInput):
        parse_money(value)
    with pytest.raises(BadInput):
        parse_rate(value)


@pytest.mark.requirement(31)
@pytest.mark.parametrize("value", [1.0, True, Decimal(1), NumpyLike(3)], ids=repr)
def test_arithmetic_with_a_stray_number_never_yields_money(value: Any) -> None:
    with pytest.raises((Broken, AttributeError, TypeError)):
        usd("1.00") + value
    with pytest.raises((Broken, AttributeError, TypeError)):
        usd("1.00") - value
    with pytest.raises((Broken, AttributeError, TypeError)):
        value < usd("1.00")  # noqa: B015 - the comparison itself must fail


@pytest.mark.requirement(31)
@pytest.mark.parametrize("times", [1.0, 0.5, Decimal(2)], ids=repr)
def test_money_is_never_multiplied_by_a_fraction(times: Any) -> None:
    with pytest.raises((Broken, TypeError)):
        usd("1.00") * times
    with pytest.raises((Broken, TypeError)):
        usd("1.00").share(times)


def test_an_amount_is_never_negative() -> None:
    with pytest.raises(Broken, match="bad amount -1"):
        Money(-1)
    with pytest.raises(Broken):
        usd("1.00") - usd("1.01")


def test_an_amount_never_changes_under_the_hand_of_whoever_holds_it() -> None:
    amount = usd("1.00")
    with pytest.raises(AttributeError, match="immutable"):
        amount.ucents = 5
    assert amount == usd("1.00")


@pytest.mark.parametrize(
    ("text", "ucents"),
    [
        ("0", 0),
        ("1", 100_000_000),
        ("1.5", 150_000_000),
        ("0.00000001", 1),
        ("10000.14250000", 1_000_014_250_000),
        ("999999999999.99999999", 99_999_999_999_999_999_999),
    ],
)
def test_dollars_are_read_from_text_to_the_micro_cent(text: str, ucents: int) -> None:
    assert parse_money(text) == Money(ucents)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1.", ".5", "1,000.00", "-1.00", "+1.00", "$1.00", "1e3", "0x10", "1.000000001",
     "1000000000000.00", "1.00 ", "1.00\n", "\u0661.\u0660\u0660", "nan", "inf", "1_000"],
)  # fmt: skip
def test_what_is_not_an_amount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match=r"write dollars as text, such as"):
        parse_money(text)


def test_every_exact_text_reads_back_to_the_same_amount() -> None:
    for ucents in (0, 1, 999_999, 1_000_000, 99_999_999, 100_000_000, 12_345_678_901_234_567):
        assert parse_money(Money(ucents).exact()) == Money(ucents)


def test_an_amount_is_written_exactly_for_files_and_rounded_down_for_people() -> None:
    amount = usd("1234567.89999999")
    assert amount.exact() == "1234567.89999999"
    assert amount.payable() == "1234567.89"
    assert amount.for_people() == "$1,234,567.89"
    assert repr(amount) == "Money(1234567.89999999)"


@pytest.mark.requirement(31, 32)
def test_what_is_payable_is_rounded_down_and_the_rest_stays_behind() -> None:
    exact = usd("10000.14999999")
    paid = exact.whole_cents()
    assert (paid.exact(), (exact - paid).exact()) == ("10000.14000000", "0.00999999")
    assert paid.is_whole_cents()
    assert not exact.is_whole_cents()


@pytest.mark.requirement(31)
def test_whole_cents_times_any_rate_in_parts_per_million_is_whole() -> None:
    for cents in (1, 99, 100, 500, 12_345):
        for rate_ppm in (0, 1, 37_000, 142_500, 333_333, 999_999, 1_000_000):
            share = Money(cents * UCENTS_PER_CENT).share(rate_ppm)
            assert share.ucents == cents * rate_ppm


def test_amounts_compare_add_up_and_count_as_keys() -> None:
    one, five = usd("1.00"), usd("5.00")
    assert one < five
    assert five >= one
    assert one != 100_000_000
    assert total([one, five, five]) == usd("11.00")
    assert total(()) == ZERO
    assert {one: "a"}[usd("1")] == "a"
    assert bool(one)
    assert not ZERO


@pytest.mark.parametrize(
    ("text", "ppm", "shown"),
    [("0", 0, "0"), ("0.1425", 142_500, "0.1425"), ("1", 1_000_000, "1"), ("1.000000", 10**6, "1"),
     ("0.000001", 1, "0.000001"), ("0.5", 500_000, "0.5")],
)  # fmt: skip
def test_a_rate_is_a_share_of_the_wager_in_parts_per_million(
    text: str, ppm: int, shown: str
) -> None:
    assert parse_rate(text) == ppm
    assert show_rate(ppm) == shown


@pytest.mark.parametrize("text", ["1.000001", "2", "-0.1", "0.1425001", "14.25", "14%", "", "1e-3"])
def test_a_rate_outside_nothing_to_everything_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a rate"):
        parse_rate(text)


@pytest.mark.parametrize("rate_ppm", [-1, 1_000_001])
def test_a_rate_that_cannot_be_is_never_shown(rate_ppm: int) -> None:
    with pytest.raises(Broken, match="bad rate"):
        show_rate(rate_ppm)
