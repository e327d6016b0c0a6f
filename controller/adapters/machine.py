"""The computer under the table: its clock, its addresses, and the program's own files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import struct
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from controller.domain.errors import Fault

PROGRAM: Final = ("controller", "display", "firmware", "mock_gpio")
PARTS: Final = (".py", ".toml", ".bdf", ".otb")
INTERFACES: Final = Path("/sys/class/net")  # a sandboxed service may not ask netlink
SIOCGIFADDR: Final = 0x8915  # Linux: the address of an interface


class SystemClock:
    """Wall time as the computer believes it to be. A Pi has no clock battery."""

    def label(self) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return now.removesuffix("+00:00") + "Z"

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000


def addresses() -> tuple[str, ...]:
    """Host name and the IPv4 address of every interface but the loopback."""
    found = [socket.gethostname()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for name in sorted(path.name for path in INTERFACES.glob("*")):
            asked = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(any_socket.fileno(), SIOCGIFADDR, asked)
            except OSError:  # an interface without an address
                continue
            if name != "lo":
                found.append(socket.inet_ntoa(answer[20:24]))
    return tuple(found)


def _parts(root: str) -> Iterator[str]:
    """Every file of the program, by its name from the folder that the packages stand in."""
    for package in PROGRAM:
        for folder, _, names in os.walk(f"{root}/{package}"):
            inside = folder[len(root) + 1 :]
            yield from (f"{inside}/{name}" for name in names if name.endswith(PARTS))


@cache
def digest() -> str:
    """SHA-256 over every part of the program, by name and content, in one fixed order."""
    root = Path(__file__).resolve().parents[2]
    whole = hashlib.sha256()
    for name in sorted(_parts(str(root))):
        with open(f"{root}/{name}", "rb") as part:  # noqa: PTH123 - a start waits for this
            content = part.read()
        whole.update(b"%d %b %d " % (len(name), name.encode(), len(content)))
        whole.update(content)
    return whole.hexdigest()


def check_software(approved: str | None) -> None:
    """The program runs only as it was approved, where the table file names the approved one."""
    if approved is not None and digest() != approved:
        raise Fault(
            f"The program's files have the digest {digest()}, and the table file approves"
            f" {approved}: install the approved version, or have the new one approved."
        )
