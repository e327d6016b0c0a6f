"""What a technician or an auditor reads at the keypad: facts in short lines, by topic."""

from __future__ import annotations

from textwrap import wrap

from msgspec import Struct

from controller.domain.table import Table

WIDTH = 21  # what the dealer display shows in a line

Topic = tuple[str, tuple[str, ...]]


class Facts(Struct, frozen=True):
    """About the machine and the program, not the table."""

    addresses: tuple[str, ...]
    software: str
    digest: str
    pins: str


def readout(table: Table, facts: Facts, faults: tuple[str, ...]) -> tuple[Topic, ...]:
    return (
        ("ADDRESSES", (f"TABLE {table.settings.table_id}", *facts.addresses)),
        ("VERSIONS", _wrapped(f"FELTLINK {facts.software}", f"PINS {facts.pins}")),
        ("FINGERPRINTS", _fingerprints(table, facts)),
        ("LAST HITS", _hits(table)),
        ("METERS", _meters(table)),
        ("FAULTS", _wrapped(*([table.fault] if table.fault else []), *faults) or ("NONE",)),
    )


def _wrapped(*texts: str) -> tuple[str, ...]:
    return tuple(line for text in texts for line in wrap(text, WIDTH))


def _fingerprints(table: Table, facts: Facts) -> tuple[str, ...]:
    """In full: whoever compares them with a certificate needs every digit."""
    return (
        f"PACK {table.pack.id}",
        *_wrapped(table.pack.fingerprint),
        "PROGRAM",
        *_wrapped(facts.digest),
    )


def _hits(table: Table) -> tuple[str, ...]:
    """The newest first."""
    lines = [
        line
        for hit in reversed(table.hits)
        for line in (
            f"ROUND {hit.round} SEAT {hit.seat}",
            f" {hit.hand.value.replace('_', ' ').upper()}"[:WIDTH],
            f" {hit.amount.for_people()}",
        )
    ]
    return tuple(lines) or ("NONE",)


def _meters(table: Table) -> tuple[str, ...]:
    lines = []
    for meter in table.meters:
        lines += [
            meter.name.upper(),
            f" {meter.current.exact()}",
            f" RES {meter.reserve.exact()}",
            f" HELD {meter.held.exact()}",
            f" HITS {meter.hits}",
            f" PAID {meter.paid.exact()}",
        ]
    return tuple(lines)
