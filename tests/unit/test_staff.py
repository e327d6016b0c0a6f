"""The staff file: who may sign in, and what cannot be read as such."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.errors import BadInput
from controller.domain.table import Person, Role
from controller.staff import NAME_MAX, ROLES, SCRYPT_N, Member, Staff, hash_pin, pin_fault

SALT = bytes(range(16))
CHEAP = 2**4  # for simulation, and for tests
SET = date(2026, 1, 31)


def member(number: str = "101", pin: str = "2580", **other: Any) -> Member:
    plain = Member(number, f"Dana {number}", Role.DEALER, hash_pin(pin, salt=SALT, n=CHEAP), SET)
    return replace(plain, **other)


def staff(*members: Member) -> Staff:
    return Staff(members or (member(),))


def document(**changed: str) -> str:
    """One row of a staff file, with what is written for a key changed; None leaves it out."""
    keys = {
        "number": '"101"',
        "name": '"Dana"',
        "role": '"dealer"',
        "pin": f'"{hash_pin("2580", salt=SALT, n=CHEAP)}"',
        "changed": '"2026-01-31"',
        "active": "true",
    } | changed
    return "[[staff]]\n" + "".join(f"{key} = {text}\n" for key, text in keys.items() if text)


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(BadInput) as bad:
        Staff.from_toml(text, "staff.toml")
    return bad.value.problems


@pytest.mark.requirement(79)
@pytest.mark.parametrize("role", ROLES)
def test_a_number_and_its_pin_are_one_named_person_in_one_role(role: Role) -> None:
    people = staff(member("101", role=role), member("202", "1379"))
    assert people.check("101", "2580") == Person("Dana 101", role)


@pytest.mark.parametrize(
    ("number", "pin"),
    [("101", "2581"), ("101", ""), ("101", "25800"), ("202", "2580"), ("999", "2580"), ("", "")],
)
def test_a_wrong_pin_and_an_unknown_number_are_nobody(number: str, pin: str) -> None:
    assert staff(member("101"), member("202", "1379")).check(number, pin) is None


def test_who_was_removed_can_no_longer_sign_in() -> None:
    assert staff(member(active=False)).check("101", "2580") is None


def test_the_first_staff_file_is_empty_and_lets_nobody_in() -> None:
    assert Staff.from_toml("", "staff.toml") == Staff()
    assert Staff().check("101", "2580") is None


@pytest.mark.parametrize("number", ["101", "202", "999"])
def test_an_unknown_number_costs_as_much_as_a_wrong_pin(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the time of an answer would tell which numbers exist."""
    costs: list[int] = []

    def counted(pin: bytes, *, n: int, **other: object) -> bytes:
        costs.append(n)
        return bytes(32)

    people = staff(member("101"), member("202", active=False))
    monkeypatch.setattr(hashlib, "scrypt", counted)
    assert people.check(number, "0000") is None
    assert costs == [CHEAP]


def test_the_hash_is_scrypt_with_its_own_salt_and_the_memory_it_needs() -> None:
    text = hash_pin("2580", salt=SALT)
    expected = hashlib.scrypt(b"2580", salt=SALT, n=2**14, r=8, p=1, dklen=32).hex()
    assert text == f"scrypt$16384$8$1${SALT.hex()}${expected}"
    assert hash_pin("2580", salt=bytes(16)) != text
    strong = replace(member(), pin=hash_pin("2580", salt=SALT, n=2**17))  # beyond OpenSSL's default
    assert staff(strong).check("101", "2580") is not None


def test_nothing_prints_a_hash_by_accident() -> None:
    assert "scrypt" not in repr(staff())


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[0-9]{2,6}", fullmatch=True),
            st.text(min_size=1, max_size=NAME_MAX).filter(
                lambda name: name.isprintable() and name == name.strip()
            ),
            st.sampled_from(ROLES),
            st.dates(),
            st.booleans(),
        ),
        max_size=5,
        unique_by=(lambda row: row[0], lambda row: row[1]),
    )
)
def test_what_is_written_is_read_back(
    rows: list[tuple[str, str, Role, date, bool]],
) -> None:
    hashed = hash_pin("2580", salt=SALT, n=CHEAP)
    members = (Member(no, name, role, hashed, day, active=a) for no, name, role, day, a in rows)
    written = Staff(tuple(members))
    assert Staff.from_toml(written.to_toml(), "staff.toml") == written


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("number", "101"),
        ("number", '"1"'),
        ("number", '"1234567"'),
        ("number", '"10a"'),
        ("number", ""),
        ("name", '""'),
        ("name", '" Dana"'),
        ("name", f'"{"D" * 41}"'),
        ("name", '"Da\\nna"'),
        ("role", '"system"'),
        ("role", '"boss"'),
        ("pin", '"2580"'),
        ("pin", f'"scrypt$16384$8$2${"0" * 32}${"0" * 64}"'),
        ("pin", f'"scrypt$8$8$1${"0" * 32}${"0" * 64}"'),
        ("pin", f'"scrypt$262144$8$1${"0" * 32}${"0" * 64}"'),
        ("pin", f'"scrypt$16383$8$1${"0" * 32}${"0" * 64}"'),
        ("pin", f'"scrypt$16384$8$1${"0" * 30}${"0" * 64}"'),
        ("pin", ""),
        ("changed", "2026-01-31"),
        ("changed", '"2026-02-30"'),
        ("changed", '"20260131"'),
        ("changed", ""),
        ("active", '"yes"'),
        ("badge", "7"),
    ],
)
def test_a_bad_value_is_refused_by_its_place(key: str, text: str) -> None:
    (problem,) = problems(document(**{key: text}))
    assert problem.startswith(f"staff.toml: staff[1].{key}: found ")


def test_all_problems_are_said_at_once() -> None:
    found = problems(document(number='"1"', role='"boss"') + document(name="7"))
    assert len(found) == 3


def test_a_number_belongs_to_one_person_and_a_name_to_one_person_of_a_role() -> None:
    (problem,) = problems(document() + document(name='"Dora"'))
    assert "staff[2].number" in problem
    (problem,) = problems(document() + document(number='"102"'))
    assert "a name that no other dealer has" in problem
    both = document() + document(number='"102"', role='"floor"')
    assert len(Staff.from_toml(both, "staff.toml").members) == 2  # one person, two credentials


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("123", "4 to 8 digits"),
        ("123456789", "4 to 8 digits"),
        ("12a4", "4 to 8 digits"),
        ("\uff12\uff15\uff18\uff10", "4 to 8 digits"),
        ("0000", "repeat"),
        ("77777777", "repeat"),
        ("1234", "count up"),
        ("7890", "count up"),
        ("4321", "count up or down"),
        ("10987", "count up or down"),
        ("258025", "staff number"),
    ],
)
def test_a_pin_that_would_be_guessed_first_is_refused(pin: str, why: str) -> None:
    assert why in pin_fault(pin, "258025")


@pytest.mark.parametrize("pin", ["2580", "1357", "12345679", "1122", "0001"])
def test_other_pins_are_good(pin: str) -> None:
    assert pin_fault(pin, "101") == ""


@pytest.mark.requirement(79)
def test_a_pin_is_due_for_a_change_after_ninety_days() -> None:
    assert not member().is_overdue(SET + timedelta(days=90))
    assert member().is_overdue(SET + timedelta(days=91))
    assert not member(active=False).is_overdue(SET + timedelta(days=91))


def test_a_cheap_hash_is_for_simulated_tables() -> None:
    real = replace(member(), pin=hash_pin("2580", salt=SALT))
    assert real.scrypt_n == SCRYPT_N
    assert member().for_simulation
    assert not real.for_simulation
