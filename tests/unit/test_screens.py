"""The drawing thread, turn by turn: newest first, nothing stale, and faults that stay apart."""

from __future__ import annotations

from itertools import pairwise
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from controller.domain.errors import Fault
from controller.domain.view import MeterView
from controller.screen import Screen
from display.frames import (
    DEALER_SIZE,
    WIDE_SIZE,
    Starting,
    blank,
    dealer_frame,
    meter_frame,
    stale_frame,
    start_frame,
    stopped_frame,
)
from display.glass import BRIGHT, DIM, dummy_glass, open_glass
from display.pane import LONGEST_PAUSE_US, REFRESH_US
from display.screens import FRAME_US, IDLE_US, Name, Screens
from display.sheet import PAGE_MS
from tests.builders import Evening, usd
from tests.unit.buses import on_i2c
from tests.unit.glasses import SECOND_US, Rig
from tests.unit.scenes import LONG, levels, opened, view, won
from tests.unit.test_glass import I2C


def same(one: Image.Image | None, other: Image.Image) -> bool:
    return one is not None and one.tobytes() == other.tobytes()


def test_before_anything_is_known_both_displays_are_blank_and_hold_no_amount() -> None:
    rig = Rig()
    rig.turn()
    assert same(rig.dealer.image, blank(DEALER_SIZE))
    assert same(rig.meter.image, blank(WIDE_SIZE))
    assert rig.screens.shown() == {}


def test_a_moment_is_on_both_displays_at_the_next_turn() -> None:
    rig, screen = Rig(), Screen(levels(2))
    rig.post(screen)
    at_ms = rig.at_ms
    assert same(rig.dealer.image, dealer_frame(screen, at_ms=at_ms, since_ms=at_ms))
    meter = meter_frame(screen, size=WIDE_SIZE, at_ms=at_ms, since_ms=at_ms)
    assert same(rig.meter.image, meter)
    assert rig.screens.image("dealer") is rig.dealer.image


def test_of_many_moments_only_the_newest_is_drawn() -> None:
    rig = Rig()
    rig.turn()
    for cents in range(100):
        rig.screens.post(Screen(levels_of(f"10000.{cents:02d}")))
    before = rig.meter.pictures
    rig.turn()
    assert rig.meter.pictures == before + 1
    assert rig.screens.shown() == {"Progressive": usd("10000.99")}


def levels_of(amount: str) -> Any:
    meter = MeterView("Progressive", usd(amount), pending=False, at_limit=False)
    return replace(levels(1), meters=(meter,))


def test_no_more_than_eight_frames_a_second_are_drawn() -> None:
    rig = Rig()
    rig.turn()
    before = rig.meter.tries
    for step in range(100):
        rig.screens.post(Screen(levels_of(f"{10000 + step}.00")))
        wait_us = rig.turn(after_us=SECOND_US // 100)
        assert wait_us <= FRAME_US
    assert rig.meter.tries - before <= 8


def test_the_same_moment_again_is_not_drawn_again() -> None:
    rig = Rig()
    rig.post(Screen(levels(2)))
    before = rig.meter.tries
    rig.screens.post(Screen(levels(2)))
    assert rig.turn() == IDLE_US
    assert rig.meter.tries == before


def test_pages_take_turns_without_anything_new() -> None:
    rig, screen = Rig(), Screen(view(opened()), notice=LONG)
    rig.post(screen)
    first = rig.dealer.image
    rig.pass_ms(PAGE_MS)
    assert rig.dealer.image != first
    rig.pass_ms(2 * PAGE_MS, screen)
    assert rig.dealer.image == first


def test_a_refusal_is_read_from_its_first_page_although_meters_move_meanwhile() -> None:
    rig = Rig()
    rig.pass_ms(7 * PAGE_MS // 2, Screen(levels_of("1.00")))
    rig.post(Screen(levels_of("1.00"), notice=LONG))
    first = rig.dealer.image
    rig.post(Screen(levels_of("2.00"), notice=LONG))
    assert rig.dealer.image == first
    rig.pass_ms(PAGE_MS, Screen(levels_of("3.00"), notice=LONG))
    assert rig.dealer.image != first


@pytest.mark.requirement(57)
def test_a_validated_hit_is_on_the_meter_display_at_once() -> None:
    rig, paid = Rig(), Screen(view(won(validated=True)))
    rig.pass_ms(5000, Screen(view(won())))
    rig.post(paid)
    hit = meter_frame(paid, size=WIDE_SIZE, at_ms=rig.at_ms, since_ms=rig.at_ms)
    assert same(rig.meter.image, hit)


@pytest.mark.requirement(59)
def test_without_news_for_five_seconds_the_amounts_are_gone() -> None:
    rig = Rig()
    rig.post(Screen(levels(1)))
    rig.pass_ms(4750)
    assert rig.screens.shown() != {}
    rig.pass_ms(250)
    assert same(rig.meter.image, stale_frame(WIDE_SIZE, at_ms=rig.at_ms))
    assert same(rig.dealer.image, stale_frame(DEALER_SIZE, at_ms=rig.at_ms))
    assert rig.screens.shown() == {}
    rig.post(Screen(levels(1)))
    assert rig.screens.shown() == {"Progressive": usd("1234567.89")}


def test_how_long_is_too_long_can_be_set() -> None:
    rig = Rig(stale_ms=1000)
    rig.post(Screen(levels(1)))
    rig.pass_ms(1250)
    assert rig.screens.shown() == {}


def test_a_start_may_take_long_at_one_step() -> None:
    rig, step = Rig(), Starting("LEDGER CHECK", "0.2.0", "0f3a9c77" * 8)
    rig.post(step)
    rig.pass_ms(30_000)
    assert same(rig.meter.image, start_frame(WIDE_SIZE, step, at_ms=rig.at_ms))


@pytest.mark.requirement(60)
def test_what_is_shown_follows_the_glass_and_not_the_mailbox() -> None:
    rig = Rig()
    rig.post(Screen(levels_of("100.00")))
    rig.screens.post(Screen(levels_of("200.00")))
    assert rig.screens.shown() == {"Progressive": usd("100.00")}
    rig.turn()
    assert rig.screens.shown() == {"Progressive": usd("200.00")}


def test_levels_on_other_pages_count_as_shown_while_they_are_still_true() -> None:
    rig, five = Rig(DEALER_SIZE), levels(5)
    rig.post(Screen(five))
    assert list(rig.screens.shown()) == ["Star", "Spade"]
    rig.pass_ms(12_000, Screen(five))
    assert list(rig.screens.shown()) == ["Star", "Spade", "Heart", "Diamond", "Club"]
    moved = tuple(replace(meter, shown=usd("1.00")) for meter in five.meters)
    rig.post(Screen(replace(five, meters=moved)))
    assert set(rig.screens.shown().values()) == {usd("1.00")}
    assert len(rig.screens.shown()) == 2


def test_a_display_that_is_down_is_a_sentence_and_shows_nothing() -> None:
    rig = Rig()
    rig.post(Screen(levels(1)))
    assert rig.screens.faults() == ()
    rig.meter.fault = Fault("no answer at 0x3d on bus 1: check its cable")
    rig.post(Screen(levels(2)))
    assert rig.screens.faults() == ("meter display: no answer at 0x3d on bus 1: check its cable",)
    assert rig.screens.shown() == {}
    assert rig.screens.image("meter") is None


def test_the_other_display_goes_on_while_one_is_down() -> None:
    rig = Rig()
    rig.meter.fault = Fault("gone")
    rig.post(Screen(view(opened())))
    before = rig.dealer.image
    rig.post(Screen(view(opened(), 3)))
    assert rig.dealer.image != before
    assert rig.screens.faults() == ("meter display: gone",)


def test_a_dead_display_is_tried_again_after_pauses_that_grow_to_half_a_minute() -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.meter.fault = Fault("gone")
    tried_us: list[int] = []
    for _step in range(4 * 200):
        rig.screens.post(screen)
        rig.turn(after_us=IDLE_US)
        tried_us += [rig.at_us] * (rig.meter.tries - len(tried_us))
    pauses = [later - earlier for earlier, later in pairwise(tried_us)]
    assert pauses[:5] == [SECOND_US * 2**doubled for doubled in range(5)]
    assert set(pauses[5:]) == {LONGEST_PAUSE_US}


def test_a_display_that_comes_back_is_drawn_and_no_longer_reported() -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.meter.fault = Fault("gone")
    rig.pass_ms(10_000, screen)
    rig.meter.fault = None
    rig.pass_ms(30_000, screen)
    assert rig.screens.faults() == ()
    assert rig.screens.shown() == {"Progressive": usd("1234567.89")}
    rig.meter.fault, rig.meter.tries = Fault("gone again"), 0
    rig.pass_ms(5_000, screen)
    assert rig.meter.tries >= 3


def test_a_panel_is_told_everything_again_every_ten_seconds() -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.pass_ms(10_000, screen)
    before = rig.meter.pictures
    rig.pass_ms(REFRESH_US // 1000, screen)
    assert rig.meter.pictures == before + 1


def test_a_mistake_in_drawing_blanks_that_display_is_reported_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.post(screen)

    def broken(*_args: object, **_keys: object) -> Image.Image:
        raise ZeroDivisionError("no levels")

    with monkeypatch.context() as patch:
        patch.setattr("display.screens.meter_frame", broken)
        rig.post(Screen(levels(2)))
        assert same(rig.meter.image, blank(WIDE_SIZE))
        assert rig.screens.shown() == {}
        (said,) = rig.screens.faults()
        assert said.startswith("meter display: cannot be drawn (ZeroDivisionError: no levels)")
    rig.post(screen)
    assert rig.screens.faults() == ()
    assert rig.screens.shown() == {"Progressive": usd("1234567.89")}


def test_a_mistake_of_a_driver_closes_that_display_and_is_tried_again() -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.meter.fault = ValueError("odd pin")
    rig.post(screen)
    assert rig.meter.closed
    assert rig.screens.faults() == ("meter display: ValueError: odd pin: report this",)
    rig.meter.fault = None
    rig.pass_ms(1000, screen)
    assert rig.screens.faults() == ()


def test_a_table_closed_for_ten_minutes_is_dimmed_until_it_opens() -> None:
    rig, closed = Rig(), Screen(view(Evening(opened=False)))
    rig.pass_ms(599_000, closed)
    assert (rig.dealer.level, rig.meter.level) == (BRIGHT, BRIGHT)
    rig.pass_ms(2_000, closed)
    assert (rig.dealer.level, rig.meter.level) == (DIM, DIM)
    rig.post(Screen(view(opened())))
    assert (rig.dealer.level, rig.meter.level) == (BRIGHT, BRIGHT)


def test_stopping_clears_both_displays_and_lets_go_of_them() -> None:
    rig = Rig()
    rig.post(Screen(levels(1)))
    rig.screens.stop()
    assert same(rig.dealer.image, blank(DEALER_SIZE))
    assert same(rig.meter.image, blank(WIDE_SIZE))
    assert rig.dealer.closed
    assert rig.meter.closed
    assert rig.screens.shown() == {}


def test_stopping_for_a_reason_leaves_the_reason_on_both_displays() -> None:
    rig = Rig()
    rig.screens.stop("The disk is full.")
    assert same(rig.meter.image, stopped_frame(WIDE_SIZE, "The disk is full."))
    assert same(rig.dealer.image, stopped_frame(DEALER_SIZE, "The disk is full."))


def test_stopping_does_not_mind_a_display_that_is_down() -> None:
    rig = Rig()
    rig.dealer.fault = Fault("gone")
    rig.screens.stop()
    assert rig.dealer.closed
    assert same(rig.meter.image, blank(WIDE_SIZE))


def test_the_beat_tells_when_the_thread_last_went_round() -> None:
    rig = Rig()
    rig.turn(after_us=7)
    assert rig.screens.beat_us() == rig.at_us
    rig.turn(after_us=1)
    assert rig.screens.beat_us() == rig.at_us


def test_a_table_without_displays_has_nothing_to_report() -> None:
    screens = Screens(dealer=None, meter=None, now_us=lambda: 0)
    screens.post(Screen(levels(1)))
    assert screens.turn(0) == IDLE_US
    assert (screens.faults(), screens.shown()) == ((), {})
    names: tuple[Name, ...] = ("dealer", "meter")
    assert [screens.image(name) for name in names] == [None, None]
    screens.stop()


def test_the_thread_draws_what_is_posted_and_clears_it_when_stopped() -> None:
    rig, screen = Rig(), Screen(levels(1))
    rig.screens.post(screen)
    rig.screens.start()
    assert rig.meter.drawn.wait(20)
    frame = meter_frame(screen, size=WIDE_SIZE, at_ms=rig.at_ms, since_ms=rig.at_ms)
    assert same(rig.meter.image, frame)
    rig.screens.stop()
    assert same(rig.meter.image, blank(WIDE_SIZE))
    assert rig.meter.closed


def test_the_thread_outlives_a_turn_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    rig, failed = Rig(), Event()
    monkeypatch.setattr("display.screens.TROUBLE_US", 1)
    turn = rig.screens.turn

    def fails_once(now_us: int) -> int:
        if failed.is_set():
            return turn(now_us)
        failed.set()
        raise RuntimeError("once")

    monkeypatch.setattr(rig.screens, "turn", fails_once)
    rig.screens.start()
    assert failed.wait(20)
    assert rig.meter.drawn.wait(20)
    rig.screens.stop()
    assert rig.screens.faults() == ()


@pytest.mark.requirement(70)
def test_simulated_displays_keep_pictures_that_say_so() -> None:
    dealer, meter = dummy_glass(DEALER_SIZE), dummy_glass(WIDE_SIZE)
    screens = Screens(dealer=dealer, meter=meter, now_us=lambda: 0)
    real, simulated = Screen(levels(1)), Screen(levels(1), simulated=True)
    screens.post(simulated)
    screens.turn(0)
    assert same(screens.image("dealer"), dealer_frame(simulated, at_ms=0))
    assert same(screens.image("meter"), meter_frame(simulated, size=WIDE_SIZE, at_ms=0))
    assert not same(screens.image("meter"), meter_frame(real, size=WIDE_SIZE, at_ms=0))
    screens.stop()


@pytest.mark.filterwarnings("ignore:Image.Image.getdata is deprecated")
def test_a_real_panel_that_loses_its_power_shows_again_within_ten_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = on_i2c(monkeypatch)
    rig, screen = Rig(), Screen(view(opened(), 3))
    rig.screens = Screens(dealer=open_glass(I2C), meter=None, now_us=lambda: rig.at_us)
    rig.post(screen)
    assert same(panel.image(), dealer_frame(screen, at_ms=rig.at_ms, since_ms=rig.at_ms))
    panel.lose_power()
    rig.pass_ms(10_000, screen)
    assert same(panel.image(), dealer_frame(screen, at_ms=rig.at_ms, since_ms=rig.at_ms))
    rig.screens.stop()
    assert panel.image().getbbox() is None
