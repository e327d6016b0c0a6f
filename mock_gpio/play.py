"""Runs a script against a table process of its own, and pulls its plug when the script says so.

The parent keeps what a power cut does not touch: the script, the chips on the layout and the
time. The table lives in a child process; `power-cut` is SIGKILL, so no handler, no flush and no
goodbye runs, and the next child knows only what is on the disk.
"""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable, Iterable
from typing import IO, NoReturn

from controller.domain.errors import Fault
from mock_gpio.main import NEW_WORLD, Place, serve


class TableProcess:
    """One life of the simulated table."""

    def __init__(self, place: Place, world: str) -> None:
        to_child, from_parent = os.pipe()
        to_parent, from_child = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(from_parent)
            os.close(to_parent)
            _live(place, world, _end(to_child, "r"), _end(from_child, "w"))
        os.close(to_child)
        os.close(from_child)
        self._requests = _end(from_parent, "w")
        self._replies = _end(to_parent, "r")
        self.world = world
        self.phase = self._hello()

    def _hello(self) -> str:
        said = json.loads(self._reply())
        if "fault" in said:
            self.stop()
            raise Fault(said["fault"])
        self.repairs: list[str] = said["repairs"]
        phase: str = said["phase"]
        return phase

    def answer(self, number: int, text: str) -> str:
        """The JSON answer to one line, and the world as it stands after it."""
        self.send(number, text)
        return self._reply()

    def send(self, number: int, text: str) -> None:
        """Hand over a line and go on; somebody may pull the plug while the table works on it."""
        self._requests.write(f"{number}\t{text}\n")
        self._requests.flush()

    def _reply(self) -> str:
        answer, world = self._replies.readline(), self._replies.readline()
        if not world:
            raise Fault("The table process died without an answer; see the message above.")
        self.world = world.rstrip("\n")
        return answer.rstrip("\n")

    def kill(self) -> None:
        """The plug is pulled."""
        os.kill(self._pid, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        """Let the process end, and wait for it; a second call does nothing."""
        if not self._requests.closed:
            self._requests.close()
            self._replies.close()
            os.waitpid(self._pid, 0)


def _end(descriptor: int, mode: str) -> IO[str]:
    return os.fdopen(descriptor, mode, encoding="utf-8", newline="\n")


def _live(place: Place, world: str, requests: IO[str], replies: IO[str]) -> NoReturn:
    """The child's whole life; it never returns into the parent's code."""
    status = 1
    try:
        serve(place, world, requests, replies)
        status = 0
    except KeyboardInterrupt:
        status = 130
    except BaseException:  # noqa: BLE001 - the last word of a process that must not return
        traceback.print_exc()
    os._exit(status)


def play(
    place: Place,
    lines: Iterable[str],
    say: Callable[[str], None],
    warn: Callable[[str], None] = lambda _: None,
) -> None:
    """One JSON object for each input line. Refused inputs are answers, not errors."""
    table = TableProcess(place, NEW_WORLD)
    for repair in table.repairs:
        warn(repair)
    try:
        for number, line in enumerate(lines, start=1):
            text = line.split("#", 1)[0].strip()
            if text == "power-cut":
                table.kill()
                table = TableProcess(place, table.world)
                say(_answer(number, text, table.phase))
            elif text:
                say(table.answer(number, text.replace("\t", " ")))
    finally:
        table.stop()


def _answer(number: int, text: str, phase: str) -> str:
    return json.dumps({"line": number, "input": text, "ok": True, "phase": phase})
