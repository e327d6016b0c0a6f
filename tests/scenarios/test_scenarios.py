"""Plays every scenario file of this folder, straight and with the plug pulled after every line.

A file and its requirement numbers stand here a second time because marks are read from the
source; a test below holds the two together.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.adapters.pack_files import load_pack, pack_ids
from tests.scenarios.runner import Mode, failures
from tests.scenarios.script import FOLDER, names, read


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # workers have a thread
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("adjustments", marks=pytest.mark.requirement(49, 50)),
        pytest.param("any-order-same-prices", marks=pytest.mark.requirement(15, 17, 26)),
        pytest.param("board-royal-full", marks=pytest.mark.requirement(27, 28, 36)),
        pytest.param("board-royal-in-turn", marks=pytest.mark.requirement(17, 26, 27, 28, 33, 36)),
        pytest.param("board-royal-split", marks=pytest.mark.requirement(27, 28, 36)),
        pytest.param("board-straight-flush-full", marks=pytest.mark.requirement(27, 36)),
        pytest.param(
            "board-straight-flush-in-turn", marks=pytest.mark.requirement(17, 26, 32, 33, 36)
        ),
        pytest.param("board-straight-flush-split", marks=pytest.mark.requirement(27, 36)),
        pytest.param("ca-royal-jackpot", marks=pytest.mark.requirement(27, 28)),
        "ca-texas-holdem-plain",
        "close-and-open",
        pytest.param("edition-1-4-no-ties", marks=pytest.mark.requirement(35)),
        pytest.param("end-guards", marks=pytest.mark.requirement(13, 16, 20)),
        pytest.param("envy-holder-must-wager", marks=pytest.mark.requirement(14, 34)),
        pytest.param("envy-holder-without-wager", marks=pytest.mark.requirement(14, 34)),
        pytest.param("envy-tied-seats", marks=pytest.mark.requirement(35)),
        pytest.param("envy", marks=pytest.mark.requirement(7, 13, 30, 33)),
        pytest.param("highest-hand-only", marks=pytest.mark.requirement(14, 18)),
        pytest.param("keyed-after-its-turn", marks=pytest.mark.requirement(17)),
        pytest.param("late-chip", marks=pytest.mark.requirement(2, 3)),
        pytest.param("limit-after-take-off", marks=pytest.mark.requirement(15, 45, 50)),
        pytest.param("limit-overflow-house", marks=pytest.mark.requirement(45)),
        pytest.param("limit-overflow-next", marks=pytest.mark.requirement(45)),
        pytest.param("limit-overflow-reserve", marks=pytest.mark.requirement(45)),
        pytest.param("miscount-blind", marks=pytest.mark.requirement(6, 25)),
        pytest.param("miscount-floor-may-add", marks=pytest.mark.requirement(6)),
        pytest.param("miscount-floor-may-not-add", marks=pytest.mark.requirement(6)),
        pytest.param("miscount-recount", marks=pytest.mark.requirement(5, 6, 13)),
        pytest.param("miscount-reopen", marks=pytest.mark.requirement(6)),
        pytest.param("miscount-strike", marks=pytest.mark.requirement(6)),
        pytest.param("mixed-wagers", marks=pytest.mark.requirement(5, 7)),
        pytest.param("pack-md-jh-a", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-md-jh-b", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-md-jh-c", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-md-jh-d", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-md-jh-e", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-md-uth-a", marks=pytest.mark.requirement(7, 26, 28, 30, 33)),
        pytest.param("pack-md-uth-b", marks=pytest.mark.requirement(7, 22, 26, 28, 30, 33)),
        pytest.param("pack-md-uth-c", marks=pytest.mark.requirement(7, 22, 26, 28, 30, 33)),
        pytest.param("pack-md-uth-d", marks=pytest.mark.requirement(7, 22, 26, 28, 30, 33)),
        pytest.param("pack-sd-pmg-01", marks=pytest.mark.requirement(7, 22, 26, 28, 30, 33)),
        pytest.param("pack-sd-pmg-02", marks=pytest.mark.requirement(7, 22, 26, 28, 30, 33)),
        pytest.param("pack-sd-uthp-01", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("pack-sd-uthp-02", marks=pytest.mark.requirement(7, 22, 26, 28, 30)),
        pytest.param("past-turn-priced-anew", marks=pytest.mark.requirement(17, 26)),
        pytest.param("power-cut", marks=pytest.mark.requirement(62)),
        pytest.param("refused-club-below-minimum", marks=pytest.mark.requirement(29)),
        pytest.param("refused-edition-1-4-with-boxes", marks=pytest.mark.requirement(35)),
        pytest.param("refused-limit-below-meter", marks=pytest.mark.requirement(45)),
        "refused-rates-above-the-wager",
        pytest.param("refused-seed-below-minimum", marks=pytest.mark.requirement(29)),
        "refused-south-dakota-bet-limit",
        pytest.param("refused-south-dakota-stake", marks=pytest.mark.requirement(22)),
        "refused-ten-seats",
        pytest.param(
            "reject-after-a-later-seat-was-paid", marks=pytest.mark.requirement(15, 17, 50)
        ),
        pytest.param(
            "royal-remainder-and-reserve", marks=pytest.mark.requirement(16, 20, 28, 31, 32, 44)
        ),
        pytest.param("sanity-bound", marks=pytest.mark.requirement(10)),
        pytest.param("sd-pmg-holder-without-wager", marks=pytest.mark.requirement(33, 34)),
        pytest.param("sd-uthp-01-which-royal", marks=pytest.mark.requirement(26, 27, 28, 30, 36)),
        pytest.param("stake-returned-for-one", marks=pytest.mark.requirement(22)),
        pytest.param("stake-returned-to-one", marks=pytest.mark.requirement(22)),
        pytest.param("straight-flush-ten-percent", marks=pytest.mark.requirement(7, 26, 30, 32)),
        "stuck-sensor",
        pytest.param("take-off-after-a-later-seat-was-paid", marks=pytest.mark.requirement(15, 17)),
        pytest.param("take-off", marks=pytest.mark.requirement(15)),
        pytest.param("validate-all", marks=pytest.mark.requirement(16)),
        pytest.param("validate-amount", marks=pytest.mark.requirement(16)),
        pytest.param("validate-meter", marks=pytest.mark.requirement(16, 30)),
        pytest.param("void-after-proof", marks=pytest.mark.requirement(21, 50)),
        pytest.param("void-before-count", marks=pytest.mark.requirement(21)),
        pytest.param("void-keeps-contributions", marks=pytest.mark.requirement(21, 50)),
        pytest.param("void-refused-after-envy", marks=pytest.mark.requirement(21)),
    ],
)
def test_the_table_does_what_the_scenario_says(name: str, mode: Mode, tmp_path: Path) -> None:
    scenario = read(FOLDER / f"{name}.txt")
    assert not (failed := failures(scenario, tmp_path, mode)), "\n".join(failed)


def _listed_above() -> dict[str, tuple[int, ...]]:
    """The names and numbers in the list of the test above."""
    marks = getattr(test_the_table_does_what_the_scenario_says, "pytestmark", [])
    found: dict[str, tuple[int, ...]] = {}
    for one in next(mark.args[1] for mark in marks if mark.args[0] == "name"):
        name, given = (one, ()) if isinstance(one, str) else (one.values[0], one.marks)
        found[name] = tuple(number for mark in given for number in mark.args)
    return found


def test_every_scenario_file_is_played_under_its_own_requirement_numbers() -> None:
    written = {name: read(FOLDER / f"{name}.txt").requirements for name in names()}
    assert _listed_above() == written


def test_every_line_of_every_pack_is_paid_in_some_scenario() -> None:
    paid = {
        (scenario.pack, win.split(":")[1])
        for scenario in (read(FOLDER / f"{name}.txt") for name in names())
        for act in scenario.acts
        for one in act.expected
        if one.kind == "wins" and one.words != "none"
        for win in one.words.split()
    }
    lines = {(name, pay.hand.value) for name in pack_ids() for pay in load_pack(name).pack.pays}
    assert len(pack_ids()) == 14
    assert lines <= paid
