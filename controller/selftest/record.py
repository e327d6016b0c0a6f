"""What a self-test leaves behind: one result for each check, as a page for people or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from textwrap import wrap
from typing import Final

WIDTH: Final = 96
NAME_WIDTH: Final = 30
UNITS: Final = ("us", "ms")
SAYS_INDENT: Final = " " * 14

Figures = Mapping[str, int | str]


class Outcome(StrEnum):
    """How one check ended. What is not wired cannot be tested and is no failure."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIPPED = "skipped"
    NOT_FITTED = "not fitted"


@dataclass(frozen=True, slots=True)
class Result:
    """One check: what it was, how it ended, and what a technician should do about it."""

    part: str
    name: str
    outcome: Outcome
    says: str = ""
    figures: Figures = field(default_factory=dict)


def passed(part: str, name: str, says: str = "", /, **figures: int | str) -> Result:
    return Result(part, name, Outcome.PASS, says, figures)


def failed(part: str, name: str, says: str, /, **figures: int | str) -> Result:
    return Result(part, name, Outcome.FAIL, says, figures)


def skipped(part: str, name: str, says: str = "by the technician") -> Result:
    return Result(part, name, Outcome.SKIPPED, says)


def not_fitted(part: str, name: str) -> Result:
    return Result(part, name, Outcome.NOT_FITTED)


@dataclass(frozen=True, slots=True)
class Record:
    """One self-test from its first question to its verdict."""

    facts: Mapping[str, str]
    results: tuple[Result, ...]
    simulated: bool

    @property
    def is_passed(self) -> bool:
        """What was skipped was not tested, so it is not passed either."""
        return not any(self._of(Outcome.FAIL, Outcome.SKIPPED))

    @property
    def verdict(self) -> str:
        return "PASS" if self.is_passed else "FAIL"

    def _of(self, *outcomes: Outcome) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.outcome in outcomes)

    def as_json(self) -> str:
        """One document, for machines."""
        document = {
            "kind": "feltlink-selftest",
            "result": self.verdict,
            "simulated": self.simulated,
            "facts": dict(self.facts),
            "checks": [
                {
                    "part": result.part,
                    "name": result.name,
                    "result": result.outcome.value,
                    "says": result.says,
                    "figures": dict(result.figures),
                }
                for result in self.results
            ],
        }
        return json.dumps(document, indent=2) + "\n"

    def as_text(self) -> str:
        """One page, for the file of the table."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "FELTLINK SELF-TEST" + " (SIMULATED: no real wire was tested)" * self.simulated
        yield ""
        for name, value in self.facts.items():
            yield f"{name:<16}{value}"
        for part, results in groupby(self.results, key=lambda result: result.part):
            yield ""
            yield part.upper()
            for result in results:
                yield from result_lines(result)
        yield ""
        yield f"RESULT          {self.verdict}{self._why()}"
        yield "signature       ______________________________"

    def _why(self) -> str:
        missed = self._of(Outcome.FAIL, Outcome.SKIPPED)
        if not missed:
            return f": {len(self._of(Outcome.PASS))} checks passed"
        named = ", ".join(result.name for result in missed)
        return f": {len(missed)} of {len(self.results)} checks not passed: {named}"


def _figure(name: str, value: int | str) -> str:
    """Units stand last in a name, and behind the number for people."""
    words, _, unit = name.rpartition("_")
    said = f"{words} {value} {unit}" if unit in UNITS else f"{name} {value}"
    return said.replace("_", " ")


def result_lines(result: Result) -> Iterator[str]:
    """A check as it stands in the record, and as the technician sees it go by."""
    figures = "  ".join(_figure(name, value) for name, value in result.figures.items())
    head = f"  {result.outcome.upper():<12}{result.name:<{NAME_WIDTH}}"
    yield f"{head}{figures}".rstrip()
    yield from wrap(result.says, WIDTH, initial_indent=SAYS_INDENT, subsequent_indent=SAYS_INDENT)
