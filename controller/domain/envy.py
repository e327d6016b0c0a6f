"""Envy bonuses: who is owed what because another player holds a qualifying hand.

Envy is the house's, from the tray; it never touches a meter (MD 11.J(2)(e), 12.D(5)-(7);
SD (18)(b)).
"""

from __future__ import annotations

from controller.domain.pack import Hand, Pack
from controller.domain.table import ClaimStatus, Envy, Round, Table


def envies(pack: Pack, round_: Round) -> tuple[Envy, ...]:
    """Every envy of the round, holders and receivers in pay order.

    Each other player's accepted wager is owed the scheduled amount for its own size, once for
    each qualifying hand; never for a hand of the same player.
    """
    return tuple(
        Envy(wager.seat, claim.seat, claim.hand, amount)
        for claim in sorted(round_.claims, key=lambda claim: -claim.seat)
        for wager in reversed(round_.wagers)
        if not same_player(round_, wager.seat, claim.seat)
        and (amount := pack.envy_for(claim.hand, wager.amount)) is not None
    )


def same_player(round_: Round, seat: int, other: int) -> bool:
    return seat == other or any(seat in tie and other in tie for tie in round_.ties)


def owed(table: Table) -> tuple[Envy, ...]:
    """Envies the dealer has not yet acknowledged."""
    paid = table.round.envy_paid
    return tuple(envy for envy in envies(table.pack, table.round) if envy not in paid)


def payable(table: Table) -> tuple[Envy, ...]:
    """Of those, the ones that no longer depend on the floor."""
    waiting = {c.seat for c in table.round.claims if c.status is ClaimStatus.WAITING}
    return tuple(envy for envy in owed(table) if envy.holder not in waiting)


def qualifies(pack: Pack, hand: Hand) -> bool:
    return any(pack.envy_for(hand, line.wager) is not None for line in pack.envy)
