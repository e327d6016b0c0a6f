"""What an operator may choose: the defaults a pack states, and what a table file puts over them.

Both files hold the same keys, so they are read and checked here. Pure: no file access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from controller.document import FLAG, Kind, Section, one_of, read_cents, whole
from controller.domain.money import PPM_WHOLE, UCENTS_PER_CENT, UCENTS_PER_DOLLAR, Money
from controller.domain.pack import CountMode, Pack, Simultaneous, VoidContributions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.document import Problems
    from controller.domain.pack import EnvyLine

SEATS_MAX: Final = 10

CHOICE_KEYS: Final = (
    "wagers",
    "adjacent_boxes",
    "envy_holder_must_wager",
    "simultaneous",
    "stake_returned",
    "validate",
    "count",
    "void_contributions",
    "floor_may_add",
)


class Validate(Struct, frozen=True):
    """Which wins wait for the floor besides those paid from a meter."""

    everything: bool
    from_amount: Money | None


class Choices(Struct, frozen=True):
    """The keys of [rules] in a table file, and of [settings] in a pack."""

    wagers: tuple[Money, ...]
    adjacent_boxes: int
    envy_holder_must_wager: bool
    simultaneous: Simultaneous
    stake_returned: bool
    validate: Validate
    count: CountMode
    void_contributions: VoidContributions
    floor_may_add: bool


# Stands in for a pack's defaults only while a file with problems is read to its end.
PLACEHOLDER: Final = Choices(
    wagers=(Money(UCENTS_PER_DOLLAR),),
    adjacent_boxes=1,
    envy_holder_must_wager=False,
    simultaneous=Simultaneous.IN_TURN,
    stake_returned=False,
    validate=Validate(everything=False, from_amount=None),
    count=CountMode.SHOWN,
    void_contributions=VoidContributions.REVERSE,
    floor_may_add=False,
)


class Edition(Struct, frozen=True):
    """What an older edition of the rule text forbids."""

    name: str
    adjacent_boxes_max: int


class Limits(Struct, frozen=True):
    """How far a pack lets an operator choose."""

    wager_max: Money | None  # by one customer, over all his boxes
    stake_returnable: bool
    editions: tuple[Edition, ...]  # besides the pack's own

    def adjacent_boxes_max(self, edition: str) -> int | None:
        found = [known for known in self.editions if known.name == edition]
        return found[0].adjacent_boxes_max if found else None


def _read_wagers(value: object) -> tuple[Money, ...] | None:
    amounts = [read_cents(item) for item in value] if isinstance(value, list) else []
    wagers = tuple(amount for amount in amounts if amount)
    complete = len(wagers) == len(amounts) > 0
    return wagers if complete and len(set(wagers)) == len(wagers) else None


def _read_validate(value: object) -> Validate | None:
    if value in ("meter", "all"):
        return Validate(everything=value == "all", from_amount=None)
    amount = read_cents(value)
    return None if amount is None else Validate(everything=False, from_amount=amount)


WAGERS: Final = Kind(
    'a list of different amounts, each above zero and in whole cents, such as ["1.00", "5.00"]',
    _read_wagers,
)
VALIDATE: Final = Kind(
    '"meter", "all" or an amount in whole cents, such as "600.00"', _read_validate
)
BOXES: Final = whole(1, SEATS_MAX)
SIMULTANEOUS: Final = one_of(Simultaneous)
COUNT: Final = one_of(CountMode)
VOID: Final = one_of(VoidContributions)


def read_choices(section: Section, fallback: Choices, *, required: bool = False) -> Choices:
    """The keys of one section; those it does not state are the fallback's, or missing."""

    def flag(key: str, otherwise: bool) -> bool:  # noqa: FBT001 - the fallback, not a switch
        return section.take(key, FLAG, otherwise, required=required)

    return Choices(
        wagers=section.take("wagers", WAGERS, fallback.wagers, required=required),
        adjacent_boxes=section.take(
            "adjacent_boxes", BOXES, fallback.adjacent_boxes, required=required
        ),
        envy_holder_must_wager=flag("envy_holder_must_wager", fallback.envy_holder_must_wager),
        simultaneous=section.take(
            "simultaneous", SIMULTANEOUS, fallback.simultaneous, required=required
        ),
        stake_returned=flag("stake_returned", fallback.stake_returned),
        validate=section.take("validate", VALIDATE, fallback.validate, required=required),
        count=section.take("count", COUNT, fallback.count, required=required),
        void_contributions=section.take(
            "void_contributions", VOID, fallback.void_contributions, required=required
        ),
        floor_may_add=flag("floor_may_add", fallback.floor_may_add),
    )


class Ground(Struct, frozen=True):
    """What choices are checked against."""

    pack: Pack
    limits: Limits
    cites: Mapping[str, str]
    seats: int
    edition: str


def check_choices(choices: Choices, ground: Ground, section: Section) -> None:
    """Report every choice that the pack, its edition or the size of the table forbids."""
    _check_boxes(choices.adjacent_boxes, ground, section)
    _check_wager_max(choices, ground, section)
    _check_envy(choices, ground.pack, section)
    if choices.stake_returned and not ground.limits.stake_returnable:
        cite = ground.cites.get("stake_returnable", "")
        section.refuse("stake_returned", choices.stake_returned, f"false ({cite})")


def _check_boxes(boxes: int, ground: Ground, section: Section) -> None:
    if boxes > ground.seats:
        section.refuse("adjacent_boxes", boxes, f"at most the {ground.seats} seats of the table")
    most = ground.limits.adjacent_boxes_max(ground.edition)
    if most is not None and boxes > most:
        cite = ground.cites.get(f"editions.{ground.edition}", "")
        allowed = f"at most {most} under edition {ground.edition} ({cite})"
        section.refuse("adjacent_boxes", boxes, allowed)


def _check_wager_max(choices: Choices, ground: Ground, section: Section) -> None:
    most = ground.limits.wager_max
    if most is None or max(choices.wagers) * choices.adjacent_boxes <= most:
        return
    boxes, cite = choices.adjacent_boxes, ground.cites.get("wager_max", "")
    allowed = f"at most {most.for_people()} a customer, over {boxes} adjacent boxes ({cite})"
    section.refuse("wagers", _texts(choices.wagers), allowed)


def _check_envy(choices: Choices, pack: Pack, section: Section) -> None:
    if all(_has_envy(pack, line, wager) for line in pack.envy for wager in choices.wagers):
        return
    listed = ", ".join(_texts(sorted({line.wager for line in pack.envy})))
    if pack.envy_scales:
        allowed = f"amounts whose envy, in proportion to that for {listed}, is whole cents"
    else:
        allowed = f"only amounts of the pack's envy schedule: {listed}"
    section.refuse("wagers", _texts(choices.wagers), allowed)


def _texts(amounts: Iterable[Money]) -> list[str]:
    return [amount.payable() for amount in amounts]


def _has_envy(pack: Pack, line: EnvyLine, wager: Money) -> bool:
    """True if a wager's envy for the hand of this line is an exact, payable amount."""
    if not pack.envy_scales:
        return pack.envy_for(line.hand, wager) is not None
    return line.amount.ucents * wager.ucents % (line.wager.ucents * UCENTS_PER_CENT) == 0


def check_rates(rates_ppm: Iterable[tuple[int, int]], problems: Problems) -> None:
    """All meters together, visible and reserve rates, may take no more than the whole wager."""
    total_ppm = sum(rate + reserve for rate, reserve in rates_ppm)
    if total_ppm > PPM_WHOLE:
        percent = f"{total_ppm // 10_000}.{total_ppm % 10_000:04d}"
        found = f"rates and reserve rates that sum to {percent} % of a wager"
        problems.say("meters", found, "at most 100 %")
