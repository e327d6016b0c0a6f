"""The ledger of one table: an append-only, hash-chained SQLite file and a second copy of it.

It stores rows and may not look into them. When a write fails it stops for good: no retry, no
skipped row. Opening it again verifies both files (ledger_repair).
"""

from __future__ import annotations

import os
import sqlite3
import time as clock
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from controller.adapters.ledger_file import (
    FAILURES,
    FILE_NAME,
    INSERT,
    LAST,
    LAST_OF,
    companion,
    connect,
    identity_of,
    prove_writable,
    row_values,
    rows_after,
    said_by,
    set_proved,
    sole_user,
    to_row,
)
from controller.adapters.ledger_inspect import SideReport, inspect, read_rows
from controller.adapters.ledger_repair import settle, write_marker
from controller.chain import GENESIS, Row, seal
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["SYNC_EVERY_MS", "SideReport", "SqliteLedger", "inspect", "read_rows"]

SYNC_EVERY_MS: Final = 50  # see docs/adr/0002-copy-synced-at-most-every-50-ms.md
SQLITE_FLOOR: Final = (3, 40, 0)

_NS_PER_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Side:
    path: Path
    db: sqlite3.Connection


class SqliteLedger:
    """Made by open(). One thread owns it. After a Fault it refuses everything but close()."""

    head: Row | None  # the last row
    repairs: tuple[str, ...]  # what open() repaired, one sentence each

    def __init__(
        self,
        *,
        primary: _Side,
        copy: _Side,
        repairs: tuple[str, ...],
        monotonic_ns: Callable[[], int],
        held: ExitStack,
    ) -> None:
        self.repairs = repairs
        self._primary = primary
        self._copy = copy
        self._monotonic_ns = monotonic_ns
        self._held = held  # connections and locks, released by close()
        self._stopped: str | None = None
        self._unmirrored: Row | None = None  # the row that the copy still lacks
        self._copy_full = True  # is the copy's connection at synchronous=FULL?
        self._copy_behind = False  # does the copy hold rows that a power cut could take?
        self._copy_synced_ns: int | None = None
        self.head = _last_row(primary.db)

    @classmethod
    def open(
        cls,
        data: Path,
        *,
        copy: Path | None,
        table_id: str,
        monotonic_ns: Callable[[], int] = clock.monotonic_ns,
    ) -> SqliteLedger:
        """Lock, verify, repair what can be repaired, and open both files; Fault if not possible."""
        copy = copy or data / "copy"
        _refuse_unfit(data, copy)
        with ExitStack() as unless_opened:
            held = unless_opened.enter_context(ExitStack())
            try:
                for folder in (data, copy):
                    folder.mkdir(parents=True, exist_ok=True)
                    held.enter_context(sole_user(folder))
                    prove_writable(folder)
                repairs = settle(data, copy, table_id)
                primary, spare = (_open_side(folder / FILE_NAME, held) for folder in (data, copy))
                ledger = cls(
                    primary=primary,
                    copy=spare,
                    repairs=repairs,
                    monotonic_ns=monotonic_ns,
                    held=held,
                )
            except (OSError, *FAILURES) as error:
                raise Fault(
                    f"the ledger in {data} with its copy in {copy} cannot be opened"
                    f" ({said_by(error)}): check that both media are in place, writable and not"
                    " full, then start again"
                ) from error
            ledger.check_head()
            ledger._sync_logs()
            unless_opened.pop_all()  # from here on close() lets go of what is held
            return ledger

    def rows(self, after_seq: int = 0) -> Iterator[Row]:
        """Rows from the primary, in order; appending meanwhile is allowed."""
        self._refuse_if_stopped()
        try:
            yield from rows_after(self._primary.db, after_seq)
        except FAILURES as error:
            self._stop(self._primary, "a row could not be read", error)

    def last_of(self, kind: str) -> Row | None:
        """The last row of that kind, from the primary."""
        self._refuse_if_stopped()
        try:
            values = self._primary.db.execute(LAST_OF, (kind,)).fetchone()
            return None if values is None else to_row(values)
        except FAILURES as error:
            self._stop(self._primary, "a row could not be read", error)

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row:
        """Seal and write one row: durable in the primary on return. The copy gets it by mirror().

        What the copy still lacks is mirrored first, so it is never more than one row behind.
        After a Fault the row may or may not be in the files; the next open() shows which.
        """
        self.mirror()
        head = self.head
        row = seal(
            previous=GENESIS if head is None else head.hash,
            seq=1 if head is None else head.seq + 1,
            boot=boot,
            time=time,
            kind=kind,
            version=version,
            payload=payload,
        )
        self._write(self._primary, row)
        self._unmirrored = row
        if head is None:
            self.mirror()  # the marker promises a row in both files
            self._mark_commissioned()
        self.head = row
        return row

    def mirror(self) -> None:
        """Give the copy the row that it lacks. Costs nothing when there is none."""
        self._refuse_if_stopped()
        if self._unmirrored is not None:
            self._write_copy(self._unmirrored)
            self._unmirrored = None

    def _mark_commissioned(self) -> None:
        try:
            identity = identity_of(self._primary.db)
            write_marker(self._primary.path.parent, identity)
        except (OSError, *FAILURES) as error:
            self._stop(self._primary, "the table could not be marked as commissioned", error)

    def check_head(self) -> None:
        """Mirror, then read the last row back from both files; Fault if one has another."""
        self.mirror()
        written = row_values(self.head) if self.head else None
        for side in (self._primary, self._copy):
            try:
                found = side.db.execute(LAST).fetchone()
            except FAILURES as error:
                self._stop(side, "the last row could not be read back", error)
            if found != written:
                self._stop(side, "the last row is not the one that was written", None)

    def sync_copy(self) -> None:
        """Make every row durable in the copy too. Costs nothing when it already is.

        A commit at NORMAL has put its pages into the WAL file but not fsynced it, so an fsync of
        that file is what is lacking. (A passive checkpoint would not do: while somebody reads an
        older state it ends without a sync.) Rows that a checkpoint has moved on to the main file
        were synced by it. SQLite takes no locks on the WAL file, so closing our own descriptor of
        it drops none.
        """
        self.mirror()
        if not self._copy_behind:
            return
        self._sync_log(self._copy)
        self._copy_is_synced()

    def close(self) -> None:
        """Bring the copy up to date, sync it, and let go of files and locks.

        After a Fault it only lets go, and never fails: open() may then try again, in this process
        too. Closing twice is harmless.
        """
        try:
            if self._stopped is None:
                self.sync_copy()
        finally:
            self._stopped = self._stopped or "the ledger is closed: open it again"
            with suppress(OSError, *FAILURES):  # a dead medium; the descriptors are gone anyway
                self._held.close()

    def _write_copy(self, row: Row) -> None:
        synced_ns = self._copy_synced_ns
        full = synced_ns is None or (self._monotonic_ns() - synced_ns >= SYNC_EVERY_MS * _NS_PER_MS)
        if full is not self._copy_full:
            self._set_copy_synchronous(full=full)
        self._write(self._copy, row)
        if full:  # this commit synced the whole WAL, and so the rows before it
            self._copy_is_synced()
        else:
            self._copy_behind = True

    def _write(self, side: _Side, row: Row) -> None:
        try:  # one statement is one transaction: the row is there whole or not at all
            side.db.execute(INSERT, row_values(row))
        except FAILURES as error:
            self._stop(side, f"row {row.seq} could not be written", error)

    def _set_copy_synchronous(self, *, full: bool) -> None:
        value, read_back = ("FULL", 2) if full else ("NORMAL", 1)
        try:
            set_proved(self._copy.db, self._copy.path, "synchronous", value, read_back)
        except (*FAILURES, Fault) as error:
            self._stop(self._copy, f"synchronous={value} could not be set", error)
        self._copy_full = full

    def _copy_is_synced(self) -> None:
        self._copy_behind = False
        self._copy_synced_ns = self._monotonic_ns()

    def _sync_logs(self) -> None:
        """A killed process may have left rows in a WAL unsynced; play will now build on them."""
        for side in (self._primary, self._copy):
            self._sync_log(side)

    def _sync_log(self, side: _Side) -> None:
        try:
            with companion(side.path, "-wal").open("rb") as wal:
                os.fsync(wal.fileno())
        except OSError as error:
            self._stop(side, "rows could not be made durable", error)

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None:
            raise Fault(self._stopped)

    def _stop(self, side: _Side, what: str, error: Exception | None) -> NoReturn:
        """Poison this instance: memory and files may no longer agree."""
        because = f" ({said_by(error)})" if error else ""
        self._stopped = (
            f"{side.path}: {what}{because}. No wager can be taken: check that the medium is in"
            " place, writable and not full, and replace it if it is worn; the table goes on when"
            " the ledger opens again"
        )
        raise Fault(self._stopped) from error


def _refuse_unfit(data: Path, copy: Path) -> None:
    if sqlite3.sqlite_version_info < SQLITE_FLOOR:
        raise Fault(f"SQLite {sqlite3.sqlite_version} is too old: install 3.40 or later")
    if data.resolve() == copy.resolve():
        raise Fault(f"the ledger's copy must not be in {data} itself: name another folder")


def _open_side(path: Path, held: ExitStack) -> _Side:
    db = connect(path)
    held.callback(db.close)
    return _Side(path, db)


def _last_row(db: sqlite3.Connection) -> Row | None:
    values = db.execute(LAST).fetchone()
    return None if values is None else to_row(values)
