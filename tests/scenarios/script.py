"""The text format of a scenario, as README.md beside this file describes it. Plays nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from controller.domain.errors import BadInput
from tests.scenarios.expect import KINDS

FOLDER: Final = Path(__file__).parent
HEADINGS: Final = ("requirement", "pack", "table", "set", "refused")

_PLAIN_TOML: Final = re.compile(r"true|false|[0-9]+|\[.*\]")
_KEY: Final = re.compile(r"[a-z_]+(\.[a-z_]+)+")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `> KIND WORDS` line."""

    line: int
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Act:
    """One input line, whether the table must accept it, and what must be true after it."""

    line: int
    text: str
    refused: bool
    expected: list[Expectation] = field(default_factory=list)


@dataclass(slots=True)
class Scenario:
    """One file, read."""

    name: str
    requirements: tuple[int, ...] = ()
    pack: str = ""
    table: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # words that refuse the table file itself
    acts: list[Act] = field(default_factory=list)

    def table_toml(self, root: Path) -> str:
        """The table file that the headings describe; a pack given as a path starts at root."""
        pack = str(root / self.pack) if self.pack.endswith(".toml") else self.pack
        sections = {"table": ['id = "T01"'], "rules": [f'pack = "{pack}"']}
        for key, value in self.settings.items():
            section, _, name = key.rpartition(".")
            sections.setdefault(section, []).append(f"{name} = {value}")
        return "".join(f"[{name}]\n{chr(10).join(keys)}\n" for name, keys in sections.items())


def read(path: Path) -> Scenario:
    return parse(path.read_text(encoding="utf-8"), name=path.name)


def names() -> list[str]:
    """The scenarios in this folder, without their ending."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def parse(text: str, *, name: str) -> Scenario:
    """Read one scenario; every line that cannot be used is reported at once."""
    scenario = Scenario(name)
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].strip()
        if words:
            try:
                _take(scenario, number, words)
            except BadInput as bad:
                problems += [f"{name}:{number}: {problem}" for problem in bad.problems]
    problems += [f"{name}: {problem}" for problem in _problems_of(scenario)]
    if problems:
        raise BadInput(*problems)
    return scenario


def _take(scenario: Scenario, number: int, words: str) -> None:
    first, _, rest = words.partition(" ")
    if first in HEADINGS:
        if scenario.acts:
            raise BadInput(f"`{first}` stands after the first input; write it above.")
        _take_heading(scenario, first, rest.strip())
    elif first == ">":
        if not scenario.acts:
            raise BadInput("an expectation stands before the first input; write it after one.")
        scenario.acts[-1].expected.append(_expectation(number, rest.strip()))
    else:
        text = words.removeprefix("!").strip()
        scenario.acts.append(Act(number, text, refused=words.startswith("!")))


def _take_heading(scenario: Scenario, first: str, rest: str) -> None:
    if not rest:
        raise BadInput(f"`{first}` says nothing; write what is meant after it.")
    match first:
        case "requirement":
            if not all(word.isdecimal() for word in rest.split()):
                raise BadInput(f"found {rest!r}; allowed numbers, such as `requirement 26 36`.")
            scenario.requirements = tuple(int(word) for word in rest.split())
        case "pack":
            scenario.pack = rest
        case "table":
            scenario.table = rest
        case "refused":
            scenario.refused.append(rest)
        case _:
            key, _, value = rest.partition(" ")
            if not _KEY.fullmatch(key) or not value.strip():
                raise BadInput(f"found {rest!r}; allowed `set SECTION.KEY VALUE`.")
            scenario.settings[key] = _toml(value.strip())


def _toml(value: str) -> str:
    """Lists, true, false and whole numbers are TOML already; all else is text."""
    return value if _PLAIN_TOML.fullmatch(value) else f'"{value}"'


def _expectation(number: int, words: str) -> Expectation:
    kind, _, rest = words.partition(" ")
    if kind not in KINDS:
        raise BadInput(f"found the expectation {kind!r}; allowed {', '.join(KINDS)}.")
    if not rest.strip():
        raise BadInput(f"`> {kind}` says nothing; write `none` if nothing is expected.")
    return Expectation(number, kind, " ".join(rest.split()))


def _problems_of(scenario: Scenario) -> Iterator[str]:
    if bool(scenario.pack) == bool(scenario.table):
        yield "found both or neither of `pack` and `table`; allowed one of them."
    if scenario.table and scenario.settings:
        yield "found `set` beside `table`; allowed `set` with `pack` only."
    if bool(scenario.refused) == bool(scenario.acts):
        yield "found both or neither of `refused` and inputs; allowed one of them."
    if scenario.acts and not any(act.expected for act in scenario.acts):
        yield "found no expectation; a scenario that cannot fail shows nothing."
