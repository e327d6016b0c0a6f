"""The loop body: decide, write down, change state, then show; and what happens when it cannot."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from controller import wire
from controller.chain import first_bad
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Broken, Fault, Refused
from controller.domain.table import Phase, Wager
from controller.domain.view import Lamp
from controller.service import STUCK_AFTER_MS, fold, replay
from tests.builders import (
    DEALER,
    FIVE,
    FLOOR,
    ONE,
    QUADS,
    ROYAL,
    SETTLE_MS,
    STRAIGHT_FLUSH,
    TECHNICIAN,
    Rig,
    adjustment,
    commissioned,
    table_file,
)
from tests.fakes import FakeLedger


@pytest.mark.requirement(4)
def test_the_whole_snapshot_is_in_the_ledger_before_any_lamp_says_accepted() -> None:
    rig = Rig()
    rig.chip(1)
    rig.chip(4)
    rig.diary.clear()
    rig.lock()
    assert rig.diary == ["head read back", "row: bets_locked", "accepted lamps: 1 4"]
    row = rig.ledger.stored[-1]
    assert row.time.startswith("2026-01-01T20:15:0")
    event = wire.decode(row.kind, row.version, row.payload)
    assert isinstance(event, did.BetsLocked)
    assert (event.round, event.wagers) == (1, (Wager(1, ONE), Wager(4, ONE)))


@pytest.mark.requirement(4)
def test_a_lock_that_cannot_be_written_lights_no_lamp_and_stops_the_table() -> None:
    rig = Rig()
    rig.chip(1)
    rig.chip(4)
    rows = len(rig.ledger.stored)
    rig.ledger.disk_fault = "the disk is full; call a technician"
    with pytest.raises(Fault, match="the disk is full"):
        rig.lock()
    assert Lamp.ACCEPTED not in rig.lamps.values()
    assert rig.service.stopped == "the disk is full; call a technician"
    view = rig.service.view()
    assert (view.phase, view.fault) == (Phase.FAULT, "the disk is full; call a technician")
    assert len(rig.ledger.stored) == rows
    assert rig.restarted().table.round.wagers == ()


@pytest.mark.requirement(4)
def test_after_a_power_cut_the_snapshot_is_whole_or_absent_never_in_part() -> None:
    rig = Rig()
    for seat in (1, 2, 5):
        rig.chip(seat)
    rig.lock()
    for kept in range(2, len(rig.ledger.stored) + 1):
        again = Rig(stored=rig.ledger.stored[:kept], lying=rig.lying(), opened=False)
        seats = [wager.seat for wager in again.table.round.wagers]
        accepted = [s for s, lamp in again.lamps.items() if lamp is Lamp.ACCEPTED]
        assert seats == accepted
        assert seats == ([1, 2, 5] if kept == len(rig.ledger.stored) else [])


def test_a_stopped_table_takes_nothing_more() -> None:
    rig = Rig()
    rig.ledger.disk_fault = "the disk is full"
    with pytest.raises(Fault):
        rig.lock()
    rig.ledger.disk_fault = None
    with pytest.raises(Fault, match="the disk is full"):
        rig.service.ask(ask.CloseTable(FLOOR))
    with pytest.raises(Fault, match="the disk is full"):
        rig.service.tick()
    with pytest.raises(Fault, match="the disk is full"):
        rig.service.sensor_changed(1, covered=True)


def test_critical_data_is_read_back_before_and_after_each_round() -> None:
    rig = Rig()
    rig.diary.clear()
    rig.lock()
    rig.service.end(DEALER)
    rows = [line for line in rig.diary if not line.startswith("accepted")]
    assert rows == ["head read back", "row: bets_locked", "row: round_ended", "head read back"]


def test_a_last_row_that_has_changed_on_the_disk_stops_the_table_before_the_lock() -> None:
    rig = Rig()
    rig.chip(1)
    rig.ledger.stored[-1] = replace(rig.ledger.stored[-1], time="another time")
    with pytest.raises(Fault, match="not the one that was written"):
        rig.lock()
    assert "not the one that was written" in rig.service.stopped
    assert rig.lamp(1) is Lamp.SEEN


@pytest.mark.requirement(2)
def test_chips_placed_after_lock_are_late_and_no_wager() -> None:
    rig = Rig()
    rig.chip(1)
    rig.lock()
    rig.chip(2)
    rig.lift(2)
    assert rig.table.round.wagers == (Wager(1, ONE),)
    assert rig.lamp(2) is Lamp.OFF
    assert rig.kinds()[-2:] == ["late_chip_noted", "late_chip_noted"]
    assert rig.table.totals.late_chips == 2


@pytest.mark.requirement(2)
def test_a_chip_lifted_or_swapped_after_lock_neither_removes_nor_raises_the_wager() -> None:
    rig = Rig(table_file(wagers=["1.00", "5.00"]))
    rig.chip(1, ONE)
    rig.lock()
    rig.lift(1, ONE)
    rig.chip(1, FIVE)
    assert rig.table.round.wagers == (Wager(1, ONE),)
    assert rig.kinds().count("late_chip_noted") == 1


@pytest.mark.requirement(3)
def test_the_dealer_lifts_the_chips_and_the_lamps_stay_lit_to_the_end() -> None:
    rig = Rig()
    rig.chip(3)
    rig.lock()
    rig.lift(3)
    rig.count(1)
    assert rig.lamp(3) is Lamp.ACCEPTED
    rig.service.end(DEALER)
    assert {lamp.value for lamp in rig.lamps.values()} == {"off"}


@pytest.mark.requirement(2)
def test_lifting_the_accepted_chip_is_the_collection_but_lifting_a_late_one_is_late() -> None:
    rig = Rig()
    rig.chip(3)
    rig.lock()
    rig.lift(3)
    assert rig.table.totals.late_chips == 0
    rig.chip(3)
    rig.lift(3)
    assert rig.table.totals.late_chips == 2
    assert rig.table.round.wagers == (Wager(3, ONE),)


def test_a_struck_chip_that_is_handed_back_is_not_late() -> None:
    rig = Rig()
    rig.chip(3)
    rig.lock()
    rig.service.ask(ask.StrikeWager(FLOOR, 3, "no ante"))
    rig.lift(3)
    assert rig.table.totals.late_chips == 0


def test_a_chip_counts_once_it_has_settled_and_not_before() -> None:
    rig = Rig()
    rig.chip(1, rest_ms=SETTLE_MS - 1)
    assert rig.lamp(1) is Lamp.OFF
    rig.lock()
    assert rig.table.round.wagers == ()
    rig.service.end(DEALER)
    rig.lift(1)
    rig.chip(1)
    assert rig.lamps[1] is Lamp.SEEN


def test_a_chip_lifted_before_lock_is_taken_back() -> None:
    rig = Rig()
    rig.chip(1)
    rig.chip(2)
    rig.lift(1)
    rig.lock()
    assert rig.table.round.wagers == (Wager(2, ONE),)


@pytest.mark.requirement(7)
def test_the_first_chip_to_settle_is_the_wager_of_a_seat_with_two_spots() -> None:
    rig = Rig(table_file(wagers=["1.00", "5.00"]))
    rig.chip(1, FIVE)
    rig.chip(1, ONE)
    rig.chip(2, ONE)
    rig.lock()
    assert rig.table.round.wagers == (Wager(1, FIVE), Wager(2, ONE))


@pytest.mark.requirement(13, 91)
def test_a_key_that_does_not_fit_leaves_one_row_and_nothing_else() -> None:
    rig = Rig()
    before, lamps = rig.table, dict(rig.lamps)
    with pytest.raises(Refused, match="WIN does not fit: betting is open; press LOCK first"):
        rig.service.ask(ask.KeyWin(DEALER, 1, ROYAL))
    assert (rig.table, rig.lamps) == (before, lamps)
    row = rig.ledger.stored[-1]
    event = wire.decode(row.kind, row.version, row.payload)
    assert isinstance(event, did.InputRefused)
    assert (event.by, event.asked) == (DEALER, "WIN seat=1 hand=royal_flush")


def test_a_chip_left_from_before_end_must_be_seen_empty_once() -> None:
    rig = Rig()
    rig.chip(2)
    rig.lock()
    rig.count(1)
    rig.service.end(DEALER)
    assert rig.table.must_clear == (2,)
    assert rig.lamp(2) is Lamp.ATTENTION
    rig.lift(2)
    assert not rig.table.must_clear
    rig.chip(2)
    assert rig.lamps[2] is Lamp.SEEN


def test_a_sensor_covered_too_long_goes_out_of_service_once() -> None:
    rig = Rig()
    rig.chip(2)
    rig.lock()
    rig.count(1)
    rig.service.end(DEALER)
    rig.wait(STUCK_AFTER_MS - 1)
    assert rig.table.out_of_service == ()
    rig.wait(1)
    assert 2 in rig.table.out_of_service
    rig.wait(STUCK_AFTER_MS)
    assert rig.kinds().count("seat_stuck") == 1
    rig.lift(2)
    assert rig.kinds()[-1] == "seat_cleared"


def test_a_void_and_an_opening_remember_which_sensors_were_covered() -> None:
    rig = Rig()
    rig.chip(5)
    rig.lock()
    rig.service.void(FLOOR, "misdeal")
    assert rig.table.must_clear == (5,)
    rig.service.ask(ask.CloseTable(FLOOR))
    rig.service.open(FLOOR)
    assert rig.table.must_clear == (5,)


@pytest.mark.requirement(91)
def test_everything_that_happens_is_a_row_and_a_correction_leaves_the_original() -> None:
    rig = Rig()
    for seat in (1, 2, 3):
        rig.chip(seat)
    rig.lock()
    rig.count(2)
    service = rig.service
    service.ask(ask.StrikeWager(FLOOR, 3, "no ante"))
    service.ask(ask.KeyWin(DEALER, 1, QUADS))
    service.ask(ask.KeyWin(DEALER, 1, QUADS))
    service.ask(ask.KeyWin(DEALER, 2, STRAIGHT_FLUSH))
    service.ask(ask.RejectWin(FLOOR, "misread"))
    service.ask(ask.KeyWin(DEALER, 2, STRAIGHT_FLUSH))
    service.ask(ask.ValidateWin(FLOOR))
    service.ask(ask.AcknowledgeEnvy(DEALER))
    service.end(DEALER)
    rig.lock()
    service.void(FLOOR, "misdeal")
    service.ask(adjustment("1.00"))
    service.ask(ask.RaiseFault(DEALER, "sensor 3 is silent"))
    service.ask(ask.ClearFault(TECHNICIAN))
    service.ask(ask.CloseTable(FLOOR))
    approval = {"by": "Tess", "reference": "GC-1"}
    again = rig.restarted(table_file(approval=approval, simultaneous="split"))
    assert again.kinds() == [
        *["commissioned", "started", "table_opened", "bets_locked", "count_mismatched"],
        *["miscount_resolved", "win_keyed", "win_taken_off", "win_keyed", "win_rejected"],
        *["win_keyed", "win_validated", "envy_acknowledged", "round_ended", "bets_locked"],
        *["round_voided", "meter_adjusted", "fault_raised", "fault_cleared", "table_closed"],
        *["started", "settings_changed"],
    ]
    assert first_bad(again.ledger.stored) is None


@pytest.mark.requirement(92)
def test_the_row_of_a_win_tells_date_time_table_level_people_and_amounts() -> None:
    rig = Rig(table_file("md-uth-c", table_id="P4-T11"))
    rig.chip(2)
    rig.lock()
    rig.count(1)
    rig.service.ask(ask.KeyWin(DEALER, 2, STRAIGHT_FLUSH))
    rig.service.ask(ask.ValidateWin(FLOOR))
    row = rig.ledger.stored[-1]
    assert row.time.startswith("2026-01-01T20:15:0")
    assert json.loads(row.payload)["win"] == {
        "table": "P4-T11",
        "seat": 2,
        "hand": "straight_flush",
        "wager": "1.00000000",
        "meter": "major",
        "meter_before": "1000.05000000",
        "meter_after": "1000.01000000",
        "overflow": "reserve",
        "amount": "1000.05000000",
        "keyed_by": "Dana",
        "validated_by": "Flora",
        "round": 1,
    }


def test_a_restarted_table_is_where_the_last_row_left_it() -> None:
    rig = Rig()
    rig.chip(1)
    rig.chip(2)
    rig.lock()
    rig.count(2)
    rig.service.ask(ask.KeyWin(DEALER, 1, ROYAL))
    again = rig.restarted()
    assert again.table == rig.table
    assert again.lamps == rig.lamps
    assert again.ledger.stored[-1].boot == 2
    assert replay(again.ledger) == again.table


@pytest.mark.requirement(47, 48)
def test_a_changed_table_file_takes_effect_at_a_start_of_a_closed_table_with_approval() -> None:
    rig = Rig(opened=False)
    approval = {"by": "Tess", "reference": "GC-2026-114"}
    new = table_file(meters={"meter": {"rate": "0.1"}}, approval=approval)
    again = rig.restarted(new)
    row = again.ledger.stored[-1]
    assert row.kind == "settings_changed"
    assert row.time.startswith("2026-01-01T20:15:0")
    event = wire.decode(row.kind, row.version, row.payload)
    assert isinstance(event, did.SettingsChanged)
    assert (event.by.name, event.reference) == ("Tess", "GC-2026-114")
    assert event.changes == ("meters.meter.rate_ppm: 200000 -> 100000",)
    assert again.table.settings == new.settings


@pytest.mark.requirement(47, 48, 77)
@pytest.mark.parametrize("opened", [True, False])
def test_a_changed_table_file_without_approval_or_with_an_open_table_stops_the_start(
    *, opened: bool
) -> None:
    rig = Rig(opened=opened)
    approval = {"by": "Tess", "reference": "GC-1"} if opened else None
    new = table_file(meters={"meter": {"rate": "0.1"}}, approval=approval)
    with pytest.raises(Fault, match="The table file differs from the rules in force"):
        rig.restarted(new)


def test_the_ledger_of_another_table_is_not_taken_over() -> None:
    with pytest.raises(Fault, match="The ledger is table T01's, the table file is T02's"):
        Rig(opened=False).restarted(table_file(table_id="T02"))


@pytest.mark.requirement(49)
def test_a_ledger_that_commissions_twice_or_begins_elsewhere_is_not_played_on() -> None:
    rig = Rig(opened=False)
    with pytest.raises(Broken, match="row 7 commissions the table a second time"):
        fold(rig.table, commissioned(table_file()), 7)
    with pytest.raises(Broken, match="row 1 comes before the table was commissioned"):
        fold(None, did.TableClosed(FLOOR), 1)
    with pytest.raises(Broken, match="row 3: TableClosed cannot follow while closed"):
        fold(rig.table, did.TableClosed(FLOOR), 3)


def test_a_ledger_without_rows_folds_to_no_table() -> None:
    assert replay(FakeLedger()) is None


def test_the_first_start_commissions_with_the_start_up_money() -> None:
    rig = Rig(opened=False)
    assert rig.kinds() == ["commissioned", "started"]
    assert rig.table.phase is Phase.CLOSED
    assert rig.service.settings.table_id == "T01"
    assert rig.table.meters[0].initial.payable() == "10000.00"
