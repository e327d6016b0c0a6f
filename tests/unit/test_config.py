"""Table files: what they may say, what they are told when they say something else, defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.pack_files import load_map, load_pack, load_table, pack_ids
from controller.config import (
    KEYS,
    TableFile,
    default_table,
    table_from_document,
    table_from_toml,
)
from controller.domain.errors import BadInput
from controller.domain.money import parse_money
from controller.domain.pack import Overflow
from tests.pack_documents import mangle, put, refusal

if TYPE_CHECKING:
    from tests.pack_documents import Document

DOCS = Path(__file__).parents[2] / "docs"

SAMPLE = """
[table]
id = "T01"
seats = 6

[rules]
pack = "md-uth-a"
edition = "1.5"
wagers = ["1.00"]
adjacent_boxes = 1
envy_holder_must_wager = false
simultaneous = "in-turn"
stake_returned = false
validate = "meter"
count = "shown"
void_contributions = "reverse"
floor_may_add = false

[meters.meter]
seed = "10000.00"
initial = "10000.12345678"
rate = "0.1425"
reserve_rate = "0.037"
initial_reserve = "0.00"
limit = "50000.00"
overflow = "next"
max_contribution = "25.00"
link = "strip"

[ledger]
copy = "/mnt/copy"

[approval]
by = "A. Manager"
reference = "RS-17"
"""


def read(document: Document) -> TableFile:
    return table_from_document(document, where="table.toml", find_pack=load_pack, load_map=load_map)


def problems_of(document: Document) -> tuple[str, ...]:
    with pytest.raises(BadInput) as caught:
        read(document)
    return caught.value.problems


def minimal(pack: str, **rules: object) -> Document:
    return {"table": {"id": "T01"}, "rules": {"pack": pack, **rules}}


@pytest.mark.requirement(40)
def test_a_table_file_says_everything_about_a_table_and_its_meter() -> None:
    table = table_from_toml(SAMPLE, where="table.toml", find_pack=load_pack, load_map=load_map)
    (meter,) = table.settings.meters
    assert (meter.seed, meter.initial) == (parse_money("10000"), parse_money("10000.12345678"))
    assert (meter.rate_ppm, meter.reserve_rate_ppm) == (142_500, 37_000)
    assert (meter.limit, meter.overflow) == (parse_money("50000"), Overflow.NEXT)
    assert (meter.max_contribution, meter.link) == (parse_money("25"), "strip")
    assert table.ledger_copy == "/mnt/copy"
    assert (table.approval_by, table.approval_reference) == ("A. Manager", "RS-17")
    assert table.pack == load_pack("md-uth-a").pack
    assert table.warnings == ()


@pytest.mark.parametrize("name", pack_ids())
def test_an_id_and_a_pack_are_enough_and_start_at_the_legal_minima(name: str) -> None:
    table = read(minimal(name))
    pack_file = load_pack(name)
    pack = pack_file.pack
    assert table.settings.seats == pack.seats_max
    assert table.settings.wagers == pack_file.defaults.wagers
    assert [(m.name, m.seed, m.initial) for m in table.settings.meters] == [
        (rule.name, rule.minimum, rule.minimum) for rule in pack.meters
    ]
    assert [m.rate_ppm for m in table.settings.meters] == [r.default_rate_ppm for r in pack.meters]
    assert default_table(pack_file).settings == table.settings


def test_initial_follows_the_seed_unless_it_is_stated() -> None:
    document = minimal("md-uth-a") | {"meters": {"meter": {"seed": "12000.00"}}}
    (meter,) = read(document).settings.meters
    assert meter.initial == parse_money("12000")
    assert meter.overflow is Overflow.RESERVE


@pytest.mark.parametrize(
    ("stated", "everything", "from_amount"),
    [("meter", False, None), ("all", True, None), ("600.00", False, "600.00")],
)
def test_the_floor_validates_meter_wins_all_wins_or_wins_from_an_amount(
    stated: str, everything: bool, from_amount: str | None
) -> None:
    settings = read(minimal("md-uth-a", validate=stated)).settings
    assert settings.validate_all is everything
    assert settings.validate_from == (None if from_amount is None else parse_money(from_amount))


@pytest.mark.requirement(34)
def test_whether_the_holder_of_an_envy_hand_must_wager_is_a_setting() -> None:
    assert not read(minimal("md-uth-a")).settings.envy_holder_must_wager
    assert not read(minimal("sd-pmg-01")).settings.envy_holder_must_wager
    must = minimal("md-uth-a", envy_holder_must_wager=True)
    assert read(must).settings.envy_holder_must_wager


def test_a_maryland_table_may_offer_the_five_dollar_wager_and_south_dakota_any_that_divides() -> (
    None
):
    assert len(read(minimal("md-uth-a", wagers=["1.00", "5.00"])).settings.wagers) == 2
    assert len(read(minimal("sd-pmg-01", wagers=["0.50", "2.00"])).settings.wagers) == 2


def test_more_boxes_are_allowed_under_the_newer_edition_and_refused_under_the_older() -> None:
    assert read(minimal("md-uth-a", adjacent_boxes=3)).settings.adjacent_boxes == 3
    assert read(minimal("md-uth-a", edition="1.4")).settings.edition == "1.4"
    (problem,) = problems_of(minimal("md-uth-a", adjacent_boxes=2, edition="1.4"))
    assert problem == (
        "table.toml: rules.adjacent_boxes: found 2; allowed at most 1 under edition 1.4 (MD14 7.G)"
    )


@pytest.mark.requirement(29)
@pytest.mark.parametrize("key", ["seed", "initial"])
@pytest.mark.parametrize(
    ("pack", "meter", "below", "cite"),
    [
        ("md-uth-a", "meter", "9999.99999999", "MD 12.D(3)(b)(i)"),
        ("md-uth-b", "major", "999.99", "MD 12.D(3)(b)(ii)(1)"),
        ("md-uth-c", "minor", "249.99", "MD 12.D(3)(b)(iii)(3)"),
        ("md-uth-d", "mega", "9999.99", "MD 12.D(3)(b)(iv)(1)"),
        ("md-jh-a", "spade", "4999.99", "JH 12.E(4)(a)"),
        ("md-jh-d", "diamond", "99.99", "JH 12.E(8)(d)"),
        ("md-jh-e", "club", "249.99", "JH 12.E(10)(e)"),
    ],
)
def test_a_seed_or_initial_amount_below_the_legal_minimum_is_refused_with_its_rule(
    key: str, pack: str, meter: str, below: str, cite: str
) -> None:
    problems = problems_of(minimal(pack) | {"meters": {meter: {key: below}}})
    assert len(problems) == 1
    assert problems[0].startswith(f"table.toml: meters.{meter}.{key}: found ")
    assert problems[0].endswith(f"or more ({cite})")


@pytest.mark.requirement(22)
@pytest.mark.parametrize("pack", [name for name in pack_ids() if name.startswith("sd-")])
def test_south_dakota_never_returns_the_stake(pack: str) -> None:
    (problem,) = problems_of(minimal(pack, stake_returned=True))
    assert problem.endswith("rules.stake_returned: found true; allowed false (SD (18))")
    assert read(minimal("md-uth-a", stake_returned=True)).settings.stake_returned


def test_in_south_dakota_all_boxes_of_a_customer_stay_within_a_thousand_dollars() -> None:
    assert read(minimal("sd-uthp-01", wagers=["500.00"], adjacent_boxes=2)).settings.seats == 6
    (problem,) = problems_of(minimal("sd-uthp-01", wagers=["500.00"], adjacent_boxes=3))
    assert "at most $1,000.00 a customer, over 3 adjacent boxes (SD (1))" in problem


def test_rates_and_reserve_rates_of_all_meters_may_take_the_wager_and_no_more() -> None:
    meters = {"major": {"rate": "0.5", "reserve_rate": "0.1"}, "minor": {"rate": "0.4"}}
    whole = minimal("md-uth-b") | {"meters": meters}
    whole["meters"]["minor"]["reserve_rate"] = "0"
    assert sum(m.rate_ppm + m.reserve_rate_ppm for m in read(whole).settings.meters) == 1_000_000
    whole["meters"]["minor"]["reserve_rate"] = "0.000001"
    (problem,) = problems_of(whole)
    assert problem.startswith("table.toml: meters: found rates and reserve rates that sum to 100.0")


# What somebody puts where in the sample, and what he is told.
BROKEN: list[tuple[str, Any, str]] = [
    ("wires", {}, "wires: found an unknown key; allowed table, rules, meters, collection"),
    ("hardware", {"factory": "gpio"}, "hardware.factory: found"),
    ("timing", {"bounce_ms": 90}, "timing.bounce_ms: found 90; allowed at most half of settle_ms"),
    ("displays", {"dealer": {"rotate": 1}}, "displays.dealer.rotate: found 1; allowed 0 or 2"),
    ("software", {"sha256": "abc"}, "software.sha256: found"),
    ("house", {"deck_change_hours": 25}, "house.deck_change_hours: found 25"),
    ("table/colour", "red", "table.colour: found an unknown key; allowed id, seats"),
    ("rules/colour", "red", "rules.colour: found an unknown key; allowed pack, edition, wagers"),
    ("meters/meter/colour", "red", "meters.meter.colour: found an unknown key; allowed seed,"),
    ("table", 5, "table: found 5; allowed a table, written [table]"),
    ("table/id", "no spaces", 'table.id: found "no spaces"; allowed 1 to 32 letters'),
    ("table/id", "x" * 33, "table.id: found "),
    ("table/seats", 7, "table.seats: found 7; allowed at most 6 (MD 2.A)"),
    ("table/seats", 0, "table.seats: found 0; allowed a whole number from 1 to 10"),
    ("rules/pack", "md-uth-z", "rules.pack: found 'md-uth-z', which is no pack; allowed a path"),
    ("rules/pack", 3, "rules.pack: found 3; allowed text"),
    ("rules/edition", "1.3", 'rules.edition: found "1.3"; allowed "1.5", "1.4"'),
    ("rules/wagers", [], "rules.wagers: found []; allowed a list of different amounts"),
    ("rules/wagers", ["1.00", "1.0"], "rules.wagers: found "),
    ("rules/wagers", ["0.00"], 'rules.wagers: found ["0.00"]; allowed a list of different'),
    ("rules/wagers", ["1.005"], 'rules.wagers: found ["1.005"]; allowed a list of different'),
    ("rules/wagers", [1], "rules.wagers: found [1]; allowed a list of different"),
    ("rules/wagers", "1.00", 'rules.wagers: found "1.00"; allowed a list of different'),
    ("rules/wagers", ["2.00"], "only amounts of the pack's envy schedule: 1.00, 5.00"),
    ("rules/adjacent_boxes", 0, "rules.adjacent_boxes: found 0; allowed a whole number from 1"),
    ("rules/adjacent_boxes", 7, "rules.adjacent_boxes: found 7; allowed at most the 6 seats"),
    ("rules/simultaneous", "x", 'rules.simultaneous: found "x"; allowed "in-turn", "split", "fu'),
    ("rules/count", "x", 'rules.count: found "x"; allowed "shown", "blind", "sensor"'),
    ("rules/void_contributions", "x", 'found "x"; allowed "reverse", "keep"'),
    ("rules/validate", "some", 'rules.validate: found "some"; allowed "meter", "all" or an amou'),
    ("rules/validate", 600, "rules.validate: found 600; allowed"),
    ("rules/stake_returned", "no", 'rules.stake_returned: found "no"; allowed true or false'),
    ("rules/floor_may_add", 1, "rules.floor_may_add: found 1; allowed true or false"),
    ("meters/mega", {}, 'meters: found a meter "mega"; allowed meter'),
    ("meters/meter", [], "meters.meter: found []; allowed a table"),
    ("meters/meter/seed", 10000, "meters.meter.seed: found 10000; allowed dollars as text"),
    ("meters/meter/initial", "1e4", 'meters.meter.initial: found "1e4"; allowed dollars'),
    ("meters/meter/rate", "14.25", 'meters.meter.rate: found "14.25"; allowed a share'),
    ("meters/meter/rate", 0.1425, "meters.meter.rate: found 0.1425; allowed a share"),
    ("meters/meter/limit", "9999.00", "meters.meter.limit: found "),
    ("meters/meter/limit", "10000.00", "allowed at least the seed and the initial amount"),
    ("meters/meter/overflow", "x", 'overflow: found "x"; allowed "reserve", "next", "house"'),
    ("meters/meter/link", "a/b", 'meters.meter.link: found "a/b"; allowed 1 to 32 letters'),
    ("collection", {"fees": ["5.00"]}, 'fees: found ["5.00"]; allowed none by this pack'),
    ("collection", {"fees": "5.00"}, 'collection.fees: found "5.00"; allowed a list of amounts'),
    ("ledger/copy", 5, "ledger.copy: found 5; allowed text"),
    ("approval/by", "", 'approval.by: found ""; allowed text'),
]


@pytest.mark.parametrize(("place", "value", "told"), BROKEN)
def test_a_broken_table_file_is_refused_with_file_key_and_reason(
    place: str, value: Any, told: str
) -> None:
    document = tomllib.loads(SAMPLE)
    put(document, tuple(place.split("/")), value)
    problems = problems_of(document)
    assert all(problem.startswith("table.toml: ") for problem in problems)
    assert any(told in problem for problem in problems), problems


def test_a_table_file_without_id_and_pack_is_told_both() -> None:
    problems = problems_of({})
    assert [problem.split(";")[0] for problem in problems] == [
        "table.toml: rules.pack: found nothing",
        "table.toml: table.id: found nothing",
    ]


def test_all_problems_of_a_table_file_are_told_at_once_even_without_its_pack() -> None:
    document = tomllib.loads(SAMPLE)
    document["rules"]["pack"] = "nope"
    document["rules"]["count"] = "guess"
    document["table"]["id"] = ""
    document["meters"]["meter"]["rate"] = "2"
    document["wires"] = {}
    assert len(problems_of(document)) == 5


def test_collection_fees_are_one_for_each_band() -> None:
    document = minimal("ca-texas-holdem")
    document["collection"] = {"fees": ["5.00", "4.00", "3.00"]}
    assert [fee.payable() for fee in read(document).settings.collection_fees] == [
        "5.00",
        "4.00",
        "3.00",
    ]
    document["collection"] = {"fees": ["5.00", "4.00"]}
    (problem,) = problems_of(document)
    assert problem == (
        'table.toml: collection.fees: found ["5.00", "4.00"]; allowed one for each band of the'
        " pack: 7 or more, 5 or 6, 4 or fewer"
    )


def test_the_example_table_loads_with_the_pack_beside_it() -> None:
    table = load_table(DOCS / "examples" / "ca-table.toml")
    assert table.pack.id == "ca-royal"
    assert table.settings.seats == 10
    assert table.settings.simultaneous.value == "split"
    assert len(table.settings.collection_fees) == 3
    assert table.warnings == ()


def test_a_bad_pack_of_a_table_is_told_with_both_files(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('base = "md-uth-a"\nid = "own"\nseats_max = 99\n', "utf-8")
    path = tmp_path / "table.toml"
    path.write_text('[table]\nid = "T01"\n[rules]\npack = "own.toml"\n', "utf-8")
    with pytest.raises(BadInput) as caught:
        load_table(path)
    start = f"{path}: rules.pack: {tmp_path / 'own.toml'}: "
    assert caught.value.problems
    assert all(problem.startswith(start) for problem in caught.value.problems)


def test_a_table_file_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the file cannot be read"):
        load_table(tmp_path / "table.toml")


def test_only_a_paytable_that_returns_more_than_the_wager_brings_that_warning() -> None:
    (warning,) = read(minimal("md-jh-e")).warnings
    assert "returns 111.21 % of a $1.00 wager" in warning
    for name in pack_ids():
        if name not in {"md-jh-e", "ca-texas-holdem"}:
            assert default_table(load_pack(name)).warnings == ()


def test_the_smallest_wager_decides_the_warning() -> None:
    assert read(minimal("md-jh-e", wagers=["5.00"])).warnings == ()
    assert read(minimal("md-jh-e", wagers=["5.00", "1.00"])).warnings != ()


def test_a_seed_that_makes_the_wager_worth_more_than_it_costs_brings_the_warning() -> None:
    """By hand: (2,598,960 - 1,378,928 from the tray) over 4 royals and 3.6 tenths: $160,530.526."""
    document = minimal("md-uth-a") | {"meters": {"meter": {"seed": "160530.52"}}}
    assert read(document).warnings == ()
    document["meters"]["meter"]["seed"] = "160530.53"
    (warning,) = read(document).warnings
    assert warning.startswith("table.toml: rules.wagers: with every meter at its seed")


def test_a_pack_that_pays_nothing_brings_a_warning() -> None:
    (warning,) = read(minimal("ca-texas-holdem")).warnings
    assert warning == "table.toml: rules.pack: no line pays, so no wager can win."


@pytest.mark.requirement(40)
def test_a_sanity_bound_that_a_full_table_exceeds_brings_a_warning() -> None:
    meter = {"rate": "0.2", "reserve_rate": "0.05", "max_contribution": "1.50"}
    document = minimal("md-uth-a") | {"meters": {"meter": meter}}
    assert read(document).warnings == ()
    meter["max_contribution"] = "1.49"
    (warning,) = read(document).warnings
    assert "meters.meter.max_contribution: a full table adds $1.50" in warning


def test_the_manual_describes_every_key_and_no_other() -> None:
    described: dict[str, tuple[str, ...]] = {}
    section = ""
    for line in (DOCS / "config.md").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"## (?:\[(.*)\]|.*)", line):
            section = heading[1] or ""
        elif section and (row := re.match(r"\| `([a-z0-9_]+)` \|", line)):
            assert all(cell.strip() for cell in line.strip("|").split("|")), line
            described[section] = (*described.get(section, ()), row[1])
    assert {name: sorted(keys) for name, keys in described.items()} == {
        name: sorted(keys) for name, keys in KEYS.items()
    }


@given(data=st.data())
def test_a_mangled_table_file_is_either_good_or_refused(data: st.DataObject) -> None:
    document = tomllib.loads(SAMPLE)
    mangle(document, data)
    problems = refusal(lambda: read(document))
    assert all(problem.startswith("table.toml: ") for problem in problems)
    assert all(problem.isprintable() for problem in problems)


@given(data=st.data())
def test_a_table_file_with_mangled_text_is_either_good_or_refused(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(SAMPLE)))
    cut = data.draw(st.integers(0, 8))
    mangled = SAMPLE[:place] + data.draw(st.text(max_size=6)) + SAMPLE[place + cut :]
    problems = refusal(
        lambda: table_from_toml(mangled, where="table.toml", find_pack=load_pack, load_map=load_map)
    )
    assert all(problem.startswith("table.toml: ") for problem in problems)
