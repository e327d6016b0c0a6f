"""What a technician is asked to do or to judge, in words, and as a deed for a simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from controller.domain.view import Lamp
from controller.hardware import Line

JUDGE: Final = ("y", "n", "r", "s")  # yes, no, show it again, skip
YES_OR_NO: Final = ("y", "n")


@dataclass(frozen=True, slots=True)
class Move:
    """Cover or uncover sensors, turn the key, open or shut the door."""

    lines: tuple[Line, ...]
    active: bool


@dataclass(frozen=True, slots=True)
class Push:
    """Press a button and let go, or let a chip fall through the slot."""

    line: Line


@dataclass(frozen=True, slots=True)
class Keys:
    """Press keys of the keypad, one after the other."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Press keys of the keypad at the same instant."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookAtLamps:
    """Say whether every lamp looks like this."""

    lamps: Mapping[int, Lamp]


@dataclass(frozen=True, slots=True)
class NameLamps:
    """Say which lamps do not look like this."""

    lamps: Mapping[int, Lamp]


@dataclass(frozen=True, slots=True)
class LookAtDisplay:
    name: str


@dataclass(frozen=True, slots=True)
class Listen:
    """Say whether the buzzer sounds."""


@dataclass(frozen=True, slots=True)
class GoOn:
    """Say no: whoever simulates has nothing to repair."""


Deed = Move | Push | Keys | Together | LookAtLamps | NameLamps | LookAtDisplay | Listen | GoOn


@dataclass(frozen=True, slots=True)
class Task:
    """One instruction. With choices it is a question; else the table watches for the deeds."""

    text: str
    deeds: tuple[Deed, ...]
    choices: tuple[str, ...] = ()
    is_free: bool = False  # a question that any words may answer
    glass: tuple[str, ...] = ()  # the same in a line or two for the dealer display

    @property
    def is_question(self) -> bool:
        return self.is_free or bool(self.choices)


class Technician(Protocol):
    """Whoever sits at the terminal."""

    def told(self, task: Task) -> None:
        """Here is the next instruction; what was typed before it answers nothing."""

    def answer(self) -> str | None:
        """The line typed since then, in small letters; None if none was. EOFError: he has left."""

    def news(self, text: str) -> None:
        """Something to read."""
