"""The words on the displays: view data to short lines. No rule is decided here.

A line fits the dealer OLED (21 characters of a 6-pixel font on 128 pixels); longer sentences
are wrapped at words. The first lines matter most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from controller.domain.money import Money
from controller.domain.pack import Hand
from controller.domain.table import (
    ChipCount,
    Claim,
    ClaimStatus,
    PaidFrom,
    Phase,
    Wager,
)
from controller.domain.view import MeterView, View

DEALER_WIDTH: Final = 21
SIMULATED: Final = "SIMULATED"
PENDING: Final = "PENDING"
LIMIT: Final = "LIMIT"
OUT_OF_SERVICE: Final = "OUT OF SERVICE"
CALL_FLOOR: Final = "CALL FLOOR"
CALL_ATTENDANT: Final = "CALL ATTENDANT"
PRICED_LAST: Final = "KEYED AFTER ITS TURN: PRICED LAST"
RECOUNT: Final = "RECOUNT OR CALL FLOOR"
PHASE_WORDS: Final = {
    Phase.CLOSED: "CLOSED",
    Phase.OPEN: "BETS OPEN",
    Phase.LOCKED: "NO MORE BETS",
    Phase.MISCOUNT: "MISCOUNT",
    Phase.IN_PLAY: "IN PLAY",
    Phase.FAULT: OUT_OF_SERVICE,
}


def dealer_lines(view: View, *, notice: str = "", simulated: bool = False) -> tuple[str, ...]:
    """What the dealer reads, most urgent first."""
    said = [f"{view.table_id} ROUND {view.round}", PHASE_WORDS[view.phase]]
    said += _DETAILS[view.phase](view)
    said += [f"NO: {notice}"] if notice and view.phase is not Phase.FAULT else []
    said += [SIMULATED] if simulated else []
    return tuple(line for text in said for line in wrap(text, DEALER_WIDTH))


def meter_lines(view: View, *, simulated: bool = False) -> tuple[str, ...]:
    """Every level in dollars and cents."""
    out = [OUT_OF_SERVICE] if view.phase is Phase.FAULT else []
    return (*out, *(_meter(meter) for meter in view.meters), *([SIMULATED] if simulated else []))


def _meter(meter: MeterView) -> str:
    return " ".join((meter.title.upper(), meter.shown.for_people(), *marks(meter)))


def marks(meter: MeterView) -> tuple[str, ...]:
    """What stands beside an amount, in words and never in a colour."""
    return (PENDING,) * meter.pending + (LIMIT,) * meter.at_limit


def _closed(_view: View) -> Iterator[str]:
    return iter(())


def _open(view: View) -> Iterator[str]:
    if view.seen:
        yield f"SEEN: {seat_list(view.seen)}"
    yield from _returns(view.to_return)
    yield from blocked_seats(view)


def blocked_seats(view: View) -> Iterator[str]:
    """Seats that cannot take a wager now, and what to do about them."""
    waiting = [seat for seat in view.must_clear if seat not in view.out_of_service]
    if waiting:
        yield f"CLEAR SENSOR: SEAT {seat_list(waiting)}"
    if view.out_of_service:
        yield f"OUT OF SERVICE: SEAT {seat_list(view.out_of_service)}"


def _locked(view: View) -> Iterator[str]:
    if not view.count_hidden:
        yield from _accepted(view.accepted)
        yield from fee(view)  # its band would tell how many wagers there are
    yield "COUNT THE CHIPS" if view.accepted or view.count_hidden else "PRESS END"
    yield from _returns(view.to_return)


def _miscount(view: View) -> Iterator[str]:
    yield f"CHIPS {_chips(view.counted)}"
    yield f"WAGERS {_chips(_tally(view.accepted))}"
    yield f"AT SEATS {seat_list(wager.seat for wager in view.accepted)}"
    yield RECOUNT


def _in_play(view: View) -> Iterator[str]:
    yield from _accepted(view.accepted)
    yield from fee(view)
    for claim in view.claims:
        yield from _claim(claim)
    for envy in view.envy:
        yield f"ENVY SEAT {envy.seat} {envy.amount.for_people()}"
    if view.face_up:
        yield f"FACE UP: SEAT {seat_list(view.face_up)}"
    yield from _returns(view.to_return)


def _claim(claim: Claim) -> Iterator[str]:
    yield f"SEAT {claim.seat} {hand_words(claim.hand)}"
    if claim.late:
        yield PRICED_LAST
    if claim.status is ClaimStatus.WAITING:
        yield f"{claim.amount.for_people()} {CALL_FLOOR}"
    elif claim.paid_from is not PaidFrom.ENVY:
        yield f"PAY {claim.amount.for_people()}"


def _fault(view: View) -> Iterator[str]:
    yield view.fault
    yield CALL_ATTENDANT


def _accepted(wagers: tuple[Wager, ...]) -> Iterator[str]:
    if not wagers:
        yield "NO WAGERS"
        return
    word = "WAGER" if len(wagers) == 1 else "WAGERS"
    yield f"{len(wagers)} {word}: {seat_list(wager.seat for wager in wagers)}"
    yield from chips_by_amount(wagers)


def hand_words(hand: Hand) -> str:
    return hand.value.replace("_", " ").upper()


def chips_by_amount(wagers: tuple[Wager, ...]) -> Iterator[str]:
    """Chips of several amounts are told apart; those of one need not be."""
    chips = _tally(wagers)
    if len(chips) > 1:
        yield _chips(chips)


def side_by_side(
    counted: tuple[ChipCount, ...], wagers: tuple[Wager, ...]
) -> tuple[tuple[Money, int, int], ...]:
    """For each amount how many chips were counted, and how many wagers there are."""
    chips = {count.amount: count.number for count in counted}
    accepted = {count.amount: count.number for count in _tally(wagers)}
    return tuple((a, chips.get(a, 0), accepted.get(a, 0)) for a in sorted({*chips, *accepted}))


def _tally(wagers: tuple[Wager, ...]) -> tuple[ChipCount, ...]:
    amounts = sorted({wager.amount for wager in wagers})
    return tuple(ChipCount(a, sum(wager.amount == a for wager in wagers)) for a in amounts)


def _chips(chips: tuple[ChipCount, ...]) -> str:
    return ", ".join(f"{c.number} x {c.amount.for_people()}" for c in chips) or "0"


def fee(view: View) -> Iterator[str]:
    if view.fee is not None:
        band, fee = view.fee
        yield f"FEE {fee.for_people()}: {band.upper()}" if fee else f"FEE BAND {band.upper()}"


def _returns(wagers: tuple[Wager, ...]) -> Iterator[str]:
    for wager in wagers:
        yield f"RETURN SEAT {wager.seat} {wager.amount.for_people()}"


def seat_list(seats: Iterable[int]) -> str:
    return " ".join(str(seat) for seat in seats)


_DETAILS: Final = {
    Phase.CLOSED: _closed,
    Phase.OPEN: _open,
    Phase.LOCKED: _locked,
    Phase.MISCOUNT: _miscount,
    Phase.IN_PLAY: _in_play,
    Phase.FAULT: _fault,
}
