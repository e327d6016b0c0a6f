"""The staff file: who may sign in, as what, and the salted hash of his PIN.

Pure: text in, values out. Reading and writing files is the adapter's; asking for a PIN is the
command's. No PIN is kept anywhere, here or in the ledger.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Final

from controller.document import FLAG, Kind, Problems, Section, parse, pattern
from controller.domain.table import Person, Role

KEYS: Final = ("number", "name", "role", "pin", "changed", "active")
ROLES: Final = (Role.DEALER, Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR)

SCRYPT_N: Final = 2**14  # one try takes 16 MB
SCRYPT_N_MIN, SCRYPT_N_MAX = 2**4, 2**17
SCRYPT_R, SCRYPT_P = 8, 1
SALT_BYTES, HASH_BYTES = 16, 32
PIN_DAYS_MAX: Final = 90
NAME_MAX: Final = 40
PIN_DIGITS: Final = re.compile(r"\d{4,8}", re.ASCII)

HEADER: Final = (
    "# Who may sign in at a table. Change it with `feltlink staff`; see docs/staff.md.\n"
)


def hash_pin(pin: str, *, salt: bytes, n: int = SCRYPT_N) -> str:
    """The PIN as the file keeps it. The same salt twice would show who has the same PIN."""
    digest = _scrypt(pin, salt, n)
    return f"scrypt${n}${SCRYPT_R}${SCRYPT_P}${salt.hex()}${digest.hex()}"


def _scrypt(pin: str, salt: bytes, n: int) -> bytes:
    return hashlib.scrypt(
        pin.encode(),
        salt=salt,
        n=n,
        r=SCRYPT_R,
        p=SCRYPT_P,
        maxmem=2 * 128 * SCRYPT_R * n + 2**20,  # what it needs, and room to spare
        dklen=HASH_BYTES,
    )


_HASH: Final = re.compile(
    rf"scrypt\$(\d{{2,6}})\${SCRYPT_R}\${SCRYPT_P}"
    rf"\$([0-9a-f]{{{2 * SALT_BYTES}}})\$([0-9a-f]{{{2 * HASH_BYTES}}})",
    re.ASCII,
)


def _read_hash(value: object) -> str | None:
    found = _HASH.fullmatch(value) if isinstance(value, str) else None
    n = int(found[1]) if found else 0
    good = SCRYPT_N_MIN <= n <= SCRYPT_N_MAX and n & (n - 1) == 0
    return found[0] if found and good else None


def _read_date(value: object) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None


def _read_name(value: object) -> str | None:
    good = isinstance(value, str) and value.isprintable() and value == value.strip() != ""
    return value if isinstance(value, str) and good and len(value) <= NAME_MAX else None


def _read_role(value: object) -> Role | None:
    return next((role for role in ROLES if role.value == value), None)


NUMBER: Final = pattern(r"\d{2,6}", '2 to 6 digits as text, such as "101"')
NAME: Final = Kind(f"a name of 1 to {NAME_MAX} characters, no space at either end", _read_name)
ROLE: Final = Kind(", ".join(f'"{role.value}"' for role in ROLES), _read_role)
PIN: Final = Kind("what `feltlink staff pin` writes, scrypt$N$8$1$SALT$HASH", _read_hash)
CHANGED: Final = Kind('the date of the PIN as text, such as "2026-01-31"', _read_date)


@dataclass(frozen=True, slots=True)
class Member:
    """One number that can sign in, in one role."""

    number: str
    name: str
    role: Role
    pin: str = field(repr=False)  # the hash
    changed: date  # when the PIN was set
    active: bool = True

    @property
    def scrypt_n(self) -> int:
        return int(self.pin.split("$")[1])

    @property
    def for_simulation(self) -> bool:
        """The hash costs so little to guess that it is fit for simulated tables only."""
        return self.scrypt_n < SCRYPT_N

    def is_overdue(self, today: date) -> bool:
        """PINs are changed periodically."""
        return self.active and (today - self.changed).days > PIN_DAYS_MAX

    def knows(self, pin: str) -> bool:
        _, n, _, _, salt, digest = self.pin.split("$")
        tried = _scrypt(pin, bytes.fromhex(salt), int(n))
        return hmac.compare_digest(tried, bytes.fromhex(digest))


@dataclass(frozen=True, slots=True)
class Staff:
    """Everybody who can sign in, in the order of the file."""

    members: tuple[Member, ...] = ()

    @classmethod
    def from_toml(cls, text: str, where: str) -> Staff:
        """Read a staff file, or say all that is wrong with it."""
        problems = Problems(where)
        root = Section(parse(text, where=where), ("staff",), problems)
        rows = root.rows("staff", KEYS)
        members = tuple(_member(row) for row in rows)
        _check_apart(members, rows)
        problems.stop_if_any()
        return cls(members)

    def to_toml(self) -> str:
        return HEADER + "".join(_written(member) for member in self.members)

    def find(self, number: str) -> Member | None:
        return next((member for member in self.members if member.number == number), None)

    def check(self, number: str, pin: str) -> Person | None:
        """Who this is, if the PIN is right. An unknown number takes as long as a wrong PIN."""
        member = self.find(number)
        knows = (member or self._nobody()).knows(pin)
        return Person(member.name, member.role) if member and member.active and knows else None

    def _nobody(self) -> Member:
        n = max((member.scrypt_n for member in self.members), default=SCRYPT_N)
        salt, digest = "00" * SALT_BYTES, "00" * HASH_BYTES
        pin = f"scrypt${n}${SCRYPT_R}${SCRYPT_P}${salt}${digest}"
        return Member("", "nobody", Role.AUDITOR, pin, date.min, active=False)

    def with_member(self, member: Member) -> Staff:
        """With this member, in the place of the one who had the number before."""
        if self.find(member.number) is None:
            return Staff((*self.members, member))
        return Staff(tuple(member if m.number == member.number else m for m in self.members))


def _member(row: Section) -> Member:
    return Member(
        number=row.take("number", NUMBER, "", required=True),
        name=row.take("name", NAME, "", required=True),
        role=row.take("role", ROLE, Role.AUDITOR, required=True),
        pin=row.take("pin", PIN, "", required=True),
        changed=row.take("changed", CHANGED, date.min, required=True),
        active=row.take("active", FLAG, fallback=True),
    )


def _check_apart(members: tuple[Member, ...], rows: list[Section]) -> None:
    """The ledger knows people by name and role, the keypad by number: neither may be shared."""
    for at, (member, row) in enumerate(zip(members, rows, strict=True)):
        before = members[:at]
        if member.number and any(other.number == member.number for other in before):
            row.refuse("number", member.number, "a number that nobody else has")
        same = any((m.name, m.role) == (member.name, member.role) for m in before)
        if member.name and same:
            row.refuse("name", member.name, f"a name that no other {member.role.value} has")


def _written(member: Member) -> str:
    texts = {
        "number": member.number,
        "name": member.name,
        "role": member.role.value,
        "pin": member.pin,
        "changed": member.changed.isoformat(),
    }
    lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}\n" for key, text in texts.items()]
    return "".join(("\n[[staff]]\n", *lines, f"active = {str(member.active).lower()}\n"))


def pin_fault(pin: str, number: str) -> str:
    """Why a PIN would be guessed first; empty for a good one."""
    if not PIN_DIGITS.fullmatch(pin):
        return "A PIN has 4 to 8 digits and nothing else."
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(pin)}
    if steps == {0}:
        return "A PIN may not repeat one digit."
    if steps in ({1}, {9}):
        return "A PIN may not count up or down."
    if pin == number:
        return "A PIN may not be the staff number."
    return ""
