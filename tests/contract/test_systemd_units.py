"""What systemd-analyze says of our units, and the settings that a table cannot do without."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
UNITS: Final = sorted((ROOT / "systemd").glob("*.service"))
TABLE: Final = ROOT / "systemd/feltlink-table.service"
PROGRAM: Final = "/opt/feltlink/bin/feltlink"
EXPOSURE_TENTHS_MAX: Final = 20

analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="systemd-analyze is missing: install the Debian package systemd",
)
by_name = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)


def drop_ins() -> dict[str, str]:
    """Every drop-in for the table that docs/install.md offers, by its first line."""
    text = (ROOT / "docs/install.md").read_text("utf-8")
    blocks = re.findall(r"```ini\n(.*?)```", text, re.DOTALL)
    return {block.partition("\n")[0]: block for block in blocks}


def installed(folder: Path, drop_in: str = "") -> Path:
    """Our units as on a unit under a table, but with a program that exists here."""
    for unit in UNITS:
        (folder / unit.name).write_text(unit.read_text("utf-8").replace(PROGRAM, "/usr/bin/true"))
    extras = folder / f"{TABLE.name}.d"
    extras.mkdir()
    (extras / "local.conf").write_text(drop_in)
    return folder


def ask(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
    command = ["systemd-analyze", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


def complaints(unit: Path) -> str:
    """Everything that verify has to say. Of an unknown key it only says so, with status 0."""
    done = ask("verify", unit)
    return done.stderr + done.stdout + (f"status {done.returncode}" if done.returncode else "")


def exposure_tenths(unit: Path) -> int:
    said = ask("security", "--offline=true", unit).stdout
    found = re.search(rf"exposure level for {re.escape(unit.name)}: (\d+)\.(\d)", said)
    assert found, said
    return int(found[1]) * 10 + int(found[2])


def settings(path: Path) -> Mapping[str, list[str]]:
    """Key to all its values; an empty value takes back those before it, as for systemd."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").replace("\\\n", " ").splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.startswith("#"):
            found[key] = [*found[key], value] if value else []
    return found


@analyze
@by_name
def test_systemd_finds_nothing_to_say_about_a_unit(unit: Path, tmp_path: Path) -> None:
    assert complaints(installed(tmp_path) / unit.name) == ""


@analyze
@by_name
def test_a_unit_exposes_little(unit: Path, tmp_path: Path) -> None:
    assert exposure_tenths(installed(tmp_path) / unit.name) <= EXPOSURE_TENTHS_MAX


@analyze
@pytest.mark.parametrize("name", drop_ins())
def test_each_drop_in_of_the_install_guide_fits_and_keeps_the_table_closed(
    name: str, tmp_path: Path
) -> None:
    unit = installed(tmp_path, drop_ins()[name]) / TABLE.name
    assert complaints(unit) == ""
    assert exposure_tenths(unit) <= EXPOSURE_TENTHS_MAX


def test_the_install_guide_offers_drop_ins_for_bench_old_pins_and_link() -> None:
    names = [line.split()[1].rstrip(":") for line in drop_ins()]
    assert names == ["bench.conf", "rpi-gpio.conf", "link.conf"]


@analyze
def test_a_slip_in_a_drop_in_would_be_noticed(tmp_path: Path) -> None:
    unit = installed(tmp_path, "[Service]\nProtectSytem=strict\n") / TABLE.name
    assert "ProtectSytem" in complaints(unit)


@analyze
def test_an_open_table_would_be_noticed(tmp_path: Path) -> None:
    opened = "[Service]\nUser=\nCapabilityBoundingSet=~\nSystemCallFilter=\nProtectSystem=no\n"
    assert exposure_tenths(installed(tmp_path, opened) / TABLE.name) > EXPOSURE_TENTHS_MAX


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("Type", ["notify"]),
        ("NotifyAccess", ["main"]),
        ("WatchdogSec", ["10"]),
        ("Restart", ["on-failure"]),
        ("RestartPreventExitStatus", ["2"]),
        ("OnFailure", ["feltlink-table-failed.service"]),
        ("ProtectSystem", ["strict"]),
        ("DevicePolicy", ["closed"]),
        ("DeviceAllow", ["char-gpiochip rw", "char-i2c rw", "char-spi rw"]),
        ("IPAddressDeny", ["any"]),
        ("CapabilityBoundingSet", []),
        ("StateDirectory", ["feltlink feltlink/table"]),
        ("ReadWritePaths", ["-/srv/feltlink"]),
        ("MemorySwapMax", ["0"]),
        ("WantedBy", ["multi-user.target"]),
    ],
)
def test_a_table_is_watched_restarted_and_shut_in(key: str, values: list[str]) -> None:
    assert settings(TABLE).get(key) == values


def test_the_daemon_is_called_as_the_manual_says() -> None:
    (start,) = settings(TABLE)["ExecStart"]
    assert start == f"{PROGRAM} table -c /etc/feltlink/table.toml --data /var/lib/feltlink/table"


def test_lgpio_finds_a_folder_for_its_pipe() -> None:
    (runtime,), (working,) = (
        settings(TABLE)[key] for key in ("RuntimeDirectory", "WorkingDirectory")
    )
    assert working == f"/run/{runtime}"


def test_nothing_hides_pins_or_the_model_of_the_board_from_gpiozero() -> None:
    assert not {"PrivateDevices", "ProcSubset", "DynamicUser"} & settings(TABLE).keys()


def test_stray_folders_are_not_imported_and_a_hang_leaves_its_stack() -> None:
    (environment,) = settings(TABLE)["Environment"]
    assert environment.split() == ["PYTHONSAFEPATH=1", "PYTHONFAULTHANDLER=1"]


def test_every_user_and_group_that_a_start_needs_is_made() -> None:
    lines = (ROOT / "systemd/sysusers.conf").read_text("utf-8").splitlines()
    made = {tuple(line.split()[:2]) for line in lines if not line.startswith("#")}
    table = settings(TABLE)
    groups = table["SupplementaryGroups"][0].split()
    assert made == {("u", *table["User"]), *(("g", group) for group in groups)}
    assert table["Group"] == table["User"]  # a user line makes the group of that name too


def test_the_hardware_watchdog_stays_within_what_a_raspberry_pi_can_count() -> None:
    (seconds,) = settings(ROOT / "systemd/watchdog.conf")["RuntimeWatchdogSec"]
    assert 0 < int(seconds) <= 15


def test_the_folder_of_units_is_no_package() -> None:
    assert list((ROOT / "systemd").rglob("*.py")) == []
