"""What the ledger suites do to ledger files: fill, forge, damage, photograph, kill."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from controller.adapters.ledger_file import INSERT, row_values, rows_after
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.chain import Row, seal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes import FakeLedger

PRIMARY = "ledger.sqlite"
COPY = "copy/ledger.sqlite"

KILL_SELF = "import os, signal; kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
OPEN = """
import sys
from pathlib import Path
from controller.adapters import ledger_file, ledger_repair
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.domain.errors import Fault
def open_ledger():
    return SqliteLedger.open(Path(sys.argv[1]), copy=None, table_id="T01")
def append(ledger, text):
    return ledger.append(boot=1, time="noon", kind="any", version=1, payload=text.encode())
def add(ledger, text):
    append(ledger, text)
    ledger.mirror()
"""

KILLED_AFTER_TWENTY_ROWS = """
ledger = open_ledger()
for number in range(20):
    add(ledger, f"row {number}")
kill()
"""


def append(ledger: SqliteLedger | FakeLedger, *, boot: int = 1, kind: str = "wager_taken") -> Row:
    """One row, durable in the primary; the copy lacks it until the next step or mirror()."""
    seq = ledger.head.seq + 1 if ledger.head else 1
    return ledger.append(
        boot=boot,
        time="2026-11-18T10:00:00Z",
        kind=kind,
        version=1,
        payload=f"content of row {seq:04d} ".encode() * 8,
    )


def add(ledger: SqliteLedger | FakeLedger, count: int, *, boot: int = 1) -> list[Row]:
    """Rows as the table's loop writes them: append, light the lamps, mirror."""
    rows = []
    for _ in range(count):
        rows.append(append(ledger, boot=boot))
        ledger.mirror()
    return rows


def fill(data: Path, count: int = 200) -> list[Row]:
    """A table that ran, appended rows and was shut down in good order."""
    with closing(SqliteLedger.open(data, copy=None, table_id="T01")) as ledger:
        return add(ledger, count)


def rows_in(path: Path) -> list[Row]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return list(rows_after(db, 0))


def tamper(path: Path, *statements: str) -> None:
    """Change a file behind the ledger's back, its triggers dropped first."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)


def forge_next_row(path: Path, payload: bytes = b"forged") -> None:
    """A stranger writes a row that continues the chain."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        *_, last = rows_after(db, 0)
        row = seal(
            previous=last.hash,
            seq=last.seq + 1,
            boot=9,
            time="",
            kind="forged",
            version=1,
            payload=payload,
        )
        db.execute(INSERT, row_values(row))


def photograph(folder: Path) -> dict[str, bytes]:
    """Every file below the folder; the lock carries no content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def overwrite(path: Path, text: bytes, by: bytes) -> None:
    content = path.read_bytes()
    assert text in content
    path.write_bytes(content.replace(text, by))


def run_child(script: str, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", KILL_SELF + OPEN + script, str(data)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def run_killed(script: str, data: Path) -> None:
    """Run a table process that must end by SIGKILL, as by a power cut for all but the disk."""
    child = run_child(script, data)
    assert child.returncode == -signal.SIGKILL, child.stderr
