"""Writes docs/round-states.md from the machine's own tables, so that the two cannot differ.

`python -m tests.round_diagram` writes the file; a unit test compares it with what is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.domain.machine import FITS, FLOOR_ONLY, NEXT, SAYS, STAYS, TECHNICAL_ONLY
from controller.domain.table import Phase

FILE: Final = Path(__file__).parents[1] / "docs" / "round-states.md"

HEAD: Final = """# The states of a round

<!-- Generated: change controller/domain/machine.py, then run python -m tests.round_diagram -->

An arrow is an event that the ledger records. FAULT can be reached from every state and is left,
by a technician, to the state it came from. What has no arrow is refused and changes nothing.
"""


def diagram() -> str:
    """The arrows between states as a mermaid state diagram."""
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {Phase.CLOSED.name}"]
    for (start, event), end in NEXT.items():
        if start is not end and end is not Phase.FAULT:
            lines.append(f"    {start.name} --> {end.name} : {event.__name__}")
    return "\n".join([*lines, "```"])


def _steps() -> Iterator[str]:
    yield "| from | event | to |"
    yield "|---|---|---|"
    for (start, event), end in NEXT.items():
        yield f"| {start.name} | {event.__name__} | {end.name} |"
    yield f"| {Phase.FAULT.name} | FaultCleared | the state it came from |"


def _commands() -> Iterator[str]:
    yield "| command | fits | credential |"
    yield "|---|---|---|"
    for command, phases in FITS.items():
        fits = ", ".join(phase.name for phase in Phase if phase in phases)
        who = "floor" if command in FLOOR_ONLY else ""
        who = "technician" if command in TECHNICAL_ONLY else who
        yield f"| {command.__name__} | {fits} | {who or 'any'} |"


def _words() -> Iterator[str]:
    yield "| state | what a key that does not fit is told |"
    yield "|---|---|"
    for phase, words in SAYS.items():
        yield f"| {phase.name} | {words} |"


def page() -> str:
    """The whole document."""
    stays = ", ".join(sorted(event.__name__ for event in STAYS if event.__name__ != "FaultCleared"))
    parts = [
        HEAD,
        diagram(),
        "\n## Every step\n",
        *_steps(),
        f"\nEvents that leave the state as it is: {stays}.",
        "\n## Which command fits where\n",
        *_commands(),
        "\n## What is said otherwise\n",
        *_words(),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
