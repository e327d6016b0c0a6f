"""One table as a process: start, overload, a ledger that fails and is cured, snapshots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import msgspec
import pytest
from msgspec.structs import replace as changed

from controller import VERSION, service, wire
from controller.adapters.machine import digest
from controller.audit import audit
from controller.chain import GENESIS, Row, seal
from controller.domain import events as did
from controller.domain.errors import Broken, Fault, Taken
from controller.domain.meter import check_identity
from controller.domain.money import Money
from controller.domain.table import ClaimStatus, Phase, Table
from controller.domain.view import Lamp
from controller.hardware import END, LOCK, sensor
from controller.inputs import EndPressed
from controller.panel import VoidNow
from controller.panel import keys as pressing
from controller.process import EQUAL_SWEEPS, Loop, World, ledger_opener
from controller.service import TableService, fold, replay
from display.text import dealer_lines, meter_lines
from firmware.inbox import LIMIT
from firmware.pins import Pins
from firmware.scanner import SCAN_US
from mock_gpio.pins import SimulatedPins
from mock_gpio.table import LastScreen, SimulatedTable
from tests.builders import FLOOR, ROYAL, table_file
from tests.fakes import FakeLedger
from tests.whole_table import BROKEN, WholeTable, check_pin, opened

if TYPE_CHECKING:
    from pathlib import Path

MS = 1000


# The start.


@pytest.mark.requirement(67, 69)
def test_a_program_that_was_not_approved_does_not_start() -> None:
    file = replace(table_file(), software="0" * 64)
    with pytest.raises(Fault, match="install the approved version"):
        WholeTable(file)
    assert WholeTable(replace(table_file(), software=digest())).phase is Phase.CLOSED


@pytest.mark.requirement(68, 69)
def test_every_start_writes_down_which_program_it_is() -> None:
    started = WholeTable().again().events(did.Started)
    assert [event.boot for event in started] == [1, 2]
    assert {(event.software, event.digest) for event in started} == {(VERSION, digest())}


class Restless:
    """A table whose sensor cannot decide while the power comes up."""

    def __init__(self, changes: int, *, impatient: bool = False) -> None:
        before = opened()
        before.prove(1)
        self.rows, self.impatient = before.ledger.stored, impatient
        self.now_us, self.pauses, self.changes = 0, 0, changes
        hardware = before.sim.hardware
        self.hands = SimulatedPins(hardware, lambda: self.now_us)
        world = World(
            pins=Pins(hardware, self.hands),
            hardware=hardware,
            screens=LastScreen(),
            clock=before.sim.loop._world.clock,
            check_pin=check_pin,
            pause=self._pause,
            simulated=True,
        )
        self.loop = Loop(before.file, world, self._open_ledger)

    def _open_ledger(self) -> FakeLedger:
        if self.impatient:
            self.hands.press(END)
            self.now_us += 100 * MS
            self.hands.release(END)
            self.now_us += 20_000 * MS
        return FakeLedger(self.rows)

    def _pause(self) -> None:
        self.now_us += SCAN_US
        self.pauses += 1
        if self.pauses <= self.changes:
            self.hands.drive(sensor(1), active=self.pauses % 2 == 1)

    def scan(self) -> None:
        for _ in range(5):
            self.now_us += SCAN_US
            self.loop.scanner.scan()
            while self.loop.step(0):
                pass


def test_the_levels_of_power_up_are_believed_once_five_looks_agree() -> None:
    restless = Restless(changes=7)
    restless.loop.start()
    assert restless.pauses == 7 + EQUAL_SWEEPS - 1
    assert restless.loop.unit.phase is Phase.IN_PLAY


def test_a_sensor_that_never_stands_still_does_not_keep_the_table_from_starting() -> None:
    restless = Restless(changes=10_000)
    restless.loop.start()
    assert restless.loop.unit.phase is Phase.IN_PLAY


def test_a_key_held_while_the_power_came_back_is_no_press() -> None:
    restless = Restless(changes=0)
    restless.hands.press_key(0, 0)
    restless.loop.start()
    restless.scan()
    restless.hands.release_key(0, 0)
    restless.scan()
    assert restless.loop.unit.screen().page is None
    restless.hands.press_key(0, 0)
    restless.scan()
    assert restless.loop.unit.screen().page is not None, "seat 1 is being keyed"


def test_what_is_pressed_while_the_ledger_is_being_checked_does_not_count_afterwards() -> None:
    """The display says that it is starting; a minute later nobody expects that END to work."""
    restless = Restless(changes=0, impatient=True)
    restless.loop.start()
    for _ in range(10):
        restless.scan()
    assert restless.loop.unit.phase is Phase.IN_PLAY


# More than can be taken in.


def flood(table: WholeTable) -> None:
    """More edges of one sensor than the queue takes, ten in a millisecond."""
    now_us = table.sim.now_us
    for number in range(LIMIT + 100):
        table.hands.drive(sensor(6), active=number % 2 == 0, at_us=now_us + number * 100)
    table.after_us((LIMIT + 100) * 100)


def notes(table: WholeTable) -> list[str]:
    return [event.what for event in table.events(did.HardwareNoted)]


def test_lost_inputs_are_noted_and_chips_have_to_settle_again() -> None:
    table = opened()
    table.chip(1)
    flood(table)
    table.hands.cover(sensor(2))  # lost
    table.sim.look()
    assert notes(table)[:1] == ["inputs were lost: the queue was full"]
    table.lock()
    assert table.wagers() == [], "nothing is accepted from the gap"
    table.end()
    table.lift(1, 2)
    table.wait(2_000)
    table.chip(1)
    table.lock()
    assert table.wagers() == [1]


def test_an_overload_does_not_fill_the_ledger_with_its_own_edges() -> None:
    """Each row is a write that the table waits for, just when it has no time."""
    table = opened()
    flood(table)
    table.sim.look()
    table.wait(500)
    assert len(notes(table)) <= 5


def test_a_lock_in_doubt_while_inputs_are_lost_is_refused_with_a_sentence_and_a_row() -> None:
    table = opened()
    table.chip(1, 2)
    lock_in_doubt(table)
    flood(table)
    table.sim._drain()
    table.hands.release(LOCK)
    table.wait(300)
    assert table.is_in(Phase.OPEN)
    assert "press LOCK again" in table.unit.notice
    assert "press LOCK again" in table.last(did.InputRefused).why


def test_inputs_lost_while_the_pins_cannot_be_read_are_not_forgotten() -> None:
    table = opened()
    table.chip(1)
    flood(table)
    with pytest.MonkeyPatch.context() as world:
        world.setattr(Pins, "levels", unreadable)
        table.sim.loop.drain()
        table.sim.loop.turn()
    table.wait(100)
    assert notes(table)[:1] == ["inputs were lost: the queue was full"]
    table.lock()
    assert table.wagers() == [], "the chip has not settled since the gap"


def unreadable(*_: object) -> NoReturn:
    raise Fault("the pins cannot be read")


def lock_in_doubt(table: WholeTable) -> None:
    """LOCK, and a chip of seat 1 of which nobody knows yet whether it was lifted before."""
    table.hands.hold_calls()
    table.hands.drive(sensor(1), active=False, at_us=table.sim.now_us - 1)
    table.hands.press(LOCK)
    table.hands.deliver([1, 0])
    table.sim._drain()
    assert table.is_in(Phase.OPEN)


def test_a_lock_that_waits_in_an_overfull_queue_is_refused_and_takes_nobodys_chip_away() -> None:
    """Its chips cannot be judged any more; a lock without wagers would be a guess too."""
    table = opened()
    table.chip(1)
    table.hands.press(LOCK)
    flood(table)
    table.sim._drain()
    table.hands.release(LOCK)
    table.wait(300)
    assert (table.phase, table.wagers()) == (Phase.OPEN, [])
    assert "press LOCK again" in table.unit.notice


# A ledger that fails.


@pytest.mark.requirement(66)
def test_a_failed_write_stops_the_table_visibly_and_says_why() -> None:
    table = opened()
    table.chip(1, 2)
    table.break_disk()
    table.lock()
    assert table.is_in(Phase.FAULT)
    lines = " ".join(dealer_lines(table.screen.view))
    assert "OUT OF SERVICE" in lines
    assert BROKEN in lines
    assert meter_lines(table.screen.view)[0] == "OUT OF SERVICE"
    assert set(table.lamps.values()) == {Lamp.OUT_OF_SERVICE}


@pytest.mark.requirement(3, 66)
def test_accepted_lamps_stay_lit_through_an_outage_and_all_others_flash() -> None:
    table = opened()
    table.chip(1, 2)
    table.lock()
    table.break_disk()
    table.count(2)
    assert table.is_in(Phase.FAULT)
    always, sometimes = {1, 2}, set()
    for _ in range(40):
        table.wait(50)
        assert table.lit() >= {1, 2}
        sometimes |= table.lit() - always
    assert sometimes == {3, 4, 5, 6}


def test_the_ledger_is_tried_again_with_growing_pauses_until_it_is_there() -> None:
    table = opened()
    table.opens.clear()
    table.break_disk()
    table.keys("7")
    stopped_us = table.sim.now_us
    table.wait(100_000)
    tries = [round((at_us - stopped_us) / 1_000_000) for at_us in table.opens]
    assert tries[:6] == [1, 3, 7, 15, 31, 61]
    assert table.is_in(Phase.FAULT)
    table.cure_disk()
    table.wait(31_000)
    assert table.is_in(Phase.OPEN)


def test_a_lock_that_waited_and_then_failed_counts_as_one_failure() -> None:
    table = opened()
    table.chip(1)
    table.opens.clear()
    lock_in_doubt(table)
    table.break_disk()
    table.wait(100)
    stopped_us = table.sim.now_us
    table.wait(2_000)
    assert [round((at_us - stopped_us) / 1_000_000) for at_us in table.opens] == [1]


def test_asking_a_stopped_table_does_not_put_its_recovery_off() -> None:
    table = opened()
    table.break_disk()
    table.keys("7")
    table.cure_disk()
    for _ in range(40):
        table.unit.send(VoidNow(FLOOR, "misdeal"))
        table.unit.take(EndPressed())
        table.wait(50)
    assert table.is_in(Phase.OPEN)


@pytest.mark.requirement(62)
def test_a_cured_table_stands_where_its_last_row_left_it_also_with_a_win_waiting() -> None:
    table = opened()
    table.prove(1, 3)
    table.win(3, ROYAL)
    before = table.table
    table.break_disk()
    table.end()  # refused, and the refusal cannot be written
    assert table.is_in(Phase.FAULT)
    table.cure_disk()
    table.wait(40_000)
    assert table.table == before
    assert table.lit() == {1, 3}
    assert table.table.round.claims[0].status is ClaimStatus.WAITING
    table.floor(pressing.validate_keys(table.table))
    assert table.last(did.WinValidated).win.amount == before.round.claims[0].amount


def test_what_was_said_during_an_outage_is_gone_when_it_is_over() -> None:
    table = opened()
    table.break_disk()
    table.keys("7")
    table.wait(500)
    table.cure_disk()
    table.wait(5_000)
    assert table.is_in(Phase.OPEN)
    assert table.screen.notice == ""


def test_what_is_pressed_while_a_stopped_table_checks_its_ledger_does_not_count_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The display says OUT OF SERVICE, and the check of a long ledger takes its time."""
    table = opened()
    table.prove(1)
    table.break_disk()
    table.lock()
    table.cure_disk()
    check_ledger = table.unit._open_service

    def slowly() -> TableService:
        table.hands.press(END)
        table.after_us(100 * MS)
        table.hands.release(END)
        table.after_us(20_000 * MS)
        return check_ledger()

    monkeypatch.setattr(table.unit, "_open_service", slowly)
    table.wait(3_000)
    assert table.is_in(Phase.IN_PLAY)


def test_a_copy_that_fails_stops_the_table_too_and_the_row_that_was_written_counts() -> None:
    table = opened()
    table.chip(1)
    table.ledger.copy_fault = "the stick is full"
    table.broken = "the stick is full"
    table.lock()
    assert table.is_in(Phase.FAULT)
    assert "the stick is full" in table.screen.view.fault
    assert table.lit() >= {1}, "the row is durable, so the lamp may say so"
    table.cure_disk()
    table.wait(40_000)
    assert (table.phase, table.wagers()) == (Phase.LOCKED, [1])


def test_a_table_file_that_does_not_fit_fills_no_ledger_while_it_waits() -> None:
    table = opened()
    rows = table.ledger.stored
    other = table_file(meters={"meter": {"rate": "0.3"}})
    refused = WholeTable(other, rows=rows)
    assert "close it first" in refused.unit.down
    refused.wait(600_000)
    assert len(refused.ledger.stored) <= len(rows) + 1


def test_an_idle_table_writes_nothing() -> None:
    table = opened()
    table.chip(1)
    rows = len(table.ledger.stored)
    table.wait(50_000)
    assert len(table.ledger.stored) == rows


# On a real file.


def on_disk(data: Path, now_us: int = 0) -> SimulatedTable:
    file = table_file()
    return SimulatedTable(file, ledger_opener(file, data), check_pin=check_pin, now_us=now_us)


def test_a_table_on_a_real_ledger_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    first = on_disk(tmp_path)
    first.turn_key(on=True)
    first.keys(pressing.sign_in_keys("201", "1379"))
    first.keys(("1", "enter"))
    first.turn_key(on=False)
    first.move(sensor(2), active=True)
    first.pass_ms(300)
    first.press(LOCK)
    first.loop.books.close()
    second = on_disk(tmp_path, now_us=first.now_us)
    assert second.unit.phase is Phase.LOCKED
    assert second.unit.service is not None
    assert [wager.seat for wager in second.unit.service.table.round.wagers] == [2]
    second.loop.close()


def test_a_data_directory_in_use_is_a_sentence_and_no_second_table(tmp_path: Path) -> None:
    first = on_disk(tmp_path)
    with pytest.raises(Fault, match="another Feltlink process uses"):
        on_disk(tmp_path)
    assert first.unit.phase is Phase.CLOSED
    first.loop.close()


def test_a_verify_that_holds_the_ledger_while_a_table_recovers_does_not_end_that_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its lamps would go dark in the middle of a round."""
    table = opened()
    table.chip(1)
    table.lock()
    table.break_disk()
    table.end()

    def taken() -> NoReturn:
        raise Taken("another Feltlink process uses the data")

    monkeypatch.setattr(table.unit, "_open_service", taken)
    table.wait(5_000)
    assert (table.phase, table.lit() >= {1}) == (Phase.FAULT, True)
    monkeypatch.undo()
    table.cure_disk()
    table.wait(40_000)
    assert (table.phase, table.wagers()) == (Phase.LOCKED, [1])


# Snapshots.


@pytest.fixture
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SNAPSHOT_ROUNDS", 3)


def full_fold(rows: list[Row]) -> Table | None:
    table = None
    for row in rows:
        table = fold(table, wire.decode(row.kind, row.version, row.payload), row.seq)
    return table


def four_rounds() -> WholeTable:
    table = opened()
    for number in range(4):
        table.prove(1, 2)
        if number == 1:
            table.win(1, ROYAL)
            table.floor(pressing.validate_keys(table.table))
            table.keys(*(pressing.envy_keys(table.table) or ()))
        table.end()
        assert table.is_in(Phase.OPEN)
    return table


@pytest.mark.usefixtures("_often")
def test_a_start_from_a_snapshot_is_the_start_from_all_rows() -> None:
    table = four_rounds()
    assert table.kinds().count("snapshot_taken") == 1
    assert table.kinds()[table.kinds().index("snapshot_taken") - 1] == "round_ended"
    assert replay(FakeLedger(table.ledger.stored)) == full_fold(table.ledger.stored)
    assert table.again().table == table.table
    found = audit(table.ledger.stored)
    assert (found.finding, found.table) == (None, table.table)


class Counted(FakeLedger):
    """Notes from where on its rows are read."""

    read_after: int | None = None

    def rows(self, after_seq: int = 0):  # type: ignore[no-untyped-def]
        self.read_after = after_seq
        return super().rows(after_seq)


@pytest.mark.usefixtures("_often")
def test_a_start_reads_no_row_before_the_snapshot() -> None:
    table = four_rounds()
    ledger = Counted(table.ledger.stored)
    replay(ledger)
    assert ledger.read_after == table.kinds().index("snapshot_taken") + 1


@pytest.mark.usefixtures("_often")
def test_a_snapshot_that_lies_is_found_by_an_audit() -> None:
    table = four_rounds()
    lying = forged(table.ledger.stored)
    found = audit(lying)
    assert found.finding is not None
    assert found.finding.seq == table.kinds().index("snapshot_taken") + 1
    assert "snapshot is not the state" in found.finding.why


def forged(rows: list[Row]) -> list[Row]:
    """The same rows, well sealed, but for a snapshot that says another number of late chips."""
    sealed: list[Row] = []
    for row in rows:
        payload = row.payload
        if row.kind == "snapshot_taken":
            event = wire.decode(row.kind, row.version, payload)
            assert isinstance(event, did.SnapshotTaken)
            totals = changed(event.table.totals, late_chips=99)
            payload = wire.encode(did.SnapshotTaken(changed(event.table, totals=totals)))
        sealed.append(
            seal(
                previous=sealed[-1].hash if sealed else GENESIS,
                seq=row.seq,
                boot=row.boot,
                time=row.time,
                kind=row.kind,
                version=row.version,
                payload=payload,
            )
        )
    return sealed


@pytest.mark.usefixtures("_often")
def test_a_snapshot_with_money_that_does_not_add_up_stops_the_start() -> None:
    table = four_rounds()
    rows = table.ledger.stored
    at = table.kinds().index("snapshot_taken")
    event = wire.decode(rows[at].kind, rows[at].version, rows[at].payload)
    assert isinstance(event, did.SnapshotTaken)
    meter = event.table.meters[0]
    check_identity(meter)
    richer = changed(meter, current=Money(meter.current.ucents + 1))
    payload = wire.encode(did.SnapshotTaken(changed(event.table, meters=(richer,))))
    ledger = FakeLedger([*rows[:at], replace(rows[at], payload=payload)])
    with pytest.raises(Broken):
        replay(ledger)


def test_five_hundred_rounds_write_one_snapshot() -> None:
    table = opened()
    for _ in range(500):
        table.lock()
        table.end()
    assert table.table.totals.rounds == 500
    assert table.kinds().count("snapshot_taken") == 1
    assert table.again().table == table.table


def test_a_snapshot_is_plain_text_that_an_auditor_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service, "SNAPSHOT_ROUNDS", 1)
    table = opened()
    table.prove(1)
    table.end()
    row = table.ledger.stored[table.kinds().index("snapshot_taken")]
    read = msgspec.json.decode(row.payload)
    assert read["table"]["meters"][0]["current"] == table.table.meters[0].current.exact()
