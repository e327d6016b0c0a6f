"""Keying a win: the seat, the hand by its number in the paytable, ENTER."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.envy import qualifies
from controller.domain.pack import Hand, MeterPay, OddsPay, Pay
from controller.domain.table import Table
from controller.domain.wins import odds_amount
from controller.panel.steps import Desk, Hit, Step, Turn, seat_question, stay
from controller.panel.words import (
    DIGITS,
    LINES,
    WIDTH,
    amount_lines,
    fit,
    hand_words,
    more,
    numbered,
    page_after,
    page_count,
    picked,
    seat_of,
)
from controller.screen import Page


def hands_for(table: Table, seat: int) -> tuple[Hand, ...]:
    """What can be keyed for a seat, in the order in which lines are tested.

    A seat without an accepted wager can at most bring the others envy.
    """
    pack = table.pack
    if table.round.wager_of(seat) is not None:
        return tuple(pay.hand for pay in pack.pays)
    if table.settings.envy_holder_must_wager:
        return ()
    known = dict.fromkeys((*(pay.hand for pay in pack.pays), *(line.hand for line in pack.envy)))
    return tuple(hand for hand in known if qualifies(pack, hand))


def begin_win(step: Step, key: str, desk: Desk) -> Turn:
    """The winner's seat, if there is anything that could be keyed for it."""
    seat, table = seat_of(key), desk.table
    if seat > table.settings.seats:
        return stay(step, f"There is no seat {seat}.")
    if not hands_for(table, seat):
        return stay(step, _why_no_hand(table, seat))
    return Turn(WinEntry(seat))


def _why_no_hand(table: Table, seat: int) -> str:
    if table.round.wager_of(seat) is None:
        return f"Seat {seat} has no accepted wager this round."
    return "These rules have no winning line."


class WinSeat(Struct, frozen=True):
    """WIN was pressed first; the seat follows."""

    lasts: ClassVar[bool] = False

    def page(self, desk: Desk) -> Page:
        return Page("WIN", seat_question(desk.table), hint="CLEAR = BACK")

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "clear":
            return Turn(desk.home)
        return begin_win(self, key, desk) if key in DIGITS else stay(self, "Key the winner's seat.")


class WinEntry(Struct, frozen=True):
    lasts: ClassVar[bool] = False
    seat: int
    hand: Hand | None = None
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        return self._list(desk.table) if self.hand is None else self._choice(self.hand, desk.table)

    def _list(self, table: Table) -> Page:
        hands = hands_for(table, self.seat)
        texts = [hand_words(hand, self._pay(table, hand), width=WIDTH - 2) for hand in hands]
        claim = table.round.claim_of(self.seat)
        marked = hands.index(claim.hand) if claim and claim.hand in hands else None
        title = f"SEAT {self.seat}" if self._has_wager(table) else f"SEAT {self.seat} ENVY ONLY"
        return Page(
            title,
            numbered(texts, self.shown, marked),
            hint=more(len(texts), "PICK THE HAND"),
        )

    def _choice(self, hand: Hand, table: Table) -> Page:
        taken_off = self._is_keyed(table, hand)
        lines = [hand_words(hand, self._pay(table, hand)), *self._worth(table, hand)]
        return Page(
            f"SEAT {self.seat} TAKE OFF?" if taken_off else f"SEAT {self.seat} WINS WITH",
            tuple(lines[:LINES]),
            hint="ENTER = TAKE OFF" if taken_off else "ENTER = KEY IT",
        )

    def _worth(self, table: Table, hand: Hand) -> tuple[str, ...]:
        wager, pay = table.round.wager_of(self.seat), table.pack.pay_for(hand)
        if wager is None:
            return ("NO WAGER: ENVY ONLY",)
        if isinstance(pay, OddsPay):
            returned = table.settings.stake_returned
            return amount_lines("PAYS", odds_amount(pay, wager.amount, stake_returned=returned))
        if isinstance(pay, MeterPay):
            title = next(rule.title for rule in table.pack.meters if rule.name == pay.meter)
            return (fit(f"OF {title.upper()}"), "THE FLOOR VALIDATES")
        return ()

    def _has_wager(self, table: Table) -> bool:
        return table.round.wager_of(self.seat) is not None

    def _pay(self, table: Table, hand: Hand) -> Pay | None:
        return table.pack.pay_for(hand) if self._has_wager(table) else None

    def _is_keyed(self, table: Table, hand: Hand) -> bool:
        claim = table.round.claim_of(self.seat)
        return claim is not None and claim.hand == hand

    def press(self, key: str, desk: Desk) -> Turn:
        hands = hands_for(desk.table, self.seat)
        match key:
            case "enter" if self.hand is not None:
                return self._send(self.hand, desk)
            case "clear":
                return Turn(desk.home if self.hand is None else replace(self, hand=None))
            case "win":
                return Turn(WinSeat())
            case "menu" if page_count(len(hands)) > 1:
                return Turn(replace(self, hand=None, shown=page_after(self.shown, len(hands))))
        at = picked(key, len(hands), self.shown) if key in DIGITS else None
        if at is None:
            return stay(self, "Pick the hand by its number, or CLEAR.")
        return Turn(replace(self, hand=hands[at]))

    def _send(self, hand: Hand, desk: Desk) -> Turn:
        """The win, with what the meter display showed; the floor will want to compare."""
        pay = self._pay(desk.table, hand)
        if not isinstance(pay, MeterPay):
            return Turn(desk.home, ask.KeyWin(desk.by, self.seat, hand))
        shown = desk.info.shown.get(pay.meter)
        hit = Hit(shown, desk.table.meter(pay.meter).current.whole_cents())
        memory = replace(desk.memory, hits={**desk.memory.hits, self.seat: hit})
        return Turn(desk.home, ask.KeyWin(desk.by, self.seat, hand, shown), memory)
