"""`feltlink rules`: lists the packs, shows one, checks a pack file or a table file.

Decides nothing about rules. `list` must answer at once, so the rest is imported where it is used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from controller.adapters.pack_files import list_heads, load_either, load_pack, pack_ids
from controller.domain.errors import Broken

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from controller.config import TableFile
    from controller.domain.pack import Pack, Pay
    from controller.packfile import PackFile


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.command == "list":
        heads = list_heads()
        answer = _json(heads) if arguments.json else _list_text(heads)
    elif arguments.command == "show":
        pack_file = load_pack(arguments.pack)
        answer = _json(pack_json(pack_file.pack)) if arguments.json else _show_text(pack_file)
    else:
        answer = _check(arguments.file, as_json=arguments.json)
    sys.stdout.write(answer)
    return 0


def _parser() -> argparse.ArgumentParser:
    from controller.options import Parser

    parser = Parser(prog="feltlink rules", description="The rule packs and table files.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listed = commands.add_parser("list", help="the packs that come with the program")
    shown = commands.add_parser("show", help="one pack with the rule behind every value")
    shown.add_argument("pack", metavar="PACK", help="a pack's id, or the path of a pack file")
    checked = commands.add_parser("check", help="say all that is wrong with a file")
    checked.add_argument("file", metavar="FILE", help="a pack file or a table file")
    for command in (listed, shown, checked):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _json(document: object) -> str:
    import json

    return json.dumps(document, indent=2) + "\n"


def _columns(rows: Iterable[tuple[str, ...]], indent: str = "") -> str:
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def _list_text(heads: list[dict[str, object]]) -> str:
    keys = ("id", "jurisdiction", "seats_max", "title")
    rows = [tuple(str(head[key]) for key in keys) for head in heads]
    return _columns([("PACK", "JURISDICTION", "SEATS", "TITLE"), *rows])


def pack_json(pack: Pack) -> dict[str, object]:
    envy: dict[str, dict[str, str]] = {}
    for line in pack.envy:
        envy.setdefault(line.wager.payable(), {})[line.hand.value] = line.amount.payable()
    return {
        "id": pack.id,
        "title": pack.title,
        "source": pack.source,
        "edition": pack.edition,
        "hand_basis": pack.hand_basis.value,
        "seats_max": pack.seats_max,
        "meters": {meter.name: {"minimum": meter.minimum.payable()} for meter in pack.meters},
        "pays": [_pay_json(pay) for pay in pack.pays],
        "envy": envy,
        "fingerprint": pack.fingerprint,
    }


def _pay_json(pay: Pay) -> dict[str, object]:
    from controller.domain.pack import MeterPay, OddsPay

    hand = pay.hand.value
    if isinstance(pay, MeterPay):
        return {"hand": hand, "kind": "meter", "meter": pay.meter, "percent": pay.percent}
    if isinstance(pay, OddsPay):
        style = pay.style.value
        return {"hand": hand, "kind": "odds", "multiplier": pay.multiplier, "style": style}
    raise Broken(f"the line {hand} pays neither from a meter nor at odds")


def _show_text(pack_file: PackFile) -> str:
    pack, cites = pack_file.pack, pack_file.cites
    parts = [
        f"{pack.id}: {pack.title}\n{pack.jurisdiction}; {pack.source}\n",
        _facts(pack_file),
        _part(
            "Pays, in the order in which lines are tested",
            [(pay.hand.value, _pay_text(pay), cites[f"pays.{pay.hand}"]) for pay in pack.pays],
        ),
        _part("Meters", _meter_rows(pack_file)),
        _part(_envy_title(pack_file), _envy(pack_file)),
        _part(
            "Collection fee by number of players",
            [(band.label, cites[f"collection.{band.players_from}"]) for band in pack.collection],
        ),
        _part("Defaults of a table file", _default_rows(pack_file)),
        f"Fingerprint {pack.fingerprint}\n",
    ]
    return "\n".join(part for part in parts if part)


def _part(title: str, rows: list[tuple[str, ...]]) -> str:
    return f"{title}\n{_columns(rows, indent='  ')}" if rows else ""


def _facts(pack_file: PackFile) -> str:
    pack, cites, limits = pack_file.pack, pack_file.cites, pack_file.limits
    rows = [
        ("edition", pack.edition, cites["edition"]),
        ("hand_basis", pack.hand_basis.value, cites["hand_basis"]),
        ("seats_max", str(pack.seats_max), cites["seats_max"]),
    ]
    if limits.wager_max is not None:
        rows.append(("wager_max", limits.wager_max.for_people(), cites["wager_max"]))
    if "stake_returnable" in cites:
        flag = str(limits.stake_returnable).lower()
        rows.append(("stake_returnable", flag, cites["stake_returnable"]))
    for edition in limits.editions:
        most = f"adjacent_boxes at most {edition.adjacent_boxes_max}"
        rows.append((f"edition {edition.name}", most, cites[f"editions.{edition.name}"]))
    return _columns(rows)


def _pay_text(pay: Pay) -> str:
    line = _pay_json(pay)
    if line["kind"] == "meter":
        return f"{line['percent']} % of {line['meter']}"
    return f"{line['multiplier']:,} {line['style']} 1"


def _meter_rows(pack_file: PackFile) -> list[tuple[str, ...]]:
    from controller.domain.money import show_rate

    return [
        (
            meter.name,
            f"at least {meter.minimum.for_people()}",
            pack_file.cites[f"meters.{meter.name}"],
            f"house default: rate {show_rate(meter.default_rate_ppm)},"
            f" reserve {show_rate(meter.default_reserve_rate_ppm)}",
        )
        for meter in pack_file.pack.meters
    ]


def _envy_title(pack_file: PackFile) -> str:
    if not pack_file.pack.envy_scales:
        return "Envy"
    return f"Envy, in proportion for other wagers ({pack_file.cites['envy.scales']})"


def _envy(pack_file: PackFile) -> list[tuple[str, ...]]:
    return [
        (
            f"{line.wager.for_people()} wager",
            line.hand.value,
            line.amount.for_people(),
            pack_file.cites[f"envy.{line.wager.payable()}"],
        )
        for line in pack_file.pack.envy
    ]


def _default_rows(pack_file: PackFile) -> list[tuple[str, ...]]:
    """The settings as the file states them, which is how a table file would restate them."""
    from controller.choices import CHOICE_KEYS
    from controller.document import show

    settings = pack_file.document["settings"]
    stated = settings if isinstance(settings, dict) else {}
    return [(key, show(stated[key]), pack_file.cites[f"settings.{key}"]) for key in CHOICE_KEYS]


def _check(name: str, *, as_json: bool) -> str:
    found = _load(name)
    kind, warnings = _judge(found)
    if as_json:
        return _json(
            {
                "file": name,
                "ok": True,
                "kind": kind,
                "fingerprint": found.pack.fingerprint,
                "warnings": warnings,
            }
        )
    return "".join([f"{name}: good\n", *(f"warning: {warning}\n" for warning in warnings)])


def _load(name: str) -> PackFile | TableFile:
    path = Path(name)
    if not path.exists() and name in pack_ids():
        return load_pack(name)
    return load_either(path)


def _judge(found: PackFile | TableFile) -> tuple[str, list[str]]:
    """A pack is judged by the table that it makes when nobody writes a table file."""
    from controller.config import TableFile, default_table

    if isinstance(found, TableFile):
        return "table", list(found.warnings)
    return "pack", list(default_table(found).warnings)
