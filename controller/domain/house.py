"""House reminders between rounds: the stub count and the change of the deck (MD 8.E, 3.C)."""

from __future__ import annotations

from typing import Final

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Refused
from controller.domain.table import Reminder, Table

HOUR_MS: Final = 3_600_000

SAYS: Final = {
    Reminder.STUB_COUNT: "COUNT THE STUB",
    Reminder.DECK_CHANGE: "CHANGE THE DECK",
}


def reminders_due(table: Table, *, elapsed_ms: int) -> tuple[Reminder, ...]:
    """What is due now, so long after the last round ended."""
    due = []
    stub, hours = table.settings.stub_count_rounds, table.settings.deck_change_hours
    if stub and table.rounds_since_stub >= stub:
        due.append(Reminder.STUB_COUNT)
    if hours and table.deck_ms + elapsed_ms >= hours * HOUR_MS:
        due.append(Reminder.DECK_CHANGE)
    return tuple(due)


def acknowledge_reminder(
    table: Table, command: ask.AcknowledgeReminder
) -> did.ReminderAcknowledged:
    """The dealer has done it. Only what is due can be acknowledged; a deck can be changed early."""
    due = reminders_due(table, elapsed_ms=command.elapsed_ms)
    if command.what not in due and command.what is not Reminder.DECK_CHANGE:
        raise Refused(f"{SAYS[command.what].capitalize()}: that is not due yet.")
    return did.ReminderAcknowledged(command.by, command.what, command.elapsed_ms)
