"""What happens to the two ledger files at start: accepted, repaired from each other, or refused.

It may not lose a row: files are moved aside and never deleted, a doubtful case changes nothing,
and a commissioned table never starts from an empty ledger.
"""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from dataclasses import replace
from errno import EIO
from itertools import islice
from shutil import disk_usage
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from controller.adapters.ledger_file import (
    COMPANIONS,
    FAILURES,
    FILE_NAME,
    Identity,
    companion,
    create,
    extend,
    remove,
    rows_after,
    sync_folder,
)
from controller.adapters.ledger_inspect import (
    Judged,
    connect_to_read,
    judge,
    judge_both,
    readable_rows,
)
from controller.chain import Row, flaw
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MARKER_NAME: Final = "commissioned.json"
SCRATCH_NAME: Final = FILE_NAME + ".new"

_LOG_BYTES: Final = 16_777_216  # SQLite's log of one batch while a file is built, generously


def settle(data: Path, copy: Path, table_id: str) -> tuple[str, ...]:
    """Leave two equal, verified files behind, and say what was repaired. The caller has the locks.

    Fault if that takes a person; the files are then as they were.
    """
    primary, spare = judge_both(data / FILE_NAME, copy / FILE_NAME)
    marker = _read_marker(data)
    if _is_misspelt(marker, primary.identity, spare.identity):
        marker = f"{data / MARKER_NAME} was damaged ({_MISSPELT})"
    primary, spare = (
        _spelling_checked(primary, spare, marker),
        _spelling_checked(spare, primary, marker),
    )
    _refuse_strangers(table_id, data, marker, primary, spare)
    identity = primary.identity or spare.identity
    states = (primary.report.state, spare.report.state)
    if states == ("missing", "missing"):
        identity = _commission(data, copy, table_id)
        repairs = []
    elif "good" not in states or identity is None:
        raise Fault(_no_good_file(primary, spare))
    elif states == ("good", "good"):
        repairs = _level(primary, spare)
    elif states[0] == "good":
        repairs = [_rebuild(spare, primary, identity)]
    else:
        repairs = [_rebuild(primary, spare, identity)]
    for folder in (data, copy):
        remove(folder / SCRATCH_NAME)
    if primary.report.rows + spare.report.rows:
        repairs += _renew_marker(data, marker, identity)
    return tuple(repairs)


def _read_marker(data: Path) -> Identity | str | None:
    """Who was commissioned here; a text says why the marker cannot be read; None: nobody was."""
    try:
        content = json.loads((data / MARKER_NAME).read_text("utf-8"))
        return Identity(str(content["table_id"]), str(content["ledger_id"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        return f"{data / MARKER_NAME} could not be read ({error})"


_MISSPELT: Final = "the ledger that it names is one letter off"


def _spelling_checked(side: Judged, other: Judged, marker: Identity | str | None) -> Judged:
    if not _is_misspelt(side.identity, other.identity, marker):
        return side
    why = side.report.why or _MISSPELT
    return replace(side, report=replace(side.report, state="damaged", why=why), identity=None)


def _is_misspelt(name: object, other: object, third: object) -> bool:
    """Whether a name differs by one letter from what the two other places agree on.

    That is damage and no stranger: a ledger's id is random, so no two come as close as that.
    """
    if not isinstance(name, Identity) or not isinstance(other, Identity) or other != third:
        return False
    ours, theirs = (f"{who.table_id} {who.ledger_id}" for who in (name, other))
    if len(ours) != len(theirs):
        return False
    return sum(one != two for one, two in zip(ours, theirs, strict=True)) == 1


def _refuse_strangers(
    table_id: str, data: Path, marker: Identity | str | None, primary: Judged, spare: Judged
) -> None:
    """Stop before files of two tables, or of two ledgers of one table, are mixed."""
    named = [(side.report.path, side.identity) for side in (primary, spare) if side.identity]
    if isinstance(marker, Identity):
        named.insert(0, (data / MARKER_NAME, marker))
    for path, identity in named:
        if identity.table_id != table_id:
            raise Fault(
                f"{path} belongs to table {identity.table_id}, but this is table {table_id}:"
                " put in the medium of this table, or correct the table's id"
            )
        if identity != named[0][1]:
            raise Fault(
                f"{path} belongs to another ledger of table {table_id} than {named[0][0]}:"
                " put in the medium that was commissioned together with this one"
            )
    states = {primary.report.state, spare.report.state}
    rows = primary.report.rows + spare.report.rows
    if marker is not None and rows == 0 and (states == {"missing"} or "good" in states):
        raise Fault(
            f"this table was commissioned, but {primary.report.path} and {spare.report.path} are"
            " missing or hold no row, and it will not start from an empty ledger: put the ledger"
            " media back, or restore a ledger file from the backup"
        )


def _commission(data: Path, copy: Path, table_id: str) -> Identity:
    identity = Identity(table_id, str(uuid4()))
    for folder in (data, copy):
        _install(folder / FILE_NAME, identity, source=None)
    return identity


def _level(primary: Judged, spare: Judged) -> list[str]:
    """Both are good: bring the shorter to the length of the longer, if it is its beginning."""
    longer, shorter = _by_length(primary, spare)
    _refuse_divergence(longer, shorter)
    first, last = shorter.report.rows + 1, longer.report.rows
    if first > last:
        return []
    with closing(_rows(longer.report.path, shorter.report.rows)) as rows:
        extend(shorter.report.path, rows)
    return [
        f"{shorter.report.path} lacked {_span(first, last)}, as after a power cut between the two"
        f" writes; added from {longer.report.path}"
    ]


def _by_length(one: Judged, other: Judged) -> tuple[Judged, Judged]:
    return (other, one) if other.report.rows > one.report.rows else (one, other)


def _span(first: int, last: int) -> str:
    return f"row {last}" if first == last else f"rows {first} to {last}"


def _rebuild(bad: Judged, good: Judged, identity: Identity) -> str:
    """Replace a damaged or missing file by a verified copy of the good one."""
    if bad.report.state == "damaged" and good.report.rows == 0:
        raise Fault(f"{_describe(bad)}, and {good.report.path} holds no row. {_WORKSHOP}")
    _refuse_divergence(*_by_length(good, bad))
    whole = _rescue(good, bad)
    aside = _install(bad.report.path, identity, source=whole)
    moved = f"; the old file was moved to {aside.name}" if aside else ""
    rescued = ""
    if whole.report.rows > good.report.rows:
        span = _span(good.report.rows + 1, whole.report.rows)
        rescued = f" after {span}, which only it had, had been added there"
    return (
        f"{_describe(bad)}; it was rebuilt from {good.report.path}{rescued} and verified,"
        f" {whole.report.rows} rows{moved}"
    )


def _rescue(good: Judged, bad: Judged) -> Judged:
    """The good side, with the rows that only the bad one has, where the chain proves them.

    A power cut can leave the last row in the primary alone, and that row is not lost because a bit
    flipped elsewhere in the file. Fault, before anything is changed, if the good side lacks a row
    that cannot be proved.
    """
    last = good.last
    with closing(_rows_left(bad, good.report.rows)) as rows:
        for row in rows:
            if flaw(row, after=last) is None:
                last = row
            elif not _holds(good.report.path, row.hash):  # else a known row under a wrong number
                raise Fault(
                    f"{_describe(bad)}, but its first {bad.report.rows} rows are sound, row"
                    f" {row.seq} was written too, and {good.report.path} has only"
                    f" {good.report.rows} of them. {_WORKSHOP}"
                )
    if last is None or last == good.last:
        return good
    with closing(readable_rows(bad.report.path, live=False, after_seq=good.report.rows)) as rows:
        extend(good.report.path, islice(rows, last.seq - good.report.rows))
    return replace(good, report=replace(good.report, rows=last.seq, head=last.hash), last=last)


def _rows_left(bad: Judged, after_seq: int) -> Generator[Row, None, None]:
    """What can still be read in a bad file; nothing, if it is missing or no ledger any more."""
    if bad.report.state == "missing":
        return
    try:
        yield from readable_rows(bad.report.path, live=False, after_seq=after_seq)
    except FAILURES:
        return
    except OSError as error:
        if error.errno != EIO:
            raise


def _holds(path: Path, digest: str) -> bool:
    with closing(connect_to_read(path, live=False)) as db:
        found = db.execute("SELECT 1 FROM row WHERE hash = ?", (digest,)).fetchone()
    return found is not None


def _refuse_divergence(longer: Judged, shorter: Judged) -> None:
    """A hash covers all rows before it, so comparing the last common one compares all."""
    if shorter.last is None or _hash_at(longer.report.path, shorter.last.seq) == shorter.last.hash:
        return
    with (
        closing(_rows(longer.report.path, 0)) as ours,
        closing(_rows(shorter.report.path, 0)) as theirs,
    ):
        pairs = zip(ours, theirs, strict=False)
        seq = next(one.seq for one, other in pairs if one.hash != other.hash)
    raise Fault(
        f"{longer.report.path} and {shorter.report.path} tell two different stories from row"
        f" {seq} on. {_WORKSHOP}"
    )


def _hash_at(path: Path, seq: int) -> str:
    with closing(_rows(path, seq - 1)) as rows:
        return next(rows).hash


def _rows(path: Path, after_seq: int) -> Generator[Row, None, None]:
    with closing(connect_to_read(path, live=False)) as db:
        yield from rows_after(db, after_seq)


def _install(path: Path, identity: Identity, *, source: Judged | None) -> Path | None:
    """Build and verify beside the old file, then swap; returns where the old one went.

    Power may go at any point: the side is then still damaged or missing, and done again.
    """
    scratch = path.with_name(SCRATCH_NAME)
    remove(scratch)
    try:
        _build(scratch, identity, source)
    except (OSError, *FAILURES, Fault):
        with suppress(OSError):
            remove(scratch)
        raise
    aside = _move_aside(path)
    scratch.rename(path)
    sync_folder(path.parent)
    return aside


def _build(scratch: Path, identity: Identity, source: Judged | None) -> None:
    if source is None:
        create(scratch, identity, ())
        built = judge(scratch, live=False)
    else:
        _refuse_lack_of_room(scratch.parent, source.report.path)
        with closing(_rows(source.report.path, 0)) as rows:
            create(scratch, identity, rows)
        built = judge(scratch, live=False, proven=source.report.path)
    if built.report.state != "good" or (source and built.last != source.last):
        raise Fault(
            f"{scratch.with_name(FILE_NAME)} was rebuilt but did not verify"
            f" ({built.report.why or 'rows are lacking'}): replace this medium and start again"
        )


def _refuse_lack_of_room(folder: Path, source: Path) -> None:
    """Do not wear a medium out by filling it again and again with a file that does not fit."""
    needed, free = source.stat().st_size + _LOG_BYTES, disk_usage(folder).free
    if free < needed:
        raise Fault(
            f"{folder} has {free >> 20} MiB free, and a ledger of {needed >> 20} MiB has to be"
            " built there: make room, but delete no ledger file, or put in a larger medium"
        )


def _move_aside(path: Path) -> Path | None:
    """A WAL must go with its file: beside a new file SQLite would apply it to the wrong pages."""
    present = [suffix for suffix in COMPANIONS if companion(path, suffix).exists()]
    if not present:
        return None
    number = 1
    while any(companion(path, f".damaged-{number}{suffix}").exists() for suffix in COMPANIONS):
        number += 1
    aside = companion(path, f".damaged-{number}")
    for suffix in present:
        companion(path, suffix).rename(companion(aside, suffix))
    sync_folder(path.parent)
    return aside


def _renew_marker(data: Path, marker: Identity | str | None, identity: Identity) -> list[str]:
    if isinstance(marker, Identity):
        return []
    write_marker(data, identity)
    return [f"{marker}; it was written again from the ledger"] if marker else []


def write_marker(data: Path, identity: Identity) -> None:
    """Say that this table has a first row: from now on it never starts from an empty ledger.

    Without the marker a half-done commissioning simply starts over.
    """
    scratch = data / (MARKER_NAME + ".new")
    content = {"table_id": identity.table_id, "ledger_id": identity.ledger_id}
    with scratch.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    scratch.rename(data / MARKER_NAME)
    sync_folder(data)


_WORKSHOP: Final = (
    "Nothing was changed. Keep this table switched off, delete no file, and bring both media to"
    " the workshop: `feltlink ledger export` reads out every row that can still be read"
)


def _no_good_file(primary: Judged, spare: Judged) -> str:
    return f"No ledger file can be trusted: {_describe(primary)}; {_describe(spare)}. {_WORKSHOP}"


def _describe(side: Judged) -> str:
    report = side.report
    if report.state == "missing":
        return f"{report.path} was missing"
    where = "" if report.first_bad is None else f" at row {report.first_bad}"
    return f"{report.path} was damaged{where} ({report.why})"
