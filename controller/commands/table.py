"""`feltlink table -c table.toml`: the table daemon."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from controller.adapters.pack_files import load_map, load_table
from controller.config import default_hardware
from controller.daemon import open_daemon
from controller.options import Parser

DEFAULT_DATA = "feltlink-data"


def run(argv: list[str]) -> int:
    options = _options(argv)
    file = load_table(Path(options.config))
    hardware = file.hardware or default_hardware(file, load_map)
    open_daemon(file, hardware, Path(options.data), _say).run()
    return 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = Parser(prog="feltlink table", description="Run one table until it is told to stop.")
    parser.add_argument(
        "-c", "--config", metavar="TABLE.TOML", required=True, help="the table file"
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=DEFAULT_DATA,
        help=f"where the ledger is kept (default: {DEFAULT_DATA})",
    )
    return parser.parse_args(argv)


def _say(sentence: str) -> None:
    sys.stderr.write(f"feltlink: {sentence}\n")
    sys.stderr.flush()
