"""Random evenings at random tables: commands in any order, sensible or not.

What must hold after each of them is in `evening`; here is only what people do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
)
from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.meter import Account
from controller.domain.money import Money
from controller.domain.pack import Hand, MeterPay, Pack, Settings, Simultaneous
from controller.domain.table import ChipCount, Phase, Wager
from tests.property.evening import Evening
from tests.property.strategies import (
    BOSS,
    DEALER,
    FIVE,
    FLOOR,
    ONE,
    PEOPLE,
    TECHNICIAN,
    UNIT,
    amounts,
    any_amount,
    any_seat,
    meter_packs,
    next_cent,
    settings_for,
)

seats = st.integers(1, 6)
chips = st.dictionaries(seats, st.sampled_from([ONE, FIVE]), max_size=6)
hands = st.sampled_from(Hand)
deeds = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "key",
                "key",
                "key",
                "twice",
                "validate",
                "next",
                "reject",
                "envy",
                "tie",
                "end",
                "void",
            ]
        ),
        seats,
        st.integers(0, 40),
    ),
    min_size=1,
    max_size=14,
)
one_meter_packs = [pack for pack in meter_packs() if len(pack.meters) == 1]
Deeds = list[tuple[str, int, int]]
full_tables = st.dictionaries(seats, st.sampled_from([ONE, FIVE]), min_size=3, max_size=6)
rarely = st.integers(0, 7).map(lambda drawn: drawn == 7)
people = st.sampled_from(PEOPLE)
reasons = st.sampled_from(["misdeal", "no ante", " ", ""])
covered = st.sets(seats, max_size=3).map(lambda found: tuple(sorted(found)))
counts = st.lists(st.builds(ChipCount, any_amount, st.integers(0, 7)), max_size=3).map(tuple)
any_seats = st.lists(any_seat, max_size=4).map(tuple)
perhaps_seat = st.none() | any_seat
meter_names = st.sampled_from([rule.name for pack in meter_packs() for rule in pack.meters])

any_command: st.SearchStrategy[ask.Command] = st.one_of(
    st.builds(ask.OpenTable, people, covered),
    st.builds(ask.CloseTable, people),
    chips.flatmap(
        lambda found: st.builds(
            ask.LockBets, people, st.just(tuple(Wager(s, a) for s, a in found.items()))
        )
    ),
    st.builds(ask.KeyCount, people, counts, st.none() | st.integers(0, 7)),
    st.builds(ask.StrikeWager, people, any_seat, reasons),
    st.builds(ask.AddWager, people, any_seat, any_amount, reasons),
    st.builds(ask.ReopenBets, people, reasons),
    st.builds(ask.TieSeats, people, any_seats),
    st.builds(ask.KeyWin, people, any_seat, hands),
    st.builds(ask.ValidateWin, people, perhaps_seat),
    st.builds(ask.RejectWin, people, reasons, perhaps_seat),
    st.builds(ask.AcknowledgeEnvy, people),
    st.builds(ask.VoidRound, people, reasons, covered),
    st.builds(ask.EndRound, people, covered),
    st.builds(ask.NoteLateChip, people, seats, st.booleans()),
    st.builds(ask.NoteSeatEmpty, people, any_seat),
    st.builds(ask.NoteSeatStuck, people, any_seat),
    st.builds(
        ask.AdjustMeter,
        by=people,
        approved_by=people,
        meter=meter_names,
        account=st.sampled_from(Account),
        raises=st.booleans(),
        amount=any_amount,
        reason=reasons,
        reference=reasons,
    ),
    st.builds(ask.RaiseFault, people, st.just("the door is open")),
    st.builds(ask.ClearFault, people),
)


Step = TypeVar("Step", bound=Callable[..., Any])


def in_phase(*phases: Phase) -> Callable[[Step], Step]:
    return precondition(lambda self: self.phase in phases)


class EveningMachine(RuleBasedStateMachine):
    """People at a table whose several-winners rule is the subclass's."""

    policy: ClassVar[Simultaneous]

    def __init__(self) -> None:
        super().__init__()
        self.evening: Evening | None = None

    @initialize(data=st.data())
    def commission(self, data: st.DataObject) -> None:
        pack = data.draw(st.sampled_from(meter_packs()) | st.sampled_from(one_meter_packs))
        self.evening = Evening(pack, data.draw(settings_for(pack, self.policy)))

    @property
    def at(self) -> Evening:
        assert self.evening is not None
        return self.evening

    @property
    def phase(self) -> Phase | None:
        return self.evening.table.phase if self.evening else None

    @property
    def settings(self) -> Settings:
        return self.at.table.settings

    @property
    def pack(self) -> Pack:
        return self.at.table.pack

    def seat(self, drawn: int) -> int:
        return 1 + (drawn - 1) % self.settings.seats

    def hand(self, drawn: int) -> Hand:
        """Meter hands more often than life has them."""
        pays = [pay.hand for pay in self.pack.pays]
        meter = [pay.hand for pay in self.pack.pays if isinstance(pay, MeterPay)]
        lines = [*meter * 3, *pays * 2, Hand.ROYAL_FLUSH, Hand.STRAIGHT_FLUSH]
        return lines[drawn % len(lines)]

    def lock(self, laid: dict[int, Money]) -> did.Event | None:
        wagers = self.settings.wagers
        found = [
            Wager(seat, amount if amount in wagers else wagers[0])
            for seat, amount in laid.items()
            if seat <= self.settings.seats
        ]
        return self.at.do(ask.LockBets(DEALER, tuple(found)))

    def count_right(self) -> did.Event | None:
        laid = [wager.amount for wager in self.at.table.round.wagers]
        counted = tuple(ChipCount(amount, laid.count(amount)) for amount in sorted(set(laid)))
        return self.at.do(ask.KeyCount(DEALER, counted))

    @in_phase(Phase.OPEN)
    @rule(laid=chips)
    def betting_is_locked(self, laid: dict[int, Money]) -> None:
        assert isinstance(self.lock(laid), did.BetsLocked)

    @in_phase(Phase.OPEN)
    @rule(laid=full_tables, then=deeds)
    def a_round_is_dealt(self, laid: dict[int, Money], then: Deeds) -> None:
        self.lock(laid)
        if self.count_right() is None:
            assert any(meter.max_contribution is not None for meter in self.settings.meters)
            assert self.at.do(ask.VoidRound(FLOOR, "over the bound"))
            return
        self.play(then)

    @in_phase(Phase.LOCKED, Phase.MISCOUNT)
    @rule()
    def the_count_agrees(self) -> None:
        self.count_right()

    @in_phase(Phase.LOCKED, Phase.MISCOUNT)
    @rule(number=st.integers(0, 7))
    def the_dealer_counts(self, number: int) -> None:
        self.at.do(ask.KeyCount(DEALER, number=number))

    @in_phase(Phase.LOCKED, Phase.MISCOUNT)
    @rule(seat=seats, amount=st.sampled_from([ONE, FIVE]), add=st.booleans())
    def the_floor_changes_a_wager(self, seat: int, amount: Money, add: bool) -> None:
        if not add:
            self.at.do(ask.StrikeWager(FLOOR, self.seat(seat), "no ante"))
        elif self.at.do(ask.AddWager(FLOOR, self.seat(seat), amount, "lamp was dark")):
            assert self.settings.floor_may_add

    @in_phase(Phase.MISCOUNT)
    @rule()
    def betting_is_reopened(self) -> None:
        assert self.at.do(ask.ReopenBets(FLOOR, "chips moved"))

    @in_phase(Phase.IN_PLAY)
    @rule(then=deeds)
    def play(self, then: Deeds) -> None:
        """Dealer and floor at work, in no particular order."""
        for deed, drawn_seat, drawn in then:
            seat = self.seat(drawn_seat)
            if self.phase is not Phase.IN_PLAY:
                return
            if deed == "key":
                self.at.do(ask.KeyWin(DEALER, seat, self.hand(drawn)))
            elif deed == "twice":
                self.key_twice(seat, self.hand(drawn))
            elif deed == "validate":
                self.at.do(ask.ValidateWin(FLOOR, seat))
            elif deed == "next":
                self.at.do(ask.ValidateWin(FLOOR))
            elif deed == "reject":
                self.at.do(ask.RejectWin(FLOOR, "not a hand", seat if drawn % 2 else None))
            elif deed == "envy":
                self.at.do(ask.AcknowledgeEnvy(DEALER))
            elif deed == "end":
                self.at.do(ask.EndRound(DEALER))
            elif deed == "void":
                self.at.do(ask.VoidRound(FLOOR, "misdeal" if drawn % 4 == 0 else ""))
            else:
                self.at.do(ask.TieSeats(DEALER, tuple(range(seat, seat + 1 + drawn % 3))))

    def key_twice(self, seat: int, hand: Hand) -> None:
        """A key pressed by mistake, and pressed again, leaves nothing behind."""
        before = self.at.table
        if before.round.claim_of(seat) or not self.at.do(ask.KeyWin(DEALER, seat, hand)):
            return
        assert isinstance(self.at.do(ask.KeyWin(DEALER, seat, hand)), did.WinTakenOff)
        after = self.at.table
        assert after.meters == before.meters
        assert after.round.claims == before.round.claims
        assert after.totals == before.totals

    @in_phase(Phase.IN_PLAY)
    @rule(drawn=st.integers(0, 40))
    def the_board_wins_for_everybody(self, drawn: int) -> None:
        for wager in self.at.table.round.wagers:
            if self.at.table.round.claim_of(wager.seat) is None:
                self.at.do(ask.KeyWin(DEALER, wager.seat, self.hand(drawn)))

    @in_phase(Phase.LOCKED, Phase.MISCOUNT, Phase.IN_PLAY)
    @rule(drawn=covered, now=rarely)
    def the_round_is_voided(self, drawn: tuple[int, ...], now: bool) -> None:
        if now:
            self.at.do(ask.VoidRound(FLOOR, "misdeal", drawn))

    @in_phase(Phase.IN_PLAY)
    @rule(drawn=covered)
    def everything_is_settled_and_the_round_ends(self, drawn: tuple[int, ...]) -> None:
        while self.at.do(ask.ValidateWin(FLOOR)):
            pass
        self.at.do(ask.AcknowledgeEnvy(DEALER))
        assert isinstance(self.at.do(ask.EndRound(DEALER, drawn)), did.RoundEnded)

    @in_phase(Phase.OPEN, Phase.CLOSED)
    @rule(at=st.integers(0, 4), account=st.sampled_from(Account), up=st.booleans(), by=amounts(9))
    def a_meter_is_adjusted(self, at: int, account: Account, up: bool, by: Money) -> None:
        name = self.settings.meters[at % len(self.settings.meters)].name
        self.at.do(ask.AdjustMeter(FLOOR, BOSS, name, account, up, by, "found", "A-1"))

    @in_phase(Phase.OPEN)
    @rule(data=st.data(), now=rarely)
    def the_operator_changes_the_settings(self, data: st.DataObject, now: bool) -> None:
        if not now:
            return
        policy = data.draw(st.sampled_from(Simultaneous))
        new = data.draw(settings_for(self.pack, policy))
        meters = tuple(
            replace(
                meter,
                initial=was.parameters.initial,
                initial_reserve=was.parameters.initial_reserve,
                limit=None if meter.limit is None else next_cent(max(meter.limit, was.current)),
            )
            for meter, was in zip(new.meters, self.at.table.meters, strict=True)
        )
        self.at.do(ask.CloseTable(FLOOR))
        changed = replace(new, meters=meters)
        assert self.at.do(ask.ChangeSettings(TECHNICIAN, "R-7", self.pack, changed))
        assert self.at.do(ask.OpenTable(FLOOR))

    @precondition(lambda self: self.phase in (Phase.CLOSED, Phase.FAULT))
    @rule()
    def the_table_goes_on(self) -> None:
        if self.phase is Phase.FAULT:
            assert self.at.do(ask.ClearFault(TECHNICIAN))
        if self.phase is Phase.CLOSED:
            assert self.at.do(ask.OpenTable(FLOOR))

    @rule(seat=seats, placed=st.booleans())
    def a_chip_moves_late(self, seat: int, placed: bool) -> None:
        before = self.at.table
        if self.at.do(ask.NoteLateChip(UNIT, self.seat(seat), placed)):
            assert self.at.table.round == before.round
            assert self.at.table.meters == before.meters

    @rule(command=any_command)
    def somebody_asks_for_anything(self, command: ask.Command) -> None:
        self.at.do(command)

    def teardown(self) -> None:
        if self.evening is not None:
            assert self.evening.replayed() == self.evening.table


class InTurn(EveningMachine):
    policy = Simultaneous.IN_TURN


class Split(EveningMachine):
    policy = Simultaneous.SPLIT


class Full(EveningMachine):
    policy = Simultaneous.FULL


shown = pytest.mark.requirement(2, 3, 13, 15, 26, 30, 31, 32, 33, 42, 43, 44, 50)
TestEveningsPaidInTurn = shown(InTurn.TestCase)
TestEveningsWithSplitAwards = shown(Split.TestCase)
TestEveningsWithFullAwards = shown(Full.TestCase)
