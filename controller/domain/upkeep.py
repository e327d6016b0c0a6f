"""Commands outside the round: sensors, adjustments, settings, faults."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import fields

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Refused
from controller.domain.meter import Account, Meter, Posting
from controller.domain.money import Money
from controller.domain.pack import MeterParameters, Settings
from controller.domain.table import Role, Table


def note_late_chip(_table: Table, command: ask.NoteLateChip) -> did.LateChipNoted:
    return did.LateChipNoted(command.seat, command.placed)


def note_seat_empty(table: Table, command: ask.NoteSeatEmpty) -> did.SeatCleared:
    if command.seat not in table.must_clear:
        raise Refused(f"Seat {command.seat} is clear already.")
    return did.SeatCleared(command.seat)


def note_seat_stuck(table: Table, command: ask.NoteSeatStuck) -> did.SeatStuck:
    if command.seat not in table.must_clear or command.seat in table.out_of_service:
        raise Refused(f"Seat {command.seat} is not covered since before END.")
    return did.SeatStuck(command.seat)


def note_seat_noisy(table: Table, command: ask.NoteSeatNoisy) -> did.SeatNoisy:
    if command.seat in table.out_of_service:
        raise Refused(f"Seat {command.seat} is out of service already.")
    return did.SeatNoisy(command.seat)


def keep_edges(table: Table, command: ask.KeepEdges) -> did.EdgesKept:
    return did.EdgesKept(table.round.number, command.edges)


def note_door(table: Table, command: ask.NoteDoor) -> did.DoorMoved:
    if command.opened == table.door_open:
        raise Refused("The door stands that way already.")
    return did.DoorMoved(command.opened, command.while_off)


def note_clock(_table: Table, command: ask.NoteClock) -> did.ClockStepped:
    return did.ClockStepped(command.step_ms)


def note_hardware(_table: Table, command: ask.NoteHardware) -> did.HardwareNoted:
    return did.HardwareNoted(command.what)


ADJUSTABLE = (Account.CURRENT, Account.RESERVE, Account.OVERFLOW)


def adjust_meter(table: Table, command: ask.AdjustMeter) -> did.MeterAdjusted:
    """A correction by two people with a reason; never below the seed, never above the limit."""
    _check_two_people(command)
    meter = next((m for m in table.meters if m.name == command.meter), None)
    if meter is None or command.account not in ADJUSTABLE:
        raise Refused(f"There is no {command.account.value} of a meter {command.meter} to adjust.")
    before: Money = getattr(meter, command.account.value)
    after = _adjusted(meter, command, before)
    up = (Account.ADJUSTED, command.account)
    source, target = up if command.raises else reversed(up)
    return did.MeterAdjusted(
        by=command.by,
        approved_by=command.approved_by,
        meter=meter.name,
        account=command.account,
        before=before,
        after=after,
        reason=command.reason.strip(),
        reference=command.reference.strip(),
        postings=(Posting(meter.name, source, target, command.amount),),
    )


def _check_two_people(command: ask.AdjustMeter) -> None:
    if command.approved_by.role is not Role.FLOOR:
        raise Refused("An adjustment is approved by the floor.")
    if command.by.name == command.approved_by.name:
        raise Refused("An adjustment needs two different people.")
    if not command.reason.strip() or not command.reference.strip():
        raise Refused("An adjustment needs a reason and an approval reference.")
    if not command.amount:
        raise Refused("An adjustment of nothing changes nothing.")


def _adjusted(meter: Meter, command: ask.AdjustMeter, before: Money) -> Money:
    if command.raises:
        after = before + command.amount
        limit = meter.parameters.limit
        if command.account is Account.CURRENT and limit is not None and after > limit:
            raise Refused(f"Meter {meter.name} may not rise above its limit {limit.exact()}.")
        return after
    floor = meter.parameters.seed if command.account is Account.CURRENT else Money(0)
    if before < floor + command.amount:
        raise Refused(
            f"The {command.account.value} of meter {meter.name} may not fall below"
            f" {floor.exact()}; it stands at {before.exact()}."
        )
    return before - command.amount


def change_settings(table: Table, command: ask.ChangeSettings) -> did.SettingsChanged:
    """New rules take effect while the table is closed, with an approval."""
    if not command.by.name.strip() or not command.reference.strip():
        raise Refused(
            "A changed table file needs [approval] with `by` and `reference` to take effect."
        )
    old, new = table.settings, command.settings
    if [meter.name for meter in old.meters] != [meter.name for meter in new.meters]:
        raise Refused("The meters of a commissioned table cannot be added, removed or renamed.")
    for meter, parameters in zip(table.meters, new.meters, strict=True):
        _check_parameters(meter, parameters)
    changes = (
        [f"pack: {table.pack.id} -> {command.pack.id}"] if pack_changed(table, command) else []
    )
    changes += settings_changes(old, new)
    return did.SettingsChanged(
        command.by, command.reference, tuple(changes), command.pack, command.settings
    )


def pack_changed(table: Table, command: ask.ChangeSettings) -> bool:
    return table.pack.fingerprint != command.pack.fingerprint


def _check_parameters(meter: Meter, new: MeterParameters) -> None:
    old = meter.parameters
    if (old.initial, old.initial_reserve) != (new.initial, new.initial_reserve):
        raise Refused(
            f"Meter {meter.name} was commissioned with {old.initial.exact()} and"
            f" {old.initial_reserve.exact()} in reserve; a live value changes only by adjustment."
        )
    if new.limit is not None and new.limit < meter.current:
        raise Refused(
            f"The limit of meter {meter.name} cannot be set below the {meter.current.exact()}"
            " it shows."
        )


def settings_changes(old: Settings, new: Settings) -> Iterator[str]:
    """What differs, key by key, old value and new."""
    for field in fields(Settings):
        if field.name != "meters" and getattr(old, field.name) != getattr(new, field.name):
            yield _difference(field.name, getattr(old, field.name), getattr(new, field.name))
    for before, after in zip(old.meters, new.meters, strict=True):
        for field in fields(MeterParameters):
            was, now = getattr(before, field.name), getattr(after, field.name)
            if was != now:
                yield _difference(f"meters.{before.name}.{field.name}", was, now)


def _difference(key: str, old: object, new: object) -> str:
    return f"{key}: {_value(old)} -> {_value(new)}"


def _value(value: object) -> str:
    if isinstance(value, Money):
        return value.exact()
    if isinstance(value, tuple):
        return ", ".join(_value(part) for part in value)
    return str(value)


def raise_fault(_table: Table, command: ask.RaiseFault) -> did.FaultRaised:
    return did.FaultRaised(command.what)


def clear_fault(_table: Table, command: ask.ClearFault) -> did.FaultCleared:
    return did.FaultCleared(command.by)
