"""Chips from stamped edges, rule by rule. Random tables are in tests/property/test_lock_edges."""

from __future__ import annotations

from itertools import permutations

import pytest

from controller.domain.errors import Broken
from controller.hardware import Timing
from firmware.presence import EDGES_KEPT, EVIDENCE_EDGES, Edge, Presence

MS = 1_000
SEATS = ("one", "two", "three")
NOW_MS = 100_000


def heard(*edges: tuple[int, bool]) -> Presence[str]:
    """A table that has heard of these edges of seat one, in milliseconds."""
    presence = Presence(SEATS, Timing())
    for at_ms, covered in edges:
        presence.edge("one", covered=covered, at_us=at_ms * MS)
    return presence


def blinks(count: int, *, every_ms: int, last_ms: int) -> list[tuple[int, bool]]:
    """That many edges, the last of them at that time and covered."""
    return [(last_ms - n * every_ms, n % 2 == 0) for n in reversed(range(count))]


def levels(*covered: str) -> dict[str, bool]:
    return {seat: seat in covered for seat in SEATS}


@pytest.mark.parametrize(
    ("edges", "since_ms", "why"),
    [
        ([(0, True)], 0, "a chip lies from its edge on"),
        ([], None, "nothing was ever there"),
        ([(0, True), (3, False), (5, True), (9, False), (12, True)], 12, "from its last bounce"),
        ([(0, True), (400, False), (429, True)], 0, "open for 29 ms is noise"),
        ([(0, True), (400, False), (430, True)], 430, "open for 30 ms is not"),
        ([(0, True), (29, False)], None, "covered for 29 ms is noise"),
        ([(0, True), (400, False)], None, "lifted"),
        ([(0, True), (400, False), (405, True), (410, False)], None, "lifted, bouncing"),
        ([(0, True), (100, True)], 0, "a level said twice is noise of no length"),
        ([(0, True), (20, True), (500, True)], 20, "which cuts what was not yet clean"),
        ([(0, False), (50, False)], None, "so it is with the open level"),
        ([(0, True), (400, False), (420, False), (440, True)], 0, "of which neither part lasted"),
    ],
)
def test_what_did_not_last_never_was(
    edges: list[tuple[int, bool]], since_ms: int | None, why: str
) -> None:
    expected = {} if since_ms is None else {"one": since_ms * MS}
    for order in permutations(edges):
        presence = heard(*order)
        assert presence.covered(1_000 * MS) == expected, why
        assert presence.settled(1_000 * MS) == expected, why


@pytest.mark.requirement(12)
@pytest.mark.parametrize(
    ("at_us", "settled"), [(150 * MS - 1, False), (150 * MS, True), (10**12, True)]
)
def test_a_chip_is_settled_once_it_has_rested_for_the_settle_time(
    at_us: int, settled: bool
) -> None:
    assert heard((0, True)).settled(at_us) == ({"one": 0} if settled else {})


def test_a_chip_was_settled_before_it_was_lifted_and_is_not_after() -> None:
    presence = heard((0, True), (500, False))
    assert presence.settled(500 * MS - 1) == {"one": 0}
    assert presence.settled(500 * MS) == {}


@pytest.mark.parametrize(("at_us", "seen"), [(30 * MS - 1, False), (30 * MS, True)])
def test_an_edge_proves_nothing_before_its_level_has_lasted(at_us: int, seen: bool) -> None:
    presence = heard((-500, True), (-400, False), (0, True))
    assert ("one" in presence.covered(at_us)) is seen
    lifted = heard((-500, True), (0, False))
    assert ("one" in lifted.covered(at_us)) is not seen


def test_chatter_is_more_than_thirty_edges_in_the_second_up_to_now() -> None:
    presence = heard(*blinks(31, every_ms=10, last_ms=5_000))
    assert presence.chattering(5_000 * MS - 1) == frozenset()
    assert presence.chattering(5_000 * MS) == {"one"}
    assert presence.chattering(5_700 * MS - 1) == {"one"}
    assert presence.chattering(5_700 * MS) == frozenset()


def test_where_a_sensor_chatters_nothing_is_settled_though_it_stays_covered() -> None:
    presence = heard((0, True), *blinks(31, every_ms=10, last_ms=5_000))
    assert presence.settled(5_030 * MS - 1) == {"one": 0}
    assert presence.settled(5_030 * MS) == {}
    assert presence.settled(5_730 * MS - 1) == {}
    assert presence.settled(5_730 * MS) == {"one": 0}
    assert presence.covered(5_100 * MS) == {"one": 0}


@pytest.mark.parametrize(
    ("edges", "now_ms", "reads", "doubtful_ms", "why"),
    [
        ([(-500, True)], 0, True, 0, "a resting chip"),
        ([], 0, False, 0, "an empty seat"),
        ([(-500, True)], 0, False, 30, "its lifting is under way, and may be from before"),
        ([(-500, True)], 29, False, 30, "it may be until a bounce time after LOCK"),
        ([(-500, True)], 30, False, 0, "and then no longer"),
        ([(-500, True), (5, False)], 6, False, 0, "lifted after LOCK"),
        ([(-500, True), (5, False)], 6, True, 0, "and put back, still under way"),
        ([(-500, True), (-1, False)], 0, False, 59, "lifted just now, or a glitch"),
        ([(-500, True), (-1, False)], 58, False, 59, "its end may still be under way"),
        ([(-500, True), (-1, False)], 59, False, 0, "lifted for good"),
        ([(-500, True), (-1, False)], 20, True, 59, "an end is under way, but when was it"),
        ([(-500, True), (-1, False), (20, True)], 21, True, 0, "it was a glitch"),
        ([(-500, True), (-59, False)], 0, False, 1, "lifted, unless two edges are under way"),
        ([(-500, True), (-60, False)], 0, False, 0, "lifted for good before LOCK"),
        ([(-500, True), (-60, False)], 0, True, 0, "back too late to settle, whenever it was"),
        ([(-500, True), (-40, False), (-5, True)], 0, True, 20, "lifted, unless in two pieces"),
        ([(-149, True)], 0, False, 0, "a chip that cannot have settled"),
        ([(-10, True)], 0, False, 0, "a chip that comes and goes at LOCK"),
        ([], 0, True, 0, "a chip whose edge is under way cannot have settled"),
        (blinks(31, every_ms=2, last_ms=-30), 0, False, 0, "a sensor that is not believed"),
    ],
)
@pytest.mark.requirement(12)
def test_lock_waits_only_while_a_settled_chip_may_have_been_lifted(
    edges: list[tuple[int, bool]], now_ms: int, reads: bool, doubtful_ms: int, why: str
) -> None:
    lock_ms = NOW_MS
    presence = heard(*((lock_ms + at_ms, covered) for at_ms, covered in edges))
    expected = (lock_ms + doubtful_ms) * MS if doubtful_ms else 0
    pins = levels("one") if reads else levels()
    assert presence.doubtful(lock_ms * MS, (lock_ms + now_ms) * MS, pins) == expected, why


def test_lock_waits_for_the_seat_that_takes_longest() -> None:
    presence = Presence(SEATS, Timing())
    for seat in SEATS:
        presence.edge(seat, covered=True, at_us=0)
    presence.edge("one", covered=False, at_us=995 * MS)
    presence.edge("two", covered=False, at_us=999 * MS)
    assert presence.doubtful(1_000 * MS, 1_001 * MS, levels("three")) == 1_059 * MS


def test_a_table_without_sensors_has_no_doubts() -> None:
    empty: Presence[str] = Presence((), Timing())
    assert empty.doubtful(0, 0, {}) == 0


@pytest.mark.parametrize(
    ("sweeps_ms", "lost_at_ms"),
    [
        ([1_000], None),
        ([1_000, 1_029], None),
        ([1_000, 1_030], 1_030),
        ([1_000, 1_010, 1_020, 1_050], 1_050),
    ],
)
@pytest.mark.parametrize("covered", [True, False])
def test_a_level_that_two_sweeps_read_without_an_edge_is_taken_from_the_second(
    sweeps_ms: list[int], lost_at_ms: int | None, covered: bool
) -> None:
    presence = heard((0, not covered))
    pins = levels("one") if covered else levels()
    found = [presence.sweep(pins, at_us=at_ms * MS) for at_ms in sweeps_ms]
    assert found[-1] == (("one",) if lost_at_ms else ())
    assert not any(found[:-1])
    swept = [e.at_us // MS for e in presence.edges_between(0, NOW_MS * MS) if e.swept]
    assert swept == ([lost_at_ms] if lost_at_ms else [])
    was_covered = covered if lost_at_ms else not covered
    assert ("one" in presence.covered(2_000 * MS)) is was_covered
    assert presence.sweep(pins, at_us=2_000 * MS) == (() if lost_at_ms else ("one",))


def test_a_sweep_that_agrees_in_between_clears_the_suspicion() -> None:
    presence = heard((0, True))
    pins = [levels(), levels("one"), levels(), levels("one")]
    assert [presence.sweep(p, at_us=(n + 10) * 50 * MS) for n, p in enumerate(pins)] == [()] * 4


def test_an_edge_that_comes_between_two_sweeps_was_not_lost() -> None:
    presence = heard((0, True))
    assert presence.sweep(levels(), at_us=500 * MS) == ()
    presence.edge("one", covered=False, at_us=499 * MS)
    presence.edge("one", covered=True, at_us=540 * MS)
    assert presence.sweep(levels(), at_us=550 * MS) == ()


def test_an_edge_that_comes_after_a_conclusion_is_tardy_told_once_and_counted() -> None:
    presence = heard((0, True))
    presence.sweep(levels("one"), at_us=1_000 * MS)
    presence.edge("two", covered=True, at_us=970 * MS + 1)
    assert (presence.tardy_count, presence.tardy()) == (0, ())
    presence.edge("one", covered=False, at_us=970 * MS)
    assert presence.tardy() == (Edge("one", False, 970 * MS),)
    assert (presence.tardy_count, presence.tardy()) == (1, ())
    assert presence.covered(2_000 * MS) == {"two": 970 * MS + 1}
    presence.doubtful(3_000 * MS, 3_000 * MS, levels("two"))
    presence.edge("two", covered=False, at_us=2_970 * MS)
    assert presence.tardy_count == 2


def test_ever_so_many_tardy_edges_are_counted_and_the_last_hundred_told() -> None:
    presence = heard()
    presence.sweep(levels(), at_us=NOW_MS * MS)
    for at_us in range(1_000):
        presence.edge("one", covered=True, at_us=at_us)
    assert presence.tardy_count == 1_000
    assert [edge.at_us for edge in presence.tardy()] == list(range(900, 1_000))


@pytest.mark.parametrize(
    ("times_us", "covered", "told"),
    [
        ((0, 0, 0), (True, True, True), True),
        ((0, 2_000, 5_000), (True, True, True), True),
        ((5_000, 0, 2_000), (False, False, False), True),
        ((0, 2_000, 5_001), (True, True, True), False),
        ((5_001, 2_000, 0), (True, True, True), False),
        ((0, 2_000, 3_000), (True, True, False), False),
    ],
)
def test_all_seats_changing_at_once_is_told_for_no_hands_do_that(
    times_us: tuple[int, ...], covered: tuple[bool, ...], told: bool
) -> None:
    edges = [Edge(*edge) for edge in zip(SEATS, covered, times_us, strict=True)]
    expected = tuple(sorted(edges, key=lambda edge: edge.at_us)) if told else ()
    for order in permutations(edges):
        presence = Presence(SEATS, Timing())
        for edge in order:
            presence.edge(edge.sensor, covered=edge.covered, at_us=edge.at_us)
        assert presence.together() == expected
        assert presence.together() == ()


def all_at(presence: Presence[str], *times_ms: int) -> None:
    for at_ms in times_ms:
        for seat in SEATS:
            presence.edge(seat, covered=True, at_us=at_ms * MS)


def test_one_disturbance_is_told_once_and_the_next_one_again() -> None:
    presence = Presence(SEATS, Timing())
    all_at(presence, 0, 7, 20, 500)
    assert [edge.at_us for edge in presence.together()] == [0, 0, 0]
    all_at(presence, 700, 990)
    assert presence.together() == ()
    all_at(presence, 1_000)
    assert [edge.at_us for edge in presence.together()] == [1_000 * MS] * 3


def test_a_bounce_of_one_seat_does_not_hide_that_all_changed() -> None:
    presence = Presence(SEATS, Timing())
    for seat, at_us in (("one", 0), ("two", 1_000), ("one", 9_000), ("three", 4_000)):
        presence.edge(seat, covered=True, at_us=at_us)
    assert [edge.at_us for edge in presence.together()] == [0, 1_000, 4_000]


def test_two_seats_may_well_change_at_once() -> None:
    presence = Presence(SEATS[:2], Timing())
    for seat in SEATS[:2]:
        presence.edge(seat, covered=True, at_us=0)
    assert presence.together() == ()


def test_the_evidence_is_in_order_of_time_within_its_bounds() -> None:
    presence = heard((30, True), (10, True), (20, False))
    presence.edge("two", covered=True, at_us=15 * MS)
    evidence = presence.edges_between(10 * MS, 20 * MS)
    assert evidence == (
        Edge("one", True, 10 * MS),
        Edge("two", True, 15 * MS),
        Edge("one", False, 20 * MS),
    )


def test_of_too_much_evidence_the_latest_is_kept() -> None:
    presence = heard(*((at_ms, at_ms % 2 == 0) for at_ms in range(1_000)))
    evidence = presence.edges_between(0, NOW_MS * MS)
    assert [edge.at_us // MS for edge in evidence] == list(range(1_000 - EVIDENCE_EDGES, 1_000))


def test_what_is_forgotten_leaves_the_chips_where_they_lie() -> None:
    presence = heard((0, True), (5, False), (9, True), (20_000, False), (20_010, True))
    for before_ms in (10_000, 60_000, 60_000):
        presence.forget(before_ms * MS)
    assert presence.covered(60_000 * MS) == {"one": 9 * MS}
    assert presence.settled(60_000 * MS) == {"one": 9 * MS}
    assert len(presence.edges_between(0, NOW_MS * MS)) == 1
    presence.edge("one", covered=False, at_us=61_000 * MS)
    assert presence.settled(61_000 * MS) == {}
    assert presence.settled(61_000 * MS - 1) == {"one": 9 * MS}


def test_an_edge_from_the_forgotten_past_changes_nothing() -> None:
    presence = heard((0, True), (100, False), (200, True), (300, False), (50_000, True))
    presence.forget(52_000 * MS)
    presence.edge("one", covered=True, at_us=150 * MS)
    assert presence.settled(52_000 * MS) == {"one": 50_000 * MS}


@pytest.mark.parametrize("base", [True, False])
def test_a_sensor_that_chatters_for_an_hour_needs_no_more_memory_than_one_that_does_not(
    base: bool,
) -> None:
    presence = heard((-1_000, base))
    for number in range(20 * EDGES_KEPT):
        presence.edge("one", covered=(number % 2 == 0) is not base, at_us=number * MS)
    last_us = (20 * EDGES_KEPT - 1) * MS
    kept = presence._tracks["one"]
    assert EDGES_KEPT // 2 <= len(kept.edges) == len(kept.times) <= EDGES_KEPT
    assert presence.covered(last_us + 30 * MS) == ({"one": -1_000 * MS} if base else {})
    assert presence.chattering(last_us) == {"one"}
    assert presence.settled(last_us) == {}


def test_chips_of_a_past_that_was_dropped_are_not_believed() -> None:
    presence = heard((0, True), *blinks(EDGES_KEPT, every_ms=1, last_ms=9_000))
    assert presence.settled(7_000 * MS) == {}


@pytest.mark.requirement(12)
def test_after_lost_inputs_every_chip_has_to_settle_again() -> None:
    presence = heard((0, True))
    presence.edge("two", covered=True, at_us=0)
    presence.resync(levels("one", "three"), at_us=1_000 * MS)
    assert presence.covered(1_000 * MS) == {"one": 1_000 * MS, "three": 1_000 * MS}
    assert presence.settled(1_000 * MS) == {}
    assert presence.settled(1_150 * MS - 1) == {}
    assert presence.settled(1_150 * MS) == {"one": 1_000 * MS, "three": 1_000 * MS}
    assert presence.doubtful(1_000 * MS, 1_001 * MS, levels()) == 0


def test_an_edge_from_before_the_new_start_changes_nothing() -> None:
    presence = heard((0, True))
    presence.resync(levels("one"), at_us=1_000 * MS)
    presence.edge("one", covered=False, at_us=1_000 * MS)
    presence.edge("one", covered=False, at_us=900 * MS)
    assert presence.settled(1_150 * MS) == {"one": 1_000 * MS}
    presence.edge("one", covered=False, at_us=1_200 * MS)
    assert presence.settled(1_200 * MS) == {}


def test_a_glitch_at_the_new_start_is_noise_as_ever() -> None:
    presence = heard()
    presence.resync(levels("one"), at_us=1_000 * MS)
    presence.edge("one", covered=False, at_us=1_010 * MS)
    presence.edge("one", covered=True, at_us=1_020 * MS)
    assert presence.covered(1_200 * MS) == {"one": 1_000 * MS}


def test_the_edges_before_a_new_start_stay_as_evidence_and_as_chatter() -> None:
    presence = heard(*blinks(31, every_ms=10, last_ms=990))
    presence.resync(levels("one"), at_us=1_000 * MS)
    assert len(presence.edges_between(0, 1_000 * MS)) == 31 + len(SEATS)
    assert presence.settled(1_200 * MS) == {}


def test_a_new_start_holds_though_what_came_before_is_forgotten_bit_by_bit() -> None:
    presence = heard(*((at_ms, at_ms % 200 == 0) for at_ms in range(0, 5_000, 100)))
    presence.resync(levels("one"), at_us=5_000 * MS)
    presence.edge("one", covered=False, at_us=6_000 * MS)
    for before_ms in (3_000, 4_500):
        presence.forget(before_ms * MS)
        presence.edge("one", covered=False, at_us=4_950 * MS)
        assert presence.covered(5_000 * MS) == {"one": 5_000 * MS}
        assert presence.settled(5_500 * MS) == {"one": 5_000 * MS}
        assert presence.settled(6_000 * MS) == {}


def test_two_sweeps_with_a_new_start_between_them_are_not_two_in_a_row() -> None:
    presence = heard()
    assert presence.sweep(levels("one"), at_us=500 * MS) == ()
    presence.resync(levels(), at_us=510 * MS)
    assert presence.sweep(levels("one"), at_us=550 * MS) == ()


@pytest.mark.parametrize(
    ("timing", "says"),
    [
        (Timing(settle_ms=59), "settle_ms is 59 and bounce_ms 30"),
        (Timing(bounce_ms=0), "bounce_ms is not above 0"),
        (Timing(chatter_edges=0), "chatter_edges is not above 0"),
    ],
)
def test_times_with_which_lock_could_not_be_judged_are_not_accepted(
    timing: Timing, says: str
) -> None:
    with pytest.raises(Broken, match=says):
        Presence(SEATS, timing)


def test_the_shortest_settle_time_that_works_is_accepted() -> None:
    assert Presence(SEATS, Timing(settle_ms=60)).settled(0) == {}
