"""A rule pack and a table's settings as frozen values. Reading them from TOML is elsewhere.

A pack is what the jurisdiction wrote: paytable, legal minima, envy schedule, seat limit.
Settings are what the operator chose within it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from controller.domain.money import Money

PERCENT_WHOLE: Final = 100


class Hand(StrEnum):
    """Every line a paytable can name."""

    ROYAL_FLUSH_DIAMONDS = "royal_flush_diamonds"
    ROYAL_FLUSH_FIRST_FIVE = "royal_flush_first_five"
    COMMUNITY_ROYAL_FLUSH = "community_royal_flush"
    ROYAL_FLUSH = "royal_flush"
    STRAIGHT_FLUSH = "straight_flush"
    FOUR_OF_A_KIND = "four_of_a_kind"
    FULL_HOUSE = "full_house"
    FLUSH = "flush"
    STRAIGHT = "straight"
    THREE_OF_A_KIND = "three_of_a_kind"
    TWO_PAIR = "two_pair"
    PAIR = "pair"
    HIGH_CARD = "high_card"


ROYALS: Final = frozenset(
    {
        Hand.ROYAL_FLUSH_DIAMONDS,
        Hand.ROYAL_FLUSH_FIRST_FIVE,
        Hand.COMMUNITY_ROYAL_FLUSH,
        Hand.ROYAL_FLUSH,
    }
)


class HandBasis(StrEnum):
    """Which cards decide the progressive."""

    HOLE_AND_FLOP = "hole_and_flop"
    BEST_OF_SEVEN = "best_of_seven"


class Style(StrEnum):
    """How odds are worded. "to" may return the stake, "for" never does."""

    TO = "to"
    FOR = "for"


class Simultaneous(StrEnum):
    """What several winners of one meter in one round get."""

    IN_TURN = "in-turn"
    SPLIT = "split"
    FULL = "full"


class CountMode(StrEnum):
    """How the chips are proved against the accepted wagers."""

    SHOWN = "shown"
    BLIND = "blind"
    SENSOR = "sensor"


class VoidContributions(StrEnum):
    """What a void round does to contributions already on the meters."""

    REVERSE = "reverse"
    KEEP = "keep"


class Overflow(StrEnum):
    """Where money above a meter's limit goes."""

    RESERVE = "reserve"
    NEXT = "next"
    HOUSE = "house"


class MeterPay(Struct, frozen=True, tag="meter", tag_field="kind"):
    """A line paid as a percentage of a meter."""

    hand: Hand
    meter: str
    percent: int


class OddsPay(Struct, frozen=True, tag="odds", tag_field="kind"):
    """A line paid from the tray as a multiple of the wager."""

    hand: Hand
    multiplier: int
    style: Style


Pay = MeterPay | OddsPay


class MeterRule(Struct, frozen=True):
    """One meter of a pack: its legal minimum, and the rates it starts with if nobody says."""

    name: str
    title: str
    minimum: Money
    default_rate_ppm: int
    default_reserve_rate_ppm: int


class EnvyLine(Struct, frozen=True):
    """What one wager amount receives for one qualifying hand of another player."""

    wager: Money
    hand: Hand
    amount: Money


class CollectionBand(Struct, frozen=True):
    """A collection-fee band: it holds from this many players up."""

    players_from: int
    label: str


class Pack(Struct, frozen=True):
    """One paytable with everything that the rules fix around it."""

    id: str
    title: str
    jurisdiction: str
    source: str
    edition: str
    hand_basis: HandBasis
    seats_max: int
    meters: tuple[MeterRule, ...]
    pays: tuple[Pay, ...]  # in the order in which lines are tested, highest first
    envy: tuple[EnvyLine, ...]
    envy_scales: bool  # envy for another wager amount is in proportion
    collection: tuple[CollectionBand, ...]  # largest number of players first
    fingerprint: str

    def pay_for(self, hand: Hand) -> Pay | None:
        return next((pay for pay in self.pays if pay.hand == hand), None)

    def rank_of(self, hand: Hand) -> int:
        """Place in the paytable: a smaller number is a higher hand. Envy-only hands come last."""
        lines = [pay.hand for pay in self.pays]
        return lines.index(hand) if hand in lines else len(lines) + list(Hand).index(hand)

    def envy_for(self, hand: Hand, wager: Money) -> Money | None:
        """What a wager receives when another player holds this hand; None if it does not qualify.

        A royal that the paytable sets apart is still a royal to the envy schedule.
        """
        for name in (hand, Hand.ROYAL_FLUSH) if hand in ROYALS else (hand,):
            lines = [line for line in self.envy if line.hand == name]
            for line in lines:
                if line.wager == wager:
                    return line.amount
            if lines and self.envy_scales:
                line = lines[0]
                return Money(line.amount.ucents * wager.ucents // line.wager.ucents)
        return None


class MeterParameters(Struct, frozen=True):
    """What the operator set for one meter. None of it changes while a round is open."""

    name: str
    seed: Money
    initial: Money
    initial_reserve: Money
    rate_ppm: int
    reserve_rate_ppm: int
    limit: Money | None
    overflow: Overflow
    max_contribution: Money | None  # sanity bound on what one round may add
    link: str | None


class Settings(Struct, frozen=True):
    """What the operator chose for one table, complete: every default is filled in."""

    table_id: str
    seats: int
    wagers: tuple[Money, ...]
    edition: str
    adjacent_boxes: int
    envy_holder_must_wager: bool
    simultaneous: Simultaneous
    stake_returned: bool
    validate_all: bool
    validate_from: Money | None  # odds wins from this amount up wait for the floor too
    count: CountMode
    void_contributions: VoidContributions
    floor_may_add: bool
    collection_fees: tuple[Money, ...]  # one per band of the pack; empty if the house set none
    meters: tuple[MeterParameters, ...]
    stub_count_rounds: int = 0  # remind the dealer to count the stub after so many; 0: never
    deck_change_hours: int = 0  # and to change the deck; 0: never
    checklist_from: Money | None = None  # meter wins from here up take the floor through a list
