"""Where callbacks leave what they saw. They stamp and enqueue, and do nothing else.

The queue is bounded. When it is full, what comes is counted and not kept: the loop then knows
that it cannot know, and no wager is judged from a gap.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import Final

from msgspec import Struct

from controller.hardware import Line

LIMIT: Final = 4096


class Edge(Struct, frozen=True):
    """A line changed, by the time that the kernel or the simulation put on it."""

    line: Line
    active: bool
    at_us: int


class Key(Struct, frozen=True):
    """A key of the keypad went down."""

    name: str


class Sweep(Struct, frozen=True):
    """All levels, read one after the other, whatever edges came before."""

    levels: dict[Line, bool]
    at_us: int


class Trouble(Struct, frozen=True):
    """Something odd that play can go on with, in a sentence for the technician."""

    what: str


class Failure(Struct, frozen=True):
    """The keypad or the levels cannot be read. The next sweep that can be says it is over."""

    what: str


class Wake(Struct, frozen=True):
    """Nothing happened; somebody wants the loop to look round."""


Seen = Edge | Key | Sweep | Trouble | Failure | Wake


class Inbox:
    """Many writers, one reader."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._queue: SimpleQueue[Seen] = SimpleQueue()
        self._limit = limit
        self._counting = threading.Lock()
        self.lost = 0  # only ever rises; the reader compares it with what it saw last

    def put(self, seen: Seen) -> None:
        if self._queue.qsize() >= self._limit:
            with self._counting:
                self.lost += 1
        else:
            self._queue.put(seen)

    def edge(self, line: Line, active: bool, at_us: int) -> None:  # noqa: FBT001 - a callback's form
        self.put(Edge(line, active, at_us))

    def take(self, wait_us: int) -> Seen | None:
        """The next thing seen, or None when nothing came in that time."""
        try:
            return self._queue.get(timeout=wait_us / 1_000_000) if wait_us > 0 else self._now()
        except Empty:
            return None

    def clear(self) -> None:
        """What has come so far is of no interest any more."""
        while not self._queue.empty():
            self._queue.get_nowait()

    def _now(self) -> Seen:
        return self._queue.get_nowait()
