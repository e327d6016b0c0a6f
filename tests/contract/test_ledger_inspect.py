"""Auditors: verifying and exporting ledger files, running or damaged, without leaving a trace."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from controller.adapters import ledger_inspect
from controller.adapters.ledger_inspect import judge_both
from controller.adapters.ledger_sqlite import SqliteLedger, inspect, read_rows
from controller.chain import Row, flaw
from controller.domain.errors import Fault
from tests.contract.ledger_files import (
    COPY,
    KILLED_AFTER_TWENTY_ROWS,
    PRIMARY,
    add,
    fill,
    photograph,
    run_killed,
    tamper,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.requirement(64)
def test_an_auditor_can_verify_and_export_while_the_table_plays(tmp_path: Path) -> None:
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        written = add(ledger, 300)
        before = photograph(tmp_path)
        primary, copy = inspect(tmp_path, None)
        exported = read_rows(tmp_path / PRIMARY)
        first = next(exported)
        after = photograph(tmp_path)
        add(ledger, 5)
        assert [first, *exported][:300] == written
    assert (primary.state, primary.rows, primary.head) == ("good", 300, written[-1].hash)
    assert (copy.state, copy.rows, copy.first_bad) == ("good", 300, None)
    assert {n: c for n, c in before.items() if not n.endswith("-shm")} == {
        n: c for n, c in after.items() if not n.endswith("-shm")
    }


@pytest.mark.requirement(65)
@pytest.mark.parametrize("log_damaged", [False, True])
def test_an_auditor_leaves_no_trace_on_files_that_a_power_cut_left(
    tmp_path: Path, log_damaged: bool
) -> None:
    run_killed(KILLED_AFTER_TWENTY_ROWS, tmp_path)
    if log_damaged:  # SQLite then sees no log at all, and would delete it
        wal = tmp_path / f"{PRIMARY}-wal"
        wal.write_bytes(bytes(32) + wal.read_bytes()[32:])
    before = photograph(tmp_path)
    primary, copy = inspect(tmp_path, None)
    rows = list(read_rows(tmp_path / PRIMARY))
    assert photograph(tmp_path) == before
    assert (copy.state, copy.rows) == ("good", 20)
    assert primary.rows == len(rows) == (0 if log_damaged else 20)


@pytest.mark.requirement(65)
def test_an_export_of_a_damaged_file_yields_the_rows_on_both_sides_of_the_damage(
    tmp_path: Path,
) -> None:
    written = fill(tmp_path)
    path = tmp_path / PRIMARY
    content = bytearray(path.read_bytes())
    page = content.index(b"content of row 0100 ") // 4096 * 4096
    content[page : page + 4096] = bytes(4096)
    path.write_bytes(content)
    report, _ = inspect(tmp_path, None)
    exported = [row.seq for row in read_rows(path)]
    lost = sorted({row.seq for row in written} - set(exported))
    assert report.state == "damaged"
    assert report.first_bad == lost[0]
    assert lost == list(range(lost[0], lost[-1] + 1))
    assert 100 in lost
    assert exported == [row.seq for row in written if row.seq not in lost]
    assert exported[-1] == 200


def test_an_auditor_is_told_of_a_missing_file_and_of_a_missing_folder(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    (tmp_path / COPY).unlink()
    assert [side.state for side in inspect(tmp_path, None)] == ["good", "missing"]
    assert [side.state for side in inspect(tmp_path / "x", None)] == ["missing", "missing"]
    with pytest.raises(Fault, match="there is no ledger at"):
        next(read_rows(tmp_path / COPY))
    (tmp_path / "copy" / "lock").unlink()
    (tmp_path / "copy" / "lock").symlink_to("lock")  # stands for a medium that fails to read
    with pytest.raises(Fault, match="cannot be read"):
        inspect(tmp_path, None)


@pytest.mark.requirement(64)
def test_an_auditor_is_told_the_first_bad_row_and_how_far_the_ledger_is_good(
    tmp_path: Path,
) -> None:
    written = fill(tmp_path, 10)
    tamper(tmp_path / COPY, "UPDATE row SET time = 'never' WHERE seq = 6")
    _, copy = inspect(tmp_path, None)
    assert (copy.state, copy.rows, copy.head) == ("damaged", 5, written[4].hash)
    assert (copy.first_bad, copy.why) == (6, "its content does not match its hash")


def test_a_table_does_not_start_under_an_export_that_reads_its_files(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    with closing(read_rows(tmp_path / PRIMARY)) as exported:
        next(exported)
        with pytest.raises(Fault, match="let a running verify or export end"):
            SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    SqliteLedger.open(tmp_path, copy=None, table_id="T01").close()


def test_a_foreign_file_is_damage_and_yields_no_rows(tmp_path: Path) -> None:
    (tmp_path / PRIMARY).write_text("not a ledger " * 1000)
    report, _ = inspect(tmp_path, None)
    assert (report.state, report.first_bad) == ("damaged", 1)
    assert list(read_rows(tmp_path / PRIMARY)) == []


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of every row whose hash is computed while files are judged."""
    numbers: list[int] = []

    def noting(row: Row, *, after: Row | None) -> str | None:
        numbers.append(row.seq)
        return flaw(row, after=after)

    monkeypatch.setattr(ledger_inspect, "flaw", noting)
    return numbers


@pytest.mark.requirement(63, 64)
@pytest.mark.parametrize("how", ["shut down", "killed", "one row short"])
def test_a_copy_that_repeats_the_primary_is_proven_without_hashing_its_rows_again(
    tmp_path: Path, hashed: list[int], how: str
) -> None:
    if how == "killed":
        run_killed(KILLED_AFTER_TWENTY_ROWS, tmp_path)
    else:
        fill(tmp_path, 19)
        behind = (tmp_path / COPY).read_bytes()
        fill(tmp_path, 1)
        if how == "one row short":
            (tmp_path / COPY).write_bytes(behind)
    before = photograph(tmp_path)
    hashed.clear()
    primary, copy = judge_both(tmp_path / PRIMARY, tmp_path / COPY)
    assert hashed == list(range(1, 21))
    assert (primary.report.state, primary.report.rows) == ("good", 20)
    assert (copy.report.state, copy.report.rows) == ("good", 19 if how == "one row short" else 20)
    assert photograph(tmp_path) == before


@pytest.mark.requirement(63, 64)
def test_a_copy_that_repeats_a_damaged_primary_is_judged_on_its_own(
    tmp_path: Path, hashed: list[int]
) -> None:
    fill(tmp_path, 10)
    tamper(tmp_path / PRIMARY, "SELECT 1")
    judged = judge_both(tmp_path / PRIMARY, tmp_path / COPY)
    assert [side.report.state for side in judged] == ["damaged", "good"]
    assert hashed == [*range(1, 11), *range(1, 11)]


@pytest.mark.requirement(64, 65)
def test_two_files_with_the_same_wrong_row_do_not_prove_each_other(tmp_path: Path) -> None:
    fill(tmp_path, 10)
    for side in (PRIMARY, COPY):
        tamper(tmp_path / side, "UPDATE row SET payload = '?' WHERE seq = 6")
    judged = judge_both(tmp_path / PRIMARY, tmp_path / COPY)
    assert [(side.report.state, side.report.first_bad) for side in judged] == [("damaged", 6)] * 2


@pytest.mark.requirement(63, 64)
@pytest.mark.parametrize(
    "change",
    [
        "boot = boot + 1",
        "time = time || ' '",
        "kind = upper(kind)",
        "version = 2",
        "payload = payload || ' '",
        "previous = lower(hex(zeroblob(32)))",
        "hash = upper(hash)",
    ],
)
def test_a_copy_that_differs_in_any_value_of_a_row_is_found_at_that_row(
    tmp_path: Path, change: str
) -> None:
    fill(tmp_path, 10)
    tamper(tmp_path / COPY, f"UPDATE row SET {change} WHERE seq = 6")
    primary, copy = judge_both(tmp_path / PRIMARY, tmp_path / COPY)
    assert primary.report.state == "good"
    assert (copy.report.state, copy.report.rows, copy.report.first_bad) == ("damaged", 5, 6)


@pytest.mark.requirement(64)
def test_a_number_stored_as_another_type_is_damage_although_it_compares_as_equal(
    tmp_path: Path,
) -> None:
    fill(tmp_path, 3)
    defined = "UPDATE sqlite_schema SET sql = replace(sql, 'boot {}', 'boot {}') WHERE name = 'row'"
    with closing(sqlite3.connect(tmp_path / COPY, isolation_level=None)) as db:
        before = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    loose = defined.format("INTEGER NOT NULL", "ANY NOT NULL")
    strict = defined.format("ANY NOT NULL", "INTEGER NOT NULL")
    tamper(tmp_path / COPY, "PRAGMA writable_schema=ON", loose)
    tamper(
        tmp_path / COPY,
        "UPDATE row SET boot = 1.0 WHERE seq = 2",
        "PRAGMA writable_schema=ON",
        strict,
    )
    tamper(tmp_path / COPY, *(sql for (sql,) in before))
    _, copy = judge_both(tmp_path / PRIMARY, tmp_path / COPY)
    assert (copy.report.state, copy.report.why) == (
        "damaged",
        "SQLite finds non-INTEGER value in row.boot",
    )
