"""Lamps and buzzer in time: which instant is on, by a pattern that needs no colour to tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.domain.view import Lamp
from controller.ports import Sound

# Lengths of on, off, on, off ... in milliseconds. A single length stands for ever.
LAMP_MS: Final[Mapping[Lamp, tuple[int, ...]]] = {
    Lamp.SEEN: (500, 500),
    Lamp.ATTENTION: (125, 125),
    Lamp.OUT_OF_SERVICE: (100, 150, 100, 1150),
}
SOUND_MS: Final[Mapping[Sound, tuple[int, ...]]] = {
    Sound.FLOOR: (200, 200, 200, 1400),
}
BEEP_MS: Final = 120


def lit(lamp: Lamp, at_ms: int) -> bool:
    """Accepted is steady from the first instant; the others follow one rhythm for all seats."""
    if lamp in LAMP_MS:
        return _on(LAMP_MS[lamp], at_ms)
    return lamp is Lamp.ACCEPTED


def sounds(sound: Sound, at_ms: int) -> bool:
    return sound in SOUND_MS and _on(SOUND_MS[sound], at_ms)


def _on(lengths_ms: tuple[int, ...], at_ms: int) -> bool:
    left = at_ms % sum(lengths_ms)
    for turn, length_ms in enumerate(lengths_ms):
        if left < length_ms:
            return turn % 2 == 0
        left -= length_ms
    return False
