"""Every moment that a display must be able to show, by name: the pictures in tests/golden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace
from PIL import Image

from controller.domain import commands as ask
from controller.domain.view import MeterView, View, no_table, view_of
from controller.screen import Page, Screen
from display.frames import (
    DEALER_SIZE,
    WIDE_SIZE,
    Starting,
    dealer_frame,
    meter_frame,
    stale_frame,
    start_frame,
    stopped_frame,
)
from display.sheet import PAGE_MS, SHIFT_MS
from tests.builders import FIVE, ONE, QUADS, ROYAL, STRAIGHT_FLUSH, UNIT, Evening, still_meter, usd

Draw = Callable[[], Image.Image]

LEVELS_MS: Final = 4000
LARGEST: Final = usd("99999999.99")
NOT_NOW: Final = "WIN does not fit: betting is open; press LOCK first."
LONG: Final = (
    "The ledger on the first card differs from its copy on the second one from row 118204 on, and"
    " neither can be proved; nothing is played here until a technician has run the ledger check"
    " and two people have agreed on the meters."
)


def view(evening: Evening, *seen: int) -> View:
    return view_of(evening.table, seen)


def opened() -> Evening:
    return Evening()


def locked(*seats: int, **keys: Any) -> Evening:
    evening = Evening(**keys)
    evening.lock(*seats)
    return evening


def miscounted() -> Evening:
    evening = locked(1, 2, 3)
    evening.count(2)
    return evening


def mixed(*, count: bool) -> Evening:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.lock(seat1=ONE, seat2=FIVE, seat3=ONE)
    if count:
        evening.count(ones=1, fives=2)
    return evening


def won(*, validated: bool = False) -> Evening:
    """Seat 4 holds a royal, seat 2 quads, three players are owed envy."""
    evening = still_meter(1, 2, 4, 5, initial="12345.67")
    evening.win(4, ROYAL)
    evening.win(2, QUADS)
    if validated:
        evening.validate()
    return evening


def voided() -> Evening:
    evening = Evening(wagers=["1.00", "5.00"])
    evening.prove(seat2=FIVE, seat3=ONE, seat5=ONE)
    evening.void()
    return evening


def blocked() -> Evening:
    evening = Evening(opened=False)
    evening.open(5, 6)
    evening.do(ask.NoteSeatStuck(UNIT, 6))
    return evening


def late() -> Evening:
    evening = still_meter(1, 5)
    evening.win(1, STRAIGHT_FLUSH)
    evening.validate()
    evening.win(5, STRAIGHT_FLUSH)
    return evening


def ten_seats() -> Evening:
    evening = Evening("ca-texas-holdem", fees=["5.00", "4.00", "3.00"])
    evening.lock(*range(1, 11))
    return evening


def faulty(why: str = "sensor 3 is silent: check its cable") -> Evening:
    evening = Evening()
    evening.fault(why)
    return evening


def levels(count: int, *, largest: bool = False, **marks: int) -> View:
    """A view of so many meters; `pending=2` marks the second one."""
    titles = (
        ("Star", "Spade", "Heart", "Diamond", "Club") if count > 3 else ("Mega", "Major", "Minor")
    )
    amounts = ("1234567.89", "100250.40", "10000.14", "5120.00", "999.95")
    meters = tuple(
        MeterView(
            "Progressive" if count == 1 else title,
            LARGEST if largest else usd(amount),
            marks.get("pending", 0) == number,
            marks.get("limit", 0) == number,
        )
        for number, (title, amount) in enumerate(zip(titles, amounts, strict=False), start=1)
    )
    return replace(view(opened()), meters=meters[:count])


def _dealer(moment: View, at_ms: int = 0, **also: Any) -> Draw:
    return lambda: dealer_frame(Screen(moment, **also), at_ms=at_ms)


def _meter(moment: View, size: tuple[int, int], at_ms: int = 0, **also: Any) -> Draw:
    return lambda: meter_frame(Screen(moment, **also), size=size, at_ms=at_ms)


def dealer_scenes() -> dict[str, Draw]:
    royal, paid = view(won()), view(won(validated=True))
    return {
        "closed": _dealer(view(Evening(opened=False))),
        "open-nothing-seen": _dealer(view(opened())),
        "open-seats-seen": _dealer(view(opened(), 1, 3, 4)),
        "open-every-seat-seen": _dealer(view(opened(), *range(1, 11))),
        "open-seats-blocked": _dealer(view(blocked(), 1)),
        "open-return-1": _dealer(view(voided())),
        "open-return-2": _dealer(view(voided()), PAGE_MS),
        "open-reminder": _dealer(view(opened()), PAGE_MS, reminders=("COUNT THE STUB",)),
        "open-simulated": _dealer(view(opened(), 2, 5), simulated=True),
        "open-alert": _dealer(view(opened(), 2, 5), alerts=("DOOR OPEN",)),
        "open-alert-simulated": _dealer(
            view(opened(), 2), simulated=True, alerts=("DOOR OPEN", "FLOOR CALLED"), at_ms=PAGE_MS
        ),
        "open-refused": _dealer(view(opened()), notice=NOT_NOW),
        "open-refused-long-1": _dealer(view(opened()), notice=LONG),
        "open-refused-long-2": _dealer(view(opened()), PAGE_MS, notice=LONG),
        "locked": _dealer(view(locked(2, 4, 5))),
        "locked-one": _dealer(view(locked(4))),
        "locked-six": _dealer(view(locked(1, 2, 3, 4, 5, 6)), simulated=True),
        "locked-ten": _dealer(view(ten_seats())),
        "locked-mixed": _dealer(view(mixed(count=False))),
        "locked-blind": _dealer(view(locked(2, 4, count="blind"))),
        "locked-no-wagers": _dealer(view(locked())),
        "miscount": _dealer(view(miscounted())),
        "miscount-seats": _dealer(view(miscounted()), PAGE_MS),
        "miscount-mixed": _dealer(view(mixed(count=True))),
        "in-play": _dealer(view(still_meter(1, 2, 5))),
        "in-play-call-floor": _dealer(royal),
        "in-play-pay-odds": _dealer(royal, PAGE_MS),
        "in-play-envy": _dealer(paid, 2 * PAGE_MS),
        "in-play-pay-validated": _dealer(paid, simulated=True),
        "in-play-largest": _dealer(_largest_win()),
        "in-play-late": _dealer(view(late())),
        "in-play-late-note": _dealer(view(late()), PAGE_MS * 2),
        "fault": _dealer(view(faulty())),
        "fault-long": _dealer(view(faulty(LONG)), simulated=True),
        "fault-no-table": _dealer(no_table("T01", "the table file names no pack")),
        "shifted": _dealer(view(opened(), 1, 3, 4), 6 * SHIFT_MS),
        **_keypad_scenes(),
    }


def _largest_win() -> View:
    evening = still_meter(1, 2, initial="99999999.99")
    evening.win(1, ROYAL)
    return view(evening)


def _keypad_scenes() -> dict[str, Draw]:
    lock, play = view(locked(2, 4, 5)), view(still_meter(1, 2, 5))
    count = Page("COUNT", ("$1.00 CHIPS", "3 ACCEPTED: 2 4 5"), "3", "ENTER = COUNTED")
    two = ("$1.00 CHIPS", "AMOUNT 1 OF 2", "10 ACCEPTED: 1 2 3 4 5 6 7 8 9 10")
    pin = Page("PIN", ("STAFF NO 1007",), "****", "ENTER = SIGN IN")
    hands = ("1 ROYAL FLUSH 100%", "2 STR FLUSH 10%", "3 QUADS 300:1", "4 FULL HOUSE 50:1")
    envy = Page("ENVY 1 OF 3", ("SEAT 5", "$1,000.00", "FACE UP SEAT 4"), "", "ENTER = HANDED OVER")
    wins = Page("SEAT 2 WINS WITH", ("QUADS 300:1", "PAYS $300.00"), "", "ENTER = KEY IT")
    accept = Page("ACCEPT SEAT 4?", ("ROYAL FLUSH", "PAY $12,345.67"), "", "ENTER = ACCEPT")
    prints = (
        "PACK md-uth-a",
        "0f3a9c77be21d4c80a6fe",
        "7c80a6fe0f3a9c77be21d",
        "PROGRAM",
        "9c77be",
    )
    floor = ("SEAT 4 ROYAL FLUSH", "PAY $12,345.67", "TAX FORM SEAT 4", "WAGER $1.00")
    tie = Page("TIE", ("SEATS OF ONE PLAYER", "ONE ALONE = UNTIE"), "1 2", "ENTER = TIE")
    return {
        "keypad-count": _dealer(lock, page=count),
        "keypad-count-two-amounts": _dealer(lock, page=Page("COUNT", two, "12", "ENTER = NEXT")),
        "keypad-staff": _dealer(lock, page=Page("STAFF NO", (), "1007", "ENTER = PIN NEXT")),
        "keypad-pin": _dealer(lock, page=pin, simulated=True),
        "keypad-checking": _dealer(lock, page=Page("CHECKING PIN")),
        "keypad-which-seat": _dealer(
            play, page=Page("WIN", ("WHICH SEAT?", "1 TO 6"), "", "CLEAR = BACK")
        ),
        "keypad-hands": _dealer(
            play, page=Page("SEAT 4", (*hands, "5 FLUSH 40:1"), "", "MENU = MORE")
        ),
        "keypad-hands-simulated": _dealer(
            play,
            page=Page("SEAT 4", (*hands, "5 FLUSH 40:1"), "", "MENU = MORE"),
            simulated=True,
            at_ms=PAGE_MS,
        ),
        "keypad-hands-rest": _dealer(play, page=Page("SEAT 4", hands[:3], "", "MENU = MORE")),
        "keypad-ten-lines": _dealer(
            play, page=Page("SEAT 4", hands + hands, "", "PICK ONE"), at_ms=PAGE_MS
        ),
        "keypad-wins": _dealer(play, page=wins),
        "keypad-envy": _dealer(play, page=envy),
        "keypad-accept": _dealer(play, page=accept, alerts=("FLOOR CALLED",)),
        "keypad-floor-view": _dealer(play, page=Page("WIN 1/1", floor, "", "1 ACCEPT 2 REJECT")),
        "keypad-tie": _dealer(play, page=tie),
        "keypad-readout": _dealer(play, page=Page("FINGERPRINTS", prints, "", "MENU = MORE")),
        "keypad-refused": _dealer(lock, page=pin, notice="Wrong number or PIN."),
        "keypad-in-fault": _dealer(view(faulty()), page=pin),
    }


def meter_scenes(size: tuple[int, int]) -> dict[str, Draw]:
    paid = view(won(validated=True))
    counts = {f"levels-{n}": _meter(levels(n), size) for n in (1, 2, 3, 4, 5)}
    largest = {f"largest-{n}": _meter(levels(n, largest=True), size) for n in (1, 2, 3, 4, 5)}
    full: dict[str, Any] = {"simulated": True, "alerts": ("LINK DOWN",)}
    return {
        **counts,
        **largest,
        "levels-5-later": _meter(levels(5), size, LEVELS_MS),
        "levels-1-simulated": _meter(levels(1), size, simulated=True),
        "levels-3-simulated": _meter(levels(3), size, simulated=True),
        "levels-5-simulated": _meter(levels(5), size, simulated=True),
        "levels-5-all-at-once": _meter(levels(5, largest=True, pending=1, limit=2), size, **full),
        "pending-1": _meter(levels(1, pending=1), size),
        "pending-2": _meter(levels(2, pending=1), size),
        "pending-3": _meter(levels(3, pending=1, limit=2), size),
        "pending-5": _meter(levels(5, pending=2, limit=1), size),
        "win": _meter(paid, size),
        "win-new-amount": _meter(paid, size, LEVELS_MS),
        "win-simulated": _meter(paid, size, simulated=True),
        "closed": _meter(view(Evening(opened=False)), size),
        "closed-5": _meter(replace(view(Evening(opened=False)), meters=levels(5).meters), size),
        "fault": _meter(view(faulty()), size),
        "fault-no-table": _meter(no_table("T01", "the table file names no pack"), size),
        "link-down": _meter(levels(2), size, alerts=("LINK DOWN",)),
        "no-progressive": _meter(view(Evening("ca-texas-holdem")), size),
        "shifted": _meter(levels(1, largest=True), size, 6 * SHIFT_MS),
        "stale": lambda: stale_frame(size),
        "start-self-check": lambda: start_frame(size, Starting("SELF-CHECK", "0.2.0")),
        "start-ledger": lambda: start_frame(
            size, Starting("LEDGER CHECK", "0.2.0", "0f3a9c77" * 8)
        ),
        "stopped": lambda: stopped_frame(size, "the ledger could not be written"),
    }


def scenes() -> dict[str, Draw]:
    """All of them, by the name of the picture."""
    return {
        **{f"dealer-{name}": draw for name, draw in dealer_scenes().items()},
        **{f"meter-256-{name}": draw for name, draw in meter_scenes(WIDE_SIZE).items()},
        **{f"meter-128-{name}": draw for name, draw in meter_scenes(DEALER_SIZE).items()},
    }
