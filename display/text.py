"""The words on the displays: view data to short lines. No rule is decided here.

A line fits the dealer OLED (21 characters of a 6-pixel font on 128 pixels); longer sentences
are wrapped at words. The first lines matter most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

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


def dealer_lines(view: View, *, notice: str = "", simulated: bool = False) -> tuple[str, ...]:
    """What the dealer reads, most urgent first."""
    said = [f"{view.table_id} ROUND {view.round}", *_PHASE[view.phase](view)]
    said += [f"NO: {notice}"] if notice and view.phase is not Phase.FAULT else []
    said += [SIMULATED] if simulated else []
    return tuple(line for text in said for line in wrap(text, DEALER_WIDTH))


def meter_lines(view: View, *, simulated: bool = False) -> tuple[str, ...]:
    """Every level in dollars and cents."""
    out = ["OUT OF SERVICE"] if view.phase is Phase.FAULT else []
    return (*out, *(_meter(meter) for meter in view.meters), *([SIMULATED] if simulated else []))


def _meter(meter: MeterView) -> str:
    marks = (" PENDING" if meter.pending else "") + (" LIMIT" if meter.at_limit else "")
    return f"{meter.title.upper()} {meter.shown.for_people()}{marks}"


def _closed(_view: View) -> Iterator[str]:
    yield "CLOSED"


def _open(view: View) -> Iterator[str]:
    yield "BETS OPEN"
    if view.seen:
        yield f"SEEN: {_seats(view.seen)}"
    yield from _returns(view.to_return)
    waiting = [seat for seat in view.must_clear if seat not in view.out_of_service]
    if waiting:
        yield f"CLEAR SENSOR: SEAT {_seats(waiting)}"
    if view.out_of_service:
        yield f"OUT OF SERVICE: SEAT {_seats(view.out_of_service)}"


def _locked(view: View) -> Iterator[str]:
    yield "NO MORE BETS"
    if not view.count_hidden:
        yield from _accepted(view.accepted)
    yield from _fee(view)
    yield "COUNT THE CHIPS" if view.accepted or view.count_hidden else "PRESS END"
    yield from _returns(view.to_return)


def _miscount(view: View) -> Iterator[str]:
    yield "MISCOUNT"
    yield f"CHIPS {_chips(view.counted)}"
    yield f"WAGERS {_chips(_tally(view.accepted))}"
    yield f"AT SEATS {_seats(wager.seat for wager in view.accepted)}"
    yield "RECOUNT OR CALL FLOOR"


def _in_play(view: View) -> Iterator[str]:
    yield "IN PLAY"
    yield from _accepted(view.accepted)
    yield from _fee(view)
    for claim in view.claims:
        yield from _claim(claim)
    for envy in view.envy:
        yield f"ENVY SEAT {envy.seat} {envy.amount.for_people()}"
    if view.face_up:
        yield f"FACE UP: SEAT {_seats(view.face_up)}"
    yield from _returns(view.to_return)


def _claim(claim: Claim) -> Iterator[str]:
    yield f"SEAT {claim.seat} {claim.hand.replace('_', ' ').upper()}"
    if claim.late:
        yield "KEYED AFTER ITS TURN: PRICED LAST"
    if claim.status is ClaimStatus.WAITING:
        yield f"{claim.amount.for_people()} CALL FLOOR"
    elif claim.paid_from is not PaidFrom.ENVY:
        yield f"PAY {claim.amount.for_people()}"


def _fault(view: View) -> Iterator[str]:
    yield "OUT OF SERVICE"
    yield view.fault
    yield "CALL ATTENDANT"


def _accepted(wagers: tuple[Wager, ...]) -> Iterator[str]:
    if not wagers:
        yield "NO WAGERS"
        return
    word = "WAGER" if len(wagers) == 1 else "WAGERS"
    yield f"{len(wagers)} {word}: {_seats(wager.seat for wager in wagers)}"
    tally = _tally(wagers)
    if len(tally) > 1:
        yield _chips(tally)


def _tally(wagers: tuple[Wager, ...]) -> tuple[ChipCount, ...]:
    amounts = sorted({wager.amount for wager in wagers})
    return tuple(ChipCount(a, sum(wager.amount == a for wager in wagers)) for a in amounts)


def _chips(chips: tuple[ChipCount, ...]) -> str:
    return ", ".join(f"{c.number} x {c.amount.for_people()}" for c in chips) or "0"


def _fee(view: View) -> Iterator[str]:
    if view.fee is not None:
        band, fee = view.fee
        yield f"FEE {fee.for_people()}: {band.upper()}" if fee else f"FEE BAND {band.upper()}"


def _returns(wagers: tuple[Wager, ...]) -> Iterator[str]:
    for wager in wagers:
        yield f"RETURN SEAT {wager.seat} {wager.amount.for_people()}"


def _seats(seats: Iterable[int]) -> str:
    return " ".join(str(seat) for seat in seats)


_PHASE: Final = {
    Phase.CLOSED: _closed,
    Phase.OPEN: _open,
    Phase.LOCKED: _locked,
    Phase.MISCOUNT: _miscount,
    Phase.IN_PLAY: _in_play,
    Phase.FAULT: _fault,
}
