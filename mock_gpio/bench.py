"""One simulated table and the people at it: carries out the steps of a script, one by one.

Players, dealer and floor have hands and nothing else: they lay chips on sensors, press buttons
and keys, and turn the floor key. What a keypad cannot say (a reason in free words, a hand that is
no line of the pack) goes to the unit as a page would send it. The dealer lifts the accepted chips
once they are proved, struck or returned, as a dealer does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from controller.domain import commands as ask
from controller.domain.errors import BadInput, Fault, Refused
from controller.domain.machine import FITS
from controller.domain.money import Money
from controller.domain.table import (
    ClaimStatus,
    Person,
    Phase,
    Role,
    Table,
    Wager,
    pay_order,
)
from controller.hardware import END, LOCK, Line, sensor
from controller.panel import VoidNow
from controller.panel import keys as pressing
from controller.service import TableService
from mock_gpio.script import Adjustment, Step, parse
from mock_gpio.show import Json, table_json
from mock_gpio.table import FLOOR_NUMBER, FLOOR_PIN, SimulatedTable

DEALER: Final = Person("dealer", Role.DEALER)
FLOOR: Final = Person("floor", Role.FLOOR)
LINE_MS: Final = 100  # what one line takes on the simulated clock
SETTLE_MARGIN_MS: Final = 40  # after the settle time a lamp waits for noise to be over
LIFT_MS: Final = 70

Keys = tuple[str, ...]


@dataclass
class Answer:
    """What a line brought: nothing is said where all went as asked."""

    note: str = ""
    table: Json | None = None


class Bench:
    """Answers script lines for one table."""

    def __init__(self, table: SimulatedTable, bets: Iterable[tuple[int, Money]] = ()) -> None:
        self._sim = table
        self._unit = table.unit
        self._settings = table.file.settings
        self._bets = set(bets)  # the chips that lay there at LOCK and have not been lifted since
        self._notice = ""

    def answer(self, number: int, text: str) -> Json:
        """The JSON object for one line. A refused line changes nothing."""
        said: Json = {"line": number, "input": text, "ok": True, "phase": ""}
        try:
            step = parse(text)
            answer = self._do(step) if step else Answer()
        except BadInput as bad:
            said |= {"ok": False, "why": str(bad)}
        except (Refused, Fault) as refused:
            said |= {"ok": False, "why": str(refused)}
            self._notice = str(refused)
        else:
            said |= {"note": answer.note} if answer.note else {}
            said |= {"table": answer.table} if answer.table else {}
        said["phase"] = self.phase
        return said

    @property
    def phase(self) -> str:
        return self._unit.phase.value

    def open_for_script(self) -> None:
        """A script starts on an open table."""
        self.open(Step("open"))
        self._check()

    def _do(self, step: Step) -> Answer:
        self._sim.now_us += LINE_MS * 1000
        self._unit.notice = ""
        if self._unit.service is None and step.verb not in ("show", "wait"):
            raise Fault(self._unit.down)
        answer = _DO[step.verb](self, step)
        if step.verb != "show":
            self._check()
            self._notice = ""
        return answer

    def _check(self) -> None:
        """What the display says after the last key is the answer."""
        if self._unit.service is None:
            raise Fault(self._unit.down)
        if self._unit.notice:
            raise Refused(self._unit.notice)

    def world(self) -> str:
        """What a power cut leaves untouched: the chips where they lie, and the time."""
        chips = [[seat, amount.payable()] for seat, amount in self._lying()]
        bets = [[seat, amount.payable()] for seat, amount in sorted(self._bets)]
        return json.dumps({"chips": chips, "bets": bets, "now_us": self._sim.now_us})

    @property
    def _service(self) -> TableService:
        if self._unit.service is None:
            raise Fault(self._unit.down)
        return self._unit.service

    @property
    def _table(self) -> Table:
        return self._service.table

    # Hands on the pins.

    def _line(self, seat: int, amount: Money) -> Line:
        return sensor(seat, self._settings.wagers.index(amount))

    def _lying(self) -> list[tuple[int, Money]]:
        return [(line.seat, self._settings.wagers[line.spot]) for line in self._sim.lying()]

    def _sign_in(self) -> bool:
        self._sim.turn_key(on=True)
        self._sim.keys(pressing.sign_in_keys(FLOOR_NUMBER, FLOOR_PIN))
        return not self._unit.notice

    def _sign_out(self) -> None:
        notice = self._unit.notice
        self._sim.turn_key(on=False)
        self._unit.notice = self._unit.notice or notice

    def _send(self, command: ask.Command, keys: Callable[[Table], Keys | None]) -> None:
        """By the keypad where it can say it; what cannot be said or does not fit, as a page."""
        if self._table.phase not in FITS[type(command)]:
            self._unit.send(command)
            return
        floor = command.by.role is Role.FLOOR
        if floor and not self._sign_in():
            return
        pressed = keys(self._table)
        if pressed is None:
            self._unit.send(command)
        else:
            self._sim.keys(pressed)
        if floor:
            self._sign_out()

    # What a line of a script means.

    def _sensor(self, seat: int) -> None:
        seats = self._settings.seats
        if not 1 <= seat <= seats:
            raise Refused(f"There is no seat {seat}; this table has seats 1 to {seats}.")

    def chip(self, step: Step) -> Answer:
        seat, wagers = step.seats[0], self._settings.wagers
        amount = step.amount or wagers[0]
        self._sensor(seat)
        if amount not in wagers:
            allowed = ", ".join(wager.payable() for wager in wagers)
            raise Refused(f"There is no {amount.payable()} spot; this table takes {allowed}.")
        if (seat, amount) in self._lying():
            return Answer(note=f"a chip lies there already; seat {seat} stays as it is")
        late_chips = self._table.totals.late_chips
        self._sim.move(self._line(seat, amount), active=True)
        self._sim.pass_ms(self._sim.hardware.timing.settle_ms + SETTLE_MARGIN_MS)
        late = self._table.totals.late_chips > late_chips
        return Answer(note=self._chip_note(seat, amount, late=late))

    def _chip_note(self, seat: int, amount: Money, *, late: bool) -> str:
        if late:
            return "late chip: recorded, no wager"
        if self._table.phase is not Phase.OPEN:
            return f"the table is {self._table.phase.value}; no wager"
        if seat in self._table.must_clear:
            return "the sensor must be seen empty once before it can take a wager"
        if self._service.seen()[seat].amount != amount:
            return "the seat shows another chip already; one wager per seat and round"
        return ""

    def lift(self, step: Step) -> Answer:
        self._sensor(step.seats[0])
        chips = [chip for chip in self._lying() if chip[0] == step.seats[0]]
        self._lift(chips)
        return Answer(note="" if chips else "no chip lies there")

    def _lift(self, chips: list[tuple[int, Money]]) -> None:
        for seat, amount in chips:
            self._sim.move(self._line(seat, amount), active=False)
            self._bets.discard((seat, amount))
        if chips:
            self._sim.pass_ms(LIFT_MS)

    def _take_bets(self, wagers: Iterable[Wager]) -> None:
        """The dealer lifts the chips of these wagers; one that came after LOCK stays."""
        self._lift([bet for bet in sorted(self._bets) if bet[0] in {w.seat for w in wagers}])

    def lock(self, _step: Step) -> Answer:
        self._sim.press(LOCK)
        if not self._unit.notice:
            self._bets = set(self._lying())
        return Answer()

    def count(self, step: Step) -> Answer:
        chips, number = step.chips, step.number
        command = ask.KeyCount(DEALER, chips, number)
        self._send(
            command, lambda table: pressing.count_keys(table, chips if number is None else number)
        )
        self._collect()
        return Answer()

    def _collect(self) -> None:
        """The chips of a proved round go from the sensors to the rack."""
        if self._table.phase is Phase.IN_PLAY:
            self._take_bets(self._table.round.wagers)

    def strike(self, step: Step) -> Answer:
        seat = step.seats[0]
        command = ask.StrikeWager(FLOOR, seat, "struck by the floor")
        self._send(command, lambda table: pressing.strike_keys(table, seat))
        self._take_bets(self._table.to_return)
        self._collect()
        return Answer()

    def add(self, step: Step) -> Answer:
        seat, amount = step.seats[0], step.amount or self._settings.wagers[0]
        command = ask.AddWager(FLOOR, seat, amount, "added by the floor")
        self._send(command, lambda table: pressing.add_keys(table, seat, amount))
        self._collect()
        return Answer()

    def reopen(self, _step: Step) -> Answer:
        self._send(ask.ReopenBets(FLOOR, "betting reopened by the floor"), pressing.reopen_keys)
        return Answer()

    def tie(self, step: Step) -> Answer:
        seats = step.seats
        self._send(ask.TieSeats(DEALER, seats), lambda table: pressing.tie_keys(table, seats))
        return Answer()

    def win(self, step: Step) -> Answer:
        if step.hand is None:
            raise BadInput("A hand is missing.")
        seat, hand = step.seats[0], step.hand
        command = ask.KeyWin(DEALER, seat, hand)
        self._send(command, lambda table: pressing.win_keys(table, seat, hand))
        claim = self._table.round.claim_of(seat)
        late = claim is not None and claim.late
        return Answer(note="keyed after its turn: priced last" if late else "")

    def validate(self, step: Step) -> Answer:
        seat = step.seats[0] if step.seats else None
        out_of_turn = seat is not None and seat != self._next_waiting()
        command = ask.ValidateWin(FLOOR, seat)
        self._send(command, lambda table: pressing.validate_keys(table, seat))
        return Answer(note="validated out of pay order" if out_of_turn else "")

    def _next_waiting(self) -> int | None:
        round_ = self._table.round
        waiting = [c.seat for c in round_.claims if c.status is ClaimStatus.WAITING]
        turns = pay_order(self._settings.seats)
        return next((seat for seat in turns if seat in waiting), None)

    def reject(self, step: Step) -> Answer:
        seat = step.seats[0] if step.seats else None
        command = ask.RejectWin(FLOOR, "rejected by the floor", seat)
        self._send(command, lambda table: pressing.reject_keys(table, seat))
        return Answer()

    def envy(self, _step: Step) -> Answer:
        self._send(ask.AcknowledgeEnvy(DEALER), pressing.envy_keys)
        return Answer()

    def void(self, step: Step) -> Answer:
        wagers = self._table.round.wagers
        if self._sign_in():
            self._unit.send(VoidNow(FLOOR, step.text))
            self._sign_out()
        if not self._unit.notice:
            self._take_bets(wagers)
        return Answer()

    def end(self, _step: Step) -> Answer:
        self._sim.press(END)
        return Answer()

    def open(self, _step: Step) -> Answer:
        self._send(ask.OpenTable(FLOOR), pressing.open_keys)
        return Answer()

    def close(self, _step: Step) -> Answer:
        self._send(ask.CloseTable(FLOOR), pressing.close_keys)
        return Answer()

    def adjust(self, step: Step) -> Answer:
        if step.adjustment is None:
            raise BadInput("The adjustment is missing.")
        self._unit.send(_adjust_command(step.adjustment))
        return Answer()

    def wait(self, step: Step) -> Answer:
        self._sim.pass_ms(step.wait_ms)
        return Answer()

    def show(self, _step: Step) -> Answer:
        return Answer(table=table_json(self._unit, self._notice))


def _adjust_command(entry: Adjustment) -> ask.AdjustMeter:
    return ask.AdjustMeter(
        by=Person(entry.by, Role.FLOOR),
        approved_by=Person(entry.approved_by, Role.FLOOR),
        meter=entry.meter,
        account=entry.account,
        raises=entry.raises,
        amount=entry.amount,
        reason=entry.reason,
        reference=entry.reference,
    )


_DO: Final[Mapping[str, Callable[[Bench, Step], Answer]]] = {
    "open": Bench.open,
    "close": Bench.close,
    "chip": Bench.chip,
    "lift": Bench.lift,
    "lock": Bench.lock,
    "count": Bench.count,
    "strike": Bench.strike,
    "add": Bench.add,
    "reopen": Bench.reopen,
    "tie": Bench.tie,
    "win": Bench.win,
    "validate": Bench.validate,
    "reject": Bench.reject,
    "envy": Bench.envy,
    "void": Bench.void,
    "end": Bench.end,
    "adjust": Bench.adjust,
    "wait": Bench.wait,
    "show": Bench.show,
}
