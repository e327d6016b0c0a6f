"""How each recorded event changes the state. No rule is decided here: the event says it all.

Each fold returns only what differs; `machine.apply` puts the new table together once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from controller.domain import events as did
from controller.domain.errors import check
from controller.domain.hold import Hold
from controller.domain.meter import Meter, Posting, post
from controller.domain.money import Money
from controller.domain.table import (
    HITS_KEPT,
    Reminded,
    Reminder,
    Role,
    Round,
    Table,
    Totals,
    Wager,
    with_change,
)

Changes = dict[str, Any]


def commissioned(event: did.Commissioned) -> Table:
    meters = tuple(Meter(parameters) for parameters in event.settings.meters)
    empty = Table(pack=event.pack, settings=event.settings, meters=meters)
    return replace(empty, meters=_posted(meters, event.postings))


def _posted(meters: tuple[Meter, ...], postings: tuple[Posting, ...]) -> tuple[Meter, ...]:
    names = {meter.name for meter in meters}
    check(all(entry.meter in names for entry in postings), "a posting names an unknown meter")
    return tuple(post(meter, postings) for meter in meters)


def _settings_changed(table: Table, event: did.SettingsChanged) -> Changes:
    meters = tuple(
        replace(meter, parameters=parameters)
        for meter, parameters in zip(table.meters, event.settings.meters, strict=True)
    )
    return {"pack": event.pack, "settings": event.settings, "meters": meters}


def _opened(_table: Table, event: did.TableOpened) -> Changes:
    return {"must_clear": event.must_clear, "out_of_service": ()}


def _locked(table: Table, event: did.BetsLocked) -> Changes:
    return {"round": replace(table.round, wagers=event.wagers), "to_return": ()}


def _mismatched(table: Table, event: did.CountMismatched) -> Changes:
    totals = table.totals
    if not table.round.counts:
        totals = replace(totals, miscounts=totals.miscounts + 1)
    counts = (*table.round.counts, event.count)
    return {"round": replace(table.round, counts=counts), "totals": totals}


def _proved(table: Table, event: did.RoundProved) -> Changes:
    proved = replace(
        table.round,
        counts=(*table.round.counts, event.count),
        proved=True,
        contributions=event.postings,
    )
    return _wagered(table, proved)


def _wagered(table: Table, proved: Round) -> Changes:
    """The proved wagers count, and their contributions stand on the meters."""
    totals = replace(
        table.totals,
        wagers=table.totals.wagers + len(proved.wagers),
        wagered=table.totals.wagered + _sum(proved.wagers),
    )
    return {
        "round": proved,
        "totals": totals,
        "meters": _posted(table.meters, proved.contributions),
    }


def _sum(wagers: Iterable[Wager]) -> Money:
    return Money(sum(wager.amount.ucents for wager in wagers))


def _changed(table: Table, event: did.WagerChanged | did.MiscountResolved) -> Changes:
    change = event.change
    changed = replace(
        table.round,
        wagers=with_change(table.round.wagers, change),
        changes=(*table.round.changes, change),
    )
    back = (Wager(change.seat, change.amount),) if change.struck else ()
    return {"round": changed, "to_return": (*table.to_return, *back)}


def _resolved(table: Table, event: did.MiscountResolved) -> Changes:
    changes = _changed(table, event)
    proved = replace(changes["round"], proved=True, contributions=event.postings)
    return changes | _wagered(table, proved)


def _reopened(table: Table, event: did.BetsReopened) -> Changes:
    round_ = table.round
    fresh = Round(
        round_.number,
        past_counts=(*round_.past_counts, *round_.counts),
        changes=round_.changes,
        ties=round_.ties,
        reminded=round_.reminded,
    )
    return {"round": fresh, "to_return": (*table.to_return, *event.returned)}


def _tied(table: Table, event: did.SeatsTied) -> Changes:
    return {"round": replace(table.round, ties=event.ties)}


def _claimed(
    table: Table, event: did.WinKeyed | did.WinTakenOff | did.WinRejected | did.WinValidated
) -> Changes:
    priced = event.priced
    meters = _posted(table.meters, priced.postings)
    _check_held(meters, priced.holds)
    return {
        "round": replace(table.round, claims=priced.claims, holds=priced.holds),
        "holds_taken": max([table.holds_taken, *(hold.order for hold in priced.holds)]),
        "meters": meters,
    }


def _check_held(meters: Iterable[Meter], holds: tuple[Hold, ...]) -> None:
    """What the meters hold is what the open claims are owed, no more and no less."""
    for meter in meters:
        owed = sum(hold.held.ucents for hold in holds if hold.meter == meter.name)
        check(meter.held.ucents == owed, f"meter {meter.name}: held differs from the claims")


def _validated(table: Table, event: did.WinValidated) -> Changes:
    changes = _claimed(table, event)
    changes["meters"] = tuple(
        replace(meter, hits=meter.hits + 1) if meter.name == event.win.meter else meter
        for meter in changes["meters"]
    )
    if event.win.meter:
        changes["hits"] = (*table.hits, event.win)[-HITS_KEPT:]
    return changes


def _envy_paid(table: Table, event: did.EnvyAcknowledged) -> Changes:
    paid = Money(sum(envy.amount.ucents for envy in event.paid))
    return {
        "round": replace(table.round, envy_paid=(*table.round.envy_paid, *event.paid)),
        "totals": replace(table.totals, envy_paid=table.totals.envy_paid + paid),
    }


def _voided(table: Table, event: did.RoundVoided) -> Changes:
    meters = _posted(table.meters, event.postings)
    _check_held(meters, ())
    return _next_round(table, event.must_clear) | {
        "round": Round(table.round.number + 1, reminded=table.round.reminded),
        "totals": _voided_totals(table, event),
        "meters": meters,
        "to_return": (*table.to_return, *event.returned),
    }


def _voided_totals(table: Table, event: did.RoundVoided) -> Totals:
    totals = replace(table.totals, voided_rounds=table.totals.voided_rounds + 1)
    if not table.round.proved:
        return totals
    return replace(
        totals,
        voided_wagers=totals.voided_wagers + len(event.returned),
        voided=totals.voided + _sum(event.returned),
    )


def _ended(table: Table, event: did.RoundEnded) -> Changes:
    odds = Money(sum(win.amount.ucents for win in event.wins if not win.meter))
    totals = replace(
        table.totals, odds_paid=table.totals.odds_paid + odds, rounds=table.totals.rounds + 1
    )
    return _next_round(table, event.must_clear) | {
        "totals": totals,
        "to_return": (),
        "rounds_since_stub": table.rounds_since_stub + 1,
        "deck_ms": table.deck_ms + event.elapsed_ms,
    }


def _next_round(table: Table, must_clear: tuple[int, ...]) -> Changes:
    return {
        "round": Round(table.round.number + 1),
        "must_clear": must_clear,
        "out_of_service": (),
    }


def _late(table: Table, _event: did.LateChipNoted) -> Changes:
    return {"totals": replace(table.totals, late_chips=table.totals.late_chips + 1)}


def _cleared(table: Table, event: did.SeatCleared) -> Changes:
    return {
        "must_clear": tuple(seat for seat in table.must_clear if seat != event.seat),
        "out_of_service": tuple(seat for seat in table.out_of_service if seat != event.seat),
    }


def _stuck(table: Table, event: did.SeatStuck) -> Changes:
    return {"out_of_service": (*table.out_of_service, event.seat)}


def _noisy(table: Table, event: did.SeatNoisy) -> Changes:
    """Out of service, and believed again only once it has been seen empty."""
    return {
        "must_clear": tuple(sorted({*table.must_clear, event.seat})),
        "out_of_service": tuple(sorted({*table.out_of_service, event.seat})),
    }


def _door_moved(_table: Table, event: did.DoorMoved) -> Changes:
    return {"door_open": event.opened}


def _signed_in(table: Table, event: did.SignedIn) -> Changes:
    if event.by.role is Role.DEALER:
        return {"dealer": event.by.name}  # a dealer's own PIN makes nobody's wrong ones good
    called = table.floor_called and event.by.role is not Role.FLOOR
    return {"floor_called": called, "failed_sign_ins": 0}


def _sign_in_failed(_table: Table, event: did.SignInFailed) -> Changes:
    return {"failed_sign_ins": event.failures}


def _signed_out(_table: Table, event: did.SignedOut) -> Changes:
    return {"dealer": ""} if event.by.role is Role.DEALER else {}


def _floor_called(_table: Table, _event: did.FloorCalled) -> Changes:
    return {"floor_called": True}


def _reminded(table: Table, event: did.ReminderAcknowledged) -> Changes:
    done = Reminded(event.what, event.by.name)
    changes: Changes = {"round": replace(table.round, reminded=(*table.round.reminded, done))}
    if event.what is Reminder.STUB_COUNT:
        return changes | {"rounds_since_stub": 0, "deck_ms": table.deck_ms + event.elapsed_ms}
    return changes | {"deck_ms": 0}


def _snapshot(table: Table, event: did.SnapshotTaken) -> Changes:
    check(event.table == table, "the snapshot is not the state that the rows lead to")
    return {}


def _adjusted(table: Table, event: did.MeterAdjusted) -> Changes:
    return {"meters": _posted(table.meters, event.postings)}


def _fault_raised(table: Table, event: did.FaultRaised) -> Changes:
    return {"fault": event.what, "resume": table.phase}


def _fault_cleared(table: Table, _event: did.FaultCleared) -> Changes:
    return {"fault": "", "phase": table.resume}


def _nothing(_table: Table, _event: did.Event) -> Changes:
    return {}


FOLD: Final[Mapping[type[did.Event], Callable[[Table, Any], Changes]]] = {
    did.SettingsChanged: _settings_changed,
    did.TableOpened: _opened,
    did.TableClosed: _nothing,
    did.BetsLocked: _locked,
    did.CountMismatched: _mismatched,
    did.RoundProved: _proved,
    did.WagerChanged: _changed,
    did.MiscountResolved: _resolved,
    did.BetsReopened: _reopened,
    did.SeatsTied: _tied,
    did.WinKeyed: _claimed,
    did.WinTakenOff: _claimed,
    did.WinRejected: _claimed,
    did.WinValidated: _validated,
    did.EnvyAcknowledged: _envy_paid,
    did.RoundVoided: _voided,
    did.RoundEnded: _ended,
    did.LateChipNoted: _late,
    did.SeatCleared: _cleared,
    did.SeatStuck: _stuck,
    did.SeatNoisy: _noisy,
    did.EdgesKept: _nothing,
    did.DoorMoved: _door_moved,
    did.ClockStepped: _nothing,
    did.HardwareNoted: _nothing,
    did.SignedIn: _signed_in,
    did.SignInFailed: _sign_in_failed,
    did.SignedOut: _signed_out,
    did.FloorCalled: _floor_called,
    did.ReminderAcknowledged: _reminded,
    did.SnapshotTaken: _snapshot,
    did.MeterAdjusted: _adjusted,
    did.FaultRaised: _fault_raised,
    did.FaultCleared: _fault_cleared,
    did.InputRefused: _nothing,
    did.Started: _nothing,
}
