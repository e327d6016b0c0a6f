"""Boots a throw-away systemd on this machine's own /usr, with our units, and cleans up after it.

Nothing is downloaded: the container's root is a few empty folders, with /usr, the interpreter and
the project bound into it read-only. It may not leave a process, a mount or a cgroup behind.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from tests.nspawn.program import HOMES, MEDIUM, MOUNTED, PLUGGED_IN, PROGRAM, TABLE_FILE, TABLE_TOML

PROJECT: Final = Path(__file__).resolve().parents[2]
UNITS: Final = PROJECT / "systemd"
CGROUPS: Final = Path("/sys/fs/cgroup")
NSPAWN: Final = Path("/run/systemd/nspawn")
FOLDERS: Final = ("dev", "etc", "home", "opt", "proc", "root", "run", "srv", "sys", "tmp")
BOOT_S_MAX: Final = 90
TRIAL_S_MAX: Final = 20
KILL_S_MAX: Final = 10
TOO_LONG: Final = -1

# Starts the interpreter wherever it was found, with the project as its only packages.
PYTHON: Final = f"""#!/bin/sh
export LD_LIBRARY_PATH=/opt/python/lib PYTHONPATH=/opt/project:/opt/site-packages
export PYTHONDONTWRITEBYTECODE=1
exec /opt/python/bin/python{sys.version_info.major}.{sys.version_info.minor} "$@"
"""
JOB: Final = """[Unit]
Description=What this container was booted for
[Service]
Type=oneshot
ExecStart={command}
ExecStopPost=/bin/sh -c "journalctl --output=cat > /share/journal"
ExecStopPost=/usr/bin/systemctl --no-block exit 0
"""
GOAL: Final = "[Unit]\nRequires=basic.target\nWants=job.service\n"
# Moves itself into the cgroups named before the dashes, then becomes the command after them.
ENTER: Final = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class Booted:
    """How one boot went, as seen from outside."""

    status: int
    console: str
    journal: str
    left_behind: list[str]  # cgroups and mounts


def why_not(folder: Path) -> str | None:
    """Why no container can be booted here, as one sentence; None if one just was."""
    if os.geteuid() != 0:
        return "systemd-nspawn needs root"
    if shutil.which("systemd-nspawn") is None:
        return "systemd-nspawn is missing: install the Debian package systemd-container"
    if not Path("/usr/lib/systemd/systemd").exists():
        return "systemd is missing: install the Debian package systemd"
    if _own_cgroups() == []:
        return f"no cgroup hierarchy of version 2 is mounted in {CGROUPS}"
    lay_out(folder, command="/usr/bin/touch /share/up")
    booted = boot(folder, seconds_max=TRIAL_S_MAX)
    if (folder / "share" / "up").exists():
        return None
    last = booted.console.strip().rpartition("\n")[2]
    return f"an empty container does not boot here (status {booted.status}): {last}"


def lay_out(folder: Path, *, command: str) -> Path:
    """A root that boots, runs the command as its one job, and ends. Returns the root."""
    root = folder / "root"
    for name in (*FOLDERS, "usr", "var"):
        (root / name).mkdir(parents=True)
    (folder / "share").mkdir()
    for name in ("bin", "sbin", "lib", "lib64"):
        if (link := Path("/") / name).is_symlink():
            (root / name).symlink_to(link.readlink())
    for name in ("/etc/os-release", "/etc/ld.so.cache"):
        if Path(name).exists():
            shutil.copy(name, root / "etc")
    _put(root, "etc/systemd/system/job.service", JOB.format(command=command))
    _put(root, "etc/systemd/system/default.target", GOAL)
    # Finding neither password nor locale, it would ask for them on the console.
    (root / "etc/systemd/system/systemd-firstboot.service").symlink_to("/dev/null")
    return root


def install(root: Path) -> None:
    """What docs/install.md has a technician do."""
    for unit in UNITS.glob("*.service"):
        _put(root, f"etc/systemd/system/{unit.name}", unit.read_text())
    _put(root, "etc/sysusers.d/feltlink.conf", (UNITS / "sysusers.conf").read_text())
    module, _, function = PROGRAM.partition(":")
    call = f"import sys; from {module} import {function}; sys.exit({function}())"
    start = f"#!/bin/sh\nexec /opt/feltlink/bin/python -c '{call}' \"$@\"\n"
    _put(root, "opt/feltlink/bin/python", PYTHON, mode=0o755)
    _put(root, "opt/feltlink/bin/feltlink", start, mode=0o755)
    _put(root, TABLE_FILE, TABLE_TOML)
    for home in HOMES:
        _put(root, f"{home}/private", "nobody else's business")
    _plug_in(root)


def _plug_in(root: Path) -> None:
    """A second medium that can be pulled: a file system of its own, mounted as long as it is in."""
    for folder in (MOUNTED, MEDIUM):
        (root / str(folder).lstrip("/")).mkdir()
    _put(root, "etc/fstab", f"{MEDIUM} {MOUNTED} none bind,nofail 0 0\n")
    slot = "etc/systemd/system/srv-feltlink.mount.d/slot.conf"
    _put(root, slot, f"[Unit]\nAssertPathExists={PLUGGED_IN}\n")
    _put(root, PLUGGED_IN, "")


def _put(root: Path, path: str | Path, text: str, *, mode: int = 0o644) -> None:
    place = root / str(path).lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(mode)


def boot(folder: Path, *, seconds_max: int = BOOT_S_MAX) -> Booted:
    """Run the container in cgroups of its own until it ends by itself or its time is up."""
    _let_through(folder / "root")
    machine = f"feltlink-test-{uuid4().hex[:8]}"
    with (folder / "console").open("wb") as console, _cgroups(machine) as cgroups:
        entries = [str(cgroup / "cgroup.procs") for cgroup in cgroups]
        nspawn = subprocess.Popen(
            ["/bin/sh", "-c", ENTER, "sh", *entries, "--", *_nspawn(folder, machine)],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
        )
        status = _end(nspawn, seconds_max)
        _tidy_up(folder / "root", machine)
    return Booted(
        status=status,
        console=_read(folder / "console"),
        journal=_read(folder / "share/journal"),
        left_behind=_left_behind(folder, machine),
    )


def _let_through(root: Path) -> None:
    """Whatever the umask here: the table's user has to get through to his files."""
    for folder in (root, *root.rglob("*")):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o755)


def _end(nspawn: subprocess.Popen[bytes], seconds_max: int) -> int:
    """The status with which it ends: by itself, asked to shut down, or shot."""
    try:
        return nspawn.wait(seconds_max)
    except subprocess.TimeoutExpired:
        nspawn.terminate()
    try:
        nspawn.wait(KILL_S_MAX)
    except subprocess.TimeoutExpired:
        nspawn.kill()
        nspawn.wait()
    return TOO_LONG


def _tidy_up(root: Path, machine: str) -> None:
    """It leaves its folder in /run where that is no tmpfs, and its lock when it is shot."""
    shutil.rmtree(NSPAWN / "propagate" / machine, ignore_errors=True)
    found = root.stat()
    (NSPAWN / "locks" / f"inode-{found.st_dev}:{found.st_ino}").unlink(missing_ok=True)


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def _nspawn(folder: Path, machine: str) -> list[str]:
    options = {
        "directory": f"{folder}/root",
        "machine": machine,
        "register": "no",
        "console": "read-only",
        "tmpfs": f"{MEDIUM}:mode=0755",
        "bind": f"{folder}/share:/share",
    }
    bound = (
        ("/usr", "/usr"),
        (sys.base_prefix, "/opt/python"),
        (sysconfig.get_path("purelib"), "/opt/site-packages"),
        (PROJECT, "/opt/project"),
    )
    return [
        *("systemd-nspawn", "--quiet", "--boot", "--keep-unit", "--private-network"),
        *(f"--{name}={value}" for name, value in options.items()),
        *(f"--bind-ro={outside}:{inside}" for outside, inside in bound),
    ]


@contextmanager
def _cgroups(name: str) -> Iterator[list[Path]]:
    """Cgroups for one container, below our own; what still runs in them at the end is killed."""
    made = [place / name for place in _own_cgroups()]
    for cgroup in made:
        cgroup.mkdir()
    try:
        yield made
    finally:
        for cgroup in made:
            _remove(cgroup)


def _remove(cgroup: Path) -> None:
    if (kill := cgroup / "cgroup.kill").exists():  # not in version 1, where the same processes are
        kill.write_text("1")
    until_s = time.monotonic() + KILL_S_MAX
    for folder in (*sorted(filter(Path.is_dir, cgroup.rglob("*")), reverse=True), cgroup):
        while not _removed(folder) and time.monotonic() < until_s:
            time.sleep(0.01)


def _removed(folder: Path) -> bool:
    """False while a killed process is still on its way out of the cgroup."""
    try:
        folder.rmdir()
    except OSError as error:
        return error.errno != errno.EBUSY
    return True


def _own_cgroups() -> list[Path]:
    """Our places in the hierarchies that systemd uses, the one of version 2 first."""
    second = CGROUPS if (CGROUPS / "cgroup.controllers").exists() else CGROUPS / "unified"
    mounted = {"": second, "name=systemd": CGROUPS / "systemd"}
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    places = {name: path for _, name, path in (line.split(":", 2) for line in lines)}
    found = [mounted[name] / places[name].lstrip("/") for name in mounted if name in places]
    return [place for place in found if place.is_dir()]


def _left_behind(folder: Path, machine: str) -> list[str]:
    cgroups = [str(place / machine) for place in _own_cgroups() if (place / machine).exists()]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return cgroups + [line for line in mounts if str(folder) in line]
