"""One simulated table and the people at it: carries out the steps of a script, one by one.

Dealer, floor and players act through the service exactly as keys and sensors would. The dealer
lifts the accepted chips once they are proved, struck or returned, as a dealer does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain.errors import BadInput, Fault, Refused
from controller.domain.money import Money
from controller.domain.table import ClaimStatus, Person, Phase, Role, Wager, pay_order
from controller.service import TableService
from mock_gpio.board import SETTLE_MS, FakeBoard
from mock_gpio.script import Adjustment, Step, parse
from mock_gpio.show import Json, table_json

DEALER: Final = Person("dealer", Role.DEALER)
FLOOR: Final = Person("floor", Role.FLOOR)
LINE_MS: Final = 100  # what one line takes on the simulated clock


@dataclass
class Answer:
    """What a line brought: nothing is said where all went as asked."""

    note: str = ""
    table: Json | None = None


class Bench:
    """Answers script lines for one table."""

    def __init__(
        self, service: TableService, board: FakeBoard, bets: Iterable[tuple[int, Money]] = ()
    ) -> None:
        self._service, self._board = service, board
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
        return self._service.phase.value

    def open_for_script(self) -> None:
        """A script starts on an open table."""
        self._service.open(FLOOR)

    def _do(self, step: Step) -> Answer:
        self._board.now_ms += step.wait_ms or LINE_MS
        answer = _DO[step.verb](self, step)
        if step.verb != "show":
            self._notice = ""
        return answer

    def world(self) -> str:
        """What a power cut leaves untouched: the chips where they lie, and the time."""
        chips = [[seat, amount.payable()] for seat, amount in self._board.lying()]
        bets = [[seat, amount.payable()] for seat, amount in sorted(self._bets)]
        return json.dumps({"chips": chips, "bets": bets, "now_ms": self._board.now_ms})

    def _sensor(self, seat: int) -> None:
        seats = self._service.settings.seats
        if not 1 <= seat <= seats:
            raise Refused(f"There is no seat {seat}; this table has seats 1 to {seats}.")

    def chip(self, step: Step) -> Answer:
        seat, wagers = step.seats[0], self._service.settings.wagers
        amount = step.amount or wagers[0]
        self._sensor(seat)
        if amount not in wagers:
            allowed = ", ".join(wager.payable() for wager in wagers)
            raise Refused(f"There is no {amount.payable()} spot; this table takes {allowed}.")
        if not self._board.sense(seat, amount, covered=True):
            return Answer(note=f"a chip lies there already; seat {seat} stays as it is")
        event = self._service.sensor_changed(seat, covered=True)
        self._board.now_ms += SETTLE_MS
        self._service.tick()
        return Answer(note=self._chip_note(seat, amount, event))

    def _chip_note(self, seat: int, amount: Money, event: did.Event | None) -> str:
        if isinstance(event, did.LateChipNoted):
            return "late chip: recorded, no wager"
        if self._service.table.phase is not Phase.OPEN:
            return f"the table is {self._service.table.phase.value}; no wager"
        if seat in self._service.table.must_clear:
            return "the sensor must be seen empty once before it can take a wager"
        if self._service.seen()[seat].amount != amount:
            return "the seat shows another chip already; one wager per seat and round"
        return ""

    def lift(self, step: Step) -> Answer:
        self._sensor(step.seats[0])
        chips = [chip for chip in self._board.lying() if chip[0] == step.seats[0]]
        self._lift(chips)
        return Answer(note="" if chips else "no chip lies there")

    def _lift(self, chips: list[tuple[int, Money]]) -> None:
        for seat, amount in chips:
            self._board.sense(seat, amount, covered=False)
            self._bets.discard((seat, amount))
        for seat in sorted({seat for seat, _ in chips}):
            self._service.sensor_changed(seat, covered=False)

    def _take_bets(self, wagers: Iterable[Wager]) -> None:
        """The dealer lifts the chips of these wagers; one that came after LOCK stays."""
        self._lift([bet for bet in sorted(self._bets) if bet[0] in {w.seat for w in wagers}])

    def lock(self, _step: Step) -> Answer:
        self._service.lock(DEALER)
        self._bets = set(self._board.lying())
        return Answer()

    def count(self, step: Step) -> Answer:
        self._service.ask(ask.KeyCount(DEALER, step.chips, step.number))
        self._collect()
        return Answer()

    def _collect(self) -> None:
        """The chips of a proved round go from the sensors to the rack."""
        if self._service.table.phase is Phase.IN_PLAY:
            self._take_bets(self._service.table.round.wagers)

    def strike(self, step: Step) -> Answer:
        self._service.ask(ask.StrikeWager(FLOOR, step.seats[0], "struck by the floor"))
        self._take_bets(self._service.table.to_return)
        self._collect()
        return Answer()

    def add(self, step: Step) -> Answer:
        amount = step.amount or self._service.settings.wagers[0]
        self._service.ask(ask.AddWager(FLOOR, step.seats[0], amount, "added by the floor"))
        self._collect()
        return Answer()

    def reopen(self, _step: Step) -> Answer:
        self._service.ask(ask.ReopenBets(FLOOR, "betting reopened by the floor"))
        return Answer()

    def tie(self, step: Step) -> Answer:
        self._service.ask(ask.TieSeats(DEALER, step.seats))
        return Answer()

    def win(self, step: Step) -> Answer:
        if step.hand is None:
            raise BadInput("A hand is missing.")
        self._service.ask(ask.KeyWin(DEALER, step.seats[0], step.hand))
        claim = self._service.table.round.claim_of(step.seats[0])
        late = claim is not None and claim.late
        return Answer(note="keyed after its turn: priced last" if late else "")

    def validate(self, step: Step) -> Answer:
        out_of_turn = bool(step.seats) and step.seats[0] != self._next_waiting()
        self._service.ask(ask.ValidateWin(FLOOR, step.seats[0] if step.seats else None))
        return Answer(note="validated out of pay order" if out_of_turn else "")

    def _next_waiting(self) -> int | None:
        round_ = self._service.table.round
        waiting = [c.seat for c in round_.claims if c.status is ClaimStatus.WAITING]
        turns = pay_order(self._service.settings.seats)
        return next((seat for seat in turns if seat in waiting), None)

    def reject(self, step: Step) -> Answer:
        seat = step.seats[0] if step.seats else None
        self._service.ask(ask.RejectWin(FLOOR, "rejected by the floor", seat))
        return Answer()

    def envy(self, _step: Step) -> Answer:
        self._service.ask(ask.AcknowledgeEnvy(DEALER))
        return Answer()

    def void(self, step: Step) -> Answer:
        wagers = self._service.table.round.wagers
        self._service.void(FLOOR, step.text)
        self._take_bets(wagers)
        return Answer()

    def end(self, _step: Step) -> Answer:
        self._service.end(DEALER)
        return Answer()

    def open(self, _step: Step) -> Answer:
        self._service.open(FLOOR)
        return Answer()

    def close(self, _step: Step) -> Answer:
        self._service.ask(ask.CloseTable(FLOOR))
        return Answer()

    def adjust(self, step: Step) -> Answer:
        entry = step.adjustment
        if entry is None:
            raise BadInput("The adjustment is missing.")
        self._service.ask(_adjust_command(entry))
        return Answer()

    def wait(self, _step: Step) -> Answer:
        self._service.tick()
        return Answer()

    def show(self, _step: Step) -> Answer:
        return Answer(table=table_json(self._service, self._notice))


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
