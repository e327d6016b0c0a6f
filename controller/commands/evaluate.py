"""`feltlink evaluate`: names a hand and, with a pack, the line it wins. Moves no money.

One deal stands on the command line, or `-` reads one a line and answers one JSON object a line.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable
from typing import Final

from controller.domain.cards import Deal, parse_deal
from controller.domain.errors import BadInput
from controller.domain.hands import Evaluation, evaluate, winning_line
from controller.domain.pack import Hand, MeterPay, OddsPay, Pack
from controller.options import Parser

_BAD_INPUT: Final = 2


def run(argv: list[str]) -> int:
    options = _parser().parse_args(argv)
    pack = _load(options.pack) if options.pack is not None else None
    if options.deal == "-":
        return _answer_lines(_standard_input(), pack)
    deal = parse_deal(options.deal)
    _say(json.dumps(_answer(deal, pack)) if options.json else _sentence(deal, pack))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="feltlink evaluate",
        description="Name the best hand in a deal and, with a pack, the line it wins.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "deal",
        metavar="DEAL",
        help='hole cards, a bar, community cards in the order dealt: "Ah Kh | Qh Jh Th 2c 3d";'
        " - reads one deal a line from standard input and answers one JSON object a line",
    )
    parser.add_argument("--pack", metavar="PACK", help="a rule pack, by its id or its file")
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    return parser


def _load(name: str) -> Pack:
    from controller.adapters.pack_files import load_pack

    return load_pack(name).pack


def _standard_input() -> Iterable[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A stray byte spoils its own line only.
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin


def _answer_lines(lines: Iterable[str], pack: Pack | None) -> int:
    status = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = _answer(parse_deal(line), pack)
        except BadInput as bad:
            answer = {"error": "; ".join(bad.problems)}
            status = _BAD_INPUT
        _say(json.dumps(answer))
    return status


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # a program at the other end may wait for each answer


def _answer(deal: Deal, pack: Pack | None) -> dict[str, object]:
    found = evaluate(deal)
    answer: dict[str, object] = {
        "hand": found.hand,
        "suit": found.suit,
        "cards": [str(card) for card in found.cards],
        "first_five": found.first_five,
        "community": found.community,
    }
    return answer if pack is None else answer | {"line": winning_line(deal, pack)}


def _sentence(deal: Deal, pack: Pack | None) -> str:
    found = evaluate(deal)
    parts = [f"{_name(found)}: {' '.join(str(card) for card in found.cards)}"]
    if found.first_five and len(deal.cards) > len(found.cards):
        parts.append("in the first five cards")
    if found.community:
        parts.append("on the board")
    if pack is not None:
        parts.append(_outcome(pack, winning_line(deal, pack)))
    return "; ".join(parts)


def _name(found: Evaluation) -> str:
    name = found.hand.replace("_", " ").capitalize()
    return name if found.suit is None else f"{name} of {found.suit}"


def _outcome(pack: Pack, line: Hand | None) -> str:
    pay = pack.pay_for(line) if line is not None else None
    if isinstance(pay, MeterPay):
        return f"wins {pay.hand} ({pay.percent} % of {pay.meter})"
    if isinstance(pay, OddsPay):
        return f"wins {pay.hand} ({pay.multiplier} {pay.style} 1)"
    return f"wins nothing on {pack.id}"
