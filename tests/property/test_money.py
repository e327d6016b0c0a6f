"""Properties of exact money: nothing is lost, nothing is made up, no float gets near it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.errors import BadInput, Broken
from controller.domain.hold import take
from controller.domain.meter import Meter
from controller.domain.money import (
    PPM_WHOLE,
    UCENTS_PER_CENT,
    UCENTS_PER_DOLLAR,
    Money,
    parse_money,
    parse_rate,
    show_rate,
    total,
)
from controller.domain.pack import MeterParameters, Overflow, Simultaneous

ucents = st.integers(0, 10**12 * UCENTS_PER_DOLLAR - 1)
money = ucents.map(Money)
rates_ppm = st.integers(0, PPM_WHOLE)


@given(money)
def test_an_amount_written_to_a_file_is_read_back_to_the_last_fraction(amount: Money) -> None:
    assert parse_money(amount.exact()) == amount


@given(money)
def test_the_exact_text_is_the_amount_by_decimal_arithmetic(amount: Money) -> None:
    assert Decimal(amount.exact()) * UCENTS_PER_DOLLAR == amount.ucents


@pytest.mark.requirement(32)
@given(money)
def test_what_is_shown_is_rounded_down_and_short_by_less_than_a_cent(amount: Money) -> None:
    shown = parse_money(amount.payable())
    assert shown == amount.whole_cents()
    assert shown.is_whole_cents()
    assert 0 <= amount.ucents - shown.ucents < UCENTS_PER_CENT
    assert amount.for_people().replace("$", "").replace(",", "") == amount.payable()


@given(st.integers(0, 10**12 - 1), st.text("0123456789", max_size=8))
def test_every_way_to_write_decimals_means_what_it_says(dollars: int, decimals: str) -> None:
    text = f"{dollars}.{decimals}" if decimals else f"{dollars}"
    assert parse_money(text).ucents == Decimal(text) * UCENTS_PER_DOLLAR


@pytest.mark.requirement(31)
@given(st.floats() | st.integers() | st.none() | st.booleans() | st.decimals())
def test_no_number_is_taken_for_an_amount_on_its_way_in(value: object) -> None:
    with pytest.raises(BadInput):
        parse_money(value)
    with pytest.raises(BadInput):
        parse_rate(value)


@pytest.mark.requirement(31)
@given(st.floats() | st.booleans() | st.integers(max_value=-1) | st.fractions())
def test_no_float_and_no_debt_can_be_money(value: object) -> None:
    with pytest.raises(Broken):
        Money(value)  # type: ignore[arg-type]


@pytest.mark.requirement(31)
@given(money.filter(bool), st.floats(min_value=0.01, max_value=1e6))
def test_a_float_cannot_multiply_money(amount: Money, factor: float) -> None:
    with pytest.raises(Broken):
        amount * factor  # type: ignore[operator]


@given(st.text(max_size=12))
def test_text_is_an_amount_only_if_it_looks_like_one(text: str) -> None:
    digits = text.replace(".", "", 1)
    plain = digits.isascii() and digits.isdigit() and text[0] != "." and text[-1] != "."
    if plain and len(text.partition(".")[2]) <= 8:
        assert parse_money(text).ucents == Decimal(text) * UCENTS_PER_DOLLAR
        return
    with pytest.raises(BadInput):
        parse_money(text)


@given(rates_ppm)
def test_a_rate_written_to_a_file_is_read_back(rate_ppm: int) -> None:
    assert parse_rate(show_rate(rate_ppm)) == rate_ppm


@given(st.integers(PPM_WHOLE + 1, 10 * PPM_WHOLE - 1))
def test_no_rate_is_above_the_whole_wager(rate_ppm: int) -> None:
    text = f"{rate_ppm // PPM_WHOLE}.{rate_ppm % PPM_WHOLE:06d}"
    with pytest.raises(BadInput):
        parse_rate(text)


@pytest.mark.requirement(31, 44)
@given(st.lists(st.integers(1, 1_000_000), max_size=200), rates_ppm)
def test_contributions_wager_by_wager_are_the_rate_of_all_wagers(
    cents: list[int], rate_ppm: int
) -> None:
    wagers = [Money(c * UCENTS_PER_CENT) for c in cents]
    each = total([wager.share(rate_ppm) for wager in wagers])
    assert each == total(wagers).share(rate_ppm)
    assert each.ucents == sum(cents) * rate_ppm


@given(money, rates_ppm)
def test_a_share_and_the_rest_of_it_are_the_whole(amount: Money, rate_ppm: int) -> None:
    share = amount.share(rate_ppm)
    assert share <= amount
    assert share + (amount - share) == amount
    lost = amount.ucents * rate_ppm - share.ucents * PPM_WHOLE
    assert 0 <= lost < PPM_WHOLE


@given(money, money)
def test_subtraction_undoes_addition_and_never_goes_below_nothing(a: Money, b: Money) -> None:
    assert a + b - b == a
    if a < b:
        with pytest.raises(Broken):
            a - b


@given(ucents, ucents)
def test_money_is_ordered_like_the_numbers_it_stands_for(a: int, b: int) -> None:
    first, second = Money(a), Money(b)
    assert (first < second, first <= second, first == second) == (a < b, a <= b, a == b)
    assert (first > second, first >= second, first != second) == (a > b, a >= b, a != b)
    assert max(first, second).ucents == max(a, b)
    assert (hash(first) == hash(second)) or a != b


@given(st.integers(0, 10**9 * UCENTS_PER_DOLLAR), st.sets(st.integers(1, 10), min_size=1))
def test_a_split_award_is_shared_to_the_cent_and_odd_cents_go_to_the_left(
    standing: int, seats: set[int]
) -> None:
    nothing = Money(0)
    parameters = MeterParameters(
        "meter", nothing, nothing, nothing, 0, 0, None, Overflow.HOUSE, None, None
    )
    meter = Meter(parameters, current=Money(standing), initial=Money(standing))
    _, hold = take(meter, order=1, percent=100, seats=sorted(seats), policy=Simultaneous.SPLIT)
    shares = {share.seat: share.amount.ucents // UCENTS_PER_CENT for share in hold.shares}
    assert sum(shares.values()) == standing // UCENTS_PER_CENT
    least = sum(shares.values()) // len(seats)
    odd = sum(shares.values()) % len(seats)
    assert shares == {seat: least + (odd if seat == min(seats) else 0) for seat in seats}
