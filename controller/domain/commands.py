"""What people and hardware ask of a table. Asking changes nothing: `machine.decide` answers."""

from __future__ import annotations

from dataclasses import dataclass

from controller.domain.meter import Account
from controller.domain.money import Money
from controller.domain.pack import Hand, Pack, Settings
from controller.domain.table import ChipCount, Person, Wager


@dataclass(frozen=True, slots=True)
class OpenTable:
    by: Person
    covered: tuple[int, ...] = ()  # seats whose sensor is covered at this moment


@dataclass(frozen=True, slots=True)
class CloseTable:
    by: Person


@dataclass(frozen=True, slots=True)
class LockBets:
    """The one snapshot: the chips that had settled before the LOCK edge."""

    by: Person
    chips: tuple[Wager, ...]


@dataclass(frozen=True, slots=True)
class KeyCount:
    """Chips counted. One entry without amount stands for "so many", if only one was accepted."""

    by: Person
    chips: tuple[ChipCount, ...] = ()
    number: int | None = None


@dataclass(frozen=True, slots=True)
class StrikeWager:
    by: Person
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class AddWager:
    by: Person
    seat: int
    amount: Money
    reason: str


@dataclass(frozen=True, slots=True)
class ReopenBets:
    by: Person
    reason: str


@dataclass(frozen=True, slots=True)
class TieSeats:
    """These seats are one player's. A single seat: it is on its own again."""

    by: Person
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyWin:
    by: Person
    seat: int
    hand: Hand


@dataclass(frozen=True, slots=True)
class ValidateWin:
    """Without a seat: the next in pay order."""

    by: Person
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class RejectWin:
    by: Person
    reason: str
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class AcknowledgeEnvy:
    by: Person


@dataclass(frozen=True, slots=True)
class VoidRound:
    by: Person
    reason: str
    covered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EndRound:
    by: Person
    covered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteLateChip:
    by: Person
    seat: int
    placed: bool


@dataclass(frozen=True, slots=True)
class NoteSeatEmpty:
    by: Person
    seat: int


@dataclass(frozen=True, slots=True)
class NoteSeatStuck:
    by: Person
    seat: int


@dataclass(frozen=True, slots=True)
class AdjustMeter:
    by: Person
    approved_by: Person
    meter: str
    account: Account
    raises: bool
    amount: Money
    reason: str
    reference: str


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    by: Person
    reference: str
    pack: Pack
    settings: Settings


@dataclass(frozen=True, slots=True)
class RaiseFault:
    by: Person
    what: str


@dataclass(frozen=True, slots=True)
class ClearFault:
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
