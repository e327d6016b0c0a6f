"""Every way in which a pack file can be wrong, and what its writer is then told."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.pack_files import PACKS, load_pack, pack_ids
from controller.domain.errors import BadInput
from controller.packfile import pack_from_document, pack_from_toml
from tests.pack_documents import at, document_of, leaves, mangle, problems_of, put, refusal

# What somebody puts where in a good file, and what he is told.
BROKEN: list[tuple[str, str, Any, str]] = [
    ("md-uth-a", "colour", "red", "colour: found an unknown key; allowed format, id,"),
    ("md-uth-a", "pays/2/colour", "red", "pays[3].colour: found an unknown key; allowed hand,"),
    ("md-uth-a", "format", 2, "format: found 2; allowed a whole number from 1 to 1"),
    ("md-uth-a", "id", "no spaces", 'id: found "no spaces"; allowed 1 to 32 letters'),
    ("md-uth-a", "id", "..", 'id: found ".."; allowed 1 to 32 letters'),
    ("md-uth-a", "title", "", 'title: found ""; allowed text of 1 to 60'),
    ("md-uth-a", "title", "a\nb", 'title: found "a\\nb"; allowed text'),
    ("md-uth-a", "seats_max", 11, "seats_max: found 11; allowed a whole number from 1 to 10"),
    ("md-uth-a", "seats_max", 0, "seats_max: found 0; allowed a whole number from 1 to 10"),
    ("md-uth-a", "seats_max", True, "seats_max: found true; allowed a whole number"),
    ("md-uth-a", "seats_max", "6", 'seats_max: found "6"; allowed a whole number'),
    ("md-uth-a", "hand_basis", "x", 'hand_basis: found "x"; allowed "hole_and_flop", "best_of'),
    ("md-uth-a", "pays/0/hand", "royal", 'pays[1].hand: found "royal"; allowed "royal_flush'),
    ("md-uth-a", "pays/3/hand", "flush", 'pays[5].hand: found "flush"; allowed each hand once'),
    ("md-uth-a", "pays/0/meter", "mega", 'pays[1].meter: found "mega"; allowed a meter of this'),
    ("md-uth-a", "pays/0/percent", 0, "pays[1].percent: found 0; allowed a whole number from 1"),
    ("md-uth-a", "pays/0/percent", 101, "pays[1].percent: found 101; allowed a whole number"),
    ("md-uth-a", "pays/0/percent", 10.0, "pays[1].percent: found 10.0; allowed a whole number"),
    ("md-uth-a", "pays/0/odds", "5 to 1", "pays[1].odds: found odds beside a meter or a perce"),
    ("md-uth-a", "pays/2/odds", "300", 'pays[3].odds: found "300"; allowed odds such as'),
    ("md-uth-a", "pays/2/odds", "0 to 1", 'pays[3].odds: found "0 to 1"; allowed odds such as'),
    ("md-uth-a", "pays/2/odds", "3 to 2", 'pays[3].odds: found "3 to 2"; allowed odds such as'),
    ("md-uth-a", "pays/2/cite", " ", 'pays[3].cite: found " "; allowed the rule it comes from'),
    ("md-uth-a", "pays", {}, "pays: found a table; allowed a list of tables"),
    ("md-uth-a", "pays", [1], "pays[1]: found 1; allowed a table"),
    ("md-uth-a", "meters", 5, "meters: found 5; allowed a table"),
    ("md-uth-a", "meters/meter/minimum", 10000, "minimum: found 10000; allowed dollars as text"),
    ("md-uth-a", "meters/meter/minimum", 1e4, "minimum: found 10000.0; allowed dollars as text"),
    ("md-uth-a", "meters/meter/minimum", "-1", 'minimum: found "-1"; allowed dollars as text'),
    ("md-uth-a", "meters/meter/default_rate", "1.2", 'default_rate: found "1.2"; allowed a share'),
    ("md-uth-a", "meters/meter/default_rate", "0.96", "meters: found rates and reserve rates"),
    ("md-uth-a", "meters/Bad Name", {}, 'meters: found "Bad Name"; allowed names of 1 to 16'),
    ("md-uth-a", "envy/schedule/0/wager", "5.00", 'found "5.00"; allowed each wager once'),
    ("md-uth-a", "envy/schedule/0/flush", "5.00", "allowed the same hands for every wager"),
    (
        "md-uth-a",
        "envy/schedule/0/royal_flush",
        "0.001",
        'found "0.001"; allowed dollars and whole',
    ),
    ("md-uth-a", "envy/schedule", [], "envy.schedule: found nothing; allowed at least one"),
    ("md-uth-a", "envy/scales", True, "envy.cite: found nothing; allowed the rule it comes from"),
    ("md-uth-a", "editions/1.5", {}, 'editions: found "1.5"; allowed names of editions besides'),
    ("md-uth-a", "settings/count", "guess", 'settings.count: found "guess"; allowed "shown", "b'),
    ("md-uth-a", "settings/wagers", [], "settings.wagers: found []; allowed a list of different"),
    ("md-uth-a", "settings/wagers", ["2.00"], 'found ["2.00"]; allowed only amounts of the pack'),
    ("md-uth-a", "settings/cites/count", 3, "settings.cites.count: found 3; allowed the rule"),
    ("md-uth-a", "base", 3, "base: found 3; allowed the id or the path of a pack"),
    ("md-uth-a", "wager_max", "5.00", "cites.wager_max: found nothing; allowed the rule it"),
    ("md-uth-a", "cites/title", "MD", "cites.title: found an unknown key; allowed edition,"),
    ("md-jh-a", "pays/1/hand", "community_royal_flush", "this royal with hand_basis = "),
    ("sd-pmg-01", "settings/stake_returned", True, "found true; allowed false (SD (18))"),
    ("sd-pmg-01", "settings/wagers", ["1000.01"], "allowed at most $1,000.00 a customer, over 1 a"),
    ("ca-texas-holdem", "collection/band/0/players_from", 5, "players_from: found 5; allowed"),
    ("ca-texas-holdem", "collection/band/2/players_from", 2, "found no band for one player"),
]


@pytest.mark.parametrize(("name", "place", "value", "told"), BROKEN)
def test_a_broken_pack_is_refused_with_file_key_and_reason(
    name: str, place: str, value: Any, told: str
) -> None:
    document = document_of(name)
    put(document, tuple(int(step) if step.isdigit() else step for step in place.split("/")), value)
    problems = problems_of(document)
    assert all(problem.startswith("own.toml: ") for problem in problems)
    assert any(told in problem for problem in problems), problems


OPTIONAL = {"wager_max", "stake_returnable", "default_reserve_rate", "scales"}


@pytest.mark.parametrize("name", ["md-uth-a", "sd-pmg-01", "ca-texas-holdem"])
def test_a_key_that_is_left_out_is_missed(name: str) -> None:
    for leaf in leaves(document_of(name)):
        if isinstance(leaf[-1], int) or leaf[-1] in OPTIONAL:
            continue
        document = document_of(name)
        del at(document, leaf[:-1])[leaf[-1]]
        if leaf[0] == "envy" and leaf[-1] in {"royal_flush", "straight_flush"}:
            continue  # a schedule chooses its hands
        problems = problems_of(document)
        assert any("found nothing" in problem for problem in problems), (leaf, problems)


def test_a_royal_that_a_higher_line_already_takes_is_refused() -> None:
    document = document_of("md-jh-a")
    document["pays"][0], document["pays"][1] = document["pays"][1], document["pays"][0]
    (problem,) = problems_of(document)
    assert problem.startswith('own.toml: pays[2].hand: found "royal_flush_diamonds"; allowed')


def test_all_problems_of_a_pack_are_told_at_once() -> None:
    document = document_of("md-uth-a")
    document["colour"] = "red"
    document["seats_max"] = 12
    document["pays"][0]["percent"] = 500
    document["meters"]["meter"]["minimum"] = "lots"
    document["settings"]["count"] = "guess"
    del document["cites"]["edition"]
    assert len(problems_of(document)) == 6


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format = 1\nid = = 3\n", r"own.toml: line 2, column \d+: found a mistake in the TOML"),
        ("a = 1\na = 2\n", r"own.toml: line 2, column \d+: found a mistake in the TOML"),
        ("a = " + "[" * 5000, "own.toml: the file: found brackets nested too deeply"),
        ("a = " + "9" * 5000, "own.toml: the file: found a mistake in the TOML"),
        ("seats_max = 0x1" + "0" * 9000, "own.toml: seats_max: found a very long number"),
    ],
)
def test_text_that_is_no_toml_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        pack_from_toml(text, where="own.toml")


@given(data=st.data(), name=st.sampled_from(pack_ids()))
def test_a_mangled_pack_is_either_good_or_refused(data: st.DataObject, name: str) -> None:
    document = document_of(name)
    mangle(document, data)
    problems = refusal(lambda: pack_from_document(document, where="own.toml"))
    assert all(problem.startswith("own.toml: ") for problem in problems)
    assert all(problem.isprintable() for problem in problems)


@given(data=st.data())
def test_a_pack_with_mangled_text_is_either_good_or_refused(data: st.DataObject) -> None:
    text = (PACKS / "sd-pmg-01.toml").read_text("utf-8")
    place = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 8))
    new = data.draw(st.text(string.printable + "é\x00\u2028", max_size=6))
    mangled = text[:place] + new + text[place + cut :]
    problems = refusal(lambda: pack_from_toml(mangled, where="own.toml"))
    assert all(problem.startswith("own.toml: ") for problem in problems)


def test_a_pack_is_found_by_id_by_path_and_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('base = "md-uth-a"\nid = "one"\n', "utf-8")
    (tmp_path / "two.toml").write_text('base = "one.toml"\nid = "two"\n', "utf-8-sig")
    assert load_pack("two.toml", relative_to=tmp_path).pack.id == "two"
    assert load_pack(str(tmp_path / "two.toml")).pack.pays == load_pack("md-uth-a").pack.pays


def test_a_pack_that_nobody_knows_is_refused_with_the_known_ids() -> None:
    with pytest.raises(BadInput) as caught:
        load_pack("md-uth-z")
    assert "'md-uth-z'" in caught.value.problems[0]
    assert all(name in caught.value.problems[0] for name in pack_ids())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "the file cannot be read (No such file or directory)"),
        (b"format = 1\nid = '\xff'\n", "line 2: found bytes that are not UTF-8"),
        (b"#" * 1_000_001, "found more than 1000000 bytes"),
        (b'base = "own.toml"\n', "base: found 'own.toml', which builds on this pack"),
        (b'base = "nope"\n', "base: found 'nope', which is no pack"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_sentence(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "own.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load_pack(str(path))
    (problem,) = caught.value.problems
    assert problem.startswith(f"{path}: ")
    assert told in problem


def test_a_folder_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "own.toml").mkdir()
    with pytest.raises(BadInput, match="cannot be read"):
        load_pack("own.toml", relative_to=tmp_path)
