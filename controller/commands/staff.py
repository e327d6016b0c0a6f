"""`feltlink staff add|remove|list|pin FILE ...`: who may sign in at the tables."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from dataclasses import replace
from datetime import date
from getpass import getpass
from pathlib import Path

from controller.adapters.staff_files import load_staff, save_staff
from controller.domain.errors import BadInput
from controller.domain.table import Role
from controller.options import Parser
from controller.staff import PIN_DAYS_MAX, ROLES, SALT_BYTES, Member, Staff, hash_pin, pin_fault


def run(argv: list[str]) -> int:
    options = _options(argv)
    path = Path(options.file)
    match options.action:
        case "add":
            return _add(path, options)
        case "pin":
            return _pin(path, options)
        case "remove":
            return _remove(path, options.number)
        case _:
            return _list(path, as_json=options.json)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = Parser(prog="feltlink staff", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True, metavar="add|remove|list|pin")
    add = actions.add_parser("add", help="let somebody sign in; asks for the PIN")
    pin = actions.add_parser("pin", help="give somebody a new PIN")
    remove = actions.add_parser("remove", help="let somebody sign in no more")
    listing = actions.add_parser("list", help="who may sign in, and whose PIN is old")
    for action in (add, pin, remove, listing):
        action.add_argument("file", metavar="FILE", help="the staff file, such as staff.toml")
    for action in (add, pin, remove):
        action.add_argument("number", metavar="NUMBER", help="staff number, 2 to 6 digits")
    add.add_argument("name", metavar="NAME", help="as the ledger will name this person")
    add.add_argument("role", choices=[role.value for role in ROLES])
    for action in (add, pin):
        action.add_argument(
            "--pin-stdin", action="store_true", help="read the PIN from standard input, one line"
        )
    listing.add_argument("--json", action="store_true", help="one JSON document")
    return parser.parse_args(argv)


def _add(path: Path, options: argparse.Namespace) -> int:
    staff = load_staff(path) if path.exists() else Staff()
    number, name = options.number, options.name
    before = staff.find(number)
    if before is not None and (before.active or before.name != name):
        raise BadInput(f"{path}: {number} is {before.name}'s number; give another one.")
    hashed = _hashed(number, from_stdin=options.pin_stdin)
    _put(path, staff, Member(number, name, Role(options.role), hashed, _today()))
    sys.stdout.write(f"{number} {name} may sign in as {options.role}.\n")
    return 0


def _pin(path: Path, options: argparse.Namespace) -> int:
    staff = load_staff(path)
    member = _found(staff, options.number, path)
    hashed = _hashed(member.number, from_stdin=options.pin_stdin)
    _put(path, staff, replace(member, pin=hashed, changed=_today()))
    sys.stdout.write(f"{member.number} {member.name} has a new PIN.\n")
    return 0


def _remove(path: Path, number: str) -> int:
    """The row stays: a number that stood for one person never stands for another."""
    staff = load_staff(path)
    member = _found(staff, number, path)
    _put(path, staff, replace(member, active=False))
    sys.stdout.write(f"{member.number} {member.name} can no longer sign in.\n")
    return 0


def _found(staff: Staff, number: str, path: Path) -> Member:
    member = staff.find(number)
    if member is None or not member.active:
        raise BadInput(
            f"{path}: nobody signs in with {number}; `feltlink staff list` shows who does."
        )
    return member


def _put(path: Path, staff: Staff, member: Member) -> None:
    """Write the file only if it can be read back."""
    changed = staff.with_member(member)
    save_staff(path, Staff.from_toml(changed.to_toml(), str(path)))


def _hashed(number: str, *, from_stdin: bool) -> str:
    pin = _from_stdin() if from_stdin else _prompted(number)
    fault = pin_fault(pin, number)
    if fault:
        raise BadInput(f"{fault} Nothing was changed.")
    return hash_pin(pin, salt=secrets.token_bytes(SALT_BYTES))


def _from_stdin() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def _prompted(number: str) -> str:
    try:
        pin = getpass(f"PIN of {number}: ")
        again = getpass("Once more: ")
    except EOFError:
        raise BadInput("No PIN was given; nothing was changed.") from None
    if pin != again:
        raise BadInput("The two PINs differ; nothing was changed.")
    return pin


def _list(path: Path, *, as_json: bool) -> int:
    members, today = load_staff(path).members, _today()
    if as_json:
        sys.stdout.write(json.dumps([_document(member, today) for member in members]) + "\n")
        return 0
    for member in members:
        state = f"PIN of {member.changed}" if member.active else "removed"
        sys.stdout.write(f"{member.number:<6}  {member.role.value:<10}  {member.name}  {state}\n")
    for member in members:
        if member.for_simulation:
            _warn(f"the PIN of {member.number} is hashed for simulation only; give it a new one.")
        if member.is_overdue(today):
            _warn(f"the PIN of {member.number} is older than {PIN_DAYS_MAX} days; change it.")
    return 0


def _document(member: Member, today: date) -> dict[str, object]:
    return {
        "number": member.number,
        "name": member.name,
        "role": member.role.value,
        "active": member.active,
        "changed": member.changed.isoformat(),
        "overdue": member.is_overdue(today),
        "for_simulation": member.for_simulation,
    }


def _warn(sentence: str) -> None:
    sys.stderr.write(f"feltlink: {sentence}\n")


def _today() -> date:
    return date.today()
