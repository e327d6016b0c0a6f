"""How long a long ledger takes to open: `python -m tests.bench.ledger_bench [ROUNDS ...]`.

The rows are chained for real and as long as those of a played round, but their payloads are
filler: the ledger may not look into them, so nothing that is timed here depends on what they say.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from controller.adapters.ledger_file import FILE_NAME, Identity, create
from controller.adapters.ledger_repair import write_marker
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.chain import GENESIS, Row, seal

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
TABLE_ID: Final = "T01"
ROUNDS: Final = (10_000, 100_000)
# Six wagers at a table of three meters (md-uth-d), LOCK with the raw edges of some seconds.
PAYLOAD_BYTES: Final = {
    "bets_locked": 1100,
    "edges_kept": 600,
    "round_proved": 590,
    "round_ended": 750,
}
SNAPSHOT_ROUNDS: Final = 500
SNAPSHOT_BYTES: Final = 6000


@dataclass(frozen=True, slots=True)
class Opened:
    """One start on a long ledger: both files verified, and the last snapshot found."""

    rows: int
    open_s: float
    last_of_s: float
    last_of_nothing_s: float


def make_ledger(folder: Path, rounds: int) -> None:
    """A ledger of so many rounds and its copy in `folder`, as a clean shutdown leaves them."""
    copy = folder / "copy"
    copy.mkdir(parents=True)
    identity = Identity(TABLE_ID, str(uuid4()))
    create(folder / FILE_NAME, identity, _rows(rounds))
    shutil.copyfile(folder / FILE_NAME, copy / FILE_NAME)
    write_marker(folder, identity)


def time_open(folder: Path) -> Opened:
    """Open it once, from memory or disk as the machine has it, and look for the last snapshot."""
    start = perf_counter()
    with closing(SqliteLedger.open(folder, copy=None, table_id=TABLE_ID)) as ledger:
        opened = perf_counter()
        ledger.last_of("snapshot_taken")
        found = perf_counter()
        ledger.last_of("a kind that never occurs")
        missed = perf_counter()
        rows = ledger.head.seq if ledger.head else 0
    return Opened(rows, opened - start, found - opened, missed - found)


def _rows(rounds: int) -> Iterator[Row]:
    previous = GENESIS
    for seq, (kind, payload) in enumerate(_events(rounds), start=1):
        row = seal(
            previous=previous,
            seq=seq,
            boot=1,
            time="2026-01-01T20:15:00.000Z",
            kind=kind,
            version=1,
            payload=payload,
        )
        previous = row.hash
        yield row


def _events(rounds: int) -> Iterator[tuple[str, bytes]]:
    for number in range(1, rounds + 1):
        for kind, size in PAYLOAD_BYTES.items():
            yield kind, _filler(number, size)
        if number % SNAPSHOT_ROUNDS == 0:
            yield "snapshot_taken", _filler(number, SNAPSHOT_BYTES)


def _filler(number: int, size: int) -> bytes:
    head, tail = b'{"round":%d,"filler":"' % number, b'"}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def main(words: list[str]) -> int:
    for rounds in [int(word) for word in words] or ROUNDS:
        with tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder:
            data = Path(folder) / "data"
            make_ledger(data, rounds)
            size_mib = (data / FILE_NAME).stat().st_size >> 20
            best = min((time_open(data) for _ in range(3)), key=lambda opened: opened.open_s)
        sys.stdout.write(
            f"{rounds:>7} rounds, {best.rows} rows, {size_mib} MiB a side:"
            f" open {best.open_s:.2f} s, last snapshot {best.last_of_s * 1000:.2f} ms,"
            f" a kind that never occurs {best.last_of_nothing_s * 1000:.0f} ms\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
