"""Chips from stamped sensor edges: the times of the edges decide, never when we heard of them.

The rules, for one sensor:

1.  Each edge begins a stretch that lasts until the next edge. A stretch shorter than `bounce_ms`
    is noise, as though it had never been; the clean signal changes with the first edge of every
    other one. A level said twice means that a pulse was missed: noise of no length.
2.  A chip is settled at a time if the clean signal has then been covered for `settle_ms`.
3.  More than `chatter_edges` edges in one second, and the sensor cannot be believed: nothing is
    settled there. For a chip at some time that second ends `bounce_ms` earlier; see below.
4.  The chips of LOCK are those that are settled at the time of LOCK's own edge.

Why LOCK can be judged at once, and is judged right, though edges come late and out of order.
Every edge is given to us less than `bounce_ms` after it happened (an edge that takes longer is
reported as tardy), and `doubtful` is told the levels of the pins. So at any moment:

-   Edges older than `bounce_ms` are all known. Those still under way are less than `bounce_ms`
    apart, so whatever pulse two of them make is noise.
-   A stretch that began two `bounce_ms` ago is therefore known for good: all edges that could
    have cut it short have come. One `bounce_ms` is not enough. A sensor can go open for 1 ms,
    covered for 28 and open again with the last two edges still under way: pin and last known edge
    agree, and yet the level is one that has only just begun.
-   What began since then cannot be settled, because `settle_ms` is at least two `bounce_ms`. So
    only a chip that had settled before is ever in doubt, and only about having been lifted. Either
    its lifting is known but younger than two `bounce_ms`; or the pin reads open while the last
    known edge says covered, and for `bounce_ms` after LOCK that edge may prove to be from before.
-   Pin and last known edge both say covered: an even number of edges is under way, and the open
    pulses between them are noise. Nothing is in doubt.
-   How many edges are under way nobody can tell. If they counted as chatter, no LOCK could be
    judged at once. Hence the second of rule 3 ends where everything is known.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping
from typing import Final, Generic, TypeVar

from msgspec import Struct

from controller.domain.errors import check
from controller.hardware import Timing

Sensor = TypeVar("Sensor", bound=Hashable)

SECOND_US: Final = 1_000_000
LONG_AGO_US: Final = -(1 << 62)
EDGES_KEPT: Final = 2_000  # of one sensor; five thousand edges a second still leave LOCK its past
EVIDENCE_EDGES: Final = 400
TARDY_KEPT: Final = 100
TOGETHER_US: Final = 5_000  # no hands are that quick
TOGETHER_SENSORS: Final = 3
TOGETHER_EDGES: Final = 8  # of one sensor near the moment


class Edge(Struct, Generic[Sensor], frozen=True):
    """One change of level at one sensor."""

    sensor: Sensor
    covered: bool
    at_us: int
    swept: bool = False  # no edge came: this level was read from the pin


class _Track(Generic[Sensor]):
    """The edges of one sensor in order of time, and the clean signal that they make.

    An edge that nothing has followed yet is taken to last; who asks about a time that is too
    recent for that has to ask `Presence.doubtful` first.
    """

    __slots__ = (
        "_bounce_us",
        "_closed_us",
        "_differs_us",
        "_folded",
        "_known_us",
        "_levels",
        "_stale",
        "_starts",
        "edges",
        "times",
    )

    def __init__(self, bounce_us: int) -> None:
        self._bounce_us = bounce_us
        self.times: list[int] = []
        self.edges: list[Edge[Sensor]] = []
        self._starts = [LONG_AGO_US]  # when the clean signal changed, and below to what
        self._levels = [False]
        self._folded = 0  # the stretches of edges before this one are in the clean signal
        self._stale = False
        self._closed_us = LONG_AGO_US  # an edge up to here comes too late to change anything
        self._known_us = LONG_AGO_US  # edges before this have been dropped
        self._differs_us: int | None = None  # since when sweeps read another level than we know

    @property
    def level(self) -> bool:
        """The level after the last known edge."""
        return bool(self.edges) and self.edges[-1].covered

    def insert(self, edge: Edge[Sensor]) -> None:
        self._differs_us = None
        if edge.at_us <= self._closed_us:
            return
        place = self._put(edge)
        self._folded = min(self._folded, max(place - 1, 0))
        if len(self.times) > EDGES_KEPT:
            self._drop(EDGES_KEPT // 2)

    def _put(self, edge: Edge[Sensor]) -> int:
        """Edges of one microsecond stay in the order in which they came."""
        place = bisect_right(self.times, edge.at_us)
        self.times.insert(place, edge.at_us)
        self.edges.insert(place, edge)
        self._stale = True
        return place

    def restart(self, edge: Edge[Sensor]) -> None:
        """Believe this level from now on and nothing from before; the old edges are evidence."""
        self._folded = self._put(edge)
        self._starts, self._levels = [edge.at_us], [edge.covered]
        self._closed_us = edge.at_us
        self._differs_us = None

    def _fold(self) -> None:
        """Bring the clean signal up to date, from the first stretch that is new or was open."""
        times, starts, levels, last = self.times, self._starts, self._levels, len(self.times) - 1
        while len(starts) > 1 and starts[-1] >= times[self._folded]:
            starts.pop()
            levels.pop()
        for place in range(self._folded, last + 1):
            lasts = place == last or times[place + 1] - times[place] >= self._bounce_us
            if lasts and self.edges[place].covered != levels[-1]:
                starts.append(times[place])
                levels.append(self.edges[place].covered)
        self._folded, self._stale = last, False

    def since(self, at_us: int) -> int | None:
        """Since when the clean signal is covered at that time; None if it is not."""
        if self._stale:
            self._fold()
        place = max(bisect_right(self._starts, at_us) - 1, 0)
        return self._starts[place] if self._levels[place] else None

    def lifted(self, after_us: int, until_us: int) -> int | None:
        """When a sensor that is covered at the one time was lifted, if it was by the other."""
        place = bisect_right(self._starts, after_us)
        lifted_us = self._starts[place] if place < len(self._starts) else until_us + 1
        return lifted_us if lifted_us <= until_us else None

    def chatters(self, at_us: int, edges_allowed: int) -> bool:
        """More edges than allowed in the second that ends here, or nobody knows any more."""
        place = bisect_right(self.times, at_us) - 1 - edges_allowed
        if place < 0:
            return at_us - SECOND_US < self._known_us
        return self.times[place] > at_us - SECOND_US

    def lost_edge(self, *, covered: bool, at_us: int) -> bool:
        """The pin has differed for so long that the edge can no longer be under way."""
        if covered == self.level:
            self._differs_us = None
        elif self._differs_us is None:
            self._differs_us = at_us
        return self._differs_us is not None and at_us - self._differs_us >= self._bounce_us

    def between(self, from_us: int, to_us: int) -> list[Edge[Sensor]]:
        return self.edges[bisect_left(self.times, from_us) : bisect_right(self.times, to_us)]

    def forget(self, before_us: int) -> None:
        """Drop the edges before that time except the last, whose stretch reaches into it."""
        count = bisect_left(self.times, before_us) - 1
        if count > 0:
            self._drop(count)

    def _drop(self, count: int) -> None:
        """Fold the oldest edges into the level and the time with which the clean signal begins."""
        self._fold()
        base = max(bisect_left(self._starts, self.times[count]) - 1, 0)
        del self._starts[:base], self._levels[:base], self.times[:count], self.edges[:count]
        self._folded -= count
        self._known_us = self.times[0]
        self._closed_us = max(self._closed_us, self.times[0])


class Presence(Generic[Sensor]):
    """Which sensors have a chip, at any time of the last ten seconds."""

    def __init__(self, sensors: Iterable[Sensor], timing: Timing) -> None:
        check(timing.bounce_ms > 0, "bounce_ms is not above 0")
        check(timing.chatter_edges > 0, "chatter_edges is not above 0")
        check(
            timing.settle_ms >= 2 * timing.bounce_ms,
            f"settle_ms is {timing.settle_ms} and bounce_ms {timing.bounce_ms}; LOCK can be judged"
            f" only if settle_ms is at least twice bounce_ms",
        )
        self._bounce_us, self._settle_us = timing.bounce_ms * 1000, timing.settle_ms * 1000
        self._chatter_edges = timing.chatter_edges
        self._tracks: dict[Sensor, _Track[Sensor]] = {
            sensor: _Track(self._bounce_us) for sensor in sensors
        }
        self._now_us = LONG_AGO_US  # the latest time at which something was concluded
        self._tardy: list[Edge[Sensor]] = []
        self.tardy_count = 0
        self._together: tuple[Edge[Sensor], ...] = ()
        self._together_us = LONG_AGO_US  # when that last happened

    def edge(self, sensor: Sensor, *, covered: bool, at_us: int) -> None:
        """Take in one edge, late or out of order as it may be."""
        edge = Edge(sensor, covered, at_us)
        if at_us + self._bounce_us <= self._now_us:
            self.tardy_count += 1
            self._tardy = [*self._tardy, edge][-TARDY_KEPT:]
        self._take(edge)

    def _take(self, edge: Edge[Sensor]) -> None:
        self._tracks[edge.sensor].insert(edge)
        if abs(edge.at_us - self._together_us) >= SECOND_US:
            self._look_for_all_at_once(edge)

    def sweep(self, levels: Mapping[Sensor, bool], *, at_us: int) -> tuple[Sensor, ...]:
        """Compare with the pins; the sensors, now put right, that had lost an edge."""
        self._now_us = max(self._now_us, at_us)
        lost = tuple(
            sensor
            for sensor, track in self._tracks.items()
            if track.lost_edge(covered=levels[sensor], at_us=at_us)
        )
        for sensor in lost:
            self._take(Edge(sensor, levels[sensor], at_us, swept=True))
        return lost

    def resync(self, levels: Mapping[Sensor, bool], *, at_us: int) -> None:
        """Start, or start again after inputs were lost: what lies there has to settle anew."""
        self._now_us = max(self._now_us, at_us)
        for sensor, track in self._tracks.items():
            track.restart(Edge(sensor, levels[sensor], at_us, swept=True))

    def covered(self, at_us: int) -> dict[Sensor, int]:
        """The covered sensors, and since when, as far as that could be known at the time.

        An edge less than `bounce_ms` old has proved nothing: the level before it stands. So this
        is the clean signal of `bounce_ms` earlier, and noise does not make it flicker. To learn
        what lay there at some instant, ask for `bounce_ms` after it, once that has passed.
        """
        seen = {s: track.since(at_us - self._bounce_us) for s, track in self._tracks.items()}
        return {sensor: since for sensor, since in seen.items() if since is not None}

    def settled(self, at_us: int) -> dict[Sensor, int]:
        """The sensors whose chip had settled by then, and since when it lay there.

        This is for good once `doubtful` is 0. Lamps ask for `bounce_ms` ago and do not flicker.
        """
        return {
            sensor: since
            for sensor, track in self._tracks.items()
            if (since := self._settled_since(track, track.since(at_us), at_us)) is not None
        }

    def _settled_since(self, track: _Track[Sensor], since: int | None, at_us: int) -> int | None:
        """That time, if it makes a settled chip at the other."""
        if since is None or since + self._settle_us > at_us:
            return None
        chatters = track.chatters(at_us - self._bounce_us, self._chatter_edges)
        return None if chatters else since

    def chattering(self, at_us: int) -> frozenset[Sensor]:
        """The sensors with too many edges in the second up to and including that time."""
        return frozenset(
            sensor
            for sensor, track in self._tracks.items()
            if track.chatters(at_us, self._chatter_edges)
        )

    def doubtful(self, at_us: int, now_us: int, levels: Mapping[Sensor, bool]) -> int:
        """0 if `settled(at_us)` is certain, else the time at which it will be if nothing comes.

        First take in every edge that has come, then read the levels, then `now_us`: an edge that
        waits in a queue is still under way. Ask again after each edge, which may settle the
        matter earlier. The wait ends two `bounce_ms` after `at_us` at the latest.
        """
        self._now_us = max(self._now_us, now_us)
        return max(
            (
                self._doubt(track, at_us, now_us, reads_covered=levels[sensor])
                for sensor, track in self._tracks.items()
            ),
            default=0,
        )

    def _doubt(self, track: _Track[Sensor], at_us: int, now_us: int, *, reads_covered: bool) -> int:
        """See the head of this file for why these are all the doubts there can be."""
        certain_us = min(now_us - 2 * self._bounce_us, at_us)
        if self._settled_since(track, track.since(certain_us), at_us) is None:
            return 0
        lifted_us = track.lifted(certain_us, at_us)
        if lifted_us is not None:
            return lifted_us + 2 * self._bounce_us
        under_way = track.level and not reads_covered
        return at_us + self._bounce_us if under_way and now_us < at_us + self._bounce_us else 0

    def tardy(self) -> tuple[Edge[Sensor], ...]:
        """Edges that came after something had been concluded without them, each told once."""
        tardy, self._tardy = tuple(self._tardy), []
        return tardy

    def together(self) -> tuple[Edge[Sensor], ...]:
        """The edges of all sensors if they changed at once, told once: static, or a bad supply."""
        edges, self._together = self._together, ()
        return edges

    def _look_for_all_at_once(self, edge: Edge[Sensor]) -> None:
        """What follows within a second is the same disturbance."""
        tracks, from_us = self._tracks.values(), edge.at_us - TOGETHER_US
        if len(tracks) < TOGETHER_SENSORS or not all(
            track.times and track.times[-1] >= from_us for track in tracks
        ):
            return
        near = [
            [
                e
                for e in track.between(from_us, edge.at_us + TOGETHER_US)
                if e.covered == edge.covered
            ]
            for track in tracks
        ]
        if any(len(edges) > TOGETHER_EDGES for edges in near):
            return  # that is chatter, and told as such
        for first_us in sorted(e.at_us for edges in near for e in edges if e.at_us <= edge.at_us):
            window = range(first_us, first_us + TOGETHER_US + 1)
            found = [e for edges in near for e in [e for e in edges if e.at_us in window][:1]]
            if len(found) == len(tracks):
                self._together = tuple(sorted(found, key=lambda e: e.at_us))
                self._together_us = edge.at_us
                return

    def edges_between(self, from_us: int, to_us: int) -> tuple[Edge[Sensor], ...]:
        """Raw evidence in order of time; of very much, the latest."""
        found = [e for track in self._tracks.values() for e in track.between(from_us, to_us)]
        found.sort(key=lambda edge: edge.at_us)
        return tuple(found[-EVIDENCE_EDGES:])

    def forget(self, before_us: int) -> None:
        """Let go of old edges. No answer about that time or a later one becomes another."""
        for track in self._tracks.values():
            track.forget(before_us - SECOND_US - 2 * self._bounce_us)
