"""One meter: what it takes in, what it gives out, and the identity that binds the two."""

from __future__ import annotations

import pytest
from msgspec.structs import fields, replace

from controller.domain.errors import BadInput, Broken, Refused
from controller.domain.meter import (
    Account,
    Meter,
    Posting,
    award,
    check_identity,
    commission,
    contribute,
    post,
    reset,
    trim,
    uncontribute,
)
from controller.domain.money import ZERO, Money
from controller.domain.pack import MeterParameters, Overflow, VoidContributions
from tests.builders import ONE, Evening, parameters, table_file, usd


def standing(current: str = "10000.00", **changed: object) -> Meter:
    """A commissioned meter that shows this much."""
    given = parameters(initial=usd(current), **changed)
    return post(Meter(given), commission(given))


@pytest.mark.requirement(40)
def test_a_meter_is_given_base_reset_rate_hidden_rate_limit_and_sanity_bound() -> None:
    names = {field.name for field in fields(MeterParameters)}
    assert names >= {
        "initial",
        "initial_reserve",
        "seed",
        "rate_ppm",
        "reserve_rate_ppm",
        "limit",
        "overflow",
        "max_contribution",
    }
    evening = Evening(
        meters={
            "meter": {
                "seed": "11000.00",
                "initial": "12000.00",
                "initial_reserve": "3.00",
                "rate": "0.1425",
                "reserve_rate": "0.037",
                "limit": "50000.00",
                "max_contribution": "2.50",
                "overflow": "next",
            }
        }
    )
    assert evening.meter.parameters == parameters(
        seed=usd("11000.00"),
        initial=usd("12000.00"),
        initial_reserve=usd("3.00"),
        rate_ppm=142_500,
        reserve_rate_ppm=37_000,
        limit=usd("50000.00"),
        max_contribution=usd("2.50"),
        overflow=Overflow.NEXT,
    )


@pytest.mark.requirement(29)
@pytest.mark.parametrize(
    ("pack_id", "meter", "minimum"),
    [
        ("md-uth-a", "meter", "10000.00"),
        ("md-uth-c", "mega", "10000.00"),
        ("md-uth-c", "major", "1000.00"),
        ("md-uth-c", "minor", "250.00"),
        ("md-jh-a", "spade", "5000.00"),
    ],
)
@pytest.mark.parametrize("key", ["seed", "initial"])
def test_a_start_or_reset_below_the_legal_minimum_is_refused(
    pack_id: str, meter: str, minimum: str, key: str
) -> None:
    assert table_file(pack_id, meters={meter: {key: minimum}})
    below = (usd(minimum) - usd("0.01")).payable()
    with pytest.raises(BadInput, match=rf"meters\.{meter}\.{key}: found .*{below}.*or more"):
        table_file(pack_id, meters={meter: {key: below}})


@pytest.mark.requirement(44)
def test_each_wager_adds_exactly_the_rate_to_the_meter_and_the_hidden_rate_to_the_reserve() -> None:
    meter = standing(rate_ppm=142_500, reserve_rate_ppm=37_000)
    after = post(meter, contribute(meter, ONE))
    assert after.current.exact() == "10000.14250000"
    assert after.reserve.exact() == "0.03700000"
    assert after.contributed.exact() == "0.17950000"


@pytest.mark.requirement(31)
def test_a_thousand_rounds_add_wagers_times_rate_to_the_last_fraction() -> None:
    meter = standing(rate_ppm=333_333, reserve_rate_ppm=1)
    for number in range(1000):
        wagered = Money((number % 7) * 100 * 10**6)
        meter = post(meter, contribute(meter, wagered))
    wagers = sum(number % 7 for number in range(1000))
    assert meter.current.ucents == usd("10000.00").ucents + wagers * 100 * 333_333
    assert meter.reserve.ucents == wagers * 100


def test_a_meter_without_wagers_takes_nothing() -> None:
    assert contribute(standing(), ZERO) == ()


@pytest.mark.requirement(40)
def test_a_round_that_would_add_more_than_the_sanity_bound_is_refused() -> None:
    meter = standing(max_contribution=usd("0.25"))
    assert contribute(meter, ONE)
    with pytest.raises(Refused, match=r"would add 0\.50000000 to meter meter, over the set bound"):
        contribute(meter, usd("2.00"))


@pytest.mark.requirement(45)
@pytest.mark.parametrize(
    ("overflow", "account"),
    [("reserve", "reserve"), ("next", "overflow"), ("house", "overflow")],
)
def test_money_above_the_limit_goes_where_the_setting_sends_it(overflow: str, account: str) -> None:
    meter = standing("10000.10", limit=usd("10000.20"), overflow=Overflow(overflow))
    after = post(meter, contribute(meter, ONE))
    assert after.current == usd("10000.20")
    assert after.at_limit
    over = {"reserve": after.reserve - usd("0.05"), "overflow": after.overflow}[account]
    assert over == usd("0.10")
    full = post(after, contribute(after, ONE))
    assert full.current == usd("10000.20")


def test_a_meter_without_a_limit_is_never_at_it() -> None:
    meter = standing("99999999999.00")
    assert not meter.at_limit
    assert trim(meter) == ()


@pytest.mark.requirement(45, 50)
def test_a_display_above_its_limit_falls_to_the_limit_and_says_where_the_money_went() -> None:
    meter = replace(standing("10000.50"), parameters=parameters(limit=usd("10000.20")))
    (entry,) = trim(meter)
    assert entry == Posting("meter", Account.CURRENT, Account.RESERVE, usd("0.30"))
    assert trim(post(meter, [entry])) == ()


@pytest.mark.requirement(32)
@pytest.mark.parametrize(
    ("percent", "paid"), [(100, "10000.99"), (10, "1000.09"), (5, "500.04"), (1, "100.00")]
)
def test_a_percentage_is_rounded_down_to_the_cent(percent: int, paid: str) -> None:
    assert award(usd("10000.99999999"), percent) == usd(paid)


@pytest.mark.requirement(28)
def test_a_full_award_resets_to_seed_plus_the_whole_reserve_plus_the_odd_fraction() -> None:
    meter = standing("12345.67890000", initial_reserve=usd("321.00000001"))
    emptied = post(
        meter, [Posting("meter", Account.CURRENT, Account.HELD, award(meter.current, percent=100))]
    )
    after = post(emptied, reset(emptied))
    assert after.current.exact() == "10321.00890001"
    assert after.reserve == ZERO
    assert after.funded == usd("10000.00")


@pytest.mark.requirement(46)
@pytest.mark.parametrize(
    ("overflow", "current", "left"),
    [(Overflow.NEXT, "10007.00", "0.00"), (Overflow.HOUSE, "10000.00", "7.00")],
)
def test_what_overflowed_starts_the_next_jackpot_or_stays_the_house_s(
    overflow: Overflow, current: str, left: str
) -> None:
    given = parameters(initial=ZERO, overflow=overflow, limit=usd("20000.00"))
    meter = post(
        Meter(given), [Posting("meter", Account.CONTRIBUTED, Account.OVERFLOW, usd("7.00"))]
    )
    after = post(meter, reset(meter))
    assert (after.current, after.overflow) == (usd(current), usd(left))


@pytest.mark.requirement(45)
def test_a_reset_shows_no_more_than_the_limit_and_the_reserve_keeps_the_rest() -> None:
    given = parameters(initial=ZERO, initial_reserve=usd("300.00"), limit=usd("10100.00"))
    meter = post(Meter(given), commission(given))
    after = post(meter, reset(meter))
    assert (after.current, after.reserve) == (usd("10100.00"), usd("200.00"))


@pytest.mark.requirement(21, 50)
def test_a_void_takes_exactly_its_contributions_back_under_its_own_name() -> None:
    meter = standing()
    entries = contribute(meter, usd("6.00"))
    back = uncontribute(post(meter, entries), entries, VoidContributions.REVERSE)
    after = post(post(meter, entries), back)
    assert (after.current, after.reserve) == (meter.current, meter.reserve)
    assert after.voided == usd("1.50")
    assert {entry.target for entry in back} == {Account.VOIDED}


@pytest.mark.requirement(21)
def test_where_a_meter_may_never_fall_the_house_funds_a_void() -> None:
    meter = standing()
    entries = contribute(meter, usd("6.00"))
    grown = post(meter, entries)
    after = post(grown, uncontribute(grown, entries, VoidContributions.KEEP))
    assert (after.current, after.reserve) == (grown.current, grown.reserve)
    assert (after.funded, after.voided) == (usd("1.50"), usd("1.50"))


def test_the_house_funds_what_a_void_no_longer_finds_on_the_account() -> None:
    meter = standing("0.10", seed=ZERO)
    entries = (Posting("meter", Account.CONTRIBUTED, Account.CURRENT, usd("0.30")),)
    back = uncontribute(meter, entries, VoidContributions.REVERSE)
    assert back == (
        Posting("meter", Account.CURRENT, Account.VOIDED, usd("0.10")),
        Posting("meter", Account.FUNDED, Account.VOIDED, usd("0.20")),
    )


def test_a_void_of_one_meter_leaves_the_others_entries_to_them() -> None:
    entries = (Posting("major", Account.CONTRIBUTED, Account.CURRENT, usd("0.30")),)
    assert uncontribute(standing(), entries, VoidContributions.REVERSE) == ()


def test_a_posting_for_another_meter_does_not_touch_this_one() -> None:
    meter = standing()
    entry = Posting("major", Account.CONTRIBUTED, Account.CURRENT, ONE)
    assert post(meter, [entry]) is meter


@pytest.mark.requirement(50)
def test_a_meter_cannot_give_what_it_has_not() -> None:
    meter = standing("5.00", seed=ZERO)
    with pytest.raises(Broken, match="meter meter: current would fall below zero"):
        post(meter, [Posting("meter", Account.CURRENT, Account.PAID, usd("5.01"))])


@pytest.mark.requirement(42)
@pytest.mark.parametrize(
    "account", ["current", "reserve", "overflow", "held", "funded", "paid", "adjusted_down"]
)
def test_a_meter_that_is_off_by_one_micro_cent_is_found_out(account: str) -> None:
    meter = standing()
    check_identity(meter)
    with pytest.raises(Broken, match="identity"):
        check_identity(replace(meter, **{account: getattr(meter, account) + Money(1)}))


@pytest.mark.requirement(42)
def test_adjustments_up_and_down_are_totals_of_their_own() -> None:
    entries = [
        Posting("meter", Account.ADJUSTED, Account.CURRENT, usd("5.00")),
        Posting("meter", Account.CURRENT, Account.ADJUSTED, usd("2.00")),
    ]
    after = post(standing(), entries)
    assert after.current == usd("10003.00")
    assert (after.adjusted_up, after.adjusted_down) == (usd("5.00"), usd("2.00"))
