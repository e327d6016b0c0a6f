"""Reads a ledger as an auditor would: folds every row and checks the money anew.

Beyond the chain, which `controller.chain` proves, each row must follow from the state before it:
contributions equal wagers times rate, what is paid equals what was held, every fall of a meter
has a cause that may lower it, and each round record shows the meters as they stood. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from controller import wire
from controller.chain import Row
from controller.domain import events as did
from controller.domain.errors import Broken, Fault, check
from controller.domain.meter import Account
from controller.domain.money import Money
from controller.domain.table import Table
from controller.service import fold

# A meter falls only for an award, a void or an adjustment; the limit can act within these, when
# an award is given back to a meter that has risen meanwhile.
MAY_LOWER: Final = (
    did.WinKeyed,
    did.WinTakenOff,
    did.WinRejected,
    did.RoundVoided,
    did.MeterAdjusted,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The first row that does not hold, and why."""

    seq: int
    why: str


@dataclass(frozen=True, slots=True)
class Audit:
    rows: int
    table: Table | None
    finding: Finding | None


def audit(rows: Iterable[Row]) -> Audit:
    """Go through the rows until one does not follow."""
    table: Table | None = None
    seq = 0
    for row in rows:
        try:
            event = wire.decode(row.kind, row.version, row.payload)
            after = fold(table, event, row.seq)
            if table is not None:
                _check_money(table, event, after)
        except (Broken, Fault) as wrong:
            return Audit(seq, table, Finding(row.seq, str(wrong)))
        table, seq = after, row.seq
    return Audit(seq, table, None)


def _check_money(before: Table, event: did.Event, after: Table) -> None:
    if isinstance(event, did.RoundProved | did.MiscountResolved):
        _check_contributions(before, event, after)
    if isinstance(event, did.WinValidated):
        _check_paid(event)
    if isinstance(event, did.RoundEnded):
        _check_readings(event, before)
    if not isinstance(event, MAY_LOWER):
        for old, new in zip(before.meters, after.meters, strict=True):
            check(new.current >= old.current, f"meter {old.name} falls without a cause")


def _check_contributions(
    before: Table, event: did.RoundProved | did.MiscountResolved, after: Table
) -> None:
    """Wagers times rate, to the micro-cent, on every meter."""
    wagered = sum(wager.amount.ucents for wager in after.round.wagers)
    for meter in before.meters:
        rate_ppm = meter.parameters.rate_ppm + meter.parameters.reserve_rate_ppm
        entries = [entry for entry in event.postings if entry.meter == meter.name]
        check(
            all(entry.source is Account.CONTRIBUTED for entry in entries)
            and sum(entry.amount.ucents for entry in entries) * 1_000_000 == wagered * rate_ppm,
            f"contributions to meter {meter.name} are not the wagers times the rate",
        )


def _check_paid(event: did.WinValidated) -> None:
    paid = Money(sum(e.amount.ucents for e in event.priced.postings if e.target is Account.PAID))
    expected = event.win.amount if event.win.meter else Money(0)
    check(paid == expected, f"seat {event.win.seat} is paid another amount than was held")


def _check_readings(event: did.RoundEnded, table: Table) -> None:
    shown = [(r.meter, r.current, r.reserve, r.overflow) for r in event.readings]
    stood = [(m.name, m.current, m.reserve, m.overflow) for m in table.meters]
    check(shown == stood, f"the record of round {event.round} shows other meters than stood")
