"""Reading ledger files without changing a byte: verdicts for repair and auditors, rows for export.

It may not write: not a row, not a WAL, not even SQLite's own index file, unless a table is running
and has that index open anyway.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from os import truncate
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal

from controller.adapters.ledger_file import (
    FILE_NAME,
    MIGRATIONS,
    SELECT,
    TRIGGERS,
    Identity,
    companion,
    identity_of,
    layout_of,
    reading_beside,
    refuse_newer,
    rows_after,
    to_row,
)
from controller.chain import GENESIS, Row, flaw
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

State = Literal["good", "damaged", "missing"]

_BEFORE: Final = SELECT + "WHERE seq < ? AND seq > ? ORDER BY seq DESC LIMIT 1"
_SEQ_MAX: Final = 2**63 - 1
_BUSY_S: Final = 5.0
_PAGE_MAX_BYTES: Final = 65_536  # the largest page SQLite knows; the first page is the file header


@dataclass(frozen=True)
class SideReport:
    """What one ledger file is worth. `rows` and `head` count only what verifies from row 1 on."""

    path: Path
    state: State
    rows: int
    head: str
    first_bad: int | None
    why: str
    ledger: str = ""  # which table's which ledger it says it is


@dataclass(frozen=True, slots=True)
class Judged:
    """A report with what repair needs besides."""

    report: SideReport
    last: Row | None = None
    identity: Identity | None = None


def inspect(data: Path, copy: Path | None) -> tuple[SideReport, SideReport]:
    """Judge both files; safe beside a running table."""
    return _inspect_side(data), _inspect_side(copy or data / "copy")


def read_rows(path: Path) -> Generator[Row, None, None]:
    """Every row that can be read, good or not, in order; around a damaged stretch, both ends."""
    if not path.is_file():
        raise Fault(f"there is no ledger at {path}: name the folder that holds {FILE_NAME}")
    with (
        _failures_of(path),
        reading_beside(path.parent) as live,
        closing(connect_to_read(path, live=live)) as db,
    ):
        seq = 0
        try:
            for row in rows_after(db, 0):
                yield row
                seq = row.seq
        except sqlite3.Error:
            yield from _rows_beyond(db, seq)


def judge(path: Path, *, live: bool) -> Judged:
    """Walk the whole chain, then let SQLite check its pages."""
    if not path.exists():
        return _without_file(path)
    if path.is_file() and not _is_wal(path):
        return _damaged(path, None, "its header is not that of a ledger")
    try:
        with closing(connect_to_read(path, live=live)) as db:
            db.execute("BEGIN")  # one snapshot for all the questions below
            return _judge_open(path, db)
    except sqlite3.Error as error:
        return _damaged(path, None, str(error))


def _is_wal(path: Path) -> bool:
    """Bytes 18 and 19 of the header say 2 for WAL; anything else could be read but not written."""
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def connect_to_read(path: Path, *, live: bool) -> sqlite3.Connection:
    """A connection that cannot write. With live=False the caller holds the folder's lock.

    Beside a running table SQLite's own locks keep the view whole. Otherwise nothing may be left
    behind: a file without WAL is read as immutable; one with a WAL, as a power cut leaves it, is
    read with the WAL's index in memory (locking_mode=EXCLUSIVE), on the VFS that takes no locks
    because a read-only descriptor cannot take an exclusive one.
    """
    quiet_wal = not live and _wal_frames(path) > 0
    how = "mode=ro" if live else "mode=ro&vfs=unix-none" if quiet_wal else "immutable=1"
    uri = f"{path.absolute().as_uri()}?{how}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    if quiet_wal:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
    return db


def _wal_frames(path: Path) -> int:
    """How many pages the WAL holds, by SQLite's own count, made on a scratch copy of it.

    A WAL in which SQLite finds none, perhaps because it is damaged, must not be opened in place:
    SQLite deletes it when it closes the file, and with it what an expert might still read.
    """
    wal = companion(path, "-wal")
    if not wal.is_file() or not path.is_file():
        return 0
    with TemporaryDirectory(prefix="feltlink-wal-") as scratch:
        probe = Path(scratch) / path.name
        with path.open("rb") as file:
            probe.write_bytes(file.read(_PAGE_MAX_BYTES))
        truncate(probe, path.stat().st_size)  # of the true size, or SQLite finds the probe damaged
        copyfile(wal, companion(probe, "-wal"))
        with closing(sqlite3.connect(probe, isolation_level=None)) as db:
            _, frames, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return int(frames)


@contextmanager
def _failures_of(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise Fault(
            f"{path} cannot be read ({error}): check that the medium is in place and that you may"
            " read it"
        ) from error


def _inspect_side(folder: Path) -> SideReport:
    with _failures_of(folder), reading_beside(folder) as live:
        return judge(folder / FILE_NAME, live=live).report


def _judge_open(path: Path, db: sqlite3.Connection) -> Judged:
    last: Row | None = None
    try:
        for row in rows_after(db, 0):
            why = flaw(row, after=last)
            if why is not None:
                return _damaged(path, last, why, _identity(db))
            last = row
    except sqlite3.Error as error:
        return _damaged(path, last, f"it cannot be read: {error}", _identity(db))
    refuse_newer(layout_of(db), path)
    identity = _identity(db)
    why = _beside_the_chain(db, identity)
    state: State = "damaged" if why else "good"
    return Judged(_report(path, state, last, None, why, identity), last, identity)


def _beside_the_chain(db: sqlite3.Connection, identity: Identity | None) -> str:
    """What the rows do not show: stray rows, missing guards, broken pages. Empty if all is well."""
    if identity is None:
        return "it does not say which table it is for"
    verdict = _quick_check(db)
    if verdict != "ok":
        return f"SQLite finds {verdict}"
    (stray,) = db.execute("SELECT count(*) FROM row WHERE seq < 1").fetchone()
    if stray:
        return "a row stands before row 1"
    named = db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    guarded = {name for (name,) in named} >= TRIGGERS or layout_of(db) < len(MIGRATIONS)
    return "" if guarded else "the triggers that keep it append-only are missing"


def _quick_check(db: sqlite3.Connection) -> str:
    try:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return str(verdict)


def _identity(db: sqlite3.Connection) -> Identity | None:
    try:
        return identity_of(db)
    except (sqlite3.Error, TypeError):  # no such table, or nothing in it
        return None


def _without_file(path: Path) -> Judged:
    wal = companion(path, "-wal")
    if wal.exists() and wal.stat().st_size > 0:
        return _damaged(path, None, f"the file is gone but {wal.name} is still there")
    return Judged(_report(path, "missing", None, None, "there is no such file"))


def _damaged(path: Path, last: Row | None, why: str, identity: Identity | None = None) -> Judged:
    bad = 1 if last is None else last.seq + 1
    return Judged(_report(path, "damaged", last, bad, why), last, identity)


def _report(
    path: Path,
    state: State,
    last: Row | None,
    bad: int | None,
    why: str,
    identity: Identity | None = None,
) -> SideReport:
    rows, head = (0, GENESIS) if last is None else (last.seq, last.hash)
    ledger = f"{identity.table_id} {identity.ledger_id}" if identity else ""
    return SideReport(path, state, rows, head, bad, why, ledger)


def _rows_beyond(db: sqlite3.Connection, seq: int) -> list[Row]:
    """Rows after the damage that follows row `seq`, found by walking back from the end."""
    found: list[Row] = []
    before = _SEQ_MAX
    with suppress(sqlite3.Error):  # reaching the damage from the other side ends the walk
        while values := db.execute(_BEFORE, (before, seq)).fetchone():
            if not seq < values[0] < before:
                break
            found.append(to_row(values))
            before = values[0]
    return found[::-1]
