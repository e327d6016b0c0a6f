"""What a display should say, as data. Wording and pixels are the display's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from controller.domain.envy import owed, payable, qualifies
from controller.domain.money import Money
from controller.domain.pack import CountMode
from controller.domain.table import (
    ChipCount,
    Claim,
    ClaimStatus,
    Envy,
    Phase,
    Table,
    Wager,
)


class Lamp(StrEnum):
    """What a seat lamp tells the player; each is a pattern of its own, never a colour alone."""

    OFF = "off"
    SEEN = "seen"
    ACCEPTED = "accepted"
    ATTENTION = "attention"  # something at this seat wants a hand: clear it, return a wager
    OUT_OF_SERVICE = "out_of_service"


class MeterView(Struct, frozen=True):
    title: str
    shown: Money
    pending: bool
    at_limit: bool


class View(Struct, frozen=True):
    """One moment of a table, for people."""

    table_id: str
    phase: Phase
    fault: str
    round: int
    seen: tuple[int, ...]
    accepted: tuple[Wager, ...]
    count_hidden: bool  # a blind count: the number is not shown before the dealer keyed one
    counted: tuple[ChipCount, ...]
    fee: tuple[str, Money | None] | None
    claims: tuple[Claim, ...]  # in pay order
    envy: tuple[Envy, ...]  # to be paid now
    face_up: tuple[int, ...]  # hands that stay on the table until all envy is paid
    to_return: tuple[Wager, ...]
    must_clear: tuple[int, ...]
    out_of_service: tuple[int, ...]
    meters: tuple[MeterView, ...]
    door_open: bool = False
    floor_called: bool = False
    dealer: str = ""


def no_table(table_id: str, why: str) -> View:
    """What shows while there is no state to show: the table's name, and why it stands still."""
    return View(
        table_id=table_id,
        phase=Phase.FAULT,
        fault=why,
        round=0,
        seen=(),
        accepted=(),
        count_hidden=False,
        counted=(),
        fee=None,
        claims=(),
        envy=(),
        face_up=(),
        to_return=(),
        must_clear=(),
        out_of_service=(),
        meters=(),
    )


IN_ROUND = frozenset({Phase.LOCKED, Phase.MISCOUNT, Phase.IN_PLAY})


def view_of(table: Table, seen: Collection[int]) -> View:
    round_ = table.round
    return View(
        table_id=table.settings.table_id,
        phase=table.phase,
        fault=table.fault,
        round=round_.number,
        seen=tuple(sorted(seen)) if table.phase is Phase.OPEN else (),
        accepted=round_.wagers,
        count_hidden=table.settings.count is CountMode.BLIND and not round_.counts,
        counted=round_.counts[-1] if round_.counts else (),
        fee=collection_fee(table),
        claims=tuple(sorted(round_.claims, key=lambda claim: -claim.seat)),
        envy=payable(table),
        face_up=_face_up(table) if owed(table) else (),
        to_return=table.to_return,
        must_clear=table.must_clear,
        out_of_service=table.out_of_service,
        meters=_meter_views(table),
        door_open=table.door_open,
        floor_called=table.floor_called,
        dealer=table.dealer,
    )


def _face_up(table: Table) -> tuple[int, ...]:
    return tuple(sorted(c.seat for c in table.round.claims if qualifies(table.pack, c.hand)))


def _meter_views(table: Table) -> tuple[MeterView, ...]:
    titles = {rule.name: rule.title for rule in table.pack.meters}
    return tuple(
        MeterView(titles[meter.name], meter.current.whole_cents(), bool(meter.held), meter.at_limit)
        for meter in table.meters
    )


def collection_fee(table: Table) -> tuple[str, Money | None] | None:
    """The fee band of the players in this round, and the fee if the house has set one."""
    players = len(table.round.wagers)
    if players == 0 or not table.pack.collection or table.phase not in IN_ROUND:
        return None
    bands = table.pack.collection
    at = next(i for i, band in enumerate(bands) if players >= band.players_from)
    fees = table.settings.collection_fees
    return bands[at].label, fees[at] if fees else None


def lamps(table: Table, seen: Collection[int]) -> Mapping[int, Lamp]:
    """Accepted lamps follow the ledger and stay lit until END although the chip is lifted."""
    return {seat: _lamp(table, seat, seen) for seat in range(1, table.settings.seats + 1)}


def _lamp(table: Table, seat: int, seen: Collection[int]) -> Lamp:
    phase = table.resume if table.phase is Phase.FAULT else table.phase
    if phase in IN_ROUND and table.round.wager_of(seat) is not None:
        return Lamp.ACCEPTED
    if table.phase is Phase.FAULT or seat in table.out_of_service:
        return Lamp.OUT_OF_SERVICE
    if table.phase is Phase.OPEN and seat in seen:
        return Lamp.SEEN
    wanted = seat in table.must_clear or any(wager.seat == seat for wager in table.to_return)
    return Lamp.ATTENTION if wanted and table.phase is not Phase.CLOSED else Lamp.OFF


def due(table: Table) -> tuple[Wager, ...]:
    """What the dealer has to hand over, seat by seat: returned wagers, payable wins, envy."""
    sums: dict[int, int] = {}
    wins = [c for c in table.round.claims if c.status is not ClaimStatus.WAITING]
    entries: tuple[Wager | Claim | Envy, ...] = (*table.to_return, *wins, *payable(table))
    for entry in entries:
        sums[entry.seat] = sums.get(entry.seat, 0) + entry.amount.ucents
    return tuple(Wager(seat, Money(sums[seat])) for seat in sorted(sums) if sums[seat])
