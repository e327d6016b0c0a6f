"""Builds docs/requirements-table.md from docs/requirements.md and the marks in the tests.

Run it from the project root: `python tests/requirements_table.py` writes the table, with `--check`
it only says whether the table is stale. It reads the tests as text: it may not import or run them.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from controller.domain.errors import BadInput

REQUIREMENTS: Final = "docs/requirements.md"
TABLE: Final = "docs/requirements-table.md"
OUTSIDE: Final = "outside software:"

_HEADING: Final = re.compile(r"### (\d+)\. (.+) — (MUST|SHOULD|NICE)")
_FIELD: Final = re.compile(r"\*(\w[\w ]*):\*\s+(.*)", re.DOTALL)
_LINK: Final = re.compile(r"\[[^\]]+\]\(([^)#]+)(?:#[^)]*)?\)")
_DEFINITION: Final = re.compile(r"\[[^\]]+\]: \S+")
_FIELDS: Final = frozenset({"Source", "Planned", "Shown by", "Note"})

Marked = Mapping[int, tuple[str, ...]]
TestFunction = ast.FunctionDef | ast.AsyncFunctionDef


class Level(StrEnum):
    """How firmly a requirement is asked for."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    NICE = "NICE"


class Answer(StrEnum):
    """What answers a requirement today; the values head the columns of the summary."""

    TESTS = "tests"
    DOCUMENT = "document"
    OUTSIDE = "outside software"
    PLANNED = "not yet built"
    OPEN = "due, not shown"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One numbered line of docs/requirements.md."""

    number: int
    group: str
    title: str
    level: Level
    text: str
    fields: Mapping[str, str]

    @property
    def shown_by(self) -> str:
        return self.fields.get("Shown by", "")

    @property
    def planned(self) -> str:
        return self.fields.get("Planned", "")

    def documents(self) -> list[str]:
        return _LINK.findall(self.shown_by)


def parse_requirements(text: str) -> tuple[Requirement, ...]:
    """Read the numbered list; every problem in it is reported at once."""
    found: list[Requirement] = []
    problems: list[str] = []
    group = ""
    for part in re.split(r"^(?=##)", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        match = _HEADING.fullmatch(heading.strip())
        if match is not None:
            found.append(_requirement(match, group, body))
        elif heading.startswith("## "):
            group = heading.removeprefix("## ").strip()
        else:
            problems.append(
                f'{REQUIREMENTS}: the heading "{heading}" is not "### NUMBER. TITLE — LEVEL" '
                "with the level MUST, SHOULD or NICE."
            )
    problems += [problem for one in found for problem in _problems_of(one)]
    problems += _problems_of_order([one.number for one in found])
    if problems:
        raise BadInput(*problems)
    return tuple(found)


def _requirement(heading: re.Match[str], group: str, body: str) -> Requirement:
    fields: dict[str, str] = {}
    plain: list[str] = []
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        line = " ".join(paragraph.split())
        field = _FIELD.fullmatch(line)
        if field is not None:
            fields[field[1]] = field[2]
        elif _DEFINITION.match(line) is None:
            plain.append(line)
    text = " ".join(plain)
    return Requirement(int(heading[1]), group, heading[2], Level(heading[3]), text, fields)


def _problems_of(one: Requirement) -> Iterator[str]:
    where = f"{REQUIREMENTS}: requirement {one.number}"
    if not one.group:
        yield f'{where} stands under no group; put it below a heading such as "## A. Seat wagers".'
    if not one.text:
        yield f"{where} has no text; say what is required."
    if not one.fields.get("Source"):
        yield f"{where} names no source; add a *Source:* paragraph."
    for name in sorted(set(one.fields) - _FIELDS):
        yield f"{where} has the field {name!r}; allowed are {', '.join(sorted(_FIELDS))}."
    if one.shown_by and not one.shown_by.startswith(OUTSIDE) and not one.documents():
        yield f'{where} is shown by {one.shown_by!r}; give a link to a document or "{OUTSIDE} …".'


def _problems_of_order(numbers: Sequence[int]) -> Iterator[str]:
    for before, number in pairwise(numbers):
        if number <= before:
            yield f"{REQUIREMENTS}: {number} stands after {before}; each comes once, in order."


def marks_in(source: str, path: str) -> Iterator[tuple[str, int]]:
    """Each place in a test file that carries a requirement mark, with the number.

    A mark on a module or a class counts for the whole of it, provided there is a test in it.
    """
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise BadInput(f"{path}: line {error.lineno} is not Python, so no mark is read.") from error
    yield from _marks_of_body(module, path, path)


def _marks_of_body(
    holder: ast.Module | ast.ClassDef, name: str, path: str
) -> Iterator[tuple[str, int]]:
    if any(_is_test(node) for node in ast.walk(holder)):
        for node in holder.body:
            if _is_pytestmark(node):
                yield from ((name, number) for number in _numbers_in(node, path))
    for node in holder.body:
        if isinstance(node, ast.ClassDef):
            yield from _marks_of_class(node, f"{name}::{node.name}", path)
        elif isinstance(node, TestFunction) and _is_test(node):
            for decorator in node.decorator_list:
                for number in _numbers_in(decorator, path):
                    yield f"{name}::{node.name}", number


def _marks_of_class(node: ast.ClassDef, name: str, path: str) -> Iterator[tuple[str, int]]:
    if any(_is_test(inner) for inner in ast.walk(node)):
        for decorator in node.decorator_list:
            yield from ((name, number) for number in _numbers_in(decorator, path))
    yield from _marks_of_body(node, name, path)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, TestFunction) and node.name.startswith("test_")


def _is_pytestmark(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign):
        targets: list[ast.expr] = [node.target]
    else:
        targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets)


def _numbers_in(node: ast.AST, path: str) -> Iterator[int]:
    """Numbers of every requirement mark within, those inside a parametrize included."""
    called = {id(call.func): call for call in ast.walk(node) if isinstance(call, ast.Call)}
    for name in ast.walk(node):
        if not _names_requirement(name):
            continue
        call = called.get(id(name))
        values = [getattr(arg, "value", None) for arg in call.args] if call else []
        if not values or any(type(value) is not int for value in values):
            line = getattr(name, "lineno", 0)
            raise BadInput(
                f"{path}: the mark on line {line} needs plain numbers, such as (29, 40)."
            )
        yield from (value for value in values if isinstance(value, int))


def _names_requirement(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "requirement"
    return isinstance(node, ast.Name) and node.id == "requirement"


def marks_under(root: Path, known: frozenset[int]) -> Marked:
    """The tests that show each number. A number that the list does not have is refused."""
    shown: dict[int, list[str]] = {}
    problems: list[str] = []
    for path in sorted((root / "tests").rglob("test_*.py"), key=lambda path: path.as_posix()):
        name = path.relative_to(root).as_posix()
        try:
            marks = list(marks_in(path.read_text(encoding="utf-8"), name))
        except BadInput as error:
            problems += error.problems
            continue
        for place, number in marks:
            if number not in known:
                problems.append(f"{place} is marked {number}; {REQUIREMENTS} has no such number.")
            elif place not in shown.setdefault(number, []):
                shown[number].append(place)
    if problems:
        raise BadInput(*problems)
    return {number: tuple(places) for number, places in shown.items()}


def answer_to(one: Requirement, marked: Marked) -> Answer:
    if marked.get(one.number):
        return Answer.TESTS
    if one.planned:
        return Answer.PLANNED
    if one.documents():
        return Answer.DOCUMENT
    return Answer.OUTSIDE if one.shown_by else Answer.OPEN


def render(requirements: Sequence[Requirement], marked: Marked) -> str:
    """The table as Markdown; the same input always gives the same text."""
    lines = [
        "# Requirements and what answers them",
        "",
        "Generated by `python tests/requirements_table.py`; do not edit. The requirements and",
        "their sources are in [requirements.md](requirements.md). Nothing here claims compliance.",
        "",
        *_summary(requirements, marked),
    ]
    for group in dict.fromkeys(one.group for one in requirements):
        lines += [
            "",
            f"## {group}",
            "",
            "| no. | requirement | level | shown by |",
            "|--:|---|---|---|",
        ]
        lines += [_row(one, marked) for one in requirements if one.group == group]
    return "\n".join(lines) + "\n"


def _summary(requirements: Sequence[Requirement], marked: Marked) -> Iterator[str]:
    yield "| level | " + " | ".join(Answer) + " | all |"
    yield "|---|" + "--:|" * (len(Answer) + 1)
    for name, levels in [*((level.value, {level}) for level in Level), ("all", set(Level))]:
        answers = [answer_to(one, marked) for one in requirements if one.level in levels]
        counts = [str(answers.count(answer)) for answer in Answer]
        yield f"| {name} | {' | '.join(counts)} | {len(answers)} |"


def _row(one: Requirement, marked: Marked) -> str:
    cell = [_test_link(place) for place in marked.get(one.number, ())]
    cell += [one.shown_by] if one.shown_by else []
    match answer_to(one, marked):
        case Answer.PLANNED:
            cell.append(f"not yet built (planned: {one.planned})")
        case Answer.OPEN:
            cell.append("**due, not shown**")
        case _:
            pass
    cell += [f"*Note:* {one.fields['Note']}"] if "Note" in one.fields else []
    shown = "<br>".join(cell).replace("|", r"\|")
    return f"| {one.number} | {one.title} | {one.level} | {shown} |"


def _test_link(place: str) -> str:
    return f"[`{place.removeprefix('tests/')}`](../{place.partition('::')[0]})"


def build(root: Path) -> str:
    """The whole table for the project at root. Raises BadInput with every problem found."""
    requirements = parse_requirements((root / REQUIREMENTS).read_text(encoding="utf-8"))
    problems = [
        f"{REQUIREMENTS}: requirement {one.number} points to {name}, which does not exist."
        for one in requirements
        for name in one.documents()
        if not (root / "docs" / name).exists()
    ]
    try:
        marked = marks_under(root, frozenset(one.number for one in requirements))
    except BadInput as error:
        problems += error.problems
    if problems:
        raise BadInput(*problems)
    return render(requirements, marked)


def is_stale(root: Path) -> bool:
    table = root / TABLE
    return not table.exists() or table.read_text(encoding="utf-8") != build(root)


def main(arguments: Sequence[str] | None = None, root: Path | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes docs/requirements-table.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    checking = parser.parse_args(arguments).check
    root = root or Path(__file__).resolve().parent.parent
    try:
        if not checking:
            (root / TABLE).write_text(build(root), encoding="utf-8")
        elif is_stale(root):
            sys.stderr.write(f"{TABLE} is stale; run `python tests/requirements_table.py`.\n")
            return 1
    except BadInput as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
