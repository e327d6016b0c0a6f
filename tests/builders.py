"""Tables in one line, and verbs to drive them: what the unit tests say an evening with.

`Evening` is the pure core alone: it decides and applies. `Rig` is the whole table on simulated
pins and simulated time, with a ledger in memory. Nothing here waits or opens a socket; packs
are the ones that come with the program, each read once.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from controller.adapters.pack_files import load_pack
from controller.config import TableFile, table_from_document
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.errors import Fault
from controller.domain.meter import Account, Meter, commission
from controller.domain.money import ZERO, Money, parse_money
from controller.domain.pack import (
    Hand,
    HandBasis,
    MeterParameters,
    MeterRule,
    OddsPay,
    Overflow,
    Pack,
    Style,
)
from controller.domain.table import ChipCount, Claim, Person, Phase, Role, Round, Table, Wager
from controller.domain.view import Lamp
from controller.hardware import Line, sensor
from controller.hardware import lamp as lamp_line
from mock_gpio.bench import LIFT_MS, Bench
from mock_gpio.table import SimulatedTable
from tests.fakes import FakeLedger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.chain import Row
    from controller.packfile import PackFile

DEALER: Final = Person("Dana", Role.DEALER)
FLOOR: Final = Person("Flora", Role.FLOOR)
SECOND_FLOOR: Final = Person("Oscar", Role.FLOOR)
TECHNICIAN: Final = Person("Tess", Role.TECHNICIAN)
AUDITOR: Final = Person("Ada", Role.AUDITOR)
UNIT: Final = Person("unit", Role.SYSTEM)

ONE: Final = parse_money("1.00")
FIVE: Final = parse_money("5.00")
ROYAL: Final = Hand.ROYAL_FLUSH
STRAIGHT_FLUSH: Final = Hand.STRAIGHT_FLUSH
QUADS: Final = Hand.FOUR_OF_A_KIND

SIX: Final = (1, 2, 3, 4, 5, 6)
POLICIES: Final = ("in-turn", "split", "full")

NOW_US: Final = (20 * 3600 + 15 * 60) * 1_000_000  # 20:15 on the simulated clock
SETTLE_MS: Final = 150
SETTLED_MS: Final = SETTLE_MS + 40  # a lamp waits a little longer for noise to be over


def usd(text: str) -> Money:
    return parse_money(text)


@cache
def _pack_file(name: str) -> PackFile:
    return load_pack(name)


def pack(name: str = "md-uth-a") -> Pack:
    return _pack_file(name).pack


def table_file(
    pack_id: str = "md-uth-a",
    *,
    meters: Mapping[str, object] | None = None,
    approval: Mapping[str, str] | None = None,
    fees: list[str] | None = None,
    table_id: str = "T01",
    seats: int | None = None,
    **rules: object,
) -> TableFile:
    """A table file by its keys; what is not named has the pack's default."""
    document: dict[str, object] = {
        "table": {"id": table_id} | ({"seats": seats} if seats else {}),
        "rules": {"pack": pack_id, **rules},
        "meters": meters or {},
        "approval": approval or {},
    }
    if fees:
        document["collection"] = {"fees": fees}
    return table_from_document(document, where="table.toml", find_pack=_pack_file)


def parameters(**changed: Any) -> MeterParameters:
    """A meter of $10,000 seed that takes 20 % and hides 5 %."""
    plain: dict[str, Any] = {
        "name": "meter",
        "seed": usd("10000.00"),
        "initial": usd("10000.00"),
        "initial_reserve": usd("0.00"),
        "rate_ppm": 200_000,
        "reserve_rate_ppm": 50_000,
        "limit": None,
        "overflow": Overflow.RESERVE,
        "max_contribution": None,
        "link": None,
    }
    return MeterParameters(**plain | changed)


def commissioned(file: TableFile) -> did.Commissioned:
    postings = (posting for meter in file.settings.meters for posting in commission(meter))
    return did.Commissioned(file.pack, file.settings, tuple(postings))


class Evening:
    """One table of the pure core, open for bets, and the people at it."""

    def __init__(self, pack_id: str = "md-uth-a", *, opened: bool = True, **keys: Any) -> None:
        self.file = table_file(pack_id, **keys)
        first = commissioned(self.file)
        self.events: list[did.Event] = [first]
        self.table: Table = machine.commission(first)
        if opened:
            self.open()

    def do(self, command: ask.Command) -> did.Event:
        event = machine.decide(self.table, command)
        self.table = machine.apply(self.table, event)
        self.events.append(event)
        return event

    @property
    def phase(self) -> Phase:
        return self.table.phase

    def is_in(self, phase: Phase) -> bool:
        return self.table.phase is phase

    @property
    def round(self) -> Round:
        return self.table.round

    @property
    def meter(self) -> Meter:
        return self.table.meters[0]

    def claim(self, seat: int) -> Claim:
        found = self.round.claim_of(seat)
        if found is None:
            raise LookupError(f"seat {seat} has no hand keyed")
        return found

    def amounts(self) -> dict[int, str]:
        """What each keyed seat is to be paid."""
        return {claim.seat: claim.amount.payable() for claim in self.round.claims}

    def open(self, *covered: int) -> did.Event:
        return self.do(ask.OpenTable(FLOOR, covered))

    def close(self) -> did.Event:
        return self.do(ask.CloseTable(FLOOR))

    def lock(self, *seats: int, wager: Money = ONE, **amounts: Money) -> did.Event:
        """`lock(1, 2)` at one wager for all, `lock(seat4=FIVE)` for a seat of its own."""
        chips = [Wager(seat, wager) for seat in seats]
        chips += [Wager(int(name.removeprefix("seat")), each) for name, each in amounts.items()]
        return self.do(ask.LockBets(DEALER, tuple(chips)))

    def count(self, number: int | None = None, **chips: int) -> did.Event:
        """`count(3)`, or `count(ones=2, fives=1)`."""
        amounts = {"ones": ONE, "fives": FIVE}
        counted = tuple(ChipCount(amounts[name], many) for name, many in chips.items())
        return self.do(ask.KeyCount(DEALER, counted, number))

    def prove(self, *seats: int, wager: Money = ONE, **amounts: Money) -> None:
        """LOCK and a count that agrees: the round is in play."""
        self.lock(*seats, wager=wager, **amounts)
        wagers = self.round.wagers
        chips = {each.amount: 0 for each in wagers}
        for each in wagers:
            chips[each.amount] += 1
        counted = tuple(ChipCount(amount, many) for amount, many in chips.items())
        self.do(ask.KeyCount(DEALER, counted))

    def strike(self, seat: int, reason: str = "no ante") -> did.Event:
        return self.do(ask.StrikeWager(FLOOR, seat, reason))

    def add(self, seat: int, amount: Money = ONE, reason: str = "lamp failed") -> did.Event:
        return self.do(ask.AddWager(FLOOR, seat, amount, reason))

    def reopen(self, reason: str = "chips fell over") -> did.Event:
        return self.do(ask.ReopenBets(FLOOR, reason))

    def tie(self, *seats: int) -> did.Event:
        return self.do(ask.TieSeats(DEALER, seats))

    def win(self, seat: int, hand: Hand = ROYAL) -> did.Event:
        return self.do(ask.KeyWin(DEALER, seat, hand))

    def validate(self, seat: int | None = None) -> did.Event:
        return self.do(ask.ValidateWin(FLOOR, seat))

    def reject(self, seat: int | None = None, reason: str = "misread") -> did.Event:
        return self.do(ask.RejectWin(FLOOR, reason, seat))

    def envy(self) -> did.Event:
        return self.do(ask.AcknowledgeEnvy(DEALER))

    def void(self, reason: str = "misdeal", *covered: int) -> did.Event:
        return self.do(ask.VoidRound(FLOOR, reason, covered))

    def end(self, *covered: int) -> did.Event:
        return self.do(ask.EndRound(DEALER, covered))

    def adjust(
        self, amount: str, *, raises: bool = True, account: Account = Account.CURRENT, **other: Any
    ) -> did.Event:
        return self.do(adjustment(amount, raises=raises, account=account, **other))

    def change(self, file: TableFile, *, by: Person = TECHNICIAN, reference: str = "") -> did.Event:
        return self.do(ask.ChangeSettings(by, reference, file.pack, file.settings))

    def fault(self, what: str = "sensor 3 is silent") -> did.Event:
        return self.do(ask.RaiseFault(UNIT, what))


def still_meter(*seats: int, policy: str = "in-turn", initial: str = "12000.00") -> Evening:
    """A proved round on a meter that wagers do not move, so that sums are easy to see."""
    meters = {"meter": {"initial": initial, "rate": "0", "reserve_rate": "0"}}
    evening = Evening(meters=meters, simultaneous=policy, wagers=["1.00", "5.00"])
    evening.prove(*seats)
    return evening


def adjustment(
    amount: str, *, raises: bool = True, account: Account = Account.CURRENT, **other: Any
) -> ask.AdjustMeter:
    plain: dict[str, Any] = {
        "by": FLOOR,
        "approved_by": SECOND_FLOOR,
        "meter": "meter",
        "reason": "display was wrong",
        "reference": "GC-7",
    }
    return ask.AdjustMeter(raises=raises, account=account, amount=usd(amount), **plain | other)


class WatchedLedger(FakeLedger):
    """Writes down each row once it is stored, and each look back at the last one."""

    def __init__(self, diary: list[str], stored: Iterable[Row] = ()) -> None:
        super().__init__(stored)
        self.diary = diary

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row:
        row = super().append(boot=boot, time=time, kind=kind, version=version, payload=payload)
        self.diary.append(f"row: {kind}")
        return row

    def check_head(self) -> None:
        self.diary.append("head read back")
        super().check_head()


class Rig:
    """The real table on simulated pins and a ledger in memory."""

    def __init__(
        self,
        file: TableFile | None = None,
        *,
        stored: Iterable[Row] = (),
        lying: Iterable[Line] = (),
        opened: bool = True,
    ) -> None:
        self.diary: list[str] = []
        self.file = file or table_file()
        self.ledger = WatchedLedger(self.diary, stored)
        self.sim = SimulatedTable(self.file, lambda: self.ledger, now_us=NOW_US, lying=lying)
        self.sim.pass_ms(SETTLED_MS)
        if self.sim.unit.service is None:
            raise Fault(self.sim.unit.down)
        self.service = self.sim.unit.service
        self.desk = self.sim.loop.desk
        self._watch_lamps()
        self.bench = Bench(self.sim)
        if opened and self.table.phase is Phase.CLOSED:
            self.service.open(FLOOR)

    def _watch_lamps(self) -> None:
        """Write down each change of the accepted lamps, beside whatever else is written down."""
        light = self.desk.light

        def watched(lamps: Mapping[int, Lamp]) -> None:
            before = self.lamps
            light(lamps)
            lit = [str(seat) for seat, lamp in lamps.items() if lamp is Lamp.ACCEPTED]
            if lamps != before:
                self.diary.append(f"accepted lamps: {' '.join(lit) or 'none'}")

        self.desk.light = watched  # type: ignore[method-assign]

    @property
    def table(self) -> Table:
        return self.service.table

    @property
    def lamps(self) -> dict[int, Lamp]:
        """What each seat's lamp says now."""
        return dict(self.desk._lamps)

    def lamp(self, seat: int) -> Lamp:
        return self.lamps[seat]

    def lit(self) -> set[int]:
        """The seats whose lamp is lit at this very moment, read from the pins."""
        return {seat for seat in self.lamps if self.sim.hands.lit(lamp_line(seat))}

    def covered(self) -> tuple[int, ...]:
        return self.desk.covered()

    def lying(self) -> list[Line]:
        return self.sim.lying()

    def kinds(self) -> list[str]:
        """The kinds of the rows, oldest first."""
        return [row.kind for row in self.ledger.stored]

    def chip(self, seat: int, amount: Money = ONE, *, rest_ms: int = SETTLED_MS) -> None:
        self.sim.move(self._sensor(seat, amount), active=True)
        self.sim.pass_ms(rest_ms)

    def lift(self, seat: int, amount: Money = ONE) -> None:
        self.sim.move(self._sensor(seat, amount), active=False)
        self.sim.pass_ms(LIFT_MS)

    def _sensor(self, seat: int, amount: Money) -> Line:
        return sensor(seat, self.file.settings.wagers.index(amount))

    def wait(self, passed_ms: int) -> None:
        self.sim.pass_ms(passed_ms)

    def lock(self) -> None:
        self.service.lock(DEALER)

    def count(self, number: int) -> None:
        self.service.ask(ask.KeyCount(DEALER, (), number))

    def say(self, *lines: str) -> list[dict[str, object]]:
        """The bench's answers to script lines."""
        return [self.bench.answer(number, line) for number, line in enumerate(lines, start=1)]

    def restarted(self, file: TableFile | None = None) -> Rig:
        """The plug was pulled: a new process on the same rows, the chips where they lay."""
        again = file or self.file
        return Rig(again, stored=self.ledger.stored, lying=self.lying(), opened=False)


def pack_of(basis: HandBasis, *hands: Hand) -> Pack:
    """A pack that pays these hands, in this order."""
    return Pack(
        id="house",
        title="House rules",
        jurisdiction="none",
        source="none",
        edition="1",
        hand_basis=basis,
        seats_max=6,
        meters=(MeterRule("meter", "Meter", ZERO, 0, 0),),
        pays=tuple(OddsPay(hand, 10, Style.FOR) for hand in hands),
        envy=(),
        envy_scales=False,
        collection=(),
        fingerprint="",
    )
