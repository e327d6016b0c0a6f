"""Tables in one line, and verbs to drive them: what the unit tests say an evening with.

`Evening` is the pure core alone: it decides and applies. `Rig` puts the real service on a
ledger in memory and a board on simulated time. Nothing here waits or opens a socket; packs
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
from controller.service import TableService
from mock_gpio.bench import Bench
from mock_gpio.board import SETTLE_MS, FakeBoard
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

LABEL: Final = "2026-01-01T20:15:00.000Z"


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


class FixedClock:
    """Wall time as a label, always the same."""

    def label(self) -> str:
        return LABEL


class WatchedBoard(FakeBoard):
    """Writes down each change of its lamps, beside whatever else is written down there."""

    def __init__(self, diary: list[str]) -> None:
        super().__init__(now_ms=0)
        self.diary = diary

    def light(self, lamps: Mapping[int, Lamp]) -> None:
        lit = [str(seat) for seat, lamp in lamps.items() if lamp is Lamp.ACCEPTED]
        if lamps != self.lamps:
            self.diary.append(f"accepted lamps: {' '.join(lit) or 'none'}")
        super().light(lamps)


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
    """The real service on a ledger in memory and simulated sensors."""

    def __init__(
        self,
        file: TableFile | None = None,
        *,
        stored: Iterable[Row] = (),
        lying: Iterable[tuple[int, Money]] = (),
        opened: bool = True,
    ) -> None:
        self.diary: list[str] = []
        self.board = WatchedBoard(self.diary)
        for seat, amount in lying:
            self.board.sense(seat, amount, covered=True)
        self.ledger = WatchedLedger(self.diary, stored)
        self.service = TableService(
            ledger=self.ledger,
            board=self.board,
            clock=FixedClock(),
            file=file or table_file(),
            software="test",
        )
        self.bench = Bench(self.service, self.board)
        if opened and self.table.phase is Phase.CLOSED:
            self.service.open(FLOOR)

    @property
    def table(self) -> Table:
        return self.service.table

    def lamp(self, seat: int) -> Lamp:
        return self.board.lamps[seat]

    def kinds(self) -> list[str]:
        """The kinds of the rows, oldest first."""
        return [row.kind for row in self.ledger.stored]

    def chip(self, seat: int, amount: Money = ONE, *, rest_ms: int = SETTLE_MS) -> None:
        self.board.sense(seat, amount, covered=True)
        self.service.sensor_changed(seat, covered=True)
        self.wait(rest_ms)

    def lift(self, seat: int, amount: Money = ONE) -> None:
        self.board.sense(seat, amount, covered=False)
        self.service.sensor_changed(seat, covered=False)

    def wait(self, passed_ms: int) -> None:
        self.board.now_ms += passed_ms
        self.service.tick()

    def lock(self) -> None:
        self.service.lock(DEALER)

    def count(self, number: int) -> None:
        self.service.ask(ask.KeyCount(DEALER, (), number))

    def say(self, *lines: str) -> list[dict[str, object]]:
        """The bench's answers to script lines."""
        return [self.bench.answer(number, line) for number, line in enumerate(lines, start=1)]

    def restarted(self, file: TableFile | None = None) -> Rig:
        """The plug was pulled: a new process on the same rows, the chips where they lay."""
        return Rig(file, stored=self.ledger.stored, lying=self.board.lying(), opened=False)


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
