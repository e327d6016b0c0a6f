"""Lamps and buzzer: what only a person can see and hear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from controller.domain.view import Lamp
from controller.hardware import BUZZER, LineKind, lamp
from controller.ports import Sound
from controller.selftest.record import Result, failed, not_fitted, passed, skipped
from controller.selftest.session import Session
from controller.selftest.tasks import JUDGE, Listen, LookAtLamps, NameLamps, Task

PART: Final = "lamps"
BUZZER_PART: Final = "buzzer"
SAYS: Final[Mapping[Lamp, str]] = {
    Lamp.SEEN: "blink slowly",
    Lamp.ACCEPTED: "be lit steadily",
    Lamp.ATTENTION: "flicker fast",
    Lamp.OUT_OF_SERVICE: "flash twice, then pause",
    Lamp.OFF: "stay dark",
}
PATTERNS: Final = tuple(SAYS)

Lamps = dict[int, Lamp]


def check_lamps(session: Session) -> Iterator[Result]:
    """Each lamp alone, then all patterns side by side."""
    seats = [line.seat for line in session.rig.lines(LineKind.LAMP)]
    for seat in seats:
        yield session.tried(partial(_alone, session, seats, seat))
    for first in range(0, len(PATTERNS), len(seats)):
        shown = {seat: PATTERNS[(first + at) % len(PATTERNS)] for at, seat in enumerate(seats)}
        name = "patterns" if len(seats) >= len(PATTERNS) else f"patterns {first // len(seats) + 1}"
        yield session.tried(partial(_patterns, session, name, shown))


def _alone(session: Session, seats: list[int], seat: int) -> Result:
    name, pin = f"lamp {seat}", session.rig.pin_of[lamp(seat)]
    shown = dict.fromkeys(seats, Lamp.OFF) | {seat: Lamp.ACCEPTED}
    question = f"Did lamp {seat} alone light?"
    glass = (f"LAMP {seat}", "ALONE?")
    answer, broken = _judge(session, question, shown, glass)
    if broken:
        return failed(PART, name, broken, pin=pin)
    if answer == "y":
        return passed(PART, name, pin=pin)
    if answer == "s":
        return skipped(PART, name)
    wrong = _wrong(session, shown)
    return failed(PART, name, _advice(session, seat, wrong), pin=pin)


def _advice(session: Session, seat: int, wrong: list[int]) -> str:
    pin = session.rig.pin_of[lamp(seat)]
    others = [str(other) for other in wrong if other != seat]
    if seat not in wrong and others:
        return f"Lamp {', '.join(others)} lit as well: look for wires that touch near {pin}."
    if len(others) == 1:
        return (
            f"Lamp {others[0]} lit instead: are the wires of lamps {seat} and {others[0]} swapped?"
        )
    return f"Lamp {seat} stays dark: replace the lamp, then check its wire on {pin}."


def _patterns(session: Session, name: str, shown: Lamps) -> Result:
    by_pattern = {each: [s for s, lit in shown.items() if lit is each] for each in PATTERNS}
    parts = [f"{_seats(s)} must {SAYS[each]}" for each, s in by_pattern.items() if s]
    said = "; ".join(parts)
    glass = ("LAMPS: ALL PATTERNS", "RIGHT?")
    answer, broken = _judge(session, f"{said[0].upper()}{said[1:]}. Is it so?", shown, glass)
    if broken:
        return failed(PART, name, broken)
    if answer == "y":
        return passed(PART, name)
    if answer == "s":
        return skipped(PART, name)
    wrong = ", ".join(str(seat) for seat in _wrong(session, shown))
    return failed(
        PART, name, f"Lamps {wrong} do not show their pattern: replace them, then check the wires."
    )


def _seats(seats: list[int]) -> str:
    return f"lamp{'s' if len(seats) > 1 else ''} {', '.join(map(str, seats))}"


def _judge(
    session: Session, question: str, shown: Lamps, glass: tuple[str, ...]
) -> tuple[str, str]:
    """The answer to a question about lamps that are now lit; or what keeps them from it."""
    desk = session.rig.desk
    while True:
        desk.light(dict.fromkeys(shown, Lamp.OFF))
        desk.turn()
        desk.light(shown)
        if desk.faults():
            return "", desk.faults()[0]
        task = Task(f"{question} [y/n/r/s]", (LookAtLamps(shown),), JUDGE, glass=glass)
        answer = session.ask(task)
        if answer == "n":
            return answer, ""
        if answer != "r":
            desk.light(dict.fromkeys(shown, Lamp.OFF))
            return answer, ""


def _wrong(session: Session, shown: Lamps) -> list[int]:
    """Which lamps are not as they should be, by the technician's eyes; they are still lit."""
    task = Task(
        "Which lamps are wrong? Key their numbers, such as 3 4.",
        (NameLamps(shown),),
        is_free=True,
        glass=("WHICH LAMPS", "ARE WRONG?"),
    )
    while True:
        words = session.ask(task).replace(",", " ").split()
        found = [int(word) for word in words if word.isdecimal() and int(word) in shown]
        if found and len(found) == len(words):
            session.rig.desk.light(dict.fromkeys(shown, Lamp.OFF))
            return found


def check_buzzer(session: Session) -> Iterator[Result]:
    if BUZZER in session.rig.pin_of:
        yield session.tried(lambda: _buzzer(session))
    else:
        yield not_fitted(BUZZER_PART, "buzzer")


def _buzzer(session: Session) -> Result:
    name, pin, desk = "buzzer", session.rig.pin_of[BUZZER], session.rig.desk
    task = Task(
        "Does the buzzer sound, twice and again twice? [y/n/r/s]",
        (Listen(),),
        JUDGE,
        glass=("BUZZER:", "DO YOU HEAR IT?"),
    )
    desk.sound(Sound.FLOOR)
    try:
        answer = session.ask(task)
        while answer == "r":
            answer = session.ask(task)
    finally:
        desk.sound(Sound.SILENT)
    if answer == "s":
        return skipped(BUZZER_PART, name)
    if answer == "y":
        return passed(BUZZER_PART, name, pin=pin)
    return failed(
        BUZZER_PART, name, f"It is silent: check its polarity and its wire on {pin}.", pin=pin
    )
