"""The table as the `show` line of a script prints it. Public: see the contract in docs/play.md."""

from __future__ import annotations

from controller.domain.envy import envies
from controller.domain.table import PaidFrom, Table
from controller.domain.view import due, lamps
from controller.service import TableService
from display.text import dealer_lines, meter_lines

Json = dict[str, object]


def table_json(service: TableService, notice: str) -> Json:
    table, view = service.table, service.view()
    return {
        "phase": view.phase.value,
        "round": table.round.number,
        "accepted": [
            {"seat": wager.seat, "amount": wager.amount.payable()} for wager in table.round.wagers
        ],
        "lamps": {str(seat): lamp.value for seat, lamp in lamps(table, view.seen).items()},
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
