"""What people and hardware ask of a table. Asking changes nothing: `machine.decide` answers."""

from __future__ import annotations

from msgspec import Struct

from controller.domain.meter import Account
from controller.domain.money import Money
from controller.domain.pack import Hand, Pack, Settings
from controller.domain.table import ChipCount, Person, Wager


class OpenTable(Struct, frozen=True):
    by: Person
    covered: tuple[int, ...] = ()  # seats whose sensor is covered at this moment


class CloseTable(Struct, frozen=True):
    by: Person


class LockBets(Struct, frozen=True):
    """The one snapshot: the chips that had settled before the LOCK edge."""

    by: Person
    chips: tuple[Wager, ...]


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


class ValidateWin(Struct, frozen=True):
    """Without a seat: the next in pay order."""

    by: Person
    seat: int | None = None


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
    | AdjustMeter
    | ChangeSettings
    | RaiseFault
    | ClearFault
)
