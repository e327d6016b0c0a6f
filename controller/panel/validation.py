"""Wins that wait for the floor: everything about one before it is accepted, and the acceptance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.envy import envies
from controller.domain.hold import Hold
from controller.domain.money import UCENTS_PER_DOLLAR, ZERO, Money, total
from controller.domain.pack import Simultaneous
from controller.domain.table import Claim, ClaimStatus, Envy, PaidFrom, Table
from controller.domain.wins import hold_of
from controller.panel.steps import Desk, Hit, Turn, stay
from controller.panel.words import HANDS, amount_lines, fit, fold
from controller.screen import Page

# United States: a form from this sum and this multiple of the wager up.
TAX_FROM: Final = Money(2000 * UCENTS_PER_DOLLAR)
TAX_TIMES: Final = 300

CHECKS: Final = ("hand face up on camera", "deck counted", "hand and deck kept")


def waiting(table: Table) -> tuple[Claim, ...]:
    """In pay order."""
    claims = [claim for claim in table.round.claims if claim.status is ClaimStatus.WAITING]
    return tuple(sorted(claims, key=lambda claim: -claim.seat))


def needs_tax_form(amount: Money, wager: Money) -> bool:
    return amount >= TAX_FROM and amount >= wager * TAX_TIMES


def view_blocks(claim: Claim, table: Table, hit: Hit | None) -> tuple[tuple[str, ...], ...]:
    """All the floor has to see of one win, the most important first; a block stays on a page."""
    hold, claims = hold_of(table.round, claim), waiting(table)
    tray = amount_lines("FROM TRAY", _from_tray(table, claim))
    if len(claims) > 1:
        tray += amount_lines("TRAY ALL", total([_from_tray(table, each) for each in claims]))
    return (
        (
            fit(f"SEAT {claim.seat} {HANDS[claim.hand]}"),
            *amount_lines("PAY", claim.amount),
            *_tax(table, claim.seat, claim.amount),
            *amount_lines("WAGER", _wager(table, claim.seat)),
        ),
        *((tuple(_meter(hold, table)), tuple(_display(hit))) if hold else ()),
        *((("KEYED LATE: LAST TURN",),) if claim.late else ()),
        *(_envy(table, envy) for envy in _brought(table, claim)),
        tray,
    )


def _envy(table: Table, envy: Envy) -> tuple[str, ...]:
    amount = amount_lines(f"ENVY SEAT {envy.seat}", envy.amount)
    return (*amount, *_tax(table, envy.seat, envy.amount))


def _wager(table: Table, seat: int) -> Money:
    wager = table.round.wager_of(seat)
    return wager.amount if wager else ZERO


def _tax(table: Table, seat: int, amount: Money) -> tuple[str, ...]:
    needed = needs_tax_form(amount, _wager(table, seat))
    return (f"TAX FORM SEAT {seat}",) if needed else ()


def _meter(hold: Hold, table: Table) -> Iterator[str]:
    yield fit(next(rule.title for rule in table.pack.meters if rule.name == hold.meter).upper())
    yield from amount_lines("BEFORE", hold.before)
    yield from amount_lines("AFTER", hold.after)
    if len(hold.shares) > 1:
        shared = f"SPLIT {len(hold.shares)} WAYS"
        yield shared if hold.policy is Simultaneous.SPLIT else "IN FULL TO EACH"


def _display(hit: Hit | None) -> Iterator[str]:
    """Where the two differed at the hit the floor sees both, and the rule that decides."""
    if hit is None or hit.shown is None:
        yield "DISPLAY: NOT KNOWN"
    elif hit.shown == hit.meter:
        yield "DISPLAY AGREED"
    else:
        yield from amount_lines("DISPLAY", hit.shown)
        yield from amount_lines("CONTROLLER", hit.meter)
        yield "CONTROLLER PAYS"


def _brought(table: Table, claim: Claim) -> tuple[Envy, ...]:
    return tuple(envy for envy in envies(table.pack, table.round) if envy.holder == claim.seat)


def _from_tray(table: Table, claim: Claim) -> Money:
    """Odds and envy come from the tray, meter money does not."""
    own = claim.amount if claim.paid_from is PaidFrom.ODDS else ZERO
    return total([own, *(envy.amount for envy in _brought(table, claim))])


class Accept(Struct, frozen=True):
    """ACCEPT was picked: first the list for a large win, then ENTER."""

    lasts: ClassVar[bool] = False
    claim: Claim  # as the floor saw it
    checks: tuple[str, ...]
    checked: int = 0

    def page(self, _desk: Desk) -> Page:
        if self.checked < len(self.checks):
            title = f"CHECK {self.checked + 1} OF {len(self.checks)}"
            return Page(title, fold(self.checks[self.checked].upper()), hint="ENTER = DONE")
        lines = (HANDS[self.claim.hand], *amount_lines("PAY", self.claim.amount))
        return Page(f"ACCEPT SEAT {self.claim.seat}?", lines, hint="ENTER = ACCEPT")

    def press(self, key: str, desk: Desk) -> Turn:
        if key == "clear":
            return Turn(desk.home)
        if key != "enter":
            return stay(self, "Press ENTER to go on or CLEAR to go back.")
        if self.checked < len(self.checks):
            return Turn(replace(self, checked=self.checked + 1))
        if desk.table.round.claim_of(self.claim.seat) != self.claim:
            return stay(desk.home, "The win has changed; read it again.")
        seat = self.claim.seat
        return Turn(desk.home, ask.ValidateWin(desk.by, seat, self.checks))


def checks_for(table: Table, claim: Claim) -> tuple[str, ...]:
    """What the floor is taken through before it can accept this win."""
    from_amount = table.settings.checklist_from
    large = from_amount is not None and claim.amount >= from_amount
    return CHECKS if large and claim.paid_from is PaidFrom.METER else ()
