"""Somebody who presses everything at a table, in any order, and always finds the way back.

It leans towards what people do, so that every phase is really reached. What must never happen is
written down by the watcher, with the last inputs that led there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from controller.domain.table import ChipCount, Phase, Table
from controller.hardware import END, LOCK, Line
from controller.panel import keys as pressing
from controller.panel.validation import waiting
from controller.panel.win import hands_for
from tests.builders import AUDITOR, FLOOR, TECHNICIAN
from tests.keypad import NUMBER_OF, NUMBERS
from tests.simulation.hands import Do, Hands

if TYPE_CHECKING:
    from controller.config import TableFile
    from controller.domain.table import Person

LOCKOUT_MS: Final = 901_000
RECOVERY_STEPS: Final = 40
CLEAR_MAX: Final = 20  # a number of six digits, a PIN of eight, and the pages around them


class Monkey(Hands):
    """One seed, one table, any number of inputs."""

    def __init__(self, file: TableFile, seed: int, *, dealer_only: bool = False) -> None:
        super().__init__(file, seed, dealer_only=dealer_only)
        self.recovered = 0
        self._input("open", self._open, several=True)

    def _open(self) -> None:
        self._at_once(pressing.open_keys(self.table.table))

    def run(self, inputs: int) -> None:
        for _ in range(inputs):
            if self.chance.random() < 0.04:
                self._plan()
            while not self.planned:
                self._plan()
            name, do = self.planned.popleft()
            self._input(name, do)
            if self.chance.random() < 1 / 400:
                self.recover()

    def _plan(self) -> None:
        """What to do next: mostly what fits, sometimes anything, now and then a misfortune."""
        luck = self.chance.random()
        if luck < 0.06:
            self._misfortune()
        elif luck < 0.18:
            self._anything()
        elif luck < 0.23:
            self.planned.append(("time", self._idle))
        else:
            self._sensible()

    # What people do.

    def _sensible(self) -> None:
        if self.table.unit.service is None:
            cured = ("disk cured", self._cure_disk)
            self.planned.append(cured if self.chance.random() < 0.4 else ("time", self._idle))
            return
        table = self.table.table
        if waiting(table) and self.chance.random() < 0.5:
            self._floor()
            return
        tasks = _TASKS[table.phase]
        task = self.chance.choices([t for t, _ in tasks], [weight for _, weight in tasks])[0]
        task(self)

    def _bet(self) -> None:
        self.planned.extend(("chip", lambda: self._toggle(self._any_sensor())) for _ in range(3))

    def _lock(self) -> None:
        self.planned.append(("LOCK", lambda: self._press(LOCK)))

    def _end(self) -> None:
        self.planned.append(("END", lambda: self._press(END)))

    def _count(self) -> None:
        """Right more often than not; with the slot, by the slot now and then."""
        table = self.table.table
        chips = _tally(table)
        if self.chance.random() < 0.5:
            one_off = self.chance.choice((-1, 1))
            chips = [type(c)(c.amount, c.number + one_off) for c in chips[:1]] + chips[1:]
        self.planned.extend(self._keys(*(pressing.count_keys(table, chips) or ("enter",))))

    def _collect(self) -> None:
        for line in self.table.sim.lying():
            self.planned.append((f"lift {line.seat}", partial(self._lift, line)))

    def _lift(self, line: Line) -> None:
        if self.table.hands._driven[line]:
            self._toggle(line)

    def _win(self) -> None:
        table = self.table.table
        seat = self.chance.randint(1, self._seats)
        if table.round.wagers and self.chance.random() < 0.8:
            seat = self.chance.choice(table.round.wagers).seat
        hands = hands_for(table, seat)
        claims = table.round.claims
        if claims and self.chance.random() < 0.15:  # the same again takes it off
            seat, hands = claims[0].seat, (claims[0].hand,)
        if hands:
            hand = hands[min(int(self.chance.expovariate(0.7)), len(hands) - 1)]
            self.planned.extend(self._keys(*(pressing.win_keys(table, seat, hand) or ())))

    def _envy(self) -> None:
        self.planned.extend(self._keys(*(pressing.envy_keys(self.table.table) or ("enter",))))

    def _tie(self) -> None:
        first = self.chance.randint(1, self._seats)
        seats = (first,) if self.chance.random() < 0.3 else (first, first % self._seats + 1)
        self.planned.extend(self._keys(*(pressing.tie_keys(self.table.table, seats) or ())))

    def _menu(self) -> None:
        pin = NUMBERS["101"][0] if self.chance.random() < 0.7 else "9999"
        some = (
            ("menu", "1", *pressing.sign_in_keys("101", pin)),
            ("menu", "2", "enter"),
            ("menu", "3", "enter"),
            ("menu", "4", "enter", "clear"),
            ("floor",),
            ("enter",),
        )
        self.planned.extend(self._keys(*self.chance.choice(some)))

    def _floor(self) -> None:
        """The floor comes, does what waits for it, and goes."""
        if self.dealer_only:
            self.planned.extend(self._keys("floor"))
            return
        self._come(FLOOR, lambda: self._keys(*self._floor_keys()))

    def _floor_keys(self) -> tuple[str, ...]:
        table, chance = self.table.table, self.chance
        seat, reason = chance.randint(1, self._seats), chance.randrange(5)
        bets = [wager.seat for wager in table.round.wagers] or [seat]
        wager = chance.choice(table.settings.wagers)
        some = [
            pressing.validate_keys(table, None),
            pressing.validate_keys(table, seat),
            pressing.reject_keys(table, None, reason),
            pressing.strike_keys(table, chance.choice(bets), reason),
            pressing.add_keys(table, seat, wager, reason),
            pressing.reopen_keys(table, reason),
            pressing.open_keys(table),
        ]
        rarely = [pressing.void_keys(table, reason), pressing.close_keys(table)]
        fits = [keys for keys in some if keys] or [keys for keys in rarely if keys]
        if chance.random() < 0.15:
            fits += [keys for keys in rarely if keys]
        return chance.choice(fits) if fits else ("menu",)

    def _staff(self) -> None:
        if self.dealer_only:
            return
        person = self.chance.choice((TECHNICIAN, AUDITOR))
        digits = [self.chance.choice("1234567890") for _ in range(3)]
        self._come(person, lambda: self._keys(*digits, "menu", "3", "enter", "clear"))

    def _come(self, person: Person, then: Callable[[], list[tuple[str, Do]]]) -> None:
        number = NUMBER_OF[person]
        pin = NUMBERS[number][0] if self.chance.random() < 0.93 else "0000"

        def act() -> None:
            if self.table.unit.service is not None:
                self.planned.extendleft(reversed(then()))

        self.planned.extend(
            [
                ("floor key on", lambda: self._turn_key(on=True)),
                *self._keys(*pressing.sign_in_keys(number, pin)),
                ("look", act),
                ("floor key off", lambda: self._turn_key(on=False)),
            ]
        )
        if self.chance.random() < 0.9 and self.table.unit._info().locked_out_ms:
            self.planned.appendleft(("wait", lambda: self.table.sim.pass_ms(LOCKOUT_MS)))

    # The way back.

    def recover(self) -> None:
        """From wherever it stands, people bring the table back to OPEN with their hands alone."""
        if self.dealer_only:
            return
        self.planned.clear()
        self._input("clear up", self._clear_up, several=True)
        for _ in range(RECOVERY_STEPS):
            if self.table.phase is Phase.OPEN and not self.table.lit() & set(self._wagers()):
                break
            self._input("recovery", self._one_step_back, several=True)
        self.recovered += 1
        self.watcher.must(
            self.table.phase is Phase.OPEN, "stuck", f"{self.table.phase} {self.table.unit.down}"
        )

    def _wagers(self) -> list[int]:
        return self.table.wagers() if self.table.unit.service else []

    def _clear_up(self) -> None:
        self.table.cure_disk()
        self._hear()
        self._unstick()
        self._turn_key(on=False)
        for line, on in self.table.hands._driven.items():
            if on:
                self.table.sim.move(line, active=False)
        self.table.wait(3_000)
        self.table.sim.pass_ms(LOCKOUT_MS)
        self.table.wait(3_000)

    def _one_step_back(self) -> None:
        table = self.table
        if table.unit.service is None or table.phase is Phase.FAULT:
            table.wait(5_000)
        elif table.phase is Phase.CLOSED:
            self._at_once(pressing.open_keys(table.table))
        elif table.phase in (Phase.LOCKED, Phase.MISCOUNT) and _tally(table.table):
            self._from_the_start(pressing.count_keys(table.table, _tally(table.table)))
        elif table.phase is Phase.MISCOUNT:
            self._at_once(pressing.reopen_keys(table.table))
        elif table.phase is Phase.IN_PLAY and waiting(table.table):
            self._at_once(pressing.validate_keys(table.table))
        elif envy := (table.phase is Phase.IN_PLAY and pressing.envy_keys(table.table)):
            self._from_the_start(envy)
        else:
            self._press(END)
            table.wait(200)

    def _from_the_start(self, keys: tuple[str, ...] | None) -> None:
        """CLEAR until nothing is half entered, as whoever reads the page would."""
        for _ in range(CLEAR_MAX):
            if self.table.screen.page is None:
                break
            self.table.keys("clear")
        self.table.keys(*(keys or ()))

    def _at_once(self, keys: tuple[str, ...] | None) -> None:
        self._turn_key(on=True)
        self.table.keys(*pressing.sign_in_keys(NUMBER_OF[FLOOR], NUMBERS[NUMBER_OF[FLOOR]][0]))
        self.table.keys(*(keys or ()))
        self._turn_key(on=False)


def _tally(table: Table) -> list[ChipCount]:
    amounts = [wager.amount for wager in table.round.wagers]
    return [ChipCount(amount, amounts.count(amount)) for amount in sorted(set(amounts))]


_TASKS: Final = {
    Phase.CLOSED: [(Monkey._floor, 6), (Monkey._staff, 2), (Monkey._menu, 2), (Monkey._bet, 1)],
    Phase.OPEN: [
        (Monkey._bet, 8),
        (Monkey._lock, 8),
        (Monkey._collect, 2),
        (Monkey._tie, 1),
        (Monkey._menu, 2),
        (Monkey._floor, 1),
        (Monkey._staff, 1),
        (Monkey._end, 1),
    ],
    Phase.LOCKED: [
        (Monkey._count, 8),
        (Monkey._collect, 2),
        (Monkey._end, 2),
        (Monkey._floor, 2),
        (Monkey._tie, 1),
    ],
    Phase.MISCOUNT: [(Monkey._count, 2), (Monkey._floor, 9), (Monkey._menu, 1), (Monkey._end, 1)],
    Phase.IN_PLAY: [
        (Monkey._win, 9),
        (Monkey._collect, 3),
        (Monkey._end, 5),
        (Monkey._envy, 3),
        (Monkey._floor, 3),
        (Monkey._tie, 1),
        (Monkey._menu, 1),
    ],
    Phase.FAULT: [(Monkey._staff, 2), (Monkey._menu, 1), (Monkey._floor, 1), (Monkey._lock, 1)],
}
