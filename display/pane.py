"""One display as the drawing thread sees it: what it carries, and its pause after a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from PIL import Image

from controller.domain.errors import Fault
from controller.domain.money import Money
from controller.screen import Screen
from display.frames import Starting, blank, stale_frame, start_frame
from display.glass import BRIGHT, Glass
from display.sheet import SHIFT_MS, Size

REFRESH_US: Final = 10_000_000  # how soon a panel is told everything again
FIRST_PAUSE_US: Final = 1_000_000
LONGEST_PAUSE_US: Final = 30_000_000
STEP_MS: Final = 1000  # what takes turns does so at whole seconds

Moment = Screen | Starting


@dataclass(frozen=True, slots=True)
class Picture:
    """A frame, the amounts on it by meter title, and those that are true at that moment."""

    frame: Image.Image
    amounts: Mapping[str, Money] = field(default_factory=dict)
    true: Mapping[str, Money] = field(default_factory=dict)
    fault: str = ""  # why there was nothing better to draw


@dataclass(frozen=True, slots=True)
class Painter:
    """How one of the two displays turns a moment into a picture."""

    draw: Callable[[Screen, Size, int, int], Picture]  # size, at_ms, since_ms
    subject: Callable[[Screen], object]  # when this changes, pages start from the first


class Pane:
    """Everything here runs in the drawing thread; others only read `faults` and `amounts`."""

    def __init__(self, name: str, glass: Glass, painter: Painter) -> None:
        self.glass = glass
        self.amounts: Mapping[str, Money] = {}  # what the display really carries
        self.faults: tuple[str, ...] = ()
        self._name, self._painter = name, painter
        self._level = BRIGHT
        self._subject: object = None
        self._since_ms = 0
        self._last: tuple[object, ...] = ()  # what decided the picture that is up
        self._retry_us, self._pause_us = 0, FIRST_PAUSE_US
        self._refresh_us = 0

    def turn(self, moment: Moment | None, now_us: int, *, stale: bool, level: int) -> bool:
        """Bring the display up to date if it is due; True if anything was sent to it."""
        if now_us < self._retry_us:
            return False
        at_ms = now_us // 1000
        self._follow(moment, at_ms)
        beat = ((at_ms - self._since_ms) // STEP_MS, at_ms // SHIFT_MS)
        deciding = (moment, stale, level, *beat)
        refresh = now_us >= self._refresh_us
        if deciding == self._last and not refresh:
            return False
        self._put(self._picture(moment, at_ms, stale=stale), now_us, level, refresh=refresh)
        self._last = deciding
        return True

    def leave(self, frame: Image.Image | None) -> None:
        """The last thing that this process shows, or nothing; then let go of the bus."""
        self.amounts = {}
        try:
            if frame is None:
                self.glass.clear()
            else:
                self.glass.draw(frame, again=True)
        except Fault as fault:
            self.faults = (f"{self._name} display: {fault}",)
        self.glass.close()

    def _follow(self, moment: Moment | None, at_ms: int) -> None:
        subject = self._painter.subject(moment) if isinstance(moment, Screen) else None
        if subject != self._subject:
            self._subject, self._since_ms = subject, at_ms

    def _picture(self, moment: Moment | None, at_ms: int, *, stale: bool) -> Picture:
        size = self.glass.size
        try:
            if stale:
                return Picture(stale_frame(size, at_ms=at_ms))
            if isinstance(moment, Screen):
                return self._painter.draw(moment, size, at_ms, self._since_ms)
            if moment is None:
                return Picture(blank(size))
            return Picture(start_frame(size, moment, at_ms=at_ms))
        except Exception as error:  # noqa: BLE001 - a drawing mistake must not end the thread
            why = f"cannot be drawn ({type(error).__name__}: {error}): report this"
            return Picture(blank(size), fault=why)

    def _put(self, picture: Picture, now_us: int, level: int, *, refresh: bool) -> None:
        try:
            self.glass.contrast(level)
            self.glass.draw(picture.frame, again=refresh)
        except Fault as fault:
            self._fail(str(fault), now_us)
        except Exception as error:  # noqa: BLE001 - nor a mistake of a driver or a pin
            self.glass.close()
            self._fail(f"{type(error).__name__}: {error}: report this", now_us)
        else:
            self.faults = (f"{self._name} display: {picture.fault}",) if picture.fault else ()
            kept = {t: a for t, a in self.amounts.items() if picture.true.get(t) == a}
            self.amounts = {**kept, **picture.amounts}
            self._pause_us = FIRST_PAUSE_US
            if refresh:
                self._refresh_us = now_us + REFRESH_US

    def _fail(self, why: str, now_us: int) -> None:
        self.faults = (f"{self._name} display: {why}",)
        self.amounts = {}
        self._retry_us, self._refresh_us = now_us + self._pause_us, 0
        self._pause_us = min(2 * self._pause_us, LONGEST_PAUSE_US)
