"""Who is at the table: signing in and out, wrong PINs, calling the floor."""

from __future__ import annotations

from typing import Final

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import Refused
from controller.domain.table import Role, Table

FREE_TRIES: Final = 3
FIRST_WAIT_MS: Final = 30_000
LONGEST_WAIT_MS: Final = 15 * 60_000


def sign_in(_table: Table, command: ask.SignIn) -> did.SignedIn:
    """The PIN has been found right; what the role then may do is decided command by command."""
    return did.SignedIn(command.by)


def sign_out(_table: Table, command: ask.SignOut) -> did.SignedOut:
    return did.SignedOut(command.by)


def note_sign_in_failed(table: Table, command: ask.NoteSignInFailed) -> did.SignInFailed:
    return did.SignInFailed(command.number, table.failed_sign_ins + 1)


def call_floor(table: Table, command: ask.CallFloor) -> did.FloorCalled:
    if table.floor_called:
        raise Refused("The floor has been called already.")
    return did.FloorCalled(command.by)


def wait_ms(failures: int) -> int:
    """How long the keypad takes no PIN after so many wrong ones in a row. A pull of the plug
    does not shorten it: the number of failures is read from the ledger and the wait begins anew.
    """
    if failures < FREE_TRIES:
        return 0
    doubled = min(failures - FREE_TRIES, 10)  # past that the cap holds anyway
    return min(FIRST_WAIT_MS << doubled, LONGEST_WAIT_MS)


def may_use_floor_key(role: Role) -> bool:
    """The key switch is for staff that the dealer is not (MD 11.J(2)(c))."""
    return role in (Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR)
