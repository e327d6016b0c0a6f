"""Looks at the keypad and at every level, again and again, and leaves what it saw in the inbox.

A keypad has no edges of its own, and an edge can be lost; so this is the second pair of eyes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from controller.domain.errors import Fault
from controller.hardware import Line
from firmware.inbox import Failure, Inbox, Key, Sweep, Trouble
from firmware.keys import Keypad
from firmware.pins import Pins

SCAN_US: Final = 5_000
SWEEP_US: Final = 50_000
REST_AFTER_TROUBLE_US: Final = 1_000_000


class Scanner:
    """One keypad and the input lines. `scan` is one look; a thread of its own repeats it."""

    def __init__(self, pins: Pins, keypad: Keypad, lines: Iterable[Line], inbox: Inbox) -> None:
        self._pins, self._keypad, self._inbox = pins, keypad, inbox
        self._lines = tuple(lines)
        self._swept_us = pins.now_us() - SWEEP_US
        self._stuck: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scanner", daemon=True)
        self.beat_us = pins.now_us()  # when the last look ended

    def scan(self) -> int:
        """Look once; how long to wait before the next look."""
        try:
            self._look()
        except Fault as fault:
            self._inbox.put(Failure(str(fault)))
            return REST_AFTER_TROUBLE_US
        finally:
            self.beat_us = self._pins.now_us()
        return SCAN_US

    def _look(self) -> None:
        now_us = self._pins.now_us()
        key = self._keypad.scan(self._pins.closed_keys(), at_us=now_us)
        if key is not None:
            self._inbox.put(Key(key))
        stuck = self._keypad.stuck()
        if stuck is not None and stuck != self._stuck:
            self._inbox.put(
                Trouble(f"key {stuck.upper()} of the keypad is stuck: free or replace it")
            )
        self._stuck = stuck
        if now_us - self._swept_us >= SWEEP_US:
            self._swept_us = now_us
            self._inbox.put(Sweep(self._pins.levels(self._lines), self._pins.now_us()))

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        wait_us = SCAN_US
        while not self._stop.wait(wait_us / 1_000_000):
            wait_us = self.scan()
