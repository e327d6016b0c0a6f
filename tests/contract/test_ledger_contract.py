"""What every ledger promises, shown on the SQLite one and on the fake that other tests use."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from controller.adapters.ledger_sqlite import SqliteLedger
from controller.chain import Row, first_bad
from controller.domain.errors import Fault
from tests.contract.ledger_files import (
    COPY,
    PRIMARY,
    add,
    append,
    forge_next_row,
    rows_in,
    tamper,
)
from tests.fakes import FakeLedger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Kind(ABC):
    """One kind of ledger, and how to do to it what the world does."""

    ledger: SqliteLedger | FakeLedger

    @abstractmethod
    def reopen(self) -> SqliteLedger | FakeLedger: ...

    @abstractmethod
    def copied(self) -> list[Row]:
        """The rows that the copy holds."""

    @abstractmethod
    def make_the_next_write_fail(self) -> None: ...

    @abstractmethod
    def make_the_next_write_to_the_copy_fail(self) -> None: ...

    @abstractmethod
    def alter_the_last_row(self) -> None: ...


class Sqlite(Kind):
    def __init__(self, data: Path) -> None:
        self.data = data
        self.ledger: SqliteLedger = SqliteLedger.open(data, copy=None, table_id="T01")

    def reopen(self) -> SqliteLedger:
        self.ledger.close()
        self.ledger = SqliteLedger.open(self.data, copy=None, table_id="T01")
        return self.ledger

    def copied(self) -> list[Row]:
        return rows_in(self.data / COPY)

    def make_the_next_write_fail(self) -> None:
        forge_next_row(self.data / PRIMARY)

    def make_the_next_write_to_the_copy_fail(self) -> None:
        forge_next_row(self.data / COPY)

    def alter_the_last_row(self) -> None:
        tamper(self.data / PRIMARY, "UPDATE row SET payload = '?' WHERE seq = 2")


class Fake(Kind):
    def __init__(self) -> None:
        self.ledger: FakeLedger = FakeLedger()

    def reopen(self) -> FakeLedger:
        self.ledger.close()
        self.ledger = FakeLedger(self.ledger.stored)
        return self.ledger

    def copied(self) -> list[Row]:
        return self.ledger.copied

    def make_the_next_write_fail(self) -> None:
        self.ledger.disk_fault = "the disk is full: replace it"

    def make_the_next_write_to_the_copy_fail(self) -> None:
        self.ledger.copy_fault = "the copy is full: replace it"

    def alter_the_last_row(self) -> None:
        self.ledger.stored[-1] = replace(self.ledger.stored[-1], payload=b"\x00")


@pytest.fixture(params=["sqlite", "fake"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    made = Sqlite(tmp_path) if request.param == "sqlite" else Fake()
    yield made
    made.ledger.close()


def test_a_new_ledger_is_empty(kind: Kind) -> None:
    assert kind.ledger.head is None
    assert kind.ledger.repairs == ()
    assert list(kind.ledger.rows()) == []
    kind.ledger.check_head()


@pytest.mark.requirement(73, 91)
def test_rows_are_numbered_from_one_without_gaps_and_chained(kind: Kind) -> None:
    written = add(kind.ledger, 5)
    assert [row.seq for row in written] == [1, 2, 3, 4, 5]
    assert list(kind.ledger.rows()) == written
    assert first_bad(kind.ledger.rows()) is None
    assert kind.ledger.head == written[-1]


@pytest.mark.requirement(62)
def test_rows_are_the_same_after_a_restart_and_the_chain_goes_on(kind: Kind) -> None:
    written = add(kind.ledger, 3)
    ledger = kind.reopen()
    assert list(ledger.rows()) == written
    assert ledger.head == written[-1]
    written += add(ledger, 2, boot=2)
    assert list(kind.reopen().rows()) == written
    assert first_bad(written) is None


def test_rows_can_be_read_from_any_place_on(kind: Kind) -> None:
    written = add(kind.ledger, 4)
    assert list(kind.ledger.rows(after_seq=2)) == written[2:]
    assert list(kind.ledger.rows(after_seq=4)) == []


@pytest.mark.parametrize("payload", [b"", b"\x00\xff\x00", "Zoë €".encode(), b"x" * 100_000])
def test_a_payload_comes_back_byte_for_byte(kind: Kind, payload: bytes) -> None:
    kind.ledger.append(boot=1, time="", kind="any", version=1, payload=payload)
    assert [row.payload for row in kind.reopen().rows()] == [payload]


@pytest.mark.requirement(73)
def test_a_clock_set_back_does_not_reorder_rows(kind: Kind) -> None:
    for time in ("2026-11-18T10:00:00Z", "1970-01-01T00:00:03Z"):
        kind.ledger.append(boot=1, time=time, kind="any", version=1, payload=b"")
    assert [row.time[:4] for row in kind.reopen().rows()] == ["2026", "1970"]


def test_a_table_may_append_while_somebody_reads(kind: Kind) -> None:
    written = add(kind.ledger, 2)
    reading = kind.ledger.rows()
    first = next(reading)
    written += add(kind.ledger, 1)
    assert first == written[0]
    assert kind.ledger.head == written[-1]
    assert list(kind.ledger.rows()) == written


@pytest.mark.requirement(66)
def test_after_one_failed_write_nothing_more_is_written(kind: Kind) -> None:
    written = add(kind.ledger, 2)
    kind.make_the_next_write_fail()
    with pytest.raises(Fault) as first:
        add(kind.ledger, 1)
    refused = (
        lambda: add(kind.ledger, 1),
        lambda: kind.ledger.last_of("wager_taken"),
        kind.ledger.mirror,
        kind.ledger.check_head,
        kind.ledger.sync_copy,
    )
    for asked in refused:
        with pytest.raises(Fault, match=re.escape(str(first.value))):
            asked()
    assert kind.ledger.head == written[-1]
    kind.ledger.close()


@pytest.mark.requirement(63)
def test_a_row_is_acknowledged_before_the_copy_has_it_and_mirrored_after_the_lamps(
    kind: Kind,
) -> None:
    written = add(kind.ledger, 2)
    written.append(append(kind.ledger))
    assert kind.ledger.head == written[-1]
    assert kind.copied() == written[:-1]
    kind.ledger.mirror()
    assert kind.copied() == written
    kind.ledger.mirror()
    assert kind.copied() == written


@pytest.mark.requirement(63)
def test_the_copy_is_never_more_than_one_row_behind(kind: Kind) -> None:
    written = add(kind.ledger, 1)
    for _ in range(4):
        written.append(append(kind.ledger))
        assert kind.copied() == written[:-1]


@pytest.mark.requirement(63)
def test_the_first_row_is_in_both_at_once_because_the_table_is_commissioned_with_it(
    kind: Kind,
) -> None:
    first = append(kind.ledger)
    assert kind.copied() == [first]


@pytest.mark.requirement(63, 64)
@pytest.mark.parametrize("how", ["check_head", "sync_copy", "close"])
def test_reading_back_idling_and_closing_bring_the_copy_up_to_date(kind: Kind, how: str) -> None:
    written = [*add(kind.ledger, 2), append(kind.ledger)]
    getattr(kind.ledger, how)()
    assert kind.copied() == written


@pytest.mark.requirement(62, 63, 66)
def test_a_copy_that_cannot_be_written_stops_the_table_and_keeps_the_acknowledged_row(
    kind: Kind,
) -> None:
    written = [*add(kind.ledger, 2), append(kind.ledger)]
    kind.make_the_next_write_to_the_copy_fail()
    with pytest.raises(Fault) as first:
        kind.ledger.mirror()
    for asked in (lambda: append(kind.ledger), kind.ledger.mirror, kind.ledger.check_head):
        with pytest.raises(Fault, match=re.escape(str(first.value))):
            asked()
    assert kind.ledger.head == written[-1]
    kind.ledger.close()


@pytest.mark.requirement(63, 66)
def test_a_row_is_not_taken_while_the_copy_lacks_the_one_before(kind: Kind) -> None:
    written = [*add(kind.ledger, 2), append(kind.ledger)]
    kind.make_the_next_write_to_the_copy_fail()
    with pytest.raises(Fault):
        append(kind.ledger)
    assert kind.ledger.head == written[-1]


def test_the_last_row_of_a_kind_is_found_wherever_it_stands(kind: Kind) -> None:
    assert kind.ledger.last_of("snapshot_taken") is None
    add(kind.ledger, 2)
    snapshots = [append(kind.ledger, kind="snapshot_taken") for _ in range(2)]
    assert kind.ledger.last_of("snapshot_taken") == snapshots[-1]
    last = add(kind.ledger, 3)[-1]
    ledger = kind.reopen()
    assert ledger.last_of("snapshot_taken") == snapshots[-1]
    assert ledger.last_of("wager_taken") == last
    assert ledger.last_of("snapshot") is None


@pytest.mark.requirement(64, 66)
def test_a_last_row_that_changed_under_the_table_stops_it(kind: Kind) -> None:
    add(kind.ledger, 2)
    kind.ledger.check_head()
    kind.alter_the_last_row()
    with pytest.raises(Fault, match="not the one that was written"):
        kind.ledger.check_head()
    with pytest.raises(Fault, match="not the one that was written"):
        add(kind.ledger, 1)


def test_a_closed_ledger_takes_no_rows_and_can_be_closed_again(kind: Kind) -> None:
    add(kind.ledger, 1)
    kind.ledger.sync_copy()
    kind.ledger.close()
    kind.ledger.close()
    with pytest.raises(Fault, match="closed"):
        add(kind.ledger, 1)
    with pytest.raises(Fault, match="closed"):
        list(kind.ledger.rows())
