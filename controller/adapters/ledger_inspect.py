"""Reading ledger files without changing a byte: verdicts for repair and auditors, rows for export.

It may not write: not a row, not a WAL, not even SQLite's own index file, unless a table is running
and has that index open anyway.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from errno import EIO
from itertools import islice
from os import truncate
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal

from controller.adapters.ledger_file import (
    FAILURES,
    FILE_NAME,
    LAST,
    SELECT,
    Identity,
    companion,
    identity_of,
    known_schemas,
    layout_of,
    reading_beside,
    refuse_newer,
    rows_after,
    said_by,
    schema_in,
    to_row,
)
from controller.chain import GENESIS, Row, flaw
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

State = Literal["good", "damaged", "missing"]

_BEFORE: Final = SELECT + "WHERE seq < ? AND seq > ? ORDER BY seq DESC LIMIT 1"
_SEQ_MAX: Final = 2**63 - 1
# Whether a file holds nothing but the first rows of a proven one, value by value. That the values
# have the right types, which IS does not ask, is part of SQLite's own check of a STRICT table.
_REPEATS: Final = """
SELECT count(*) = coalesce(max(seq), 0) AND coalesce(min(seq), 1) = 1 AND NOT EXISTS (
    SELECT 1 FROM main.row AS ours LEFT JOIN proven.row AS theirs ON theirs.seq = ours.seq
    WHERE (ours.boot, ours.time, ours.kind, ours.version, ours.payload, ours.previous, ours.hash)
        IS NOT (theirs.boot, theirs.time, theirs.kind, theirs.version, theirs.payload,
            theirs.previous, theirs.hash)
) FROM main.row"""
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
    with _failures_of(path), reading_beside(path.parent) as live:
        yield from readable_rows(path, live=live)


def readable_rows(path: Path, *, live: bool, after_seq: int = 0) -> Generator[Row, None, None]:
    with closing(connect_to_read(path, live=live)) as db:
        seq = after_seq
        try:
            for row in rows_after(db, seq):
                yield row
                seq = row.seq
        except FAILURES:
            yield from _rows_beyond(db, seq)


def judge_both(primary: Path, copy: Path) -> tuple[Judged, Judged]:
    """Judge the files of a table that is not running; the caller holds the locks.

    Rows of the copy that are equal to proven rows of the primary are proven with them: hashing
    them again would show nothing new. SQLite compares them by itself, so while this thread hashes
    the primary, another core, if there is one, does that in the meantime.
    """
    with ThreadPoolExecutor(max_workers=1) as meanwhile:
        compared = meanwhile.submit(judge, copy, live=False, proven=primary)
        one = judge(primary, live=False)
        other = compared.result()
    if one.report.state != "good":  # what the copy was compared with is not proven
        other = judge(copy, live=False)
    return one, other


def judge(path: Path, *, live: bool, proven: Path | None = None) -> Judged:
    """Walk the whole chain, then let SQLite check its pages."""
    if not path.exists():
        return _without_file(path)
    try:
        if path.is_file() and not _is_wal(path):
            return _damaged(path, None, "its header is not that of a ledger")
        with closing(connect_to_read(path, live=live)) as db:
            repeats = proven is not None and _repeats(db, proven)
            db.execute("BEGIN")  # one snapshot for all the questions below
            return _judge_open(path, db, repeats=repeats)
    except FAILURES as error:
        return _damaged(path, None, said_by(error))
    except OSError as error:
        if error.errno != EIO:  # a worn sector is damage; a right that lacks, or no room, is not
            raise
        return _damaged(path, None, said_by(error))


def _is_wal(path: Path) -> bool:
    """Bytes 18 and 19 of the header say 2 for WAL; anything else could be read but not written."""
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def connect_to_read(path: Path, *, live: bool) -> sqlite3.Connection:
    """A connection that cannot write. With live=False the caller holds the folder's lock."""
    uri = _uri_to_read(path, live=live)
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    if not live:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
    return db


def _uri_to_read(path: Path, *, live: bool) -> str:
    """How SQLite is told to leave no trace; without mode=ro it would even create a missing file.

    Beside a running table its own locks keep the view whole. Otherwise a file without WAL is read
    as immutable; one with a WAL, as a power cut leaves it, is read with the WAL's index in memory
    (locking_mode=EXCLUSIVE), on the VFS that takes no locks because a read-only descriptor cannot
    take an exclusive one.
    """
    how = "" if live else "&vfs=unix-none" if _wal_frames(path) > 0 else "&immutable=1"
    return f"{path.absolute().as_uri()}?mode=ro{how}"


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
    except (OSError, *FAILURES) as error:
        raise Fault(
            f"{path} cannot be read ({said_by(error)}): check that the medium is in place and that"
            " you may read it"
        ) from error


def _inspect_side(folder: Path) -> SideReport:
    with _failures_of(folder), reading_beside(folder) as live:
        return judge(folder / FILE_NAME, live=live).report


def _repeats(db: sqlite3.Connection, proven: Path) -> bool:
    """Whether all rows are those of the proven file; if not, they have to be walked one by one."""
    try:
        db.execute("ATTACH ? AS proven", (_uri_to_read(proven, live=False),))
        (repeats,) = db.execute(_REPEATS).fetchone()
        db.execute("DETACH proven")
    except FAILURES:
        return False
    return bool(repeats)


def _judge_open(path: Path, db: sqlite3.Connection, *, repeats: bool) -> Judged:
    identity = _identity(db)
    if repeats:
        last, why = _last(db), ""
    else:
        last, why = _walk(db)
    if why:
        return _damaged(path, last, why, identity)
    try:
        why = _beside_the_chain(path, db, identity)
    except FAILURES as error:
        why = said_by(error)
    state: State = "damaged" if why else "good"
    return Judged(_report(path, state, last, None, why, identity), last, identity)


def _last(db: sqlite3.Connection) -> Row | None:
    values = db.execute(LAST).fetchone()
    return None if values is None else to_row(values)


def _walk(db: sqlite3.Connection) -> tuple[Row | None, str]:
    """The last row that verifies from row 1 on, and what is wrong with the next one."""
    last: Row | None = None
    try:
        for row in rows_after(db, 0):
            why = flaw(row, after=last)
            if why is not None:
                return last, why
            last = row
    except FAILURES as error:
        return last, f"it cannot be read: {said_by(error)}"
    return last, ""


def _beside_the_chain(path: Path, db: sqlite3.Connection, identity: Identity | None) -> str:
    """What the rows do not show: stray rows, missing guards, broken pages. Empty if all is well."""
    if identity is None:
        return "it does not say which table it is for"
    verdict = _quick_check(db)
    if verdict != "ok":
        return f"SQLite finds {verdict}"
    (stray,) = db.execute("SELECT count(*) FROM row WHERE seq < 1").fetchone()
    if stray:
        return "a row stands before row 1"
    return _layout_flaw(path, db)


def _layout_flaw(path: Path, db: sqlite3.Connection) -> str:
    """Whether the tables are what the layout number promises; Fault if only a newer one knows.

    A newer Feltlink adds tables or columns with each layout. A number beyond what we know above
    tables that we do know is therefore no newer file, but a damaged number.
    """
    layout, found = layout_of(db), schema_in(db)
    if found not in known_schemas():
        refuse_newer(layout, path)
    wanted = next(islice(known_schemas(), layout - 1, None), None) if layout > 0 else None
    if wanted is None:
        return f"its layout number {layout} does not fit its tables"
    if not wanted.keys() <= found.keys():
        return "the triggers that keep it append-only are missing"
    altered = [name for name, made in wanted.items() if found[name] != made]
    return f"its definition of {altered[0]} was altered" if altered else ""


def _quick_check(db: sqlite3.Connection) -> str:
    try:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except FAILURES as error:
        return said_by(error)
    return str(verdict)


def _identity(db: sqlite3.Connection) -> Identity | None:
    try:
        return identity_of(db)
    except (*FAILURES, TypeError):  # no such table, or nothing in it
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
    with suppress(*FAILURES):  # reaching the damage from the other side ends the walk
        while values := db.execute(_BEFORE, (before, seq)).fetchone():
            if not seq < values[0] < before:
                break
            found.append(to_row(values))
            before = values[0]
    return found[::-1]
