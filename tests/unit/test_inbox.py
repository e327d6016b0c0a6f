"""The inbox: everything in its order, never more than it can hold, and nothing lost in silence."""

from __future__ import annotations

import threading

from controller.hardware import LOCK, sensor
from firmware.inbox import Edge, Inbox, Key, Wake


def test_what_is_put_in_comes_out_in_that_order() -> None:
    inbox = Inbox()
    inbox.edge(sensor(1), True, 5)
    inbox.put(Key("7"))
    inbox.edge(LOCK, False, 3)
    taken = [inbox.take(0), inbox.take(0), inbox.take(0)]
    assert taken == [Edge(sensor(1), True, 5), Key("7"), Edge(LOCK, False, 3)]
    assert inbox.take(0) is None


def test_an_empty_inbox_gives_nothing_after_the_wait() -> None:
    assert Inbox().take(1_000) is None


def test_what_does_not_fit_is_counted_and_not_kept() -> None:
    inbox = Inbox(limit=3)
    for at_us in range(5):
        inbox.edge(sensor(1), True, at_us)
    assert inbox.lost == 2
    kept = []
    while (seen := inbox.take(0)) is not None:
        kept.append(seen)
    assert [edge.at_us for edge in kept if isinstance(edge, Edge)] == [0, 1, 2]
    inbox.put(Wake())
    assert (inbox.take(0), inbox.lost) == (Wake(), 2)


def test_a_reader_that_waits_is_woken_by_the_first_thing_that_comes() -> None:
    inbox = Inbox()
    writer = threading.Thread(target=lambda: inbox.put(Wake()))
    writer.start()
    assert inbox.take(60_000_000) == Wake()
    writer.join()


def test_many_writers_fill_it_and_what_did_not_fit_is_known_to_be_lost() -> None:
    inbox = Inbox(limit=500)

    def write(seat: int) -> None:
        for at_us in range(200):
            inbox.edge(sensor(seat), True, at_us)

    writers = [threading.Thread(target=write, args=(seat,)) for seat in range(1, 5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    kept = 0
    while inbox.take(0) is not None:
        kept += 1
    # Each writer may see the last free place at once: the limit is soft by their number, no more.
    assert 500 <= kept <= 503
    assert 0 < inbox.lost <= 800 - kept
