"""The keys to press for each task, from the page where nothing is half entered.

For scripts and tests that drive a real keypad. The dealer's tasks start with the floor key off,
the floor's with it on and the floor just signed in. None: the keypad cannot express it at this
moment; ask the table itself, and it says why not.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.domain.envy import owed
from controller.domain.money import Money
from controller.domain.pack import Hand
from controller.domain.table import ChipCount, Claim, Phase, Table
from controller.panel.count import DIGITS_MAX, asked_amounts
from controller.panel.dealer import CANNOT_TIE, COUNTING, why_no_walk
from controller.panel.floor import choices
from controller.panel.validation import checks_for, waiting
from controller.panel.win import hands_for
from controller.panel.words import CHOICES, digit_of, keys_to_pick

Keys = tuple[str, ...]

ENTER: Keys = ("enter",)


def count_keys(table: Table, chips: Sequence[ChipCount] | int) -> Keys | None:
    """A number alone is of the one amount that was accepted."""
    if table.phase not in COUNTING:
        return None
    if isinstance(chips, int):
        accepted = {wager.amount for wager in table.round.wagers} or {table.settings.wagers[0]}
        if len(accepted) > 1:
            return None
        chips = [ChipCount(accepted.pop(), chips)]
    numbers = {chip.amount: chip.number for chip in chips}
    if len(numbers) < len(chips) or not set(numbers) <= set(table.settings.wagers):
        return None
    if not all(0 <= number < 10**DIGITS_MAX for number in numbers.values()):
        return None
    return _count(table, numbers)


def _count(table: Table, numbers: dict[Money, int]) -> Keys:
    asked = asked_amounts(table)
    if set(numbers) <= set(asked):
        return tuple(key for amount in asked for key in (*_digits(numbers, amount), "enter"))
    # MENU asks for every amount from the first on; what is keyed by then stays.
    first = asked[0]
    rest = (
        (() if amount == first else _digits(numbers, amount)) for amount in table.settings.wagers
    )
    return (*_digits(numbers, first), "menu", *(key for keys in rest for key in (*keys, "enter")))


def _digits(numbers: dict[Money, int], amount: Money) -> Keys:
    return tuple(str(numbers.get(amount, 0)))


def win_keys(table: Table, seat: int, hand: Hand) -> Keys | None:
    if table.phase is not Phase.IN_PLAY or not _is_seat(table, seat):
        return None
    hands = hands_for(table, seat)
    if hand not in hands:
        return None
    return (digit_of(seat), *keys_to_pick(hands.index(hand)), "enter")


def envy_keys(table: Table) -> Keys | None:
    """ENTER begins the walk, and one more for each envy that is handed over."""
    if table.phase is not Phase.IN_PLAY or why_no_walk(table):
        return None
    return ENTER * (1 + len(owed(table)))


def tie_keys(table: Table, seats: Sequence[int]) -> Keys | None:
    keyable = all(1 <= seat <= CHOICES for seat in seats) and len(set(seats)) == len(seats)
    if table.phase in CANNOT_TIE or not seats or not keyable:
        return None
    return ("tie", *(digit_of(seat) for seat in seats), "enter")


def sign_in_keys(number: str, pin: str) -> Keys:
    return (*number, "enter", *pin, "enter")


def open_keys(table: Table) -> Keys | None:
    return _chosen(table, "OPEN TABLE", "enter")


def close_keys(table: Table) -> Keys | None:
    return _chosen(table, "CLOSE TABLE", "enter")


def strike_keys(table: Table, seat: int, reason: int = 0) -> Keys | None:
    """Reasons are counted from 0."""
    if not _is_seat(table, seat):
        return None
    return _chosen(table, "STRIKE SEAT", digit_of(seat), *keys_to_pick(reason), "enter")


def add_keys(table: Table, seat: int, amount: Money, reason: int = 0) -> Keys | None:
    wagers = table.settings.wagers
    if not _is_seat(table, seat) or amount not in wagers:
        return None
    which = keys_to_pick(wagers.index(amount)) if len(wagers) > 1 else ()
    return _chosen(table, "ADD WAGER", digit_of(seat), *which, *keys_to_pick(reason), "enter")


def reopen_keys(table: Table, reason: int = 0) -> Keys | None:
    return _chosen(table, "REOPEN BETS", *keys_to_pick(reason), "enter")


def void_keys(table: Table, reason: int = 0) -> Keys | None:
    return _chosen(table, "VOID ROUND", *keys_to_pick(reason), "enter")


def validate_keys(table: Table, seat: int | None = None) -> Keys | None:
    """The next in pay order, or that seat."""
    found = _to_win(table, seat)
    if found is None:
        return None
    there, claim = found
    return (*there, "1", *ENTER * len(checks_for(table, claim)), "enter")


def reject_keys(table: Table, seat: int | None = None, reason: int = 0) -> Keys | None:
    found = _to_win(table, seat)
    return (*found[0], "2", *keys_to_pick(reason), "enter") if found else None


def _to_win(table: Table, seat: int | None) -> tuple[Keys, Claim] | None:
    """The keys that bring a waiting win to the floor's page."""
    claims = waiting(table) if table.phase is Phase.IN_PLAY else ()
    for steps, claim in enumerate(claims):
        if seat is None or claim.seat == seat:
            return ("win",) * steps, claim
    return None


def _chosen(table: Table, choice: str, *keys: str) -> Keys | None:
    digits = [digit for digit, text in choices(table).items() if text == choice]
    return (*digits, *keys) if digits else None


def _is_seat(table: Table, seat: int) -> bool:
    return 1 <= seat <= min(table.settings.seats, CHOICES)
