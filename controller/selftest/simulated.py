"""A simulated technician at simulated pins: does as told, and says what he then sees.

He has hands and eyes and nothing else: he moves pins, and looks at lamps, buzzer and displays.
Time is simulated too, so a whole self-test takes seconds. Whoever wants to see a fault found
hands in pins or displays that have one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import Final

from controller.domain.view import Lamp
from controller.hardware import BUZZER, Hardware, Line, LineKind, lamp
from controller.ports import Clock
from controller.selftest.rig import Gear, wirings
from controller.selftest.tasks import (
    Deed,
    Keys,
    Listen,
    LookAtDisplay,
    LookAtLamps,
    Move,
    NameLamps,
    Push,
    Task,
    Together,
)
from display.glass import Glass, dummy_glass, size_of
from display.screens import Name
from firmware.pins import Pins
from firmware.scanner import SCAN_US
from mock_gpio.pins import SimulatedPins
from mock_gpio.table import EPOCH

REACTS_US: Final = 200_000
PRESS_US: Final = 100_000
BETWEEN_US: Final = 150_000
BOUNCES: Final = 3
BOUNCE_US: Final = 2_000
GLANCE_US: Final = 300_000
STARE_US: Final = 3_000_000  # what telling a pattern from another takes
FLICKERS: Final = 6  # more flashes than this while he stares are fast ones
RARELY_PERCENT: Final = 30


class Now:
    """The one clock of a simulated table."""

    def __init__(self) -> None:
        self.us = 0

    def label(self) -> str:
        now = EPOCH + timedelta(microseconds=self.us)
        return now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"

    def wall_ms(self) -> int:
        return self.us // 1000


class SimulatedTechnician:
    """A table on simulated pins, and whoever tests it."""

    def __init__(
        self,
        hardware: Hardware,
        *,
        say: Callable[[str], None],
        make_hands: Callable[[Hardware, Callable[[], int]], SimulatedPins] = SimulatedPins,
        glasses: Mapping[Name, Glass] | None = None,
    ) -> None:
        self.now = Now()
        self.hands = make_hands(hardware, lambda: self.now.us)
        self._hardware, self._say = hardware, say
        self._glasses = glasses or {
            name: dummy_glass(size_of(wiring)) for name, wiring in wirings(hardware).items()
        }
        self._lamps = [line for line, _ in hardware.lines if line.kind is LineKind.LAMP]
        self._places = {
            name: (row, column)
            for row, names in enumerate(hardware.keymap)
            for column, name in enumerate(names)
        }
        self._order = count()  # of deeds at the same time; also what seeds their bounces
        self._deeds: list[tuple[int, int, Callable[[], None]]] = []
        self._looks: deque[dict[Line, bool]] = deque()
        self._judge: Callable[[], str] | None = None
        self._judge_us = 0

    def gear(self) -> Gear:
        clock: Clock = self.now
        return Gear(
            pins=Pins(self._hardware, self.hands),
            hardware=self._hardware,
            glasses=self._glasses,
            wait=self.wait,
            clock=clock,
            simulated=True,
        )

    def wait(self) -> None:
        """Time passes, and with it comes what is due."""
        self.now.us += SCAN_US
        while self._deeds and self._deeds[0][0] <= self.now.us:
            heappop(self._deeds)[2]()
        if self._judge is not None:
            outputs = (*self._lamps, *([BUZZER] if BUZZER in dict(self._hardware.lines) else []))
            self._looks.append({line: self.hands.lit(line) for line in outputs})

    # The technician.

    def told(self, task: Task) -> None:
        self._say(f"\n{task.text}")
        at_us = self.now.us + REACTS_US
        for deed in task.deeds:
            at_us = self._do(deed, at_us)

    def answer(self) -> str | None:
        if self._judge is None or self.now.us < self._judge_us:
            return None
        answer, self._judge = self._judge(), None
        self._say(f"> {answer}")
        return answer

    def news(self, text: str) -> None:
        self._say(text)

    # Hands.

    def _do(self, deed: Deed, at_us: int) -> int:
        """Begin to do it at that time; when it will be done."""
        match deed:
            case Move():
                return self._move(deed.lines, active=deed.active, at_us=at_us)
            case Push():
                done_us = self._move((deed.line,), active=True, at_us=at_us)
                return self._move((deed.line,), active=False, at_us=done_us)
            case Keys():
                for name in deed.names:
                    at_us = self._press((name,), at_us)
                return at_us
            case Together():
                return self._press(deed.names, at_us)
        return self._look(deed, at_us)

    def _move(self, lines: Iterable[Line], *, active: bool, at_us: int) -> int:
        for line in lines:
            self._later(at_us, partial(self._bounce, line, active=active))
            at_us += BETWEEN_US
        return at_us

    def _bounce(self, line: Line, *, active: bool) -> None:
        """A contact moves now, and goes on bouncing for a while."""
        plan = self.hands.bounce(
            line, active=active, seed=next(self._order), edges=BOUNCES, within_us=BOUNCE_US
        )
        for at_us, level in plan:
            drive = partial(self.hands.drive, line, active=level, at_us=at_us)
            if at_us <= self.now.us:
                drive()
            else:
                self._later(at_us, drive)

    def _press(self, names: Iterable[str], at_us: int) -> int:
        for name in names:
            self._later(at_us, partial(self.hands.press_key, *self._places[name]))
            self._later(at_us + PRESS_US, partial(self.hands.release_key, *self._places[name]))
        return at_us + PRESS_US + BETWEEN_US

    def _later(self, at_us: int, act: Callable[[], None]) -> None:
        heappush(self._deeds, (at_us, next(self._order), act))

    # Eyes and ears.

    def _look(self, deed: Deed, at_us: int) -> int:
        self._judge, patience_us = self._judgement(deed)
        self._looks.clear()
        self._judge_us = at_us + patience_us
        return self._judge_us

    def _judgement(self, deed: Deed) -> tuple[Callable[[], str], int]:
        """How he will answer, and how long he looks before he does."""
        match deed:
            case LookAtLamps():
                return lambda: "n" if self._wrong(deed.lamps) else "y", _patience_us(deed.lamps)
            case NameLamps():
                return lambda: " ".join(map(str, self._wrong(deed.lamps))), _patience_us(deed.lamps)
            case LookAtDisplay():
                return lambda: "y" if self._shows_frame(deed.name) else "n", GLANCE_US
            case Listen():
                return lambda: "y" if self._pattern(BUZZER) is not Lamp.OFF else "n", STARE_US
        return lambda: "n", GLANCE_US

    def _wrong(self, lamps: Mapping[int, Lamp]) -> list[int]:
        return [seat for seat, wanted in lamps.items() if self._pattern(lamp(seat)) is not wanted]

    def _pattern(self, line: Line) -> Lamp:
        """What a lamp has been doing since he began to look, told by its light alone."""
        seen = [look[line] for look in self._looks]
        flashes = sum(after and not before for before, after in pairwise(seen))
        lit_percent = 100 * sum(seen) // len(seen)
        if lit_percent in (0, 100):
            return Lamp.ACCEPTED if lit_percent else Lamp.OFF
        if lit_percent < RARELY_PERCENT:
            return Lamp.OUT_OF_SERVICE
        return Lamp.ATTENTION if flashes > FLICKERS else Lamp.SEEN

    def _shows_frame(self, name: str) -> bool:
        """Whether all four corners of a display are lit."""
        image = next((glass.image for each, glass in self._glasses.items() if each == name), None)
        if image is None:
            return False
        right, bottom = image.width - 1, image.height - 1
        corners = ((0, 0), (right, 0), (0, bottom), (right, bottom))
        return all(image.getpixel(corner) for corner in corners)


def _patience_us(lamps: Mapping[int, Lamp]) -> int:
    return GLANCE_US if {*lamps.values()} <= {Lamp.ACCEPTED, Lamp.OFF} else STARE_US
