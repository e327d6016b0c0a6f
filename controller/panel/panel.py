"""The keypad as a whole: a state machine without clock, file or thread.

Keys go in; pages and actions come out. Whoever holds the panel performs the action and says how
it went. What the dealer may not do is refused by the table itself; here it is not even offered.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.access import may_use_floor_key
from controller.domain.envy import owed
from controller.domain.errors import check
from controller.domain.table import Person, Phase, Role, Table
from controller.panel.actions import Action, Info, Say
from controller.panel.dealer import Idle
from controller.panel.floor import FloorHome
from controller.panel.sign_in import Checking, SignIn
from controller.panel.steps import DEFAULT_REASONS, KEYS, Desk, Memory, Step
from controller.panel.technician import Topics
from controller.screen import Page


class Panel:
    """One keypad with its floor key."""

    def __init__(self, *, reasons: tuple[str, ...] = DEFAULT_REASONS) -> None:
        check(bool(reasons), "the floor needs reasons to pick from")
        self._reasons = reasons
        self._person: Person | None = None  # signed in at the floor key
        self._key_on = False
        self._phase: Phase | None = None
        self._round = 0
        self._step: Step = Idle()
        self._memory = Memory()
        self._before: Memory | None = None  # what to go back to if the last action is refused

    @property
    def key_on(self) -> bool:
        return self._key_on

    @property
    def reads_out(self) -> bool:
        """Somebody is signed in who may want `Info.readout`; else it need not be gathered."""
        return self._person is not None and self._person.role is not Role.FLOOR

    def page(self, table: Table, info: Info) -> Page | None:
        """What the dealer display shows instead of the round; None: the round itself."""
        desk = self._desk(table, info)  # first, since it may drop a step of another phase
        return self._step.page(desk)

    def press(self, key: str, table: Table, info: Info) -> Action | None:
        """What a key leads to: something to do, a sentence, or only another page."""
        check(key in KEYS, f"the keypad has no key {key!r}")
        desk = self._desk(table, info)
        if key == "floor":
            return self._call_floor(desk)
        turn = self._step.press(key, desk)
        self._step = turn.step
        self._before = desk.memory if turn.action else None
        self._memory = turn.memory or desk.memory
        return turn.action

    def _call_floor(self, desk: Desk) -> Action:
        if desk.by.role is Role.FLOOR:
            return Say("The floor is signed in already.")
        return ask.CallFloor(desk.by)

    def key_switch(self, on: bool) -> Action | None:  # noqa: FBT001 - the switch is on or off
        """The floor key was turned. Off signs out and forgets what was half entered.

        To sign somebody out who left the key in, call it with False: to sign in again the key
        has to be turned off and on.
        """
        if on == self._key_on:
            return None
        person, self._person, self._key_on = self._person, None, on
        self._step = self._home()
        return ask.SignOut(person) if person else None

    def signed_in(self, person: Person) -> None:
        """The PIN was right. An answer that nobody waits for any more changes nothing."""
        if not isinstance(self._step, Checking):
            return
        if self._key_on and may_use_floor_key(person.role):
            self._person = person
        self._step = self._home()

    def sign_in_failed(self) -> None:
        """The PIN was wrong, or not one for this place: from the start, at the same place."""
        if isinstance(self._step, Checking):
            self._step = SignIn()

    def done(self) -> None:
        """The last action was carried out."""
        self._before = None

    def refused(self) -> None:
        """The last action was refused: what was kept in mind along with it never happened."""
        self._memory, self._before = self._before or self._memory, None

    def phase_changed(self) -> None:
        """What was keyed for one phase never counts in another."""
        if not (self._key_on and self._step.lasts):
            self._step = self._home()

    def _home(self) -> Step:
        if not self._key_on:
            return Idle()
        if self._person is None:
            return SignIn()
        return FloorHome() if self._person.role is Role.FLOOR else Topics()

    def _desk(self, table: Table, info: Info) -> Desk:
        if table.phase is not self._phase:
            self._phase = table.phase
            self.phase_changed()
        if table.round.number != self._round:
            self._round = table.round.number
            self._memory, self._before = Memory(), None
        still_owed = owed(table)
        walked = tuple(envy for envy in self._memory.walked if envy in still_owed)
        self._memory = replace(self._memory, walked=walked)
        by = self._person or info.dealer
        return Desk(table, info, by, self._reasons, self._home(), self._memory)
