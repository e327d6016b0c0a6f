"""The language of `feltlink play`: one line of text to one step. Pure; it knows no table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from controller.domain.errors import BadInput
from controller.domain.meter import Account
from controller.domain.money import Money, parse_money
from controller.domain.pack import Hand
from controller.domain.table import ChipCount


@dataclass(frozen=True, slots=True)
class Step:
    """A verb and its arguments, already of the right kinds; what a verb does not use is empty."""

    verb: str
    seats: tuple[int, ...] = ()
    amount: Money | None = None
    hand: Hand | None = None
    number: int | None = None
    chips: tuple[ChipCount, ...] = ()
    text: str = ""
    wait_ms: int = 0
    adjustment: Adjustment | None = None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """`adjust METER current|reserve|overflow +AMOUNT|-AMOUNT BY APPROVED_BY REFERENCE REASON`."""

    meter: str
    account: Account
    raises: bool
    amount: Money
    by: str
    approved_by: str
    reference: str
    reason: str


def parse(line: str) -> Step | None:
    """One step, or None for a blank line or a comment."""
    words = line.split("#", 1)[0].split()
    if not words:
        return None
    verb, rest = words[0], words[1:]
    if verb not in _VERBS:
        raise BadInput(f"{verb!r} is not an input; known are {', '.join(_VERBS)}.")
    usage, reader = _VERBS[verb]
    try:
        return reader(verb, rest)
    except BadInput as bad:
        raise BadInput(f"{bad} Write: {usage}") from bad


def _bare(verb: str, words: list[str]) -> Step:
    if words:
        raise BadInput(f"{verb} takes nothing after it, found {' '.join(words)!r}.")
    return Step(verb)


def _seat(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", word):
        raise BadInput(f"{word!r} is not a seat number.")
    return int(word)


def _amount(word: str) -> Money:
    try:
        return parse_money(word)
    except BadInput:
        raise BadInput(f"{word!r} is not an amount.") from None


def _seats(verb: str, words: list[str]) -> Step:
    if not words:
        raise BadInput("A seat is missing.")
    return Step(verb, seats=tuple(_seat(word) for word in words))


def _one_seat(verb: str, words: list[str]) -> Step:
    if len(words) != 1:
        raise BadInput("One seat is wanted.")
    return Step(verb, seats=(_seat(words[0]),))


def _perhaps_seat(verb: str, words: list[str]) -> Step:
    return _one_seat(verb, words) if words else Step(verb)


def _seat_amount(verb: str, words: list[str]) -> Step:
    if len(words) not in (1, 2):
        raise BadInput("A seat is wanted, and perhaps an amount.")
    amount = _amount(words[1]) if len(words) > 1 else None
    return Step(verb, seats=(_seat(words[0]),), amount=amount)


def _count(verb: str, words: list[str]) -> Step:
    numbers = words[::2]
    if not words or not all(re.fullmatch(r"[0-9]{1,3}", word) for word in numbers):
        raise BadInput("A number of chips is wanted.")
    if len(words) == 1:
        return Step(verb, number=int(words[0]))
    if len(words) % 2:
        raise BadInput("Each number needs its amount.")
    chips = zip(numbers, words[1::2], strict=True)
    return Step(verb, chips=tuple(ChipCount(_amount(a), int(n)) for n, a in chips))


def _win(verb: str, words: list[str]) -> Step:
    if len(words) != 2:
        raise BadInput("A seat and a hand are wanted.")
    if words[1] not in set(Hand):
        raise BadInput(f"{words[1]!r} is not a hand; known are {', '.join(Hand)}.")
    return Step(verb, seats=(_seat(words[0]),), hand=Hand(words[1]))


def _text(verb: str, words: list[str]) -> Step:
    if not words:
        raise BadInput("A reason is missing.")
    return Step(verb, text=" ".join(words))


_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def _wait(verb: str, words: list[str]) -> Step:
    found = re.fullmatch(r"([0-9]{1,9})(ms|s|m|h)", words[0]) if len(words) == 1 else None
    if found is None:
        raise BadInput("A time such as 250ms, 10s, 5m or 2h is wanted.")
    return Step(verb, wait_ms=int(found[1]) * _UNIT_MS[found[2]])


def _adjust(verb: str, words: list[str]) -> Step:
    accounts = [a.value for a in (Account.CURRENT, Account.RESERVE, Account.OVERFLOW)]
    if len(words) < 7 or words[1] not in accounts or words[2][0] not in "+-":
        raise BadInput("An adjustment needs meter, account, signed amount, two people and why.")
    adjustment = Adjustment(
        meter=words[0],
        account=Account(words[1]),
        raises=words[2][0] == "+",
        amount=_amount(words[2][1:]),
        by=words[3],
        approved_by=words[4],
        reference=words[5],
        reason=" ".join(words[6:]),
    )
    return Step(verb, adjustment=adjustment)


_VERBS: Final[Mapping[str, tuple[str, Callable[[str, list[str]], Step]]]] = {
    "open": ("open", _bare),
    "close": ("close", _bare),
    "chip": ("chip SEAT [AMOUNT]", _seat_amount),
    "lift": ("lift SEAT", _one_seat),
    "lock": ("lock", _bare),
    "count": ("count N [AMOUNT] [N AMOUNT] ...", _count),
    "strike": ("strike SEAT", _one_seat),
    "add": ("add SEAT [AMOUNT]", _seat_amount),
    "reopen": ("reopen", _bare),
    "tie": ("tie SEAT SEAT ...", _seats),
    "win": ("win SEAT HAND", _win),
    "validate": ("validate [SEAT]", _perhaps_seat),
    "reject": ("reject [SEAT]", _perhaps_seat),
    "envy": ("envy", _bare),
    "void": ("void REASON", _text),
    "end": ("end", _bare),
    "adjust": (
        "adjust METER current|reserve|overflow +AMOUNT|-AMOUNT BY APPROVED_BY REFERENCE REASON",
        _adjust,
    ),
    "wait": ("wait 250ms", _wait),
    "power-cut": ("power-cut", _bare),
    "show": ("show", _bare),
}
