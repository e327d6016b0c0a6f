"""What goes in and out of the keypad besides keys: facts for its pages, and what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from controller.domain.commands import Command
from controller.domain.money import Money
from controller.domain.table import Person, Reminder

Readout = tuple[tuple[str, tuple[str, ...]], ...]  # topics, each a title and its lines


@dataclass(frozen=True, slots=True)
class Info:
    """What the pages need beyond the table's own state, as of this moment."""

    dealer: Person
    locked_out_ms: int = 0  # how long the keypad takes no PIN yet
    reminders: tuple[Reminder, ...] = ()  # due now
    drops: int | None = None  # chips that fell through the drop slot since LOCK
    shown: Mapping[str, Money] = field(default_factory=dict)  # on the meter display, by meter name
    readout: Readout = ()


class Say(Struct, frozen=True):
    """The key did nothing; this sentence says why."""

    text: str


class OpenNow(Struct, frozen=True):
    """Open the table; whoever acts on it adds the covered sensors."""

    by: Person


class VoidNow(Struct, frozen=True):
    """Void the round; whoever acts on it adds the covered sensors."""

    by: Person
    reason: str


@dataclass(frozen=True, slots=True)
class CheckPin:
    """Somebody signs in. `signed_in` or `sign_in_failed` answers, before the next key."""

    number: str
    pin: str = field(repr=False)  # no log line may ever show it


class RunSelfTest(Struct, frozen=True):
    by: Person


Action = Command | Say | OpenNow | VoidNow | CheckPin | RunSelfTest
