"""The hash chain: whatever is done to stored rows, the first bad one is named."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.chain import GENESIS, Row, first_bad, seal

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
CONTENTS = st.lists(
    st.tuples(st.integers(1, 9), TEXTS, TEXTS, st.integers(1, 9), st.binary(max_size=40)),
    min_size=2,
    max_size=12,
)


def chain_of(contents: list[tuple[int, str, str, int, bytes]]) -> list[Row]:
    rows: list[Row] = []
    for boot, time, kind, version, payload in contents:
        rows.append(
            seal(
                previous=rows[-1].hash if rows else GENESIS,
                seq=len(rows) + 1,
                boot=boot,
                time=time,
                kind=kind,
                version=version,
                payload=payload,
            )
        )
    return rows


CHAINS = CONTENTS.map(chain_of)


def other_than(value: object) -> object:
    if isinstance(value, int):
        return value + 1
    return value + b"!" if isinstance(value, bytes) else f"{value}!"


@pytest.mark.requirement(63, 73)
@given(CHAINS)
def test_rows_as_they_were_written_have_nothing_wrong_with_them(rows: list[Row]) -> None:
    assert first_bad(rows) is None
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))


def test_an_empty_ledger_has_nothing_wrong_with_it() -> None:
    assert first_bad([]) is None


@pytest.mark.requirement(63, 64)
@pytest.mark.parametrize("field", [*Row.__slots__])
@given(rows=CHAINS, data=st.data())
def test_a_row_with_any_field_changed_is_named(
    field: str, rows: list[Row], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    change: dict[str, Any] = {field: other_than(getattr(rows[place], field))}
    rows[place] = replace(rows[place], **change)
    found = first_bad(rows)
    assert found is not None
    assert found[0] == place + 1
    assert found[1]


@pytest.mark.requirement(63, 64)
@given(rows=CHAINS, data=st.data())
def test_a_row_changed_and_sealed_again_gives_itself_away_in_the_next(
    rows: list[Row], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 2))
    forged = rows[place]
    rows[place] = seal(
        previous=forged.previous,
        seq=forged.seq,
        boot=forged.boot,
        time=forged.time,
        kind=forged.kind,
        version=forged.version,
        payload=forged.payload + b"0",
    )
    assert first_bad(rows) == (place + 2, "it does not continue the row before it")


@pytest.mark.requirement(63, 64, 73)
@given(rows=CHAINS, data=st.data())
def test_a_row_taken_out_is_named_as_the_gap(rows: list[Row], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 2))
    del rows[place]
    why = f"row {place + 2} stands where row {place + 1} belongs"
    assert first_bad(rows) == (place + 1, why)


@pytest.mark.requirement(63, 64, 73)
@given(rows=CHAINS, data=st.data())
def test_two_rows_swapped_are_caught_at_the_first_of_them(
    rows: list[Row], data: st.DataObject
) -> None:
    late = data.draw(st.integers(1, len(rows) - 1))
    early = data.draw(st.integers(0, late - 1))
    rows[early], rows[late] = rows[late], rows[early]
    found = first_bad(rows)
    assert found is not None
    assert found[0] == early + 1


@pytest.mark.requirement(63, 64)
@given(rows=CHAINS, data=st.data())
def test_a_row_slipped_in_is_caught_even_when_it_continues_the_chain(
    rows: list[Row], data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(rows) - 1))
    before = rows[place - 1]
    forged = seal(
        previous=before.hash,
        seq=before.seq + 1,
        boot=1,
        time="",
        kind="forged",
        version=1,
        payload=b"",
    )
    rows.insert(place, forged)
    found = first_bad(rows)
    assert found is not None
    assert found[0] == place + 2


@pytest.mark.requirement(73)
def test_a_clock_that_jumps_back_is_no_fault_because_order_is_by_number() -> None:
    rows = chain_of([(1, "2026-11-18T10:00:00Z", "a", 1, b""), (2, "1970-01-01", "b", 1, b"")])
    assert first_bad(rows) is None


@given(text=TEXTS.filter(lambda text: len(text) > 1), data=st.data())
def test_moving_a_letter_from_one_field_to_the_next_changes_the_hash(
    text: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, len(text)))
    split = chain_of([(1, text[:cut], text[cut:], 1, b"")])[0]
    other = chain_of([(1, text[: cut - 1], text[cut - 1 :], 1, b"")])[0]
    into_payload = chain_of([(1, text[:cut], "", 1, text[cut:].encode())])[0]
    assert split.hash != other.hash
    assert cut == len(text) or split.hash != into_payload.hash


def test_an_auditor_can_recompute_a_hash_from_the_documented_text() -> None:
    row = chain_of([(7, "noon", "lock", 2, b"\x00\xff")])[0]
    text = f"feltlink-row 1 7 2 64 4 4 {GENESIS}noonlock"
    assert row.hash == sha256(text.encode() + b"\x00\xff").hexdigest()
