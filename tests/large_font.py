"""Draws the large letters of the displays once and for all, from an outline font to pixels.

    python -m tests.large_font DejaVuSansCondensed-Bold.ttf

Outlines come out a pixel different from one FreeType to the next; pixels do not. Run it only when
a size is added, and look at every golden picture afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from display.letters import LARGE_SIGNS, LARGE_SIZES_PX, large

FONTS: Final = Path(__file__).resolve().parents[1] / "display" / "fonts"


def drawn(font: ImageFont.FreeTypeFont, sign: str) -> tuple[Image.Image, int, int]:
    """The ink of a sign, its left edge, and its top above the baseline."""
    reach = 128
    paper = Image.new("1", (2 * reach, 2 * reach))
    pen = ImageDraw.Draw(paper)
    pen.fontmode = "1"
    pen.text((reach, reach), sign, font=font, fill=1, anchor="ls")
    box = paper.getbbox() or (reach, reach, reach + 1, reach + 1)
    return paper.crop(box), box[0] - reach, reach - box[1]


def bdf(outlines: Path, size_px: int) -> Iterator[str]:
    """The lines of a font file in the Bitmap Distribution Format."""
    font = ImageFont.truetype(outlines, size_px, layout_engine=ImageFont.Layout.BASIC)
    ascent, descent = font.getmetrics()
    yield "STARTFONT 2.1"
    yield "COMMENT Drawn from DejaVu Sans Condensed Bold 2.37; see DejaVu-LICENSE.txt"
    yield f"FONT -Feltlink-Large-Bold-R-Normal--{size_px}-{size_px * 10}-72-72-P-0-ISO10646-1"
    yield f"SIZE {size_px} 72 72"
    yield f"FONTBOUNDINGBOX {2 * size_px} {ascent + descent} 0 {-descent}"
    yield "STARTPROPERTIES 3"
    yield f"PIXEL_SIZE {size_px}"
    yield f"FONT_ASCENT {ascent}"
    yield f"FONT_DESCENT {descent}"
    yield "ENDPROPERTIES"
    yield f"CHARS {len(LARGE_SIGNS)}"
    for sign in LARGE_SIGNS:
        yield from _glyph(font, sign, size_px)
    yield "ENDFONT"


def _glyph(font: ImageFont.FreeTypeFont, sign: str, size_px: int) -> Iterator[str]:
    ink, left, top = drawn(font, sign)
    advance = round(font.getlength(sign))
    yield f"STARTCHAR U+{ord(sign):04X}"
    yield f"ENCODING {ord(sign)}"
    yield f"SWIDTH {advance * 1000 // size_px} 0"
    yield f"DWIDTH {advance} 0"
    yield f"BBX {ink.width} {ink.height} {left} {top - ink.height}"
    yield "BITMAP"
    stride = (ink.width + 7) // 8
    data = ink.tobytes()
    yield from (data[at : at + stride].hex().upper() for at in range(0, len(data), stride))
    yield "ENDCHAR"


def main(arguments: list[str]) -> int:
    (outlines,) = arguments
    for size_px in LARGE_SIZES_PX:
        text = "\n".join(bdf(Path(outlines), size_px)) + "\n"
        (FONTS / large(size_px)).write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
