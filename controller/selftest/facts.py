"""What stands fast before anybody touches the table: program, rules, wires, what answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller import VERSION
from controller.adapters.machine import digest
from controller.adapters.pack_files import load_map
from controller.config import TableFile
from controller.document import Problems, Section
from controller.domain.errors import Fault
from controller.hardware import Hardware
from controller.hardware_file import SECTIONS, read_hardware
from controller.maps import ReadyMap
from controller.selftest.record import Result, failed, not_fitted, passed
from controller.selftest.session import Session
from display.screens import Name

PART: Final = "facts"
FIRST_FRAMES_US: Final = 500_000  # by then each display has answered or not
DISPLAYS: Final[tuple[Name, ...]] = ("dealer", "meter")


def facts(file: TableFile, hardware: Hardware, *, date: str, by: str) -> dict[str, str]:
    """The head of the record."""
    timing = hardware.timing
    return {
        "table": file.settings.table_id,
        "date": date,
        "by": by,
        "version": VERSION,
        "program digest": digest(),
        "pack": file.pack.id,
        "fingerprint": file.pack.fingerprint,
        "pin factory": hardware.factory.value,
        "map": map_of(file, hardware),
        "ledger": "one of its own, thrown away afterwards; no live meter was touched",
        "timing": f"settle {timing.settle_ms} ms, bounce {timing.bounce_ms} ms",
    }


def map_of(file: TableFile, hardware: Hardware) -> str:
    """The ready map that these wires are, if they are one."""
    settings = file.settings
    for ready in ReadyMap:
        problems = Problems(ready)
        root = Section({"hardware": {"map": ready.value}}, SECTIONS, problems)
        found = read_hardware(
            root, problems, seats=settings.seats, spots=len(settings.wagers), load_map=load_map
        )
        if not problems.sentences and found.lines == hardware.lines:
            return ready.value
    return "wires of its own"


def check_program(file: TableFile) -> Result:
    """Whether the program is the one that was approved."""
    name = "approved program"
    if file.software is None:
        return passed(PART, name, "The table file names no approved digest ([software] sha256).")
    if file.software == digest():
        return passed(PART, name)
    return failed(
        PART,
        name,
        f"The table file approves {file.software}: install the approved version, or have this one"
        " approved.",
    )


def check_answers(session: Session) -> Iterator[Result]:
    """Which expanders and displays are there at all."""
    yield _expanders(session)  # before the desk turns, which sets a lost one up again
    session.pause(FIRST_FRAMES_US)
    faults = session.rig.screens.faults()
    for name in DISPLAYS:
        check = f"{name} display answers"
        mine = [fault for fault in faults if fault.startswith(f"{name} display")]
        if name not in session.rig.gear.glasses:
            yield not_fitted(PART, check)
        elif mine:
            yield failed(PART, check, f"{mine[0]}.")
        else:
            yield passed(PART, check)


def _expanders(session: Session) -> Result:
    expanders = session.rig.hardware.expanders
    name = "expanders answer"
    if not expanders or session.rig.gear.simulated:  # simulated pins stand for their lines too
        return not_fitted(PART, name)
    try:
        restored = session.rig.pins.restore()
    except Fault as fault:
        return failed(PART, name, str(fault))
    if restored:
        lost = ", ".join(restored)
        return failed(
            PART, name, f"{lost} had lost its settings: check its supply and its reset wire."
        )
    places = ", ".join(f"{each.name} at {each.address:#04x}" for each in expanders)
    return passed(PART, name, found=places)
