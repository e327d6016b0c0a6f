"""The coin test: real rounds by the table's own rules, on meters that are thrown away.

The daemon's loop runs on the real pins, with a ledger in a folder that is deleted afterwards.
What the meters must have gained is worked out here once more, from the table file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from msgspec.structs import replace

from controller.config import TableFile
from controller.domain.errors import Fault
from controller.domain.meter import Meter
from controller.domain.money import Money
from controller.domain.pack import CountMode, MeterParameters, Overflow
from controller.domain.table import ChipCount, Person, Phase, Role, Table, Wager
from controller.domain.view import Lamp
from controller.hardware import DROP, END, LOCK, Line, LineKind, sensor
from controller.inputs import Input
from controller.panel import OpenNow
from controller.panel import keys as pressing
from controller.ports import Screens
from controller.process import Loop, OpenLedger, World
from controller.screen import Screen
from controller.selftest.record import Outcome, Result, failed, passed, result_lines, skipped
from controller.selftest.rig import TEST, Looker, Rig
from controller.selftest.session import Ending, Session
from controller.selftest.tasks import Deed, Keys, Move, Push, Task, Technician
from controller.service import TableService

PART: Final = "coin test"
LAY_S: Final = 120
COUNT_S: Final = 60
PPM: Final = 1_000_000

Account = tuple[int, int, int]  # current, reserve and overflow of a meter, in micro-cents


@dataclass(frozen=True, slots=True)
class Coins:
    """How the coin test is to be run."""

    new_ledger: Callable[[], OpenLedger]  # each one that it gives leads to an empty ledger
    each_seat: bool


def check_coins(session: Session, file: TableFile, coins: Coins) -> Iterator[Result]:
    """All rounds, and from the first one again while the technician wants to."""
    while True:
        results = list(_attempt(session, file, coins))
        wrong = [result for result in results if result.outcome is Outcome.FAIL]
        if not wrong or not session.again(wrong[0]):
            yield from results
            return


def _attempt(session: Session, file: TableFile, coins: Coins) -> Iterator[Result]:
    try:
        play = _Play(session.rig, session.technician, file, coins.new_ledger())
    except Fault as fault:
        yield failed(PART, "start", str(fault))
        return
    try:
        for name, wagers in _rounds(file, coins):
            result = play.round(name, wagers)
            session.technician.news("\n".join(result_lines(result)))
            yield result
            if result.outcome is not Outcome.PASS:
                return
    finally:
        play.close()


def _rounds(file: TableFile, coins: Coins) -> Iterator[tuple[str, tuple[Wager, ...]]]:
    """Every seat at once, for each amount; then, if asked for, every seat alone."""
    seats, amounts = range(1, file.settings.seats + 1), file.settings.wagers
    for amount in amounts:
        yield f"all seats, {amount.for_people()}", tuple(Wager(seat, amount) for seat in seats)
    for seat in seats if coins.each_seat else ():
        yield f"seat {seat} alone", (Wager(seat, amounts[0]),)


class _Marked:
    """The displays, with TEST on whatever the table wants to show."""

    def __init__(self, screens: Screens) -> None:
        self._screens = screens

    def post(self, screen: Screen) -> None:
        self._screens.post(mark(screen))

    def faults(self) -> tuple[str, ...]:
        return self._screens.faults()

    def shown(self) -> Mapping[str, Money]:
        return self._screens.shown()


def mark(screen: Screen) -> Screen:
    """TEST in the header, and in a page's own title, which may take the header's place."""
    page = screen.page
    marked = replace(page, title=f"{TEST} {page.title}") if page else None
    alerts = tuple(f"{TEST}: {alert}" for alert in screen.alerts) or (TEST,)
    return replace(screen, page=marked, alerts=alerts)


class _Play:
    """A table that lives for one coin test."""

    def __init__(
        self, rig: Rig, technician: Technician, file: TableFile, open_ledger: OpenLedger
    ) -> None:
        gear = rig.gear
        world = World(
            pins=gear.pins,
            hardware=gear.hardware,
            screens=_Marked(rig.screens),
            clock=gear.clock,
            check_pin=lambda _number, _pin: None,
            pause=gear.wait,
            simulated=gear.simulated,
        )
        self._file, self._technician = file, technician
        self._loop = Loop(file, world, open_ledger)
        self._looker = Looker(gear, self._loop.scanner, self._loop.inbox, rig.screens)
        self._unit, self._notice = self._loop.unit, ""
        self._session = Session(rig, technician, turn=self._turn)
        self._loop.start()
        self._unit.send(OpenNow(Person("self-test", Role.FLOOR)))

    def close(self) -> None:
        """The pins stay with whoever opened them."""
        seats = range(1, self._file.settings.seats + 1)
        self._loop.desk.light(dict.fromkeys(seats, Lamp.OFF))
        self._loop.books.close()

    def _turn(self) -> tuple[Input, ...]:
        for seen in self._looker.look():
            self._loop.handle(seen)
        if not self._loop.until_turn_us():
            self._loop.turn()
        if self._unit.notice not in ("", self._notice):
            self._technician.news(f"The table says: {self._unit.notice}")
        self._notice = self._unit.notice
        self._looker.draw()
        return ()

    @property
    def _service(self) -> TableService:
        if self._unit.service is None:
            raise Fault(self._unit.down)
        return self._unit.service

    @property
    def _table(self) -> Table:
        return self._service.table

    # One round.

    def round(self, name: str, wagers: tuple[Wager, ...]) -> Result:
        try:
            return self._round(name, wagers)
        except Fault as fault:
            return failed(PART, name, str(fault))

    def _round(self, name: str, wagers: tuple[Wager, ...]) -> Result:
        before = {meter.name: _accounts(meter) for meter in self._table.meters}
        steps: tuple[Callable[[], Ending | str], ...] = (
            self._clear,
            partial(self._lay, wagers),
            partial(self._lock, wagers),
            partial(self._count, wagers),
            partial(self._prove, wagers, before),
            self._end,
        )
        for step in steps:
            ending = step()
            if ending is Ending.SKIPPED:
                return skipped(PART, name)
            if isinstance(ending, str) and ending:
                return failed(PART, name, ending)
        return passed(PART, name, **self._gained(before))

    def _clear(self) -> Ending | str:
        """What lies there from before could not become a wager."""
        covered = self._loop.desk.covered
        if not covered():
            return Ending.DONE
        lines = tuple(line for line in self._loop.desk.inputs if line.kind is LineKind.SENSOR)
        task = Task("Take everything off the sensors. [s = skip]", (Move(lines, active=False),))
        ending = self._session.until(task, lambda _: not covered())
        if ending is not Ending.LATE:
            return ending
        return f"Seat {_listed(covered())} reads covered: see what the sensor test says of it."

    def _lay(self, wagers: tuple[Wager, ...]) -> Ending | str:
        amount = wagers[0].amount
        lines = tuple(self._line(wager) for wager in wagers)
        where = "every seat" if len(wagers) > 1 else f"seat {wagers[0].seat}"
        spot = f" ({amount.for_people()} spot)" if len(self._file.settings.wagers) > 1 else ""
        task = Task(
            f"Lay a {amount.for_people()} chip on {where}{spot}, on nothing else. [s = skip]",
            (Move(lines, active=True),),
        )
        ending = self._session.until(task, lambda _: not self._missing(wagers), limit_s=LAY_S)
        if ending is not Ending.LATE:
            return ending
        missing = _listed(wager.seat for wager in self._missing(wagers))
        return f"No chip is seen at seat {missing}: see what the sensor test says of it."

    def _missing(self, wagers: tuple[Wager, ...]) -> list[Wager]:
        seen = self._service.seen()
        return [w for w in wagers if w.seat not in seen or seen[w.seat].amount != w.amount]

    def _line(self, wager: Wager) -> Line:
        return sensor(wager.seat, self._file.settings.wagers.index(wager.amount))

    def _lock(self, wagers: tuple[Wager, ...]) -> Ending | str:
        task = Task("Press LOCK. [s = skip]", (Push(LOCK),))
        ending = self._session.until(task, lambda _: self._table.phase is not Phase.OPEN)
        if ending is Ending.LATE:
            return f"LOCK did nothing. {self._unit.notice}".rstrip()
        accepted = self._table.round.wagers
        if ending is Ending.SKIPPED or accepted == wagers:
            return ending
        lacks = _listed(wager.seat for wager in wagers if wager not in accepted)
        extra = _listed(wager.seat for wager in accepted if wager not in wagers)
        return f"The snapshot at LOCK is wrong: missing seats: {lacks}; seats too many: {extra}."

    def _count(self, wagers: tuple[Wager, ...]) -> Ending | str:
        chips = (ChipCount(wagers[0].amount, len(wagers)),)
        keys = pressing.count_keys(self._table, chips) or ()
        spoken = " ".join(keys).upper()
        lift = Move(tuple(self._line(wager) for wager in wagers), active=False)
        if self._file.settings.count is CountMode.SENSOR:
            drops = tuple(Push(DROP) for _ in wagers)
            asks = f"Lift the chips, let all {len(wagers)} fall through the slot, press ENTER."
            deeds: tuple[Deed, ...] = (lift, *drops, Keys(("enter",)))
        else:
            asks = f"Lift and count the chips, then key on the keypad: {spoken}."
            deeds = (lift, Keys(keys))
        ending = self._session.until(
            Task(f"{asks} [s = skip]", deeds),
            lambda _: self._table.phase is Phase.IN_PLAY,
            limit_s=COUNT_S,
        )
        if ending is Ending.LATE:
            return f"The count was not proved: the table is {self._table.phase.value}."
        return ending

    def _prove(self, wagers: tuple[Wager, ...], before: Mapping[str, Account]) -> str:
        wagered = sum(wager.amount.ucents for wager in wagers)
        for parameters in self._file.settings.meters:
            wanted = expected(parameters, before[parameters.name], wagered)
            found = _accounts(self._table.meter(parameters.name))
            if found != wanted:
                return (
                    f"Meter {parameters.name} stands at {_spoken(found)} and not at"
                    f" {_spoken(wanted)}: take the table out of service and report this."
                )
        return ""

    def _end(self) -> Ending | str:
        number = self._table.round.number
        task = Task("Press END. [s = skip]", (Push(END),))
        ending = self._session.until(task, lambda _: self._table.round.number > number)
        if ending is Ending.LATE:
            return f"END did nothing. {self._unit.notice}".rstrip()
        return ending

    def _gained(self, before: Mapping[str, Account]) -> dict[str, str]:
        gained: dict[str, str] = {}
        for meter in self._table.meters:
            names = (meter.name, f"{meter.name}_reserve", f"{meter.name}_overflow")
            rises = zip(names, _accounts(meter), before[meter.name], strict=True)
            gained |= {
                name: f"+{Money(now - then).exact()}" for name, now, then in rises if now > then
            }
        return gained


def expected(parameters: MeterParameters, before: Account, wagered_ucents: int) -> Account:
    """Wagers times rate, to the micro-cent; what the limit keeps out goes where it is set to go."""
    current, reserve, overflow = before
    visible = wagered_ucents * parameters.rate_ppm // PPM
    hidden = wagered_ucents * parameters.reserve_rate_ppm // PPM
    limit = parameters.limit
    room = visible if limit is None else max(0, limit.ucents - current)
    above = max(0, visible - room)
    to_reserve = parameters.overflow is Overflow.RESERVE
    return (
        current + visible - above,
        reserve + hidden + (above if to_reserve else 0),
        overflow + (0 if to_reserve else above),
    )


def _listed(seats: Iterable[int]) -> str:
    return ", ".join(map(str, seats)) or "none"


def _accounts(meter: Meter) -> Account:
    return meter.current.ucents, meter.reserve.ucents, meter.overflow.ucents


def _spoken(account: Account) -> str:
    current, reserve, overflow = (Money(each).exact() for each in account)
    return f"{current} (reserve {reserve}, overflow {overflow})"
