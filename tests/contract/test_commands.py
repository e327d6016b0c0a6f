"""`feltlink play` and `feltlink ledger` as a person calls them, on real files."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from controller.cli import main

ROUND = "chip 1\nchip 6\nlock\ncount 2\nwin 6 royal_flush\nshow\n"


def table_file(folder: Path, text: str = "") -> str:
    path = folder / "table.toml"
    path.write_text(f'[table]\nid = "T07"\n[rules]\npack = "md-uth-a"\n{text}')
    return str(path)


def script(folder: Path, text: str) -> str:
    path = folder / "script.txt"
    path.write_text(text)
    return str(path)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def damage(path: Path) -> None:
    """What somebody with write access can do: drop the triggers and change an amount."""
    with closing(sqlite3.connect(path)) as db, db:
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE row SET payload = replace(payload, '1.00', '9.00') WHERE seq = 6")


def test_a_script_is_answered_line_by_line_and_comments_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path, "# an evening\nchip 1  # seat one\n\nlock\nnonsense\n")
    assert main(["play", path]) == 0
    first, second, third = answers(capsys)
    assert first == {"line": 2, "input": "chip 1", "ok": True, "phase": "open"}
    assert (second["line"], second["phase"]) == (4, "locked")
    assert third["ok"] is False
    assert "is not an input" in str(third["why"])


def test_a_dash_reads_the_script_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("chip 2\nshow\n"))
    assert main(["play", "-"]) == 0
    shown = answers(capsys)[1]["table"]
    assert isinstance(shown, dict)
    assert shown["lamps"]["2"] == "seen"
    assert "SIMULATED" in shown["dealer"]
    assert "SIMULATED" in shown["meter_display"]


def test_bytes_that_are_no_text_spoil_their_own_line_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_bytes(b"chip 1\r\n\xff\xfe 2\nlock\n")
    assert main(["play", str(path)]) == 0
    assert [answer["ok"] for answer in answers(capsys)] == [True, False, True]


@pytest.mark.requirement(62)
def test_a_data_directory_keeps_the_table_from_one_script_to_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, config = str(tmp_path / "data"), table_file(tmp_path)
    assert main(["play", script(tmp_path, ROUND), "-c", config, "--data", data]) == 0
    before = answers(capsys)[-1]["table"]
    assert main(["play", script(tmp_path, "show\n"), "-c", config, "--data", data]) == 0
    assert answers(capsys)[-1]["table"] == before


def test_a_linked_meter_is_played_as_a_local_one_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = table_file(tmp_path, '[meters.meter]\nlink = "strip"\n')
    assert main(["play", script(tmp_path, "show\n"), "-c", config]) == 0
    assert "meter is linked (strip)" in capsys.readouterr().err


def test_a_bad_table_file_or_script_is_bad_input_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = table_file(tmp_path, "seats = 0\n[meters.meter]\nseed = 5\n")
    assert main(["play", script(tmp_path, "show\n"), "-c", config]) == 2
    problems = capsys.readouterr().err.splitlines()
    assert len(problems) >= 2
    assert all("table.toml" in problem for problem in problems)
    assert main(["play", str(tmp_path / "none.txt")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.requirement(47, 48)
def test_a_changed_table_file_takes_effect_only_closed_and_with_an_approval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, closing_script = str(tmp_path / "data"), script(tmp_path, "close\n")
    assert main(["play", closing_script, "-c", table_file(tmp_path), "--data", data]) == 0
    changed = table_file(tmp_path, '[meters.meter]\nrate = "0.3"\n')
    assert main(["play", closing_script, "-c", changed, "--data", data]) == 1
    assert "[approval]" in capsys.readouterr().err
    approved = '[meters.meter]\nrate = "0.3"\n[approval]\nby = "R. Vale"\nreference = "MC-12"\n'
    table = table_file(tmp_path, approved)
    assert main(["play", closing_script, "-c", table, "--data", data]) == 0
    capsys.readouterr()
    assert main(["ledger", "export", data]) == 0
    rows = answers(capsys)
    (change,) = (row["payload"] for row in rows if row["kind"] == "settings_changed")
    assert isinstance(change, dict)
    assert change["by"]["name"] == "R. Vale"
    assert change["reference"] == "MC-12"
    assert change["changes"] == ["meters.meter.rate_ppm: 200000 -> 300000"]


@pytest.mark.requirement(63, 65)
def test_verify_names_the_first_bad_row_and_the_next_start_repairs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, config = tmp_path / "data", table_file(tmp_path)
    assert main(["play", script(tmp_path, ROUND), "-c", config, "--data", str(data)]) == 0
    assert main(["ledger", "verify", str(data)]) == 0
    said = capsys.readouterr().out
    assert "the money identity holds" in said
    assert "meter meter, proven up to row 8: current 10000.10000000, reserve 0.00000000" in said
    damage(data / "ledger.sqlite")
    assert main(["ledger", "verify", str(data), "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["ok"], verdict["first_bad"]) == (False, 6)
    assert main(["play", script(tmp_path, "show\n"), "-c", config, "--data", str(data)]) == 0
    assert "was damaged at row 6" in capsys.readouterr().err
    assert main(["ledger", "verify", str(data)]) == 0


@pytest.mark.requirement(65, 66)
def test_with_both_files_damaged_the_table_does_not_open_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, config = tmp_path / "data", table_file(tmp_path)
    assert main(["play", script(tmp_path, ROUND), "-c", config, "--data", str(data)]) == 0
    for path in (data / "ledger.sqlite", data / "copy" / "ledger.sqlite"):
        damage(path)
    before = {path: path.read_bytes() for path in data.rglob("*.sqlite")}
    capsys.readouterr()
    assert main(["play", script(tmp_path, "show\n"), "-c", config, "--data", str(data)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "switched off" in said.err
    assert {path: path.read_bytes() for path in data.rglob("*.sqlite")} == before
    assert main(["ledger", "verify", str(data)]) == 1
    said_of_ledger = capsys.readouterr().out
    assert "first bad row 6" in said_of_ledger
    assert "meter meter, proven up to row 5: current 10000.00000000" in said_of_ledger
    assert main(["ledger", "export", str(data)]) == 1
    assert len(answers(capsys)) == 8


def test_output_that_cannot_be_written_is_one_sentence_and_no_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        call = "import sys; from controller.cli import main; sys.exit(main(['rules', 'list']))"
        done = subprocess.run(
            [sys.executable, "-c", call],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "could not read or write" in done.stderr


@pytest.mark.requirement(64)
def test_verify_tells_files_of_two_ledgers_and_forks_apart_from_a_lag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = table_file(tmp_path)
    for name in ("one", "two"):
        data = str(tmp_path / name)
        assert main(["play", script(tmp_path, ROUND), "-c", config, "--data", data]) == 0
    ours = tmp_path / "one" / "copy" / "ledger.sqlite"
    lagging = ours.read_bytes()
    data = str(tmp_path / "one")
    assert main(["play", script(tmp_path, "validate\n"), "-c", config, "--data", data]) == 0
    ours.write_bytes(lagging)
    capsys.readouterr()
    assert main(["ledger", "verify", data]) == 1
    assert "lacks rows after 8; starting the table adds them" in capsys.readouterr().out
    ours.write_bytes((tmp_path / "two" / "copy" / "ledger.sqlite").read_bytes())
    assert main(["ledger", "verify", data]) == 1
    assert "files of two different ledgers" in capsys.readouterr().out


def test_a_copy_named_by_a_relative_path_lies_beside_the_table_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = table_file(tmp_path, '[ledger]\ncopy = "elsewhere"\n')
    data = str(tmp_path / "data")
    assert main(["play", script(tmp_path, "show\n"), "-c", config, "--data", data]) == 0
    assert (tmp_path / "elsewhere" / "ledger.sqlite").is_file()
    capsys.readouterr()
    assert main(["ledger", "verify", data, "--copy", str(tmp_path / "elsewhere")]) == 0


def test_a_directory_without_a_ledger_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "verify", str(tmp_path)]) == 2
    assert main(["ledger", "verify", str(tmp_path / "nowhere")]) == 2
    assert "data directory" in capsys.readouterr().err
    (tmp_path / "commissioned.json").write_text("{}")
    assert main(["ledger", "verify", str(tmp_path)]) == 1
    assert "both ledger files are gone" in capsys.readouterr().err
