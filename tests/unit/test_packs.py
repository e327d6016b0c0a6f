"""The fourteen packs against the rule texts, their fingerprints, and packs that build on them."""

from __future__ import annotations

import copy
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from controller.adapters.pack_files import PACKS, list_heads, load_pack, pack_ids
from controller.domain.errors import BadInput
from controller.domain.money import parse_money, show_rate
from controller.domain.odds import line_counts
from controller.domain.pack import Hand, MeterPay, OddsPay, Pay
from controller.domain.returns import fixed_return, own_return
from controller.packfile import pack_from_document, pack_from_toml
from tests.pack_documents import Document, at, document_of, leaves, problems_of, put

DOCS = Path(__file__).parents[2] / "docs"

# Read off the rule texts again, apart from the pack files. A share is written METER@PERCENT.
# RF royal flush, RFD of diamonds, RF5 in the first five cards, RFC on the board;
# t is "to 1", f is "for 1".
GOLDEN = """
md-uth-a  RF meter@100, SF meter@10, 4K 300t, FH 50t, FL 40t, ST 30t, 3K 9t | meter 10000
md-uth-b  RF major@100, SF minor@100, 4K 300f, FH 50f, FL 40f, ST 30f, 3K 9f | major 1000, minor 250
md-uth-c  RF mega@100, SF major@100, 4K minor@100, FH 50f, FL 40f, ST 30f, 3K 10f \
 | mega 10000, major 1000, minor 250
md-uth-d  RF mega@100, SF major@100, 4K minor@100, FH 50f, FL 40f, ST 30f, 3K 9f \
 | mega 10000, major 1000, minor 250
md-jh-a  RFD star@100, RF spade@100, SF heart@100, 4K diamond@100, FH 50f, FL 30f, ST 20f, 3K 10f, \
2P 4f | star 10000, spade 5000, heart 1000, diamond 500
md-jh-b  RFD star@100, RF star@100, SF spade@100, 4K heart@100, FH diamond@100, FL 30f, ST 20f, \
3K 10f, 2P 4f | star 10000, spade 1000, heart 500, diamond 100
md-jh-c  RFD star@100, RF spade@100, SF heart@100, 4K diamond@100, FH 60f, FL 40f, ST 30f, 3K 15f \
 | star 10000, spade 5000, heart 1000, diamond 500
md-jh-d  RFD star@100, RF star@100, SF spade@100, 4K heart@100, FH diamond@100, FL 50f, ST 30f, \
3K 15f | star 10000, spade 1000, heart 500, diamond 100
md-jh-e  RFD star@100, RF spade@100, SF heart@100, 4K diamond@100, FH club@100, FL 50f, ST 30f, \
3K 10f | star 10000, spade 10000, heart 5000, diamond 1000, club 250
sd-uthp-01  RFC 3000t, RF5 meter@100, RF meter@5, SF 250f, 4K 100f, FH 10f | meter 0
sd-uthp-02  RFC 1000t, RF meter@100, SF 250f, 4K 75f, FH 10f | meter 0
sd-pmg-01  RF meter@100, SF meter@10, 4K 300f, FH 50f, FL 40f, ST 30f, 3K 9f | meter 0
sd-pmg-02  RF meter@100, SF meter@10, 4K 300f, FH 50f, FL 40f, ST 30f, 3K 9f | meter 0
ca-texas-holdem |
"""
SHORT = {
    "RFD": "royal_flush_diamonds",
    "RF5": "royal_flush_first_five",
    "RFC": "community_royal_flush",
    "RF": "royal_flush",
    "SF": "straight_flush",
    "4K": "four_of_a_kind",
    "FH": "full_house",
    "FL": "flush",
    "ST": "straight",
    "3K": "three_of_a_kind",
    "2P": "two_pair",
}
MARYLAND_ENVY = {("1.00", "RF"): "1000.00", ("1.00", "SF"): "300.00"} | {
    ("5.00", "RF"): "5000.00",
    ("5.00", "SF"): "1500.00",
}
ENVY = {f"md-uth-{letter}": MARYLAND_ENVY for letter in "abcd"} | {
    "sd-pmg-01": {("1.00", "RF"): "1000.00", ("1.00", "SF"): "300.00"},
    "sd-pmg-02": {("5.00", "RF"): "5000.00", ("5.00", "SF"): "1500.00"},
}


def _golden() -> dict[str, tuple[list[str], dict[str, str]]]:
    found = {}
    for line in GOLDEN.strip().splitlines():
        name, _, rest = line.partition(" ")
        pays, _, meters = rest.partition("|")
        minima = dict(part.split() for part in meters.split(",") if part.strip())
        found[name] = ([part.strip() for part in pays.split(",") if part.strip()], minima)
    return found


def _short(pay: Pay) -> str:
    hand = next(short for short, name in SHORT.items() if name == pay.hand.value)
    if isinstance(pay, MeterPay):
        return f"{hand} {pay.meter}@{pay.percent}"
    assert isinstance(pay, OddsPay)
    return f"{hand} {pay.multiplier}{pay.style.value[0]}"


def test_the_program_comes_with_the_fourteen_packs_of_the_rule_texts() -> None:
    assert pack_ids() == sorted(_golden())


@pytest.mark.requirement(22)
@pytest.mark.parametrize("name", sorted(_golden()))
def test_a_pack_pays_what_the_rule_text_says_in_the_order_of_testing(name: str) -> None:
    pays, minima = _golden()[name]
    pack = load_pack(name).pack
    assert [_short(pay) for pay in pack.pays] == pays
    assert {meter.name: meter.minimum for meter in pack.meters} == {
        meter: parse_money(amount) for meter, amount in minima.items()
    }


@pytest.mark.parametrize("name", sorted(_golden()))
def test_a_pack_pays_the_envy_of_the_rule_text_and_no_other(name: str) -> None:
    envy = {
        (line.wager.payable(), line.hand.value): line.amount.payable()
        for line in load_pack(name).pack.envy
    }
    assert envy == {
        (wager, SHORT[hand]): amount for (wager, hand), amount in ENVY.get(name, {}).items()
    }


def test_south_dakota_envy_follows_the_wager_and_maryland_envy_does_not() -> None:
    assert load_pack("sd-pmg-01").pack.envy_scales
    assert load_pack("sd-pmg-02").pack.envy_scales
    assert not load_pack("md-uth-a").pack.envy_scales
    fifty = load_pack("sd-pmg-02").pack.envy_for(Hand.ROYAL_FLUSH, parse_money("0.50"))
    assert fifty == parse_money("500.00")


def test_no_table_but_the_californian_has_more_than_six_seats() -> None:
    seats = {name: load_pack(name).pack.seats_max for name in pack_ids()}
    assert seats.pop("ca-texas-holdem") == 10
    assert set(seats.values()) == {6}


def test_south_dakota_caps_a_customer_at_a_thousand_dollars_and_never_returns_the_stake() -> None:
    for name in pack_ids():
        limits = load_pack(name).limits
        south_dakota = name.startswith("sd-")
        assert limits.wager_max == (parse_money("1000.00") if south_dakota else None)
        assert limits.stake_returnable is not south_dakota


def test_only_ultimate_texas_holdem_in_maryland_has_an_edition_that_forbids_adjacent_boxes() -> (
    None
):
    for name in pack_ids():
        editions = load_pack(name).limits.editions
        found = [(edition.name, edition.adjacent_boxes_max) for edition in editions]
        assert found == ([("1.4", 1)] if name.startswith("md-uth-") else [])


def test_california_has_three_collection_bands_and_shares_a_jackpot() -> None:
    pack_file = load_pack("ca-texas-holdem")
    bands = [(band.players_from, band.label) for band in pack_file.pack.collection]
    assert bands == [(7, "7 or more"), (5, "5 or 6"), (1, "4 or fewer")]
    assert pack_file.defaults.simultaneous.value == "split"
    assert pack_file.pack.meters == ()


def test_the_default_wager_is_a_dollar_except_where_the_schedule_is_for_five() -> None:
    for name in pack_ids():
        wagers = [wager.payable() for wager in load_pack(name).defaults.wagers]
        assert wagers == (["5.00"] if name == "sd-pmg-02" else ["1.00"])


def test_each_pack_names_the_hand_basis_its_text_can_mean() -> None:
    for name in pack_ids():
        seven = name.startswith(("sd-uthp", "ca-"))
        expected = "best_of_seven" if seven else "hole_and_flop"
        assert load_pack(name).pack.hand_basis.value == expected


@pytest.mark.parametrize("name", sorted(_golden()))
def test_every_value_of_a_pack_cites_its_rule(name: str) -> None:
    pack_file = load_pack(name)
    pack, cites = pack_file.pack, pack_file.cites
    wanted = {"edition", "hand_basis", "seats_max"}
    wanted |= {f"pays.{pay.hand}" for pay in pack.pays}
    wanted |= {f"meters.{meter.name}" for meter in pack.meters}
    wanted |= {f"envy.{line.wager.payable()}" for line in pack.envy}
    wanted |= {f"collection.{band.players_from}" for band in pack.collection}
    wanted |= {f"settings.{key}" for key in document_of(name)["settings"] if key != "cites"}
    wanted |= {f"editions.{edition.name}" for edition in pack_file.limits.editions}
    wanted |= {"wager_max", "stake_returnable"} if name.startswith("sd-") else set()
    wanted |= {"envy.scales"} if pack.envy_scales else set()
    assert wanted == set(cites)
    assert all(cite.strip() for cite in cites.values())


@pytest.mark.parametrize("name", sorted(_golden()))
def test_no_built_in_pack_has_a_warning_of_its_own(name: str) -> None:
    assert load_pack(name).warnings == ()


def test_the_list_of_packs_agrees_with_the_packs() -> None:
    for head in list_heads():
        pack = load_pack(str(head["id"])).pack
        assert head == {
            "id": pack.id,
            "title": pack.title,
            "jurisdiction": pack.jurisdiction,
            "seats_max": pack.seats_max,
        }


def test_the_manual_lists_the_default_rates_of_every_pack_with_meters() -> None:
    listed = {}
    for line in (DOCS / "packs.md").read_text("utf-8").splitlines():
        row = re.fullmatch(r"\| `([a-z0-9-]+)` \| ([a-z]+ 0.*) \| ([0-9.]+) \|", line)
        if row:
            rates = re.findall(r"([a-z]+) (0\.\d+) \+ (0\.\d+)", row[2])
            listed[row[1]] = {(m, Fraction(r), Fraction(s)) for m, r, s in rates}
            assert sum(Fraction(r) + Fraction(s) for _, r, s in rates) == Fraction(row[3])
    built_in = {name: load_pack(name).pack.meters for name in pack_ids() if name[:2] != "ca"}
    assert listed == {
        name: {
            (
                meter.name,
                Fraction(show_rate(meter.default_rate_ppm)),
                Fraction(show_rate(meter.default_reserve_rate_ppm)),
            )
            for meter in meters
        }
        for name, meters in built_in.items()
    }


@pytest.mark.parametrize("name", sorted(_golden()))
def test_default_rates_leave_the_house_an_edge_wherever_the_paytable_does(name: str) -> None:
    pack_file = load_pack(name)
    pack = pack_file.pack
    returned = own_return(
        pack,
        line_counts(pack),
        wager=min(pack_file.defaults.wagers),
        amounts={meter.name: meter.minimum for meter in pack.meters},
        stake_returned=False,
    )
    rates = sum(meter.default_rate_ppm + meter.default_reserve_rate_ppm for meter in pack.meters)
    assert (returned > 1) == (name == "md-jh-e")
    assert name == "md-jh-e" or returned + Fraction(rates, 1_000_000) < 1


@pytest.mark.requirement(22)
def test_a_stake_that_is_returned_adds_one_unit_to_odds_to_one_and_none_to_odds_for_one() -> None:
    to_one, for_one = load_pack("md-uth-a").pack, load_pack("md-uth-b").pack
    counts = line_counts(to_one)
    hits = sum(Fraction(*counts[pay.hand]) for pay in to_one.pays if isinstance(pay, OddsPay))
    kept = fixed_return(to_one, counts, stake_returned=False)
    assert fixed_return(to_one, counts, stake_returned=True) == kept + hits
    counts = line_counts(for_one)
    kept = fixed_return(for_one, counts, stake_returned=False)
    assert fixed_return(for_one, counts, stake_returned=True) == kept


def test_the_return_of_paytable_a_is_exact() -> None:
    """By hand: 4 royals, 36 straight flushes, 624 quads and so on among 2,598,960 hands."""
    pack = load_pack("md-uth-a").pack
    fixed = 624 * 300 + 3744 * 50 + 5108 * 40 + 10200 * 30 + 54912 * 9
    meter = 4 * 10000 + 36 * 1000
    found = own_return(
        pack,
        line_counts(pack),
        wager=parse_money("1.00"),
        amounts={"meter": parse_money("10000.00")},
        stake_returned=False,
    )
    assert found == Fraction(fixed + meter, 2_598_960)


def test_comments_and_layout_leave_the_fingerprint_alone() -> None:
    text = (PACKS / "md-jh-a.toml").read_text("utf-8")
    head, *tables = re.split(r"\n(?=\[)", text)
    pays = [part for part in tables if part.startswith("[[")]
    others = [part for part in tables if not part.startswith("[[")]
    moved = "# other layout\n" + "\n\n".join([head, *reversed(others), *pays])
    before = pack_from_toml(text, where="a").pack
    after = pack_from_toml(moved.replace(" = ", "   =  "), where="b").pack
    assert before == after
    assert re.fullmatch("[0-9a-f]{64}", before.fingerprint)


def _other_good_values(value: object) -> list[object]:
    """Values near the old one, of which most are still allowed where it stood."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1]
    text = str(value)
    raised = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), text, count=1)
    return [text + " ", raised, "split" if text == "in-turn" else "blind", "best_of_seven", "keep"]


@pytest.mark.parametrize("name", ["md-uth-a", "sd-pmg-02", "md-jh-e", "ca-texas-holdem"])
def test_any_changed_value_changes_the_fingerprint(name: str) -> None:
    original = document_of(name)
    before = pack_from_document(original, where="p").pack.fingerprint
    changed = set()
    places = leaves(original)
    for leaf in places:
        for value in _other_good_values(at(original, leaf)):
            if value == at(original, leaf):
                continue
            document = copy.deepcopy(original)
            put(document, leaf, value)
            try:
                after = pack_from_document(document, where="p").pack.fingerprint
            except BadInput:
                continue
            assert after != before, leaf
            changed.add(leaf)
    assert len(changed) > len(places) // 2


@pytest.mark.parametrize("name", sorted(_golden()))
def test_no_two_packs_share_a_fingerprint(name: str) -> None:
    mine = load_pack(name).pack.fingerprint
    others = [load_pack(other).pack.fingerprint for other in pack_ids() if other != name]
    assert mine not in others


def test_a_meter_that_no_line_pays_is_a_warning_and_not_an_error() -> None:
    document = document_of("md-uth-a")
    document["meters"]["idle"] = {**document["meters"]["meter"], "title": "Idle"}
    found = pack_from_document(document, where="own.toml")
    assert [meter.name for meter in found.pack.meters] == ["meter", "idle"]
    (warning,) = found.warnings
    assert warning.startswith("own.toml: meters.idle: no line of the paytable pays this meter")


def _own(**more: object) -> Document:
    return {"base": "md-uth-a", "id": "own", **more}


def test_an_own_pack_takes_from_its_base_what_it_does_not_state() -> None:
    base = load_pack("md-uth-a")
    own = pack_from_document(_own(title="Ours"), where="own.toml", base=base.document)
    assert (own.pack.id, own.pack.title) == ("own", "Ours")
    assert own.pack.pays == base.pack.pays
    assert own.cites == base.cites
    assert own.pack.fingerprint != base.pack.fingerprint


def test_an_own_pack_replaces_a_table_whole() -> None:
    base = load_pack("md-uth-b")
    pays = [{"hand": "royal_flush", "meter": "major", "percent": 100, "cite": "house rule 1"}]
    own = pack_from_document(_own(pays=pays, envy={
        "schedule": [{"wager": "1.00", "royal_flush": "50.00", "cite": "house rule 2"}]
    }), where="own.toml", base=base.document)  # fmt: skip
    assert len(own.pack.pays) == 1
    assert [line.amount.payable() for line in own.pack.envy] == ["50.00"]
    assert own.warnings[0].startswith("own.toml: meters.minor: no line")


def test_a_restated_value_needs_a_citation_of_its_own() -> None:
    base = dict(load_pack("md-uth-a").document)
    problems = problems_of(_own(seats_max=5), base)
    assert problems == (
        "own.toml: cites.seats_max: found nothing; allowed the rule it comes from,"
        ' such as "MD 12.D(1)(a)(i)"',
    )
    cited = _own(seats_max=5, cites={"seats_max": "house rule"})
    assert pack_from_document(cited, where="own.toml", base=base).pack.seats_max == 5


def test_an_own_pack_may_not_pass_under_the_id_of_its_base() -> None:
    base = dict(load_pack("md-uth-a").document)
    assert "allowed an id of its own" in problems_of({"base": "md-uth-a"}, base)[0]
    assert "allowed an id of its own" in problems_of(_own(id="md-uth-a"), base)[0]


def test_the_example_in_the_manual_is_the_example_file_and_a_good_pack() -> None:
    text = (DOCS / "examples" / "ca-royal.toml").read_text("utf-8")
    block = re.search(r"```toml\n(.*?)```", (DOCS / "packs.md").read_text("utf-8"), re.DOTALL)
    assert block is not None
    assert tomllib.loads(block[1]) == tomllib.loads(text)
    found = load_pack(str(DOCS / "examples" / "ca-royal.toml"))
    assert [_short(pay) for pay in found.pack.pays] == ["RF meter@100"]
    assert found.pack.seats_max == 10
    assert found.cites["meters.meter"].startswith("house rule")
    assert found.warnings == ()
