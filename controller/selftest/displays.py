"""Each display: a pattern with a frame, a chequer and its own name, judged by a person."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from controller.domain.errors import Fault
from controller.selftest.facts import DISPLAYS
from controller.selftest.record import Result, failed, not_fitted, passed, skipped
from controller.selftest.session import Session
from controller.selftest.tasks import JUDGE, LookAtDisplay, Task
from display.pattern import pattern_frame
from display.screens import Name

PART: Final = "displays"


def check_displays(session: Session) -> Iterator[Result]:
    """Nothing else is drawn meanwhile."""
    looker = session.rig.looker
    looker.is_drawing = False
    try:
        for name in DISPLAYS:
            if name in session.rig.gear.glasses:
                yield session.tried(partial(_display, session, name))
            else:
                yield not_fitted(PART, f"{name} display")
    finally:
        looker.is_drawing = True


def _display(session: Session, name: Name) -> Result:
    glass, called = session.rig.gear.glasses[name], f"{name} display"
    width, height = glass.size
    figures = {"size": f"{width}x{height}"}
    task = Task(
        f"Does the {called} show an unbroken frame at its very edge, even squares, and the words"
        f" TEST {name.upper()}? [y/n/r/s]",
        (LookAtDisplay(name),),
        JUDGE,
    )
    answer = "r"
    while answer == "r":
        try:
            glass.draw(pattern_frame(glass.size, f"TEST {name.upper()}"), again=True)
        except Fault as fault:
            return failed(PART, called, f"{fault}.", **figures)
        answer = session.ask(task)
    if answer == "s":
        return skipped(PART, called)
    if answer == "y":
        return passed(PART, called, **figures)
    return failed(
        PART,
        called,
        "It answers and does not show the pattern: compare its driver with the table file"
        f" ([displays.{name}] driver), check its plug, then replace it.",
        **figures,
    )
