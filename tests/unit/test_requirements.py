"""The requirements are complete, answered, and the table that says so is never out of date."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from controller.domain.errors import BadInput
from tests.requirements_table import (
    REQUIREMENTS,
    TABLE,
    Answer,
    Level,
    answer_to,
    build,
    main,
    marks_in,
    marks_under,
    parse_requirements,
)

ROOT: Final = Path(__file__).resolve().parents[2]
CAPABILITIES: Final = {
    "the table unit",
    "the hub and the link",
    "the pit in a browser",
    "reports and proofs",
}
DUE_NOW: Final = frozenset(
    {*range(2, 8), *range(13, 23), *range(26, 38), *range(40, 51), *range(62, 67), 91, 92}
)

SMALL: Final = """# Requirements

## A. Wagers

### 1. A lamp — MUST
The lamp is lit
to the end.

*Source:* MD 2.C(1);
SD (4)

### 2. A cabinet — SHOULD
It has a lock.

*Source:* derived

*Shown by:* outside software: the lock

## B. Reports

### 3. A sheet — NICE
It is printed.

*Source:* [a rule][rule]

*Planned:* reports and proofs

*Note:* In | one colour.

[rule]: https://example.org/rule
"""

ONE_MARK: Final = """import pytest

@pytest.mark.requirement({numbers})
def test_a_lamp() -> None: ...
"""


def project(folder: Path, tests: str = "", requirements: str = SMALL) -> Path:
    (folder / "docs").mkdir()
    (folder / "tests" / "unit").mkdir(parents=True)
    (folder / REQUIREMENTS).write_text(requirements, encoding="utf-8")
    (folder / "tests" / "unit" / "test_lamp.py").write_text(tests, encoding="utf-8")
    return folder


def marks(source: str) -> list[tuple[str, int]]:
    return list(marks_in(source, "tests/test_x.py"))


def row_of(table: str, number: int) -> str:
    return next(line for line in table.splitlines() if line.startswith(f"| {number} |"))


def test_the_committed_table_is_what_the_tests_and_requirements_say_today() -> None:
    assert (ROOT / TABLE).read_text(encoding="utf-8") == build(ROOT)


def test_all_hundred_requirements_are_there_each_with_title_level_and_source() -> None:
    requirements = parse_requirements((ROOT / REQUIREMENTS).read_text(encoding="utf-8"))
    assert [one.number for one in requirements] == list(range(1, 101))
    assert len({one.title for one in requirements}) == 100
    assert all(one.title and one.text and one.fields["Source"] for one in requirements)
    assert {one.level for one in requirements} == set(Level)
    assert [group[:2] for group in dict.fromkeys(one.group for one in requirements)] == [
        f"{letter}." for letter in "ABCDEFGHI"
    ]


def test_only_what_is_not_due_now_is_planned_and_for_a_capability_we_have_named() -> None:
    requirements = parse_requirements((ROOT / REQUIREMENTS).read_text(encoding="utf-8"))
    planned = {one.number: one.planned for one in requirements if one.planned}
    assert set(planned.values()) <= CAPABILITIES
    assert not DUE_NOW & set(planned)


def test_every_requirement_due_now_is_shown_by_a_test_or_a_document() -> None:
    requirements = parse_requirements((ROOT / REQUIREMENTS).read_text(encoding="utf-8"))
    marked = marks_under(ROOT, frozenset(one.number for one in requirements))
    answered = {Answer.TESTS, Answer.DOCUMENT}
    due = [one for one in requirements if one.number in DUE_NOW]
    assert [one.number for one in due if answer_to(one, marked) not in answered] == []


def test_no_requirement_is_left_without_any_answer() -> None:
    requirements = parse_requirements((ROOT / REQUIREMENTS).read_text(encoding="utf-8"))
    rest = [one for one in requirements if one.number not in DUE_NOW]
    marked = marks_under(ROOT, frozenset(one.number for one in requirements))
    assert [one.number for one in rest if answer_to(one, marked) is Answer.OPEN] == []


def test_a_requirement_is_read_with_all_its_fields() -> None:
    lamp, cabinet, sheet = parse_requirements(SMALL)
    assert (lamp.number, lamp.group, lamp.title, lamp.level) == (1, "A. Wagers", "A lamp", "MUST")
    assert lamp.text == "The lamp is lit to the end."
    assert lamp.fields == {"Source": "MD 2.C(1); SD (4)"}
    assert cabinet.shown_by == "outside software: the lock"
    assert sheet.group == "B. Reports"
    assert (sheet.planned, sheet.text) == ("reports and proofs", "It is printed.")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("— MUST", "— PERHAPS", "MUST, SHOULD or NICE"),
        ("### 2.", "### 1.", "1 stands after 1"),
        ("*Source:* derived\n", "", "requirement 2 names no source"),
        ("It has a lock.\n", "", "requirement 2 has no text"),
        ("*Planned:*", "*Plannned:*", "'Plannned'; allowed are Note, Planned, Shown by, Source"),
        ("outside software: the lock", "the lock", "give a link to a document"),
        ("## A. Wagers\n", "", "requirement 1 stands under no group"),
    ],
)
def test_a_requirement_written_wrongly_is_refused(old: str, new: str, complaint: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_requirements(SMALL.replace(old, new, 1))
    assert complaint in str(refusal.value)


def test_every_problem_of_the_list_is_named_at_once() -> None:
    wrong = SMALL.replace("— NICE", "— NEVER").replace("*Source:* derived\n", "")
    with pytest.raises(BadInput) as refusal:
        parse_requirements(wrong)
    assert len(refusal.value.problems) == 2


def test_a_mark_counts_for_the_function_the_class_or_the_module_it_stands_on() -> None:
    source = """
import pytest
from pytest import mark
requirement = pytest.mark.requirement
pytestmark = [pytest.mark.requirement(1), pytest.mark.slow]

@pytest.mark.requirement(2, 3)
def test_one() -> None: ...

@requirement(4)
async def test_two() -> None: ...

@mark.requirement(5)
class TestSeats:
    pytestmark = pytest.mark.requirement(6)
    @pytest.mark.requirement(7)
    def test_three(self) -> None: ...

@pytest.mark.parametrize("seat", [1, pytest.param(2, marks=pytest.mark.requirement(8))])
def test_four(seat: int) -> None: ...
"""
    assert marks(source) == [
        ("tests/test_x.py", 1),
        ("tests/test_x.py::test_one", 2),
        ("tests/test_x.py::test_one", 3),
        ("tests/test_x.py::test_two", 4),
        ("tests/test_x.py::TestSeats", 5),
        ("tests/test_x.py::TestSeats", 6),
        ("tests/test_x.py::TestSeats::test_three", 7),
        ("tests/test_x.py::test_four", 8),
    ]


def test_a_mark_without_a_test_under_it_shows_nothing() -> None:
    source = """
import pytest
pytestmark = pytest.mark.requirement(1)

@pytest.mark.requirement(2)
def helper() -> None: ...

@pytest.mark.requirement(3)
class TestNothing: ...
"""
    assert marks(source) == []


@pytest.mark.parametrize("numbers", ["", "*MANY", "'29'", "True", "29, LAST"])
def test_a_mark_that_cannot_be_read_as_plain_numbers_is_refused(numbers: str) -> None:
    with pytest.raises(BadInput, match="line 3 needs plain numbers"):
        marks(ONE_MARK.format(numbers=numbers))


def test_a_mark_without_parentheses_is_refused() -> None:
    with pytest.raises(BadInput, match="needs plain numbers"):
        marks(ONE_MARK.replace("({numbers})", ""))


def test_a_test_marked_with_an_unknown_number_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path, ONE_MARK.format(numbers="1, 4"))
    with pytest.raises(BadInput) as refusal:
        build(root)
    assert refusal.value.problems == (
        "tests/unit/test_lamp.py::test_a_lamp is marked 4; "
        "docs/requirements.md has no such number.",
    )


def test_a_test_file_that_is_not_python_is_refused_beside_other_problems(tmp_path: Path) -> None:
    root = project(tmp_path, "def test_(:")
    (root / "tests" / "test_a.py").write_text(ONE_MARK.format(numbers="9"), encoding="utf-8")
    with pytest.raises(BadInput) as refusal:
        build(root)
    assert len(refusal.value.problems) == 2


def test_a_document_that_does_not_exist_answers_nothing(tmp_path: Path) -> None:
    linked = SMALL.replace("outside software: the lock", "[locks](locks.md#keys)")
    root = project(tmp_path, requirements=linked)
    with pytest.raises(BadInput, match=r"requirement 2 points to locks\.md"):
        build(root)
    (root / "docs" / "locks.md").write_text("# Locks", encoding="utf-8")
    assert row_of(build(root), 2) == "| 2 | A cabinet | SHOULD | [locks](locks.md#keys) |"
    assert "| SHOULD | 0 | 1 | 0 | 0 | 0 | 1 |" in build(root)


def test_the_table_says_what_answers_each_requirement(tmp_path: Path) -> None:
    table = build(project(tmp_path))
    assert row_of(table, 1) == "| 1 | A lamp | MUST | **due, not shown** |"
    assert row_of(table, 2) == "| 2 | A cabinet | SHOULD | outside software: the lock |"
    assert row_of(table, 3) == (
        "| 3 | A sheet | NICE | not yet built (planned: reports and proofs)"
        r"<br>*Note:* In \| one colour. |"
    )
    assert "| all | 0 | 0 | 1 | 1 | 1 | 3 |" in table


def test_a_planned_requirement_counts_as_built_once_a_test_shows_it(tmp_path: Path) -> None:
    table = build(project(tmp_path, ONE_MARK.format(numbers="3, 1, 3")))
    link = "[`unit/test_lamp.py::test_a_lamp`](../tests/unit/test_lamp.py)"
    assert row_of(table, 1) == f"| 1 | A lamp | MUST | {link} |"
    assert "planned" not in row_of(table, 3)
    assert row_of(table, 3).count(link) == 1
    assert "| all | 2 | 0 | 1 | 0 | 0 | 3 |" in table


def test_a_stale_table_is_noticed_and_writing_it_mends_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path)
    assert main(["--check"], root) == 1
    assert "is stale" in capsys.readouterr().err
    assert main([], root) == 0
    assert main(["--check"], root) == 0
    (root / "tests" / "unit" / "test_lamp.py").write_text(ONE_MARK.format(numbers=1))
    assert main(["--check"], root) == 1


def test_a_refused_table_leaves_the_old_one_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path, ONE_MARK.format(numbers=77))
    (root / TABLE).write_text("old", encoding="utf-8")
    assert main([], root) == 2
    assert "has no such number" in capsys.readouterr().err
    assert (root / TABLE).read_text(encoding="utf-8") == "old"
