"""A hundred thousand random inputs, and a table that stays in order through all of them.

FELTLINK_MONKEY_INPUTS makes the run shorter or longer. Each part has a seed of its own, which is
in the name of its test and in every complaint: the same seed does the same again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from controller import service, wire
from controller.audit import audit
from controller.config import table_from_document
from controller.domain import events as did
from controller.domain.table import Phase
from tests.builders import _pack_file
from tests.simulation.monkey import Monkey
from tests.simulation.watcher import FLOOR_EVENTS

if TYPE_CHECKING:
    from controller.config import TableFile

INPUTS: Final = int(os.environ.get("FELTLINK_MONKEY_INPUTS", "100000"))
PARTS: Final = 6
ENOUGH: Final = 15_000  # from here on a part must have been everywhere
DEALER_PART: Final = INPUTS // 10

# No key, switch or chip leads there: the table file and two people with a page do.
NOT_BY_HAND: Final = (did.SettingsChanged, did.MeterAdjusted, did.ClockStepped)
REACHABLE: Final = {kind for event, kind in wire.KIND_OF.items() if event not in NOT_BY_HAND}

TABLES: Final[tuple[dict[str, Any], ...]] = (
    {"pack": "md-uth-a", "floor_may_add": True},
    {"pack": "md-uth-b", "wagers": ["1.00", "5.00"], "floor_may_add": True, "count": "blind"},
    {"pack": "sd-uthp-01", "floor_may_add": True, "simultaneous": "split"},
    {"pack": "md-uth-c", "floor_may_add": True, "count": "sensor", "validate": "all"},
    {"pack": "md-uth-d", "floor_may_add": True, "simultaneous": "full"},
)


@pytest.fixture(autouse=True)
def _short_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots come often, so that a start after a power cut is quick and begins at one."""
    monkeypatch.setattr(service, "SNAPSHOT_ROUNDS", 20)


def table_of(part: int) -> TableFile:
    document = {
        "table": {"id": "T01"},
        "rules": TABLES[part % len(TABLES)],
        "house": {"stub_count_rounds": 5, "deck_change_hours": 4, "checklist_from": "5000.00"},
    }
    return table_from_document(document, where="table.toml", find_pack=_pack_file)


@pytest.mark.requirement(13, 23, 24)
@pytest.mark.parametrize("seed", range(1, PARTS + 1))
def test_whatever_is_pressed_the_table_stays_in_order(seed: int) -> None:
    monkey = Monkey(table_of(seed), seed)
    monkey.run(INPUTS // PARTS)
    watcher = monkey.watcher
    assert list(watcher.wrong.values()) == [], watcher.wrong
    found = audit(monkey.table.ledger.stored)
    assert found.finding is None, f"seed {seed}: {found.finding}"
    if INPUTS // PARTS >= ENOUGH:
        assert watcher.phases == set(Phase)
        owes_envy = bool(monkey.table.file.pack.envy)
        reachable = REACHABLE if owes_envy else REACHABLE - {"envy_acknowledged"}
        assert reachable - set(watcher.kinds) == set()
        assert monkey.recovered >= 10


@pytest.mark.requirement(16)
@pytest.mark.parametrize("seed", [101, 102])
def test_a_dealer_alone_never_validates_strikes_voids_opens_or_closes(seed: int) -> None:
    monkey = Monkey(table_of(seed), seed, dealer_only=True)
    opened = dict(monkey.watcher.kinds)
    monkey.run(DEALER_PART // 2)
    watcher = monkey.watcher
    assert list(watcher.wrong.values()) == [], watcher.wrong
    for event in FLOOR_EVENTS:
        kind = wire.KIND_OF[event]
        assert watcher.kinds[kind] == opened.get(kind, 0), f"seed {seed}: {kind}"
    assert watcher.kinds["signed_out"] + watcher.kinds["sign_in_failed"] > 0 or INPUTS < ENOUGH
