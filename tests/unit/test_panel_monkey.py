"""A monkey at the keypad of real tables: twenty thousand keys, key turns, LOCKs and ENDs.

Nobody gets an action that his role does not have, no key is silent, no page is too large, and
nothing ever raises but a refusal. The seed is the test's parameter.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Final

import pytest

from controller.domain import commands as ask
from controller.domain.errors import Refused
from controller.domain.machine import FLOOR_ONLY, TECHNICAL_ONLY
from controller.domain.pack import Hand
from controller.domain.table import ChipCount, Person, Phase, Reminder, Role, Wager
from controller.panel import KEYS, Action, CheckPin, OpenNow, RunSelfTest, Say, VoidNow, keys
from tests.builders import UNIT, Evening, usd
from tests.keypad import NUMBERS, Keypad

STEPS_A_TABLE: Final = 2000
TABLES: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("md-uth-a", {"wagers": ["1.00", "5.00"], "count": "blind", "adjacent_boxes": 3}),
    ("md-uth-b", {"count": "shown", "floor_may_add": True}),
    ("md-uth-c", {"wagers": ["1.00", "5.00"], "simultaneous": "split", "floor_may_add": True}),
    ("md-uth-d", {"simultaneous": "full", "validate": "all"}),
    ("md-jh-a", {"count": "sensor"}),
    ("md-jh-e", {"wagers": ["1.00", "2.00", "3.00"], "count": "shown"}),
    ("sd-uthp-01", {"validate": "100.00"}),
    ("sd-pmg-01", {"count": "blind", "envy_holder_must_wager": True}),
    ("sd-pmg-02", {"adjacent_boxes": 2}),
    ("ca-texas-holdem", {"count": "sensor", "wagers": ["1.00", "5.00"]}),
)
SAID_MAX: Final = 63  # three lines of the dealer's display
LIKELY: Final = (*KEYS, *"1231236", "enter", "enter", "enter", "clear")
FLOOR_ACTS: Final = (*FLOOR_ONLY, OpenNow, VoidNow)
TECHNICAL_ACTS: Final = (*TECHNICAL_ONLY, RunSelfTest)
READOUT: Final = tuple((topic, tuple(f"LINE {n}" * 4 for n in range(9))) for topic in "ABCDEF")


class Monkey(Keypad):
    """Presses what comes, and watches what comes out."""

    def __init__(self, seed: int) -> None:
        pack, settings = TABLES[seed % len(TABLES)]
        super().__init__(Evening(pack, **settings, opened=False))
        self.dice = random.Random(seed)
        self.seen: set[str] = set()  # kinds of action
        self.phases: set[Phase] = set()
        self.keys = 0
        self.signed_in: Person | None = None

    def step(self) -> None:
        self._look()
        match self.dice.randrange(100):
            case 0 | 1:
                self.turn_key(on=not self.panel.key_on)
            case 2:
                self._lock()
            case 3:
                self._button(ask.EndRound(self.info.dealer))
            case 4 if self.dice.random() < 0.3:
                self._button(ask.RaiseFault(UNIT, "sensor 3 is silent; look at its cable"))
            case at if at > 80:
                self._be_sensible()
            case _:
                self.press(self.dice.choice(LIKELY))

    def _look(self) -> None:
        """The world moves on: reminders fall due, chips drop, displays fail."""
        dice, table = self.dice, self.evening.table
        shown = {meter.name: usd(f"{dice.randrange(20000)}.00") for meter in table.meters}
        self.knows(
            dealer=Person(table.dealer or "dealer", Role.DEALER),
            locked_out_ms=dice.choice((0,) * 19 + (30_000,)),
            reminders=tuple(each for each in Reminder if dice.random() < 0.1),
            drops=dice.choice((None, len(table.round.wagers))),
            shown=shown if dice.random() < 0.9 else {},
            readout=READOUT if self.panel.reads_out else (),
        )

    def _lock(self) -> None:
        settings = self.evening.table.settings
        seats = [seat for seat in range(1, settings.seats + 1) if self.dice.random() < 0.6]
        chips = tuple(Wager(seat, self.dice.choice(settings.wagers)) for seat in seats)
        self._button(ask.LockBets(self.info.dealer, chips))

    def _button(self, command: ask.Command) -> None:
        try:
            self.evening.do(command)
        except Refused:
            self.panel.refused()  # as the unit does for LOCK and END

    def _be_sensible(self) -> None:
        """For once do what the table waits for, so that the monkey gets to see every page."""
        phase, dice = self.evening.phase, self.dice
        if phase is Phase.OPEN and dice.random() < 0.8:
            self._lock()
        elif phase is Phase.IN_PLAY and dice.random() < 0.2:
            self._button(ask.EndRound(self.info.dealer))
        elif phase in (Phase.CLOSED, Phase.FAULT) or dice.random() < 0.4:
            self._at_the_key()
        else:
            self.turn_key(on=False)
            self.press("clear", "clear", "clear", *self._dealers_task())

    def _dealers_task(self) -> keys.Keys:
        table, dice = self.evening.table, self.dice
        seat = dice.randint(1, table.settings.seats)
        accepted = [wager.amount for wager in table.round.wagers]
        off = dice.choice((0, 0, 1))
        chips = [ChipCount(a, accepted.count(a) + off) for a in sorted(set(accepted))]
        return (
            keys.count_keys(table, chips)
            or keys.envy_keys(table)
            or keys.win_keys(
                table, seat, dice.choice([pay.hand for pay in table.pack.pays] or [*Hand])
            )
            or keys.tie_keys(table, (seat, seat + 1))
            or ("menu", "1", *keys.sign_in_keys("101", "2580"))
        )

    def _at_the_key(self) -> None:
        """Somebody signs in and does one thing, and may forget the key."""
        dice, table = self.dice, self.evening.table
        self.knows(locked_out_ms=0)
        self.turn_key(on=False)
        self.turn_key(on=True)
        number = dice.choice(("201", "201", "201", "201", "301", "301", "401", "101", "999"))
        self.press(*keys.sign_in_keys(number, NUMBERS.get(number, ("0000",))[0]))
        self.knows(readout=READOUT if self.panel.reads_out else ())
        seat, amount = dice.randint(1, table.settings.seats), dice.choice(table.settings.wagers)
        tasks = (
            keys.open_keys(table),
            keys.strike_keys(table, seat, 1),
            keys.add_keys(table, seat, amount),
            keys.reopen_keys(table),
            keys.validate_keys(table),
            keys.validate_keys(table, seat),
            keys.reject_keys(table, None, 2),
            ("7", "enter") if table.phase is Phase.CLOSED else None,
            ("8", "enter") if table.phase is Phase.FAULT else None,
        )
        self.press(*dice.choice([task for task in tasks if task] or [("menu",)]))
        self.turn_key(on=dice.random() < 0.3)

    def perform(self, action: Action | None) -> None:
        self.seen.add(type(action).__name__)
        if action is not None and not isinstance(action, Say | CheckPin):
            self._check_rights(action)
        super().perform(action)
        if isinstance(action, ask.SignOut):
            self.signed_in = None
        if self.said:
            assert self.said.endswith(".")
        if isinstance(action, Say):
            assert 0 < len(action.text) <= SAID_MAX

    def _check_rights(self, action: Action) -> None:
        by = getattr(action, "by")  # noqa: B009 - every action that does something has it
        if isinstance(action, FLOOR_ACTS):
            assert by == self.signed_in
            assert by.role is Role.FLOOR
        elif isinstance(action, TECHNICAL_ACTS):
            assert by == self.signed_in
            assert by.role is Role.TECHNICIAN
        elif isinstance(action, ask.SignOut | ask.CallFloor):
            assert by in (self.signed_in, self.info.dealer)
        else:
            assert by == self.info.dealer
            assert not self.panel.key_on

    def press(self, *pressed: str) -> Action | None:
        action: Action | None = None
        for key in pressed:
            self.keys += 1
            before = self.text()
            action = super().press(key)
            if isinstance(action, CheckPin) and self.panel.key_on:
                self._note_sign_in(action)
            again = key.isdigit() and "ENTER = " in before  # picking the same thing twice
            assert action is not None or self.text() != before or again, (key, before)
        return action

    def _note_sign_in(self, asked: CheckPin) -> None:
        pin, person = NUMBERS.get(asked.number, ("", UNIT))
        if pin == asked.pin and person.role is not Role.DEALER:
            self.signed_in = person


@cache
def after_an_evening(seed: int) -> Monkey:
    monkey = Monkey(seed)
    for _ in range(STEPS_A_TABLE):
        monkey.step()
        monkey.phases.add(monkey.evening.phase)
    return monkey


@pytest.mark.requirement(23, 24)
@pytest.mark.parametrize("seed", range(len(TABLES)))
def test_whatever_is_pressed_nobody_does_what_he_may_not_and_no_key_is_silent(seed: int) -> None:
    assert after_an_evening(seed).keys >= STEPS_A_TABLE


def test_the_monkeys_have_seen_everything_a_keypad_can_ask_for() -> None:
    monkeys = [after_an_evening(seed) for seed in range(len(TABLES))]
    phases = {phase for monkey in monkeys for phase in monkey.phases}
    seen = {kind for monkey in monkeys for kind in monkey.seen}
    assert sum(monkey.keys for monkey in monkeys) >= 20_000
    assert phases == set(Phase)
    assert seen == {
        "NoneType",
        "Say",
        "CheckPin",
        "OpenNow",
        "VoidNow",
        "RunSelfTest",
        "KeyCount",
        "KeyWin",
        "TieSeats",
        "AcknowledgeEnvy",
        "AcknowledgeReminder",
        "CallFloor",
        "SignOut",
        "CloseTable",
        "StrikeWager",
        "AddWager",
        "ReopenBets",
        "ValidateWin",
        "RejectWin",
        "ClearFault",
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_same_keys_lead_to_the_same_evening(seed: int) -> None:
    one, other = Monkey(seed), Monkey(seed)
    for _ in range(300):
        one.step()
        other.step()
    assert one.evening.events == other.evening.events
    assert one.page == other.page


def test_a_page_that_is_too_wide_too_long_or_whispered_would_be_noticed() -> None:
    from controller.screen import Page
    from tests.keypad import fits

    good = Page("COUNT", ("$1.00 CHIPS",) * 4, entry="3", hint="ENTER = COUNTED")
    assert fits(good)
    for bad in (
        Page("count"),
        Page(""),
        Page("COUNT", ("X" * 22,)),
        Page("COUNT", ("X",) * 6),
        Page("COUNT", ("X",) * 5, entry="3"),
        Page("COUNT", hint="X" * 22),
        Page("COUNT", ("A\nB",)),
    ):
        assert not fits(bad)
