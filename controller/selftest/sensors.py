"""Each chip sensor: covered, seen, uncovered; whose sensor moved, and how much it bounced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from controller.hardware import Line, LineKind
from controller.inputs import Input, Odd
from controller.ports import Chip
from controller.selftest.record import Result, failed, passed, skipped
from controller.selftest.session import Ending, Session
from controller.selftest.tasks import Move, Task

PART: Final = "sensors"
CLEAR_S: Final = 10
TOGETHER_US: Final = 500_000  # so long a second sensor may take to settle beside a first


def check_sensors(session: Session) -> Iterator[Result]:
    for line in session.rig.lines(LineKind.SENSOR):
        yield session.tried(_Sensor(session, line).check)


class _Sensor:
    """One sensor under test."""

    def __init__(self, session: Session, line: Line) -> None:
        self._session, self._rig, self._line = session, session.rig, line
        self._called = session.rig.spot_name(line)
        self._pin = session.rig.pin_of[line]

    def check(self) -> Result:
        """Empty, covered, empty again."""
        self._began_us = self._rig.pins.now_us()
        self._odd: list[str] = []
        self._others: dict[Line, int] = {}  # other sensors that settled, and when that was known
        self._seen_after_us: int | None = None
        self._chatters = False
        cleared = self._clear()
        if cleared is Ending.LATE:
            return self._failed(
                f"It reads covered with nothing on it: clean the sensor, then look for a short to"
                f" ground on {self._pin}."
            )
        covered = cleared if cleared is Ending.SKIPPED else self._cover()
        cover_us, uncover_us = self._bursts_us(), self._rig.pins.now_us()
        uncovered = covered if covered is Ending.SKIPPED else self._uncover()
        if uncovered is Ending.SKIPPED:
            return skipped(PART, self._called)
        wrong = self._wrong(covered, uncovered)
        figures = self._figures((*cover_us, *self._bursts_us(uncover_us)))
        if wrong:
            return self._failed(wrong, figures)
        return passed(PART, self._called, pin=self._pin, **figures)

    def _failed(self, says: str, figures: Mapping[str, int] | None = None) -> Result:
        return failed(PART, self._called, says, pin=self._pin, **(figures or {}))

    # What the technician does.

    def _clear(self) -> Ending:
        if not self._reads_covered(self._line):
            return Ending.DONE
        task = Task(
            f"Take everything off {self._called}. [s = skip]",
            (Move((self._line,), active=False),),
            glass=(self._called.upper(), "TAKE ALL OFF"),
        )
        return self._session.until(
            task, lambda _acts: not self._reads_covered(self._line), limit_s=CLEAR_S
        )

    def _cover(self) -> Ending:
        task = Task(
            f"Cover the sensor of {self._called} with a chip. [s = skip]",
            (Move((self._line,), active=True),),
            glass=(f"COVER SEAT {self._line.seat}", *self._spot()),
        )
        return self._session.until(task, self._is_settled)

    def _uncover(self) -> Ending:
        task = Task(
            f"Take the chip off {self._called}. [s = skip]",
            (Move((self._line,), active=False),),
            glass=(f"UNCOVER SEAT {self._line.seat}", *self._spot()),
        )
        return self._session.until(task, self._is_empty)

    def _spot(self) -> tuple[str, ...]:
        wagers = self._rig.settings.wagers
        return (f"{wagers[self._line.spot].for_people()} SPOT",) if len(wagers) > 1 else ()

    # What the desk sees of it.

    def _reads_covered(self, line: Line) -> bool:
        return self._rig.pins.level(line)

    def _is_settled(self, acts: tuple[Input, ...]) -> bool:
        self._note(acts)
        now_us = self._rig.pins.now_us()
        for chip in self._rig.desk.chips():
            line = self._line_of(chip)
            if line == self._line:
                self._seen_after_us = now_us - chip.since_us
            elif chip.since_us > self._began_us:
                self._others.setdefault(line, now_us)
        self._chatters = self._line.seat in self._rig.desk.noisy()
        if self._chatters or self._seen_after_us is not None:
            return True
        return any(now_us - known_us >= TOGETHER_US for known_us in self._others.values())

    def _is_empty(self, acts: tuple[Input, ...]) -> bool:
        self._note(acts)
        covered = self._rig.desk.covered()
        return not any(line.seat in covered for line in (self._line, *self._others))

    def _note(self, acts: tuple[Input, ...]) -> None:
        self._odd += [act.what for act in acts if isinstance(act, Odd)]

    def _line_of(self, chip: Chip) -> Line:
        return Line(LineKind.SENSOR, chip.seat, self._rig.settings.wagers.index(chip.amount))

    # What to make of it.

    def _wrong(self, covered: Ending, uncovered: Ending) -> str:
        """The first thing that is wrong, with what to do; nothing if all is well."""
        bounds = self._rig.hardware.timing
        others = " and ".join(self._rig.spot_name(line) for line in sorted(self._others))
        if self._chatters:
            return (
                f"It chatters, with more than {bounds.chatter_edges} edges in a second: clean the"
                f" sensor, seat its plug, and shield its wire on {self._pin}."
            )
        if others and self._seen_after_us is None:
            return f"{others} moved instead: are the wires of {self._called} and {others} swapped?"
        if others:
            return f"{others} moved as well: look for wires that touch near {self._pin}."
        if covered is Ending.LATE:
            return f"Nothing was seen: check the sensor, its plug, and its wire on {self._pin}."
        if uncovered is Ending.LATE:
            return f"It stays covered: clean the sensor, then check its wire on {self._pin}."
        return self._odd[0] + "." if self._odd else ""

    def _bursts_us(self, from_us: int | None = None) -> tuple[tuple[int, int], ...]:
        """The bounces of this sensor since then: how many edges each has, and how long it lasts."""
        began_us = self._began_us if from_us is None else from_us
        seen = self._rig.desk.edges(began_us + 1, self._rig.pins.now_us())
        amount = self._rig.settings.wagers[self._line.spot]
        mine = [us for seat, spot, _, us in seen if (seat, spot) == (self._line.seat, amount)]
        bursts: list[list[int]] = []
        for at_us in mine:
            near = bursts and at_us - bursts[-1][-1] < self._rig.hardware.timing.bounce_ms * 1000
            if near:
                bursts[-1].append(at_us)
            else:
                bursts.append([at_us])
        return tuple((len(burst), burst[-1] - burst[0]) for burst in bursts)

    def _figures(self, bursts: tuple[tuple[int, int], ...]) -> dict[str, int]:
        figures = {
            "edges": sum(edges for edges, _ in bursts),
            "longest_bounce_us": max((length_us for _, length_us in bursts), default=0),
        }
        if self._seen_after_us is not None:
            figures["seen_after_ms"] = self._seen_after_us // 1000
        return figures
