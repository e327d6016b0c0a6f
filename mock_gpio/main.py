"""Composition root of the simulated table process: the table's own loop on simulated pins and a
simulated clock. It dies by SIGKILL and starts again from disk.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Final

from controller.config import TableFile
from controller.domain.errors import Broken, Fault, Refused
from controller.domain.money import parse_money
from controller.domain.table import Phase
from controller.hardware import sensor
from controller.ports import Ledger
from controller.process import OpenLedger, ledger_opener
from mock_gpio.bench import Bench
from mock_gpio.table import EPOCH, SimulatedTable

NEW_WORLD: Final = '{"chips": [], "bets": [], "now_us": null}'
START_MS: Final = 200  # a start takes longer than a chip needs to settle


@dataclass(frozen=True, slots=True)
class Place:
    """Where a simulated table lives."""

    file: TableFile
    data: Path


def _after(label: str) -> int:
    """Simulated time goes on a second after the last row of an earlier run."""
    last = datetime.fromisoformat(label)
    return (last - EPOCH) // timedelta(microseconds=1) + 1_000_000


def build(ledger: Ledger, file: TableFile, world: str, again: OpenLedger) -> Bench:
    """Wire one table. The chips lie where the world says before the first sensor is read."""
    opened = [ledger]

    def open_ledger() -> Ledger:
        return opened.pop() if opened else again()

    there = json.loads(world)
    now_us = there["now_us"]
    if now_us is None:
        now_us = _after(ledger.head.time) if ledger.head else 0
    wagers = file.settings.wagers
    lying = [sensor(seat, wagers.index(parse_money(amount))) for seat, amount in there["chips"]]
    table = SimulatedTable(file, open_ledger, now_us=now_us, lying=lying)
    if table.unit.service is None:
        raise Fault(table.unit.down)
    table.pass_ms(START_MS)
    return Bench(table, [(seat, parse_money(amount)) for seat, amount in there["bets"]])


def serve(place: Place, world: str, requests: IO[str], replies: IO[str]) -> None:
    """Answer script lines until the requests end. Every reply follows the commit, never leads it.

    A request is a line number, a tab and the script line; a reply is two lines: the answer as
    JSON, and the world as a power cut would find it.
    """
    try:
        opener = ledger_opener(place.file, place.data)
        ledger = opener()
        bench = build(ledger, place.file, world, opener)
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
