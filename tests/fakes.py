"""In-memory stand-ins for ports. The contract suites keep them honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.chain import GENESIS, Row, seal
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class FakeLedger:
    """A ledger in two lists. `stored` survives close(), as a disk would: hand it to the next."""

    repairs: tuple[str, ...] = ()

    def __init__(self, stored: Iterable[Row] = ()) -> None:
        self.stored = list(stored)
        self.copied = list(self.stored)  # opening brings the copy up to date
        self.head = self.stored[-1] if self.stored else None
        self.disk_fault: str | None = None  # set it, and the next write fails with this sentence
        self.copy_fault: str | None = None  # the same for the next write to the copy
        self._stopped: str | None = None

    def rows(self, after_seq: int = 0) -> Iterator[Row]:
        self._refuse_if_stopped()
        seq = after_seq
        while seq < len(self.stored):
            yield self.stored[seq]
            seq += 1

    def last_of(self, kind: str) -> Row | None:
        self._refuse_if_stopped()
        return next((row for row in reversed(self.stored) if row.kind == kind), None)

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row:
        self.mirror()
        row = seal(
            previous=self.head.hash if self.head else GENESIS,
            seq=len(self.stored) + 1,
            boot=boot,
            time=time,
            kind=kind,
            version=version,
            payload=payload,
        )
        self._stop_if(self.disk_fault)
        self.stored.append(row)
        if self.head is None:
            self.mirror()
        self.head = row
        return row

    def mirror(self) -> None:
        self._refuse_if_stopped()
        lacking = self.stored[len(self.copied) :]
        if lacking:
            self._stop_if(self.copy_fault)
            self.copied += lacking

    def check_head(self) -> None:
        self.mirror()
        for side in (self.stored, self.copied):
            if (side[-1] if side else None) != self.head:
                self._stop_if("the last row is not the one that was written")

    def sync_copy(self) -> None:
        self.mirror()

    def close(self) -> None:
        try:
            if self._stopped is None:
                self.mirror()
        finally:
            self._stopped = self._stopped or "the ledger is closed: open it again"

    def _stop_if(self, fault: str | None) -> None:
        if fault is not None:
            self._stopped = fault
            raise Fault(fault)

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None:
            raise Fault(self._stopped)
