"""The keypad under the floor key, signed in as floor: what can be decided depends on the phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.money import Money
from controller.domain.table import Claim, Phase, Table
from controller.panel.actions import OpenNow, VoidNow
from controller.panel.steps import Confirm, Desk, PickAmount, PickReason, PickSeat, Step, Turn, stay
from controller.panel.validation import Accept, checks_for, view_blocks, waiting
from controller.panel.words import amount_lines, fit, fold, paged
from controller.screen import Page

VIEW_LINES: Final = 4  # one line of the page is for ACCEPT and REJECT

# Which digit offers what in which phase. A digit keeps its meaning from phase to phase of a round.
CHOICES: Final = {
    Phase.CLOSED: {"1": "OPEN TABLE"},
    Phase.OPEN: {"1": "CLOSE TABLE"},
    Phase.LOCKED: {"1": "STRIKE SEAT", "2": "VOID ROUND"},
    Phase.MISCOUNT: {"1": "STRIKE SEAT", "2": "VOID ROUND", "4": "REOPEN BETS"},
    Phase.IN_PLAY: {"3": "VOID ROUND"},
    Phase.FAULT: {},
}


def choices(table: Table) -> dict[str, str]:
    offered = dict(CHOICES[table.phase])
    if table.settings.floor_may_add and table.phase in (Phase.LOCKED, Phase.MISCOUNT):
        offered["3"] = "ADD WAGER"
    return dict(sorted(offered.items()))


class FloorHome(Struct, frozen=True):
    """What waits for the floor, first of all wins."""

    lasts: ClassVar[bool] = False
    win: int = 0  # which of the waiting wins is looked at
    shown: int = 0

    def page(self, desk: Desk) -> Page:
        claims = waiting(desk.table)
        if desk.table.phase is Phase.IN_PLAY and claims:
            return self._win_page(claims, desk)
        lines = [f"{digit} {text}" for digit, text in choices(desk.table).items()]
        return Page(
            fit(f"FLOOR {desk.by.name.upper()}"),
            (*_situation(desk.table), *lines),
            hint="PICK ONE" if lines else "TURN THE KEY OFF",
        )

    def _win_page(self, claims: tuple[Claim, ...], desk: Desk) -> Page:
        at = self.win % len(claims)
        pages = _pages(claims[at], desk)
        shown = self.shown % len(pages)
        turns = [*(["MENU MORE"] if len(pages) > 1 else []), *(["WIN NEXT"] if claims[1:] else [])]
        return Page(
            f"WIN {at + 1}/{len(claims)} PAGE {shown + 1}/{len(pages)}",
            (*pages[shown], "1 ACCEPT 2 REJECT"),
            hint="  ".join(turns),
        )

    def press(self, key: str, desk: Desk) -> Turn:
        table = desk.table
        claims = waiting(table)
        if table.phase is Phase.IN_PLAY and claims:
            turn = self._win_turn(key, claims, desk)
            if turn is not None:
                return turn
        chosen = choices(table).get(key)
        return Turn(_begin(chosen, desk)) if chosen else stay(self, self._dead(key, desk))

    def _win_turn(self, key: str, claims: tuple[Claim, ...], desk: Desk) -> Turn | None:
        claim = claims[self.win % len(claims)]
        pages = len(_pages(claim, desk))
        match key:
            case "1":
                return Turn(Accept(claim, checks_for(desk.table, claim)))
            case "2":
                return Turn(_reject(claim, desk))
            case "menu" if pages > 1:
                return Turn(replace(self, shown=(self.shown + 1) % pages))
            case "win" if len(claims) > 1:
                return Turn(FloorHome(win=(self.win + 1) % len(claims)))
        return None

    def _dead(self, key: str, desk: Desk) -> str:
        if desk.table.phase is Phase.FAULT:
            return "Out of service; a technician clears it."
        if key == "clear":
            return "Turn the floor key off to leave."
        if waiting(desk.table):
            return "Pick 1 to accept, 2 to reject, 3 to void."
        return "Pick one of the numbers shown."


def _pages(claim: Claim, desk: Desk) -> list[tuple[str, ...]]:
    blocks = view_blocks(claim, desk.table, desk.memory.hits.get(claim.seat))
    return paged((*blocks, ("3 VOID ROUND",)), VIEW_LINES)


def _situation(table: Table) -> Iterator[str]:
    match table.phase:
        case Phase.MISCOUNT:
            yield _difference(table)
        case Phase.IN_PLAY:
            yield "NO WIN WAITS"
        case Phase.FAULT:
            yield from ("OUT OF SERVICE", *fold(table.fault.upper())[:2])
            yield from ("A TECHNICIAN", "CLEARS IT")


def _difference(table: Table) -> str:
    """The first amount of which chips and wagers differ."""
    counted = Counter({chip.amount: chip.number for chip in table.round.counts[-1]})
    accepted = Counter(wager.amount for wager in table.round.wagers)
    for amount in table.settings.wagers:
        if counted[amount] != accepted[amount]:
            return fit(f"{amount.for_people()}: {counted[amount]} FOR {accepted[amount]}")
    return "CHIPS AND WAGERS"


def _begin(choice: str, desk: Desk) -> Step:
    by = desk.by
    match choice:
        case "OPEN TABLE":
            return Confirm("OPEN THE TABLE?", OpenNow(by))
        case "CLOSE TABLE":
            return Confirm("CLOSE THE TABLE?", ask.CloseTable(by))
        case "STRIKE SEAT":
            return PickSeat("STRIKE A WAGER", lambda seat: _strike(seat, desk))
        case "ADD WAGER":
            return PickSeat("ADD A WAGER", lambda seat: _add(seat, desk))
        case "REOPEN BETS":
            return PickReason("REOPEN BETS", lambda reason: ask.ReopenBets(by, reason))
        case _:
            return PickReason("VOID THE ROUND", lambda reason: VoidNow(by, reason))


def _strike(seat: int, desk: Desk) -> Step:
    return PickReason(f"STRIKE SEAT {seat}", lambda why: ask.StrikeWager(desk.by, seat, why))


def _add(seat: int, desk: Desk) -> Step:
    """The amount is asked for only where the table takes several."""

    def reason(amount: Money) -> Step:
        title = amount_lines(f"ADD SEAT {seat}", amount)[0]
        return PickReason(title, lambda why: ask.AddWager(desk.by, seat, amount, why))

    wagers = desk.table.settings.wagers
    return reason(wagers[0]) if len(wagers) == 1 else PickAmount(f"ADD SEAT {seat}", reason)


def _reject(claim: Claim, desk: Desk) -> Step:
    return PickReason(
        f"REJECT SEAT {claim.seat}", lambda why: ask.RejectWin(desk.by, why, claim.seat)
    )
