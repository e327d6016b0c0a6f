"""A real table on real files, and its twin: the same table in this process, in memory.

The twin is what the real one is compared with after its plug was pulled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from controller import wire
from controller.adapters.ledger_file import FILE_NAME
from controller.adapters.ledger_sqlite import inspect, read_rows
from controller.adapters.pack_files import load_pack
from controller.chain import Row, first_bad
from controller.config import table_from_toml
from controller.domain.table import Phase, Table
from controller.service import fold
from mock_gpio.main import NEW_WORLD, Place, build
from tests.fakes import FakeLedger

TABLE = """
[table]
id = "T01"
[rules]
pack = "md-uth-c"
wagers = ["1.00", "5.00"]
adjacent_boxes = 3
floor_may_add = true
validate = "300.00"
[meters.minor]
seed = "250.00"
initial = "250.00"
rate = "0.031"
reserve_rate = "0.0137"
limit = "260.00"
overflow = "next"
[ledger]
copy = "COPY"
"""


def place_in(folder: Path) -> Place:
    """A table of three meters whose second copy lies in a folder of its own."""
    text = TABLE.replace("COPY", str(folder / "second"))
    return Place(table_from_toml(text, where="table.toml", find_pack=load_pack), folder / "first")


def sides(place: Place) -> tuple[Path, Path]:
    assert place.file.ledger_copy is not None
    return place.data, Path(place.file.ledger_copy)


class Twin:
    """Starts from these rows as the real process does, and answers the same lines."""

    def __init__(self, place: Place, rows: list[Row], world: str) -> None:
        self._ledger = FakeLedger(rows)
        self._bench = build(self._ledger, place.file, world, lambda: self._ledger)
        if world == NEW_WORLD and self._bench.phase == Phase.CLOSED:
            self._bench.open_for_script()
        self._folded = 0
        self._table: Table | None = None

    @property
    def rows(self) -> list[Row]:
        return self._ledger.stored

    @property
    def table(self) -> Table:
        """The fold of the rows, made here and not taken from the service."""
        for row in self.rows[self._folded :]:
            event = wire.decode(row.kind, row.version, row.payload)
            self._table = fold(self._table, event, row.seq)
        self._folded = len(self.rows)
        assert self._table is not None
        return self._table

    def answer(self, number: int, text: str) -> Any:
        said = json.loads(json.dumps(self._bench.answer(number, text)))
        assert self._bench._service.table == self.table, "the table knows what nobody wrote down"
        return said


def rows_on_disk(place: Place) -> tuple[list[Row], int]:
    """What a kill left: two sound chains, at most one row apart. The longer one is what counts;

    with it comes how many rows stand in both.
    """
    found = []
    for folder in sides(place):
        path = folder / FILE_NAME
        found.append(list(read_rows(path)) if path.exists() else [])
        assert first_bad(found[-1]) is None
    shorter, longer = sorted(found, key=len)
    assert longer[: len(shorter)] == shorter
    assert len(longer) - len(shorter) <= 1
    return longer, len(shorter)


def content(row: Row) -> tuple[object, ...]:
    """All that must agree; a start also says what it repaired, which only real files need."""
    payload = b"" if row.kind == "started" else row.payload
    return row.seq, row.boot, row.time, row.kind, row.version, payload


def check_both_sides(place: Place, rows: int) -> None:
    """As `ledger verify` sees it, beside the running table."""
    first, second = inspect(*sides(place))
    assert (first.state, second.state) == ("good", "good")
    assert (first.rows, first.head) == (second.rows, second.head)
    assert first.rows == rows


def check_identity(table: Table) -> None:
    for meter in table.meters:
        inside = (meter.current, meter.reserve, meter.overflow, meter.held)
        out = (meter.paid, meter.voided, meter.adjusted_down)
        brought = (meter.initial, meter.funded, meter.contributed, meter.adjusted_up)
        assert sum(m.ucents for m in inside + out) == sum(m.ucents for m in brought)
