"""Composition root of the simulated table process: the real service, ledger and displays,
with simulated sensors and a simulated clock. It dies by SIGKILL and starts again from disk.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Final

from controller import VERSION
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.config import TableFile
from controller.domain.errors import Broken, Fault, Refused
from controller.domain.money import parse_money
from controller.domain.table import Phase
from controller.ports import Ledger
from controller.service import TableService
from mock_gpio.bench import Bench
from mock_gpio.board import SETTLE_MS, FakeBoard

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
NEW_WORLD: Final = '{"chips": [], "bets": [], "now_ms": null}'


@dataclass(frozen=True, slots=True)
class Place:
    """Where a simulated table lives."""

    file: TableFile
    data: Path


class SimulatedClock:
    """Wall time of the simulation: a fixed start plus what the script let pass."""

    def __init__(self, board: FakeBoard) -> None:
        self._board = board

    def label(self) -> str:
        now = EPOCH + timedelta(milliseconds=self._board.now_ms)
        return now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _after(label: str) -> int:
    """Simulated time goes on a second after the last row of an earlier run."""
    last = datetime.fromisoformat(label)
    return (last - EPOCH) // timedelta(milliseconds=1) + 1000


def open_ledger(place: Place) -> SqliteLedger:
    copy = place.file.ledger_copy
    return SqliteLedger.open(
        place.data,
        copy=Path(copy) if copy else None,
        table_id=place.file.settings.table_id,
    )


def build(ledger: Ledger, file: TableFile, world: str) -> Bench:
    """Wire one table. The chips lie where the world says before the first sensor is read."""
    there = json.loads(world)
    now_ms = there["now_ms"]
    if now_ms is None:
        now_ms = _after(ledger.head.time) if ledger.head else 0
    board = FakeBoard(now_ms=now_ms)
    for seat, amount in there["chips"]:
        board.sense(seat, parse_money(amount), covered=True)
        board.now_ms += 1  # of two chips at a seat the first one stays the first
    board.now_ms += SETTLE_MS  # a start takes longer than a chip needs to settle
    service = TableService(
        ledger=ledger, board=board, clock=SimulatedClock(board), file=file, software=VERSION
    )
    return Bench(service, board, [(seat, parse_money(amount)) for seat, amount in there["bets"]])


def serve(place: Place, world: str, requests: IO[str], replies: IO[str]) -> None:
    """Answer script lines until the requests end. Every reply follows the commit, never leads it.

    A request is a line number, a tab and the script line; a reply is two lines: the answer as
    JSON, and the world as a power cut would find it.
    """
    try:
        ledger = open_ledger(place)
    except Fault as fault:
        _reply(replies, json.dumps({"fault": str(fault)}), world)
        return
    try:
        bench = build(ledger, place.file, world)
        if world == NEW_WORLD and bench.phase == Phase.CLOSED:
            bench.open_for_script()
    except (Fault, Broken, Refused) as stopped:
        _reply(replies, json.dumps({"fault": str(stopped)}), world)
        return
    hello = {"phase": bench.phase, "repairs": ledger.repairs}
    _reply(replies, json.dumps(hello), bench.world())
    for request in requests:
        number, _, text = request.rstrip("\n").partition("\t")
        _reply(replies, json.dumps(bench.answer(int(number), text)), bench.world())
    ledger.close()


def _reply(replies: IO[str], answer: str, world: str) -> None:
    replies.write(f"{answer}\n{world}\n")
    replies.flush()
