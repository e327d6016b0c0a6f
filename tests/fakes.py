"""In-memory stand-ins for ports. The contract suites keep them honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.chain import GENESIS, Row, seal
from controller.domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class FakeLedger:
    """A ledger in a list. `stored` survives close(), as a disk would: hand it to the next one."""

    repairs: tuple[str, ...] = ()

    def __init__(self, stored: Iterable[Row] = ()) -> None:
        self.stored = list(stored)
        self.head = self.stored[-1] if self.stored else None
        self.disk_fault: str | None = None  # set it, and the next write fails with this sentence
        self._stopped: str | None = None

    def rows(self, after_seq: int = 0) -> Iterator[Row]:
        self._refuse_if_stopped()
        seq = after_seq
        while seq < len(self.stored):
            yield self.stored[seq]
            seq += 1

    def append(self, *, boot: int, time: str, kind: str, version: int, payload: bytes) -> Row:
        self._refuse_if_stopped()
        row = seal(
            previous=self.head.hash if self.head else GENESIS,
            seq=len(self.stored) + 1,
            boot=boot,
            time=time,
            kind=kind,
            version=version,
            payload=payload,
        )
        if self.disk_fault is not None:
            self._stopped = self.disk_fault
            raise Fault(self.disk_fault)
        self.stored.append(row)
        self.head = row
        return row

    def check_head(self) -> None:
        self._refuse_if_stopped()
        if (self.stored[-1] if self.stored else None) != self.head:
            self._stopped = "the last row is not the one that was written"
            raise Fault(self._stopped)

    def sync_copy(self) -> None:
        self._refuse_if_stopped()

    def close(self) -> None:
        self._stopped = self._stopped or "the ledger is closed: open it again"

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None:
            raise Fault(self._stopped)
