"""What the table tells systemd, read at the other end of a notify socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from controller.adapters.notify import STATUS_CHARACTERS_MAX, Notifier

SMALLEST_BUFFER = 1  # bytes; the kernel rounds it up to the least it allows


@pytest.fixture
def systemd() -> Iterator[socket.socket]:
    """A socket with an abstract name that the kernel chose, so no file and no clash."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("")
        receiver.setblocking(False)
        yield receiver


def environ_for(receiver: socket.socket, **more: str) -> dict[str, str]:
    name: bytes = receiver.getsockname()
    return {"NOTIFY_SOCKET": "@" + name[1:].decode(), **more}


def test_systemd_hears_each_step_of_a_tables_life(systemd: socket.socket) -> None:
    notifier = Notifier.from_environment(environ_for(systemd))
    notifier.extend(1500)
    notifier.status("verifying 40000 rows")
    notifier.ready("T07 open")
    notifier.watchdog()
    notifier.stopping()
    assert [systemd.recv(4096) for _ in range(5)] == [
        b"EXTEND_TIMEOUT_USEC=1500000",
        b"STATUS=verifying 40000 rows",
        b"READY=1\nSTATUS=T07 open",
        b"WATCHDOG=1",
        b"STOPPING=1",
    ]


def test_a_socket_with_a_path_is_found_too(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(path)
        receiver.setblocking(False)
        Notifier.from_environment({"NOTIFY_SOCKET": path}).watchdog()
        assert receiver.recv(4096) == b"WATCHDOG=1"


@pytest.mark.parametrize("name", ["", "relative/notify", "vsock:2:1234"])
def test_without_a_socket_of_systemd_a_table_runs_in_silence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_socket(*_: object) -> socket.socket:
        raise AssertionError("nobody is to be told anything")

    monkeypatch.setattr(socket, "socket", no_socket)
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "10000000"})
    notifier.ready("open")
    notifier.watchdog()
    assert notifier.watchdog_ms is None


@pytest.mark.parametrize("name", ["/nowhere/notify", "@feltlink-nobody-listens", "/" + "x" * 200])
def test_a_socket_that_nobody_answers_does_not_stop_the_table(name: str) -> None:
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": name})
    notifier.ready("open")
    notifier.watchdog()


def test_a_systemd_that_does_not_read_does_not_hold_up_the_loop(systemd: socket.socket) -> None:
    systemd.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALLEST_BUFFER)
    notifier = Notifier.from_environment(environ_for(systemd))
    for _ in range(2000):  # more than any queue takes; a sender that waits would stay here
        notifier.watchdog()
    heard = 0
    with suppress(BlockingIOError):
        while systemd.recv(4096) == b"WATCHDOG=1":
            heard += 1
    assert 0 < heard < 2000


def test_a_status_stays_on_its_line_and_cannot_speak_for_the_table(systemd: socket.socket) -> None:
    notifier = Notifier.from_environment(environ_for(systemd))
    notifier.status("disk full\nWATCHDOG=1")
    assert systemd.recv(4096) == b"STATUS=disk full WATCHDOG=1"
    notifier.status("row \udcff " + "é" * 5000)
    message = systemd.recv(8192).decode()
    assert message.startswith("STATUS=row ? éé")
    assert len(message) == len("STATUS=") + STATUS_CHARACTERS_MAX


OURS, ANOTHERS = str(os.getpid()), str(os.getpid() + 1)


@pytest.mark.parametrize(
    ("environ", "every_ms"),
    [
        ({"WATCHDOG_USEC": "10000000"}, 5000),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": OURS}, 5000),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": ANOTHERS}, None),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "felt"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "-1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({}, None),
    ],
)
def test_the_watchdog_is_fed_twice_as_often_as_systemd_asks_if_it_asks_us(
    environ: dict[str, str], every_ms: int | None
) -> None:
    everything = {"NOTIFY_SOCKET": "/run/notify", **environ}
    assert Notifier.from_environment(everything).watchdog_ms == every_ms
