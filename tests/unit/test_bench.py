"""The simulated table and its people: script lines in, JSON objects out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.adapters.pack_files import load_map, load_pack
from controller.config import table_from_toml
from controller.domain.errors import BadInput
from controller.domain.table import Phase
from mock_gpio.bench import _DO
from mock_gpio.script import _VERBS, Step
from tests.builders import Rig, table_file


def shown(rig: Rig) -> Any:
    return rig.bench.answer(99, "show")["table"]


def refused(rig: Rig, line: str) -> str:
    answer = rig.bench.answer(1, line)
    assert answer["ok"] is False
    return str(answer["why"])


def note(rig: Rig, line: str) -> object:
    answer = rig.bench.answer(1, line)
    assert answer["ok"] is True, answer
    return answer.get("note", "")


def test_the_bench_knows_every_verb_but_the_power_cut() -> None:
    assert set(_VERBS) - set(_DO) == {"power-cut"}
    assert set(_DO) <= set(_VERBS)


def test_a_round_from_chip_to_end_answers_ok_with_the_phase() -> None:
    rig = Rig()
    answers = rig.say("chip 1", "chip 2", "lock", "count 2", "win 1 flush", "end")
    assert [answer["ok"] for answer in answers] == [True] * 6
    phases = [answer["phase"] for answer in answers]
    assert phases == ["open", "open", "locked", "in_play", "in_play", "open"]
    assert answers[0] == {"line": 1, "input": "chip 1", "ok": True, "phase": "open"}


@pytest.mark.requirement(13)
def test_a_refused_line_says_why_and_the_dealer_reads_it_until_the_next_key() -> None:
    rig = Rig()
    assert refused(rig, "end") == "END does not fit: betting is open; press LOCK first."
    assert "NO: END does not fit:" in " ".join(shown(rig)["dealer"])
    rig.say("lock")
    assert "NO:" not in " ".join(shown(rig)["dealer"])
    assert "is not an input" in refused(rig, "jump")


def test_show_prints_the_whole_table() -> None:
    rig = Rig(table_file(meters={"meter": {"rate": "0.1425", "reserve_rate": "0.037"}}))
    rig.say("chip 1", "chip 2", "lock", "count 2", "win 2 straight_flush", "win 1 flush")
    table = shown(rig)
    assert table == {
        "phase": "in_play",
        "round": 1,
        "accepted": [{"seat": 1, "amount": "1.00"}, {"seat": 2, "amount": "1.00"}],
        "lamps": {"1": "accepted", "2": "accepted"} | {str(seat): "off" for seat in (3, 4, 5, 6)},
        "meters": {
            "meter": {
                "current": "9000.26500000",
                "display": "9000.26",
                "reserve": "0.07400000",
                "held": "1000.02000000",
                "hits": 0,
                "paid": "0.00000000",
            }
        },
        "wins": [
            {
                "seat": 2,
                "hand": "straight_flush",
                "kind": "meter",
                "amount": "1000.02",
                "status": "waiting",
            },
            {"seat": 1, "hand": "flush", "kind": "odds", "amount": "40.00", "status": "keyed"},
        ],
        "envy": [{"seat": 1, "holder": 2, "hand": "straight_flush", "amount": "300.00"}],
        "due": [{"seat": 1, "amount": "40.00"}],
        "dealer": table["dealer"],
        "meter_display": ["PROGRESSIVE $9,000.26 PENDING", "SIMULATED"],
    }
    assert table["dealer"][:3] == ["T01 ROUND 1", "IN PLAY", "2 WAGERS: 1 2"]
    json.dumps(table)


def test_a_hand_keyed_for_envy_alone_is_in_envy_and_not_in_wins() -> None:
    rig = Rig()
    rig.say("chip 1", "lock", "count 1", "win 5 royal_flush")
    table = shown(rig)
    assert table["wins"] == []
    assert [(envy["seat"], envy["holder"]) for envy in table["envy"]] == [(1, 5)]


@pytest.mark.requirement(2)
def test_a_late_chip_is_recorded_and_no_wager() -> None:
    rig = Rig()
    rig.say("lock")
    assert note(rig, "chip 1") == "late chip: recorded, no wager"
    assert shown(rig)["accepted"] == []


def test_chips_that_are_no_wager_are_explained() -> None:
    rig = Rig(table_file(wagers=["1.00", "5.00"]))
    rig.say("chip 1 1.00")
    assert note(rig, "chip 1 1.00") == "a chip lies there already; seat 1 stays as it is"
    assert note(rig, "chip 1 5.00") == (
        "the seat shows another chip already; one wager per seat and round"
    )
    assert note(rig, "lift 3") == "no chip lies there"
    assert refused(rig, "chip 9") == "There is no seat 9; this table has seats 1 to 6."
    assert refused(rig, "lift 0") == "There is no seat 0; this table has seats 1 to 6."
    assert refused(rig, "chip 2 2.00") == "There is no 2.00 spot; this table takes 1.00, 5.00."
    rig.say("lift 1", "close")
    assert note(rig, "chip 2") == "the table is closed; no wager"


def test_a_chip_left_over_must_be_lifted_first() -> None:
    rig = Rig(table_file(wagers=["1.00", "5.00"]))
    rig.say("chip 2", "close", "open")
    assert note(rig, "chip 2 5.00") == (
        "the sensor must be seen empty once before it can take a wager"
    )


def test_the_dealer_collects_the_chips_of_a_proved_round() -> None:
    rig = Rig()
    rig.say("chip 1", "chip 2", "lock", "count 1")
    assert rig.covered() == (1, 2)
    rig.say("strike 2")
    assert rig.covered() == ()
    assert rig.bench.phase == "in_play"


def test_the_floor_adds_reopens_voids_and_adjusts() -> None:
    rig = Rig(table_file(floor_may_add=True))
    answers = rig.say("chip 1", "lock", "count 2", "add 2")
    assert answers[-1]["phase"] == "in_play"
    assert rig.say("void cards exposed")[0]["phase"] == "open"
    rig.say("chip 1", "lock", "count 3")
    assert rig.say("reopen")[0]["phase"] == "open"
    assert rig.covered() == (1,)
    answer, table = rig.say("adjust meter current +2.00 Flora Oscar GC-7 wrong display", "show")
    assert answer["ok"] is True
    assert table["ok"] is True
    assert shown(rig)["meters"]["meter"]["current"] == "10002.00000000"


def test_wins_are_validated_rejected_and_their_envy_paid() -> None:
    rig = Rig(table_file(adjacent_boxes=2))
    said = rig.say("tie 1 2", "chip 1", "chip 2", "chip 6", "lock", "count 3")
    said += rig.say("win 6 straight_flush", "win 2 straight_flush", "win 1 straight_flush")
    assert all(answer["ok"] for answer in said)
    assert note(rig, "validate 2") == "validated out of pay order"
    assert note(rig, "reject 1") == ""
    assert note(rig, "validate") == ""
    assert note(rig, "envy") == ""
    assert rig.say("end")[0]["phase"] == "open"


@pytest.mark.requirement(17)
def test_a_seat_keyed_after_its_turn_is_noted() -> None:
    rig = Rig()
    rig.say("chip 1", "chip 6", "lock", "count 2", "win 1 straight_flush", "validate")
    assert note(rig, "win 6 straight_flush") == "keyed after its turn: priced last"


def test_waiting_lets_simulated_time_pass_and_nothing_else() -> None:
    rig = Rig()
    before = rig.sim.now_us
    rig.say("wait 2h")
    assert 7_200_000_000 <= rig.sim.now_us - before <= 7_200_200_000


def test_a_blank_line_is_answered_and_does_nothing() -> None:
    rig = Rig()
    assert rig.bench.answer(4, "# nothing") == {
        "line": 4,
        "input": "# nothing",
        "ok": True,
        "phase": "open",
    }


def test_a_ledger_that_fails_puts_the_table_in_fault_in_every_answer() -> None:
    rig = Rig()
    rig.ledger.disk_fault = "the disk is full; call a technician"
    answer = rig.say("lock")[0]
    assert answer == {
        "line": 1,
        "input": "lock",
        "ok": False,
        "phase": "fault",
        "why": "the disk is full; call a technician",
    }


def test_what_a_power_cut_leaves_is_the_chips_and_the_time() -> None:
    rig = Rig()
    rig.say("chip 1", "chip 3")
    world = json.loads(rig.bench.world())
    chips = [[1, "1.00"], [3, "1.00"]]
    assert world == {"chips": chips, "bets": [], "now_us": rig.sim.now_us}
    assert [line.seat for line in rig.lying()] == [1, 3]


def test_a_script_starts_on_an_open_table() -> None:
    rig = Rig(opened=False)
    rig.bench.open_for_script()
    assert rig.table.phase is Phase.OPEN
    assert rig.say("close", "open")[1]["ok"] is True


@pytest.mark.parametrize("verb", ["win", "adjust"])
def test_a_step_without_what_its_verb_needs_is_refused(verb: str) -> None:
    with pytest.raises(BadInput, match="missing"):
        _DO[verb](Rig().bench, Step(verb, seats=(1,)))


@pytest.mark.parametrize("name", ["header-6", "expander-6"])
def test_a_script_plays_on_the_wires_of_a_ready_map(name: str) -> None:
    text = f'[table]\nid = "T01"\n[rules]\npack = "md-uth-a"\n[hardware]\nmap = "{name}"\n'
    file = table_from_toml(text, where="table.toml", find_pack=load_pack, load_map=load_map)
    answers = Rig(file).say("chip 1", "chip 6", "lock", "count 2", "win 6 flush", "end")
    assert [answer["phase"] for answer in answers] == [
        *["open", "open", "locked", "in_play", "in_play", "open"]
    ]
