"""One step is one page of the keypad and what each key does there. Steps that serve many tasks.

A step never changes: a key leads to the next step, perhaps with an action. Nothing that changes
the table goes out without ENTER, except the call for the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from controller.domain.money import Money
from controller.domain.table import Envy, Person, Table
from controller.panel.actions import Action, Info, Say
from controller.panel.words import (
    DIGITS,
    LINES,
    fit,
    fold,
    more,
    numbered,
    page_after,
    page_count,
    part,
    picked,
    seat_of,
)
from controller.screen import Page

KEYS: Final = (*DIGITS, "win", "tie", "floor", "menu", "clear", "enter")

DEFAULT_REASONS: Final = (
    "no ante and blind",
    "misdeal",
    "exposed card",
    "wrong hand keyed",
    "chips fell over",
    "sensor fault",
    "other, see log book",
)


class Hit(Struct, frozen=True):
    """Display and controller at the moment a meter win was keyed."""

    shown: Money | None  # None: the display was down
    meter: Money


class Memory(Struct, frozen=True):
    """What the keypad keeps in mind within a round, besides a half-finished entry."""

    walked: tuple[Envy, ...] = ()  # handed over, not yet acknowledged all together
    hits: Mapping[int, Hit] = field(default_factory=dict)  # by seat
    later: bool = False  # the dealer put a reminder off


class Desk(Struct, frozen=True):
    """What a step can see when a key comes."""

    table: Table
    info: Info
    by: Person  # in whose name an action goes out
    reasons: tuple[str, ...]
    home: Step  # where an entry ends
    memory: Memory


class Turn(Struct, frozen=True):
    """What one key led to."""

    step: Step
    action: Action | None = None
    memory: Memory | None = None  # None: as before


class Step(Protocol):
    lasts: ClassVar[bool]  # True: it holds nothing that was keyed for one phase

    def page(self, desk: Desk) -> Page | None: ...

    def press(self, key: str, desk: Desk) -> Turn: ...


def stay(step: Step, why: str) -> Turn:
    """The key does nothing here, and the dealer is told why."""
    return Turn(step, Say(why))


class Confirm(Struct, frozen=True):
    """Are you sure: ENTER sends what was chosen."""

    lasts: ClassVar[bool] = False
    title: str
    action: Action
    lines: tuple[str, ...] = ()
    hint: str = "ENTER = YES"

    def page(self, _desk: Desk) -> Page:
        return Page(fit(self.title), self.lines[:LINES], hint=self.hint)

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "enter":
            return Turn(desk.home, self.action)
        if key == "clear":
            return Turn(desk.home)
        return stay(self, "Press ENTER for yes or CLEAR for no.")


def seat_question(table: Table) -> tuple[str, ...]:
    seats = table.settings.seats
    return ("WHICH SEAT?", "1 TO 9, 0 = SEAT 10" if seats > 9 else f"1 TO {seats}")


class PickSeat(Struct, frozen=True):
    lasts: ClassVar[bool] = False
    title: str
    then: Callable[[int], Step]

    def page(self, desk: Desk) -> Page:
        return Page(fit(self.title), seat_question(desk.table), hint="CLEAR = BACK")

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "clear":
            return Turn(desk.home)
        if key not in DIGITS:
            return stay(self, "Key the number of a seat.")
        if seat_of(key) > desk.table.settings.seats:
            return stay(self, f"There is no seat {seat_of(key)}.")
        return Turn(self.then(seat_of(key)))


class PickAmount(Struct, frozen=True):
    lasts: ClassVar[bool] = False
    title: str
    then: Callable[[Money], Step]
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        texts = [amount.for_people() for amount in desk.table.settings.wagers]
        return Page(fit(self.title), numbered(texts, self.shown), hint=more(len(texts), "PICK ONE"))

    def press(self, key: str, desk: Desk) -> Turn:
        wagers = desk.table.settings.wagers
        if key == "clear":
            return Turn(desk.home)
        if key == "menu" and page_count(len(wagers)) > 1:
            return Turn(replace(self, shown=page_after(self.shown, len(wagers))))
        at = picked(key, len(wagers), self.shown) if key in DIGITS else None
        if at is None:
            return stay(self, "Pick the amount by its number.")
        return Turn(self.then(wagers[at]))


class PickReason(Struct, frozen=True):
    """A reason by its digit, another digit instead, and ENTER."""

    lasts: ClassVar[bool] = False
    title: str
    send: Callable[[str], Action]
    at: int | None = None
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        texts = [reason.upper() for reason in desk.reasons]
        if self.at is None:
            return Page(
                fit(self.title), numbered(texts, self.shown), hint=more(len(texts), "PICK ONE")
            )
        lines = ("REASON:", *fold(texts[self.at]))
        return Page(fit(self.title), lines[:LINES], hint="ENTER = DO IT")

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "clear":
            return Turn(desk.home if self.at is None else replace(self, at=None))
        if key == "enter" and self.at is not None:
            return Turn(desk.home, self.send(desk.reasons[self.at]))
        if key == "menu" and page_count(len(desk.reasons)) > 1:
            return Turn(replace(self, at=None, shown=page_after(self.shown, len(desk.reasons))))
        at = picked(key, len(desk.reasons), self.shown) if key in DIGITS else None
        if at is None:
            return stay(self, "Pick a reason by its number.")
        return Turn(replace(self, at=at))


class Reading(Struct, frozen=True):
    """Lines to read, page by page. Nothing can be changed here."""

    lasts: ClassVar[bool] = True
    title: str
    lines: Callable[[Desk], tuple[str, ...]]
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        lines = self.lines(desk) or ("NOTHING TO SHOW",)
        return Page(fit(self.title), part(lines, self.shown), hint=more(len(lines), "CLEAR = BACK"))

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "clear":
            return Turn(desk.home)
        count = len(self.lines(desk))
        if key in ("enter", "menu") and page_count(count) > 1:
            return Turn(replace(self, shown=page_after(self.shown, count)))
        return stay(self, "This is to read only; CLEAR leaves it.")
