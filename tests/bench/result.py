"""One measured figure, and where benchmarks find the project and the command."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Result:
    """One figure, what it is measured against, and what we ask of it."""

    name: str
    value: float
    target: str
    met: bool
    detail: str


def feltlink() -> str:
    return str(Path(sys.executable).with_name("feltlink"))
