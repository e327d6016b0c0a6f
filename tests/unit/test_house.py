"""House reminders: the stub count every few rounds, and the age of the deck (MD 8.E, 3.C)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Broken, Refused
from controller.domain.house import HOUR_MS, reminders_due
from controller.domain.table import HITS_KEPT, Reminded, Reminder
from tests.builders import DEALER, Evening

STUB, DECK = Reminder.STUB_COUNT, Reminder.DECK_CHANGE


def house_evening(*, rounds: int = 0, hours: int = 0) -> Evening:
    evening = Evening()
    settings = replace(evening.table.settings, stub_count_rounds=rounds, deck_change_hours=hours)
    evening.table = replace(evening.table, settings=settings)
    return evening


def play(evening: Evening, rounds: int, *, elapsed_ms: int = 0) -> None:
    for _ in range(rounds):
        evening.prove(1)
        evening.do(ask.EndRound(DEALER, (), elapsed_ms))


def test_a_house_that_wants_no_reminder_gets_none() -> None:
    evening = Evening()
    play(evening, 9, elapsed_ms=9 * HOUR_MS)
    assert reminders_due(evening.table, elapsed_ms=0) == ()


def test_the_stub_is_due_after_five_rounds_and_again_after_five_more() -> None:
    evening = house_evening(rounds=5)
    play(evening, 4)
    assert reminders_due(evening.table, elapsed_ms=0) == ()
    play(evening, 1)
    assert reminders_due(evening.table, elapsed_ms=0) == (STUB,)
    evening.do(ask.AcknowledgeReminder(DEALER, STUB))
    assert reminders_due(evening.table, elapsed_ms=0) == ()
    play(evening, 5)
    assert reminders_due(evening.table, elapsed_ms=0) == (STUB,)


def test_what_is_not_due_is_not_acknowledged() -> None:
    evening = house_evening(rounds=5)
    with pytest.raises(Refused, match="not due yet"):
        evening.do(ask.AcknowledgeReminder(DEALER, STUB))


def test_the_deck_is_due_after_its_hours_in_use_whether_or_not_rounds_are_played() -> None:
    evening = house_evening(hours=4)
    play(evening, 3, elapsed_ms=HOUR_MS)
    assert reminders_due(evening.table, elapsed_ms=HOUR_MS - 1) == ()
    assert reminders_due(evening.table, elapsed_ms=HOUR_MS) == (DECK,)
    evening.do(ask.AcknowledgeReminder(DEALER, DECK, HOUR_MS))
    assert evening.table.deck_ms == 0


def test_a_stub_count_does_not_make_the_deck_younger() -> None:
    evening = house_evening(rounds=1, hours=4)
    play(evening, 1, elapsed_ms=HOUR_MS)
    evening.do(ask.AcknowledgeReminder(DEALER, STUB, HOUR_MS))
    assert evening.table.deck_ms == 2 * HOUR_MS


def test_a_deck_may_be_changed_before_its_time() -> None:
    evening = house_evening(hours=8)
    play(evening, 1, elapsed_ms=HOUR_MS)
    evening.do(ask.AcknowledgeReminder(DEALER, DECK))
    assert evening.table.deck_ms == 0


def test_what_was_done_stands_in_the_record_of_the_round_that_follows() -> None:
    evening = house_evening(rounds=1)
    play(evening, 1)
    evening.do(ask.AcknowledgeReminder(DEALER, STUB))
    play(evening, 1)
    ended = evening.events[-1]
    assert isinstance(ended, did.RoundEnded)
    assert ended.reminded == (Reminded(STUB, "Dana"),)
    play(evening, 1)
    ended = evening.events[-1]
    assert isinstance(ended, did.RoundEnded)
    assert ended.reminded == ()


@pytest.mark.requirement(53)
def test_the_table_itself_remembers_the_last_twenty_five_hits() -> None:
    evening = Evening()
    for number in range(HITS_KEPT + 3):
        evening.prove(1 + number % 6)
        evening.win(1 + number % 6)
        evening.validate()
        evening.end()
    assert len(evening.table.hits) == HITS_KEPT == 25
    assert [hit.round for hit in evening.table.hits] == list(range(4, HITS_KEPT + 4))


def test_a_snapshot_that_is_not_the_state_the_rows_lead_to_stops_the_table() -> None:
    evening = Evening()
    assert machine.apply(evening.table, did.SnapshotTaken(evening.table)) == evening.table
    other = replace(evening.table, deck_ms=1)
    with pytest.raises(Broken, match="snapshot"):
        machine.apply(evening.table, did.SnapshotTaken(other))


def test_a_void_round_does_not_lose_what_was_done_before_it() -> None:
    evening = house_evening(rounds=1)
    play(evening, 1)
    evening.do(ask.AcknowledgeReminder(DEALER, STUB))
    evening.prove(1)
    evening.void()
    assert evening.round.reminded == (Reminded(STUB, "Dana"),)
