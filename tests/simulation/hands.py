"""Hands at a table, and what can befall them: bounce, two keys at once, power cuts, full disks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from controller.domain.errors import Fault
from controller.hardware import DOOR, DROP, END, FLOOR_KEY, LOCK, Line, sensor
from controller.panel import KEYS
from tests.simulation.watcher import Watcher
from tests.whole_table import BROKEN, WholeTable

if TYPE_CHECKING:
    from controller.config import TableFile

Do = Callable[[], None]


class Hands:
    """One seed and one table. What is planned is done input by input; much can come between."""

    def __init__(self, file: TableFile, seed: int, *, dealer_only: bool) -> None:
        self.chance = Random(seed)
        self.dealer_only = dealer_only
        self.table = WholeTable(file)
        self.watcher = Watcher(self.table, f"seed {seed}")
        self.planned: deque[tuple[str, Do]] = deque()
        self.stuck: set[Line] = set()
        self.silent = False

    def _input(self, name: str, do: Do, *, several: bool = False) -> None:
        do()
        self.watcher.table = self.table
        self.watcher.look(name, several=several)

    def _first(self, *plan: tuple[str, Do]) -> None:
        """What was planned goes on afterwards, or is forgotten."""
        if self.chance.random() < 0.4:
            self.planned.clear()
        self.planned.extendleft(reversed(plan))

    @property
    def _seats(self) -> int:
        return self.table.file.settings.seats

    def _any_sensor(self) -> Line:
        spots = len(self.table.file.settings.wagers)
        return sensor(self.chance.randint(1, self._seats), self.chance.randrange(spots))

    def _toggle(self, line: Line) -> None:
        self.table.sim.move(line, active=not self.table.hands._driven[line])
        self.table.sim.pass_ms(self.chance.choice((5, 40, 70, 190, 190, 300)))

    def _press(self, line: Line) -> None:
        """A finger on a button: firm, or hardly there."""
        self.table.sim.move(line, active=True)
        self.table.sim.pass_ms(self.chance.choice((8, 70, 70, 70, 200)))
        self.table.sim.move(line, active=False)
        self.table.sim.pass_ms(self.chance.choice((70, 70, 20)))

    def _keys(self, *names: str) -> list[tuple[str, Do]]:
        return [(f"key {name}", partial(self._key, name)) for name in names]

    def _key(self, name: str) -> None:
        self.table.keys(name)

    def _two_keys(self) -> None:
        sim = self.table.sim
        places = self.chance.sample(sorted(sim._place.values()), 2)
        for place in places:
            sim.hands.press_key(*place)
        sim._scan()
        for place in places:
            sim.hands.release_key(*place)
            sim._scan()

    def _turn_key(self, *, on: bool) -> None:
        if on is not self.table.hands._driven[FLOOR_KEY]:
            self.watcher.key_turned(on=on)
            self.table.sim.turn_key(on=on)

    def _idle(self) -> None:
        self.table.wait(150)
        self.watcher.look("settle")  # what was pressed last may still have been in doubt
        self.watcher.idle = True
        self.table.wait(self.chance.choice((50, 200, 2_500)))
        self.table.sim.pass_ms(self.chance.choice((0, 0, 0, 61_000)))

    def _anything(self) -> None:
        some: list[tuple[str, Do]] = [
            (f"key {(key := self.chance.choice(KEYS))}", lambda: self.table.keys(key)),
            ("two keys", self._two_keys),
            ("LOCK", lambda: self._press(LOCK)),
            ("END", lambda: self._press(END)),
            ("door", lambda: self._toggle(DOOR)),
            (f"chip {(line := self._any_sensor()).seat}", lambda: self._toggle(line)),
            ("drop", lambda: self._press(DROP)),
            ("shuffled edges", self._shuffled),
            ("flicker", self._flicker),
        ]
        if not self.dealer_only:
            on = self.chance.random() < 0.5
            some.append((f"floor key {on}", lambda: self._turn_key(on=on)))
        self._first(self.chance.choice(some))

    def _shuffled(self) -> None:
        """Several edges at once, their callbacks late and out of order."""
        hands, sim = self.table.hands, self.table.sim
        hands.hold_calls()
        for line in {self._any_sensor(), self._any_sensor()}:
            hands.drive(line, active=not hands._driven[line], at_us=sim.now_us)
            sim.now_us += self.chance.randint(1, 9_000)
        hands.press(LOCK)
        sim.now_us += self.chance.randint(1, 9_000)
        order = list(range(len(hands.held)))
        self.chance.shuffle(order)
        hands.deliver(order)
        sim._drain()
        sim.pass_ms(70)
        sim.move(LOCK, active=False)
        sim.pass_ms(70)

    def _flicker(self) -> None:
        line = self._any_sensor()
        hands, sim = self.table.hands, self.table.sim
        seed, edges = self.chance.randrange(1 << 30), self.chance.choice((10, 80))
        hands.play(line, hands.chatter(line, seed=seed, edges=edges, within_us=400_000))
        sim.now_us += 400_000
        sim.look()

    def _misfortune(self) -> None:
        line = self._any_sensor()
        some: list[tuple[str, Do]] = [
            ("power cut", self._power_cut),
            ("power cut", self._power_cut),
            ("disk full", lambda: self.table.break_disk()),
            ("copy full", self._break_copy),
            ("disk cured", self._cure_disk),
            ("lamps silent", self._silence),
            ("lamps silent", self._silence),
            ("lamps heard", self._hear),
            (f"stick {line.seat}", lambda: self._stick(line)),
            ("unstick", self._unstick),
            (f"lost edge {line.seat}", lambda: self.table.hands.drop_edges(line, 1)),
            ("lost LOCK", lambda: self.table.hands.drop_edges(LOCK, 1)),
        ]
        self._first(self.chance.choice(some))
        if self.chance.random() < 0.8:  # most troubles do not last
            time = ("time", self._idle)
            cure = [("disk cured", self._cure_disk), ("lamps heard", self._hear)]
            self.planned.extend([*self._keys("clear", "1"), time, *cure, time])

    def _cure_disk(self) -> None:
        self.table.cure_disk()

    def _break_copy(self) -> None:
        self.table.broken = self.table.ledger.copy_fault = BROKEN

    def _stick(self, line: Line) -> None:
        self.stuck.add(line)
        self.table.hands.stick(line, active=self.chance.random() < 0.5)

    def _unstick(self) -> None:
        while self.stuck:
            self.table.hands.unstick(self.stuck.pop())

    def _silence(self) -> None:
        def silent(_line: Line, _on: bool) -> None:
            raise Fault("an expander is silent")

        self.silent = True
        self.table.desk._pins.set = silent  # type: ignore[method-assign, assignment]

    def _hear(self) -> None:
        if self.silent:
            self.silent = False
            del self.table.desk._pins.set

    def _power_cut(self) -> None:
        held = [line for line, on in self.table.hands._driven.items() if on]
        self.stuck.clear()
        self.silent = False
        self.watcher.key_turned(on=FLOOR_KEY in held)
        self.table = self.table.again(lying=held, broken=self.table.broken)
