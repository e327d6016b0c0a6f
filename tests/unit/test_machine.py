"""The table of allowed steps: what fits, what is refused, who may, and where each event leads."""

from __future__ import annotations

from typing import Any, Final, get_args, get_type_hints

import pytest

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import folds, machine
from controller.domain.errors import Broken, Refused
from controller.domain.machine import FITS, FLOOR_ONLY, NEXT, SAYS, STAYS, TECHNICAL_ONLY
from controller.domain.table import Person, Phase, RawEdge, Reminder, Role, Table
from tests import round_diagram
from tests.builders import (
    AUDITOR,
    DEALER,
    FLOOR,
    ONE,
    ROYAL,
    TECHNICIAN,
    UNIT,
    Evening,
    adjustment,
    commissioned,
    pack,
    table_file,
)

COMMANDS: Final = {
    type(command): command
    for command in (
        ask.OpenTable(FLOOR),
        ask.CloseTable(FLOOR),
        ask.LockBets(DEALER, ()),
        ask.KeyCount(DEALER, (), 1),
        ask.StrikeWager(FLOOR, 1, "no ante"),
        ask.AddWager(FLOOR, 2, ONE, "lamp failed"),
        ask.ReopenBets(FLOOR, "chips fell over"),
        ask.TieSeats(DEALER, (1, 2)),
        ask.KeyWin(DEALER, 1, ROYAL),
        ask.ValidateWin(FLOOR),
        ask.RejectWin(FLOOR, "misread"),
        ask.AcknowledgeEnvy(DEALER),
        ask.VoidRound(FLOOR, "misdeal"),
        ask.EndRound(DEALER),
        ask.NoteLateChip(UNIT, 1, placed=True),
        ask.NoteSeatEmpty(UNIT, 1),
        ask.NoteSeatStuck(UNIT, 1),
        ask.NoteSeatNoisy(UNIT, 1),
        ask.KeepEdges(UNIT, (RawEdge(1, ONE, covered=False, offset_us=900_000),)),
        ask.NoteDoor(UNIT, opened=True),
        ask.NoteClock(UNIT, -5000),
        ask.NoteHardware(UNIT, "meter display: no answer"),
        ask.SignIn(FLOOR),
        ask.NoteSignInFailed(UNIT, "101"),
        ask.SignOut(FLOOR),
        ask.CallFloor(DEALER),
        ask.AcknowledgeReminder(DEALER, Reminder.DECK_CHANGE),
        adjustment("1.00"),
        ask.ChangeSettings(TECHNICIAN, "GC-1", pack(), table_file().settings),
        ask.RaiseFault(UNIT, "sensor 3 is silent"),
        ask.ClearFault(TECHNICIAN),
    )
}
PAIRS: Final = [(phase, kind) for phase in Phase for kind in COMMANDS]
UNFIT: Final = [(phase, kind) for phase, kind in PAIRS if phase not in FITS[kind]]
GUARDED: Final = [(kind, Role.FLOOR) for kind in sorted(FLOOR_ONLY, key=str)]
GUARDED_TOO: Final = [(kind, Role.TECHNICIAN) for kind in sorted(TECHNICAL_ONLY, key=str)]


def table_in(phase: Phase) -> Table:
    """A table in that phase, with a wager at seat 1 where there is a round."""
    evening = Evening(opened=phase is not Phase.CLOSED)
    if phase not in (Phase.CLOSED, Phase.OPEN):
        evening.lock(1)
    if phase in (Phase.MISCOUNT, Phase.IN_PLAY):
        evening.count(2 if phase is Phase.MISCOUNT else 1)
    if phase is Phase.FAULT:
        evening.fault()
    return evening.table


def named(value: object) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


def test_every_command_has_a_place_an_answer_and_an_example_here() -> None:
    kinds = set(get_args(ask.Command))
    assert set(FITS) == set(machine._ANSWER) == set(COMMANDS) == kinds
    assert set(SAYS) == set(Phase)


@pytest.mark.requirement(13)
@pytest.mark.parametrize(("phase", "kind"), UNFIT, ids=named)
def test_a_key_that_does_not_fit_changes_nothing_and_says_why(
    phase: Phase, kind: type[ask.Command]
) -> None:
    table = table_in(phase)
    with pytest.raises(Refused) as refused:
        machine.decide(table, COMMANDS[kind])
    assert str(refused.value).endswith(f"does not fit: {SAYS[phase]}.")
    assert table == table_in(phase)


@pytest.mark.requirement(13)
@pytest.mark.parametrize(
    ("phase", "kind"), [pair for pair in PAIRS if pair not in UNFIT], ids=named
)
def test_a_key_that_fits_is_answered_or_refused_for_a_reason_of_its_own(
    phase: Phase, kind: type[ask.Command]
) -> None:
    table = table_in(phase)
    event, why = answer_of(table, COMMANDS[kind])
    assert "does not fit" not in why
    if event is not None:
        assert (phase, type(event)) in NEXT or type(event) in STAYS
        assert machine.apply(table, event).phase is NEXT.get(
            (phase, type(event)), _stays(table, event)
        )


def answer_of(table: Table, command: ask.Command) -> tuple[did.Event | None, str]:
    try:
        return machine.decide(table, command), ""
    except Refused as refused:
        return None, str(refused)


def _stays(table: Table, event: did.Event) -> Phase:
    return table.resume if isinstance(event, did.FaultCleared) else table.phase


def test_the_table_of_steps_covers_every_event_that_decide_can_answer() -> None:
    missing = {
        (phase, event)
        for kind, answer in machine._ANSWER.items()
        for event in _events_of(answer)
        for phase in FITS[kind]
        if event not in STAYS and (phase, event) not in NEXT
    }
    # A wager struck while LOCKED has no count yet that it could make agree.
    assert missing == {(Phase.LOCKED, did.MiscountResolved)}


def test_the_table_of_steps_holds_nothing_that_decide_cannot_answer() -> None:
    possible = {
        (phase, event)
        for kind, answer in machine._ANSWER.items()
        for event in _events_of(answer)
        for phase in FITS[kind]
    }
    assert set(NEXT) <= possible


def _events_of(answer: Any) -> tuple[type[did.Event], ...]:
    returned = get_type_hints(answer)["return"]
    return get_args(returned) or (returned,)


def test_every_event_but_the_first_row_can_be_folded() -> None:
    assert set(folds.FOLD) == set(get_args(did.Event)) - {did.Commissioned}
    assert {event for _, event in NEXT} | STAYS == set(folds.FOLD)


@pytest.mark.requirement(13)
def test_the_hand_moves_only_from_open_to_locked_to_in_play_and_back() -> None:
    moves = {(start.value, end.value) for (start, _), end in NEXT.items() if start is not end}
    faults = {(phase.value, "fault") for phase in Phase if phase is not Phase.FAULT}
    assert moves - faults == {
        ("closed", "open"),
        ("open", "closed"),
        ("open", "locked"),
        ("locked", "in_play"),
        ("locked", "miscount"),
        ("locked", "open"),
        ("miscount", "in_play"),
        ("miscount", "open"),
        ("in_play", "open"),
    }


@pytest.mark.requirement(16)
@pytest.mark.parametrize(("kind", "needed"), GUARDED + GUARDED_TOO, ids=named)
def test_what_needs_a_credential_is_refused_without_it(
    kind: type[ask.Command], needed: Role
) -> None:
    allowed = {needed, Role.SYSTEM} if needed is Role.TECHNICIAN else {needed}
    table = table_in(next(phase for phase in Phase if phase in FITS[kind]))
    for role in set(Role) - allowed:
        person = Person("Somebody", role)
        command: Any = COMMANDS[kind]
        asked = type(command)(
            **{name: getattr(command, name) for name in command.__slots__} | {"by": person}
        )
        with pytest.raises(Refused, match=f"Somebody is signed in as {role.value}"):
            machine.decide(table, asked)


@pytest.mark.requirement(16)
def test_the_dealer_holds_no_credential_of_the_floor() -> None:
    evening = Evening()
    evening.prove(1)
    evening.win(1, ROYAL)
    for person in (DEALER, TECHNICIAN, AUDITOR):
        with pytest.raises(Refused, match="This needs the floor"):
            evening.do(ask.ValidateWin(person))
        with pytest.raises(Refused, match="This needs the floor"):
            evening.do(ask.RejectWin(person, "no"))
    assert not evening.meter.paid


def test_the_unit_itself_may_change_settings_and_clear_faults() -> None:
    evening = Evening()
    evening.fault()
    evening.do(ask.ClearFault(UNIT))
    assert evening.is_in(Phase.OPEN)


def test_a_row_that_cannot_follow_is_never_applied() -> None:
    table = table_in(Phase.OPEN)
    with pytest.raises(Broken, match="RoundEnded cannot follow while open"):
        machine.apply(
            table, did.RoundEnded(DEALER, 1, "", (), (), (), (), (), readings=(), must_clear=())
        )


@pytest.mark.requirement(49)
def test_a_table_that_is_running_cannot_be_commissioned_again() -> None:
    with pytest.raises(Broken, match="Commissioned cannot follow"):
        machine.apply(table_in(Phase.CLOSED), commissioned(table_file()))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (ask.LockBets(DEALER, ()), "LOCK"),
        (ask.EndRound(DEALER), "END"),
        (ask.ReopenBets(FLOOR, "x"), "Reopen bets"),
        (ask.NoteSeatEmpty(UNIT, 1), "Note seat empty"),
    ],
)
def test_a_command_is_called_what_people_at_the_table_call_it(
    command: ask.Command, words: str
) -> None:
    assert machine.spoken(command) == words


@pytest.mark.requirement(13, 91)
def test_a_refused_key_is_logged_with_what_it_carried_but_who_pressed_it_stands_apart() -> None:
    said = machine.described(ask.KeyWin(DEALER, 3, ROYAL))
    assert said == "WIN seat=3 hand=royal_flush"


def test_a_refusal_a_start_and_a_closing_leave_everything_else_alone() -> None:
    evening = Evening()
    before = evening.table
    refused = did.InputRefused(DEALER, "END", "no")
    assert machine.apply(before, refused) == before
    assert machine.apply(before, did.Started(2, "1.0", ())) == before
    evening.close()
    assert evening.is_in(Phase.CLOSED)
    assert evening.meter == before.meters[0]


def test_the_committed_diagram_is_what_the_machine_says_today() -> None:
    assert round_diagram.FILE.read_text(encoding="utf-8") == round_diagram.page()


def test_the_diagram_draws_every_step_between_states() -> None:
    drawn = round_diagram.diagram()
    for (start, event), end in NEXT.items():
        if start is not end and end is not Phase.FAULT:
            assert f"{start.name} --> {end.name} : {event.__name__}" in drawn
