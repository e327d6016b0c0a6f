"""The test picture of a display: what is cut off, shifted or swapped on it shows at once."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageDraw

from display.sheet import Box, Sheet, Size

SQUARE_PX: Final = 8


def pattern_frame(size: Size, words: str) -> Image.Image:
    """A frame in the outermost pixels, a chequer at either side, and words in the middle."""
    width, height = size
    side = width // (5 * SQUARE_PX) * SQUARE_PX
    sheet = Sheet((width - 2 * side, height))
    sheet.biggest(Box(0, 0, sheet.box.width, sheet.box.height), words)
    frame = Image.new("1", size)
    frame.paste(sheet.finish(0), (side, 0))
    ink = ImageDraw.Draw(frame)
    for left in (0, width - side):
        for row in range(0, height, SQUARE_PX):
            for column in range(0, side, SQUARE_PX):
                if (row + column) // SQUARE_PX % 2 == 0:
                    at = left + column
                    ink.rectangle((at, row, at + SQUARE_PX - 1, row + SQUARE_PX - 1), fill=1)
    ink.rectangle((0, 0, width - 1, height - 1), outline=1)
    return frame
