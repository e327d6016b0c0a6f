"""The table's state machine: one table of allowed steps, and two pure functions over it.

`decide` says what the ledger must record, or raises Refused; it changes nothing.
`apply` changes the state by one recorded event; replaying a ledger is `apply` alone.
What is absent from the tables below is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import fields, replace

from controller.domain import access, folds, house, rounds, upkeep
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Broken, Refused
from controller.domain.table import Person, Phase, Role, Table

CLOSED, OPEN, LOCKED = Phase.CLOSED, Phase.OPEN, Phase.LOCKED
MISCOUNT, IN_PLAY, FAULT = Phase.MISCOUNT, Phase.IN_PLAY, Phase.FAULT

FITS: Final[Mapping[type[ask.Command], frozenset[Phase]]] = {
    ask.OpenTable: frozenset({CLOSED}),
    ask.CloseTable: frozenset({OPEN}),
    ask.LockBets: frozenset({OPEN}),
    ask.KeyCount: frozenset({LOCKED, MISCOUNT}),
    ask.StrikeWager: frozenset({LOCKED, MISCOUNT}),
    ask.AddWager: frozenset({LOCKED, MISCOUNT}),
    ask.ReopenBets: frozenset({MISCOUNT}),
    ask.TieSeats: frozenset({OPEN, LOCKED, MISCOUNT, IN_PLAY}),
    ask.KeyWin: frozenset({IN_PLAY}),
    ask.ValidateWin: frozenset({IN_PLAY}),
    ask.RejectWin: frozenset({IN_PLAY}),
    ask.AcknowledgeEnvy: frozenset({IN_PLAY}),
    ask.VoidRound: frozenset({LOCKED, MISCOUNT, IN_PLAY}),
    ask.EndRound: frozenset({LOCKED, IN_PLAY}),  # from LOCKED only when nobody wagered
    ask.NoteLateChip: frozenset({LOCKED, MISCOUNT, IN_PLAY}),
    ask.NoteSeatEmpty: frozenset(Phase),
    ask.NoteSeatStuck: frozenset({OPEN}),
    ask.NoteSeatNoisy: frozenset({OPEN}),
    ask.KeepEdges: frozenset(Phase),
    ask.NoteDoor: frozenset(Phase),
    ask.NoteClock: frozenset(Phase),
    ask.NoteHardware: frozenset(Phase),
    ask.SignIn: frozenset(Phase),
    ask.NoteSignInFailed: frozenset(Phase),
    ask.SignOut: frozenset(Phase),
    ask.CallFloor: frozenset(Phase),
    ask.AcknowledgeReminder: frozenset({CLOSED, OPEN}),
    ask.AdjustMeter: frozenset({CLOSED, OPEN}),
    ask.ChangeSettings: frozenset({CLOSED}),
    ask.RaiseFault: frozenset(Phase) - {FAULT},
    ask.ClearFault: frozenset({FAULT}),
}

# Where each event leads from each phase. An event listed in `STAYS` leads nowhere, but for
# FaultCleared: FAULT is left to wherever it was entered from.
NEXT: Final[Mapping[tuple[Phase, type[did.Event]], Phase]] = {
    (CLOSED, did.TableOpened): OPEN,
    (OPEN, did.TableClosed): CLOSED,
    (OPEN, did.BetsLocked): LOCKED,
    (LOCKED, did.RoundProved): IN_PLAY,
    (LOCKED, did.CountMismatched): MISCOUNT,
    (LOCKED, did.WagerChanged): LOCKED,
    (LOCKED, did.RoundVoided): OPEN,
    (LOCKED, did.RoundEnded): OPEN,
    (MISCOUNT, did.RoundProved): IN_PLAY,
    (MISCOUNT, did.CountMismatched): MISCOUNT,
    (MISCOUNT, did.WagerChanged): MISCOUNT,
    (MISCOUNT, did.MiscountResolved): IN_PLAY,
    (MISCOUNT, did.BetsReopened): OPEN,
    (MISCOUNT, did.RoundVoided): OPEN,
    (IN_PLAY, did.WinKeyed): IN_PLAY,
    (IN_PLAY, did.WinTakenOff): IN_PLAY,
    (IN_PLAY, did.WinRejected): IN_PLAY,
    (IN_PLAY, did.WinValidated): IN_PLAY,
    (IN_PLAY, did.EnvyAcknowledged): IN_PLAY,
    (IN_PLAY, did.RoundVoided): OPEN,
    (IN_PLAY, did.RoundEnded): OPEN,
    **{(phase, did.FaultRaised): FAULT for phase in Phase if phase is not FAULT},
}
STAYS: Final = frozenset(
    {
        did.FaultCleared,
        did.SettingsChanged,
        did.SeatsTied,
        did.LateChipNoted,
        did.SeatCleared,
        did.SeatStuck,
        did.SeatNoisy,
        did.EdgesKept,
        did.DoorMoved,
        did.ClockStepped,
        did.HardwareNoted,
        did.SignedIn,
        did.SignInFailed,
        did.SignedOut,
        did.FloorCalled,
        did.ReminderAcknowledged,
        did.SnapshotTaken,
        did.MeterAdjusted,
        did.InputRefused,
        did.Started,
    }
)

# A credential the dealer does not hold (MD 11.J(2)(c)).
FLOOR_ONLY: Final = frozenset(
    {
        ask.OpenTable,
        ask.CloseTable,
        ask.StrikeWager,
        ask.AddWager,
        ask.ReopenBets,
        ask.ValidateWin,
        ask.RejectWin,
        ask.VoidRound,
        ask.AdjustMeter,
    }
)
TECHNICAL_ONLY: Final = frozenset({ask.ChangeSettings, ask.ClearFault})

SAYS: Final[Mapping[Phase, str]] = {
    CLOSED: "the table is closed; the floor opens it",
    OPEN: "betting is open; press LOCK first",
    LOCKED: "betting is locked; key the count of chips",
    MISCOUNT: "chips and wagers differ; recount or call the floor",
    IN_PLAY: "the round is in play; press END when all is paid",
    FAULT: "the table is out of service; call a technician",
}

KEYS: Final[Mapping[type[ask.Command], str]] = {
    ask.LockBets: "LOCK",
    ask.KeyCount: "COUNT",
    ask.KeyWin: "WIN",
    ask.AcknowledgeEnvy: "ENVY",
    ask.EndRound: "END",
    ask.CallFloor: "FLOOR",
}

_ANSWER: Final[Mapping[type[ask.Command], Callable[[Table, Any], did.Event]]] = {
    ask.OpenTable: rounds.open_table,
    ask.CloseTable: rounds.close_table,
    ask.LockBets: rounds.lock_bets,
    ask.KeyCount: rounds.key_count,
    ask.StrikeWager: rounds.strike_wager,
    ask.AddWager: rounds.add_wager,
    ask.ReopenBets: rounds.reopen_bets,
    ask.TieSeats: rounds.tie_seats,
    ask.KeyWin: rounds.key_win,
    ask.ValidateWin: rounds.validate_win,
    ask.RejectWin: rounds.reject_win,
    ask.AcknowledgeEnvy: rounds.acknowledge_envy,
    ask.VoidRound: rounds.void_round,
    ask.EndRound: rounds.end_round,
    ask.NoteLateChip: upkeep.note_late_chip,
    ask.NoteSeatEmpty: upkeep.note_seat_empty,
    ask.NoteSeatStuck: upkeep.note_seat_stuck,
    ask.NoteSeatNoisy: upkeep.note_seat_noisy,
    ask.KeepEdges: upkeep.keep_edges,
    ask.NoteDoor: upkeep.note_door,
    ask.NoteClock: upkeep.note_clock,
    ask.NoteHardware: upkeep.note_hardware,
    ask.SignIn: access.sign_in,
    ask.NoteSignInFailed: access.note_sign_in_failed,
    ask.SignOut: access.sign_out,
    ask.CallFloor: access.call_floor,
    ask.AcknowledgeReminder: house.acknowledge_reminder,
    ask.AdjustMeter: upkeep.adjust_meter,
    ask.ChangeSettings: upkeep.change_settings,
    ask.RaiseFault: upkeep.raise_fault,
    ask.ClearFault: upkeep.clear_fault,
}


def decide(table: Table, command: ask.Command) -> did.Event:
    """Say what the ledger must record. Change nothing; raise nothing but Refused."""
    kind = type(command)
    if table.phase not in FITS[kind]:
        raise Refused(f"{spoken(command)} does not fit: {SAYS[table.phase]}.")
    _check_credential(kind, command.by)
    return _ANSWER[kind](table, command)


def spoken(command: ask.Command) -> str:
    """The name of a command as people at the table say it."""
    name = type(command).__name__
    plain = name[0] + "".join(f" {c.lower()}" if c.isupper() else c for c in name[1:])
    return KEYS.get(type(command), plain)


def described(command: ask.Command) -> str:
    """A command with what it carries, for the log row of a refusal."""
    carried = ((f.name, getattr(command, f.name)) for f in fields(command))
    parts = (
        f"{name}={value}"
        for name, value in carried
        if name not in ("by", "edges") and value is not None
    )
    return " ".join((spoken(command), *parts))


def _check_credential(kind: type[ask.Command], by: Person) -> None:
    if kind in FLOOR_ONLY and by.role is not Role.FLOOR:
        raise Refused(f"This needs the floor; {by.name} is signed in as {by.role.value}.")
    if kind in TECHNICAL_ONLY and by.role not in (Role.TECHNICIAN, Role.SYSTEM):
        raise Refused(f"This needs a technician; {by.name} is signed in as {by.role.value}.")


def apply(table: Table, event: did.Event) -> Table:
    """The state after one recorded event."""
    kind = type(event)
    fold = folds.FOLD.get(kind)
    phase = table.phase if kind in STAYS else NEXT.get((table.phase, kind))
    if fold is None or phase is None:
        raise Broken(f"{kind.__name__} cannot follow while {table.phase.value}")
    changes: folds.Changes = {"phase": phase} | fold(table, event)
    return replace(table, **changes)


def commission(event: did.Commissioned) -> Table:
    """The state after the first row of a ledger."""
    return folds.commissioned(event)
