"""The whole self-test in its order, whatever fails on the way; at its end stands the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from controller.config import TableFile
from controller.domain.errors import Fault
from controller.hardware import Hardware
from controller.selftest.coin import PART as COIN_PART
from controller.selftest.coin import Coins, check_coins
from controller.selftest.displays import check_displays
from controller.selftest.facts import PART as FACTS_PART
from controller.selftest.facts import check_answers, check_program, facts
from controller.selftest.keys import check_keys
from controller.selftest.lamps import check_buzzer, check_lamps
from controller.selftest.record import Record, Result, failed, result_lines
from controller.selftest.rig import Gear, Rig
from controller.selftest.sensors import check_sensors
from controller.selftest.session import Session
from controller.selftest.switches import check_buttons, check_door
from controller.selftest.tasks import Technician

STOPPED: Final = "The technician stopped it: run the self-test again from the beginning."

Part = Callable[[Session], Iterator[Result]]

PARTS: Final[dict[str, Part]] = {
    FACTS_PART: check_answers,
    "lamps": check_lamps,
    "sensors": check_sensors,
    "keypad": check_keys,
    "buttons": check_buttons,
    "displays": check_displays,
    "door": check_door,
    "buzzer": check_buzzer,
}


@dataclass(frozen=True, slots=True)
class Order:
    """Which table, by whom, when, and what of it."""

    file: TableFile
    hardware: Hardware
    by: str
    date: str
    coins: Coins
    simulated: bool


class Walk:
    """One self-test."""

    def __init__(self, order: Order, technician: Technician) -> None:
        self._order, self._technician = order, technician
        self._results: list[Result] = []

    def run(self, open_gear: Callable[[], Gear]) -> Record:
        """From the facts to the coins. Without pins, or without the technician, it ends early."""
        order = self._order
        self._keep(check_program(order.file))
        try:
            gear = open_gear()
        except Fault as fault:
            self._keep(failed(FACTS_PART, "pins", f"{fault} Nothing else could be tested."))
        else:
            self._walk(gear)
        head = facts(order.file, order.hardware, date=order.date, by=order.by)
        return Record(head, tuple(self._results), order.simulated)

    def _walk(self, gear: Gear) -> None:
        rig = Rig(gear, self._order.file.settings)
        session = Session(rig, self._technician)
        parts = {**PARTS, COIN_PART: self._coins}
        part = FACTS_PART
        try:
            rig.begin()
            for part, check in parts.items():
                self._part(part, check, session)
        except Fault as fault:
            self._keep(failed(part, "pins", str(fault)))
        except (EOFError, KeyboardInterrupt):
            self._keep(failed(part, "stopped", STOPPED))
        finally:
            rig.screens.stop()
            gear.pins.close()

    def _part(self, part: str, check: Part, session: Session) -> None:
        """What fails as a whole does not keep the next part from being tested."""
        try:
            for result in check(session):
                self._keep(result)
        except Fault as fault:
            self._keep(failed(part, part, str(fault)))

    def _coins(self, session: Session) -> Iterator[Result]:
        yield from check_coins(session, self._order.file, self._order.coins)

    def _keep(self, result: Result) -> None:
        self._results.append(result)
        self._technician.news("\n".join(result_lines(result)))
