"""The keypad under the floor key, signed in as technician or auditor: reading, and little more.

Neither can open a table, validate or void; the auditor changes nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.table import Phase, Role
from controller.panel.actions import RunSelfTest
from controller.panel.steps import Confirm, Desk, Reading, Turn, stay
from controller.panel.words import (
    DIGITS,
    WIDTH,
    fit,
    fold,
    more,
    numbered,
    page_after,
    page_count,
    picked,
)
from controller.screen import Page

SELF_TEST: Final = "SELF-TEST"
CLEAR_FAULT: Final = "CLEAR FAULT"


class Topics(Struct, frozen=True):
    """What there is to read; for a technician also what there is to do."""

    lasts: ClassVar[bool] = True
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        texts = _texts(desk)
        title = fit(f"{desk.by.role.value.upper()} {desk.by.name.upper()}")
        return Page(title, numbered(texts, self.shown), hint=more(len(texts), "PICK ONE"))

    def press(self, key: str, desk: Desk) -> Turn:
        texts = _texts(desk)
        if key in ("menu", "enter") and page_count(len(texts)) > 1:
            return Turn(replace(self, shown=page_after(self.shown, len(texts))))
        if key == "clear":
            return stay(self, "Turn the floor key off to leave.")
        at = picked(key, len(texts), self.shown) if key in DIGITS else None
        if at is None:
            return stay(self, "Pick one of the numbers shown.")
        return self._pick(texts[at], desk)

    def _pick(self, text: str, desk: Desk) -> Turn:
        phase = desk.table.phase
        if text == SELF_TEST:
            if phase is not Phase.CLOSED:
                return stay(self, "The self-test runs while the table is closed.")
            return Turn(Confirm("SELF-TEST?", RunSelfTest(desk.by), hint="ENTER = START"))
        if text == CLEAR_FAULT:
            if phase is not Phase.FAULT:
                return stay(self, "There is no fault to clear.")
            lines = fold(desk.table.fault.upper())
            return Turn(Confirm("CLEAR FAULT?", ask.ClearFault(desk.by), lines, "ENTER = CLEARED"))
        return Turn(Reading(text, _lines_of(text)))


def _texts(desk: Desk) -> tuple[str, ...]:
    topics = tuple(title for title, _ in desk.info.readout)
    return (*topics, SELF_TEST, CLEAR_FAULT) if desk.by.role is Role.TECHNICIAN else topics


def _lines_of(topic: str) -> Callable[[Desk], tuple[str, ...]]:
    """The lines of a topic as they are when they are looked at."""

    def lines(desk: Desk) -> tuple[str, ...]:
        given = next((lines for title, lines in desk.info.readout if title == topic), ())
        return tuple(short for line in given for short in _folded(line))

    return lines


def _folded(line: str) -> tuple[str, ...]:
    return (line,) if len(line) <= WIDTH else fold(line)
