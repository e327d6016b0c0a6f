"""Keys, switches, LOCK and the drop slot: one press is one press, and noise is none."""

from __future__ import annotations

from itertools import permutations

import pytest

from firmware.keys import Button, Change, Drops, Keypad, LockButton

MS = 1_000
BOUNCE_MS = LATE_MS = 30
KEYMAP = (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9"))
PLACES = {
    name: (row, column) for row, names in enumerate(KEYMAP) for column, name in enumerate(names)
}


def press(*scans: str, keypad: Keypad | None = None) -> str:
    """The keys that count, in order. "." is a scan with all keys up, "15" one with those down."""
    keypad = keypad or Keypad(KEYMAP)
    keys = (
        keypad.scan(frozenset(PLACES[name] for name in down.strip(".")), at_us=number * 5 * MS)
        for number, down in enumerate(scans)
    )
    return "".join(key or "" for key in keys)


UP = (".",) * 3


@pytest.mark.parametrize(
    ("scans", "keys", "why"),
    [
        (("5", "5"), "", "two scans are not enough"),
        (("5", "5", "5"), "5", "three are"),
        (("5",) * 1_000, "5", "a key that is held does not repeat"),
        (("5", "5", ".", "5", "5"), "", "a key that bounces has to start again"),
        (("5", ".", "5", "5", "5"), "5", "and counts once it is still"),
        ((*"555", *UP, *"555"), "55", "up and down again is a second press"),
        ((*"555", ".", ".", *"555"), "5", "a contact that blinks is not a second press"),
        ((*"555", *UP, *"888"), "58", "one key after the other"),
        ((*"555", *"888"), "5", "a key slid to from another was never alone"),
        ((*"555", "58", "58", "58", *"888"), "5", "a second key counts for nothing"),
        ((*"555", "58", "58", "58", *"888", *UP, *"888"), "58", "until all were up"),
        (("58",) * 3, "", "two at once are none"),
        ((*("58",) * 3, *"555"), "", "also when one of them stays"),
        (("5", "5", "58", "58", "58"), "", "nor the first of two that were too close"),
        ((*("58",) * 3, *UP, *"555"), "5", "after that all is well"),
        (("1245",) * 3, "", "a rectangle has a ghost in it"),
        ((*("1245",) * 3, *"555", *("124",) * 3), "", "and so may what is left of it"),
        ((*"111", *("12",) * 3, *("1245",) * 3), "1", "a ghost beside a pressed key is none"),
    ],
)
@pytest.mark.requirement(23)
def test_one_press_is_one_key(scans: tuple[str, ...], keys: str, why: str) -> None:
    assert press(*UP, *scans) == keys, why


@pytest.mark.requirement(23)
@pytest.mark.parametrize("order", list(permutations("124")))
@pytest.mark.parametrize("scans", [1, 2, 3])
def test_three_keys_hit_with_the_flat_hand_are_at_most_the_first(
    order: tuple[str, ...], scans: int
) -> None:
    first, second, third = order
    hand = [first, first + second, first + second + third + "5"]
    keys = press(*UP, *(down for down in hand for _ in range(scans)), *UP)
    assert keys == (first if scans == 3 else "")


def test_a_key_held_while_the_power_came_back_counts_only_after_its_release() -> None:
    assert press(*"555", *"555") == ""
    assert press(*"555", *UP, *"555") == "5"
    assert press(*"555", ".", ".", *"555") == ""


def test_a_key_held_for_more_than_ten_seconds_is_stuck_and_counts_once() -> None:
    keypad = Keypad(KEYMAP)
    for at_us in (-15 * MS, -10 * MS, -5 * MS):
        keypad.scan(frozenset(), at_us=at_us)
    down = frozenset([PLACES["6"]])
    assert [keypad.scan(down, at_us=n * 5 * MS) for n in range(2_001)].count("6") == 1
    assert keypad.stuck() is None
    assert keypad.scan(down, at_us=10_000 * MS + 1) is None
    assert keypad.stuck() == "6"
    keypad.scan(down | {PLACES["9"]}, at_us=10_005 * MS)
    assert keypad.stuck() == "6"
    for number in range(3):
        assert keypad.stuck() == "6"
        keypad.scan(frozenset(), at_us=10_010 * MS + number * 5 * MS)
    assert keypad.stuck() is None


def test_of_two_keys_down_the_one_held_longer_is_stuck() -> None:
    keypad = Keypad(KEYMAP)
    press(*UP, *"999", *("39",) * 2_100, keypad=keypad)
    assert keypad.stuck() == "9"


def button(*edges: tuple[int, bool], active: bool = False) -> Button:
    """A line that has had these edges, in milliseconds."""
    line = Button(active=active, bounce_ms=BOUNCE_MS, late_ms=LATE_MS)
    for at_ms, level in edges:
        line.edge(active=level, at_us=at_ms * MS)
    return line


@pytest.mark.parametrize(
    ("edges", "changes"),
    [
        ([], []),
        ([(0, True)], [(True, 0)]),
        ([(0, True), (29, False)], []),
        ([(0, True), (30, False)], [(True, 0), (False, 30)]),
        ([(0, True), (3, False), (4, True), (9, False), (12, True)], [(True, 0)]),
        ([(0, True), (5, False), (36, True)], [(True, 36)]),
        ([(0, True), (200, False), (201, True), (203, False)], [(True, 0), (False, 200)]),
        ([(0, True), (200, False), (229, True)], [(True, 0)]),
        ([(0, True), (10, True)], [(True, 0)]),
        ([(0, False)], []),
    ],
)
def test_a_switch_changes_with_its_first_edge_and_never_by_noise(
    edges: list[tuple[int, bool]], changes: list[tuple[bool, int]]
) -> None:
    expected = tuple(Change(active, at_ms * MS) for active, at_ms in changes)
    level = edges[-1][1] if edges else False
    for order in permutations(edges):
        line = button(*order)
        assert line.sweep(active=level, at_us=1_000 * MS) == expected
        assert line.sweep(active=level, at_us=1_050 * MS) == ()
        assert line.active is (expected[-1].active if expected else False)


@pytest.mark.parametrize("step_ms", [1, 7, 50])
def test_a_switch_tells_the_same_however_often_it_is_swept(step_ms: int) -> None:
    edges = [(40, True), (45, False), (47, True), (300, False), (302, True), (310, False)]
    line = button()
    told: list[Change] = []
    for now_ms in range(0, 600, step_ms):
        for at_ms, level in edges:
            if now_ms - step_ms < at_ms + 29 <= now_ms:  # each heard of 29 ms late
                line.edge(active=level, at_us=at_ms * MS)
        reads = [level for at_ms, level in edges if at_ms <= now_ms]
        told += line.sweep(active=bool(reads) and reads[-1], at_us=now_ms * MS)
    assert told == [Change(True, 40 * MS), Change(False, 300 * MS)]


@pytest.mark.parametrize(("now_ms", "told"), [(59, 0), (60, 1)])
def test_a_switch_is_judged_when_no_edge_can_still_come(now_ms: int, told: int) -> None:
    assert len(button((0, True)).sweep(active=True, at_us=now_ms * MS)) == told


def test_a_door_that_opened_without_an_edge_is_found_by_the_sweeps() -> None:
    line = button()
    assert line.sweep(active=True, at_us=1_000 * MS) == ()
    assert line.sweep(active=True, at_us=1_029 * MS) == ()
    assert line.sweep(active=True, at_us=1_050 * MS) == ()
    assert line.sweep(active=True, at_us=1_060 * MS) == (Change(True, 1_000 * MS),)


def test_an_edge_that_is_only_late_is_not_taken_for_lost() -> None:
    line = button()
    assert line.sweep(active=True, at_us=1_000 * MS) == ()
    assert line.sweep(active=True, at_us=1_010 * MS) == ()
    line.edge(active=True, at_us=999 * MS)
    assert line.sweep(active=False, at_us=1_030 * MS) == ()
    line.edge(active=False, at_us=1_029 * MS)
    assert line.sweep(active=False, at_us=1_500 * MS) == (
        Change(True, 999 * MS),
        Change(False, 1_029 * MS),
    )


def test_a_switch_that_reads_otherwise_for_one_sweep_has_not_changed() -> None:
    line = button()
    levels = [False, True, False, True, False, False, False]
    assert [line.sweep(active=on, at_us=n * 50 * MS) for n, on in enumerate(levels)] == [()] * 7


def test_an_edge_from_before_the_last_judgement_is_too_late_to_change_it() -> None:
    line = button((100, True))
    assert line.sweep(active=True, at_us=200 * MS) == (Change(True, 100 * MS),)
    line.edge(active=False, at_us=90 * MS)
    assert line.sweep(active=True, at_us=300 * MS) == ()
    assert line.active


def test_a_floor_key_left_turned_is_on_from_the_start() -> None:
    line = button(active=True)
    assert line.sweep(active=True, at_us=500 * MS) == ()
    line.edge(active=False, at_us=600 * MS)
    assert line.sweep(active=False, at_us=700 * MS) == (Change(False, 600 * MS),)


def ready_lock() -> LockButton:
    """LOCK, up since the table started."""
    lock = LockButton(bounce_ms=BOUNCE_MS)
    for at_ms in (-35, -20, -5):
        assert lock.sweep(reads_pressed=False, at_us=at_ms * MS) is None
    return lock


def lock_presses(*edges: tuple[int, bool, bool]) -> tuple[list[int], LockButton]:
    """Presses in ms, from edges in ms with their level and what the pin reads by then."""
    lock = ready_lock()
    told = [lock.edge(pressed=p, reads_pressed=r, at_us=at * MS) for at, p, r in edges]
    return [at_us // MS for at_us in told if at_us is not None], lock


RELEASE = [(80, False, False), (85, True, False), (90, False, False)]


@pytest.mark.requirement(23)
@pytest.mark.parametrize(
    ("edges", "presses", "why"),
    [
        ([(0, True, True)], [0], "at once, with no wait"),
        ([(0, True, True), (2, False, True), (3, True, True)], [0], "it bounces: one press"),
        ([(0, True, False), (2, False, True), (3, True, True)], [0], "read while it bounced"),
        ([(0, True, False), (2, False, False), (3, True, True)], [0], "by its first edge still"),
        ([(3, True, False), (0, True, True)], [0], "also if that is heard of second"),
        ([(0, True, False), (1, False, False)], [], "a spike that is gone is noise"),
        ([(0, True, False), (29, False, False)], [], "up to the bounce time"),
        ([(0, True, False), (30, False, False)], [0], "a press that we came too late to read"),
        ([(0, True, False), (1, False, False), (31, True, True)], [31], "a spike, then a press"),
        ([(1, False, False), (0, True, False)], [], "a spike told in the wrong order"),
        ([(0, True, True), (80, False, False), (109, True, True)], [0], "dead for the bounce time"),
        ([(0, True, True), (80, False, False), (110, True, True)], [0, 110], "then alive again"),
        ([(0, True, True), *RELEASE, (119, True, True)], [0], "dead after the last bounce"),
        ([(0, True, True), *RELEASE, (120, True, True)], [0, 120], "and alive again"),
        ([(0, True, True), (2, True, True), (1, False, True), (40, True, True)], [0], "overtaken"),
        ([(0, False, False)], [], "a release alone is nothing"),
    ],
)
def test_lock_counts_once_by_its_first_edge(
    edges: list[tuple[int, bool, bool]], presses: list[int], why: str
) -> None:
    assert lock_presses(*edges)[0] == presses, why


def test_spikes_on_the_lock_line_are_counted() -> None:
    _, lock = lock_presses((0, True, False), (1, False, False), (40, True, False))
    assert lock.noise == 1
    assert lock.sweep(reads_pressed=False, at_us=69 * MS) is None
    assert lock.noise == 1
    assert lock.sweep(reads_pressed=False, at_us=70 * MS) is None
    assert lock.noise == 2
    assert lock.edge(pressed=True, reads_pressed=True, at_us=200 * MS) == 200 * MS
    assert (lock.noise, lock.missed) == (2, 0)


def test_a_lock_read_while_it_bounced_is_proved_by_the_next_sweep() -> None:
    _, lock = lock_presses((0, True, False))
    assert lock.sweep(reads_pressed=True, at_us=20 * MS) == 0
    assert lock.sweep(reads_pressed=True, at_us=70 * MS) is None
    assert (lock.noise, lock.missed) == (0, 0)


def test_a_lock_held_while_the_power_came_back_is_no_press() -> None:
    lock = LockButton(bounce_ms=BOUNCE_MS)
    assert lock.sweep(reads_pressed=True, at_us=0) is None
    assert lock.sweep(reads_pressed=True, at_us=50 * MS) is None
    assert lock.edge(pressed=True, reads_pressed=True, at_us=60 * MS) is None
    assert lock.sweep(reads_pressed=False, at_us=100 * MS) is None
    assert lock.edge(pressed=True, reads_pressed=True, at_us=130 * MS) == 130 * MS
    assert lock.missed == 0


def test_a_release_whose_edge_was_lost_is_found_by_the_sweep() -> None:
    _, lock = lock_presses((0, True, True))
    lock.sweep(reads_pressed=False, at_us=100 * MS)
    lock.sweep(reads_pressed=False, at_us=150 * MS)
    assert lock.edge(pressed=True, reads_pressed=True, at_us=400 * MS) == 400 * MS


def test_a_press_still_under_way_when_a_sweep_reads_it_counts() -> None:
    lock = ready_lock()
    assert lock.sweep(reads_pressed=True, at_us=0) is None
    assert lock.sweep(reads_pressed=True, at_us=20 * MS) is None
    assert lock.edge(pressed=True, reads_pressed=True, at_us=-MS) == -MS
    assert lock.sweep(reads_pressed=True, at_us=50 * MS) is None
    assert lock.edge(pressed=False, reads_pressed=False, at_us=60 * MS) is None
    assert lock.sweep(reads_pressed=True, at_us=100 * MS) is None
    assert lock.edge(pressed=True, reads_pressed=True, at_us=99 * MS) == 99 * MS
    assert lock.missed == 0


def test_a_press_that_one_sweep_alone_read_does_not_spoil_the_next() -> None:
    lock = ready_lock()
    for at_ms, reads_pressed in ((0, True), (50, False), (100, True)):
        assert lock.sweep(reads_pressed=reads_pressed, at_us=at_ms * MS) is None
    assert lock.edge(pressed=True, reads_pressed=True, at_us=99 * MS) == 99 * MS
    assert lock.missed == 0


def test_a_press_without_an_edge_has_no_time_and_locks_nothing() -> None:
    lock = ready_lock()
    assert [lock.sweep(reads_pressed=True, at_us=n * 50 * MS) for n in range(9)] == [None] * 9
    assert lock.missed == 1
    lock.sweep(reads_pressed=False, at_us=450 * MS)
    assert lock.edge(pressed=True, reads_pressed=True, at_us=600 * MS) == 600 * MS


def slot(*pulses_ms: tuple[int, int], until_ms: int, drops: Drops | None = None) -> int:
    """How many chips those blockings of the slot make, with a sweep every 50 ms."""
    drops, chips = drops or Drops(late_ms=LATE_MS), 0
    edges = [(at, number % 2 == 0) for number, at in enumerate(at for p in pulses_ms for at in p)]
    for now_ms in range(50, until_ms + 1, 50):
        for at_ms, blocked in edges:
            if now_ms - 50 < at_ms <= now_ms:
                drops.edge(blocked=blocked, at_us=at_ms * MS)
        reads = [blocked for at_ms, blocked in edges if at_ms <= now_ms]
        chips += drops.sweep(blocked=bool(reads) and reads[-1], at_us=now_ms * MS)
    return chips


@pytest.mark.parametrize(
    ("pulses_ms", "chips", "odd"),
    [
        ([(10, 14)], 0, 0),
        ([(10, 15)], 1, 1),
        ([(10, 21)], 1, 1),
        ([(10, 22)], 1, 0),
        ([(10, 210)], 1, 0),
        ([(10, 211)], 1, 1),
        ([(10, 1_010)], 1, 1),
        ([(10, 1_011)], 0, 0),
        ([(10, 30), (34, 60)], 1, 0),
        ([(10, 30), (35, 60)], 2, 0),
        ([(10, 12), (13, 40), (41, 43)], 1, 0),
        ([(n * 40, n * 40 + 20) for n in range(1, 21)], 20, 0),
    ],
)
def test_a_chip_through_the_slot_is_counted_once_and_noise_never(
    pulses_ms: list[tuple[int, int]], chips: int, odd: int
) -> None:
    drops = Drops(late_ms=LATE_MS)
    assert slot(*pulses_ms, until_ms=1_500, drops=drops) == chips
    assert drops.odd == odd
    assert not drops.jammed


def test_a_slot_blocked_for_more_than_a_second_is_jammed_until_it_is_free() -> None:
    drops = Drops(late_ms=LATE_MS)
    drops.edge(blocked=True, at_us=0)
    assert drops.sweep(blocked=True, at_us=1_035 * MS) == 0
    assert not drops.jammed
    assert drops.sweep(blocked=True, at_us=1_035 * MS + 1) == 0
    assert drops.jammed
    drops.edge(blocked=False, at_us=4_000 * MS)
    assert drops.sweep(blocked=False, at_us=4_100 * MS) == 0
    assert not drops.jammed


def test_a_slot_that_is_blocked_from_the_start_is_jammed_too() -> None:
    drops = Drops(late_ms=LATE_MS)
    assert sum(drops.sweep(blocked=True, at_us=n * 50 * MS) for n in range(30)) == 0
    assert drops.jammed
