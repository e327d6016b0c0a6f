"""Random casinos: amounts, meters, settings and people. Every value drawn here is a legal one,

except where a name says `any`: those are for showing that nonsense is refused.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from hypothesis import strategies as st

from controller.adapters.pack_files import load_pack, pack_ids
from controller.domain.money import UCENTS_PER_CENT, UCENTS_PER_DOLLAR, Money
from controller.domain.pack import (
    CountMode,
    MeterParameters,
    OddsPay,
    Overflow,
    Pack,
    Settings,
    Simultaneous,
    VoidContributions,
)
from controller.domain.table import Person, Role

ONE: Final = Money(UCENTS_PER_DOLLAR)
FIVE: Final = Money(5 * UCENTS_PER_DOLLAR)
DEALER: Final = Person("Dana", Role.DEALER)
FLOOR: Final = Person("Flora", Role.FLOOR)
BOSS: Final = Person("Boris", Role.FLOOR)
TECHNICIAN: Final = Person("Theo", Role.TECHNICIAN)
UNIT: Final = Person("unit", Role.SYSTEM)
PEOPLE: Final = (DEALER, FLOOR, BOSS, TECHNICIAN, Person("Ada", Role.AUDITOR), UNIT)


@cache
def meter_packs() -> tuple[Pack, ...]:
    packs = (load_pack(name).pack for name in pack_ids())
    return tuple(pack for pack in packs if pack.meters)


@cache
def amounts(dollars: int) -> st.SearchStrategy[Money]:
    """From nothing to so many dollars; whole cents and crumbs of a cent alike."""
    cents = st.integers(0, dollars * 100).map(lambda c: Money(c * UCENTS_PER_CENT))
    return st.one_of(cents, st.integers(0, dollars * UCENTS_PER_DOLLAR).map(Money))


def next_cent(amount: Money) -> Money:
    """A limit is on what shows, so it is one of whole cents."""
    return amount if amount.is_whole_cents() else amount.whole_cents() + Money(UCENTS_PER_CENT)


@st.composite
def parameters(draw: st.DrawFn, name: str, rate_ppm_max: int) -> MeterParameters:
    """A meter small enough that limits and seeds are reached within an evening."""
    seed = draw(amounts(30))
    initial = draw(st.just(seed) | amounts(60))  # most meters start at their seed
    above = draw(st.none() | amounts(12))
    return MeterParameters(
        name=name,
        seed=seed,
        initial=initial,
        initial_reserve=draw(st.just(Money(0)) | amounts(8)),
        rate_ppm=draw(st.integers(0, rate_ppm_max)),
        reserve_rate_ppm=draw(st.just(0) | st.integers(0, rate_ppm_max)),
        limit=None if above is None else next_cent(max(seed, initial) + above),
        overflow=draw(st.sampled_from(Overflow)),
        max_contribution=draw(amounts(20)) if draw(st.integers(0, 9)) == 9 else None,
        link=None,
    )


@cache
def wagers_of(pack: Pack) -> st.SearchStrategy[tuple[Money, ...]]:
    """$1, $5 or both, as far as the pack's envy schedule has an amount for them."""
    listed = {line.wager for line in pack.envy}
    free = not listed or pack.envy_scales
    taken = [wager for wager in (ONE, FIVE) if free or wager in listed]
    choices = [(wager,) for wager in taken]
    return st.sampled_from([*choices, tuple(taken)])


@cache
def odds_amounts(pack: Pack) -> tuple[Money, ...]:
    """Sums that the tray really pays, to stand exactly on a bound."""
    odds = [pay.multiplier for pay in pack.pays if isinstance(pay, OddsPay)]
    return tuple(wager * multiplier for wager in (ONE, FIVE) for multiplier in odds)


@st.composite
def settings_for(draw: st.DrawFn, pack: Pack, policy: Simultaneous) -> Settings:
    seats = draw(st.integers(1, 6))
    rate_ppm_max = 1_000_000 // (2 * len(pack.meters))
    return Settings(
        table_id="T01",
        seats=seats,
        wagers=draw(wagers_of(pack)),
        edition=pack.edition,
        adjacent_boxes=draw(st.integers(1, seats)),
        envy_holder_must_wager=draw(st.booleans()),
        simultaneous=policy,
        stake_returned=draw(st.booleans()),
        validate_all=draw(st.booleans()),
        validate_from=draw(st.none() | amounts(300) | st.sampled_from(odds_amounts(pack))),
        count=draw(st.sampled_from(CountMode)),
        void_contributions=draw(st.sampled_from(VoidContributions)),
        floor_may_add=draw(st.booleans()),
        collection_fees=(),
        meters=tuple(draw(parameters(rule.name, rate_ppm_max)) for rule in pack.meters),
    )


any_seat: Final = st.integers(-1, 12)
any_amount: Final = st.sampled_from([Money(0), ONE, FIVE, Money(1), FIVE * 40]) | amounts(10)
