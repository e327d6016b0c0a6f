"""Lamps and buzzer in time: each state has a rhythm of its own, and none needs a colour."""

from __future__ import annotations

import pytest

from controller.domain.view import Lamp
from controller.ports import Sound
from firmware.patterns import LAMP_MS, SOUND_MS, lit, sounds

BLINKING = (Lamp.SEEN, Lamp.ATTENTION, Lamp.OUT_OF_SERVICE)
TURN_MS = 50


@pytest.mark.requirement(9)
def test_accepted_is_always_lit_and_off_is_always_dark() -> None:
    assert all(lit(Lamp.ACCEPTED, at_ms) for at_ms in range(3_000))
    assert not any(lit(Lamp.OFF, at_ms) for at_ms in range(3_000))


@pytest.mark.requirement(9)
@pytest.mark.parametrize("lamp", BLINKING)
def test_every_other_state_blinks_and_so_never_passes_for_accepted(lamp: Lamp) -> None:
    for from_ms in range(0, 3_000, 10):
        window = {lit(lamp, at_ms) for at_ms in range(from_ms, from_ms + 1_500, 5)}
        assert window == {True, False}


@pytest.mark.requirement(9)
def test_no_two_states_have_the_same_rhythm_even_as_the_loop_samples_it() -> None:
    seen = {lamp: tuple(lit(lamp, at_ms) for at_ms in range(0, 3_000, TURN_MS)) for lamp in Lamp}
    assert len(set(seen.values())) == len(Lamp)


@pytest.mark.parametrize("lamp", BLINKING)
def test_a_rhythm_comes_round_after_the_sum_of_its_lengths(lamp: Lamp) -> None:
    whole_ms = sum(LAMP_MS[lamp])
    assert all(lit(lamp, at_ms) == lit(lamp, at_ms + whole_ms) for at_ms in range(whole_ms))
    on_ms = sum(lit(lamp, at_ms) for at_ms in range(whole_ms))
    assert on_ms == sum(LAMP_MS[lamp][::2])


def test_out_of_service_flashes_twice_and_rests() -> None:
    levels = [lit(Lamp.OUT_OF_SERVICE, at_ms) for at_ms in range(1_500)]
    changes = [at for at in range(1, 1_500) if levels[at] != levels[at - 1]]
    assert (levels[0], changes) == (True, [100, 250, 350])


def test_no_length_is_shorter_than_the_loops_own_step() -> None:
    lengths = [ms for lengths in (*LAMP_MS.values(), *SOUND_MS.values()) for ms in lengths]
    assert min(lengths) >= 2 * TURN_MS


def test_the_buzzer_calls_the_floor_in_pairs_and_is_silent_otherwise() -> None:
    heard = [sounds(Sound.FLOOR, at_ms) for at_ms in range(2_000)]
    assert sum(heard) == 400
    assert heard[0]
    assert not heard[300]
    assert heard[500]
    assert not any(sounds(Sound.SILENT, at_ms) for at_ms in range(2_000))
