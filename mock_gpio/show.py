"""The table as the `show` line of a script prints it. Public: see the contract in docs/play.md."""

from __future__ import annotations

from controller.domain.envy import envies
from controller.domain.errors import Fault
from controller.domain.table import PaidFrom, Table
from controller.domain.view import Lamp, due, lamps
from controller.unit import Unit
from display.text import dealer_lines, meter_lines

Json = dict[str, object]

# What a player reads from a lamp; blinking for the dealer's attention is no wager and shows as off.
_LIT = {Lamp.SEEN: "seen", Lamp.ACCEPTED: "accepted"}


def table_json(unit: Unit, notice: str) -> Json:
    """The table as its unit shows it; of a stopped one, what it knew last."""
    if unit.last is None:
        raise Fault(unit.down)
    table, view = unit.last.table, unit.last.view()
    return {
        "phase": view.phase.value,
        "round": table.round.number,
        "accepted": [
            {"seat": wager.seat, "amount": wager.amount.payable()} for wager in table.round.wagers
        ],
        "lamps": {str(s): _LIT.get(lamp, "off") for s, lamp in lamps(table, view.seen).items()},
        "meters": _meters(table),
        "wins": _wins(table),
        "envy": [
            {"seat": e.seat, "holder": e.holder, "hand": e.hand.value, "amount": e.amount.payable()}
            for e in envies(table.pack, table.round)
        ],
        "due": [{"seat": d.seat, "amount": d.amount.payable()} for d in due(table)],
        "dealer": list(dealer_lines(view, notice=notice, simulated=True)),
        "meter_display": list(meter_lines(view, simulated=True)),
    }


def _meters(table: Table) -> Json:
    return {
        meter.name: {
            "current": meter.current.exact(),
            "display": meter.current.payable(),
            "reserve": meter.reserve.exact(),
            "held": meter.held.exact(),
            "hits": meter.hits,
            "paid": meter.paid.exact(),
        }
        for meter in table.meters
    }


def _wins(table: Table) -> list[Json]:
    """Every seat that is paid, in pay order; a hand keyed for envy alone is not a win."""
    return [
        {
            "seat": claim.seat,
            "hand": claim.hand.value,
            "kind": claim.paid_from.value,
            "amount": claim.amount.payable(),
            "status": claim.status.value,
        }
        for claim in sorted(table.round.claims, key=lambda claim: -claim.seat)
        if claim.paid_from is not PaidFrom.ENVY
    ]
