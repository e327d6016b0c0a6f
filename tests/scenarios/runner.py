"""Plays a scenario through the real table process and reports every expectation that fails.

It decides nothing about the game: what must be true stands in the scenario files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from controller.adapters.ledger_inspect import inspect
from controller.adapters.pack_files import load_table
from controller.config import TableFile
from controller.domain.errors import BadInput
from mock_gpio.main import Place
from mock_gpio.play import play
from tests.scenarios.expect import Json, Moment, found_instead
from tests.scenarios.script import Act, Scenario

ROOT: Final = Path(__file__).parents[2]


class Mode(StrEnum):
    """How a scenario is played."""

    STRAIGHT = "straight"
    POWER_CUTS = "power-cuts"


# What is played after each line of the scenario.
LINES_AFTER: Final = {
    Mode.STRAIGHT: ("show",),
    Mode.POWER_CUTS: ("show", "power-cut", "show"),
}


def failures(scenario: Scenario, folder: Path, mode: Mode) -> list[str]:
    """Everything in the scenario that does not hold, each as `FILE:LINE: expected, found`."""
    try:
        file = table_file(scenario, folder)
    except BadInput as refused:
        return list(_refusal_failures(scenario, str(refused)))
    if scenario.refused:
        return [f"{scenario.name}: expected the table file to be refused; it was accepted."]
    data = folder / "data"
    answers = _played(scenario, Place(file, data), mode)
    width = 1 + len(LINES_AFTER[mode])
    failed = [
        failure
        for at, act in enumerate(scenario.acts)
        for failure in _act_failures(scenario.name, act, answers[at * width : (at + 1) * width])
    ]
    return [*failed, *ledger_failures(scenario.name, data)]


def table_file(scenario: Scenario, folder: Path) -> TableFile:
    """The table as its headings describe it, read from a real file."""
    if scenario.table:
        return load_table(ROOT / scenario.table)
    path = folder / "table.toml"
    path.write_text(scenario.table_toml(ROOT), encoding="utf-8")
    return load_table(path)


def _played(scenario: Scenario, place: Place, mode: Mode) -> list[Json]:
    lines = [line for act in scenario.acts for line in (act.text, *LINES_AFTER[mode])]
    answers: list[Json] = []
    play(place, lines, lambda answer: answers.append(json.loads(answer)))
    return answers


def _act_failures(name: str, act: Act, answers: list[Json]) -> Iterator[str]:
    """The answer itself, then the table as it is shown after it, before and after any cut."""
    answer, *after = answers
    tables = [said["table"] for said in after if said["input"] == "show"]
    if answer["ok"] == act.refused:
        wanted = "refused" if act.refused else "accepted"
        found = "accepted" if answer["ok"] else f"refused: {answer['why']}"
        yield f"{name}:{act.line}: expected `{act.text}` to be {wanted}; found it {found}"
    for table in tables:
        moment = Moment(answer, table)
        for one in act.expected:
            found = found_instead(moment, one.kind, one.words)
            if found:
                cut = "" if table is tables[0] else " after a power cut"
                yield f"{name}:{one.line}: expected {one.kind} {one.words}; found{cut} {found}"
    for table in tables[1:]:
        yield from (f"{name}:{act.line}: {lost}" for lost in lost_in_cut(tables[0], table))


def lost_in_cut(before: Json, after: Json) -> Iterator[str]:
    """What a power cut changed. Only the notice of a refusal may go from the dealer display."""
    kept = {**before, "dealer": _without_notice(before["dealer"])}
    for key, value in kept.items():
        if after[key] != value:
            yield f"expected the power cut to keep {key} {value}; found {after[key]}"


def _without_notice(lines: list[str]) -> list[str]:
    """The notice is the last thing above the word that marks a simulated table."""
    start = next((at for at, line in enumerate(lines) if line.startswith("NO: ")), None)
    return lines if start is None else [*lines[:start], lines[-1]]


def _refusal_failures(scenario: Scenario, why: str) -> Iterator[str]:
    if not scenario.refused:
        yield f"{scenario.name}: expected a good table file; it was refused: {why}"
    for words in scenario.refused:
        if words not in why:
            yield f"{scenario.name}: expected a refusal with {words!r}; found {why}"


def ledger_failures(name: str, data: Path) -> Iterator[str]:
    """Both copies of the ledger must verify from the first row on, and be the same."""
    first, second = inspect(data, None)
    for side in (first, second):
        if side.state != "good":
            yield f"{name}: expected a good ledger; {side.path} is {side.state}: {side.why}"
    if (first.rows, first.head) != (second.rows, second.head):
        yield f"{name}: expected two equal ledgers; found {first.rows} and {second.rows} rows"
