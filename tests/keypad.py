"""A keypad at a table of the pure core: presses go in, and what comes out is done at once.

It does what the unit does with an action, and looks at every page on the way: whatever a test
is about, no page may be wider or longer than the dealer's display.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from controller.domain import commands as ask
from controller.domain.errors import Refused
from controller.panel import Action, CheckPin, Info, OpenNow, Panel, RunSelfTest, Say, VoidNow
from controller.panel.keys import sign_in_keys
from tests.builders import AUDITOR, DEALER, FLOOR, TECHNICIAN, Evening

if TYPE_CHECKING:
    from controller.domain.table import Person
    from controller.screen import Page

WIDTH: Final = 21
LINES_MAX: Final = 7

NUMBERS: Final = {
    "101": ("2580", DEALER),
    "201": ("1379", FLOOR),
    "301": ("8642", TECHNICIAN),
    "401": ("7531", AUDITOR),
}
NUMBER_OF: Final = {person: number for number, (_, person) in NUMBERS.items()}


def fits(page: Page) -> bool:
    """The page can be drawn: 21 characters a line, 7 lines, the title in capitals."""
    body = (*page.lines, page.entry) if page.entry else page.lines
    lines = (page.title, *body, page.hint)
    short = all(len(line) <= WIDTH and line.isprintable() for line in lines)
    return short and len(lines) <= LINES_MAX and page.title == page.title.upper() != ""


class Keypad:
    """Somebody at the keypad of an evening's table."""

    def __init__(self, evening: Evening | None = None, **info: Any) -> None:
        self.evening = evening or Evening()
        self.panel = Panel()
        self.info = Info(DEALER, **info)
        self.said = ""  # why the last key did nothing, or was refused

    def knows(self, **facts: Any) -> None:
        self.info = replace(self.info, **facts)

    @property
    def page(self) -> Page | None:
        page = self.panel.page(self.evening.table, self.info)
        assert page is None or fits(page), page
        return page

    @property
    def title(self) -> str:
        return self.page.title if self.page else ""

    def text(self) -> str:
        """The page as one text, line by line."""
        page = self.page
        return "\n".join((page.title, *page.lines, page.entry, page.hint)) if page else ""

    def press(self, *keys: str) -> Action | None:
        """Press keys; the action of the last one, after it was done or refused."""
        action: Action | None = None
        for key in keys:
            action = self.panel.press(key, self.evening.table, self.info)
            self.said = ""
            self.perform(action)
            self.text()
        return action

    def perform(self, action: Action | None) -> None:
        match action:
            case None:
                return
            case Say():
                self.said = action.text
            case CheckPin():
                self._check_pin(action)
            case RunSelfTest():
                self.panel.done()
            case OpenNow():
                self._ask(ask.OpenTable(action.by))
            case VoidNow():
                self._ask(ask.VoidRound(action.by, action.reason))
            case _:
                self._ask(action)

    def _ask(self, command: ask.Command) -> None:
        try:
            self.evening.do(command)
        except Refused as refused:
            self.said = str(refused)
            self.panel.refused()
        else:
            self.panel.done()

    def _check_pin(self, asked: CheckPin) -> None:
        pin, person = NUMBERS.get(asked.number, ("", DEALER))
        at_key = person.role is not DEALER.role
        if pin == asked.pin and at_key == self.panel.key_on:
            self._ask(ask.SignIn(person))
            self.panel.signed_in(person)
        else:
            self.said = "Wrong number or PIN."
            self.panel.sign_in_failed()

    def turn_key(self, *, on: bool) -> Action | None:
        action = self.panel.key_switch(on)
        self.perform(action)
        self.text()
        return action

    def sign_in(self, person: Person = FLOOR) -> None:
        """Turn the floor key and sign in."""
        number = NUMBER_OF[person]
        self.turn_key(on=True)
        self.press(*sign_in_keys(number, NUMBERS[number][0]))

    def leave(self) -> Action | None:
        return self.turn_key(on=False)

    def pages(self, key: str = "menu") -> list[str]:
        """Every page from here on, turned with a key until the first comes again."""
        seen: list[str] = []
        while self.text() not in seen:
            seen.append(self.text())
            self.press(key)
        return seen
