"""Benchmarks as ratios against a bare baseline measured in the same run.

`make bench` prints a table and writes build/bench.json. Baseline and subject take turns in short
slices, so that a busy moment of the machine touches both; medians are reported.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import perf_counter

from controller.adapters.ledger_sqlite import SqliteLedger
from controller.adapters.pack_files import load_pack
from controller.config import default_table
from controller.domain import commands as ask
from controller.hardware import sensor
from controller.service import TableService
from mock_gpio.bench import DEALER, FLOOR
from mock_gpio.table import SimulatedTable
from tests.bench.result import ROOT, Result, feltlink
from tests.bench.unit_bench import unit_results

SLICES, ROUNDS_PER_SLICE, WARM_UP = 20, 60, 500
STEPS_PER_ROUND = 3
STARTS = 25


def main() -> int:
    results = [*durable_steps(), played_rounds(), start_time(), *unit_results()]
    for result in results:
        mark = "met" if result.met else "MISSED"
        sys.stdout.write(f"{result.name:<44} {result.value:>9.2f}  {result.target:<9} {mark}\n")
        sys.stdout.write(f"    {result.detail}\n")
    out = ROOT / "build" / "bench.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")
    return 0 if all(result.met for result in results) else 1


def durable_steps() -> Iterator[Result]:
    """Lock, count and END of a six-wager round, against bare commits of rows of the same size."""
    with (
        tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder,
        _table(Path(folder)) as (service, ledger),
    ):
        row_bytes = _row_bytes(service, ledger)
        bare = _bare(Path(folder) / "bare.sqlite", row_bytes)
        for _ in range(WARM_UP):  # until both logs are reused, as they are after the first minutes
            bare()
            _round(service)
        pairs = [(_rate(bare), _rate(lambda: _round(service))) for _ in range(SLICES)]
    ratio = median(ours / base for base, ours in pairs)
    base, ours = median(b for b, _ in pairs), median(o for _, o in pairs)
    yield Result(
        name="durable round steps / bare SQLite commits",
        value=ratio,
        target=">= 0.60",
        met=ratio >= 0.6,
        detail=f"{ours:,.0f} steps/s with a second copy, {base:,.0f} bare commits/s,"
        f" rows of {row_bytes} bytes, WAL and synchronous=FULL",
    )


def _rate(round_of_three: Callable[[], None]) -> float:
    start = perf_counter()
    for _ in range(ROUNDS_PER_SLICE):
        round_of_three()
    return ROUNDS_PER_SLICE * STEPS_PER_ROUND / (perf_counter() - start)


@contextmanager
def _table(folder: Path) -> Iterator[tuple[TableService, SqliteLedger]]:
    file = default_table(load_pack("md-uth-a"))
    ledger = SqliteLedger.open(folder / "data", copy=None, table_id=file.settings.table_id)
    sim = SimulatedTable(file, lambda: ledger)
    service = sim.unit.service
    if service is None:
        raise RuntimeError(sim.unit.down)
    # A chip at every seat whenever betting opens: the steps are measured, not the lifting.
    sim.loop.desk.covered = tuple  # type: ignore[method-assign]
    for seat in range(1, 7):
        sim.hands.cover(sensor(seat))
    sim.pass_ms(5000)
    service.open(FLOOR)
    yield service, ledger
    ledger.close()


def _round(service: TableService) -> None:
    service.lock(DEALER)
    service.ask(ask.KeyCount(DEALER, number=6))
    service.end(DEALER)


def _row_bytes(service: TableService, ledger: SqliteLedger) -> int:
    """The mean payload of a round's rows, so that the baseline writes as much."""
    after = ledger.head.seq if ledger.head else 0
    _round(service)
    sizes = [len(row.payload) for row in ledger.rows(after)]
    return sum(sizes) // len(sizes)


def _bare(path: Path, row_bytes: int) -> Callable[[], None]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute(
        "CREATE TABLE row (seq INTEGER PRIMARY KEY, boot INT, time TEXT, kind TEXT, version INT,"
        " payload BLOB, previous TEXT, hash TEXT) STRICT"
    )
    row = (1, "2026-01-01T00:00:00.000Z", "bets_locked", 1, b"x" * row_bytes, "0" * 64, "0" * 64)

    def three_commits() -> None:
        for _ in range(STEPS_PER_ROUND):
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO row VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
            db.execute("COMMIT")

    return three_commits


def played_rounds() -> Result:
    """`feltlink play` from its start to its end, six wagers a round."""
    rounds = 1000
    chips = "".join(f"chip {seat}\n" for seat in range(1, 7))
    script = (chips + "lock\ncount 6\nend\n") * rounds
    start = perf_counter()
    done = subprocess.run(
        [feltlink(), "play", "-"], input=script, capture_output=True, text=True, check=True
    )
    rate = rounds / (perf_counter() - start)
    refused = done.stdout.count('"ok": false')
    return Result(
        name="played rounds a second",
        value=rate,
        target=">= 300",
        met=rate >= 300 and refused == 0,
        detail=f"{rounds} rounds of six wagers through `feltlink play`, {refused} lines refused",
    )


def start_time() -> Result:
    """`feltlink rules list` against the bare interpreter."""
    pairs = [
        (_seconds(sys.executable, "-c", "pass"), _seconds(feltlink(), "rules", "list"))
        for _ in range(STARTS)
    ]
    ratio = median(ours for _, ours in pairs) / median(base for base, _ in pairs)
    return Result(
        name="start of `rules list` / start of python",
        value=ratio,
        target="<= 4.00",
        met=ratio <= 4,
        detail=f"{median(o for _, o in pairs) * 1000:.1f} ms against"
        f" {median(b for b, _ in pairs) * 1000:.1f} ms",
    )


def _seconds(*words: str) -> float:
    start = perf_counter()
    subprocess.run(words, capture_output=True, check=True)
    return perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
