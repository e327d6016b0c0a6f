"""Staff number and PIN. The PIN shows as stars and is handed over once, to be checked."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.panel.actions import CheckPin
from controller.panel.steps import Desk, Turn, stay
from controller.panel.words import DIGITS
from controller.screen import Page

NUMBER_MIN, NUMBER_MAX = 2, 6
PIN_MIN, PIN_MAX = 4, 8
SECOND_MS: Final = 1000


class SignIn(Struct, frozen=True):
    """Who is there? At the floor key, or a dealer who signs on."""

    lasts: ClassVar[bool] = True
    number: str = ""
    pin: str | None = None  # None: the number is still being keyed

    def page(self, desk: Desk) -> Page:
        wait = _wait_seconds(desk)
        if wait:
            return Page("SIGN IN", ("TOO MANY WRONG PINS", f"WAIT {wait} S"))
        if self.pin is None:
            return Page("STAFF NO", entry=self.number, hint="ENTER = PIN NEXT")
        lines = (f"STAFF NO {self.number}",)
        return Page("PIN", lines, entry="*" * len(self.pin), hint="ENTER = SIGN IN")

    def press(self, key: str, desk: Desk) -> Turn:
        wait = _wait_seconds(desk)
        if wait and key != "clear":
            return stay(self, f"Too many wrong PINs; wait {wait} seconds.")
        if wait:
            return self._leave(desk)
        if key in DIGITS:
            return self._digit(key)
        match key:
            case "enter":
                return self._enter()
            case "clear":
                return self._clear(desk)
            case _:
                return stay(self, "Key your staff number, ENTER, your PIN, ENTER.")

    def _digit(self, digit: str) -> Turn:
        if self.pin is None:
            if len(self.number) == NUMBER_MAX:
                return stay(self, f"A staff number has at most {NUMBER_MAX} digits.")
            return Turn(replace(self, number=self.number + digit))
        if len(self.pin) == PIN_MAX:
            return stay(self, f"A PIN has at most {PIN_MAX} digits.")
        return Turn(replace(self, pin=self.pin + digit))

    def _enter(self) -> Turn:
        if self.pin is None:
            if len(self.number) < NUMBER_MIN:
                return stay(self, f"A staff number has at least {NUMBER_MIN} digits.")
            return Turn(replace(self, pin=""))
        if len(self.pin) < PIN_MIN:
            return stay(self, f"A PIN has at least {PIN_MIN} digits.")
        return Turn(Checking(), CheckPin(self.number, self.pin))

    def _clear(self, desk: Desk) -> Turn:
        if self.pin:
            return Turn(replace(self, pin=self.pin[:-1]))
        if self.pin is not None:
            return Turn(replace(self, pin=None))
        if self.number:
            return Turn(replace(self, number=self.number[:-1]))
        return self._leave(desk)

    def _leave(self, desk: Desk) -> Turn:
        if isinstance(desk.home, SignIn):
            return stay(self, "Turn the floor key off to leave.")
        return Turn(desk.home)


def _wait_seconds(desk: Desk) -> int:
    return -(-desk.info.locked_out_ms // SECOND_MS)


class Checking(Struct, frozen=True):
    """The PIN is being checked; no key counts until the answer is there."""

    lasts: ClassVar[bool] = True

    def page(self, _desk: Desk) -> Page:
        return Page("CHECKING PIN")

    def press(self, _key: str, _desk: Desk) -> Turn:
        return stay(self, "One moment: the PIN is being checked.")
