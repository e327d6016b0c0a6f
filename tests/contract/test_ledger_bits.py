"""One flipped bit, wherever it is, in one of the two files or the marker, never stops a table.

FELTLINK_SEED=n repeats the bits of a run.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from errno import EACCES, EIO
from random import Random, SystemRandom
from typing import TYPE_CHECKING

import pytest

from controller.adapters import ledger_inspect
from controller.adapters.ledger_sqlite import SqliteLedger, inspect
from controller.domain.errors import Fault
from tests.contract.ledger_files import (
    COPY,
    PRIMARY,
    add,
    append,
    fill,
    overwrite,
    photograph,
    rows_in,
    tamper,
)

if TYPE_CHECKING:
    from pathlib import Path

    from controller.chain import Row

SEED = int(os.environ.get("FELTLINK_SEED") or SystemRandom().randrange(10**6))
MARKER = "commissioned.json"
ROWS = 30
HEADER_BYTES = 200  # SQLite's header, and the beginning of the page with the tables' definitions
PAGE_BYTES = 4096
LAYOUT_BYTES = range(60, 64)


def flip(path: Path, bit: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    return bytes(content)


class Damaged:
    """A table that ran, was shut down, and gets one of its files damaged again and again."""

    def __init__(self, folder: Path) -> None:
        self._sound, self.data = folder / "sound", folder / "table"
        self.written = fill(self._sound, ROWS)

    def size_bits(self, name: str) -> int:
        return (self._sound / name).stat().st_size * 8

    def survives(self, name: str, bit: int) -> bool:
        """Whether the bit had to be repaired; that the table goes on with all rows is a must."""
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(self._sound, self.data)
        evidence = flip(self.data / name, bit)
        with closing(SqliteLedger.open(self.data, copy=None, table_id="T01")) as ledger:
            assert list(ledger.rows()) == self.written
            add(ledger, 1)
            ledger.check_head()
            repairs = ledger.repairs
        assert [side.state for side in inspect(self.data, None)] == ["good", "good"]
        assert rows_in(self.data / PRIMARY) == rows_in(self.data / COPY)
        if repairs and name != MARKER:
            assert (self.data / f"{name}.damaged-1").read_bytes() == evidence
        assert all(repair.startswith(f"{self.data / name} ") for repair in repairs)
        return bool(repairs)


@pytest.fixture
def damaged(tmp_path: Path) -> Damaged:
    return Damaged(tmp_path)


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> Random:
    print(f"FELTLINK_SEED={SEED}")  # noqa: T201 - pytest shows it with a failure
    return Random(f"{SEED} {request.node.name}")


@pytest.mark.requirement(63, 64, 65)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_a_flipped_bit_in_the_header_of_one_file_never_stops_the_table(
    damaged: Damaged, chance: Random, side: str
) -> None:
    for byte in range(HEADER_BYTES):
        damaged.survives(side, byte * 8 + chance.randrange(8))


@pytest.mark.requirement(63, 64, 65)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_every_bit_of_a_layout_number_is_repaired(damaged: Damaged, side: str) -> None:
    for bit in range(LAYOUT_BYTES[0] * 8, LAYOUT_BYTES[-1] * 8 + 8):
        assert damaged.survives(side, bit)


@pytest.mark.requirement(63, 64, 65)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_a_flipped_bit_in_the_definition_of_a_table_never_stops_the_table(
    damaged: Damaged, chance: Random, side: str
) -> None:
    bits = chance.sample(range(HEADER_BYTES * 8, PAGE_BYTES * 8), 60)
    repaired = sum(damaged.survives(side, bit) for bit in bits)
    assert repaired > 0


@pytest.mark.requirement(63, 64, 65)
@pytest.mark.parametrize("name", [PRIMARY, COPY, MARKER])
def test_a_flipped_bit_anywhere_never_stops_the_table(
    damaged: Damaged, chance: Random, name: str
) -> None:
    for bit in chance.sample(range(damaged.size_bits(name)), 60):
        damaged.survives(name, bit)


@pytest.mark.requirement(65)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
@pytest.mark.parametrize(
    ("text", "by", "why"),
    [
        (b"CHECK (only = 1)", b"CHECK (only = 3)", "its definition of identity was altered"),
        (b"NEW.seq - 1", b"NEW.seq - 3", "its definition of row_follows was altered"),
        (b"TRIGGER row_no_update", b"TRIGGER row_no_\xf5pdate", "malformed database schema"),
    ],
)
def test_an_altered_definition_is_named_and_repaired(
    tmp_path: Path, side: str, text: bytes, by: bytes, why: str
) -> None:
    written = fill(tmp_path, 3)
    overwrite(tmp_path / side, text, by)
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
        assert why in ledger.repairs[0]


def refused(data: Path) -> str:
    before = photograph(data)
    with pytest.raises(Fault) as fault:
        SqliteLedger.open(data, copy=None, table_id="T01")
    assert photograph(data) == before
    return str(fault.value)


@pytest.mark.requirement(65, 66)
def test_the_same_bit_in_both_files_stops_the_table(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    for side in (PRIMARY, COPY):
        flip(tmp_path / side, LAYOUT_BYTES[-1] * 8 + 1)
    assert refused(tmp_path).count("its layout number 3 does not fit its tables") == 2


@pytest.mark.requirement(65, 66)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_a_file_that_is_no_ledger_is_not_rebuilt_from_one_without_rows(
    tmp_path: Path, side: str
) -> None:
    fill(tmp_path, 0)
    flip(tmp_path / side, 0)
    assert "holds no row" in refused(tmp_path)


@pytest.mark.requirement(65, 66)
def test_a_name_that_is_off_in_one_file_is_repaired_only_if_two_others_agree(
    tmp_path: Path,
) -> None:
    written = fill(tmp_path, 3)
    with closing(sqlite3.connect(tmp_path / PRIMARY)) as db:
        (ledger_id,) = db.execute("SELECT ledger_id FROM identity").fetchone()
    wrong = ("1" if ledger_id[0] == "0" else "0") + ledger_id[1:]
    overwrite(tmp_path / COPY, ledger_id.encode(), wrong.encode())
    marker = (tmp_path / MARKER).read_bytes()
    (tmp_path / MARKER).unlink()
    assert "belongs to another ledger of table T01" in refused(tmp_path)
    (tmp_path / MARKER).write_bytes(marker)
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
        assert "the ledger that it names is one letter off" in ledger.repairs[0]


@pytest.mark.requirement(65)
def test_a_first_sector_that_cannot_be_read_is_damage_and_a_lacking_right_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = fill(tmp_path, 3)
    is_wal = ledger_inspect._is_wal
    errors = {tmp_path / COPY: OSError(EACCES, "Permission denied")}

    def worn(path: Path) -> bool:
        if error := errors.pop(path, None):
            raise error
        return is_wal(path)

    monkeypatch.setattr(ledger_inspect, "_is_wal", worn)
    assert "Permission denied" in refused(tmp_path)
    errors[tmp_path / COPY] = OSError(EIO, "Input/output error")
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
        assert "Input/output error" in ledger.repairs[0]


@pytest.mark.requirement(65)
@pytest.mark.parametrize("side", [PRIMARY, COPY])
def test_an_identity_looked_up_on_a_wrong_page_is_damage_and_no_stranger(
    tmp_path: Path, side: str
) -> None:
    """Found by flipping every bit: the root page of one table was that of the other."""
    written = fill(tmp_path, 3)
    tamper(
        tmp_path / side,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema"
        " WHERE name = 'row') WHERE name = 'identity'",
    )
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
        assert "it does not say which table it is for" in ledger.repairs[0]


class Cut:
    """The primary has rows that the copy lacks, as after a power cut or with an old medium."""

    def __init__(self, data: Path, *, lacking: int) -> None:
        self.data = data
        fill(data, 20)
        behind = (data / COPY).read_bytes()
        fill(data, lacking)
        (data / COPY).write_bytes(behind)
        self.written = rows_in(data / PRIMARY)

    def start(self) -> tuple[list[Row], tuple[str, ...]]:
        with closing(SqliteLedger.open(self.data, copy=None, table_id="T01")) as ledger:
            found = list(ledger.rows())
            append(ledger)
            return found, ledger.repairs


@pytest.mark.requirement(62, 65)
@pytest.mark.parametrize("lacking", [1, 50])
def test_rows_that_only_a_damaged_file_has_are_kept_where_the_chain_proves_them(
    tmp_path: Path, lacking: int
) -> None:
    cut = Cut(tmp_path, lacking=lacking)
    overwrite(tmp_path / PRIMARY, b"content of row 0005 ", b"content of row 0905 ")
    found, (repair,) = cut.start()
    assert found == cut.written
    span = "row 21" if lacking == 1 else "rows 21 to 70"
    assert f"rebuilt from {tmp_path / COPY} after {span}, which only it had, had been" in repair
    assert "was damaged at row 5" in repair


@pytest.mark.requirement(62, 65)
def test_a_file_with_a_wrong_layout_number_still_gives_its_last_row(tmp_path: Path) -> None:
    cut = Cut(tmp_path, lacking=1)
    flip(tmp_path / PRIMARY, LAYOUT_BYTES[-1] * 8 + 1)
    assert cut.start()[0] == cut.written


@pytest.mark.requirement(65, 66)
@pytest.mark.parametrize("row", [b"content of row 0021 ", b"content of row 0040 "])
def test_a_row_that_only_a_damaged_file_has_and_nobody_can_prove_stops_the_table(
    tmp_path: Path, row: bytes
) -> None:
    Cut(tmp_path, lacking=50)
    overwrite(tmp_path / PRIMARY, row, row.replace(b"00", b"09"))
    overwrite(tmp_path / PRIMARY, b"content of row 0005 ", b"content of row 0905 ")
    why = refused(tmp_path)
    assert "its first 4 rows are sound" in why
    assert f"{tmp_path / COPY} has only 20 of them" in why


@pytest.mark.requirement(65)
def test_a_known_row_under_a_wrong_number_does_not_count_as_one_that_is_lacking(
    tmp_path: Path,
) -> None:
    written = fill(tmp_path, 5)
    tamper(tmp_path / PRIMARY, "UPDATE row SET seq = 133 WHERE seq = 5")
    with closing(SqliteLedger.open(tmp_path, copy=None, table_id="T01")) as ledger:
        assert list(ledger.rows()) == written
