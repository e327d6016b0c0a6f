"""The table unit measured: LOCK to lamp, start to OPEN, memory, a long ledger, wear of the disk.

Every time stands against a bare baseline of the same run; see tests/bench/run.py.
"""

from __future__ import annotations

import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final
from uuid import uuid4

from gpiozero import LED, DigitalInputDevice
from gpiozero.pins.mock import MockFactory

from controller import wire
from controller.adapters.ledger_file import FILE_NAME, Identity, create
from controller.adapters.ledger_repair import write_marker
from controller.adapters.ledger_sqlite import SqliteLedger
from controller.adapters.machine import SystemClock
from controller.adapters.pack_files import load_pack
from controller.chain import GENESIS, Row, seal
from controller.config import TableFile, default_table
from controller.domain import commands as ask
from controller.domain import events as did
from controller.domain import machine
from controller.domain.meter import commission
from controller.domain.money import parse_money
from controller.domain.table import Phase, RawEdge, Wager
from controller.domain.view import Lamp
from controller.hardware import LOCK, sensor
from controller.hardware_file import simulated
from controller.panel import OpenNow
from controller.process import Loop, World, ledger_opener
from controller.service import SNAPSHOT_ROUNDS, replay
from firmware.pins import Pins
from mock_gpio.bench import DEALER, FLOOR
from mock_gpio.pins import SimulatedPins
from mock_gpio.table import LastScreen
from tests.bench.result import ROOT, Result, feltlink

SEATS: Final = range(1, 7)
LOCKS, WARM_UP = 100, 10
STARTS: Final = 15
LONG_ROUNDS: Final = 100_000
SETTLED_S, PAUSE_S = 0.25, 0.12
TABLE_TOML: Final = """
[table]
id = "T01"
[rules]
pack = "md-uth-a"
[hardware]
factory = "mock"
"""


def unit_results() -> Iterator[Result]:
    yield from lock_to_lamp()
    yield from starts()
    yield long_ledger()
    yield from disk_wear()


# LOCK to lamp.


def lock_to_lamp() -> Iterator[Result]:
    """From the LOCK edge to the accepted lamps, against a bare callback and one bare commit."""
    with tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder:
        bare = BareCallback(Path(folder) / "bare.sqlite")
        with LiveTable(Path(folder) / "data") as table:
            for _ in range(WARM_UP):
                bare.once()
                table.lock_us()
            pairs = [(bare.once(), table.lock_us()) for _ in range(LOCKS)]
    base, ours = sorted(b for b, _ in pairs), sorted(o for _, o in pairs)
    for name, share in (("p50", 50), ("p99", 99)):
        at = len(pairs) * share // 100
        ratio = ours[at] / base[at]
        yield Result(
            name=f"LOCK edge to lamp / callback + commit, {name}",
            value=ratio,
            target="<= 2.00",
            met=ratio <= 2,
            detail=f"{ours[at]:,.0f} us against {base[at]:,.0f} us, {len(pairs)} locks, six chips",
        )


class BareCallback:
    """A gpiozero pin whose callback makes one durable commit and lights one lamp."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE row (seq INTEGER PRIMARY KEY, payload BLOB)")
        factory = MockFactory()
        self._button = DigitalInputDevice(5, pull_up=True, pin_factory=factory)
        self._lamp = LED(6, pin_factory=factory)
        self._button.when_activated = self._pressed
        self._pin = factory.pin(5)

    def _pressed(self) -> None:
        self._db.execute("INSERT INTO row (payload) VALUES (?)", (b"x" * 1000,))
        self._lamp.on()

    def once(self) -> float:
        start = time.perf_counter_ns()
        self._pin.drive_low()
        took_us = (time.perf_counter_ns() - start) / 1000
        self._pin.drive_high()
        self._lamp.off()
        return took_us


class LiveTable:
    """The daemon's loop in a thread of its own, on simulated pins and real time."""

    def __init__(self, data: Path) -> None:
        file = default_table(load_pack("md-uth-a"))
        hardware = simulated(None, seats=6, spots=1)
        self.hands = SimulatedPins(hardware, lambda: time.monotonic_ns() // 1000)
        world = World(
            pins=Pins(hardware, self.hands),
            hardware=hardware,
            screens=LastScreen(),
            clock=SystemClock(),
            check_pin=lambda _number, _pin: None,
            pause=lambda: time.sleep(0.005),
            simulated=True,
        )
        self._loop = Loop(file, world, ledger_opener(file, data))
        self._todo: list[Callable[[], object]] = []
        self._ready, self._accepted = threading.Event(), threading.Event()
        self._stopping, self._lit_ns = False, 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> LiveTable:
        self._thread.start()
        self._ready.wait()
        self._loop.scanner.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping = True
        self._thread.join()
        self._loop.scanner.stop()

    def _run(self) -> None:
        self._loop.start()
        light = self._loop.desk.light

        def watched(lamps: dict[int, Lamp]) -> None:
            light(lamps)
            if Lamp.ACCEPTED in lamps.values() and not self._accepted.is_set():
                self._lit_ns = time.perf_counter_ns()
                self._accepted.set()

        self._loop.desk.light = watched  # type: ignore[method-assign,assignment]
        self._loop.unit.send(OpenNow(FLOOR))
        self._ready.set()
        while not self._stopping:
            self._loop.step(self._loop.until_turn_us())
            while self._todo:
                self._todo.pop(0)()
        self._loop.close()

    def lock_us(self) -> float:
        """Six chips, LOCK, and how long until the lamps said accepted; then the rest of a round."""
        for seat in SEATS:
            self.hands.cover(sensor(seat))
        time.sleep(SETTLED_S)
        self._accepted.clear()
        start = time.perf_counter_ns()
        self.hands.press(LOCK)
        if not self._accepted.wait(5):
            raise RuntimeError(f"LOCK was not accepted: {self._loop.unit.notice}")
        took_us = (self._lit_ns - start) / 1000
        self.hands.release(LOCK)
        for seat in SEATS:
            self.hands.uncover(sensor(seat))
        time.sleep(PAUSE_S)
        self._todo += [self._count, self._end]
        time.sleep(PAUSE_S)
        return took_us

    def _count(self) -> None:
        self._loop.unit.send(ask.KeyCount(DEALER, number=len(SEATS)))

    def _end(self) -> None:
        service = self._loop.unit.service
        if service is None or service.phase is not Phase.IN_PLAY:
            raise RuntimeError("the round was not proved")
        service.end(DEALER)


# Start and memory.


@dataclass(frozen=True, slots=True)
class Started:
    ready_s: float
    rss_kb: int


def starts() -> Iterator[Result]:
    """The daemon from its call to READY on a ledger that says open, against a bare interpreter."""
    with tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder:
        make_ledger(Path(folder) / "data", rounds=1)
        pairs = [(_bare_start(), start_once(Path(folder))) for _ in range(STARTS)]
        replay_s = median(_replay(Path(folder) / "data") for _ in range(STARTS))
    base = median(b for b, _ in pairs)
    ours = median(started.ready_s for _, started in pairs)
    rss_mb = max(started.rss_kb for _, started in pairs) / 1024
    yield Result(
        name="start of the table to OPEN / start of python",
        value=(ours - replay_s) / base,
        target="<= 6.00",
        met=ours - replay_s <= 6 * base,
        detail=f"{ours * 1000:.0f} ms, of which {replay_s * 1000:.0f} ms open and replay the"
        f" ledger, against {base * 1000:.1f} ms",
    )
    yield Result(
        name="resident memory of a six-seat table, MB",
        value=rss_mb,
        target="<= 60",
        met=rss_mb <= 60,
        detail="simulated pins, both OLEDs drawn, the most of all starts",
    )


def _replay(data: Path) -> float:
    start = time.perf_counter()
    with closing(SqliteLedger.open(data, copy=None, table_id="T01")) as ledger:
        replay(ledger)
        return time.perf_counter() - start


def _bare_start() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - start


def start_once(folder: Path) -> Started:
    config = folder / "table.toml"
    config.write_text(TABLE_TOML, "utf-8")
    with _notified(folder / "notify") as (address, listener):
        start = time.perf_counter()
        daemon = subprocess.Popen(
            [feltlink(), "table", "-c", str(config), "--data", str(folder / "data")],
            env={"NOTIFY_SOCKET": address, "PATH": "/usr/bin:/bin"},
            stderr=subprocess.DEVNULL,
        )
        try:
            while "READY=1" not in (message := listener.recv(4096).decode()):
                pass
            ready_s = time.perf_counter() - start
            if "open" not in message:
                raise RuntimeError(f"the table is not open: {message}")
            time.sleep(1)  # until both displays have been drawn
            status = Path(f"/proc/{daemon.pid}/status").read_text("utf-8")
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return Started(ready_s, int(found[1]) if found else 0)


@contextmanager
def _notified(path: Path) -> Iterator[tuple[str, socket.socket]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.settimeout(120)
        yield str(path), listener


# A long ledger.


def long_ledger() -> Result:
    """A hundred thousand rounds: both files verified in full, folded from the last snapshot."""
    with tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder:
        rows = make_ledger(Path(folder) / "data", rounds=LONG_ROUNDS)
        taken = [start_once(Path(folder)).ready_s for _ in range(3)]
    took_s = median(taken)
    return Result(
        name="start on 100,000 rounds, seconds",
        value=took_s,
        target="< 5.00",
        met=took_s < 5,
        detail=f"{rows:,} rows in each of two files, every hash checked, then the last snapshot",
    )


def make_ledger(folder: Path, rounds: int) -> int:
    """So many real rounds of six wagers, with snapshots, in both files; how many rows that is."""
    copy = folder / "copy"
    copy.mkdir(parents=True)
    identity = Identity("T01", str(uuid4()))
    create(folder / FILE_NAME, identity, _rows(rounds))
    shutil.copyfile(folder / FILE_NAME, copy / FILE_NAME)
    write_marker(folder, identity)
    with sqlite3.connect(folder / FILE_NAME) as db:
        (count,) = db.execute("SELECT count(*) FROM row").fetchone()
    return int(count)


def _rows(rounds: int) -> Iterator[Row]:
    head: Row | None = None
    for event in _events(default_table(load_pack("md-uth-a")), rounds):
        head = seal(
            previous=head.hash if head else GENESIS,
            seq=head.seq + 1 if head else 1,
            boot=1,
            time="2026-01-01T20:15:00.000Z",
            kind=wire.KIND_OF[type(event)],
            version=wire.VERSION,
            payload=wire.encode(event),
        )
        yield head


def _events(file: TableFile, rounds: int) -> Iterator[did.Event]:
    postings = (posting for meter in file.settings.meters for posting in commission(meter))
    first = did.Commissioned(file.pack, file.settings, tuple(postings))
    yield first
    table = machine.commission(first)
    one = parse_money("1.00")
    wagers = tuple(Wager(seat, one) for seat in SEATS)
    laid = tuple(RawEdge(seat, one, True, -seat * 100_000) for seat in SEATS)
    lifted = tuple(RawEdge(seat, one, False, seat * 100_000) for seat in SEATS)
    steps = (
        ask.LockBets(DEALER, wagers, laid),
        ask.KeepEdges(DEALER, lifted),
        ask.KeyCount(DEALER, number=len(SEATS)),
        ask.EndRound(DEALER, (), 60_000),
    )
    event: did.Event = machine.decide(table, ask.OpenTable(FLOOR))
    yield event
    table = machine.apply(table, event)
    for number in range(1, rounds + 1):
        for step in steps:
            event = machine.decide(table, step)
            yield event
            table = machine.apply(table, event)
        if number % SNAPSHOT_ROUNDS == 0:
            yield did.SnapshotTaken(table)


# Wear of the disk.


def disk_wear() -> Iterator[Result]:
    """What one more round of six wagers writes and syncs, both files together. Reported only."""
    few, many = _traced(50), _traced(150)
    if few is None or many is None:
        return
    for name, at in (("bytes written to disk per round", 0), ("fsyncs per round", 1)):
        each = (many[at] - few[at]) / 100
        detail = "`feltlink play`, six wagers, ledger and copy, steps milliseconds apart"
        yield Result(name=name, value=each, target="reported", met=True, detail=detail)


def _traced(rounds: int) -> tuple[int, int] | None:
    if shutil.which("strace") is None:
        return None
    chips = "".join(f"chip {seat}\n" for seat in SEATS)
    with tempfile.TemporaryDirectory(prefix="feltlink-bench-", dir=ROOT) as folder:
        log = Path(folder) / "trace"
        calls = "trace=pwrite64,fsync,fdatasync"
        subprocess.run(
            [
                *("strace", "-f", "-qq", "-e", calls, "-o", str(log)),
                *(feltlink(), "play", "-", "--data", str(Path(folder) / "data")),
            ],
            input=(chips + "lock\ncount 6\nend\n") * rounds,
            stdout=subprocess.DEVNULL,
            check=True,
            text=True,
        )
        text = log.read_text("utf-8")
    written = sum(int(size) for size in re.findall(r"pwrite64\(.*\) = (\d+)$", text, re.MULTILINE))
    return written, len(re.findall(r"(?:fsync|fdatasync)\(", text))
