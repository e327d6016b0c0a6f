"""What each kind of expectation in a scenario means, against one answer of the table.

A check returns what it found if that is not what was expected, and an empty text if it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controller.domain.errors import BadInput
from controller.domain.money import parse_money

Json = dict[str, Any]
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Moment:
    """The answer to an input, and the table as `show` printed it afterwards."""

    answer: Json
    table: Json


def found_instead(moment: Moment, kind: str, words: str) -> str:
    """Empty if the expectation holds."""
    return KINDS[kind](moment, words)


def _phase(moment: Moment, words: str) -> str:
    return _same(words, str(moment.table["phase"]))


def _round(moment: Moment, words: str) -> str:
    return _same(words, str(moment.table["round"]))


def _accepted(moment: Moment, words: str) -> str:
    return _same(words, _listed(f"{w['seat']}:{w['amount']}" for w in moment.table["accepted"]))


def _lamps(moment: Moment, words: str) -> str:
    return _same(words, _lit(moment, "accepted"))


def _seen(moment: Moment, words: str) -> str:
    return _same(words, _lit(moment, "seen"))


def _lit(moment: Moment, state: str) -> str:
    return _listed(seat for seat, lamp in moment.table["lamps"].items() if lamp == state)


def _meter(moment: Moment, words: str) -> str:
    name, *pairs = words.split()
    meter = moment.table["meters"].get(name)
    if meter is None or not pairs or len(pairs) % 2:
        return f"no such meter, or no pairs; meters are {' '.join(moment.table['meters'])}"
    wrong = [
        f"{key} {meter.get(key, 'unknown')}"
        for key, value in zip(pairs[::2], pairs[1::2], strict=True)
        if not _same_number(key, value, meter.get(key))
    ]
    return " ".join(wrong)


def _same_number(key: str, expected: str, found: object) -> bool:
    """Amounts by value, to the micro-cent; the display as it is written, cents and all."""
    if isinstance(found, int) or key == "display":
        return str(found) == expected
    try:
        return parse_money(found) == parse_money(expected)
    except BadInput:
        return False


def _wins(moment: Moment, words: str) -> str:
    keys = ("seat", "hand", "kind", "amount", "status")
    return _same(
        words, _listed(":".join(str(win[key]) for key in keys) for win in moment.table["wins"])
    )


def _envy(moment: Moment, words: str) -> str:
    found = _listed(
        f"{e['seat']}<{e['holder']}:{e['hand']}:{e['amount']}" for e in moment.table["envy"]
    )
    return "" if sorted(words.split()) == sorted(found.split()) else found


def _due(moment: Moment, words: str) -> str:
    return _same(words, _listed(f"{d['seat']}:{d['amount']}" for d in moment.table["due"]))


def _why(moment: Moment, words: str) -> str:
    return _within(words, str(moment.answer.get("why", "no refusal")))


def _note(moment: Moment, words: str) -> str:
    return _within(words, str(moment.answer.get("note", NONE)))


def _dealer(moment: Moment, words: str) -> str:
    return _within(words, " ".join(moment.table["dealer"]))


def _hidden(moment: Moment, words: str) -> str:
    said = " ".join(moment.table["dealer"])
    return said if words in said else ""


def _shown(moment: Moment, words: str) -> str:
    return _within(words, " ".join(moment.table["meter_display"]))


def _listed(items: Iterable[str]) -> str:
    return " ".join(items) or NONE


def _same(expected: str, found: str) -> str:
    return "" if expected == found else found


def _within(words: str, text: str) -> str:
    return "" if words in text else text


KINDS: Final[Mapping[str, Callable[[Moment, str], str]]] = {
    "phase": _phase,
    "round": _round,
    "accepted": _accepted,
    "lamps": _lamps,
    "seen": _seen,
    "meter": _meter,
    "wins": _wins,
    "envy": _envy,
    "due": _due,
    "why": _why,
    "note": _note,
    "dealer": _dealer,
    "hidden": _hidden,
    "shown": _shown,
}
