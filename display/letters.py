"""Letters as pixels: which faces there are, how wide a text comes out, which face fits a space.

Both fonts are made of pixels and look the same whatever draws them: Terminus for text, and for
what matters most large capitals and figures, drawn from DejaVu Sans (tests/large_font.py). Every
letter is drawn once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import Final

from PIL import Image, ImageDraw, ImageFont

PIXELS: Final = "terminus-bold.otb"
LARGE_SIGNS: Final = "".join(chr(code) for code in range(ord(" "), ord("_") + 1))
LARGE_SIZES_PX: Final = (60, 56, 52, 48, 44, 40, 37, 34, 31, 28, 26, 24, 22, 20)

# Terminus gives each sign the width of an M; these need less.
_NARROW: Final = frozenset(".,:;'!|")
# Its zero has a stroke through it, which from afar reads as an 8.
_DRAWN_AS: Final = {"0": "O"}


@dataclass(frozen=True, slots=True)
class Face:
    """One font at one size."""

    font: str
    size_px: int


@dataclass(frozen=True, slots=True)
class Glyph:
    """One letter: its ink, where it stands against the capitals' top left, and how far to go on."""

    ink: Image.Image | None
    left: int
    top: int
    advance: int


@dataclass(frozen=True, slots=True)
class Extent:
    """How much room a text takes: width of the ink, and what sticks out of the capitals."""

    width: int
    above: int
    below: int


def large(size_px: int) -> str:
    """The font file of that size."""
    return f"large-{size_px}.bdf"


TINY: Final = Face(PIXELS, 12)  # capitals of 8 pixels
SMALL: Final = Face(PIXELS, 16)  # 10
MIDDLE: Final = Face(PIXELS, 18)  # 12
TALL: Final = Face(PIXELS, 20)  # 13
TEXT_FACES: Final = (TALL, MIDDLE, SMALL, TINY)
LARGE_FACES: Final = tuple(Face(large(size_px), size_px) for size_px in LARGE_SIZES_PX)
FACES: Final = (*LARGE_FACES, *TEXT_FACES)  # largest first


@cache
def _font(face: Face) -> ImageFont.FreeTypeFont:
    with as_file(files("display") / "fonts" / face.font) as path:
        return ImageFont.truetype(path, face.size_px, layout_engine=ImageFont.Layout.BASIC)


def _drawn(face: Face, letter: str) -> tuple[Image.Image | None, int, int]:
    """The ink of one letter, cut out, with its left edge and its top below the baseline."""
    reach = 2 * face.size_px
    paper = Image.new("1", (2 * reach, 2 * reach))
    pen = ImageDraw.Draw(paper)
    pen.fontmode = "1"  # no greys: a pixel is lit or it is not
    pen.text((reach, reach), letter, font=_font(face), fill=1, anchor="ls")
    box = paper.getbbox()
    if box is None:
        return None, 0, 0
    return paper.crop(box), box[0] - reach, box[1] - reach


@cache
def cap_height(face: Face) -> int:
    ink, _left, _top = _drawn(face, "H")
    return ink.height if ink else 0


@lru_cache(maxsize=4096)
def glyph(face: Face, letter: str) -> Glyph:
    pixels = face.font == PIXELS
    ink, left, top = _drawn(face, _DRAWN_AS.get(letter, letter) if pixels else letter)
    advance = round(_font(face).getlength(letter))
    if pixels and letter == " ":
        advance //= 2
    if pixels and ink and letter in _NARROW:
        left, advance = 0, ink.width + 1
    return Glyph(ink, left, cap_height(face) + top, advance)


def printable(text: str) -> str:
    """Anything that is no sign to draw becomes a space."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def can_write(text: str, face: Face) -> bool:
    """Large letters are capitals, figures and the usual signs; Terminus has nearly all there is."""
    return face.font == PIXELS or all(letter in LARGE_SIGNS for letter in printable(text))


@lru_cache(maxsize=1024)
def extent(text: str, face: Face) -> Extent:
    at, width, above, below = 0, 0, 0, 0
    for letter in printable(text):
        sign = glyph(face, letter)
        if sign.ink:
            width = max(width, at + sign.left + sign.ink.width)
            above = max(above, -sign.top)
            below = max(below, sign.top + sign.ink.height - cap_height(face))
        at += sign.advance
    return Extent(width, above, below)


def width_of(text: str, face: Face) -> int:
    return extent(text, face).width


def height_of(text: str, face: Face) -> int:
    taken = extent(text, face)
    return taken.above + cap_height(face) + taken.below


def pitch(face: Face) -> int:
    """From one line of capitals to the next."""
    return cap_height(face) + (2 if face == TINY else 3)


def fit(text: str, width: int, height: int, faces: Sequence[Face] = FACES) -> Face:
    """The largest face in which the whole text fits, or the last one if none does."""
    for face in faces:
        fits = height_of(text, face) <= height and width_of(text, face) <= width
        if fits and can_write(text, face):
            return face
    return faces[-1]


@cache
def dollar_face(face: Face) -> Face:
    """The dollar sign beside figures of that face: smaller, so that nothing sticks out."""
    smaller = FACES[FACES.index(face) :]
    return next((f for f in smaller if height_of("$", f) <= cap_height(face) + 1), FACES[-1])


def figures_width(amount: str, face: Face) -> int:
    """The same for all amounts of a length, so that nothing moves when the last cent changes."""
    return sum(glyph(face, figure).advance for figure in amount.removeprefix("$"))


def amount_width(amount: str, face: Face) -> int:
    """The width of "$1,234.56", every figure of it."""
    return width_of("$", dollar_face(face)) + 2 + figures_width(amount, face)


@cache
def amount_extent(face: Face) -> Extent:
    """What figures and their commas take, whatever the amount."""
    return extent("0123456789,.", face)


def amount_height(face: Face) -> int:
    taken = amount_extent(face)
    return taken.above + cap_height(face) + taken.below


def fit_amount(amount: str, width: int, height: int) -> Face:
    """The largest face in which the whole amount fits, or the smallest there is."""
    for face in FACES:
        if amount_height(face) <= height and amount_width(amount, face) <= width:
            return face
    return FACES[-1]


def shorten(text: str, face: Face, width: int) -> str:
    """Cut for the width, and seen to be cut. Never for amounts."""
    if width_of(text, face) <= width:
        return text
    kept = printable(text)
    while kept and width_of(kept + "…", face) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrap(text: str, face: Face, width: int) -> tuple[str, ...]:
    """Lines no wider than that, broken at words, and inside a word only if it must be."""
    lines: list[str] = []
    line = ""
    for word in printable(text).split():
        longer = f"{line} {word}" if line else word
        if width_of(longer, face) <= width:
            line = longer
            continue
        lines += [line] if line else []
        *whole, line = _pieces(word, face, width)
        lines += whole
    return (*lines, line) if line else tuple(lines)


def _pieces(word: str, face: Face, width: int) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and width_of(pieces[-1] + letter, face) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def block(
    text: str, width: int, height: int, faces: Sequence[Face] = TEXT_FACES
) -> tuple[Face, tuple[str, ...]]:
    """The text in lines, in the largest face that shows all of it; else in the last face."""
    for face in faces:
        lines = wrap(text, face, width)
        if lines_height(face, len(lines)) <= height and can_write(text, face):
            return face, lines
    return faces[-1], wrap(text, faces[-1], width)


def tail(face: Face) -> int:
    """How far commas and dollar signs hang below a line of capitals."""
    return 1 if face == TINY else 2


def lines_height(face: Face, lines: int) -> int:
    return (lines - 1) * pitch(face) + cap_height(face) + tail(face) if lines else 0


def lines_in(face: Face, height: int) -> int:
    """How many lines go into that height; never none."""
    return max(1, (height - cap_height(face) - tail(face)) // pitch(face) + 1)
