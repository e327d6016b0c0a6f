"""The scenario runner can fail: each kind of expectation, each way a scenario can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.domain.errors import BadInput
from tests.scenarios.expect import KINDS
from tests.scenarios.runner import Mode, failures, ledger_failures, lost_in_cut
from tests.scenarios.script import Scenario, parse

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

HEAD = """pack md-uth-a
set rules.wagers ["1.00", "5.00"]
set meters.meter.rate 0.1425
set meters.meter.reserve_rate 0.037
"""
PLAY = """chip 2 1.00
chip 5 5.00
lock
count 1 1.00 1 5.00
win 5 straight_flush
"""


def _after_play(expectation: str, *, last: str = "") -> Scenario:
    return parse(f"{HEAD}{PLAY}{last}> {expectation}\n", name="some.txt")


# The round above: 10000 + 6 x 0.1425 = 10000.855, of which the 10 % are 1000.08.
TRUE_AND_FALSE = [
    ("phase in_play", "phase open"),
    ("round 1", "round 2"),
    ("accepted 2:1.00 5:5.00", "accepted 2:1.00"),
    ("lamps 2 5", "lamps 2"),
    ("seen none", "seen 2"),
    ("meter meter current 9000.775 reserve 0.222", "meter meter current 9000.775 reserve 0.223"),
    ("meter meter display 9000.77 hits 0", "meter meter display 9000.78 hits 0"),
    ("meter meter held 1000.08 hits 0", "meter meter held 1000.08 hits 1"),
    ("wins 5:straight_flush:meter:1000.08:waiting", "wins 5:straight_flush:meter:1000.08:paid"),
    ("envy 2<5:straight_flush:300.00", "envy 2<5:straight_flush:1500.00"),
    ("due none", "due 5:1000.08"),
    ("note none", "note keyed after its turn"),
    ("dealer $1,000.08 CALL FLOOR", "dealer PAY $1,000.08"),
    ("hidden MISCOUNT", "hidden CALL FLOOR"),
    ("shown PROGRESSIVE $9,000.77 PENDING", "shown PROGRESSIVE $9,000.78"),
]


@pytest.mark.parametrize(("true", "false"), TRUE_AND_FALSE)
def test_what_is_true_passes_and_what_is_false_is_reported_with_its_line(
    true: str, false: str, tmp_path: Path
) -> None:
    assert failures(_after_play(true), _folder(tmp_path, "true"), Mode.STRAIGHT) == []
    (failed,) = failures(_after_play(false), _folder(tmp_path, "false"), Mode.STRAIGHT)
    assert failed.startswith(f"some.txt:10: expected {false}; found ")


def _folder(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def test_every_kind_of_expectation_is_shown_to_fail() -> None:
    assert {false.split()[0] for _, false in TRUE_AND_FALSE} | {"why"} == set(KINDS)


def test_another_reason_than_the_one_expected_is_reported(tmp_path: Path) -> None:
    scenario = _after_play("why no such seat", last="! end\n")
    (failed,) = failures(scenario, tmp_path, Mode.STRAIGHT)
    assert "some.txt:11: expected why no such seat; found Seat 5 waits for the floor" in failed


@pytest.mark.parametrize("last", ["! validate\n", "end\n"])
def test_an_input_accepted_or_refused_against_the_scenario_is_reported(
    last: str, tmp_path: Path
) -> None:
    (failed,) = failures(_after_play("phase in_play", last=last), tmp_path, Mode.STRAIGHT)
    assert failed.startswith("some.txt:10: expected `")


def test_a_false_expectation_is_reported_before_and_after_the_power_cut(tmp_path: Path) -> None:
    failed = failures(_after_play("phase open"), tmp_path, Mode.POWER_CUTS)
    assert [("after a power cut" in each) for each in failed] == [False, True]


def test_a_power_cut_may_clear_the_notice_of_a_refusal_and_nothing_else() -> None:
    before = {"phase": "open", "dealer": ["T01", "BETS OPEN", "NO: It does", "not fit.", "SIM"]}
    after = {"phase": "open", "dealer": ["T01", "BETS OPEN", "SIM"]}
    assert list(lost_in_cut(before, after)) == []
    assert list(lost_in_cut(before, {**after, "phase": "closed"})) == [
        "expected the power cut to keep phase open; found closed"
    ]
    assert list(lost_in_cut(before, {**after, "dealer": ["T01", "SIM"]}))


def test_a_damaged_or_missing_copy_of_the_ledger_is_reported(tmp_path: Path) -> None:
    assert failures(_after_play("phase in_play"), tmp_path, Mode.STRAIGHT) == []
    data = tmp_path / "data"
    assert list(ledger_failures("some.txt", data)) == []
    (data / "copy" / "ledger.sqlite").unlink()
    missing, unequal = ledger_failures("some.txt", data)
    assert "is missing" in missing
    assert "expected two equal ledgers" in unequal


def test_a_table_file_refused_or_accepted_against_the_scenario_is_reported(tmp_path: Path) -> None:
    good = parse(f"{HEAD}refused meters\n", name="good.txt")
    bad = parse("pack md-uth-a\nset table.seats 7\nrefused at most 5\n", name="bad.txt")
    played = parse("pack md-uth-a\nset table.seats 7\nlock\n> phase locked\n", name="played.txt")
    found = [failures(each, tmp_path, Mode.STRAIGHT) for each in (good, bad, played)]
    assert ["it was accepted" in found[0][0], "at most 6" in found[1][0]] == [True, True]
    assert "expected a good table file" in found[2][0]


def test_every_unusable_line_of_a_scenario_is_reported_at_once() -> None:
    text = """> phase open
requirement twelve
set seats 6
pack
chip 1
> colour red
> phase
pack md-uth-a
"""
    with pytest.raises(BadInput) as caught:
        parse(text, name="bad.txt")
    places = [problem.split(": ")[0] for problem in caught.value.problems]
    assert places == [*(f"bad.txt:{line}" for line in (1, 2, 3, 4, 6, 7, 8)), "bad.txt", "bad.txt"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pack md-uth-a\nlock\n", "no expectation"),
        ("pack md-uth-a\n", "neither of `refused` and inputs"),
        ("pack a\nrefused x\nlock\n> phase open\n", "both or neither of `refused` and inputs"),
        ("pack a\ntable b\nlock\n> phase open\n", "both or neither of `pack` and `table`"),
        ("table b\nset table.seats 6\nlock\n> phase open\n", "`set` beside `table`"),
    ],
)
def test_a_scenario_that_could_not_fail_or_contradicts_itself_is_refused(
    text: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        parse(text, name="bad.txt")
