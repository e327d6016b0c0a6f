"""The real table daemon, with somebody looking at its simulated displays.

A file says what is on the glass, because the probe in the container has no eyes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller import cli
from display import glass as glass_maker
from tests.nspawn.program import DISPLAY

if TYPE_CHECKING:
    from PIL import Image

    from display.glass import Glass
    from display.sheet import Size

make_glass = glass_maker.dummy_glass


def watched_glass(size: Size) -> Glass:
    glass = make_glass(size)
    draw = glass.draw

    def drawn(image: Image.Image, *, again: bool = False) -> None:
        draw(image, again=again)
        DISPLAY.write_text("lit" if image.getbbox() else "", "utf-8")

    glass.draw = drawn  # type: ignore[method-assign]
    return glass


def main() -> int:
    glass_maker.dummy_glass = watched_glass
    return cli.main()
