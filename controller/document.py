"""Reads a TOML document key by key and collects every problem found on the way.

Pure: text in, values out. It knows neither packs nor tables, and never stops at the first problem.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from msgspec import Struct

from controller.domain.errors import BadInput, check
from controller.domain.money import Money, parse_money, parse_rate

if TYPE_CHECKING:
    from enum import StrEnum

T = TypeVar("T")
Read_co = TypeVar("Read_co", covariant=True)
Choice = TypeVar("Choice", bound="StrEnum")

_SHOWN_MAX: Final = 60
_SHOWN_BITS_MAX: Final = 128
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_SYNTAX: Final = re.compile(r"(.*) \(at (.*)\)", re.DOTALL)


class Kind(Struct, Generic[Read_co], frozen=True):
    """What a key may hold: in words, and as a reader that gives None for anything else."""

    allowed: str
    read: Callable[[object], Read_co | None]


class Problems:
    """Everything wrong with one file, as sentences of one shape."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.sentences: list[str] = []

    def add(self, key: str, value: object, allowed: str) -> None:
        self.say(key, show(value), allowed)

    def say(self, key: str, found: str, allowed: str) -> None:
        self.sentences.append(f"{self._where}: {key}: found {found}; allowed {allowed}")

    def stop_if_any(self) -> None:
        if self.sentences:
            raise BadInput(*self.sentences)


class Section:
    """One TOML table: keys outside `known` are problems, and so is a value of the wrong kind."""

    def __init__(
        self, value: object, known: Collection[str], problems: Problems, *, path: str = ""
    ) -> None:
        self._known = known
        self._problems = problems
        self._path = path
        self._values: Mapping[str, object] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            problems.add(path, value, f"a table, written [{path}]")
        for key in self._values:
            if key not in known:
                problems.say(self.path(key), "an unknown key", ", ".join(known) or "none")

    def path(self, key: str) -> str:
        name = key if _BARE_KEY.fullmatch(key) else show(key)
        return f"{self._path}.{name}" if self._path else name

    def has(self, key: str) -> bool:
        return key in self._values

    def refuse(self, key: str, value: object, allowed: str) -> None:
        """Say that a value, stated or default, of the right kind in itself, does not fit."""
        self._problems.add(self.path(key), value, allowed)

    def take(self, key: str, kind: Kind[T], fallback: T, *, required: bool = False) -> T:
        """The value of a key; the fallback if it is absent or was just reported."""
        check(key in self._known, f"{self.path(key)} is read but not declared")
        if key not in self._values:
            if required:
                self._problems.say(self.path(key), "nothing", kind.allowed)
            return fallback
        read = kind.read(self._values[key])
        if read is None:
            self._problems.add(self.path(key), self._values[key], kind.allowed)
            return fallback
        return read

    def section(self, key: str, known: Collection[str]) -> Section:
        """A table inside this one; absent is the same as empty."""
        check(key in self._known, f"{self.path(key)} is read but not declared")
        return Section(self._values.get(key, {}), known, self._problems, path=self.path(key))

    def named(self, key: str, known: Collection[str]) -> dict[str, Section]:
        """The tables inside a table whose names the writer chose."""
        value = self._values.get(key, {})
        names = tuple(value) if isinstance(value, dict) else ()
        outer = self.section(key, names)
        return {name: outer.section(name, known) for name in names}

    def rows(self, key: str, known: Collection[str]) -> list[Section]:
        """An array of tables, counted from 1 in messages."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            self._problems.add(self.path(key), value, f"a list of tables, each written [[{key}]]")
            return []
        return [
            Section(row, known, self._problems, path=f"{self.path(key)}[{number}]")
            for number, row in enumerate(value, start=1)
        ]


def parse(text: str, *, where: str) -> dict[str, object]:
    """The document as plain values, or one sentence that names the line."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        found, place = "brackets nested too deeply", "the file"
    except ValueError as error:
        match = _SYNTAX.fullmatch(str(error))
        what, place = match.groups() if match else (str(error), "the file")
        found = f"a mistake in the TOML ({what})"
    raise BadInput(f'{where}: {place}: found {found}; allowed lines such as key = "value"')


def show(value: object) -> str:
    """A value as a person would know it again, on one short line without control characters."""
    text = _show_list(value) if isinstance(value, list) else _show_one(value)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


def _show_list(values: list[object]) -> str:
    shown = ["a list" if isinstance(value, list) else _show_one(value) for value in values]
    return f"[{', '.join(shown)}]"


def _show_one(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS_MAX:
        return "a very long number"
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole(low: int, high: int) -> Kind[int]:
    def read(value: object) -> int | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return value if isinstance(value, int) and fits else None

    return Kind(f"a whole number from {low} to {high}", read)


def text_up_to(longest: int) -> Kind[str]:
    def read(value: object) -> str | None:
        fits = isinstance(value, str) and value.isprintable() and value.strip()
        return value if isinstance(value, str) and fits and len(value) <= longest else None

    return Kind(f"text of 1 to {longest} characters on one line", read)


def pattern(regex: str, allowed: str) -> Kind[str]:
    compiled = re.compile(regex, re.ASCII)

    def read(value: object) -> str | None:
        return value if isinstance(value, str) and compiled.fullmatch(value) else None

    return Kind(allowed, read)


def one_of(choices: type[Choice]) -> Kind[Choice]:
    by_text = {choice.value: choice for choice in choices}

    def read(value: object) -> Choice | None:
        return by_text.get(value) if isinstance(value, str) else None

    return Kind(", ".join(f'"{text}"' for text in by_text), read)


def _read_flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def read_amount(value: object) -> Money | None:
    try:
        return parse_money(value)
    except BadInput:
        return None


def read_cents(value: object) -> Money | None:
    amount = read_amount(value)
    return amount if amount is not None and amount.is_whole_cents() else None


def _read_positive_cents(value: object) -> Money | None:
    return read_cents(value) or None


def _read_rate(value: object) -> int | None:
    try:
        return parse_rate(value)
    except BadInput:
        return None


FLAG: Final = Kind("true or false", _read_flag)
AMOUNT: Final = Kind(
    'dollars as text with up to 8 decimals, such as "10000.00"',
    read_amount,
)
CENTS: Final = Kind('dollars and whole cents as text, such as "5.00"', read_cents)
POSITIVE_CENTS: Final = Kind(
    'dollars and whole cents as text, above zero, such as "5.00"', _read_positive_cents
)
RATE: Final = Kind(
    'a share of the wager from "0" to "1" as text with up to 6 decimals, such as "0.1425"',
    _read_rate,
)
IDENTIFIER: Final = pattern(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}",
    "1 to 32 letters, digits, dots, underscores and hyphens, a letter or digit first",
)
