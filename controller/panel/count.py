"""Keying the chips that the dealer collected, amount by amount where the table takes several.

In a blind count nothing here may hint at what was accepted: every amount is asked for, and
neither number nor seats show before the dealer has keyed a first count (MD 8.C(3)).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.money import Money
from controller.domain.pack import CountMode
from controller.domain.table import ChipCount, Phase, Table
from controller.panel.steps import Desk, Step, Turn, stay
from controller.panel.words import DIGITS, fit, fold
from controller.screen import Page

DIGITS_MAX: Final = 2
HOW: Final = "Key how many chips, then press ENTER."


class CountEntry(Struct, frozen=True):
    lasts: ClassVar[bool] = False
    asked: tuple[Money, ...]
    keyed: Mapping[Money, str]
    at: int = 0  # which of the amounts is being asked for

    @property
    def digits(self) -> str:
        return self.keyed.get(self.asked[self.at], "")

    def page(self, desk: Desk) -> Page:
        title = "RECOUNT" if desk.table.phase is Phase.MISCOUNT else "COUNT"
        lines = [fit(f"{self.asked[self.at].for_people()} CHIPS")]
        if len(self.asked) > 1:
            lines.append(f"AMOUNT {self.at + 1} OF {len(self.asked)}")
        lines += _accepted(desk.table)
        return Page(title, tuple(lines), entry=self.digits, hint=self._hint())

    def _hint(self) -> str:
        return "ENTER = COUNTED" if self.at + 1 == len(self.asked) else "ENTER = NEXT AMOUNT"

    def press(self, key: str, desk: Desk) -> Turn:
        if key in DIGITS:
            return self._digit(key)
        match key:
            case "enter":
                return self._enter(desk)
            case "clear":
                return self._clear(desk)
            case "menu":
                return self._ask_all(desk.table)
            case _:
                return stay(self, "Finish the count with ENTER, or take it back with CLEAR.")

    def _digit(self, digit: str) -> Turn:
        if len(self.digits) == DIGITS_MAX:
            return stay(self, "No more than 99 chips; CLEAR takes a digit off.")
        return Turn(self._with(self.digits + digit))

    def _with(self, digits: str) -> CountEntry:
        return replace(self, keyed={**self.keyed, self.asked[self.at]: digits})

    def _enter(self, desk: Desk) -> Turn:
        if self.at + 1 < len(self.asked):
            return Turn(replace(self, at=self.at + 1))
        if not any(self.keyed.values()):
            return stay(self, HOW)
        chips = tuple(ChipCount(amount, int(self.keyed.get(amount) or 0)) for amount in self.asked)
        return Turn(desk.home, ask.KeyCount(desk.by, chips))

    def _clear(self, desk: Desk) -> Turn:
        if self.digits:
            return Turn(self._with(self.digits[:-1]))
        return Turn(replace(self, at=self.at - 1) if self.at else desk.home)

    def _ask_all(self, table: Table) -> Turn:
        """A chip of an amount that nobody was accepted with has to be counted too."""
        if self.asked == table.settings.wagers:
            return stay(self, "Every amount of this table is asked for already.")
        return Turn(replace(self, asked=table.settings.wagers, at=0))


def begin_count(idle: Step, key: str, desk: Desk) -> Turn:
    """The first digit of a count; or ENTER alone, which takes the drop slot's number."""
    entry = CountEntry(asked_amounts(desk.table), {})
    if key in DIGITS:
        return entry.press(key, desk)
    if desk.table.settings.count is CountMode.SENSOR:
        return _take_drops(idle, desk)
    if len(entry.asked) > 1:
        return entry.press("enter", desk)  # none of the first amount
    return stay(idle, HOW)


def _take_drops(idle: Step, desk: Desk) -> Turn:
    if desk.info.drops is None:
        return stay(idle, "The drop slot gives no number; key how many chips.")
    return Turn(idle, ask.KeyCount(desk.by, number=desk.info.drops))


def asked_amounts(table: Table) -> tuple[Money, ...]:
    """Blind: all amounts of the table. Else those accepted; MENU asks for the others too."""
    wagers = table.settings.wagers
    if table.settings.count is CountMode.BLIND:
        return wagers
    accepted = {wager.amount for wager in table.round.wagers}
    return tuple(amount for amount in wagers if amount in accepted) or wagers


def _accepted(table: Table) -> tuple[str, ...]:
    """How many wagers at which seats, once the dealer may know."""
    round_ = table.round
    if table.settings.count is CountMode.BLIND and not round_.counts:
        return ()
    seats = " ".join(str(wager.seat) for wager in round_.wagers)
    return fold(f"{len(round_.wagers)} ACCEPTED: {seats}".rstrip(": "))
