"""The judge of LOCK: slow, simple, and in possession of the true times of all edges.

It shares no code and no idea with firmware.presence. That one is told edges as they trickle in
and keeps a clean signal up to date; this one writes down all level stretches of a whole evening,
strikes out the short ones and reads off the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.hardware import Timing

TrueEdge = tuple[int, bool]  # when, and whether covered from then on
EVER_US = 10**15


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time during which a sensor did not change."""

    start_us: int
    end_us: int
    covered: bool


def stretches(edges: list[TrueEdge]) -> list[Stretch]:
    """The life of a sensor that began uncovered and stays as the last edge left it."""
    life = [(-EVER_US, False), *sorted(edges)]
    ends = [at_us for at_us, _covered in life[1:]] + [EVER_US]
    return [Stretch(at, end, covered) for (at, covered), end in zip(life, ends, strict=True)]


def level(edges: list[TrueEdge], at_us: int) -> bool:
    """What the pin reads."""
    return [stretch.covered for stretch in stretches(edges) if stretch.start_us <= at_us][-1]


def lies_since(edges: list[TrueEdge], at_us: int, timing: Timing) -> int | None:
    """Since when a chip has lain there at that time; None if there is none."""
    lasting = [s for s in stretches(edges) if s.end_us - s.start_us >= timing.bounce_ms * 1000]
    begun = [s for s in lasting if s.start_us <= at_us]
    empty = [number for number, stretch in enumerate(begun) if not stretch.covered]
    lying = begun[empty[-1] + 1 :]
    return lying[0].start_us if lying else None


def chatters(edges: list[TrueEdge], at_us: int, timing: Timing) -> bool:
    """Too many edges in the second that ends with that time."""
    return sum(at_us - 1_000_000 < at <= at_us for at, _covered in edges) > timing.chatter_edges


def is_wager(edges: list[TrueEdge], lock_us: int, timing: Timing) -> bool:
    """Whether a LOCK at that time takes the chip."""
    since_us = lies_since(edges, lock_us, timing)
    if since_us is None or chatters(edges, lock_us - timing.bounce_ms * 1000, timing):
        return False
    return lock_us - since_us >= timing.settle_ms * 1000
