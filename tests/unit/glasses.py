"""Two displays whose failures are set by hand, and a clock that goes when it is told to."""

from __future__ import annotations

from threading import Event
from typing import Any, Final

from PIL import Image

from controller.screen import Screen
from display.frames import DEALER_SIZE, WIDE_SIZE, Starting, blank
from display.glass import BRIGHT
from display.screens import FRAME_US, IDLE_US, Screens

SECOND_US: Final = 1_000_000


class FakeGlass:
    """A display whose failures are set by hand; it keeps the time of every attempt."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.image: Image.Image | None = None
        self.level = BRIGHT
        self.fault: Exception | None = None
        self.tries = 0
        self.pictures = 0
        self.closed = False
        self.drawn = Event()

    def draw(self, image: Image.Image, *, again: bool = False) -> None:
        self.tries += 1
        if self.fault is not None:
            self.image = None
            raise self.fault
        self.pictures += image != self.image or again
        self.image = image
        self.drawn.set()

    def clear(self) -> None:
        self.draw(blank(self.size), again=True)

    def contrast(self, level: int) -> None:
        self.level = level

    def close(self) -> None:
        self.closed = True


class Rig:
    """Both displays on glass of our own, and a clock that goes when it is told to."""

    def __init__(self, meter_size: tuple[int, int] = WIDE_SIZE, **settings: Any) -> None:
        self.at_us = 5 * SECOND_US
        self.dealer, self.meter = FakeGlass(DEALER_SIZE), FakeGlass(meter_size)
        glasses: dict[str, Any] = {"dealer": self.dealer, "meter": self.meter}
        self.screens = Screens(**glasses, now_us=lambda: self.at_us, **settings)

    def post(self, screen: Screen | Starting) -> None:
        self.screens.post(screen)
        self.turn()

    def turn(self, *, after_us: int = FRAME_US) -> int:
        self.at_us += after_us
        return self.screens.turn(self.at_us)

    def pass_ms(self, passed_ms: int, posting: Screen | None = None) -> None:
        """Let time pass in steps of a quarter second, with a screen posted at each if given."""
        for _step in range(passed_ms // 250):
            if posting is not None:
                self.screens.post(posting)
            self.turn(after_us=IDLE_US)

    @property
    def at_ms(self) -> int:
        return self.at_us // 1000
