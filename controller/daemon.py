"""`feltlink table` as a process: real time, threads, signals and systemd around the loop."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from controller import VERSION
from controller.adapters.machine import SystemClock, check_software, digest
from controller.adapters.notify import Notifier
from controller.config import TableFile
from controller.displays import Displays
from controller.domain.table import Person
from controller.hardware import FactoryName, Hardware
from controller.process import Loop, World, ledger_opener
from firmware.inbox import Wake
from firmware.pins import LumaPins, Pins, open_factory

ALIVE_WITHIN_US: Final = 5_000_000  # how old the beat of a helper thread may be
SWEEP_PAUSE_S: Final = 0.001
START_MS: Final = 300_000  # what a long ledger on a slow card may take to verify
WATCH_EVERY_US: Final = 1_000_000


class Daemon:
    """One table from start to SIGTERM."""

    def __init__(
        self,
        file: TableFile,
        hardware: Hardware,
        data: Path,
        *,
        factory: Any,
        say: Callable[[str], None],
    ) -> None:
        self._file, self._data, self._say = file, data, say
        self._notifier = Notifier.from_environment(os.environ)
        self._stopping = False
        self._watched_us = 0
        self._pins = Pins(hardware, factory)
        self.screens = Displays(hardware, LumaPins(factory), self._pins.now_us, VERSION)
        world = World(
            pins=self._pins,
            hardware=hardware,
            screens=self.screens,
            clock=SystemClock(),
            check_pin=_staff(file),
            pause=lambda: time.sleep(SWEEP_PAUSE_S),
            simulated=hardware.factory is FactoryName.MOCK,
        )
        self.loop = Loop(file, world, ledger_opener(file, data))
        self.loop.books.takes_long = self._have_patience
        self._status = ""

    def run(self) -> None:
        """Start, turn until told to stop, and leave everything dark."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        self._notifier.extend(START_MS)
        self.screens.start()
        try:
            self.start()
            for warning in self._file.warnings:
                self._say(f"warning: {warning}")
            while not self._stopping:
                self.turn()
        finally:
            self.leave()

    def start(self) -> None:
        self._notifier.status("checking the ledger")
        self.loop.start()
        self.loop.scanner.start()
        pack = self._file.pack
        self._say(f"pack {pack.id}, fingerprint {pack.fingerprint}; program {digest()}")
        for repair in self.loop.books.repairs:
            self._say(repair)
        self._notifier.ready(self._describe())
        self.screens.ready()

    def _have_patience(self, long: bool) -> None:  # noqa: FBT001 - a callback's form
        """While a ledger is verified the loop stands still, and the watchdog has to bear it."""
        every_ms = self._notifier.watchdog_ms
        if every_ms is not None:
            self._notifier.watchdog_within(START_MS if long else 2 * every_ms)

    def turn(self) -> None:
        """Wait for the next thing, do it, and show that the loop did its work."""
        loop = self.loop
        if not loop.step(loop.until_turn_us()):
            loop.rest()
        if loop.desk.now_us() - self._watched_us >= WATCH_EVERY_US:
            self._watched_us = loop.desk.now_us()
            self._report()

    def leave(self) -> None:
        self._notifier.stopping()
        if self.loop.scanner.is_alive:
            self.loop.scanner.stop()
        self.screens.stop()
        self.loop.close()

    def _stop(self, _number: int, _frame: object) -> None:
        self._stopping = True
        self.loop.inbox.put(Wake())

    def _report(self) -> None:
        """The watchdog is fed only while every thread that the table needs goes round."""
        now_us = self.loop.desk.now_us()
        beats = (self.loop.scanner.beat_us, self.screens.beat_us())
        if all(now_us - beat_us < ALIVE_WITHIN_US for beat_us in beats):
            self._notifier.watchdog()
        status = self._describe()
        if status != self._status:
            self._status = status
            self._notifier.status(status)
            self._say(status)

    def _describe(self) -> str:
        unit = self.loop.unit
        table = f"table {self._file.settings.table_id}, Feltlink {VERSION}"
        return f"{table}: {unit.down or unit.phase.value}"


def _staff(file: TableFile) -> Callable[[str, str], Person | None]:
    """Without a staff file nobody can sign in."""
    if file.staff_file is None:
        return lambda _number, _pin: None
    from controller.adapters.staff_files import load_staff

    return load_staff(Path(file.staff_file)).check


def open_daemon(
    file: TableFile, hardware: Hardware, data: Path, say: Callable[[str], None]
) -> Daemon:
    """The software is checked before anything is claimed, opened or sent."""
    check_software(file.software)
    factory = _simulated(hardware) if hardware.factory is FactoryName.MOCK else None
    return Daemon(file, hardware, data, factory=factory or open_factory(hardware.factory), say=say)


def _simulated(hardware: Hardware) -> Any:
    from mock_gpio.pins import SimulatedPins

    return SimulatedPins(hardware, lambda: time.monotonic_ns() // 1000)
