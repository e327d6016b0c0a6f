"""What a paytable gives back per unit wagered, exactly. Pure: the chances come in as counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from controller.domain.errors import check
from controller.domain.pack import PERCENT_WHOLE, MeterPay, OddsPay, Style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.domain.money import Money
    from controller.domain.pack import Hand, Pack

    Counts = Mapping[Hand, tuple[int, int]]  # numerator and denominator of each line's chance


def own_return(
    pack: Pack,
    counts: Counts,
    *,
    wager: Money,
    amounts: Mapping[str, Money],
    stake_returned: bool,
) -> Fraction:
    """What the player's own hand brings him per unit wagered, with the meters at these amounts."""
    fixed = fixed_return(pack, counts, stake_returned=stake_returned)
    return fixed + meter_return(pack, counts, wager=wager, amounts=amounts)


def fixed_return(pack: Pack, counts: Counts, *, stake_returned: bool) -> Fraction:
    """The part that the tray pays, whatever the meters show. It is the same for every wager."""
    lines = [pay for pay in pack.pays if isinstance(pay, OddsPay)]
    parts = [
        Fraction(*counts[pay.hand]) * units_paid(pay, stake_returned=stake_returned)
        for pay in lines
    ]
    return sum(parts, start=Fraction(0))


def meter_return(
    pack: Pack, counts: Counts, *, wager: Money, amounts: Mapping[str, Money]
) -> Fraction:
    """The part that the meters pay. It shrinks as the wager grows: a percentage does not scale."""
    check(wager.ucents > 0, "a return needs a wager")
    lines = [pay for pay in pack.pays if isinstance(pay, MeterPay)]
    parts = [
        Fraction(*counts[pay.hand])
        * Fraction(amounts[pay.meter].ucents * pay.percent, wager.ucents * PERCENT_WHOLE)
        for pay in lines
    ]
    return sum(parts, start=Fraction(0))


def units_paid(pay: OddsPay, *, stake_returned: bool) -> int:
    """How many wagers the player is handed: "N to 1" gives the stake back only where set so."""
    return pay.multiplier + (1 if stake_returned and pay.style is Style.TO else 0)
