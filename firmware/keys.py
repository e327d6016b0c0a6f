"""Key presses, switches and falling chips from scans and stamped edges. Pure: no pin, no clock.

Edges may come up to `late_ms` late and out of order. Switches and chips wait until all have come;
LOCK does not.
"""

from __future__ import annotations

from bisect import insort
from typing import Final

from msgspec import Struct

Position = tuple[int, int]  # row and column of the keypad

EQUAL_SCANS: Final = 3  # 15 ms at a scan every 5 ms
STUCK_AFTER_US: Final = 10_000_000
LONG_AGO_US: Final = -(1 << 62)

CHIP_NOISE_MS: Final = 5  # no chip passes the slot that fast
CHIP_SHORTEST_US: Final = 12_000
CHIP_LONGEST_US: Final = 200_000
JAM_US: Final = 1_000_000


class Keypad:
    """One key at a time, from all up, once a press.

    Two keys that go down together count as none, and while any key is down no other counts. That
    covers ghosts too: a matrix shows a key that nobody presses only when three others are down.
    """

    def __init__(self, keymap: tuple[tuple[str, ...], ...]) -> None:
        self._keymap = keymap
        self._last: frozenset[Position] | None = None
        self._equal = 0
        self._last_us = 0  # when the equal scans began
        self._ready = False  # all keys have been up; a key held since the power came is no press
        self._down_us: dict[Position, int] = {}
        self._stuck: str | None = None

    def scan(self, closed: frozenset[Position], *, at_us: int) -> str | None:
        """Take one scan of the whole matrix; the key that is pressed with it, if one is."""
        if closed != self._last:
            self._last, self._last_us, self._equal = closed, at_us, 0
        self._equal += 1
        pressed = self._changed(closed) if self._equal == EQUAL_SCANS else None
        self._stuck = self._held_too_long(at_us)
        return pressed

    def stuck(self) -> str | None:
        """The key that has been down for more than ten seconds, as of the last scan."""
        return self._stuck

    def _changed(self, closed: frozenset[Position]) -> str | None:
        self._down_us = {key: self._down_us.get(key, self._last_us) for key in closed}
        ready, self._ready = self._ready, not closed
        if not ready or len(closed) != 1:
            return None
        return self._name(*closed)

    def _held_too_long(self, at_us: int) -> str | None:
        longest = min(self._down_us, key=lambda key: (self._down_us[key], key), default=None)
        if longest is None or at_us - self._down_us[longest] <= STUCK_AFTER_US:
            return None
        return self._name(longest)

    def _name(self, key: Position) -> str:
        row, column = key
        return self._keymap[row][column]


class Change(Struct, frozen=True):
    """A line took another level for good, with the first edge that said so."""

    active: bool
    at_us: int


class Button:
    """A single line, debounced: the END key, the floor key, the door.

    Levels shorter than `bounce_ms` are noise. A level is judged `late_ms` after it has lasted,
    when no edge that could cut it short is still under way.
    """

    def __init__(self, *, active: bool, bounce_ms: int, late_ms: int) -> None:
        self.active = active
        self._bounce_us, self._late_us = bounce_ms * 1000, late_ms * 1000
        self._edges: list[tuple[int, bool]] = []  # not judged yet, in order of time
        self._judged_us = LONG_AGO_US  # the last edge that was
        self._first_us: int | None = None  # since when the line may be leaving its level
        self._differs_us: int | None = None  # since when sweeps read another level than we know

    def edge(self, *, active: bool, at_us: int) -> None:
        self._differs_us = None
        if at_us <= self._judged_us:
            return
        insort(self._edges, (at_us, active), key=lambda edge: edge[0])

    def sweep(self, *, active: bool, at_us: int) -> tuple[Change, ...]:
        """Compare with the pin, and tell what has changed since the last sweep."""
        self._heal(active=active, at_us=at_us)
        known_us = at_us - self._late_us
        changes: list[Change] = []
        while self._edges:
            start_us, level = self._edges[0]
            end_us = min([known_us, *(next_us for next_us, _level in self._edges[1:2])])
            lasts = end_us - start_us >= self._bounce_us
            if end_us == known_us and not lasts:
                break
            del self._edges[0]
            self._judged_us = start_us
            changes += self._judge(start_us, active=level, lasts=lasts)
        return tuple(changes)

    def _judge(self, start_us: int, *, active: bool, lasts: bool) -> list[Change]:
        if active == self.active:
            self._first_us = None if lasts else self._first_us
            return []
        first_us = start_us if self._first_us is None else self._first_us
        self._first_us = None if lasts else first_us
        if not lasts:
            return []
        self.active = active
        return [Change(active, first_us)]

    def _heal(self, *, active: bool, at_us: int) -> None:
        """An edge that does not come is put where a sweep first saw its level."""
        level = self._edges[-1][1] if self._edges else self.active
        if active == level:
            self._differs_us = None
        elif self._differs_us is None:
            self._differs_us = at_us
        elif at_us - self._differs_us >= self._late_us:
            self.edge(active=active, at_us=self._differs_us)


class LockButton:
    """LOCK counts by the time of its first edge, at once if the pin still reads pressed.

    Then it is dead until it has been up for `bounce_ms`, and so it is to begin with: a button
    held while the power came back is no press.
    """

    def __init__(self, *, bounce_ms: int) -> None:
        self._bounce_us = bounce_ms * 1000
        self._dead = True
        self._up_us: int | None = None  # since when it is known to be up
        self._first_us: int | None = None  # first edge of a press that is not yet proved
        self._down_us = LONG_AGO_US  # the last edge that pressed
        self._last_us = LONG_AGO_US  # the last edge
        self._unheard_us: int | None = None  # since when sweeps read a press that no edge told
        self.noise = 0  # spikes that were gone when the pin was read
        self.missed = 0  # presses without an edge: no time, hence no LOCK; press again

    def edge(self, *, pressed: bool, reads_pressed: bool, at_us: int) -> int | None:
        """Take one edge, and what the pin reads now; the time of the press if this proves one."""
        self._unheard_us = None
        self._wake(at_us)
        if self._dead:
            self._note(pressed=pressed, at_us=at_us)
            return None
        if pressed:
            self._give_up(at_us)
            self._first_us = at_us if self._first_us is None else min(self._first_us, at_us)
        held = not pressed and at_us - self._down_us >= self._bounce_us
        self._note(pressed=pressed, at_us=at_us)
        return self._press() if reads_pressed or held else None

    def sweep(self, *, reads_pressed: bool, at_us: int) -> int | None:
        """Compare with the pin; the time of the press if this proves one."""
        self._wake(at_us)
        if not reads_pressed:
            self._give_up(at_us)
            self._up_us = at_us if self._up_us is None else self._up_us
            self._unheard_us = None
            return None
        self._up_us = None
        if self._first_us is None and not self._dead:
            self._miss(at_us)
        return self._press()

    def _wake(self, at_us: int) -> None:
        if self._up_us is not None and at_us - self._up_us >= self._bounce_us:
            self._dead = False

    def _note(self, *, pressed: bool, at_us: int) -> None:
        """Later edges say how the button stands; one that is overtaken says nothing more."""
        if at_us >= self._last_us:
            self._last_us = at_us
            self._up_us = None if pressed else at_us
            self._down_us = at_us if pressed else self._down_us

    def _press(self) -> int | None:
        first_us, self._first_us = self._first_us, None
        self._dead = self._dead or first_us is not None
        return first_us

    def _give_up(self, at_us: int) -> None:
        """A press that has not been proved for so long was a spike."""
        if self._first_us is not None and at_us - self._last_us >= self._bounce_us:
            self._first_us = None
            self.noise += 1

    def _miss(self, at_us: int) -> None:
        """The edge of a press is lost once it can no longer be under way."""
        if self._unheard_us is None:
            self._unheard_us = at_us
        elif at_us - self._unheard_us >= self._bounce_us:
            self._unheard_us, self._dead = None, True
            self.missed += 1


class Drops:
    """Chips that fall through the drop slot, one a pulse. A slot blocked for long is jammed.

    A pulse between noise and jam is a chip, since the count is proved against the wagers anyway;
    one that is unusually short or long is also reported as odd. What ends a jam is not counted.
    """

    def __init__(self, *, late_ms: int) -> None:
        self._line = Button(active=False, bounce_ms=CHIP_NOISE_MS, late_ms=late_ms)
        self._judged_after_us = (CHIP_NOISE_MS + late_ms) * 1000
        self._since_us: int | None = None
        self.jammed = False
        self.odd = 0

    def edge(self, *, blocked: bool, at_us: int) -> None:
        self._line.edge(active=blocked, at_us=at_us)

    def sweep(self, *, blocked: bool, at_us: int) -> int:
        """Compare with the pin; how many chips have passed since the last sweep."""
        chips = 0
        for change in self._line.sweep(active=blocked, at_us=at_us):
            if self._since_us is not None:
                chips += self._passed(change.at_us - self._since_us)
            self._since_us = change.at_us if change.active else None
        known_us = at_us - self._judged_after_us
        self.jammed = self._since_us is not None and known_us - self._since_us > JAM_US
        return chips

    def _passed(self, length_us: int) -> bool:
        chip = length_us <= JAM_US
        self.odd += chip and not CHIP_SHORTEST_US <= length_us <= CHIP_LONGEST_US
        return chip
