"""The keypad in the dealer's hands: what each key does while nothing is half entered.

Where a key does not fit the phase it says what would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.envy import owed, payable
from controller.domain.house import SAYS as REMINDS
from controller.domain.table import Envy, Phase, Reminder, Table
from controller.domain.view import view_of
from controller.panel.count import begin_count
from controller.panel.sign_in import SignIn
from controller.panel.steps import Confirm, Desk, Reading, Step, Turn, stay
from controller.panel.win import WinSeat, begin_win
from controller.panel.words import DIGITS, amount_lines, fit, numbered, seat_of
from controller.screen import Page

NEXT: Final[Mapping[Phase, str]] = {
    Phase.CLOSED: "The table is closed; the floor opens it.",
    Phase.OPEN: "Press LOCK first.",
    Phase.LOCKED: "Key how many chips, then press ENTER.",
    Phase.MISCOUNT: "Recount the chips, or call the floor.",
    Phase.IN_PLAY: "Key the winner's seat, or press END.",
    Phase.FAULT: "Out of service; call a technician.",
}
COUNTING: Final = (Phase.LOCKED, Phase.MISCOUNT)
BETWEEN_ROUNDS: Final = (Phase.CLOSED, Phase.OPEN)
CANNOT_TIE: Final = (Phase.CLOSED, Phase.FAULT)


class Idle(Struct, frozen=True):
    """Nothing is half entered: the round itself shows, or a reminder between rounds."""

    lasts: ClassVar[bool] = False

    def page(self, desk: Desk) -> Page | None:
        what = _reminder(desk)
        if what is None:
            return None
        return Page("HOUSE RULE", (REMINDS[what], "CLEAR = LATER"), hint="ENTER = DONE")

    def press(self, key: str, desk: Desk) -> Turn:
        match key:
            case "menu":
                return Turn(Menu())
            case "tie":
                return self._tie(desk)
            case "clear":
                return self._clear(desk)
            case "enter" if what := _reminder(desk):
                return Turn(self, ask.AcknowledgeReminder(desk.by, what))
        phase = desk.table.phase
        if phase in COUNTING and key != "win":
            return begin_count(self, key, desk)
        if phase is Phase.IN_PLAY:
            return self._in_play(key, desk)
        return stay(self, NEXT[phase])

    def _in_play(self, key: str, desk: Desk) -> Turn:
        if key in DIGITS:
            return begin_win(self, key, desk)
        if key == "win":
            return Turn(WinSeat())
        why_not = why_no_walk(desk.table)
        return stay(self, why_not) if why_not else Turn(Walk())

    def _tie(self, desk: Desk) -> Turn:
        phase = desk.table.phase
        return stay(self, NEXT[phase]) if phase in CANNOT_TIE else Turn(TieEntry())

    def _clear(self, desk: Desk) -> Turn:
        if _reminder(desk) is None:
            return stay(self, "There is nothing to clear.")
        return Turn(self, memory=replace(desk.memory, later=True))


def _reminder(desk: Desk) -> Reminder | None:
    """The reminder that shows now. It gives way to wagers to return and sensors to clear."""
    table = desk.table
    to_clear = set(table.must_clear) - set(table.out_of_service)
    busy = table.phase not in BETWEEN_ROUNDS or table.to_return or to_clear
    if busy or desk.memory.later or not desk.info.reminders:
        return None
    return desk.info.reminders[0]


class TieEntry(Struct, frozen=True):
    """Boxes of one player; a single one is on its own again."""

    lasts: ClassVar[bool] = False
    seats: tuple[int, ...] = ()

    def page(self, _desk: Desk) -> Page:
        keyed = " ".join(str(seat) for seat in self.seats)
        lines = ("SEATS OF ONE PLAYER", "ONE ALONE = UNTIE")
        return Page("TIE", lines, entry=keyed, hint="ENTER = TIE")

    def press(self, key: str, desk: Desk) -> Turn:
        if key in DIGITS:
            return self._digit(seat_of(key))
        if key == "enter" and self.seats:
            return Turn(desk.home, ask.TieSeats(desk.by, self.seats))
        if key == "clear":
            return Turn(replace(self, seats=self.seats[:-1]) if self.seats else desk.home)
        return stay(self, "Key the seats of one player, then ENTER.")

    def _digit(self, seat: int) -> Turn:
        if seat in self.seats:
            return stay(self, f"Seat {seat} is keyed already.")
        return Turn(replace(self, seats=(*self.seats, seat)))


def why_no_walk(table: Table) -> str:
    """Envy is handed over once none of it waits for the floor; empty if that is now."""
    due = owed(table)
    early = [envy for envy in due if envy not in payable(table)]
    if early:
        return f"Seat {early[0].holder} waits for the floor; envy comes after."
    return "" if due else NEXT[Phase.IN_PLAY]


class Walk(Struct, frozen=True):
    """One envy after the other, in pay order; any other key leaves the walk and does its work."""

    lasts: ClassVar[bool] = False

    def page(self, desk: Desk) -> Page | None:
        due, left = _to_walk(desk)
        if not due:
            return None
        if not left:
            return Page("ENVY", ("ALL HANDED OVER",), hint="ENTER = DONE")
        envy, at = left[0], len(due) - len(left) + 1
        lines = (f"SEAT {envy.seat}", envy.amount.for_people(), f"FACE UP SEAT {envy.holder}")
        return Page(f"ENVY {at} OF {len(due)}", lines, hint="ENTER = HANDED OVER")

    def press(self, key: str, desk: Desk) -> Turn:
        due, left = _to_walk(desk)
        if key == "clear":
            return Turn(desk.home)
        if key != "enter" or not due:
            return desk.home.press(key, desk)
        if len(left) <= 1:
            return Turn(desk.home, ask.AcknowledgeEnvy(desk.by))
        memory = replace(desk.memory, walked=(*desk.memory.walked, left[0]))
        return Turn(self, memory=memory)


def _to_walk(desk: Desk) -> tuple[tuple[Envy, ...], tuple[Envy, ...]]:
    due = owed(desk.table)
    return due, tuple(envy for envy in due if envy not in desk.memory.walked)


class Menu(Struct, frozen=True):
    """The dealer's menu: what is not part of a round."""

    lasts: ClassVar[bool] = False

    def page(self, desk: Desk) -> Page:
        sign_off = f"SIGN OFF {desk.table.dealer.upper()}"
        texts = ("SIGN ON", sign_off, "DECK CHANGED", "METERS")
        return Page("DEALER MENU", numbered(texts, 0), hint="CLEAR = BACK")

    def press(self, key: str, desk: Desk) -> Turn:
        if key in ("clear", "menu"):
            return Turn(desk.home)
        chosen = _MENU.get(key)
        return chosen(self, desk) if chosen else stay(self, "Pick 1 to 4, or CLEAR to leave.")


def _sign_off(menu: Step, desk: Desk) -> Turn:
    if not desk.table.dealer:
        return stay(menu, "Nobody is signed on as the dealer.")
    return Turn(Confirm("SIGN OFF?", ask.SignOut(desk.by), (fit(desk.table.dealer.upper()),)))


def _deck_changed(_menu: Step, desk: Desk) -> Turn:
    done = ask.AcknowledgeReminder(desk.by, Reminder.DECK_CHANGE)
    return Turn(Confirm("DECK CHANGED?", done))


def _meter_lines(desk: Desk) -> tuple[str, ...]:
    """Every level as players see it."""
    lines: list[str] = []
    for meter in view_of(desk.table, ()).meters:
        lines += amount_lines(meter.title.upper(), meter.shown)
        lines += ["  PENDING"] if meter.pending else []
        lines += ["  AT ITS LIMIT"] if meter.at_limit else []
    return tuple(lines)


_MENU: Final[Mapping[str, Callable[[Step, Desk], Turn]]] = {
    "1": lambda _menu, _desk: Turn(SignIn()),
    "2": _sign_off,
    "3": _deck_changed,
    "4": lambda _menu, _desk: Turn(Reading("METERS", _meter_lines)),
}
