"""Events as bytes: exact there and back, and nothing doubtful is read."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from controller import wire
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Fault
from controller.domain.money import Money
from controller.domain.table import RawEdge, Reminder
from tests.builders import (
    DEALER,
    FIVE,
    QUADS,
    ROYAL,
    STRAIGHT_FLUSH,
    TECHNICIAN,
    UNIT,
    Evening,
    table_file,
)


def eventful_evening() -> list[did.Event]:
    """One evening in which everything happens that a ledger can record."""
    evening = Evening(
        "md-uth-a",
        opened=False,
        wagers=["1.00", "5.00"],
        adjacent_boxes=2,
        floor_may_add=True,
    )
    new = table_file(wagers=["1.00", "5.00"], adjacent_boxes=2, meters={"meter": {"rate": "0.15"}})
    evening.change(new, reference="GC-1")
    evening.open(6)
    evening.do(ask.NoteSeatStuck(UNIT, 6))
    evening.do(ask.NoteSeatEmpty(UNIT, 6))
    evening.do(ask.NoteSeatNoisy(UNIT, 5))
    evening.do(ask.NoteSeatEmpty(UNIT, 5))
    evening.tie(1, 2)
    evening.lock(1, 2, seat3=FIVE)
    evening.do(ask.NoteLateChip(UNIT, 5, placed=True))
    evening.count(ones=1, fives=1)
    evening.reopen()
    evening.lock(1, 2, seat3=FIVE)
    evening.count(ones=1)
    evening.strike(3)
    evening.strike(1)
    evening.win(2, QUADS)
    evening.win(2, STRAIGHT_FLUSH)
    evening.win(2, STRAIGHT_FLUSH)
    evening.win(2, ROYAL)
    evening.reject()
    evening.win(2, ROYAL)
    evening.win(4, STRAIGHT_FLUSH)
    evening.validate()
    evening.envy()
    evening.end()
    evening.prove(1)
    evening.void()
    evening.adjust("1.00000001")
    evening.fault()
    evening.do(ask.ClearFault(TECHNICIAN))
    evening.close()
    for command in upkeep():
        evening.do(command)
    refused = did.InputRefused(DEALER, "END", "the table is closed")
    started = did.Started(2, "0.1.0", ("copy rebuilt",))
    return [*evening.events, refused, started, did.SnapshotTaken(evening.table)]


def upkeep() -> list[ask.Command]:
    """What happens around the rounds."""
    return [
        ask.NoteDoor(UNIT, opened=True),
        ask.NoteDoor(UNIT, opened=False, while_off=True),
        ask.NoteClock(UNIT, -3_600_000),
        ask.NoteHardware(UNIT, "meter display: no answer"),
        ask.NoteSignInFailed(UNIT, "101"),
        ask.SignIn(DEALER),
        ask.SignOut(DEALER),
        ask.CallFloor(DEALER),
        ask.KeepEdges(UNIT, (RawEdge(1, FIVE, covered=False, offset_us=12),)),
        ask.AcknowledgeReminder(DEALER, Reminder.DECK_CHANGE, elapsed_ms=60_000),
    ]


EVENTS = eventful_evening()


def test_the_evening_holds_an_event_of_every_kind() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(did.Event))


@pytest.mark.requirement(31)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_what_is_read_back_is_exactly_what_was_written(event: did.Event) -> None:
    kind = wire.KIND_OF[type(event)]
    assert wire.decode(kind, wire.VERSION, wire.encode(event)) == event


@pytest.mark.requirement(31)
def test_no_number_with_a_point_stands_in_any_row() -> None:
    def refuse(text: str) -> None:
        raise AssertionError(f"a float on the wire: {text}")

    for event in EVENTS:
        json.loads(wire.encode(event), parse_float=refuse)


def test_replaying_the_rows_gives_the_same_table() -> None:
    first, *rest = [
        wire.decode(wire.KIND_OF[type(event)], wire.VERSION, wire.encode(event)) for event in EVENTS
    ]
    assert isinstance(first, did.Commissioned)
    live = replayed = machine.commission(first)
    for event, read in zip(EVENTS[1:], rest, strict=True):
        live, replayed = machine.apply(live, event), machine.apply(replayed, read)
        assert replayed == live


def test_kinds_are_named_in_the_past_tense_and_one_to_one() -> None:
    assert wire.KIND_OF[did.BetsLocked] == "bets_locked"
    assert set(wire.EVENT_OF) == set(wire.KIND_OF.values())
    assert len(wire.EVENT_OF) == len(wire.KIND_OF)


@pytest.mark.parametrize(
    ("kind", "version"), [("jackpot_stolen", 1), ("table_closed", wire.VERSION + 1)]
)
def test_a_row_this_software_does_not_know_stops_the_table(kind: str, version: int) -> None:
    with pytest.raises(Fault, match=f"kind {kind}, version {version}, is not known"):
        wire.decode(kind, version, b"{}")


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("late_chip_noted", b""),
        ("late_chip_noted", b"{"),
        ("late_chip_noted", b'{"seat": 1}'),
        ("late_chip_noted", b'{"seat": "1", "placed": true}'),
        ("late_chip_noted", b'{"seat": 1.5, "placed": true}'),
        ("fault_raised", b'{"what": "\xff"}'),
        ("bets_locked", b'{"by":{"name":"D","role":"king"},"round":1,"wagers":[]}'),
    ],
)
def test_a_row_that_does_not_fit_its_kind_stops_the_table(kind: str, payload: bytes) -> None:
    with pytest.raises(Fault, match=f"A row of kind {kind} cannot be read"):
        wire.decode(kind, wire.VERSION, payload)


@pytest.mark.requirement(31)
@pytest.mark.parametrize("amount", ["1.0", "1", '"-1.00"', '"1,00"', '"1e2"', "null", "true"])
def test_an_amount_that_is_not_an_exact_text_is_refused_while_it_is_read(amount: str) -> None:
    payload = '{"by":{"name":"D","role":"dealer"},"round":1,"wagers":[{"seat":1,"amount":AMOUNT}]}'
    assert wire.decode("bets_locked", 1, payload.replace("AMOUNT", '"1.5"').encode())
    with pytest.raises(Fault):
        wire.decode("bets_locked", 1, payload.replace("AMOUNT", amount).encode())


def test_what_is_no_part_of_an_event_is_neither_written_nor_read() -> None:
    with pytest.raises(TypeError, match="complex has no place in an event"):
        wire._to_json(1j)
    with pytest.raises(TypeError, match="complex has no place in an event"):
        wire._from_json(complex, "1")
    assert wire._to_json(Money(1)) == "0.00000001"
