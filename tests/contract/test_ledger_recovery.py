"""A medium fails under a running table, is cured, and the same process goes on without a loss."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing, suppress
from errno import EIO
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

import pytest

from controller.adapters import ledger_repair, ledger_sqlite
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.domain.errors import Fault
from tests.contract.ledger_files import (
    COPY,
    PRIMARY,
    add,
    append,
    fill,
    photograph,
    rows_in,
    run_child,
    run_killed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.chain import Row

MEDIUM_BYTES = 4_000_000
ROWS_MAX = 10_000  # more than the medium holds


@pytest.fixture
def medium(tmp_path: Path) -> Iterator[Path]:
    """A small medium of its own, which can be filled and made read-only for real."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small medium")
    folder = tmp_path / "medium"
    folder.mkdir()
    if not mounted("-t", "tmpfs", "-o", f"size={MEDIUM_BYTES}", "tmpfs", str(folder)):
        pytest.skip("this machine lets nobody mount a small medium")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mounted(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


class Places:
    """A table with one of its two files on the small medium."""

    def __init__(self, medium: Path, other: Path, *, small: str) -> None:
        self.data, self.copy = (medium / "t", other) if small == "data" else (other, medium / "t")

    def open(self) -> SqliteLedger:
        return SqliteLedger.open(self.data, copy=self.copy, table_id="T01")

    def photograph(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        return photograph(self.data), photograph(self.copy)

    def refused(self, monkeypatch: pytest.MonkeyPatch) -> str:
        """The sentence of a start that fails at once: no row is read, and nothing is left."""
        before = self.photograph()
        with monkeypatch.context() as patched:
            patched.delattr(ledger_sqlite, "settle")  # where all rows are read
            with pytest.raises(Fault) as fault:
                self.open()
        assert self.photograph() == before
        return str(fault.value)

    def goes_on(self, written: list[Row]) -> None:
        with closing(self.open()) as ledger:
            assert list(ledger.rows())[: len(written)] == written
            add(ledger, 3)
            ledger.check_head()
        assert rows_in(self.data / PRIMARY) == rows_in(self.copy / PRIMARY)


@pytest.fixture(params=["data", "copy"])
def places(request: pytest.FixtureRequest, medium: Path, tmp_path: Path) -> Places:
    return Places(medium, tmp_path / "other", small=request.param)


def fill_up(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


def until_it_stops(ledger: SqliteLedger) -> list[Row]:
    """The rows that were acknowledged before the table stopped."""
    rows: list[Row] = []
    with suppress(Fault):
        while len(rows) < ROWS_MAX:
            rows.append(append(ledger))
            ledger.mirror()
    assert len(rows) < ROWS_MAX
    return rows


@pytest.mark.requirement(62, 66)
def test_a_full_medium_stops_the_table_until_there_is_room_again(
    places: Places, medium: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = places.open()
    written = add(ledger, 20)
    ballast = fill_up(medium)
    written += until_it_stops(ledger)
    ledger.close()
    for _ in range(3):
        assert f"{medium / 't'} cannot be written" in places.refused(monkeypatch)
    ballast.unlink()
    places.goes_on(written)


@pytest.mark.requirement(62, 66)
def test_a_read_only_medium_keeps_the_table_stopped_until_it_can_be_written(
    places: Places, medium: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(places.open()) as ledger:
        written = add(ledger, 20)
    assert mounted("-o", "remount,ro", str(medium))
    for _ in range(3):
        assert "Read-only file system" in places.refused(monkeypatch)
    assert mounted("-o", "remount,rw", str(medium))
    places.goes_on(written)


FULL_AND_CURED = """
import resource
def limited(limit_bytes):
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, most))
def fault_of(do):
    try:
        do()
    except Fault as fault:
        return str(fault)
def fill_up():
    while True:
        add(ledger, "x" * 500)
ledger = open_ledger()
limited(200_000)
said = [fault_of(fill_up)]
accepted = ledger.head.seq
ledger.close()
said += [fault_of(open_ledger) for _ in range(3)]
limited(resource.RLIM_INFINITY)
ledger = open_ledger()
add(ledger, "after the cure")
ledger.close()
print(accepted, *said, sep="\\n")
"""


@pytest.mark.requirement(62, 66)
def test_a_process_whose_files_may_not_grow_goes_on_when_they_may(tmp_path: Path) -> None:
    """The same without root: a limit of the process stands for the full medium."""
    child = run_child(FULL_AND_CURED, tmp_path)
    accepted, first, *again = child.stdout.splitlines()
    assert "could not be written" in first, child.stderr
    assert [f"{tmp_path} cannot be written (File too large)" in why for why in again] == [True] * 3
    rows = rows_in(tmp_path / PRIMARY)
    assert rows == rows_in(tmp_path / COPY)
    assert len(rows) > int(accepted) > 10
    assert rows[-1].payload == b"after the cure"


@pytest.mark.requirement(62, 63, 66)
def test_a_copy_medium_that_was_unplugged_is_found_again_and_brought_up_to_date(
    tmp_path: Path,
) -> None:
    copy, drawer = tmp_path / "mount" / "t", tmp_path / "drawer"
    ledger = SqliteLedger.open(tmp_path / "data", copy=copy, table_id="T01")
    written = add(ledger, 20)
    (tmp_path / "mount").rename(drawer)
    written.append(append(ledger))
    with pytest.raises(Fault, match="rows could not be made durable"):
        ledger.sync_copy()
    ledger.close()
    (tmp_path / "mount").write_text("nothing is mounted here, and nobody may make folders")
    for _ in range(3):
        with pytest.raises(Fault, match="check that both media are in place"):
            SqliteLedger.open(tmp_path / "data", copy=copy, table_id="T01")
    (tmp_path / "mount").unlink()
    drawer.rename(tmp_path / "mount")
    with closing(SqliteLedger.open(tmp_path / "data", copy=copy, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
    assert rows_in(copy / PRIMARY) == written


@pytest.mark.requirement(66)
def test_closing_after_a_fault_never_fails_and_lets_go_of_everything(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    written = [*add(ledger, 2), append(ledger)]
    (tmp_path / f"{COPY}-wal").unlink()
    with pytest.raises(Fault):
        ledger.sync_copy()

    def dead_medium() -> None:
        raise OSError(EIO, "Input/output error")

    ledger._held.callback(dead_medium)
    ledger.close()
    ledger.close()
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as again:
        assert list(again.rows()) == written


@pytest.mark.requirement(63, 66)
def test_a_table_shut_down_with_a_copy_that_fails_says_so_and_lets_go(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    written = [*add(ledger, 2), append(ledger)]
    (tmp_path / f"{COPY}-wal").unlink()
    with pytest.raises(Fault, match="rows could not be made durable"):
        ledger.close()
    ledger.close()
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as again:
        assert list(again.rows()) == written


@pytest.mark.requirement(65, 66)
def test_a_rebuild_that_does_not_fit_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = fill(tmp_path, 20)
    (tmp_path / COPY).unlink()
    before = photograph(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(
            ledger_repair, "disk_usage", lambda _: disk_usage(tmp_path)._replace(free=9)
        )
        patched.delattr(ledger_repair, "create")
        with pytest.raises(Fault, match="0 MiB free, and a ledger of 16 MiB has to be built there"):
            SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    assert photograph(tmp_path) == before
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written


@pytest.mark.requirement(65, 66)
def test_a_rebuild_that_fails_half_way_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = fill(tmp_path, 20)
    (tmp_path / COPY).unlink()
    before = photograph(tmp_path)

    def half(path: Path, *_: Any) -> None:
        path.write_bytes(b"half a ledger")
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(ledger_repair, "create", half)
        with pytest.raises(Fault, match="database or disk is full"):
            SqliteLedger.open(tmp_path, copy=None, table_id="T01")
    assert photograph(tmp_path) == before
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written


ACKNOWLEDGED_AND_CUT = """
ledger = open_ledger()
for number in range(20):
    add(ledger, f"row {number}")
append(ledger, "acknowledged, its lamp lit, and not yet mirrored")
kill()
"""


@pytest.mark.requirement(4, 62, 63, 65)
def test_power_lost_between_lamp_and_copy_costs_no_row(tmp_path: Path) -> None:
    run_killed(ACKNOWLEDGED_AND_CUT, tmp_path)
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert ledger.head is not None
        assert (ledger.head.seq, ledger.head.payload[:12]) == (21, b"acknowledged")
        (repair,) = ledger.repairs
    assert repair.startswith(f"{tmp_path / COPY} lacked row 21,")
    assert rows_in(tmp_path / PRIMARY) == rows_in(tmp_path / COPY)


@pytest.mark.requirement(63, 65)
def test_a_primary_lost_at_that_very_instant_costs_one_row_and_is_reported(tmp_path: Path) -> None:
    """What docs/ledger.md says: the copy is one row short, and the repair names its length."""
    run_killed(ACKNOWLEDGED_AND_CUT, tmp_path)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"{PRIMARY}{suffix}").unlink()
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert ledger.head is not None
        assert ledger.head.payload == b"row 19"
        (repair,) = ledger.repairs
    assert repair.startswith(f"{tmp_path / PRIMARY} was missing")
    assert repair.endswith("and verified, 20 rows")
