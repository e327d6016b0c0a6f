"""The displays of the daemon, brought up beside the table and never before it.

Loading the drawing code takes as long as everything else at a start. So it is loaded by the
drawing thread itself: when the table is open, or when the start takes long enough that people
want to read why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from controller.domain.money import Money
from controller.hardware import DisplayWiring, FactoryName, Hardware
from controller.screen import Screen

if TYPE_CHECKING:
    from display.glass import Glass
    from display.screens import Screens

PATIENCE_S: Final = 0.3  # a start that takes longer is told on the displays


class Displays:
    """Stands for the screens until they are loaded, and passes everything on from then."""

    def __init__(
        self, hardware: Hardware, luma_pins: Any, now_us: Callable[[], int], version: str
    ) -> None:
        self._hardware, self._luma_pins, self._now_us = hardware, luma_pins, now_us
        self._version = version
        self._last: Screen | None = None
        self._screens: Screens | None = None
        self._lock = threading.Lock()
        self._go = threading.Event()
        self._began_us = now_us()
        self._thread = threading.Thread(target=self._bring_up, name="displays-start", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ready(self) -> None:
        """The table is open: from now on there is time to draw."""
        self._go.set()

    def _bring_up(self) -> None:
        self._go.wait(PATIENCE_S)
        from display.frames import Starting
        from display.screens import Screens

        screens = Screens(
            dealer=self._glass(self._hardware.dealer_display),
            meter=self._glass(self._hardware.meter_display),
            now_us=self._now_us,
        )
        with self._lock:
            screens.post(self._last or Starting("LEDGER CHECK", self._version))
            self._screens = screens
        screens.start()

    def _glass(self, wiring: DisplayWiring | None) -> Glass | None:
        from display.glass import dummy_glass, open_glass, size_of

        if wiring is None:
            return None
        if self._hardware.factory is FactoryName.MOCK:
            return dummy_glass(size_of(wiring))
        return open_glass(wiring, gpio=self._luma_pins)

    def post(self, screen: Screen) -> None:
        with self._lock:
            self._last = screen
            if self._screens is not None:
                self._screens.post(screen)

    def faults(self) -> tuple[str, ...]:
        return self._screens.faults() if self._screens else ()

    def shown(self) -> Mapping[str, Money]:
        return self._screens.shown() if self._screens else {}

    def beat_us(self) -> int:
        return self._screens.beat_us() if self._screens else self._began_us

    def stop(self) -> None:
        """Clear the glass and end the thread, also one that is still loading."""
        self._go.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._screens is not None:
            self._screens.stop()
