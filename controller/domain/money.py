"""Exact money: whole micro-cents, never a float, never negative.

A cent is 1,000,000 micro-cents, so whole cents times a rate in parts per million is always
whole and accrual needs no rounding rule. This is the only arithmetic on amounts.
"""

from __future__ import annotations

import re
from functools import total_ordering
from typing import Final, NoReturn

from controller.domain.errors import BadInput, Broken, check

UCENTS_PER_CENT: Final = 1_000_000
UCENTS_PER_DOLLAR: Final = 100 * UCENTS_PER_CENT
PPM_WHOLE: Final = 1_000_000

_AMOUNT: Final = re.compile(r"(\d{1,12})(?:\.(\d{1,8}))?", re.ASCII)
_RATE: Final = re.compile(r"(\d)(?:\.(\d{1,6}))?", re.ASCII)


@total_ordering
class Money:
    """An exact amount. A correction is an opposite entry, not a negative amount.

    A plain class and not a dataclass, so that files and wires show one decimal string.
    """

    __slots__ = ("ucents",)
    ucents: int

    def __init__(self, ucents: int) -> None:
        if type(ucents) is not int or ucents < 0:
            raise Broken(f"bad amount {ucents!r}")
        object.__setattr__(self, "ucents", ucents)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Money is immutable: {name} stays as it is")

    def __repr__(self) -> str:
        return f"Money({self.exact()})"

    def __hash__(self) -> int:
        return hash(self.ucents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.ucents == other.ucents

    def __lt__(self, other: Money) -> bool:
        return self.ucents < other.ucents

    def __add__(self, other: Money) -> Money:
        return Money(self.ucents + other.ucents)

    def __sub__(self, other: Money) -> Money:
        return Money(self.ucents - other.ucents)

    def __mul__(self, times: int) -> Money:
        return Money(self.ucents * times)

    def __bool__(self) -> bool:
        return self.ucents != 0

    def share(self, rate_ppm: int) -> Money:
        """The part at rate_ppm, rounded down to the micro-cent."""
        return Money(self.ucents * rate_ppm // PPM_WHOLE)

    def whole_cents(self) -> Money:
        """What can be paid and displayed: rounded down to the cent, the rest stays behind."""
        return Money(self.ucents - self.ucents % UCENTS_PER_CENT)

    def is_whole_cents(self) -> bool:
        return self.ucents % UCENTS_PER_CENT == 0

    def exact(self) -> str:
        """For files and wires: "10000.14250000"."""
        return f"{self.ucents // UCENTS_PER_DOLLAR}.{self.ucents % UCENTS_PER_DOLLAR:08d}"

    def payable(self) -> str:
        """For files and wires, rounded down to the cent: "10000.14"."""
        cents = self.ucents // UCENTS_PER_CENT
        return f"{cents // 100}.{cents % 100:02d}"

    def for_people(self) -> str:
        """For displays, rounded down to the cent: "$10,000.14"."""
        cents = self.ucents // UCENTS_PER_CENT
        return f"${cents // 100:,}.{cents % 100:02d}"


ZERO: Final = Money(0)


def total(amounts: list[Money] | tuple[Money, ...]) -> Money:
    return Money(sum(amount.ucents for amount in amounts))


def parse_money(text: object) -> Money:
    """Read "10000.00": digits, a point, up to 8 decimals. Anything else, a float above all, no."""
    found = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise BadInput(f'{text!r} is not an amount; write dollars as text, such as "10000.00"')
    dollars, decimals = found.groups(default="")
    return Money(int(dollars) * UCENTS_PER_DOLLAR + int(decimals.ljust(8, "0")))


def parse_rate(text: object) -> int:
    """Read "0.1425" as 142,500 parts per million; from 0 to 1, up to 6 decimals."""
    found = _RATE.fullmatch(text) if isinstance(text, str) else None
    if found is not None:
        whole, decimals = found.groups(default="")
        rate_ppm = int(whole) * PPM_WHOLE + int(decimals.ljust(6, "0"))
        if rate_ppm <= PPM_WHOLE:
            return rate_ppm
    raise BadInput(f'{text!r} is not a rate; write a share of the wager, such as "0.1425"')


def show_rate(rate_ppm: int) -> str:
    """The inverse of parse_rate, without idle zeros: "0.1425"."""
    check(0 <= rate_ppm <= PPM_WHOLE, f"bad rate {rate_ppm!r}")
    text = f"{rate_ppm // PPM_WHOLE}.{rate_ppm % PPM_WHOLE:06d}"
    return text.rstrip("0").rstrip(".")
