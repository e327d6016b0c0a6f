"""`feltlink play FILE`: a whole table, driven from a text file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from controller.adapters.pack_files import load_pack, load_table
from controller.config import TableFile, default_table
from controller.domain.errors import BadInput
from controller.options import Parser
from mock_gpio.main import Place
from mock_gpio.play import play

DEFAULT_PACK = "md-uth-a"
ENCODING = "utf-8-sig"  # some editors begin a text with a byte order mark


def run(argv: list[str]) -> int:
    options = _options(argv)
    file = (
        load_table(Path(options.config))
        if options.config
        else default_table(load_pack(DEFAULT_PACK))
    )
    for warning in (*file.warnings, *_linked(file)):
        _warn(f"warning: {warning}")
    with _script(options.file) as lines, _data(options.data) as data:
        play(Place(file, data), lines, _say, _warn)
    return 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="feltlink play",
        description="Drive one simulated table from a script; one JSON object a line.",
    )
    parser.add_argument("file", metavar="FILE", help="the script; - reads standard input")
    parser.add_argument("-c", "--config", metavar="TABLE.TOML", help="the table file")
    parser.add_argument("--data", metavar="DIR", help="keep the ledger here (default: thrown away)")
    parser.add_argument("--json", action="store_true", help="answers are always JSON")
    return parser.parse_args(argv)


def _linked(file: TableFile) -> Iterator[str]:
    for meter in file.settings.meters:
        if meter.link:
            yield f"meter {meter.name} is linked ({meter.link}); a script plays it as a local one."


@contextmanager
def _script(name: str) -> Iterator[IO[str]]:
    if name == "-":
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding=ENCODING, errors="replace")
        yield sys.stdin
        return
    try:  # a byte that is no text spoils its own line, which is then refused
        file = Path(name).open(encoding=ENCODING, errors="replace")  # noqa: SIM115 - closed below
    except OSError as error:
        raise BadInput(f"{name}: cannot be read ({error.strerror}); give a script file.") from error
    with file:
        yield file


@contextmanager
def _data(name: str | None) -> Iterator[Path]:
    if name is not None:
        yield Path(name)
        return
    with TemporaryDirectory(prefix="feltlink-play-") as folder:
        yield Path(folder)


def _say(answer: str) -> None:
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def _warn(sentence: str) -> None:
    sys.stderr.write(f"feltlink: {sentence}\n")
