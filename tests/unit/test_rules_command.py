"""`feltlink rules`: the shapes that scripts rely on, and what people read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from controller.adapters.pack_files import PACKS, load_pack, pack_ids
from controller.commands.rules import run
from controller.domain.errors import BadInput

DOCS = Path(__file__).parents[2] / "docs"


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run(list(argv)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def document(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    return json.loads(answer(capsys, *argv, "--json"))


def test_list_gives_scripts_four_facts_of_each_pack(capsys: pytest.CaptureFixture[str]) -> None:
    packs = document(capsys, "list")
    assert [pack["id"] for pack in packs] == pack_ids()
    assert packs[0] == {
        "id": "ca-texas-holdem",
        "title": "Texas Hold'em, ten seats, no progressive",
        "jurisdiction": "California",
        "seats_max": 10,
    }


def test_list_gives_people_a_table_with_straight_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = answer(capsys, "list").splitlines()
    assert len(lines) == 1 + len(pack_ids())
    column = lines[0].index("JURISDICTION")
    assert {line[column:].split("  ")[0] for line in lines[1:]} == {
        "California",
        "Maryland",
        "South Dakota",
    }


def test_listing_the_packs_loads_nothing_that_reading_one_needs() -> None:
    code = (
        "import sys; from controller.adapters.pack_files import list_heads; list_heads();"
        "print(*sorted({'dataclasses', 'argparse', 'json', 'controller.packfile',"
        " 'controller.document', 'controller.config'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


@pytest.mark.requirement(22)
def test_show_gives_scripts_the_paytable_in_the_order_of_testing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pack = document(capsys, "show", "md-uth-a")
    assert list(pack) == [
        "id",
        "title",
        "source",
        "edition",
        "hand_basis",
        "seats_max",
        "meters",
        "pays",
        "envy",
        "fingerprint",
    ]
    assert pack["meters"] == {"meter": {"minimum": "10000.00"}}
    assert pack["pays"][1] == {
        "hand": "straight_flush",
        "kind": "meter",
        "meter": "meter",
        "percent": 10,
    }
    assert pack["pays"][2] == {
        "hand": "four_of_a_kind",
        "kind": "odds",
        "multiplier": 300,
        "style": "to",
    }
    assert pack["envy"] == {
        "1.00": {"royal_flush": "1000.00", "straight_flush": "300.00"},
        "5.00": {"royal_flush": "5000.00", "straight_flush": "1500.00"},
    }
    assert pack["fingerprint"] == load_pack("md-uth-a").pack.fingerprint


def test_show_says_so_when_there_is_no_envy_and_no_meter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pack = document(capsys, "show", "ca-texas-holdem")
    assert (pack["meters"], pack["pays"], pack["envy"]) == ({}, [], {})


@pytest.mark.parametrize("name", pack_ids())
def test_show_gives_people_every_citation_of_a_pack(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text = answer(capsys, "show", name)
    pack_file = load_pack(name)
    assert all(cite in text for cite in pack_file.cites.values())
    assert pack_file.pack.fingerprint in text
    assert all(pay.hand.value in text for pay in pack_file.pack.pays)


def test_check_finds_a_good_pack_good(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(PACKS / "md-uth-a.toml")
    assert answer(capsys, "check", path) == f"{path}: good\n"
    assert document(capsys, "check", path) == {
        "file": path,
        "ok": True,
        "kind": "pack",
        "fingerprint": load_pack("md-uth-a").pack.fingerprint,
        "warnings": [],
    }


def test_check_finds_a_good_table_file_good(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DOCS / "examples" / "ca-table.toml")
    found = document(capsys, "check", path)
    assert (found["kind"], found["ok"], found["warnings"]) == ("table", True, [])
    royal = load_pack(str(DOCS / "examples" / "ca-royal.toml"))
    assert found["fingerprint"] == royal.pack.fingerprint


@pytest.mark.parametrize("file", ["md-jh-e", str(PACKS / "md-jh-e.toml")])
def test_check_warns_of_a_paytable_that_returns_more_than_the_wager(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    good, warning = answer(capsys, "check", file).splitlines()
    assert good == f"{file}: good"
    assert warning.startswith("warning: md-jh-e with its defaults: ")
    assert "111.21 %" in warning
    assert len(document(capsys, "check", file)["warnings"]) == 1


def test_check_warns_of_a_table_file_that_returns_more_than_the_wager(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[table]\nid = "T01"\n[rules]\npack = "md-jh-e"\n', "utf-8")
    assert "111.21 %" in answer(capsys, "check", str(path))
    path.write_text('[rules]\npack = "md-jh-e"\nwagers = ["5.00"]\n[table]\nid = "T"\n', "utf-8")
    assert answer(capsys, "check", str(path)) == f"{path}: good\n"


def test_check_raises_every_problem_and_prints_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[rules]\npack = "md-uth-a"\ncount = "guess"\n', "utf-8")
    with pytest.raises(BadInput) as caught:
        run(["check", str(path), "--json"])
    assert len(caught.value.problems) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "argv", [[], ["show"], ["check"], ["frobnicate"], ["list", "--colour"], ["show", "nope"]]
)
def test_a_command_line_that_cannot_be_used_is_bad_input(argv: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        run(argv)
    (problem,) = caught.value.problems
    assert "\n" not in problem
