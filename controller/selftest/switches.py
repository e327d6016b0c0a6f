"""LOCK, END, the floor key, the door and the drop slot: each must say its own name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from controller.domain.pack import CountMode
from controller.hardware import DOOR, DROP, END, FLOOR_KEY, LOCK, Line
from controller.inputs import (
    ChipDropped,
    DoorSwitched,
    EndPressed,
    Input,
    KeyPressed,
    KeySwitched,
    LockPressed,
    LockUnheard,
    Odd,
)
from controller.selftest.record import Result, failed, not_fitted, passed, skipped
from controller.selftest.session import Ending, Session
from controller.selftest.tasks import Deed, Move, Push, Task

BUTTONS: Final = "buttons"
DOOR_PART: Final = "door"
UNHEARD: Final = "LOCK was pressed and no edge was told"
CALLED: Final[Mapping[Line, str]] = {
    LOCK: "LOCK",
    END: "END",
    FLOOR_KEY: "floor key",
    DOOR: "door",
    DROP: "drop slot",
}


@dataclass(frozen=True, slots=True)
class _Step:
    """One movement of a switch: how it is asked for, and what must come of it."""

    asks: str
    glass: str
    deed: Deed
    says: str  # as `_said` names it


_LOCK: Final = (_Step("Press LOCK and let go.", "PRESS LOCK", Push(LOCK), "LOCK"),)
_END: Final = (_Step("Press END and let go.", "PRESS END", Push(END), "END"),)
_DROP: Final = (
    _Step("Let one chip fall through the slot.", "DROP A CHIP", Push(DROP), "a chip in the slot"),
)
_FLOOR_KEY: Final = (
    _Step(
        "Turn the floor key on.", "FLOOR KEY ON", Move((FLOOR_KEY,), active=True), "floor key on"
    ),
    _Step(
        "Turn the floor key off.",
        "FLOOR KEY OFF",
        Move((FLOOR_KEY,), active=False),
        "floor key off",
    ),
)
_DOOR: Final = (
    _Step("Open the cabinet door.", "OPEN THE DOOR", Move((DOOR,), active=True), "door open"),
    _Step("Close the cabinet door.", "CLOSE THE DOOR", Move((DOOR,), active=False), "door closed"),
)


def check_buttons(session: Session) -> Iterator[Result]:
    """What hangs beside the keypad; the slot only where it counts."""
    yield _check(session, BUTTONS, LOCK, _LOCK)
    yield _check(session, BUTTONS, END, _END)
    yield _check(session, BUTTONS, FLOOR_KEY, _FLOOR_KEY)
    if session.rig.settings.count is CountMode.SENSOR:
        yield _check(session, BUTTONS, DROP, _DROP)


def check_door(session: Session) -> Iterator[Result]:
    yield _check(session, DOOR_PART, DOOR, _DOOR)


def _check(session: Session, part: str, line: Line, steps: tuple[_Step, ...]) -> Result:
    if line not in session.rig.pin_of:
        return not_fitted(part, CALLED[line])
    return session.tried(lambda: _Switch(session, part, line).check(steps))


class _Switch:
    """One line under test."""

    def __init__(self, session: Session, part: str, line: Line) -> None:
        self._session, self._part, self._line = session, part, line
        self._name, self._pin = CALLED[line], session.rig.pin_of[line]
        self._came: list[str] = []
        self._odd: list[str] = []

    def check(self, steps: tuple[_Step, ...]) -> Result:
        if self._reads_active():
            if len(steps) == 1:
                return self._failed(
                    f"It reads pressed with nobody at it: free it, or look for a short on"
                    f" {self._pin}."
                )
            steps = (steps[-1], *steps)  # it begins where the test would end
        for step in steps:
            self._came = []
            task = Task(f"{step.asks} [s = skip]", (step.deed,), glass=(step.glass,))
            ending = self._session.until(task, self._is_told)
            if ending is Ending.SKIPPED:
                return skipped(self._part, self._name)
            wrong = self._wrong(step, ending)
            if wrong:
                return self._failed(wrong)
        return passed(self._part, self._name, pin=self._pin)

    def _failed(self, says: str) -> Result:
        return failed(self._part, self._name, says, pin=self._pin)

    def _reads_active(self) -> bool:
        return self._session.rig.pins.level(self._line)

    def _is_told(self, acts: tuple[Input, ...]) -> bool:
        self._odd += [act.what for act in acts if isinstance(act, Odd)]
        self._came += [said for said in map(_said, acts) if said]
        return bool(self._came)

    def _wrong(self, step: _Step, ending: Ending) -> str:
        if self._odd:
            return f"{self._odd[0]}; its wire is on {self._pin}."
        if UNHEARD in self._came:
            return (
                f"{UNHEARD}, so it could lock nothing: restart the unit; if it stays so, replace"
                " the unit."
            )
        faults = self._session.rig.desk.faults()
        if ending is Ending.LATE and faults:
            return faults[0]
        if ending is Ending.LATE:
            return f"Nothing came: check the {self._name} and its wire on {self._pin}."
        if self._came != [step.says]:
            came = " and ".join(self._came)
            return f"{came} came instead: are the wires swapped? This one belongs on {self._pin}."
        return ""


def _said(act: Input) -> str:
    """What people did, in words; nothing for what they did not do."""
    match act:
        case LockPressed():
            return "LOCK"
        case LockUnheard():
            return UNHEARD
        case EndPressed():
            return "END"
        case KeySwitched():
            return f"floor key {'on' if act.on else 'off'}"
        case DoorSwitched():
            return f"door {'open' if act.opened else 'closed'}"
        case ChipDropped():
            return "a chip in the slot"
        case KeyPressed():
            return f"key {act.key.upper()}"
    return ""
