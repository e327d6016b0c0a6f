"""The one job of the container: does to feltlink-table.service what happens to it in a pit.

Runs inside, as root, and judges nothing: it writes down what systemd says after each scene.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.nspawn.program import (
    DATA,
    DISPLAY,
    HOMES,
    MEDIUM,
    MOUNTED,
    PLUGGED_IN,
    TABLE_FILE,
    TABLE_TOML,
)

UNIT: Final = "feltlink-table.service"
NOTICE: Final = "feltlink-table-failed.service"
WAIT_S_MAX: Final = 30
PROPERTIES: Final = (
    *("ActiveState", "SubState", "Result", "StatusText", "NRestarts", "MainPID"),
    *("ExecMainCode", "ExecMainStatus", "WatchdogTimestampMonotonic"),
)
FORBIDDEN: Final = ("/etc/x", "/etc/feltlink/x", "/opt/x", "/srv/x", "/var/lib/x", "/var/log/x")
ALLOWED: Final = (f"{DATA}/x", f"{MOUNTED}/table/x", "/run/feltlink/x", "/tmp/x")
WRITE: Final = """
import errno, json, sys
def attempt(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "written"
print(json.dumps({path: attempt(path) for path in sys.argv[1:]}))
"""

Shown = dict[str, str]


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def show(unit: str = UNIT) -> Shown:
    lines = run("systemctl", "show", "--property=" + ",".join(PROPERTIES), unit).splitlines()
    return dict(line.split("=", 1) for line in lines)


def wait(until: Callable[[Shown], bool]) -> Shown:
    """What systemd says as soon as it says so, or when patience is over."""
    give_up_s = time.monotonic() + WAIT_S_MAX
    while not until(shown := show()) and time.monotonic() < give_up_s:
        time.sleep(0.05)
    return shown


def is_active(shown: Shown) -> bool:
    return shown["ActiveState"] == "active"


def heard_us(shown: Shown) -> int:
    return int(shown["WatchdogTimestampMonotonic"])


def start() -> Shown:
    run("systemctl", "start", UNIT)
    return show()


def started() -> dict[str, object]:
    first = start()
    fed = wait(lambda now: heard_us(now) > heard_us(first))
    return {"shown": first, "later": fed, "display": lit()}


def lit() -> str:
    """What the displays say once they have come up, which they do beside the table."""
    give_up_s = time.monotonic() + WAIT_S_MAX
    while not (said := DISPLAY.read_text() if DISPLAY.exists() else ""):
        if time.monotonic() > give_up_s:
            break
        time.sleep(0.05)
    return said


def sandbox() -> dict[str, object]:
    """The process as the kernel sees it, and what root may write from inside its mounts."""
    pid = show()["MainPID"]
    status = Path("/proc", pid, "status").read_text().splitlines()
    mounts = ("nsenter", "--target", pid, "--mount")
    return {
        "status": {
            key: value.strip() for key, _, value in (line.partition(":") for line in status)
        },
        "groups": {
            name: run("getent", "group", name).split(":")[2] for name in ("gpio", "i2c", "spi")
        },
        "writes": json.loads(
            run(*mounts, "/opt/feltlink/bin/python", "-c", WRITE, *FORBIDDEN, *ALLOWED)
        ),
        "homes": {home: run(*mounts, "ls", "-A", home).split() for home in HOMES},
        "folder": str(Path("/proc", pid, "cwd").readlink()),
    }


def stopped() -> dict[str, object]:
    run("systemctl", "stop", UNIT)
    return {"shown": show(), "display": DISPLAY.read_text()}


def hung() -> dict[str, object]:
    """The process is stopped in its tracks, as if its loop waited for something for ever."""
    before = start()
    os.kill(int(before["MainPID"]), signal.SIGSTOP)
    killed = wait(lambda now: now["SubState"] == "auto-restart")
    after = wait(is_active)
    return {
        "before": before,
        "killed": killed,
        "after": after,
        "notice": show(NOTICE),
        "journal": run("journalctl", "--unit", UNIT, "--output=cat", "--no-pager"),
    }


def bad_table_file() -> dict[str, object]:
    run("systemctl", "stop", UNIT)
    TABLE_FILE.write_text("[table\n")
    shown = start()
    wait(lambda _: show(NOTICE)["ExecMainCode"] != "0")
    TABLE_FILE.write_text(TABLE_TOML)
    return {"shown": shown, "notice": show(NOTICE)}


def medium_away() -> dict[str, object]:
    """The medium of the copy is pulled, the table started without it, and then it is put back."""
    run("systemctl", "stop", UNIT, "srv-feltlink.mount")
    PLUGGED_IN.unlink()
    without = start()
    found = sorted(path.name for path in MOUNTED.iterdir())
    journal = run("journalctl", "--unit", UNIT, "--output=cat", "--no-pager", "--lines=20")
    PLUGGED_IN.touch()
    return {"without": without, "found": found, "journal": journal, "back": wait(is_active)}


SCENES: Final = (started, sandbox, stopped, hung, bad_table_file, medium_away)


def main() -> None:
    record: dict[str, object] = {}
    for scene in SCENES:
        record[scene.__name__] = scene()
        Path("/share/record.json").write_text(json.dumps(record))


if __name__ == "__main__":
    run("install", "--directory", "--owner=feltlink", "--mode=0700", f"{MEDIUM}/table")
    main()
