"""Compares frames with the pictures in tests/golden, pixel for pixel, and takes over new ones.

    python -m tests.unit.golden --accept            take over every picture as it is drawn now
    python -m tests.unit.golden --accept NAME ...   or only these

Look at what changed before you commit it. The pictures in docs/images are the same ones, larger.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from PIL import Image

from tests.unit.scenes import scenes

ROOT: Final = Path(__file__).resolve().parents[2]
GOLDEN: Final = ROOT / "tests" / "golden"
FOUND: Final = ROOT / "build" / "golden"
DOCUMENTED: Final = ROOT / "docs" / "images"
DOCUMENT: Final = ROOT / "docs" / "displays.md"
LARGER: Final = 3


def difference(name: str, image: Image.Image, found: Path = FOUND) -> str:
    """Nothing if the picture is the golden one; else what to do, with the found one on disk."""
    golden = GOLDEN / f"{name}.png"
    if golden.is_file() and same(image, read(golden)):
        return ""
    found.mkdir(parents=True, exist_ok=True)
    enlarged(image).save(found / f"{name}.png")
    what = "differs from its golden picture" if golden.is_file() else "has no golden picture"
    return (
        f"{name} {what}. Look at {found / name}.png beside {golden}; if it is right, run:"
        f" python -m tests.unit.golden --accept {name}"
    )


def read(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("1")


def same(one: Image.Image, other: Image.Image) -> bool:
    return (one.size, one.tobytes()) == (other.size, other.tobytes())


def enlarged(image: Image.Image) -> Image.Image:
    size = (image.width * LARGER, image.height * LARGER)
    return image.resize(size, Image.Resampling.NEAREST)


def documented() -> frozenset[str]:
    """The names of the pictures that the page about the displays shows."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.is_file() else ""
    return frozenset(name for name in scenes() if f"images/{name}.png" in text)


def accept(names: list[str]) -> None:
    drawn = scenes()
    for folder in (GOLDEN, DOCUMENTED):
        folder.mkdir(exist_ok=True)
    for name in names or drawn:
        drawn[name]().save(GOLDEN / f"{name}.png", optimize=True)
    for name in documented():
        enlarged(read(GOLDEN / f"{name}.png")).save(DOCUMENTED / f"{name}.png", optimize=True)
    for stray in {path.stem for path in GOLDEN.glob("*.png")} - drawn.keys():
        (GOLDEN / f"{stray}.png").unlink()
    for stray in {path.stem for path in DOCUMENTED.glob("*.png")} - documented():
        (DOCUMENTED / f"{stray}.png").unlink()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Takes over frames as golden pictures.")
    parser.add_argument("--accept", nargs="*", metavar="NAME", required=True)
    accept(parser.parse_args(arguments).accept)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
