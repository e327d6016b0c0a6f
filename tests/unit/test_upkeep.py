"""Outside the round: sensors, adjustments, changed rules, faults, and lifetime totals."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Broken, Refused
from controller.domain.meter import Account, check_identity
from controller.domain.money import ZERO
from controller.domain.table import Phase
from tests.builders import (
    DEALER,
    FLOOR,
    ONE,
    ROYAL,
    SECOND_FLOOR,
    STRAIGHT_FLUSH,
    TECHNICIAN,
    UNIT,
    Evening,
    adjustment,
    pack,
    table_file,
    usd,
)


def test_a_covered_sensor_is_out_until_it_is_seen_empty_once() -> None:
    evening = Evening(opened=False)
    evening.open(3, 4)
    assert evening.table.must_clear == (3, 4)
    evening.do(ask.NoteSeatEmpty(UNIT, 3))
    assert 3 not in evening.table.must_clear
    with pytest.raises(Refused, match="Seat 3 is clear already"):
        evening.do(ask.NoteSeatEmpty(UNIT, 3))


def test_a_sensor_covered_too_long_is_out_of_service_until_it_is_empty() -> None:
    evening = Evening(opened=False)
    evening.open(4)
    evening.do(ask.NoteSeatStuck(UNIT, 4))
    assert evening.table.out_of_service == (4,)
    for seat in (4, 2):
        with pytest.raises(Refused, match=f"Seat {seat} is not covered since before END"):
            evening.do(ask.NoteSeatStuck(UNIT, seat))
    evening.do(ask.NoteSeatEmpty(UNIT, 4))
    assert not evening.table.out_of_service
    assert not evening.table.must_clear


@pytest.mark.requirement(42, 50)
@pytest.mark.parametrize(
    ("account", "raises", "before", "after"),
    [
        (Account.CURRENT, True, "10500.00", "10507.00"),
        (Account.CURRENT, False, "10500.00", "10493.00"),
        (Account.RESERVE, True, "20.00", "27.00"),
        (Account.RESERVE, False, "20.00", "13.00"),
        (Account.OVERFLOW, True, "0.00", "7.00"),
    ],
)
def test_an_adjustment_says_before_after_reason_reference_and_two_people(
    account: Account, before: str, after: str, *, raises: bool
) -> None:
    evening = Evening(meters={"meter": {"initial": "10500.00", "initial_reserve": "20.00"}})
    event = evening.adjust("7.00", raises=raises, account=account)
    assert isinstance(event, did.MeterAdjusted)
    assert (event.before, event.after) == (usd(before), usd(after))
    assert getattr(evening.meter, account.value) == usd(after)
    assert (event.by, event.approved_by) == (FLOOR, SECOND_FLOOR)
    assert (event.reason, event.reference) == ("display was wrong", "GC-7")
    up, down = evening.meter.adjusted_up, evening.meter.adjusted_down
    assert (up, down) == ((usd("7.00"), ZERO) if raises else (ZERO, usd("7.00")))


@pytest.mark.requirement(49)
def test_an_adjustment_never_goes_below_the_reset_value_nor_above_the_limit() -> None:
    evening = Evening(meters={"meter": {"initial": "10500.00", "limit": "10600.00"}})
    with pytest.raises(Refused, match=r"may not fall below 10000\.00000000; it stands at 10500"):
        evening.adjust("500.00000001", raises=False)
    with pytest.raises(Refused, match=r"may not rise above its limit 10600"):
        evening.adjust("100.00000001")
    with pytest.raises(Refused, match=r"reserve of meter meter may not fall below 0\.0"):
        evening.adjust("0.01", raises=False, account=Account.RESERVE)
    evening.adjust("100.00")
    evening.adjust("600.00", raises=False)
    assert evening.meter.current == usd("10000.00")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"approved_by": DEALER}, "approved by the floor"),
        ({"approved_by": FLOOR}, "two different people"),
        ({"reason": " "}, "a reason and an approval reference"),
        ({"reference": ""}, "a reason and an approval reference"),
        ({"amount": "0.00"}, "changes nothing"),
        ({"meter": "mega"}, "no current of a meter mega"),
        ({"account": Account.PAID}, "no paid of a meter meter"),
        ({"account": Account.HELD}, "no held of a meter meter"),
        ({"by": DEALER}, "needs the floor"),
    ],
)
def test_an_adjustment_without_all_that_it_needs_is_refused(
    wrong: dict[str, Any], why: str
) -> None:
    evening = Evening()
    with pytest.raises(Refused, match=why):
        evening.do(adjustment(**{"amount": "1.00"} | wrong))


@pytest.mark.requirement(47, 48)
def test_new_rules_are_recorded_with_old_new_person_and_approval() -> None:
    evening = Evening(opened=False)
    new = table_file(
        "md-uth-a",
        meters={"meter": {"rate": "0.15", "limit": "50000.00", "overflow": "next"}},
        simultaneous="split",
        wagers=["1.00", "5.00"],
        validate="600.00",
    )
    event = evening.change(new, reference="GC-2026-114")
    assert isinstance(event, did.SettingsChanged)
    assert (event.by, event.reference) == (TECHNICIAN, "GC-2026-114")
    assert event.changes == (
        "wagers: 1.00000000 -> 1.00000000, 5.00000000",
        "simultaneous: in-turn -> split",
        "validate_from: None -> 600.00000000",
        "meters.meter.rate_ppm: 200000 -> 150000",
        "meters.meter.limit: None -> 50000.00000000",
        "meters.meter.overflow: reserve -> next",
    )
    assert evening.table.settings == new.settings
    assert evening.meter.parameters.rate_ppm == 150_000
    assert evening.meter.current == usd("10000.00")


@pytest.mark.requirement(48)
def test_another_pack_is_a_recorded_change_too() -> None:
    evening = Evening(opened=False)
    other = replace(pack("md-uth-a"), fingerprint="f" * 64, id="house-uth")
    settings = evening.table.settings
    event = evening.do(ask.ChangeSettings(TECHNICIAN, "GC-3", other, settings))
    assert isinstance(event, did.SettingsChanged)
    assert event.changes == ("pack: md-uth-a -> house-uth",)
    assert evening.table.pack == other


@pytest.mark.requirement(47)
@pytest.mark.parametrize("phase", ["open", "locked", "miscount", "in_play", "fault"])
def test_no_rule_changes_while_the_table_is_anything_but_closed(phase: str) -> None:
    evening = Evening()
    if phase != "open":
        evening.lock(1)
    if phase in ("miscount", "in_play"):
        evening.count(1 if phase == "in_play" else 2)
    if phase == "fault":
        evening.fault()
    assert evening.phase.value == phase
    with pytest.raises(Refused, match="Change settings does not fit"):
        evening.change(table_file(meters={"meter": {"rate": "0.1"}}), reference="GC-1")


@pytest.mark.requirement(48)
def test_a_change_without_name_approval_or_credential_is_prevented() -> None:
    evening = Evening(opened=False)
    new = table_file(meters={"meter": {"rate": "0.1"}})
    with pytest.raises(Refused, match=r"needs \[approval\]"):
        evening.change(new, reference=" ")
    with pytest.raises(Refused, match=r"needs \[approval\]"):
        evening.change(new, by=replace(TECHNICIAN, name=""), reference="GC-1")
    for person in (DEALER, FLOOR):
        with pytest.raises(Refused, match="needs a technician"):
            evening.change(new, by=person, reference="GC-1")


@pytest.mark.requirement(49)
@pytest.mark.parametrize("key", ["initial", "initial_reserve"])
def test_a_live_value_is_set_by_hand_only_once(key: str) -> None:
    evening = Evening(opened=False)
    new = table_file(meters={"meter": {key: "20000.00"}})
    with pytest.raises(Refused, match="a live value changes only by adjustment"):
        evening.change(new, reference="GC-1")
    assert evening.meter.current == usd("10000.00")


@pytest.mark.requirement(45)
def test_a_limit_can_be_set_only_at_or_above_the_value_then_showing() -> None:
    evening = Evening(opened=False, meters={"meter": {"initial": "10500.00"}})
    low, fitting = (
        table_file(meters={"meter": {"initial": "10500.00", "limit": "10500.00"}}),
        table_file(meters={"meter": {"initial": "10500.00", "limit": "10501.00"}}),
    )
    evening.adjust("1.00")
    with pytest.raises(Refused, match=r"cannot be set below the 10501\.00000000 it shows"):
        evening.change(low, reference="GC-1")
    evening.change(fitting, reference="GC-1")
    assert evening.meter.at_limit


def test_the_meters_of_a_commissioned_table_stay_the_same_meters() -> None:
    evening = Evening(opened=False)
    with pytest.raises(Refused, match="cannot be added, removed or renamed"):
        evening.change(table_file("md-uth-c"), reference="GC-1")


@pytest.mark.requirement(13)
@pytest.mark.parametrize("stage", ["closed", "open", "locked", "miscount", "in_play"])
def test_a_fault_stops_the_table_and_is_left_to_exactly_where_it_came_from(stage: str) -> None:
    evening = Evening(opened=stage != "closed")
    if stage not in ("closed", "open"):
        evening.lock(1)
    if stage in ("miscount", "in_play"):
        evening.count(1 if stage == "in_play" else 2)
    before = evening.table
    evening.fault("sensor 3 is silent")
    assert (evening.phase, evening.table.fault) == (Phase.FAULT, "sensor 3 is silent")
    with pytest.raises(Refused, match="needs a technician"):
        evening.do(ask.ClearFault(FLOOR))
    evening.do(ask.ClearFault(TECHNICIAN))
    assert replace(evening.table, resume=before.resume) == before


@pytest.mark.requirement(50)
def test_the_shown_amount_falls_only_for_an_award_a_void_a_limit_or_an_adjustment() -> None:
    """An evening with every kind of input: each fall must have a cause that may lower a meter."""
    evening = Evening(meters={"meter": {"initial": "10500.00"}})
    shown = {}

    def watch(name: str, step: Any) -> None:
        before = evening.meter.current
        step()
        shown[name] = (evening.meter.current.ucents > before.ucents) - (
            evening.meter.current.ucents < before.ucents
        )

    watch("lock", lambda: evening.lock(1, 2, 3))
    watch("strike", lambda: evening.strike(3))
    watch("miscount", lambda: evening.count(1))
    watch("prove", lambda: evening.count(2))
    watch("award of a part", lambda: evening.win(1, STRAIGHT_FLUSH))
    watch("taken off", lambda: evening.win(1, STRAIGHT_FLUSH))
    watch("award of all", lambda: evening.win(2, ROYAL))
    watch("validate", lambda: evening.validate())
    watch("envy", lambda: evening.envy())
    watch("end", lambda: evening.end())
    evening.prove(1, 2)
    watch("void", lambda: evening.void())
    watch("adjustment up", lambda: evening.adjust("5.00"))
    watch("adjustment down", lambda: evening.adjust("5.00", raises=False))
    watch("fault", lambda: evening.fault())
    watch("repair", lambda: evening.do(ask.ClearFault(TECHNICIAN)))
    watch("close", lambda: evening.close())
    falls = {name for name, way in shown.items() if way < 0}
    rises = {name for name, way in shown.items() if way > 0}
    assert falls == {"award of a part", "award of all", "void", "adjustment down"}
    assert rises == {"prove", "taken off", "adjustment up"}


@pytest.mark.requirement(49, 50)
def test_a_row_that_would_move_money_of_an_unknown_meter_is_never_applied() -> None:
    evening = Evening()
    event = evening.adjust("1.00")
    assert isinstance(event, did.MeterAdjusted)
    (entry,) = event.postings
    stray = replace(event, postings=(replace(entry, meter="mega"),))
    with pytest.raises(Broken, match="names an unknown meter"):
        machine.apply(evening.table, stray)


def test_a_row_whose_claims_differ_from_what_the_meter_holds_is_never_applied() -> None:
    evening = Evening()
    evening.prove(1)
    before = evening.table
    event = evening.win(1, ROYAL)
    assert isinstance(event, did.WinKeyed)
    with pytest.raises(Broken, match="held differs from the claims"):
        machine.apply(before, replace(event, priced=replace(event.priced, postings=())))


@pytest.mark.requirement(41, 42, 43)
def test_lifetime_totals_prove_the_meter_and_never_reset_with_the_jackpot() -> None:
    evening = Evening(meters={"meter": {"initial": "11000.00"}})
    for _ in range(2):
        evening.prove(1, 2)
        evening.win(1, ROYAL)
        evening.validate()
        evening.envy()
        evening.end()
    evening.prove(1)
    evening.void()
    evening.adjust("3.00")
    meter, totals = evening.table.meters[0], evening.table.totals
    check_identity(meter)
    assert meter.initial == usd("11000.00")
    assert meter.contributed == usd("1.25")
    assert (meter.funded, meter.hits) == (usd("20000.00"), 2)
    assert meter.paid == usd("11000.40") + usd("10000.50")
    assert (meter.voided, meter.adjusted_up, meter.held) == (usd("0.25"), usd("3.00"), ZERO)
    assert meter.current == usd("10003.10")
    assert (totals.wagers, totals.wagered) == (5, usd("5.00"))
    assert (totals.voided_wagers, totals.voided) == (1, ONE)
    assert totals.envy_paid == usd("2000.00")
    assert (totals.rounds, totals.voided_rounds) == (2, 1)


@pytest.mark.requirement(46)
@pytest.mark.parametrize(
    ("setting", "current", "reserve", "overflow"),
    [
        ("reserve", "10000.10", "0.20", "0.00"),
        ("next", "10000.10", "0.00", "0.20"),
        ("house", "10000.00", "0.00", "0.30"),
    ],
)
def test_what_becomes_of_overflow_at_a_hit_is_the_setting_and_stands_in_the_record(
    setting: str, current: str, reserve: str, overflow: str
) -> None:
    """Two wagers bring 40 cents to a meter with room for 10; the next jackpot has the same room."""
    meters = {
        "meter": {"limit": "10000.10", "overflow": setting, "rate": "0.2", "reserve_rate": "0"}
    }
    evening = Evening(meters=meters)
    evening.prove(1, 2)
    evening.win(1, ROYAL)
    (hold,) = evening.round.holds
    assert hold.award == usd("10000.10")
    assert hold.reserve_released == (usd("0.10") if setting == "reserve" else ZERO)
    assert hold.overflow_released == (usd("0.10") if setting == "next" else ZERO)
    evening.validate()
    evening.envy()
    ended = evening.end()
    assert isinstance(ended, did.RoundEnded)
    reading = did.MeterReading("meter", usd(current), usd(reserve), usd(overflow))
    assert ended.readings == (reading,)
