"""The plug is pulled at any microsecond, and every acknowledged step is still there.

FELTLINK_SEED=n repeats the lines and the delays of a run; the scheduler adds its own chance.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom
from time import perf_counter_ns

import pytest

from controller.adapters.ledger_sqlite import SqliteLedger
from controller.chain import Row
from controller.domain.errors import Fault
from controller.domain.table import Phase, Table
from mock_gpio.main import NEW_WORLD, Place
from mock_gpio.play import TableProcess
from tests.simulation.twin import (
    Twin,
    check_both_sides,
    check_identity,
    content,
    place_in,
    rows_on_disk,
)

SEED = int(os.environ.get("FELTLINK_SEED") or SystemRandom().randrange(10**6))
TABLES = 10
KILLS = 26  # of each table
LINE_NS = 700_000  # most lines take less, some more
START_NS = 20_000_000
HANDS = ("royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush")


def busy(for_ns: int) -> None:
    """Let time pass without handing the kill over to a timer; a lone core is shared."""
    end = perf_counter_ns() + for_ns
    while perf_counter_ns() < end:
        os.sched_yield()


class KilledWhileStarting(TableProcess):
    """A table whose plug is pulled before it has said that it is there."""

    def __init__(self, place: Place, world: str, after_ns: int) -> None:
        self._after_ns = after_ns
        super().__init__(place, world)

    def _hello(self) -> str:
        busy(self._after_ns)
        self.kill()
        return ""


def a_line(chance: Random, table: Table) -> str:
    """Something people do in this phase, or now and then something they should not."""
    seat, amount = chance.randint(1, 6), chance.choice(("1.00", "5.00"))
    win = f"win {seat} {chance.choice(HANDS)}"
    laid = [wager.amount.payable() for wager in table.round.wagers]
    counts = " ".join(f"{laid.count(a)} {a}" for a in sorted(set(laid))) or "0"
    fitting = {
        Phase.CLOSED: ["open"],
        Phase.OPEN: [f"chip {seat} {amount}"] * 5
        + ["lock", "lock", f"lift {seat}", "tie 2 3", "close", "wait 2m"]
        + ["adjust mega current +1.00000001 ann bob R-1 found"],
        Phase.LOCKED: [f"count {counts}"] * 4 + ["count 1", f"strike {seat}", f"chip {seat}"],
        Phase.MISCOUNT: [f"count {counts}", f"strike {seat}", f"add {seat} {amount}", "reopen"],
        Phase.IN_PLAY: [win] * 6
        + ["validate", "validate", f"validate {seat}", "reject", "envy", "end", "end"]
        + ["void misdeal", f"chip {seat}", f"tie {seat}"],
    }
    return chance.choice([*fitting[table.phase], *fitting[table.phase], "count 9", win])


class Life:
    """One table through many power cuts."""

    def __init__(self, place: Place, chance: Random) -> None:
        self.place, self.chance = place, chance
        self.world = NEW_WORLD
        self.rows: list[Row] = []
        self.in_both = 0
        self.kept: Counter[str] = Counter()

    def until_the_next_kill(self) -> None:
        twin = Twin(self.place, self.rows, self.world)
        acknowledged, safe = len(self.rows), self.in_both
        if self.chance.random() < 0.2:
            KilledWhileStarting(self.place, self.world, self.chance.randrange(START_NS))
        else:
            acknowledged = safe = self._play(twin)
        self.rows, self.in_both = rows_on_disk(self.place)
        assert len(self.rows) >= acknowledged, "an acknowledged step is gone"
        assert self.in_both >= safe, "an acknowledged step is in one file only"
        expected = [content(row) for row in twin.rows]
        assert [content(row) for row in self.rows] == expected[: len(self.rows)]
        in_flight, kept = len(expected) - acknowledged, len(self.rows) - acknowledged
        self.kept["all" if kept == in_flight else "part" if kept else "none"] += 1

    def _play(self, twin: Twin) -> int:
        """Some acknowledged lines and one in flight; says how many rows were acknowledged."""
        real = TableProcess(self.place, self.world)
        try:
            check_both_sides(self.place, len(twin.rows))
            check_identity(twin.table)
            self._ask(real, twin, "show")
            for _ in range(self.chance.randrange(5)):
                self._ask(real, twin, a_line(self.chance, twin.table))
            acknowledged, self.world = len(twin.rows), real.world
            line = a_line(self.chance, twin.table)
            real.send(0, line)
            busy(self.chance.randrange(LINE_NS))
        finally:
            real.kill()
        twin.answer(0, line)
        return acknowledged

    def _ask(self, real: TableProcess, twin: Twin, line: str) -> None:
        assert json.loads(real.answer(1, line)) == twin.answer(1, line)


@pytest.mark.requirement(4, 62)
@pytest.mark.parametrize("number", range(TABLES))
def test_a_table_killed_at_any_instant_is_where_the_last_acknowledged_step_left_it(
    number: int, tmp_path: Path
) -> None:
    print(f"FELTLINK_SEED={SEED}")  # noqa: T201 - pytest shows it with a failure
    life = Life(place_in(tmp_path), Random(f"{SEED} {number}"))
    for _ in range(KILLS):
        life.until_the_next_kill()
    print(f"of the step in flight was kept: {dict(life.kept)}")  # noqa: T201
    assert life.kept.total() == KILLS


def shown(real: TableProcess) -> object:
    return json.loads(real.answer(1, "show"))["table"]


def play_lines(real: TableProcess, *lines: str) -> None:
    for line in lines:
        assert json.loads(real.answer(1, line))["ok"]


@pytest.mark.requirement(62, 65)
def test_a_step_that_reached_only_the_first_file_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path)
    write_copy = SqliteLedger._write_copy

    def cut_before_the_copy(ledger: SqliteLedger, row: Row) -> None:
        if row.kind == "win_keyed":
            os.kill(os.getpid(), signal.SIGKILL)
        write_copy(ledger, row)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteLedger, "_write_copy", cut_before_the_copy)
        real = TableProcess(place, NEW_WORLD)
        play_lines(real, "chip 1", "chip 4 5.00", "lock", "count 1 1.00 1 5.00")
        with pytest.raises(Fault, match="died"):
            real.answer(1, "win 4 royal_flush")
        real.stop()
    found, in_both = rows_on_disk(place)
    assert found[-1].kind == "win_keyed"
    assert in_both == len(found) - 1
    again = TableProcess(place, real.world)
    check_both_sides(place, len(found) + 1)  # and the row that says the table was started
    wins = json.loads(again.answer(1, "show"))["table"]["wins"]
    again.stop()
    assert [(win["seat"], win["amount"], win["status"]) for win in wins] == [
        (4, "10000.72", "waiting")
    ]


@pytest.mark.requirement(62, 65)
def test_a_first_file_that_fell_behind_is_brought_up_from_the_second(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    real = TableProcess(place, NEW_WORLD)
    play_lines(real, "chip 2", "lock")
    real.stop()
    shutil.copytree(place.data, tmp_path / "old")
    real = TableProcess(place, real.world)
    play_lines(real, "count 1", "win 2 straight_flush")
    before = shown(real)
    real.stop()
    shutil.rmtree(place.data)
    (tmp_path / "old").rename(place.data)
    again = TableProcess(place, real.world)
    after = shown(again)
    again.stop()
    assert after == before
