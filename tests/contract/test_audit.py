"""`ledger verify` beyond the chain: a forger who can seal rows again is still found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller.adapters.ledger_inspect import read_rows
from controller.adapters.pack_files import load_pack
from controller.audit import audit
from controller.chain import Row, first_bad, seal
from controller.config import default_table
from mock_gpio.main import Place
from mock_gpio.play import play

SCRIPT = """
chip 1
chip 5
lock
count 2
win 5 straight_flush
validate
envy
end
chip 1
chip 2
lock
count 1
strike 2
end
"""

Payload = dict[str, Any]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    data: Path = tmp_path_factory.mktemp("table")
    play(Place(default_table(load_pack("md-uth-a")), data), SCRIPT.splitlines(), lambda _: None)
    return list(read_rows(data / "ledger.sqlite"))


def forged(rows: list[Row], kind: str, change: Callable[[Payload], None]) -> tuple[int, list[Row]]:
    """Change the first row of a kind and seal every row after it again, as a forger would."""
    at = next(row.seq for row in rows if row.kind == kind)
    payload = json.loads(rows[at - 1].payload)
    change(payload)
    changed = [*rows]
    changed[at - 1] = replace(rows[at - 1], payload=json.dumps(payload).encode())
    sealed: list[Row] = []
    for row in changed:
        previous = sealed[-1].hash if sealed else row.previous
        fields = {f: getattr(row, f) for f in ("seq", "boot", "time", "kind", "version", "payload")}
        sealed.append(seal(previous=previous, **fields))
    assert first_bad(sealed) is None
    return at, sealed


@pytest.mark.requirement(42, 44)
def test_an_honest_evening_passes_the_audit_to_its_last_row(rows: list[Row]) -> None:
    found = audit(rows)
    assert (found.finding, found.rows) == (None, len(rows))
    assert found.table is not None
    assert found.table.round.number == 3


def one_micro_cent_more(payload: Payload) -> None:
    entry = payload["postings"][0]
    entry["amount"] = f"{entry['amount'][:-1]}1"


def another_paid_amount(payload: Payload) -> None:
    payload["win"]["amount"] = "999.00000000"


def a_quiet_fall(payload: Payload) -> None:
    entry = {"meter": "meter", "source": "current", "target": "voided", "amount": "0.01000000"}
    payload["priced"]["postings"].append(entry)


def another_reading(payload: Payload) -> None:
    payload["readings"][0]["current"] = "9000.00000000"


@pytest.mark.requirement(44, 50, 91)
@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        ("round_proved", one_micro_cent_more, "wagers times the rate"),
        ("miscount_resolved", one_micro_cent_more, "wagers times the rate"),
        ("win_validated", another_paid_amount, "another amount than was held"),
        ("win_validated", a_quiet_fall, "falls without a cause"),
        ("round_ended", another_reading, "other meters than stood"),
    ],
)
def test_a_forged_amount_is_found_although_the_chain_is_sealed_again(
    rows: list[Row], kind: str, change: Callable[[Payload], None], why: str
) -> None:
    at, sealed = forged(rows, kind, change)
    finding = audit(sealed).finding
    assert finding is not None
    assert finding.seq == at
    assert why in finding.why


def test_a_row_that_cannot_follow_is_named_by_its_number(rows: list[Row]) -> None:
    without_lock = [row for row in rows if row.kind != "bets_locked"]
    finding = audit(without_lock).finding
    assert finding is not None
    assert "RoundProved cannot follow while open" in finding.why


def test_a_row_of_a_kind_nobody_knows_stops_the_audit_there(rows: list[Row]) -> None:
    finding = audit([*rows[:3], replace(rows[3], kind="wager_forgotten")]).finding
    assert finding is not None
    assert (finding.seq, "not known to this software" in finding.why) == (4, True)


def test_a_ledger_that_does_not_begin_with_its_commissioning_is_refused(rows: list[Row]) -> None:
    finding = audit(rows[1:]).finding
    assert finding is not None
    assert "before the table was commissioned" in finding.why
