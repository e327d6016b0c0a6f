"""A second opinion on prices and envy, in plain integers, written from the rules alone.

It uses the pack as data and none of the domain's arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from controller.domain.pack import (
    EnvyLine,
    Hand,
    MeterParameters,
    MeterPay,
    OddsPay,
    Overflow,
    Pack,
    Settings,
    Simultaneous,
    Style,
)

CENT: Final = 1_000_000
MILLION: Final = 1_000_000


@dataclass
class Pot:
    """A meter as three heaps of micro-cents."""

    parameters: MeterParameters
    current: int
    reserve: int
    overflow: int

    @property
    def heaps(self) -> tuple[int, int, int]:
        return self.current, self.reserve, self.overflow

    def copy(self) -> Pot:
        return replace(self)

    def room(self) -> int:
        limit = self.parameters.limit
        return 10**30 if limit is None else max(0, limit.ucents - self.current)

    def contribute(self, wagered: int) -> int:
        """The round's wagers arrive; says how much that was."""
        visible, rest = divmod(wagered * self.parameters.rate_ppm, MILLION)
        hidden, rest_hidden = divmod(wagered * self.parameters.reserve_rate_ppm, MILLION)
        assert rest == rest_hidden == 0, "whole cents at a rate in millionths are always whole"
        fits = min(visible, self.room())
        self.current += fits
        if self.parameters.overflow is Overflow.RESERVE:
            self.reserve += visible - fits
        else:
            self.overflow += visible - fits
        self.reserve += hidden
        return visible + hidden

    def award(self, percent: int) -> int:
        """A winner's turn: so much of what stands here, down to the cent."""
        amount = self.current * percent // 100 // CENT * CENT
        self.current -= amount
        if percent == 100:
            self.current += self.parameters.seed.ucents
            if self.parameters.overflow is Overflow.NEXT:
                waiting = min(self.overflow, self.room())
                self.overflow -= waiting
                self.current += waiting
            released = min(self.reserve, self.room())
            self.reserve -= released
            self.current += released
        return amount


@dataclass(frozen=True)
class Prices:
    """Who gets what of one meter, where it then stands, and what the house had to add."""

    by_seat: Mapping[int, int]
    after: Pot
    funded: int


def prices(start: Pot, policy: Simultaneous, turns: Sequence[tuple[int, int]]) -> Prices:
    """Price (seat, percent) winners in turn, from the meter after the round's contributions."""
    pot, paid, funded = start.copy(), {}, 0
    if policy is Simultaneous.IN_TURN:
        groups = [(percent, [seat]) for seat, percent in turns]
    else:
        firsts = dict.fromkeys(percent for _, percent in turns)
        groups = [(p, [seat for seat, percent in turns if percent == p]) for p in firsts]
    for percent, seats in groups:
        amount = pot.award(percent)
        funded += start.parameters.seed.ucents if percent == 100 else 0
        if policy is Simultaneous.FULL:
            funded += amount * (len(seats) - 1)
        paid.update(_parts(amount, seats, policy))
    return Prices(paid, pot, funded)


def _parts(amount: int, seats: Sequence[int], policy: Simultaneous) -> dict[int, int]:
    if policy is not Simultaneous.SPLIT:
        return dict.fromkeys(seats, amount)
    cents = amount // CENT
    parts = {seat: cents // len(seats) * CENT for seat in seats}
    parts[min(seats)] += cents % len(seats) * CENT
    return parts


def meter_line(pack: Pack, hand: Hand) -> MeterPay | None:
    return next((p for p in pack.pays if isinstance(p, MeterPay) and p.hand == hand), None)


def odds(pack: Pack, settings: Settings, hand: Hand, wager: int) -> int | None:
    """What the tray pays, or None if the hand is not paid from the tray."""
    for line in pack.pays:
        if isinstance(line, OddsPay) and line.hand == hand:
            stake = settings.stake_returned and line.style is Style.TO
            return wager * (line.multiplier + stake)
    return None


def envy(
    pack: Pack,
    wagers: Mapping[int, int],
    keyed: Mapping[int, Hand],
    ties: Iterable[Sequence[int]],
) -> dict[tuple[int, int, Hand], int]:
    """Every (receiver, holder, hand) that is owed envy, by trying all pairs."""
    player = {seat: seat for seat in range(1, 11)}
    for tie in ties:
        player |= dict.fromkeys(tie, tie[0])
    owed = {}
    for holder, hand in keyed.items():
        for receiver, wager in wagers.items():
            amount = scheduled(pack, hand, wager)
            if amount and player[receiver] != player[holder]:
                owed[receiver, holder, hand] = amount
    return owed


def scheduled(pack: Pack, hand: Hand, wager: int) -> int:
    """The schedule's amount for this wager; any royal is a royal."""
    lines = [line for line in pack.envy if _is(line, hand)]
    for line in lines:
        if line.wager.ucents == wager:
            return line.amount.ucents
    if lines and pack.envy_scales:
        return lines[0].amount.ucents * wager // lines[0].wager.ucents
    return 0


def _is(line: EnvyLine, hand: Hand) -> bool:
    return line.hand == hand or ("royal" in line.hand and "royal" in hand)
