"""A whole evening, once as it comes and once with the plug pulled after every line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controller.service import replay
from mock_gpio.play import play
from tests.fakes import FakeLedger
from tests.simulation.twin import check_both_sides, check_identity, place_in, rows_on_disk

# "!" before a line: it must be refused.
EVENING = """
chip 1
chip 2 5.00
chip 3
lift 3
!count 2
!end
lock
chip 4
lift 4
!lock
!win 1 royal_flush
!count 3
!strike 5
count 1 1.00 1 5.00
win 2 straight_flush
win 2 straight_flush
win 2 flush
win 2 straight_flush
!win 2 flush
win 1 full_house
!end
validate
envy
!envy
end
chip 1
chip 2
chip 3 5.00
chip 4 5.00
chip 5
chip 6
tie 1 2
tie 2 3
tie 3
!tie 1 4
lock
count 4 1.00 1 5.00
!add 6
strike 6
reopen
lift 5
chip 6
!reopen
lock
count 3 1.00 2 5.00
win 1 royal_flush
win 6 royal_flush
win 3 four_of_a_kind
win 4 four_of_a_kind
validate
reject 1
win 1 royal_flush
validate 3
validate
win 2 royal_flush
!void misdeal
validate
validate
!validate
tie 1 2 3
envy
!win 4 four_of_a_kind
!tie 4 5 6
tie 2
envy
end
wait 2s
close
!chip 9
!lock
!close
adjust mega current +12.34567891 ann bob R-1 found in the drop
!adjust mega current +1.00 ann ann R-2 alone
!adjust minor current +99.00 ann bob R-3 above the limit
adjust minor overflow +0.50 ann bob R-4 found
adjust minor overflow -0.25 ann bob R-5 too much
open
chip 2
chip 5 5.00
wait 500ms
lock
!count 2
strike 2
count 1
win 5 royal_flush
win 3 royal_flush
win 3 royal_flush
void wrong deck
chip 1
lock
void cards exposed
chip 6
lock
chip 3
count 1
win 6 four_of_a_kind
win 6 four_of_a_kind
win 3 straight_flush
envy
!void too late
end
chip 3
wait 61s
chip 1
lock
count 1
end
lift 3
chip 3
lock
count 1
win 3 three_of_a_kind
end
lock
count 1
count 0
end
!fly
!win 1
!void
show
chip 1
lock
add 2 5.00
count 1 1.00 1 5.00
win 2 four_of_a_kind
validate
end
close
"""

VERBS = (
    "open close chip lift lock count strike add reopen tie win validate reject envy void end"
    " adjust wait show"
)


def shown_after_each_line(folder: Path, *, cut: bool) -> list[dict[str, Any]]:
    """What `show` says after every line of the evening; `ok` is the line's own."""
    lines, answers = EVENING.split("\n")[1:-1], list[dict[str, Any]]()
    after = ["power-cut", "show"] if cut else ["show"]
    script = [step for line in lines for step in (line.removeprefix("!"), *after)]
    place = place_in(folder)
    play(place, script, lambda answer: answers.append(json.loads(answer)))
    rows, in_both = rows_on_disk(place)
    assert in_both == len(rows)
    check_both_sides(place, len(rows))
    table = replay(FakeLedger(rows))
    assert table is not None
    check_identity(table)
    steps = len(after) + 1
    pairs = zip(lines, answers[::steps], answers[steps - 1 :: steps], strict=True)
    return [{"line": line, "ok": own["ok"], **show["table"]} for line, own, show in pairs]


@pytest.mark.requirement(62)
def test_power_cuts_between_all_lines_of_an_evening_change_nothing_that_is_shown(
    tmp_path: Path,
) -> None:
    calm = shown_after_each_line(tmp_path / "calm", cut=False)
    cut = shown_after_each_line(tmp_path / "cut", cut=True)
    for straight, restarted in zip(calm, cut, strict=True):
        if straight["line"].startswith("!"):  # the reason is shown until the next key, or a cut
            del straight["dealer"], restarted["dealer"]
        assert restarted == straight


def test_the_evening_uses_every_input_and_is_refused_where_it_says(tmp_path: Path) -> None:
    calm = shown_after_each_line(tmp_path, cut=False)
    assert {step["line"].split()[0].removeprefix("!") for step in calm} >= set(VERBS.split())
    for step in calm:
        assert step["ok"] is not step["line"].startswith("!"), step["line"]
