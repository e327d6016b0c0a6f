"""A person at a terminal, also over ssh: lines out, lines in, and the table waits for neither."""

from __future__ import annotations

import os
import select
from typing import Final, TextIO

from controller.domain.errors import BadInput
from controller.selftest.tasks import Task

CHUNK_BYTES: Final = 4096


class Terminal:
    """Reads a file descriptor, since a buffered reader would hide lines from `select`."""

    def __init__(self, descriptor: int, out: TextIO) -> None:
        self._descriptor, self._out = descriptor, out
        self._typed = b""
        self._closed = False

    def told(self, task: Task) -> None:
        self._read(timeout_s=0)
        self._typed = b""  # what was typed ahead of a question is no answer to it
        self._write(f"\n{task.text}{' ' if task.is_question else chr(10)}")

    def answer(self) -> str | None:
        self._read(timeout_s=0)
        line = self._line()
        if line is None and self._closed:
            raise EOFError("the terminal was closed")
        return None if line is None else line.lower()

    def news(self, text: str) -> None:
        self._write(f"{text}\n")

    def name(self) -> str:
        """Who is sitting there. Nothing is open yet, so this question may wait."""
        while not self._closed:
            self._write("Who runs this self-test? ")
            while (line := self._line()) is None and not self._closed:
                self._read(timeout_s=None)
            if line:
                return line
        raise BadInput("nobody said who runs this self-test; say it with --by NAME")

    def _line(self) -> str | None:
        line, end, rest = self._typed.partition(b"\n")
        if not end:
            return None
        self._typed = rest
        return line.decode("utf-8", "replace").strip()

    def _read(self, *, timeout_s: int | None) -> None:
        """All that has been typed; with a timeout of None, at least something."""
        while not self._closed and select.select([self._descriptor], [], [], timeout_s)[0]:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
            self._typed += chunk
            self._closed = not chunk
            timeout_s = 0

    def _write(self, text: str) -> None:
        """A line that is cut in the middle of a test ends it at the next answer."""
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:
            self._closed = True
