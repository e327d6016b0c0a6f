"""What people and hardware ask of a table. Asking changes nothing: `machine.decide` answers."""

from __future__ import annotations

from msgspec import Struct

from controller.domain.meter import Account
from controller.domain.money import Money
from controller.domain.pack import Hand, Pack, Settings
from controller.domain.table import ChipCount, Person, RawEdge, Reminder, Wager


class OpenTable(Struct, frozen=True):
    by: Person
    covered: tuple[int, ...] = ()  # seats whose sensor is covered at this moment


class CloseTable(Struct, frozen=True):
    by: Person


class LockBets(Struct, frozen=True):
    """The one snapshot: the chips that had settled before the LOCK edge."""

    by: Person
    chips: tuple[Wager, ...]
    edges: tuple[RawEdge, ...] = ()  # what the sensors said in the seconds before


class KeyCount(Struct, frozen=True):
    """Chips counted. One entry without amount stands for "so many", if only one was accepted."""

    by: Person
    chips: tuple[ChipCount, ...] = ()
    number: int | None = None


class StrikeWager(Struct, frozen=True):
    by: Person
    seat: int
    reason: str


class AddWager(Struct, frozen=True):
    by: Person
    seat: int
    amount: Money
    reason: str


class ReopenBets(Struct, frozen=True):
    by: Person
    reason: str


class TieSeats(Struct, frozen=True):
    """These seats are one player's. A single seat: it is on its own again."""

    by: Person
    seats: tuple[int, ...]


class KeyWin(Struct, frozen=True):
    by: Person
    seat: int
    hand: Hand
    shown: Money | None = None  # what the meter display showed at that moment, if it worked


class ValidateWin(Struct, frozen=True):
    """Without a seat: the next in pay order."""

    by: Person
    seat: int | None = None
    checked: tuple[str, ...] = ()  # what the floor was taken through before accepting


class RejectWin(Struct, frozen=True):
    by: Person
    reason: str
    seat: int | None = None


class AcknowledgeEnvy(Struct, frozen=True):
    by: Person


class VoidRound(Struct, frozen=True):
    by: Person
    reason: str
    covered: tuple[int, ...] = ()


class EndRound(Struct, frozen=True):
    by: Person
    covered: tuple[int, ...] = ()
    elapsed_ms: int = 0  # since the last round ended, for the age of the deck


class NoteLateChip(Struct, frozen=True):
    by: Person
    seat: int
    placed: bool


class NoteSeatEmpty(Struct, frozen=True):
    by: Person
    seat: int


class NoteSeatStuck(Struct, frozen=True):
    by: Person
    seat: int


class NoteSeatNoisy(Struct, frozen=True):
    by: Person
    seat: int


class KeepEdges(Struct, frozen=True):
    """What the sensors said in the seconds after LOCK."""

    by: Person
    edges: tuple[RawEdge, ...]


class NoteDoor(Struct, frozen=True):
    by: Person
    opened: bool
    while_off: bool = False  # found so at start: it moved while there was no power


class NoteClock(Struct, frozen=True):
    by: Person
    step_ms: int


class NoteHardware(Struct, frozen=True):
    by: Person
    what: str


class SignIn(Struct, frozen=True):
    """The PIN was right."""

    by: Person


class NoteSignInFailed(Struct, frozen=True):
    by: Person
    number: str


class SignOut(Struct, frozen=True):
    by: Person


class CallFloor(Struct, frozen=True):
    by: Person


class AcknowledgeReminder(Struct, frozen=True):
    by: Person
    what: Reminder
    elapsed_ms: int = 0


class AdjustMeter(Struct, frozen=True):
    by: Person
    approved_by: Person
    meter: str
    account: Account
    raises: bool
    amount: Money
    reason: str
    reference: str


class ChangeSettings(Struct, frozen=True):
    by: Person
    reference: str
    pack: Pack
    settings: Settings


class RaiseFault(Struct, frozen=True):
    by: Person
    what: str


class ClearFault(Struct, frozen=True):
    by: Person


Command = (
    OpenTable
    | CloseTable
    | LockBets
    | KeyCount
    | StrikeWager
    | AddWager
    | ReopenBets
    | TieSeats
    | KeyWin
    | ValidateWin
    | RejectWin
    | AcknowledgeEnvy
    | VoidRound
    | EndRound
    | NoteLateChip
    | NoteSeatEmpty
    | NoteSeatStuck
    | NoteSeatNoisy
    | KeepEdges
    | NoteDoor
    | NoteClock
    | NoteHardware
    | SignIn
    | NoteSignInFailed
    | SignOut
    | CallFloor
    | AcknowledgeReminder
    | AdjustMeter
    | ChangeSettings
    | RaiseFault
    | ClearFault
)
