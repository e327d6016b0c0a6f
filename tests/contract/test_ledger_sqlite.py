"""The SQLite ledger at its edges: settings, locks, layouts, full disks, syncs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from controller.adapters import ledger_file
from controller.adapters.ledger_sqlite import SYNC_EVERY_MS, SqliteLedger
from controller.domain.errors import Fault
from tests.contract.ledger_files import (
    COPY,
    KILLED_AFTER_TWENTY_ROWS,
    PRIMARY,
    add,
    fill,
    forge_next_row,
    photograph,
    run_child,
    run_killed,
)

if TYPE_CHECKING:
    from pathlib import Path


class Recorder(sqlite3.Connection):
    """A connection that notes every statement, and may mishear one."""

    spoken: list[str]
    mishears: dict[str, str]

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        self.spoken.append(sql)
        return super().execute(self.mishears.get(sql, sql), *rest)


class Recorders(list[Recorder]):
    """Every connection that was opened for writing, in the order of opening."""

    def __init__(self) -> None:
        super().__init__()
        self.misheard_by: dict[Path, dict[str, str]] = {}
        self._connect = sqlite3.connect

    def connect(self, database: str, **settings: Any) -> sqlite3.Connection:
        if "?mode=rw" not in database:
            plain: sqlite3.Connection = self._connect(database, **settings)
            return plain
        db: Recorder = self._connect(database, factory=Recorder, **settings)
        db.spoken = []
        db.mishears = next(
            (said for path, said in self.misheard_by.items() if f"{path}?" in database), {}
        )
        self.append(db)
        return db


@pytest.fixture
def recorders(monkeypatch: pytest.MonkeyPatch) -> Recorders:
    made = Recorders()
    monkeypatch.setattr(sqlite3, "connect", made.connect)
    return made


class HandClock:
    def __init__(self) -> None:
        self.ms = 1_000

    def __call__(self) -> int:
        return self.ms * 1_000_000


@pytest.mark.requirement(62)
def test_both_connections_run_in_wal_with_full_sync(tmp_path: Path, recorders: Recorders) -> None:
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")):
        for db in recorders[-2:]:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert db.execute("PRAGMA synchronous").fetchone() == (2,)
            assert db.execute("PRAGMA wal_autocheckpoint").fetchone() == (1000,)


@pytest.mark.requirement(66)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
@pytest.mark.parametrize(
    ("asked", "heard"),
    [
        ("PRAGMA journal_mode=WAL", "PRAGMA journal_mode=DELETE"),
        ("PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL"),
        ("PRAGMA wal_autocheckpoint=1000", "PRAGMA wal_autocheckpoint=0"),
    ],
)
def test_a_setting_that_sqlite_does_not_take_stops_the_start(
    tmp_path: Path, recorders: Recorders, side: str, asked: str, heard: str
) -> None:
    fill(tmp_path, 3)
    recorders.misheard_by[tmp_path / side] = {asked: heard}
    setting = asked.removeprefix("PRAGMA ").replace("=", " to ")
    with pytest.raises(Fault, match=f"SQLite did not set {setting} for {tmp_path / side}"):
        SqliteLedger.open(tmp_path, copy=None, table_id="T01")


@pytest.mark.requirement(62, 63)
def test_the_copy_is_synced_at_once_when_steps_are_far_apart(
    tmp_path: Path, recorders: Recorders
) -> None:
    clock = HandClock()
    with closing(
        SqliteLedger.open(tmp_path, copy=None, table_id="T01", monotonic_ns=clock)
    ) as ledger:
        copy = recorders[-1]
        for _ in range(3):
            add(ledger, 1)
            clock.ms += SYNC_EVERY_MS
        assert "PRAGMA synchronous=NORMAL" not in copy.spoken


@pytest.mark.requirement(62, 63)
def test_in_a_burst_the_copy_is_synced_every_fifty_milliseconds(
    tmp_path: Path, recorders: Recorders
) -> None:
    clock = HandClock()
    with closing(
        SqliteLedger.open(tmp_path, copy=None, table_id="T01", monotonic_ns=clock)
    ) as ledger:
        copy = recorders[-1]
        copy.spoken.clear()
        for _ in range(7):  # at 0, 20, 40 | 60, 80, 100 | 120 ms
            add(ledger, 1)
            clock.ms += 20
        levels = [said[19:] for said in copy.spoken if said.startswith("PRAGMA synchronous=")]
        assert levels == ["NORMAL", "FULL", "NORMAL", "FULL"]
        primary = recorders[-2]
        assert "PRAGMA synchronous=NORMAL" not in primary.spoken


@pytest.mark.requirement(62, 63)
def test_an_idle_table_syncs_the_log_of_the_copy_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    with closing(
        SqliteLedger.open(tmp_path, copy=None, table_id="T01", monotonic_ns=HandClock())
    ) as ledger:
        add(ledger, 1)
        monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_ino))
        ledger.sync_copy()
        assert synced == []  # the first commit was at FULL
        add(ledger, 2)
        ledger.sync_copy()
        ledger.sync_copy()
        assert synced == [(tmp_path / f"{COPY}-wal").stat().st_ino]


@pytest.mark.requirement(62)
def test_rows_left_in_the_logs_by_a_killed_process_are_durable_before_play_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_killed(KILLED_AFTER_TWENTY_ROWS, tmp_path)
    logs = {(tmp_path / f"{side}-wal").stat().st_ino for side in (PRIMARY, COPY)}
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.add(os.fstat(fd).st_ino))
    SqliteLedger.open(tmp_path, copy=None, table_id="T01").close()
    assert logs <= synced


@pytest.mark.requirement(66)
def test_a_copy_that_does_not_take_its_sync_level_stops_the_table(
    tmp_path: Path, recorders: Recorders
) -> None:
    with closing(
        SqliteLedger.open(tmp_path, copy=None, table_id="T01", monotonic_ns=HandClock())
    ) as ledger:
        add(ledger, 1)
        recorders[-1].mishears = {"PRAGMA synchronous=NORMAL": "PRAGMA synchronous=OFF"}
        for _ in range(2):
            with pytest.raises(Fault, match="synchronous=NORMAL could not be set"):
                add(ledger, 1)
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert ledger.repairs[0].startswith(f"{tmp_path / COPY} lacked row 2")


@pytest.mark.requirement(66)
def test_a_sync_that_fails_stops_the_table(tmp_path: Path) -> None:
    with closing(
        SqliteLedger.open(tmp_path, copy=None, table_id="T01", monotonic_ns=HandClock())
    ) as ledger:
        add(ledger, 2)
        (tmp_path / f"{COPY}-wal").unlink()
        with pytest.raises(Fault, match="rows could not be made durable"):
            ledger.sync_copy()
        with pytest.raises(Fault, match="rows could not be made durable"):
            add(ledger, 1)


@pytest.mark.requirement(66)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_a_failed_write_on_either_side_names_the_file_and_what_to_do(
    tmp_path: Path, side: str
) -> None:
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        add(ledger, 3)
        forge_next_row(tmp_path / side)
        with pytest.raises(Fault) as fault:
            add(ledger, 1)
    assert str(fault.value).startswith(f"{tmp_path / side}: row 4 could not be written")
    assert "check that the medium is in place, writable and not full" in str(fault.value)


FILLS_THE_DISK = """
import resource
ledger = open_ledger()
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
said = []
while len(said) < 3:
    try:
        add(ledger, "x" * 500)
    except Fault as fault:
        said.append(str(fault))
print(ledger.head.seq, *said, sep="\\n")
"""


@pytest.mark.requirement(62, 66)
def test_a_full_disk_stops_the_table_and_loses_no_row_that_was_accepted(tmp_path: Path) -> None:
    child = run_child(FILLS_THE_DISK, tmp_path)
    accepted, *said = child.stdout.splitlines()
    assert len(set(said)) == 1, child.stderr
    assert f"row {int(accepted) + 1} could not be written" in said[0]
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert ledger.head is not None
        assert ledger.head.seq >= int(accepted) > 10


@pytest.mark.requirement(91)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE row SET payload = '?' WHERE seq = 2",
        "DELETE FROM row WHERE seq = 3",
        "INSERT INTO row SELECT 5, boot, time, kind, version, payload, hash, hash FROM row"
        " WHERE seq = 3",
        "INSERT INTO row SELECT 4, boot, time, kind, version, payload, previous, hash FROM row"
        " WHERE seq = 3",
        "INSERT OR REPLACE INTO row SELECT 2, boot, time, kind, version, '{}', previous, hash"
        " FROM row WHERE seq = 2",
        "UPDATE identity SET table_id = 'T02'",
        "DELETE FROM identity",
    ],
)
def test_the_file_itself_refuses_everything_but_the_next_row(
    tmp_path: Path, statement: str
) -> None:
    fill(tmp_path, 3)
    with (
        closing(sqlite3.connect(tmp_path / PRIMARY, isolation_level=None)) as db,
        pytest.raises(sqlite3.IntegrityError, match=r"append-only|does not follow"),
    ):
        db.execute(statement)
    forge_next_row(tmp_path / PRIMARY)


def test_a_second_process_on_the_same_files_is_refused(tmp_path: Path) -> None:
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        child = run_child("open_ledger()", tmp_path)
        assert child.returncode == 1
        assert f"another Feltlink process uses {tmp_path}" in child.stderr
        add(ledger, 1)
    assert run_child("open_ledger().close()", tmp_path).returncode == 0


def test_two_tables_cannot_share_a_copy_folder_nor_a_table_copy_onto_itself(
    tmp_path: Path,
) -> None:
    one, two, shared = tmp_path / "one", tmp_path / "two", tmp_path / "shared"
    with (
        closing(SqliteLedger.open(one, copy=shared, table_id="T01")),
        pytest.raises(Fault, match=f"another Feltlink process uses {shared}"),
    ):
        SqliteLedger.open(two, copy=shared, table_id="T02")
    with pytest.raises(Fault, match="name another folder"):
        SqliteLedger.open(one, copy=one, table_id="T01")


@pytest.mark.requirement(63, 66)
def test_a_copy_medium_that_is_not_there_stops_the_table(tmp_path: Path) -> None:
    fill(tmp_path / "data", 3)
    (tmp_path / "mount").write_text("a file where the folder should be")
    with pytest.raises(Fault, match="check that both media are in place"):
        SqliteLedger.open(tmp_path / "data", copy=tmp_path / "mount" / "copy", table_id="T01")


def add_a_layout(db: sqlite3.Connection) -> None:
    db.execute("CREATE INDEX row_by_kind ON row (kind)")


@pytest.mark.parametrize("newer", [(COPY,), (PRIMARY,), (PRIMARY, COPY)])
def test_a_file_of_a_newer_feltlink_is_refused_and_left_alone(
    tmp_path: Path, newer: tuple[str, ...]
) -> None:
    fill(tmp_path, 3)
    for side in newer:
        with closing(sqlite3.connect(tmp_path / side)) as db:
            add_a_layout(db)
            db.execute("PRAGMA user_version=99")
    before = photograph(tmp_path)
    with pytest.raises(Fault, match="has layout 99, but this Feltlink knows layouts up to 1"):
        SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    assert photograph(tmp_path) == before


def test_the_tables_of_layout_1_are_letter_for_letter_those_in_the_casinos() -> None:
    """Files are compared with them: a blank more here, and every ledger counts as damaged."""
    text = repr(sorted(next(ledger_file.known_schemas()).items()))
    digest = "e6d5e1c0b778b89ddb0875577310ff465b1c281ced013106169e98d7f3b5acca"
    assert sha256(text.encode()).hexdigest() == digest


def test_files_of_an_older_layout_are_brought_up_to_date_with_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = fill(tmp_path, 3)
    monkeypatch.setattr(ledger_file, "MIGRATIONS", (*ledger_file.MIGRATIONS, add_a_layout))
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
        add(ledger, 1)
    for side in (PRIMARY, COPY):
        with closing(sqlite3.connect(tmp_path / side)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (2,)
            assert db.execute("SELECT count(*) FROM row INDEXED BY row_by_kind").fetchone() == (4,)


def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, 3)
    before = photograph(tmp_path)

    def half(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE started (a TEXT) STRICT")
        db.execute("CREATE TABLE started (a TEXT) STRICT")

    monkeypatch.setattr(ledger_file, "MIGRATIONS", (*ledger_file.MIGRATIONS, half))
    with pytest.raises(Fault, match="cannot be opened"):
        SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    assert photograph(tmp_path) == before
