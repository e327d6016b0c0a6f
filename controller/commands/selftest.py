"""`feltlink selftest -c table.toml`: every wire of a table, walked with a technician."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, TextIO

from controller.adapters.ledger_file import reading_beside
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.adapters.machine import SystemClock
from controller.adapters.pack_files import load_map, load_table
from controller.config import TableFile, default_hardware
from controller.domain.errors import BadInput, Fault
from controller.hardware import FactoryName, Hardware
from controller.hardware_file import simulated
from controller.options import Parser
from controller.process import OpenLedger
from controller.selftest.coin import Coins
from controller.selftest.gear import open_gear
from controller.selftest.record import Record
from controller.selftest.simulated import SimulatedTechnician
from controller.selftest.terminal import Terminal
from controller.selftest.walk import Order, Walk

DEFAULT_DATA: Final = "feltlink-data"
SIMULATED_NAME: Final = "simulated technician"
ENDING: Final = (signal.SIGHUP, signal.SIGTERM)


def run(argv: list[str]) -> int:
    options = _options(argv)
    talk = sys.stderr if options.json else sys.stdout
    file = load_table(Path(options.config))
    hardware = _hardware(file, simulate=options.simulate)
    _refuse_taken(options.record)
    for warning in file.warnings:
        _say(talk, f"warning: {warning}")
    with _beside(Path(options.data)), tempfile.TemporaryDirectory(prefix="feltlink-") as folder:
        coins = Coins(_throw_away(file, Path(folder)), options.each_seat)
        record = _walk(file, hardware, coins, options, talk)
    text = record.as_json() if options.json else record.as_text()
    try:
        if options.record is not None:
            _write(Path(options.record), text)
    finally:
        sys.stdout.write(text if options.json else f"\n{text}")
    return 0 if record.is_passed else 1


def _walk(
    file: TableFile, hardware: Hardware, coins: Coins, options: argparse.Namespace, talk: TextIO
) -> Record:
    order = partial(Order, file=file, hardware=hardware, date=SystemClock().label(), coins=coins)
    if options.simulate:
        hands = SimulatedTechnician(hardware, say=partial(_say, talk))
        who = options.by or SIMULATED_NAME
        return Walk(order(by=who, simulated=True), hands).run(hands.gear)
    terminal = Terminal(sys.stdin.fileno(), talk)
    who = options.by or terminal.name()
    with _signals_stop():
        return Walk(order(by=who, simulated=False), terminal).run(partial(open_gear, hardware))


@contextmanager
def _signals_stop() -> Iterator[None]:
    """A lost connection ends the test as Ctrl-C does: lamps and displays go dark first."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(out: TextIO, text: str) -> None:
    out.write(f"{text}\n")


def _hardware(file: TableFile, *, simulate: bool) -> Hardware:
    settings = file.settings
    if simulate:
        return simulated(file.hardware, seats=settings.seats, spots=len(settings.wagers))
    hardware = file.hardware or default_hardware(file, load_map)
    if hardware.factory is FactoryName.MOCK:
        raise BadInput(
            'The table file says factory = "mock", and nobody can press simulated keys: add'
            " --simulate, or name the factory of the real pins."
        )
    return hardware


def _beside(data: Path) -> AbstractContextManager[object]:
    """Keep the daemon from starting meanwhile; one that runs has to be stopped first."""
    held = ExitStack()
    try:
        is_running = held.enter_context(reading_beside(data))
    except PermissionError:
        raise Fault(
            f"{data} may not be looked at, and the daemon may be running on it: use sudo."
        ) from None
    if is_running:
        held.close()
        raise Fault(
            f"The daemon runs on {data}: stop the daemon first: systemctl stop feltlink-table."
        )
    return held


def _throw_away(file: TableFile, folder: Path) -> Callable[[], OpenLedger]:
    """Ledgers in a folder that is deleted, whatever place for a copy the table file names."""
    numbers, table_id = count(1), file.settings.table_id

    def new_ledger() -> OpenLedger:
        place = folder / str(next(numbers))
        return lambda: SqliteLedger.open(place, copy=None, table_id=table_id)

    return new_ledger


def _refuse_taken(record: str | None) -> None:
    """Found out now, and not after the technician has tested everything."""
    if record is None:
        return
    path = Path(record)
    if path.exists():
        raise BadInput(f"{path} exists; a record is never overwritten: name another file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"{path} cannot be written; name a file in a folder that is yours.")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Fault(
            f"The record could not be written to {path} ({error.strerror}): keep what is printed,"
            " and see to that folder."
        ) from error


def _options(argv: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="feltlink selftest",
        description="Walk every sensor, lamp, key and display with a technician.",
        epilog="Exit status: 0 passed, 1 failed or could not run, 2 bad input.",
    )
    parser.add_argument(
        "-c", "--config", metavar="TABLE.TOML", required=True, help="the table file"
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=DEFAULT_DATA,
        help=f"the daemon's data, only to see that it does not run (default: {DEFAULT_DATA})",
    )
    parser.add_argument("--by", metavar="NAME", help="who runs it; asked for if missing")
    parser.add_argument(
        "--each-seat", action="store_true", help="the coin test also takes each seat alone"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the record as JSON; questions go to stderr"
    )
    parser.add_argument("--record", metavar="FILE", help="also write the record to a new file")
    parser.add_argument(
        "--simulate", action="store_true", help="let a simulated technician do everything"
    )
    return parser.parse_args(argv)
