"""One table's evening under watch: carries out commands and keeps books of its own beside it.

The books are plain sums over what was asked and granted. They share no arithmetic with the
domain, and after every step the table must agree with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller import wire
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.envy import envies, owed
from controller.domain.errors import Refused
from controller.domain.meter import Meter, commission
from controller.domain.pack import Hand, Pack, Settings, Simultaneous, VoidContributions
from controller.domain.table import (
    Claim,
    ClaimStatus,
    Envy,
    PaidFrom,
    Phase,
    Table,
    WagerChange,
    WinRecord,
)
from controller.domain.view import Lamp, lamps, view_of
from tests.property import oracle
from tests.property.books import Book, RoundBook, pot_of
from tests.property.oracle import CENT
from tests.property.strategies import FLOOR

NEEDS_FLOOR: Final = (
    ask.OpenTable,
    ask.CloseTable,
    ask.StrikeWager,
    ask.AddWager,
    ask.ReopenBets,
    ask.ValidateWin,
    ask.RejectWin,
    ask.VoidRound,
    ask.AdjustMeter,
)
MAY_LOWER: Final = (
    did.WinKeyed,
    did.WinTakenOff,
    did.WinRejected,
    did.RoundVoided,
    did.MeterAdjusted,
)
STEPS: Final = {
    Phase.CLOSED: {Phase.OPEN},
    Phase.OPEN: {Phase.CLOSED, Phase.LOCKED},
    Phase.LOCKED: {Phase.MISCOUNT, Phase.IN_PLAY, Phase.OPEN},
    Phase.MISCOUNT: {Phase.IN_PLAY, Phase.OPEN},
    Phase.IN_PLAY: {Phase.OPEN},
    Phase.FAULT: set(Phase),
}


class Evening:
    """Carries out commands; every disagreement is an AssertionError."""

    def __init__(self, pack: Pack, settings: Settings) -> None:
        postings = tuple(posting for meter in settings.meters for posting in commission(meter))
        self.rows: list[tuple[str, bytes]] = []
        first = did.Commissioned(pack, settings, postings)
        self._write(first)
        self.table = machine.commission(first)
        self.books = {
            meter.name: Book(meter.initial.ucents + meter.initial_reserve.ucents)
            for meter in settings.meters
        }
        self.round = RoundBook()
        self.wagers = self.wagered = self.odds_paid = self.envy_paid = self.rounds = 0
        self.check()
        self.do(ask.OpenTable(FLOOR))

    def _write(self, event: did.Event) -> None:
        kind, payload = wire.KIND_OF[type(event)], wire.encode(event)
        assert wire.decode(kind, wire.VERSION, payload) == event
        self.rows.append((kind, payload))

    def replayed(self) -> Table:
        """The state somebody else gets who has nothing but the rows."""
        events = [wire.decode(kind, wire.VERSION, payload) for kind, payload in self.rows]
        assert isinstance(events[0], did.Commissioned)
        table = machine.commission(events[0])
        for event in events[1:]:
            table = machine.apply(table, event)
        return table

    def do(self, command: ask.Command) -> did.Event | None:
        """The event, or None if the command was refused."""
        before, looks = self.table, repr(self.table)
        try:
            event = machine.decide(before, command)
        except Refused as refused:
            self._refused(command, str(refused))
            assert repr(before) == looks
            return None
        assert repr(before) == looks, "asking changes nothing"
        assert machine.decide(before, command) == event, "the same question, the same answer"
        if isinstance(command, NEEDS_FLOOR):
            assert command.by.role == FLOOR.role
        self._write(event)
        self.table = machine.apply(before, event)
        self._check_step(before, event)
        self._note(before, command, event)
        self.check()
        return event

    def _refused(self, command: ask.Command, why: str) -> None:
        assert why.endswith((".", "!", "?")), why
        row = did.InputRefused(command.by, machine.spoken(command), why)
        self._write(row)
        assert machine.apply(self.table, row) == self.table

    def _check_step(self, before: Table, event: did.Event) -> None:
        was, now = before.phase, self.table.phase
        assert now == was or now is Phase.FAULT or now in STEPS[was], (was, now)
        if was is Phase.FAULT and now is not Phase.FAULT:
            assert now == before.resume
        if not isinstance(event, MAY_LOWER):
            for old, new in zip(before.meters, self.table.meters, strict=True):
                assert new.current >= old.current, f"{type(event).__name__} lowered {new.name}"

    def _note(self, before: Table, command: ask.Command, event: did.Event) -> None:
        """Enter one granted command into the books."""
        match event:
            case did.BetsLocked(wagers=wagers):
                self.round.wagers = {wager.seat: wager.amount.ucents for wager in wagers}
            case did.WagerChanged(change=change):
                self._change(change)
            case did.MiscountResolved(change=change):
                self._change(change)
                self._prove(before)
            case did.RoundProved():
                self._prove(before)
            case did.BetsReopened():
                self.round = RoundBook()
            case did.WinKeyed() | did.WinTakenOff():
                assert isinstance(command, ask.KeyWin)
                self._key(before, command.seat, command.hand)
            case did.WinRejected(seat=seat):
                self._remove(seat)
            case did.WinValidated(win=win):
                self._validate(before, win.seat)
            case did.EnvyAcknowledged(paid=paid):
                new = {(envy.seat, envy.holder, envy.hand) for envy in paid}
                assert not new & self.round.envy_paid, "envy is paid once"
                self.round.envy_paid |= new
                self.envy_paid += sum(envy.amount.ucents for envy in paid)
            case did.RoundVoided():
                self._void(before)
            case did.RoundEnded(wins=wins):
                self._end(before, wins)
            case did.MeterAdjusted(meter=name):
                assert isinstance(command, ask.AdjustMeter)
                sign = 1 if command.raises else -1
                self.books[name].adjusted += sign * command.amount.ucents

    def _change(self, change: WagerChange) -> None:
        if change.struck:
            assert self.round.wagers.pop(change.seat) == change.amount.ucents
        else:
            assert change.seat not in self.round.wagers
            self.round.wagers[change.seat] = change.amount.ucents

    def _prove(self, before: Table) -> None:
        wagered = sum(self.round.wagers.values())
        self.wagers += len(self.round.wagers)
        self.wagered += wagered
        self.round.proved = True
        for meter in before.meters:
            pot = pot_of(meter)
            brought = pot.contribute(wagered)
            bound = meter.parameters.max_contribution
            assert bound is None or brought <= bound.ucents
            self.books[meter.name].contributed += brought
            self.round.brought[meter.name] = brought
            self.round.start[meter.name] = pot

    def line(self, seat: int) -> tuple[str, int] | None:
        """Meter and percentage of what is keyed for a seat, if it is a meter that pays it."""
        hand = self.round.keyed.get(seat)
        pay = oracle.meter_line(self.table.pack, hand) if hand else None
        return (pay.meter, pay.percent) if pay and seat in self.round.wagers else None

    def _key(self, before: Table, seat: int, hand: Hand) -> None:
        again = self.round.keyed.get(seat) == hand
        meters = [(meter.name, pot_of(meter)) for meter in before.meters]
        old = self.line(seat)
        self._remove(seat)
        if not again:
            self.round.keyed[seat] = hand
            line = self.line(seat)
            rivals = [s for s in self.round.paid if line and self.line(s) and s < seat]
            if any((self.line(s) or ("",))[0] == (line or ("",))[0] for s in rivals):
                self.round.late.add(seat)
        if old is None and self.line(seat) is None:
            assert meters == [(m.name, pot_of(m)) for m in self.table.meters], "odds are the tray's"

    def _remove(self, seat: int) -> None:
        assert seat not in self.round.paid, "a validated win stands"
        line = self.line(seat)
        fixed = self.round.fixed.get(line[0], []) if line else []
        if line and seat in fixed:
            self.round.unsure.add(line[0])
            at = fixed.index(seat)
            after = [s for s in fixed[at + 1 :] if s in self.round.paid]
            self.round.fixed[line[0]] = fixed[:at] + after
        self.round.keyed.pop(seat, None)
        self.round.late.discard(seat)

    def turns(self, name: str) -> list[tuple[int, int]]:
        """Who is paid from a meter, in the order in which they are priced."""
        lines = {seat: line for seat in self.round.keyed if (line := self.line(seat))}
        fixed = self.round.fixed.get(name, [])
        seats = [seat for seat, line in lines.items() if line[0] == name and seat not in fixed]
        free = sorted(seats, key=lambda seat: (seat in self.round.late, -seat))
        return [(seat, lines[seat][1]) for seat in (*fixed, *free)]

    def _validate(self, before: Table, seat: int) -> None:
        claim = before.round.claim_of(seat)
        assert claim is not None
        assert seat not in self.round.paid, "no seat is paid twice in a round"
        line, amount = self.line(seat), claim.amount.ucents
        if line:
            self.books[line[0]].paid += amount
            self.books[line[0]].hits += 1
            turns = [s for s, _ in self.turns(line[0])]
            frozen = max(turns.index(seat) + 1, len(self.round.fixed.get(line[0], [])))
            self.round.fixed[line[0]] = turns[:frozen]
            if before.settings.simultaneous is not Simultaneous.IN_TURN:
                self.round.unsure.add(line[0])
        self.round.paid[seat] = amount

    def _void(self, before: Table) -> None:
        assert not self.round.paid, "a validated win cannot be voided away"
        assert not self.round.envy_paid
        keep = before.settings.void_contributions is VoidContributions.KEEP
        for meter in self.table.meters if self.round.proved else ():
            book, brought = self.books[meter.name], self.round.brought[meter.name]
            book.voided += brought
            if keep:
                book.funded += brought
                assert pot_of(meter) == self.round.start[meter.name]
            else:
                pot = pot_of(meter)
                pot.contribute(sum(self.round.wagers.values()))
                assert pot == self.round.start[meter.name], "as if nobody had wagered"
        self.round = RoundBook()

    def _end(self, before: Table, wins: tuple[WinRecord, ...]) -> None:
        assert not [c for c in before.round.claims if c.status is ClaimStatus.WAITING]
        assert set(self.envy(before)) == self.round.envy_paid
        seats = [win.seat for win in wins]
        assert seats == sorted(set(seats), reverse=True)
        for seat, hand in self.round.keyed.items():
            wager = self.round.wagers.get(seat, 0)
            self.odds_paid += oracle.odds(before.pack, before.settings, hand, wager) or 0
        for meter in before.meters:
            self.books[meter.name].funded = meter.funded.ucents
        self.rounds += 1
        self.round = RoundBook()

    def envy(self, table: Table) -> dict[tuple[int, int, Hand], int]:
        return oracle.envy(table.pack, self.round.wagers, self.round.keyed, table.round.ties)

    def check(self) -> None:
        """Compare the table with the books."""
        for meter in self.table.meters:
            self._check_meter(meter)
        self._check_claims()
        self._check_envy()
        totals = self.table.totals
        found = (totals.wagers, totals.wagered.ucents, totals.rounds)
        assert found == (self.wagers, self.wagered, self.rounds)
        assert (totals.odds_paid.ucents, totals.envy_paid.ucents) == (
            self.odds_paid,
            self.envy_paid,
        )
        self._check_shown()

    def _check_meter(self, meter: Meter) -> None:
        book, pot = self.books[meter.name], pot_of(meter)
        funded = book.funded
        if meter.name in self.round.unsure:
            self._check_chain(meter)
            funded = meter.funded.ucents
        elif self.round.proved:
            start = self.round.start[meter.name]
            policy = self.table.settings.simultaneous
            expected = oracle.prices(start, policy, self.turns(meter.name))
            assert pot.heaps == expected.after.heaps
            funded += expected.funded
            for seat, amount in expected.by_seat.items():
                assert self._claim(seat).amount.ucents == amount
        assert meter.funded.ucents == funded
        inside = sum(pot.heaps) + meter.held.ucents
        brought = book.initial + funded + book.contributed + book.adjusted
        assert inside == brought - book.paid - book.voided, "the money identity"
        assert min(*pot.heaps, meter.held.ucents) >= 0
        counted = (meter.contributed, meter.paid, meter.voided)
        assert [m.ucents for m in counted] == [book.contributed, book.paid, book.voided]
        assert meter.hits == book.hits
        assert meter.held.ucents == sum(
            claim.amount.ucents
            for claim in self.table.round.claims
            if claim.status is ClaimStatus.WAITING
            and (self.line(claim.seat) or ("",))[0] == meter.name
        )

    def _check_chain(self, meter: Meter) -> None:
        """Where the oracle does not follow, free prices still build on each other in turn."""
        if self.table.settings.simultaneous is not Simultaneous.IN_TURN:
            return
        fixed = self.round.fixed.get(meter.name, [])
        free = self.turns(meter.name)[len(fixed) :]
        holds = [h for h in self.table.round.holds if h.meter == meter.name][len(fixed) :]
        assert [(hold.shares[0].seat, hold.percent) for hold in holds] == free
        for hold in holds:
            assert hold.award.ucents == hold.before.ucents * hold.percent // 100 // CENT * CENT
        afters = [hold.after for hold in holds[-1:]]
        assert [h.after for h in holds[:-1]] == [h.before for h in holds[1:]]
        assert not afters or afters == [meter.current]

    def _claim(self, seat: int) -> Claim:
        claim = self.table.round.claim_of(seat)
        assert claim is not None, f"seat {seat} was keyed"
        return claim

    def _check_claims(self) -> None:
        claims, settings = self.table.round.claims, self.table.settings
        assert len({claim.seat for claim in claims}) == len(claims), "one win per seat"
        assert {claim.seat: claim.hand for claim in claims} == self.round.keyed
        for claim in claims:
            paid = claim.status is ClaimStatus.PAID
            assert paid == (claim.seat in self.round.paid)
            assert not paid or self.round.paid[claim.seat] == claim.amount.ucents
            wager = self.round.wagers.get(claim.seat)
            if claim.paid_from is PaidFrom.ENVY:
                assert wager is None
                assert not claim.amount
            elif claim.paid_from is PaidFrom.ODDS:
                amount = oracle.odds(self.table.pack, settings, claim.hand, wager or 0)
                assert claim.amount.ucents == amount
                bound = settings.validate_from
                waits = settings.validate_all or (bound is not None and claim.amount >= bound)
                assert paid or waits == (claim.status is ClaimStatus.WAITING)
            else:
                assert claim.late == (claim.seat in self.round.late)
                assert claim.status is not ClaimStatus.KEYED, "the floor sees every meter win"

    def _check_envy(self) -> None:
        expected = self.envy(self.table)
        every = {(e.seat, e.holder, e.hand): e.amount.ucents for e in self._envies()}
        assert every == expected
        unpaid = {(e.seat, e.holder, e.hand) for e in owed(self.table)}
        assert unpaid == set(expected) - self.round.envy_paid
        assert self.round.envy_paid <= set(expected), "what was handed over stays owed"

    def _envies(self) -> Iterator[Envy]:
        found = envies(self.table.pack, self.table.round)
        assert len(set(found)) == len(found)
        yield from found

    def _check_shown(self) -> None:
        shown = view_of(self.table, ()).meters
        for view, meter in zip(shown, self.table.meters, strict=True):
            assert view.shown.ucents == meter.current.ucents // CENT * CENT
            assert view.pending == bool(meter.held)
        lit = {s for s, lamp in lamps(self.table, ()).items() if lamp is Lamp.ACCEPTED}
        assert lit == set(self.round.wagers)
        for tie in self.table.round.ties:
            assert list(tie) == list(range(tie[0], tie[-1] + 1)), "one player's boxes adjoin"
