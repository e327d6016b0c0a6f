"""`feltlink selftest` as a person calls it: on real files, with a simulated technician."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gpiozero.pins import local

from controller.adapters.ledger_file import sole_user
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.cli import main
from controller.commands import selftest
from controller.domain.errors import Fault
from controller.hardware import Hardware, Line, lamp
from controller.hardware_file import simulated
from controller.selftest.gear import open_gear
from controller.selftest.rig import Gear
from controller.selftest.simulated import SimulatedTechnician
from controller.selftest.walk import Walk
from mock_gpio.pins import SimulatedPins
from tests.fake_lgpio import FakeLgpio
from tests.wiring_tables import ready

DOC = Path(__file__).parents[2] / "docs" / "selftest.md"
ROUND = "chip 1\nchip 6\nlock\ncount 2\n"
# What another day, program or release of the pack changes in a record.
VARIES = re.compile(r"^(date|version|program digest|fingerprint) .*$", re.MULTILINE)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default data directory is looked for where the technician stands."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def table_file(
    folder: Path, text: str = "", *, factory: str = "lgpio", pack: str = "md-uth-a"
) -> str:
    path = folder / "table.toml"
    path.write_text(
        f'[table]\nid = "T07"\n[rules]\npack = "{pack}"\n'
        f'[hardware]\nfactory = "{factory}"\nmap = "header-6"\n{text}'
    )
    return str(path)


def simulate(folder: Path, *words: str, text: str = "") -> int:
    return main(["selftest", "-c", table_file(folder, text), "--simulate", *words])


class DeadLamp(SimulatedPins):
    """The lamp of seat 3 is burnt out."""

    def lit(self, line: Line) -> bool:
        return line != lamp(3) and super().lit(line)


def with_a_dead_lamp(monkeypatch: pytest.MonkeyPatch) -> None:
    technician = partial(SimulatedTechnician, make_hands=DeadLamp)
    monkeypatch.setattr(selftest, "SimulatedTechnician", technician)


def test_a_good_table_passes_with_status_0_and_a_record(tmp_path: Path, capsys: Capture) -> None:
    assert simulate(tmp_path) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "Did lamp 3 alone light? [y/n/r/s]\n> y" in said.out
    record = said.out.partition("FELTLINK SELF-TEST")[2]
    assert "by              simulated technician" in record
    assert re.search(r"^RESULT +PASS: \d+ checks passed$", record, re.MULTILINE)


def test_a_bad_table_fails_with_status_1_and_is_named(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_dead_lamp(monkeypatch)
    assert simulate(tmp_path, "--by", "Tess") == 1
    out = capsys.readouterr().out
    assert re.search(r"^RESULT +FAIL: 2 of \d+ checks not passed: lamp 3, patterns$", out, re.M)


def test_json_is_one_document_and_everything_else_is_on_the_other_stream(
    tmp_path: Path, capsys: Capture
) -> None:
    assert simulate(tmp_path, "--json", "--by", "Tess", "--each-seat") == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["result"], document["facts"]["by"]) == ("PASS", "Tess")
    assert document["simulated"] is True
    coins = [check for check in document["checks"] if check["part"] == "coin test"]
    assert len(coins) == 1 + 6
    assert coins[0]["figures"] == {"meter": "+1.20000000", "meter_reserve": "+0.30000000"}
    assert "Did lamp 1 alone light?" in said.err


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_record_is_written_as_it_is_printed(
    tmp_path: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    path = tmp_path / "2026-03-31.txt"
    assert simulate(tmp_path, "--record", str(path), *words) == 0
    text = path.read_text("utf-8")
    assert text
    assert capsys.readouterr().out.endswith(text)


def test_a_record_is_never_overwritten_and_that_is_said_first(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "record.txt"
    path.write_text("of last quarter")
    assert simulate(tmp_path, "--record", str(path)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "a record is never overwritten" in said.err
    assert path.read_text() == "of last quarter"
    assert simulate(tmp_path, "--record", str(tmp_path / "nowhere" / "record.txt")) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_record_that_cannot_be_kept_is_printed_all_the_same(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "record.txt"
    run = Walk.run

    def meanwhile(self: Any, gear: Callable[[], Gear]) -> Any:
        path.write_text("somebody else's")
        return run(self, gear)

    monkeypatch.setattr(Walk, "run", meanwhile)
    assert simulate(tmp_path, "--record", str(path)) == 1
    said = capsys.readouterr()
    assert "PASS" in said.out.partition("RESULT")[2]
    assert "could not be written" in said.err
    assert path.read_text() == "somebody else's"


def test_simulated_pins_without_a_simulated_technician_are_refused_in_one_sentence(
    tmp_path: Path, capsys: Capture
) -> None:
    assert main(["selftest", "-c", table_file(tmp_path, factory="mock")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "--simulate" in said.err
    assert main(["selftest", "-c", table_file(tmp_path, factory="mock"), "--simulate"]) == 0


def test_bad_options_and_bad_files_are_bad_input(tmp_path: Path, capsys: Capture) -> None:
    assert main(["selftest"]) == 2
    assert main(["selftest", "-c", str(tmp_path / "none.toml"), "--simulate"]) == 2
    assert simulate(tmp_path, text='[timing]\nsettle_ms = "soon"\n') == 2
    assert "timing.settle_ms" in capsys.readouterr().err


def test_warnings_of_the_table_file_are_said(tmp_path: Path, capsys: Capture) -> None:
    config = table_file(tmp_path, pack="md-jh-e")  # returns more than 100 % at its seeds
    assert main(["selftest", "-c", config, "--simulate", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["result"] == "PASS"
    assert "warning: " in said.err


# The live table.


def played(folder: Path, text: str = "") -> Path:
    """A data directory with a round in its ledger, as the daemon left it."""
    data, script = folder / "data", folder / "script.txt"
    script.write_text(ROUND)
    config = table_file(folder, text)
    assert main(["play", str(script), "-c", config, "--data", str(data)]) == 0
    return data


def everything_in(*folders: Path) -> dict[str, tuple[bytes, int]]:
    """Each file with its bytes and the time of its last change."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(files)}


_watched: list[str] = []
_touched: list[tuple[str, str]] = []
_READ_ONLY = {"os.listdir", "os.scandir", "glob.glob", "glob.glob/2", "pathlib.Path.glob"}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched or event in _READ_ONLY or event.startswith("pathlib."):
        return
    for place in [os.fsdecode(a) for a in arguments if isinstance(a, str | bytes | os.PathLike)]:
        if any(folder in place for folder in _watched):
            flags = arguments[2] if event == "open" else None
            reads = isinstance(flags, int) and not flags & (os.O_ACCMODE | os.O_CREAT)
            _touched.append((f"{event} to {'read' if reads else 'write'}", place))


sys.addaudithook(_audit)  # there is no way to remove one; without watched folders it does nothing


@contextmanager
def watching(*folders: Path) -> Iterator[list[tuple[str, str]]]:
    """What this process does to files below these folders."""
    _touched.clear()
    _watched.extend(map(str, folders))
    try:
        yield _touched
    finally:
        _watched.clear()


@pytest.mark.requirement(70, 97)
def test_the_live_ledger_is_not_even_opened_for_writing(tmp_path: Path, capsys: Capture) -> None:
    copy = tmp_path / "copy"
    text = f'[ledger]\ncopy = "{copy}"\n'
    data = played(tmp_path, text)
    before = everything_in(data, copy)
    assert any(name.endswith("ledger.sqlite") for name in before)
    with watching(data, copy) as touched:
        assert simulate(tmp_path, "--data", str(data), "--each-seat", text=text) == 0
    assert touched == [("open to read", str(data / "lock"))]
    assert everything_in(data, copy) == before


def test_the_watch_over_the_live_ledger_would_see_a_writer(tmp_path: Path) -> None:
    data = played(tmp_path)
    with watching(data) as touched:
        SqliteLedger.open(data, copy=None, table_id="T07").close()
    assert ("open to write", str(data / "lock")) in touched
    assert any(event.startswith("sqlite3.connect") for event, _ in touched)


def test_nothing_is_left_of_the_ledger_of_the_coin_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with watching(scratch) as touched:
        assert simulate(tmp_path) == 0
    assert any(place.endswith("ledger.sqlite") for _, place in touched)  # it was real
    assert list(scratch.iterdir()) == []
    assert list((tmp_path / "here").iterdir()) == []


def test_it_refuses_to_run_beside_the_daemon_and_leaves_it_its_lock(
    tmp_path: Path, capsys: Capture
) -> None:
    data = played(tmp_path)
    capsys.readouterr()
    with sole_user(data):
        assert simulate(tmp_path, "--data", str(data)) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "stop the daemon first: systemctl stop feltlink-table" in said.err
        with pytest.raises(Fault, match="another Feltlink process"), sole_user(data):
            pass
    assert simulate(tmp_path, "--data", str(data)) == 0


def test_it_looks_at_the_default_data_directory_too(tmp_path: Path, capsys: Capture) -> None:
    data = Path(selftest.DEFAULT_DATA)
    data.mkdir()
    with sole_user(data):
        assert simulate(tmp_path) == 1
    assert "stop the daemon first" in capsys.readouterr().err


def test_the_daemon_cannot_start_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = played(tmp_path)
    refused: list[str] = []

    class Watchful(SimulatedTechnician):
        def gear(self) -> Gear:
            try:
                with sole_user(data):
                    pass
            except Fault as fault:
                refused.append(str(fault))
            return super().gear()

    monkeypatch.setattr(selftest, "SimulatedTechnician", Watchful)
    assert simulate(tmp_path, "--data", str(data)) == 0
    assert "another Feltlink process uses" in refused[0]
    with sole_user(data):
        pass


def test_a_data_directory_that_may_not_be_looked_at_is_told_with_the_cure(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def forbidden(_folder: Path) -> Iterator[bool]:
        raise PermissionError(13, "Permission denied")
        yield False

    monkeypatch.setattr(selftest, "reading_beside", forbidden)
    assert simulate(tmp_path) == 1
    assert "use sudo" in capsys.readouterr().err


# A real terminal.


class Bench:
    """Simulated pins in place of real ones, behind a terminal at which nobody sits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, signal_after: int = 0) -> None:
        self._left = signal_after
        monkeypatch.setattr(selftest, "open_gear", self.open_gear)

    def open_gear(self, hardware: Hardware) -> Gear:
        pins = simulated(hardware, seats=6, spots=1)
        self.tess = SimulatedTechnician(pins, say=lambda _text: None)
        self._wait = self.tess.wait
        self.tess.wait = self.wait  # type: ignore[method-assign]
        return self.tess.gear()

    def wait(self) -> None:
        self._left -= 1
        if self._left == 0:
            signal.raise_signal(signal.SIGHUP)
        self._wait()


def test_a_terminal_that_nobody_sits_at_ends_the_test_with_a_record_that_failed(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(monkeypatch)
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        assert main(["selftest", "-c", table_file(tmp_path), "--by", "Tess"]) == 1
    out = capsys.readouterr().out
    assert "by              Tess" in out
    assert re.search(r"^RESULT +FAIL: 1 of \d+ checks not passed: stopped$", out, re.MULTILINE)
    assert not any(bench.tess.hands.lit(lamp(seat)) for seat in range(1, 7))


def test_nobody_to_say_who_runs_it_is_bad_input(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Bench(monkeypatch)
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        assert main(["selftest", "-c", table_file(tmp_path)]) == 2
    assert "--by NAME" in capsys.readouterr().err


def test_a_lost_connection_ends_it_as_a_key_would_and_the_signal_is_given_back(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGHUP)
    Bench(monkeypatch, signal_after=50)
    reading, writing = os.pipe()
    try:
        with os.fdopen(reading) as silent:
            monkeypatch.setattr("sys.stdin", silent)
            words = ["-c", table_file(tmp_path), "--by", "Tess", "--json"]
            assert main(["selftest", *words]) == 1
    finally:
        os.close(writing)
    last = json.loads(capsys.readouterr().out)["checks"][-1]
    assert (last["name"], last["result"]) == ("stopped", "fail")
    assert signal.getsignal(signal.SIGHUP) is before


def test_a_machine_without_pins_leaves_a_record_that_says_so(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lgpio", None)
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        assert main(["selftest", "-c", table_file(tmp_path), "--by", "Tess"]) == 1
    out = capsys.readouterr().out
    assert "FAIL        pins" in out
    assert "lgpio cannot be loaded" in out


@pytest.mark.filterwarnings("ignore:Image.Image.getdata is deprecated")
def test_real_gear_claims_the_pins_and_says_nothing_to_a_display_before_its_first_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lgpio = FakeLgpio()
    monkeypatch.setitem(sys.modules, "lgpio", lgpio)
    monkeypatch.delitem(sys.modules, "gpiozero.pins.lgpio", raising=False)
    monkeypatch.setattr(local, "get_pi_revision", lambda: 0xC03115)
    monkeypatch.setattr("firmware.pin_driver._refuse_rivals", lambda: None)
    try:
        gear = open_gear(ready("header-6"))
        assert set(gear.glasses) == {"dealer", "meter"}
        assert not gear.simulated
        assert lgpio.modes
        gear.pins.close()
    finally:
        sys.modules.pop("gpiozero.pins.lgpio", None)
        local.LocalPiFactory.pins.clear()
        local.LocalPiFactory._reservations.clear()


# The page about it.


def test_the_record_in_the_documentation_is_what_the_program_prints(
    tmp_path: Path, capsys: Capture
) -> None:
    assert simulate(tmp_path, "--each-seat") == 0
    printed = "FELTLINK SELF-TEST" + capsys.readouterr().out.partition("FELTLINK SELF-TEST")[2]
    shown = DOC.read_text("utf-8").partition("```\nFELTLINK SELF-TEST")[2].partition("```")[0]
    shown = "FELTLINK SELF-TEST" + shown
    assert VARIES.sub(r"\1", shown) == VARIES.sub(r"\1", printed)


def test_the_documentation_names_every_option(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["selftest", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--config"}
    text = DOC.read_text("utf-8")
    assert {option for option in options if f"`{option}" not in text} == set()
