"""feltlink-table.service under a real systemd: one boot of a container, and what came of it.

The unit is the one that a technician installs, unchanged. tests/nspawn/probe.py is what is done to
it; tests/nspawn/program.py says which program it runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.nspawn.container import boot, install, lay_out, why_not
from tests.nspawn.probe import ALLOWED, FORBIDDEN, SCENES, Shown
from tests.nspawn.program import HOMES

Scene = dict[str, object]


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scene]:
    """What the probe wrote down. Of several test processes the first one boots for all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    kept = shared / "systemd-boot.json"
    with (shared / "systemd-boot.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(booted(tmp_path_factory.mktemp("nspawn"))))
    found: dict[str, Scene] = json.loads(kept.read_text())
    if "why_not" in found:
        pytest.skip(str(found["why_not"]["reason"]))
    return found


def booted(folder: Path) -> dict[str, Scene]:
    try:
        if reason := why_not(folder / "trial"):
            return {"why_not": {"reason": reason}}
        install(lay_out(folder / "table", command="/opt/feltlink/bin/python -m tests.nspawn.probe"))
        outcome = boot(folder / "table")
        written = folder / "table/share/record.json"
        scenes: dict[str, Scene] = json.loads(written.read_text()) if written.exists() else {}
        return {**scenes, "outside": asdict(outcome)}
    finally:
        shutil.rmtree(folder)


def shown(scene: Scene, moment: str = "shown") -> Shown:
    found = scene[moment]
    assert isinstance(found, dict)
    return found


def test_the_container_ends_by_itself_and_leaves_nothing_behind(record: dict[str, Scene]) -> None:
    assert record["outside"]["status"] == 0, record["outside"]["console"]
    assert record["outside"]["left_behind"] == []


def test_every_scene_was_played(record: dict[str, Scene]) -> None:
    assert {scene.__name__ for scene in SCENES} < record.keys(), record["outside"]["journal"]


def test_a_table_is_up_when_it_says_so(record: dict[str, Scene]) -> None:
    state = shown(record["started"])
    assert state["ActiveState"] == "active"
    assert state["StatusText"]


def test_the_watchdog_hears_from_a_table_at_work(record: dict[str, Scene]) -> None:
    first, later = (shown(record["started"], moment) for moment in ("shown", "later"))
    heard = "WatchdogTimestampMonotonic"
    assert int(later[heard]) > int(first[heard]) > 0
    assert later["MainPID"] == first["MainPID"]


def test_stopping_a_table_is_no_failure(record: dict[str, Scene]) -> None:
    state = shown(record["stopped"])
    assert (state["ActiveState"], state["Result"]) == ("inactive", "success")
    assert (state["ExecMainCode"], state["ExecMainStatus"]) == ("1", "0")


def test_displays_show_once_a_table_is_up_and_are_dark_once_it_is_stopped(
    record: dict[str, Scene],
) -> None:
    assert record["started"]["display"]
    assert record["stopped"]["display"] == ""


def test_a_hung_table_is_killed_by_the_watchdog_and_comes_back(record: dict[str, Scene]) -> None:
    hung = record["hung"]
    before, killed, after = (shown(hung, moment) for moment in ("before", "killed", "after"))
    assert killed["Result"] == "watchdog"
    assert after["ActiveState"] == "active"
    assert after["NRestarts"] == "1"
    assert after["MainPID"] not in ("0", before["MainPID"])


def test_a_hung_table_leaves_in_the_journal_where_it_hung(record: dict[str, Scene]) -> None:
    journal = str(record["hung"]["journal"])
    assert "Watchdog timeout" in journal
    assert "Fatal Python error: Aborted" in journal
    assert ", line " in journal.partition("Fatal Python error")[2]


def test_a_table_that_comes_back_is_not_called_out_of_order(record: dict[str, Scene]) -> None:
    assert shown(record["hung"], "notice")["ExecMainCode"] == "0"  # it never ran


def test_a_table_file_that_cannot_be_used_is_not_tried_again(record: dict[str, Scene]) -> None:
    state = shown(record["bad_table_file"])
    assert (state["ExecMainCode"], state["ExecMainStatus"]) == ("1", "2")
    assert (state["ActiveState"], state["SubState"]) == ("failed", "failed")  # not auto-restart
    assert state["NRestarts"] == "0"


def test_a_table_given_up_is_called_out_of_order_on_the_console(record: dict[str, Scene]) -> None:
    assert shown(record["bad_table_file"], "notice")["ExecMainStatus"] == "0"
    console = str(record["outside"]["console"])
    assert console.count("FELTLINK TABLE OUT OF ORDER (exit-code, status 2). It takes") == 1


def test_nothing_can_be_written_but_ledger_copy_and_scratch(record: dict[str, Scene]) -> None:
    assert record["sandbox"]["writes"] == {
        **dict.fromkeys(FORBIDDEN, "EROFS"),
        **dict.fromkeys(ALLOWED, "written"),
    }
    assert record["sandbox"]["homes"] == {home: [] for home in HOMES}


def test_the_daemon_is_nobody_special_but_may_reach_the_pins(record: dict[str, Scene]) -> None:
    sandbox = record["sandbox"]
    status = shown(sandbox, "status")
    assert "0" not in status["Uid"].split() + status["Gid"].split()
    assert set(shown(sandbox, "groups").values()) < set(status["Groups"].split())
    assert {int(status[key], 16) for key in ("CapBnd", "CapEff", "CapPrm", "CapAmb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert status["Umask"] == "0077"
    assert sandbox["folder"] == "/run/feltlink"  # where lgpio may put its pipe


def test_without_its_second_medium_a_table_does_not_start_a_copy_elsewhere(
    record: dict[str, Scene],
) -> None:
    away = record["medium_away"]
    assert shown(away, "without")["SubState"] == "auto-restart"
    assert away["found"] == []
    assert "No medium of its own is mounted at /srv/feltlink" in str(away["journal"])


def test_a_table_comes_back_by_itself_when_its_medium_is_back(record: dict[str, Scene]) -> None:
    back = shown(record["medium_away"], "back")
    assert (back["ActiveState"], back["NRestarts"]) == ("active", "1")
