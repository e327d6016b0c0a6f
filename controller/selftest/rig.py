"""The table on the workbench: pins, desk, keypad and displays, turned by one thread.

The same parts as in the daemon, but nothing behind them decides about wagers. Time passes only
in `Gear.wait`, which sleeps on a real table and moves the clock of a simulated one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from controller.domain.errors import Fault
from controller.domain.pack import Settings
from controller.domain.view import no_table
from controller.hardware import DisplayWiring, Hardware, Line, LineKind
from controller.inputs import Input
from controller.ports import Clock
from controller.screen import Page, Screen
from display.glass import Glass
from display.screens import Name, Screens
from firmware.desk import Desk
from firmware.inbox import Inbox, Seen
from firmware.keys import Keypad
from firmware.pins import Pins
from firmware.scanner import Scanner

TEST: Final = "TEST"


@dataclass(frozen=True, slots=True)
class Gear:
    """What is wired to the table, opened; and how time passes there."""

    pins: Pins
    hardware: Hardware
    glasses: Mapping[Name, Glass]
    wait: Callable[[], None]  # a few milliseconds
    clock: Clock
    simulated: bool


def wirings(hardware: Hardware) -> dict[Name, DisplayWiring]:
    """The displays that are fitted."""
    both: dict[Name, DisplayWiring | None] = {
        "dealer": hardware.dealer_display,
        "meter": hardware.meter_display,
    }
    return {name: wiring for name, wiring in both.items() if wiring is not None}


class Looker:
    """Scans and draws in the loop's own thread, each when it is due."""

    def __init__(self, gear: Gear, scanner: Scanner, inbox: Inbox, screens: Screens) -> None:
        self._gear, self._scanner, self._inbox, self._screens = gear, scanner, inbox, screens
        self._scan_us = self._draw_us = 0
        self.is_drawing = True  # off while a test pattern is up

    def look(self) -> Iterator[Seen]:
        """Let a moment pass; everything that was seen in it."""
        self._gear.wait()
        now_us = self._gear.pins.now_us()
        if now_us >= self._scan_us:
            self._scan_us = now_us + self._scanner.scan()
        while (seen := self._inbox.take(0)) is not None:
            yield seen

    def draw(self) -> None:
        now_us = self._gear.pins.now_us()
        if self.is_drawing and now_us >= self._draw_us:
            self._draw_us = now_us + self._screens.turn(now_us)


class Rig:
    """One table without its rules: whatever people do comes out as it is."""

    def __init__(self, gear: Gear, settings: Settings) -> None:
        self.gear, self.settings = gear, settings
        self.pins, self.hardware = gear.pins, gear.hardware
        self.pin_of = dict(gear.hardware.lines)
        self.desk = Desk(gear.pins, gear.hardware, settings.wagers)
        self.screens = Screens(
            dealer=gear.glasses.get("dealer"),
            meter=gear.glasses.get("meter"),
            now_us=gear.pins.now_us,
        )
        self._inbox, self._lost = Inbox(), 0
        scanner = Scanner(gear.pins, Keypad(gear.hardware.keymap), self.desk.inputs, self._inbox)
        self.looker = Looker(gear, scanner, self._inbox, self.screens)
        self._view = no_table(settings.table_id, "self-test")
        self._page: Page | None = None

    def begin(self) -> None:
        """From now on edges are heard."""
        self.pins.watch(self._inbox.edge)
        self.desk.begin(self.pins.levels(self.desk.inputs))

    def lines(self, kind: LineKind) -> tuple[Line, ...]:
        return tuple(sorted(line for line in self.pin_of if line.kind is kind))

    def show(self, page: Page) -> None:
        """Say it on the dealer display, from the next turn on."""
        self._page = page

    def turn(self) -> tuple[Input, ...]:
        """One look round; what people did in it."""
        done = [act for seen in self.looker.look() for act in self._taken(seen)]
        self.desk.turn()
        self.screens.post(
            Screen(view=self._view, page=self._page, alerts=(TEST,), simulated=self.gear.simulated)
        )
        self.looker.draw()
        return tuple(done)

    def _taken(self, seen: Seen) -> tuple[Input, ...]:
        try:
            if self._inbox.lost != self._lost:
                self._lost = self._inbox.lost
                self.desk.resync()
            return tuple(self.desk.take(seen))
        except Fault as fault:
            self.desk.fail(str(fault))
            return ()

    def spot_name(self, line: Line) -> str:
        """A sensor as people call it: by its seat, and by its spot where there are several."""
        wagers = self.settings.wagers
        spot = f" ({wagers[line.spot].for_people()} spot)" if len(wagers) > 1 else ""
        return f"seat {line.seat}{spot}"
