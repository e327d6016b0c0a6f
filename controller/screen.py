"""What the displays are told: one value, handed over whole. Wording and pixels are theirs."""

from __future__ import annotations

from msgspec import Struct

from controller.domain.view import View


class Page(Struct, frozen=True):
    """What the keypad is in the middle of, on the dealer display instead of the round."""

    title: str
    lines: tuple[str, ...] = ()  # each shows as one line; a numbered choice begins with its digit
    entry: str = ""  # what has been keyed so far, or its stars
    hint: str = ""  # which keys go on from here


class Screen(Struct, frozen=True):
    """One moment of a table as its displays should show it."""

    view: View
    page: Page | None = None
    notice: str = ""  # why the last key was refused
    alerts: tuple[str, ...] = ()  # short words for everybody: DOOR OPEN, FLOOR CALLED, LINK DOWN
    reminders: tuple[str, ...] = ()  # what the house wants done between rounds
    simulated: bool = False
