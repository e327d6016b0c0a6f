"""The box under the table: what each key, switch and chip leads to, and what then shows.

It runs in the one thread that owns the state. Inputs come in as values, one after the other;
`turn` is called in between, many times a second, and does what time alone demands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain.access import may_use_floor_key, wait_ms
from controller.domain.errors import Fault, Refused, Taken
from controller.domain.house import SAYS as REMINDS
from controller.domain.house import reminders_due
from controller.domain.pack import CountMode
from controller.domain.table import ClaimStatus, Person, Phase, Reminder, Role, Table
from controller.domain.view import IN_ROUND, no_table
from controller.inputs import (
    ChipDropped,
    ChipsMoved,
    DoorSwitched,
    EndPressed,
    Input,
    InputsLost,
    KeyPressed,
    KeySwitched,
    LockPressed,
    LockUnheard,
    Odd,
)
from controller.panel import Action, CheckPin, Info, OpenNow, Panel, RunSelfTest, Say, VoidNow
from controller.ports import Sound
from controller.readout import readout
from controller.screen import Screen
from controller.service import UNIT, TableService
from controller.surroundings import Surroundings
from controller.watch import Watch, alerts

RETRY_FIRST_US: Final = 1_000_000
RETRY_LONGEST_US: Final = 30_000_000
WELL_US: Final = 1_000_000  # a loose plug would else fill the ledger
LAMP_TEST_US: Final = 5_000_000
HARDWARE: Final = "Hardware: "  # how a fault begins that clears by itself when cured
UNHEARD: Final = "LOCK was pressed but not heard; press it again."
UNREADABLE: Final = "The sensors could not be read at LOCK; press it again."
LOST: Final = "Inputs came faster than they could be taken; look at the lamps and press LOCK again."


class Unit:
    """One table as people use it. `open_service` opens the ledger anew each time it is called."""

    def __init__(self, open_service: Callable[[], TableService], around: Surroundings) -> None:
        self._open_service, self._around = open_service, around
        self._board, self._screens = around.board, around.screens
        self.panel = Panel()
        self.service: TableService | None = None
        self.last: TableService | None = None  # the one that runs, or ran until the table stopped
        self.notice = ""  # why the last key was refused
        self.down = ""  # why there is no table to play on
        self._retry_us, self._retry_in_us = 0, RETRY_FIRST_US
        self._lock_us: int | None = None  # a LOCK edge that cannot be judged yet
        self._covered: tuple[int, ...] = ()
        self._drops: int | None = None  # chips through the slot since LOCK; None: nobody knows
        self._lost_us = -1  # when inputs were lost the last time
        self.door_open = False
        self._unwritten: list[ask.Command] = []  # what happened while nothing could be written
        self._key = ""  # the last one pressed
        self._lockout_us = 0
        self._watch = Watch(around.clock, around.board, around.screens)
        self._lamp_test_us = 0
        self._faulty_us = -WELL_US  # when the hardware was last seen broken
        self._last_view = no_table(around.table_id, "starting")

    def start(self, *, door_open: bool, key_on: bool) -> None:
        """Open the table. If that fails the unit says so and tries again by itself."""
        self.door_open = door_open
        if key_on:
            self.panel.key_switch(on=True)
        self._open()
        self.turn()

    def turn(self) -> None:
        """Do what is due by now, and show the table as it stands."""
        now_us = self._board.now_us()
        if self.service is None:
            if now_us >= self._retry_us:
                self._open()
        else:
            self.judge_lock()
            self._do_quietly(self._tick)
        self._show()

    def rest(self) -> None:
        """Nothing is going on: the ledger's second copy is made durable."""
        if self.service is not None:
            self._do_quietly(self.service.rest)

    def _tick(self) -> None:
        service = self._running()
        self._chips_moved()
        service.tick()
        self._note_board()
        for command in self._watch.notes():
            self._note(command)

    def _note_board(self) -> None:
        """Broken hardware takes the table out of service; once it works again, back into it."""
        table, faults, now_us = self._table(), self._board.faults(), self._board.now_us()
        self._faulty_us = now_us if faults else self._faulty_us
        if faults and table.phase is not Phase.FAULT:
            self._note(ask.RaiseFault(UNIT, HARDWARE + faults[0]))
            if self._lock_us is not None:
                self._lock_us = None
                self._do(partial(self._running().refuse, self.dealer, "LOCK", UNREADABLE))
        elif now_us - self._faulty_us >= WELL_US and table.fault.startswith(HARDWARE):
            self._note(ask.ClearFault(UNIT))

    def _open(self) -> None:
        try:
            service = self._open_service()
        except (Fault, Refused) as fault:
            if isinstance(fault, Taken) and self.last is None:
                raise  # a second daemon; later on it is a verify, which ends
            self._stop(str(fault))
            return
        first = self.last is None
        self.service = self.last = service
        self.down = self.notice = ""
        self._retry_in_us = RETRY_FIRST_US
        self._covered = self._board.covered()
        self._do_quietly(partial(self._catch_up, first_start=first))
        self._lockout_us = self._board.now_us() + wait_ms(service.table.failed_sign_ins) * 1000
        self.panel.phase_changed()

    def _catch_up(self, *, first_start: bool) -> None:
        """Write down what happened while nothing could be written, or while there was no power."""
        unwritten, self._unwritten = self._unwritten, []
        for command in unwritten:
            self._note(command)
        if self.door_open != self._table().door_open:
            self._note(ask.NoteDoor(UNIT, self.door_open, while_off=first_start))

    def _stop(self, why: str) -> None:
        """Out of service, visibly; the next try comes later each time."""
        view = self._last_view if self.service is None else self.service.view()
        self.panel.sign_in_failed()  # a PIN that was just being looked at is keyed again
        self._last_view = replace(view, phase=Phase.FAULT, fault=why)
        self.service, self.down, self._lock_us = None, why, None
        self._board.light_out_of_service()
        self._retry_us = self._board.now_us() + self._retry_in_us
        self._retry_in_us = min(self._retry_in_us * 2, RETRY_LONGEST_US)

    def take(self, item: Input) -> None:
        """One input: answered, refused with a sentence, or shown as out of service."""
        if isinstance(item, DoorSwitched):
            self.door_open = item.opened
        if self.service is None:
            self._take_while_down(item)
        else:
            before = self.service.phase
            self._do(partial(self._take, item))
            if self.service is None or self.service.phase is not before:
                self.panel.phase_changed()
        if not isinstance(item, ChipsMoved):  # it comes with every sweep, and a turn follows
            self._show()

    def _take_while_down(self, item: Input) -> None:
        """Nothing can be written, so nothing is done; but a turned key is turned."""
        if isinstance(item, KeySwitched):
            action = self.panel.key_switch(item.on)
            self._unwritten += [action] if isinstance(action, ask.SignOut) else []
        elif isinstance(item, ChipDropped):
            self._drops = None
        elif isinstance(item, LockPressed | EndPressed | KeyPressed):
            self.notice = "The table is out of service; call a technician."

    def _take(self, item: Input) -> None:
        match item:
            case LockPressed():
                self._lock_pressed(item.at_us)
            case LockUnheard():
                self._running().refuse(self.dealer, "LOCK", UNHEARD)
            case EndPressed():
                self._running().end(self.dealer)
                self.notice = ""
            case KeyPressed():
                self._key = item.key
                self._act(self.panel.press(item.key, self._table(), self._info()))
            case KeySwitched():
                self._key_switched(on=item.on)
            case DoorSwitched():
                self._note(ask.NoteDoor(UNIT, item.opened))
            case ChipDropped():
                if self._drops is not None and self._table().phase in IN_ROUND:
                    self._drops += 1
            case ChipsMoved():
                self._chips_moved()
            case Odd():
                self._note(ask.NoteHardware(UNIT, item.what))
            case InputsLost():
                self._inputs_lost()

    def _key_switched(self, *, on: bool) -> None:
        action = self.panel.key_switch(on)
        try:
            self._act(action)
        except Fault:
            self._unwritten += [action] if isinstance(action, ask.SignOut) else []
            raise

    def _lock_pressed(self, at_us: int) -> None:
        if at_us <= self._lost_us:
            self._running().refuse(self.dealer, "LOCK", LOST)
        self._lock_us = at_us if self._lock_us is None else self._lock_us

    def judge_lock(self) -> None:
        """LOCK by its edge time, as soon as no edge before it can still be on its way.

        To be called when everything seen so far has been taken: an edge that waits in the inbox
        is younger than the levels that are read here.
        """
        if self._lock_us is None or self.service is None:
            return
        if self._board.doubtful_until_us(self._lock_us) > self._board.now_us():
            return
        lock_us, self._lock_us = self._lock_us, None
        self._do(partial(self._lock, lock_us))
        self._show()

    def _lock(self, lock_us: int) -> None:
        self._running().lock(self.dealer, lock_us)
        self._drops, self.notice = 0, ""
        self._covered = self._board.covered()  # what lay there unsettled has been noted as late
        self.panel.phase_changed()

    def _chips_moved(self) -> None:
        covered, before = self._board.covered(), self._covered
        self._covered = covered
        for seat in sorted({*covered} ^ {*before}):
            self._running().sensor_changed(seat, covered=seat in covered)

    def send(self, action: Action) -> None:
        """The same from elsewhere than the keypad: a page, or a script."""
        if self.service is not None:
            self._do(partial(self._act, action))
        self._show()

    def _inputs_lost(self) -> None:
        """Nothing is guessed: a LOCK that may have missed an edge is not taken."""
        self._lost_us = self._board.now_us()
        self._note(ask.NoteHardware(UNIT, "inputs were lost: the queue was full"))
        if self._lock_us is not None:
            self._lock_us = None
            self._running().refuse(self.dealer, "LOCK", LOST)

    def _act(self, action: Action | None) -> None:
        service = self._running()
        match action:
            case None:
                self.notice = ""
            case Say():
                service.refuse(self.dealer, f"key {self._key.upper()}", action.text)
            case OpenNow():
                service.open(action.by)
            case VoidNow():
                service.void(action.by, action.reason)
            case CheckPin():
                self._check_pin(action)
            case RunSelfTest():
                self._lamp_test()
            case ask.AcknowledgeReminder():
                service.remind(action.by, action.what)
            case _:
                service.ask(action)
        if action is not None:
            self.notice = ""
            self.panel.done()

    def _check_pin(self, asked: CheckPin) -> None:
        service = self._running()
        person = self._around.check_pin(asked.number, asked.pin)
        allowed = person is not None and (
            may_use_floor_key(person.role) if self.panel.key_on else person.role is Role.DEALER
        )
        if person is None or not allowed:
            service.ask(ask.NoteSignInFailed(UNIT, asked.number))
            wait = wait_ms(service.table.failed_sign_ins)
            self._lockout_us = self._board.now_us() + wait * 1000
            self.panel.sign_in_failed()
            if person is not None and self.panel.key_on:
                raise Refused(f"{person.name} may not sign in at the floor key.")
            raise Refused("Wrong number or PIN.")  # without the key nobody learns which it was
        service.ask(ask.SignIn(person))
        self.panel.signed_in(person)

    def _lamp_test(self) -> None:
        """Every lamp and the buzzer for a few seconds, while the table is closed."""
        self._lamp_test_us = self._board.now_us() + LAMP_TEST_US
        covered = " ".join(str(seat) for seat in self._board.covered()) or "none"
        self._note(ask.NoteHardware(UNIT, f"self-test at the keypad; sensors covered: {covered}"))

    def _note(self, command: ask.Command) -> None:
        self._running().ask(command)

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Refused as refused:
            self.notice = str(refused)
            self.panel.refused()
            self._board.sound(Sound.REFUSED)
        except Fault as fault:
            self._stop(str(fault))

    def _do_quietly(self, act: Callable[[], None]) -> None:
        """What nobody pressed a key for: a refusal of it is no news for the dealer."""
        try:
            act()
        except Refused:  # it is in the ledger
            pass
        except Fault as fault:
            self._stop(str(fault))

    # What shows.

    @property
    def dealer(self) -> Person:
        return Person(self._table().dealer or "dealer", Role.DEALER)

    @property
    def phase(self) -> Phase:
        return Phase.FAULT if self.service is None else self.service.phase

    def _running(self) -> TableService:
        if self.service is None:
            raise Fault(self.down)
        return self.service

    def _table(self) -> Table:
        return self._running().table

    def _info(self) -> Info:
        table = self._table()
        reading = self.panel.reads_out
        by_title = self._screens.shown()
        return Info(
            dealer=self.dealer,
            locked_out_ms=max(0, (self._lockout_us - self._board.now_us()) // 1000),
            reminders=self._reminders(),
            drops=self._drops if table.settings.count is CountMode.SENSOR else None,
            shown={m.name: by_title[m.title] for m in table.pack.meters if m.title in by_title},
            readout=readout(table, self._around.facts(), self._watch.display_faults)
            if reading
            else (),
        )

    def _reminders(self) -> tuple[Reminder, ...]:
        service = self._running()
        if service.table.phase in IN_ROUND:
            return ()
        return reminders_due(service.table, elapsed_ms=service.elapsed_ms())

    def screen(self) -> Screen:
        """Everything the displays show now."""
        if self.service is None:
            return Screen(view=self._last_view, simulated=self._around.simulated)
        view = self.service.view()
        page = self.panel.page(self.service.table, self._info())
        return Screen(
            view=view,
            page=page,
            notice=self.notice,
            alerts=alerts(view, self._watch.display_faults),
            reminders=tuple(REMINDS[each] for each in self._reminders()),
            simulated=self._around.simulated,
        )

    def _show(self) -> None:
        self._screens.post(self.screen())
        self._board.sound(self._sound())
        self._board.test_lamps(on=self._testing())

    def _testing(self) -> bool:
        """Lamps that look accepted are lit only where nobody can take them for a wager."""
        return self.phase is Phase.CLOSED and self._board.now_us() < self._lamp_test_us

    def _sound(self) -> Sound:
        if self._testing():
            return Sound.FLOOR
        if self.service is None or self.panel.key_on:
            return Sound.SILENT
        table = self.service.table
        waits = any(claim.status is ClaimStatus.WAITING for claim in table.round.claims)
        return Sound.FLOOR if waits or table.floor_called else Sound.SILENT
