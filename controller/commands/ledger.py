"""`feltlink ledger verify DIR` and `export DIR`: read-only, for auditors."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from controller.adapters.ledger_inspect import SideReport, inspect, read_rows
from controller.adapters.ledger_repair import MARKER_NAME
from controller.audit import Audit, Finding, audit
from controller.domain.errors import BadInput, Fault
from controller.options import Parser


def run(argv: list[str]) -> int:
    options = _options(argv)
    data = Path(options.directory)
    if not data.is_dir():
        raise BadInput(f"{data}: there is no such directory; give a table's data directory.")
    sides = inspect(data, Path(options.copy) if options.copy else None)
    commissioned = (data / MARKER_NAME).exists()
    if all(side.state == "missing" for side in sides):
        if commissioned:
            raise Fault(f"{data}: the table was commissioned, but both ledger files are gone.")
        raise BadInput(f"{data}: no ledger is here; give a table's data directory.")
    if options.action == "export":
        return _export(sides)
    return _verify(sides, commissioned=commissioned, as_json=options.json)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = Parser(prog="feltlink ledger", description=__doc__)
    parser.add_argument("action", choices=("verify", "export"))
    parser.add_argument("directory", metavar="DIR", help="a table's data directory")
    parser.add_argument("--copy", metavar="DIR", help="where the second copy is, if not DIR/copy")
    parser.add_argument(
        "--json", action="store_true", help="one JSON document; export always prints JSON lines"
    )
    return parser.parse_args(argv)


def _verify(sides: tuple[SideReport, SideReport], *, commissioned: bool, as_json: bool) -> int:
    best = _best(sides)
    audited = audit(islice(read_rows(best.path), best.rows))
    finding = audited.finding or _finding(sides, best, commissioned=commissioned)
    trouble = finding.why if finding else _lag(sides, best)
    if as_json:
        document = _document(sides, finding, best, trouble) | {"meters": _meters(audited)}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        _say(sides, finding, trouble)
        _say_meters(audited)
    return 1 if trouble else 0


def _finding(
    sides: tuple[SideReport, SideReport], best: SideReport, *, commissioned: bool
) -> Finding | None:
    """What no start of the table would mend: it takes a person."""
    if best.state != "good":
        return _chain(best)
    if commissioned and best.rows == 0:
        return Finding(1, "the table was commissioned, but its ledger holds no row")
    one, other = sides
    if other.state != "good" or one.state != "good" or one.head == other.head:
        return None
    if one.ledger != other.ledger:
        return Finding(1, f"{one.path} and {other.path} are files of two different ledgers")
    pairs = zip(read_rows(one.path), read_rows(other.path), strict=False)
    forked = next((ours.seq for ours, theirs in pairs if ours.hash != theirs.hash), None)
    return Finding(forked, "from here on the two files tell different stories") if forked else None


def _lag(sides: tuple[SideReport, SideReport], best: SideReport) -> str:
    """What the next start of the table mends by itself; empty if there is nothing to mend."""
    for side in sides:
        if side.state != "good":
            return f"{side.path} is {side.state}; starting the table makes it anew"
        if side.rows < best.rows:
            return f"{side.path} lacks rows after {side.rows}; starting the table adds them"
    return ""


def _best(sides: tuple[SideReport, SideReport]) -> SideReport:
    """The side to read: a good one before a damaged one, the longer before the shorter."""
    return max(sides, key=lambda side: (side.state == "good", side.rows))


def _chain(side: SideReport) -> Finding:
    return Finding(side.first_bad or side.rows + 1, side.why)


def _meters(audited: Audit) -> dict[str, dict[str, str]]:
    """The meters after the last row that holds; beyond it nothing is proven."""
    meters = audited.table.meters if audited.table else ()
    return {
        meter.name: {
            "current": meter.current.exact(),
            "reserve": meter.reserve.exact(),
            "held": meter.held.exact(),
        }
        for meter in meters
    }


def _say_meters(audited: Audit) -> None:
    for name, amounts in _meters(audited).items():
        values = ", ".join(f"{account} {amount}" for account, amount in amounts.items())
        sys.stdout.write(f"meter {name}, proven up to row {audited.rows}: {values}\n")


def _document(
    sides: tuple[SideReport, SideReport], finding: Finding | None, best: SideReport, trouble: str
) -> dict[str, object]:
    bad = next((side.first_bad for side in sides if side.first_bad), None)
    return {
        "ok": not trouble,
        "rows": best.rows,
        "head": best.head,
        "first_bad": finding.seq if finding else bad,
        "why": trouble or None,
        "sides": [asdict(side) | {"path": str(side.path)} for side in sides],
    }


def _say(sides: tuple[SideReport, SideReport], finding: Finding | None, trouble: str) -> None:
    for side in sides:
        detail = f"{side.rows} rows, head {side.head}" if side.state == "good" else side.why
        where = f", first bad row {side.first_bad}" if side.first_bad else ""
        sys.stdout.write(f"{side.path}: {side.state}{where}: {detail}\n")
    if finding is not None:
        sys.stdout.write(f"first bad row {finding.seq}: {finding.why}\n")
    else:
        good = "every row follows; the money identity holds to the micro-cent"
        sys.stdout.write(f"{trouble or good}\n")


def _export(sides: tuple[SideReport, SideReport]) -> int:
    best = _best(sides)
    if best.state != "good":
        sys.stderr.write(f"feltlink: {best.path} is damaged ({best.why}); exporting what reads.\n")
    for row in read_rows(best.path):
        document = {
            "seq": row.seq,
            "boot": row.boot,
            "time": row.time,
            "kind": row.kind,
            "version": row.version,
            "payload": _payload(row.payload),
            "previous": row.previous,
            "hash": row.hash,
        }
        sys.stdout.write(json.dumps(document) + "\n")
    if best.state != "good":
        raise Fault("What was exported comes from a damaged ledger; keep both media as they are.")
    return 0


def _payload(payload: bytes) -> object:
    try:
        return json.loads(payload)
    except ValueError:
        return payload.decode("utf-8", "replace")
