"""The hash chain that binds ledger rows together: sealing one row, and finding the first bad one.

Pure: it may not read a file, a clock or a row's payload. Order is by `seq`, which starts at 1 and
has no gaps; `time` is only a label, because a table may wake with a wrong clock.

A row's hash is the SHA-256 of this text in UTF-8, directly followed by the payload's bytes:

    feltlink-row <seq> <boot> <version> <characters in previous, time, kind> <previous><time><kind>

with the three lengths separated by spaces too. Counts come before the texts they count, so no two
different rows share an encoding, and an auditor can recompute a hash with any SHA-256 tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

GENESIS: Final = "0" * 64  # what the first row names as the hash before it


@dataclass(frozen=True, slots=True)
class Row:
    """One ledger row. `boot` counts process starts; `version` is that of the payload's layout."""

    seq: int
    boot: int
    time: str
    kind: str
    version: int
    payload: bytes
    previous: str
    hash: str


def seal(
    *, previous: str, seq: int, boot: int, time: str, kind: str, version: int, payload: bytes
) -> Row:
    """The row with its hash, which covers every other field."""
    digest = _digest(previous, seq, boot, time, kind, version, payload)
    return Row(seq, boot, time, kind, version, payload, previous, digest)


def flaw(row: Row, *, after: Row | None) -> str | None:
    """Why this row cannot follow that one (None: the start of the chain), in one phrase."""
    expected_seq = 1 if after is None else after.seq + 1
    if row.seq != expected_seq:
        return f"row {row.seq} stands where row {expected_seq} belongs"
    if row.previous != (GENESIS if after is None else after.hash):
        return "it does not continue the row before it"
    digest = _digest(row.previous, row.seq, row.boot, row.time, row.kind, row.version, row.payload)
    return None if row.hash == digest else "its content does not match its hash"


def first_bad(rows: Iterable[Row]) -> tuple[int, str] | None:
    """The number of the first row that is missing or wrong, and why; None if all are good.

    Rows cut off at the end leave a good, shorter chain: only a second copy shows that.
    """
    last: Row | None = None
    for row in rows:
        why = flaw(row, after=last)
        if why is not None:
            return (1 if last is None else last.seq + 1), why
        last = row
    return None


def _digest(
    previous: str, seq: int, boot: int, time: str, kind: str, version: int, payload: bytes
) -> str:
    head = (
        f"feltlink-row {seq} {boot} {version} {len(previous)} {len(time)} {len(kind)} "
        f"{previous}{time}{kind}"
    )
    return sha256(head.encode() + payload).hexdigest()
