"""The one thread that draws. It takes the newest moment it was given and never holds anyone up.

A display that fails is tried again after a growing pause and disturbs neither the other one nor
the table. When nothing new comes any more, the amounts go: a number that may be old is no number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Final, Literal

from msgspec.structs import replace
from PIL import Image

from controller.domain.money import Money
from controller.domain.table import Phase
from controller.screen import Screen
from display.frames import amounts_on, dealer_frame, meter_frame, stopped_frame
from display.glass import BRIGHT, DIM, Glass
from display.meters import hits
from display.pane import Moment, Painter, Pane, Picture
from display.sheet import Size

Name = Literal["dealer", "meter"]

FRAME_US: Final = 125_000  # at most eight frames a second
IDLE_US: Final = 250_000  # how soon to look again when nothing comes
STALE_MS: Final = 5_000
DIM_AFTER_MS: Final = 600_000
TROUBLE_US: Final = 1_000_000
JOIN_S: Final = 5


def _dealer_subject(screen: Screen) -> object:
    """A meter that moves is no reason to read a page from its beginning."""
    return replace(screen, view=replace(screen.view, meters=()))


def _draw_dealer(screen: Screen, size: Size, at_ms: int, since_ms: int) -> Picture:
    return Picture(dealer_frame(screen, at_ms=at_ms, since_ms=since_ms, size=size))


def _draw_meter(screen: Screen, size: Size, at_ms: int, since_ms: int) -> Picture:
    frame = meter_frame(screen, size=size, at_ms=at_ms, since_ms=since_ms)
    amounts = amounts_on(screen, size=size, at_ms=at_ms, since_ms=since_ms)
    return Picture(frame, amounts, {meter.title: meter.shown for meter in screen.view.meters})


PAINTERS: Final[Mapping[Name, Painter]] = {
    "dealer": Painter(_draw_dealer, _dealer_subject),
    "meter": Painter(_draw_meter, lambda screen: hits(screen.view)),
}


class Screens:
    """Both displays of a table. `post` may be called from any thread, as often as one likes."""

    def __init__(
        self,
        *,
        dealer: Glass | None,
        meter: Glass | None,
        now_us: Callable[[], int],
        stale_ms: int = STALE_MS,
        dim_after_ms: int = DIM_AFTER_MS,
    ) -> None:
        glasses: dict[Name, Glass | None] = {"dealer": dealer, "meter": meter}
        self._panes = {n: Pane(n, g, PAINTERS[n]) for n, g in glasses.items() if g is not None}
        self._now_us, self._stale_us, self._dim_us = now_us, stale_ms * 1000, dim_after_ms * 1000
        self._news = Condition()
        self._moment: Moment | None = None
        self._posted_us = 0
        self._unseen = False
        self._stopping = False
        self._why = ""
        self._thread: Thread | None = None
        self._beat_us = now_us()
        self._sent_us = -FRAME_US
        self._closed_us: int | None = None  # since when the table has been closed
        self._trouble = ""

    def post(self, moment: Moment) -> None:
        """Show this from now on. Only the newest is kept; nobody waits for the glass."""
        at_us = self._now_us()
        with self._news:
            self._moment, self._posted_us, self._unseen = moment, at_us, True
            self._news.notify_all()

    def start(self) -> None:
        self._thread = Thread(target=self._run, name="displays", daemon=True)
        self._thread.start()

    def stop(self, why: str = "") -> None:
        """Clear both displays, or leave them saying why; then let go of them."""
        with self._news:
            self._stopping, self._why = True, why
            self._news.notify_all()
        if self._thread is None:
            self._leave()
        else:
            self._thread.join(JOIN_S)

    def faults(self) -> tuple[str, ...]:
        """One sentence for each display that is down now."""
        own = (self._trouble,) if self._trouble else ()
        return (*(fault for pane in self._panes.values() for fault in pane.faults), *own)

    def beat_us(self) -> int:
        """When the drawing thread last went round, for whoever watches over it."""
        return self._beat_us

    def shown(self) -> Mapping[str, Money]:
        """By meter title, the amounts that really are on the meter display."""
        pane = self._panes.get("meter")
        return dict(pane.amounts) if pane else {}

    def image(self, name: Name) -> Image.Image | None:
        """What stands on a display; none if it is down or was never drawn on."""
        pane = self._panes.get(name)
        return pane.glass.image if pane else None

    def turn(self, now_us: int) -> int:
        """Draw what is due; the answer is after how many microseconds to come again."""
        self._beat_us = now_us
        too_soon_us = self._sent_us + FRAME_US - now_us
        if too_soon_us > 0:
            return too_soon_us
        with self._news:
            moment, posted_us, self._unseen = self._moment, self._posted_us, False
        # A start may take its time at one step, and shows no amount meanwhile.
        stale = isinstance(moment, Screen) and now_us - posted_us > self._stale_us
        level = self._level(moment, now_us)
        sent = [p.turn(moment, now_us, stale=stale, level=level) for p in self._panes.values()]
        if not any(sent):
            return IDLE_US
        self._sent_us = now_us
        return FRAME_US

    def _level(self, moment: Moment | None, now_us: int) -> int:
        """A table that has been closed for long is dimmed, which spares the pixels."""
        closed = isinstance(moment, Screen) and moment.view.phase is Phase.CLOSED
        if not closed:
            self._closed_us = None
        elif self._closed_us is None:
            self._closed_us = now_us
        long = self._closed_us is not None and now_us - self._closed_us >= self._dim_us
        return DIM if long else BRIGHT

    def _run(self) -> None:
        while not self._stopping:
            try:
                wait_us = self.turn(self._now_us())
                self._trouble = ""
            except Exception as error:  # noqa: BLE001 - the last line of this thread
                self._trouble = f"displays: {type(error).__name__}: {error}: report this"
                wait_us = TROUBLE_US
            self._wait(wait_us)
        self._leave()

    def _wait(self, wait_us: int) -> None:
        """Something new cuts a long wait short, but never the pause between two frames."""
        with self._news:
            self._news.wait_for(
                lambda: self._stopping or (self._unseen and wait_us > FRAME_US),
                wait_us / 1_000_000,
            )

    def _leave(self) -> None:
        for pane in self._panes.values():
            pane.leave(stopped_frame(pane.glass.size, self._why) if self._why else None)
