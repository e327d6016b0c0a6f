"""`feltlink table` as systemd runs it: a process of its own, on simulated pins.

Nothing here depends on how fast the machine is: each wait is for a message, with a limit that
only a process that hangs would reach.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Final

import pytest

from controller.adapters.ledger_file import FILE_NAME
from controller.adapters.ledger_sqlite import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT_S: Final = 60
RUN: Final = "import sys; from controller.cli import main; sys.exit(main())"
TABLE: Final = '[table]\nid = "T07"\n[rules]\npack = "md-uth-a"\n[hardware]\nfactory = "mock"\n'


class Place:
    """A house with one table file, a data directory, and somebody who listens as systemd does."""

    def __init__(self, folder: Path, until: ExitStack) -> None:
        self.folder, self._until = folder, until
        self.data = folder / "data"
        self.config = folder / "table.toml"
        self.config.write_text(TABLE)
        for name in ("home", "tmp", "cwd"):
            (folder / name).mkdir()
        self._ears = until.enter_context(closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
        self._ears.bind(str(folder / "notify"))
        self._ears.settimeout(LIMIT_S)

    def start(self, *, notify: bool = True) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "NOTIFY_SOCKET": str(self.folder / "notify") if notify else "",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, "table", "-c", str(self.config), "--data", str(self.data)],
            cwd=self.folder / "cwd",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._until.callback(_put_down, process)
        return process

    def hear(self, wanted: str) -> str:
        """The next message with these words; what comes before it is let pass."""
        while True:
            message = self._ears.recv(4096).decode()
            if wanted in message:
                return message

    def files(self) -> set[str]:
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*"))
        return {str(path) for path in found if path.parts[0] != "data"}


def _put_down(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with ExitStack() as until:
        yield Place(tmp_path_factory.mktemp("t"), until)  # a socket's path must be short


def leave(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    """Tell it to go, and read what it said; it must go in good order."""
    process.send_signal(number)
    return ended(process, 0)


def ended(process: subprocess.Popen[str], status: int) -> str:
    """What a process that has ended with this status said to people."""
    out, said = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in said, said
    assert (process.returncode, out) == (status, "")
    return said


def sentences(said: str) -> list[str]:
    lines = said.splitlines()
    assert all(line.startswith("feltlink: ") for line in lines), said
    return [line.removeprefix("feltlink: ") for line in lines]


def test_the_daemon_says_ready_then_that_it_lives_and_at_last_that_it_goes(place: Place) -> None:
    process = place.start()
    place.hear("EXTEND_TIMEOUT_USEC=")
    ready = place.hear("READY=1")
    assert "STATUS=table T07, Feltlink " in ready
    assert ready.endswith(": closed")
    for _ in range(3):
        place.hear("WATCHDOG=1")
    process.send_signal(signal.SIGTERM)
    place.hear("STOPPING=1")
    ended(process, 0)


def test_nothing_is_written_outside_the_data_directory(place: Place) -> None:
    before = place.files()
    process = place.start()
    place.hear("WATCHDOG=1")
    leave(process)
    assert place.files() == before
    assert (place.data / FILE_NAME).is_file()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_without_systemd_it_runs_as_well_and_leaves_in_good_order(
    place: Place, number: int
) -> None:
    process = place.start(notify=False)
    assert process.stderr is not None
    assert "fingerprint" in process.stderr.readline()
    assert ": closed" in process.stderr.readline()
    leave(process, number)


@pytest.mark.requirement(62)
def test_after_sigkill_it_starts_again_from_its_ledger(place: Place) -> None:
    first = place.start()
    place.hear("READY=1")
    first.kill()
    first.wait(LIMIT_S)
    second = place.start()
    place.hear("READY=1")
    leave(second)
    kinds = [row.kind for row in read_rows(place.data / FILE_NAME)]
    assert kinds == ["commissioned", "started", "started"]


def test_a_second_table_on_the_same_data_is_refused_by_one_sentence(place: Place) -> None:
    first = place.start()
    place.hear("READY=1")
    second = place.start(notify=False)
    try:
        said = ended(second, 1)
    except subprocess.TimeoutExpired:
        pytest.fail("the second process runs on beside the first")
    assert len(sentences(said)) == 1
    assert str(place.data) in said
    leave(first)


def test_a_ledger_that_cannot_be_opened_is_said_and_tried_again(place: Place) -> None:
    place.data.write_text("a file where the data directory belongs")
    process = place.start()
    assert str(place.data) in place.hear("READY=1")
    place.data.unlink()
    place.hear(": closed")
    leave(process)


def test_every_mistake_of_a_table_file_is_one_sentence_and_nothing_starts(place: Place) -> None:
    place.config.write_text(TABLE.replace("T07", "T 07") + "[timing]\nsettle_ms = true\n")
    said = sentences(ended(place.start(), 2))
    assert len(said) == 2
    assert "table.id" in said[0]
    assert "timing.settle_ms" in said[1]
    assert not place.data.exists()


def test_a_table_file_that_is_not_there_is_one_sentence(place: Place) -> None:
    place.config.unlink()
    assert len(sentences(ended(place.start(), 2))) == 1


def test_a_staff_file_that_is_not_there_is_one_sentence(place: Place) -> None:
    place.config.write_text(TABLE + '[staff]\nfile = "staff.toml"\n')
    said = sentences(ended(place.start(), 2))
    assert len(said) == 1
    assert "staff.toml" in said[0]
    assert not place.data.exists()


def test_a_staff_file_that_others_can_read_is_one_sentence(place: Place) -> None:
    place.config.write_text(TABLE + '[staff]\nfile = "staff.toml"\n')
    (place.folder / "staff.toml").write_text("")
    (place.folder / "staff.toml").chmod(0o644)
    said = sentences(ended(place.start(), 2))
    assert len(said) == 1
    assert "chmod" in said[0]


@pytest.mark.requirement(67)
def test_a_program_that_was_not_approved_does_not_start(place: Place) -> None:
    place.config.write_text(TABLE + f'[software]\nsha256 = "{"0" * 64}"\n')
    said = sentences(ended(place.start(), 1))
    assert len(said) == 1
    assert "approved" in said[0]
    assert not place.data.exists()


def test_a_real_table_without_its_pin_driver_is_refused_and_never_simulated(place: Place) -> None:
    place.config.write_text(TABLE.replace('"mock"', '"rpigpio"'))
    said = sentences(ended(place.start(), 1))
    assert len(said) == 1
    assert not place.data.exists()
