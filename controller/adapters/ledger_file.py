"""One ledger file: its layout, its folder's lock, and how it is opened, created and read.

It may not judge a file or choose between two: that is ledger_inspect and ledger_repair.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from controller.chain import Row
from controller.domain.errors import Fault, Taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FILE_NAME: Final = "ledger.sqlite"
LOCK_NAME: Final = "lock"
PROBE_NAME: Final = "ledger.probe"
COMPANIONS: Final = ("", "-wal", "-shm")  # SQLite's own file set: the file, its log, its index

INSERT: Final = (
    "INSERT INTO row (seq, boot, time, kind, version, payload, previous, hash)"
    " VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?)"
)
# The payload is text in the file, for people and SQL's JSON functions, and bytes to us: the casts
# change none of it.
SELECT: Final = (
    "SELECT seq, boot, time, kind, version, CAST(payload AS BLOB), previous, hash FROM row "
)
LAST: Final = SELECT + "ORDER BY seq DESC LIMIT 1"
# Walks back from the end and stops at the first that fits. A kind that never occurs costs one look
# at every row, without its payload: a tenth of a second in a ledger of 100,000 rounds.
LAST_OF: Final = SELECT + "WHERE kind = ? ORDER BY seq DESC LIMIT 1"
_AFTER: Final = SELECT + "WHERE seq > ? ORDER BY seq LIMIT ?"

_PAGE_ROWS: Final = 256
_BATCH_ROWS: Final = 5_000
_BUSY_S: Final = 1.0  # we are the only writer; a stranger's lock longer than this is a fault
_PROBE_BYTES: Final = 1_048_576  # room for the rows of some dozen rounds
_FIELDS: Final = (int, int, str, str, int, bytes, str, str)

row_values: Final = attrgetter(
    "seq", "boot", "time", "kind", "version", "payload", "previous", "hash"
)

# What SQLite raises on a bad file or medium. Python fails to decode a message that quotes a damaged
# name, and raises that instead.
FAILURES: Final = (sqlite3.Error, UnicodeDecodeError)

# Set, read back and compared on every writing connection: durability rests on them.
SETTINGS: Final = (
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", 2),
    ("wal_autocheckpoint", "1000", 1000),
)

# Not a letter of these may change, not even a blank: files are compared with them.
_LAYOUT_1: Final = (
    """CREATE TABLE identity (
        only INTEGER PRIMARY KEY CHECK (only = 1), table_id TEXT NOT NULL, ledger_id TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE row (
        seq INTEGER PRIMARY KEY, boot INTEGER NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL,
        version INTEGER NOT NULL, payload TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL
    ) STRICT""",
    # One look at the end of the table; the rest is only evaluated for the very first row.
    # hex(zeroblob(32)) is GENESIS.
    """CREATE TRIGGER row_follows BEFORE INSERT ON row
    WHEN (NEW.seq - 1, NEW.previous)
        IS NOT (SELECT seq, hash FROM row ORDER BY seq DESC LIMIT 1)
        AND NOT (NEW.seq = 1 AND NEW.previous = hex(zeroblob(32))
            AND NOT EXISTS (SELECT 1 FROM row))
    BEGIN SELECT RAISE(ABORT, 'the row does not follow the last one'); END""",
    *(
        f"""CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
        for table in ("row", "identity")
        for verb in ("UPDATE", "DELETE")
    ),
)


def _layout_1(db: sqlite3.Connection) -> None:
    for statement in _LAYOUT_1:
        db.execute(statement)


# PRAGMA user_version counts the steps a file has had. A step may add to `row` and `identity` but
# never take away: both are read, and the chain verified, before any step is applied.
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_layout_1,)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which table, and which ledger of that table, a file belongs to."""

    table_id: str
    ledger_id: str


def identity_of(db: sqlite3.Connection) -> Identity:
    table_id, ledger_id = db.execute("SELECT table_id, ledger_id FROM identity").fetchone()
    if not isinstance(table_id, str) or not isinstance(ledger_id, str):
        raise sqlite3.DatabaseError("the identity holds values of the wrong type")
    return Identity(table_id, ledger_id)


def companion(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def layout_of(db: sqlite3.Connection) -> int:
    (layout,) = db.execute("PRAGMA user_version").fetchone()
    return int(layout)


def schema_in(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """The tables and triggers in a file, by name: what each is, of which table, and its SQL."""
    made = "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return {values[0]: values[1:] for values in db.execute(made)}


def known_schemas() -> Iterator[dict[str, tuple[str, ...]]]:
    """The tables and triggers of each layout that we know, layout 1 first."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for step in MIGRATIONS:
            step(db)
            yield schema_in(db)


def refuse_newer(layout: int, path: Path) -> None:
    if layout > len(MIGRATIONS):
        raise Fault(
            f"{path} has layout {layout}, but this Feltlink knows layouts up to {len(MIGRATIONS)}:"
            " install the Feltlink version that wrote it, or a later one"
        )


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open for writing, every setting proved, the layout brought up to date."""
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        for name, value, read_back in SETTINGS:
            set_proved(db, path, name, value, read_back)
        _migrate(db, path)
    except BaseException:
        db.close()
        raise
    return db


def set_proved(
    db: sqlite3.Connection, path: Path, name: str, value: str, read_back: str | int
) -> None:
    """Set a pragma and read it back: SQLite keeps silent about one that it cannot honour."""
    db.execute(f"PRAGMA {name}={value}")
    (found,) = db.execute(f"PRAGMA {name}").fetchone()
    if found != read_back:
        raise Fault(
            f"SQLite did not set {name} to {value} for {path} but to {found!r}, so a row could be"
            " lost with the power: use a local ext4 medium and the SQLite that Debian ships"
        )


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    layout = layout_of(db)
    refuse_newer(layout, path)
    if layout == len(MIGRATIONS):
        return
    with db:  # commits, or rolls everything back
        db.execute("BEGIN IMMEDIATE")
        for step in MIGRATIONS[layout:]:
            step(db)
        db.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def create(path: Path, identity: Identity, rows: Iterable[Row]) -> None:
    """A whole new file with these rows, durable and without companions when this returns.

    Written in batches, so that the log stays small beside the file: until the caller has verified
    the file and given it its name, nobody takes a part of it for the whole.
    """
    values = map(row_values, rows)
    with closing(connect(path, create=True)) as db:
        db.execute("INSERT INTO identity VALUES (1, ?, ?)", (identity.table_id, identity.ledger_id))
        while batch := list(islice(values, _BATCH_ROWS)):
            with db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany(INSERT, batch)


def extend(path: Path, rows: Iterable[Row]) -> None:
    """Add rows that continue the chain: all of them or, after a power cut, none."""
    with closing(connect(path)) as db, db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(INSERT, map(row_values, rows))


def said_by(error: Exception) -> str:
    """What SQLite said, as far as it can be read."""
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode("utf-8", "replace")
    return str(error)


def to_row(values: tuple[object, ...]) -> Row:
    """A damaged page can hold a value of another type, which STRICT checks only when writing."""
    if tuple(map(type, values)) != _FIELDS:
        raise sqlite3.DatabaseError("a row holds values of the wrong type")
    return Row(*values)  # type: ignore[arg-type]  # just checked


def rows_after(db: sqlite3.Connection, seq: int) -> Iterator[Row]:
    """Rows in order; no cursor stays open between two, so a table may append meanwhile.

    On a damaged file one of FAILURES comes exactly after the last row that can be read.
    """
    limit = _PAGE_ROWS
    while True:
        try:
            page = db.execute(_AFTER, (seq, limit)).fetchall()
        except FAILURES:
            if limit == 1:
                raise
            limit = 1
            continue
        if not page:
            return
        for values in page:
            if values[0] <= seq:
                raise sqlite3.DatabaseError("rows are stored out of order")
            yield to_row(values)
            seq = values[0]


@contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, or say who must go first. The lock dies with the process."""
    descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _locked(descriptor, fcntl.LOCK_EX):
            raise Taken(
                f"another Feltlink process uses {folder}: stop that table, or let a running verify"
                " or export end, then start again"
            )
        yield
    finally:
        os.close(descriptor)


@contextmanager
def reading_beside(folder: Path) -> Iterator[bool]:
    """Whether a table is using the folder; if none is, keep one from starting meanwhile."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        yield False  # no table ever ran here
        return
    try:
        yield not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def prove_writable(folder: Path) -> None:
    """Find a full or read-only medium at once, and not after all rows have been verified."""
    probe = folder / PROBE_NAME
    try:
        with probe.open("wb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Fault(
            f"{folder} cannot be written ({error.strerror}): check that the medium is in place,"
            f" writable, and has {_PROBE_BYTES >> 20} MiB free"
        ) from error
    finally:
        with suppress(OSError):
            probe.unlink()


def sync_folder(folder: Path) -> None:
    """Make renames in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a scratch ledger file and its companions."""
    for suffix in COMPANIONS:
        with suppress(FileNotFoundError):
            companion(path, suffix).unlink()
