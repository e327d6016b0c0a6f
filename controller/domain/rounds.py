"""The answers to each command in a round. Each function proposes one event or raises Refused.

Which command fits which phase is decided before, in `machine`. Nothing here changes state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.envy import envies, owed, payable, qualifies
from controller.domain.errors import Refused, check
from controller.domain.meter import Posting, contribute, post, uncontribute
from controller.domain.money import ZERO, Money
from controller.domain.pack import Hand, MeterPay, OddsPay
from controller.domain.table import (
    ChipCount,
    Claim,
    ClaimStatus,
    PaidFrom,
    Phase,
    Priced,
    Round,
    Table,
    Wager,
    WagerChange,
    WinRecord,
    pay_order,
    with_change,
)
from controller.domain.wins import hold_of, meter_claim, odds_claim, price, settle_claim


def open_table(table: Table, command: ask.OpenTable) -> did.TableOpened:
    return did.TableOpened(command.by, table.round.number, command.covered, table.pack.fingerprint)


def close_table(_table: Table, command: ask.CloseTable) -> did.TableClosed:
    return did.TableClosed(command.by)


def lock_bets(table: Table, command: ask.LockBets) -> did.BetsLocked:
    """One snapshot of all seats. A sensor not seen empty since the last END cannot wager."""
    if table.door_open:
        raise Refused("The cabinet door is open; close it before betting is locked.")
    chips = [chip for chip in command.chips if chip.seat not in table.must_clear]
    check(len({chip.seat for chip in chips}) == len(chips), "one wager per seat and round")
    for chip in chips:
        _check_seat(table, chip.seat)
        _check_wager(table, chip.amount)
    wagers = tuple(sorted(chips, key=lambda chip: chip.seat))
    return did.BetsLocked(command.by, table.round.number, wagers, command.edges)


def key_count(table: Table, command: ask.KeyCount) -> did.RoundProved | did.CountMismatched:
    """Prove the chips collected against the wagers accepted (MD 8.C(3))."""
    count = _count(table, command)
    if not _agrees(count, table.round.wagers):
        return did.CountMismatched(command.by, count)
    return did.RoundProved(command.by, count, contributions(table, table.round.wagers))


def _count(table: Table, command: ask.KeyCount) -> tuple[ChipCount, ...]:
    if command.number is None:
        chips = command.chips
    else:
        amounts = {wager.amount for wager in table.round.wagers} or {table.settings.wagers[0]}
        if len(amounts) > 1:
            raise Refused("Chips of several amounts were accepted; key how many of each.")
        chips = (ChipCount(amounts.pop(), command.number),)
    for chip in chips:
        _check_wager(table, chip.amount)
        if chip.number < 0:
            raise Refused(f"{chip.number} chips cannot be counted.")
    if len({chip.amount for chip in chips}) < len(chips):
        raise Refused("The count names one amount twice; key each amount once.")
    return tuple(sorted((c for c in chips if c.number), key=lambda chip: chip.amount))


def _agrees(count: Iterable[ChipCount], wagers: Iterable[Wager]) -> bool:
    return {chip.amount: chip.number for chip in count} == Counter(w.amount for w in wagers)


def contributions(table: Table, wagers: Sequence[Wager]) -> tuple[Posting, ...]:
    """What the proved wagers add to every meter."""
    wagered = Money(sum(wager.amount.ucents for wager in wagers))
    return tuple(posting for meter in table.meters for posting in contribute(meter, wagered))


def strike_wager(table: Table, command: ask.StrikeWager) -> did.WagerChanged | did.MiscountResolved:
    wager = table.round.wager_of(command.seat)
    if wager is None:
        raise Refused(f"Seat {command.seat} has no accepted wager to strike.")
    change = WagerChange(
        wager.seat, wager.amount, struck=True, by=command.by.name, reason=_reason(command.reason)
    )
    return _changed(table, change)


def add_wager(table: Table, command: ask.AddWager) -> did.WagerChanged | did.MiscountResolved:
    """Only by setting: the player was responsible for checking his lamp (MD 7.F(3)(b))."""
    if not table.settings.floor_may_add:
        raise Refused("This table does not let the floor add a wager the system never accepted.")
    _check_seat(table, command.seat)
    _check_wager(table, command.amount)
    if table.round.wager_of(command.seat) is not None:
        raise Refused(f"Seat {command.seat} already has an accepted wager.")
    change = WagerChange(
        command.seat,
        command.amount,
        struck=False,
        by=command.by.name,
        reason=_reason(command.reason),
    )
    return _changed(table, change)


def _changed(table: Table, change: WagerChange) -> did.WagerChanged | did.MiscountResolved:
    wagers = with_change(table.round.wagers, change)
    if table.phase is Phase.MISCOUNT and _agrees(table.round.counts[-1], wagers):
        return did.MiscountResolved(change, contributions(table, wagers))
    return did.WagerChanged(change)


def reopen_bets(table: Table, command: ask.ReopenBets) -> did.BetsReopened:
    return did.BetsReopened(command.by, _reason(command.reason), table.round.wagers)


def tie_seats(table: Table, command: ask.TieSeats) -> did.SeatsTied:
    """Adjacent boxes of one player give each other no envy (MD 7.G)."""
    seats = set(command.seats)
    if not seats:
        raise Refused("Name the seats that are one player's.")
    for seat in command.seats:
        _check_seat(table, seat)
    touched = [tie for tie in table.round.ties if seats & set(tie)]
    if len(seats) == 1:
        joined: set[int] = set()
        alone = min(seats)  # what it leaves on either side of it no longer adjoins
        sides = [([s for s in tie if s < alone], [s for s in tie if s > alone]) for tie in touched]
        loose = [tuple(side) for both in sides for side in both]
    else:
        joined = seats.union(*touched)
        loose = []
        _check_adjacent(table, joined)
    kept = [tie for tie in table.round.ties if tie not in touched]
    ties = tuple(sorted(t for t in (*kept, *loose, tuple(sorted(joined))) if len(t) > 1))
    _keep_paid_envy(table, replace(table.round, ties=ties))
    return did.SeatsTied(command.by, tuple(sorted(seats)), ties)


def _check_adjacent(table: Table, seats: set[int]) -> None:
    boxes = table.settings.adjacent_boxes
    if len(seats) > boxes:
        raise Refused(f"One player may hold at most {boxes} adjacent box(es) at this table.")
    if max(seats) - min(seats) >= len(seats):
        raise Refused("Only adjacent boxes can be one player's.")


def key_win(table: Table, command: ask.KeyWin) -> did.WinKeyed | did.WinTakenOff:
    """Key a hand for a seat; the same again takes it off (SD (18)(a)iii)."""
    _check_seat(table, command.seat)
    before = table.round.claim_of(command.seat)
    others = tuple(claim for claim in table.round.claims if claim is not before)
    if before is not None:
        _check_free(before)
        if before.hand == command.hand:
            priced = _reprice(table, others)
            return did.WinTakenOff(command.by, command.seat, command.hand, priced)
        if table.pack.rank_of(before.hand) < table.pack.rank_of(command.hand):
            raise Refused(f"Seat {command.seat} has a higher hand keyed; only the highest pays.")
    replaced = before.hand if before else None
    priced = _reprice(table, (*others, _claim(table, command)))
    return did.WinKeyed(command.by, command.seat, command.hand, replaced, priced, command.shown)


def _reprice(table: Table, claims: tuple[Claim, ...]) -> Priced:
    _keep_paid_envy(table, replace(table.round, claims=claims))
    return price(table, claims)


def _claim(table: Table, command: ask.KeyWin) -> Claim:
    seat, hand, by = command.seat, command.hand, command.by.name
    pay, wager = table.pack.pay_for(hand), table.round.wager_of(seat)
    if wager is None:
        _check_envy_only(table, command)
        return Claim(seat, hand, PaidFrom.ENVY, ZERO, ClaimStatus.KEYED, by)
    if isinstance(pay, MeterPay):
        return meter_claim(table, seat=seat, pay=pay, keyed_by=by)
    if isinstance(pay, OddsPay):
        return odds_claim(table, seat=seat, pay=pay, wager=wager, keyed_by=by)
    raise Refused(f"{_say(hand)} is not a winning line of {table.pack.id}.")


def _check_envy_only(table: Table, command: ask.KeyWin) -> None:
    """A hand without a wager wins nothing; it may still owe the others envy."""
    pack = table.pack
    known = pack.pay_for(command.hand) is not None or command.hand in {e.hand for e in pack.envy}
    if not known or not qualifies(pack, command.hand):
        raise Refused(f"Seat {command.seat} has no accepted wager this round.")
    if table.settings.envy_holder_must_wager:
        raise Refused(
            f"Seat {command.seat} has no accepted wager; here a hand without one owes no envy."
        )


def validate_win(table: Table, command: ask.ValidateWin) -> did.WinValidated:
    claim = _waiting(table, command.seat)
    priced = settle_claim(table.round, claim, command.by.name)
    win = win_record(table, replace(claim, validated_by=command.by.name))
    return did.WinValidated(command.by, win, priced, command.checked)


def win_record(table: Table, claim: Claim) -> WinRecord:
    wager, hold = table.round.wager_of(claim.seat), hold_of(table.round, claim)
    return WinRecord(
        table=table.settings.table_id,
        seat=claim.seat,
        hand=claim.hand,
        wager=wager.amount if wager else ZERO,
        meter=hold.meter if hold else "",
        meter_before=hold.before if hold else ZERO,
        meter_after=hold.after if hold else ZERO,
        overflow=table.meter(hold.meter).parameters.overflow.value if hold else "",
        amount=claim.amount,
        keyed_by=claim.keyed_by,
        validated_by=claim.validated_by,
        round=table.round.number,
    )


def reject_win(table: Table, command: ask.RejectWin) -> did.WinRejected:
    claim = _waiting(table, command.seat)
    priced = price(table, tuple(other for other in table.round.claims if other is not claim))
    return did.WinRejected(command.by, claim.seat, claim.hand, _reason(command.reason), priced)


def _waiting(table: Table, seat: int | None) -> Claim:
    """The claim the floor means: that seat's, or the next in pay order."""
    seats = pay_order(table.settings.seats) if seat is None else (seat,)
    for turn in seats:
        claim = table.round.claim_of(turn)
        if claim is not None and claim.status is ClaimStatus.WAITING:
            return claim
    where = "No win" if seat is None else f"No win of seat {seat}"
    raise Refused(f"{where} waits for the floor.")


def acknowledge_envy(table: Table, command: ask.AcknowledgeEnvy) -> did.EnvyAcknowledged:
    paid = owed(table)
    if not paid:
        raise Refused("No envy is owed.")
    early = set(paid) - set(payable(table))
    if early:
        holder = max(envy.holder for envy in early)
        raise Refused(f"Seat {holder} waits for the floor; its envy is paid after that.")
    return did.EnvyAcknowledged(command.by, paid)


def void_round(table: Table, command: ask.VoidRound) -> did.RoundVoided:
    """Every wager goes back and the round's contributions with it (MD 8.G, 13; SD (5))."""
    if any(claim.status is ClaimStatus.PAID for claim in table.round.claims):
        raise Refused("A win of this round has been validated; the round can no longer be void.")
    if table.round.envy_paid:
        raise Refused("Envy of this round has been paid; the round can no longer be void.")
    reason = _reason(command.reason)
    postings = list(price(table, ()).postings)
    for meter in table.meters:
        emptied = post(meter, postings)
        policy = table.settings.void_contributions
        postings += uncontribute(emptied, table.round.contributions, policy)
    return did.RoundVoided(
        command.by,
        table.round.number,
        reason,
        table.round.wagers,
        command.covered,
        tuple(postings),
    )


def end_round(table: Table, command: ask.EndRound) -> did.RoundEnded:
    round_ = table.round
    if table.phase is Phase.LOCKED and round_.wagers:
        raise Refused("The chips are not counted yet; key the count first.")
    waiting = [claim for claim in round_.claims if claim.status is ClaimStatus.WAITING]
    if waiting:
        raise Refused(f"Seat {waiting[0].seat} waits for the floor; call the floor.")
    if owed(table):
        raise Refused("Envy is owed; pay it and acknowledge it before END.")
    wins = (c for c in round_.claims if c.paid_from is not PaidFrom.ENVY)
    return did.RoundEnded(
        by=command.by,
        round=round_.number,
        fingerprint=table.pack.fingerprint,
        wagers=round_.wagers,
        counts=(*round_.past_counts, *round_.counts),
        changes=round_.changes,
        wins=tuple(win_record(table, c) for c in sorted(wins, key=lambda c: -c.seat)),
        envy=round_.envy_paid,
        readings=tuple(
            did.MeterReading(m.name, m.current, m.reserve, m.overflow) for m in table.meters
        ),
        must_clear=command.covered,
        reminded=round_.reminded,
        elapsed_ms=command.elapsed_ms,
    )


def _keep_paid_envy(table: Table, round_: Round) -> None:
    """What the dealer has handed over cannot be taken off by a key."""
    if not set(round_.envy_paid) <= set(envies(table.pack, round_)):
        raise Refused("Envy for this has been paid already; call the floor.")


def _check_free(claim: Claim) -> None:
    if claim.status is ClaimStatus.PAID:
        raise Refused(f"Seat {claim.seat} has been validated; its win stands.")


def _check_seat(table: Table, seat: int) -> None:
    if not 1 <= seat <= table.settings.seats:
        raise Refused(f"There is no seat {seat}; this table has seats 1 to {table.settings.seats}.")


def _check_wager(table: Table, amount: Money) -> None:
    if amount not in table.settings.wagers:
        allowed = ", ".join(wager.payable() for wager in table.settings.wagers)
        raise Refused(f"{amount.payable()} is not a wager of this table; it takes {allowed}.")


def _reason(reason: str) -> str:
    if not reason.strip():
        raise Refused("A reason is needed.")
    return reason.strip()


def _say(hand: Hand) -> str:
    return hand.value.replace("_", " ").capitalize()
