"""The keypad: every key in turn, and two at once, which must count as none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from controller.inputs import Input, KeyPressed
from controller.selftest.record import Result, failed, passed, skipped
from controller.selftest.session import Ending, Session
from controller.selftest.tasks import Keys, Task, Together

PART: Final = "keypad"
UP_S: Final = 5  # how long a finger may stay on a key
APART_TRIES: Final = 3

Position = tuple[int, int]


def check_keys(session: Session) -> Iterator[Result]:
    """With a key that reads pressed all the time no other can be tested."""
    keymap = session.rig.hardware.keymap
    places = {(r, c): key for r, row in enumerate(keymap) for c, key in enumerate(row)}
    yield session.tried(partial(_idle, session, places))
    for place, key in places.items():
        down = _down(session, places)
        if down:
            yield skipped(PART, _called(key), f"key {down} reads pressed all the time")
        else:
            yield session.tried(partial(_key, session, places, place))
    if _down(session, places):
        yield skipped(PART, "two keys at once", "a key reads pressed all the time")
    else:
        yield session.tried(partial(_two, session, keymap[0][:2]))


def _called(key: str) -> str:
    return f"key {key.upper()}"


def _down(session: Session, places: dict[Position, str]) -> str:
    """The keys that read pressed at this moment."""
    return " ".join(places[place].upper() for place in sorted(session.rig.pins.closed_keys()))


def _is_up(session: Session, _acts: tuple[Input, ...] = ()) -> bool:
    return not session.rig.pins.closed_keys()


def _wires(session: Session, place: Position) -> str:
    """The two wires that a key joins."""
    hardware, (row, column) = session.rig.hardware, place
    return f"{hardware.keypad_rows[row]} and {hardware.keypad_columns[column]}"


def _idle(session: Session, places: dict[Position, str]) -> Result:
    name = "no key pressed"
    if session.wait(partial(_is_up, session), limit_s=UP_S) is Ending.DONE:
        return passed(PART, name)
    down = _down(session, places)
    return failed(
        PART, name, f"Key {down} reads pressed with no finger on it: free or replace the keypad."
    )


def _key(session: Session, places: dict[Position, str], place: Position) -> Result:
    key, wires = places[place], _wires(session, place)
    name = _called(key)
    got: list[str] = []

    def is_pressed(acts: tuple[Input, ...]) -> bool:
        got.extend(act.key for act in acts if isinstance(act, KeyPressed))
        return bool(got)

    task = Task(
        f"Press {key.upper()} on the keypad and let go. [s = skip]",
        (Keys((key,)),),
        glass=("PRESS", key.upper()),
    )
    match session.until(task, is_pressed):
        case Ending.SKIPPED:
            return skipped(PART, name)
        case Ending.LATE:
            return failed(PART, name, f"It was not seen: check the keypad's wires on {wires}.")
    if session.wait(partial(_is_up, session), limit_s=UP_S) is not Ending.DONE:
        return failed(PART, name, "It stays pressed: free or replace the keypad.")
    if got != [key]:
        came = " ".join(got).upper()
        return failed(
            PART, name, f"{came} came instead: compare the keypad's rows and columns with {wires}."
        )
    return passed(PART, name, received=got[0].upper())


def _two(session: Session, keys: tuple[str, ...]) -> Result:
    """A press that counts before the second key is down was two presses: that is asked again."""
    name, spoken = "two keys at once", " and ".join(keys).upper()
    task = Task(
        f"Press {spoken} at the same instant, then let go of both. [s = skip]",
        (Together(keys),),
        glass=("PRESS TOGETHER", spoken),
    )
    for _ in range(APART_TRIES):
        press = _Together(session)
        match session.until(task, press.is_over):
            case Ending.SKIPPED:
                return skipped(PART, name)
            case Ending.LATE:
                return failed(PART, name, "The two keys were never seen down together.")
        if press.after:
            came = " ".join(press.after).upper()
            return failed(PART, name, f"{came} came: replace the keypad, whose keys touch.")
        if not press.before:
            return passed(PART, name, received="none")
        session.technician.news("They came one after the other; once more, please.")
    return failed(PART, name, "The keys came one after the other: use the edge of a ruler.")


class _Together:
    """What came of a press of two keys, before both were down and after."""

    def __init__(self, session: Session) -> None:
        self._pins = session.rig.pins
        self._both = False
        self.before: list[str] = []
        self.after: list[str] = []

    def is_over(self, acts: tuple[Input, ...]) -> bool:
        """Both have been down, and all are up again."""
        down = len(self._pins.closed_keys())
        keys = [act.key for act in acts if isinstance(act, KeyPressed)]
        (self.after if self._both else self.before).extend(keys)
        self._both = self._both or down > 1
        return self._both and not down
