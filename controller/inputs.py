"""What people do at a table, once the hardware has made sense of its edges."""

from __future__ import annotations

from msgspec import Struct


class LockPressed(Struct, frozen=True):
    """The time of the edge decides which chips are in, not when we come to look at it."""

    at_us: int


class LockUnheard(Struct, frozen=True):
    """LOCK was pressed and no edge came: it has no time, so it locks nothing."""


class EndPressed(Struct, frozen=True):
    pass


class KeyPressed(Struct, frozen=True):
    key: str


class KeySwitched(Struct, frozen=True):
    """The floor key was turned."""

    on: bool


class DoorSwitched(Struct, frozen=True):
    opened: bool


class ChipDropped(Struct, frozen=True):
    """A chip fell through the drop slot."""


class ChipsMoved(Struct, frozen=True):
    """The covered seats may have changed."""


class Odd(Struct, frozen=True):
    """Something the hardware should not do, in a sentence for the technician."""

    what: str


class InputsLost(Struct, frozen=True):
    """More edges came than could be taken in: nothing known about the sensors holds."""


Input = (
    LockPressed
    | LockUnheard
    | EndPressed
    | KeyPressed
    | KeySwitched
    | DoorSwitched
    | ChipDropped
    | ChipsMoved
    | Odd
    | InputsLost
)
