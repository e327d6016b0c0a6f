"""Table and staff files that nobody meant: a good one is read, any other is a list of sentences."""

from __future__ import annotations

import contextlib
import io
from copy import deepcopy
from datetime import UTC, date, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.pack_files import load_map, load_pack
from controller.adapters.staff_files import load_staff
from controller.cli import main
from controller.commands import table as table_command
from controller.config import KEYS, TableFile, table_from_document, table_from_toml
from controller.domain.errors import BadInput
from controller.domain.table import Phase, Role
from controller.hardware import LineKind
from controller.hardware_file import DEFAULT_KEYMAP
from controller.staff import Staff, hash_pin
from mock_gpio.table import SimulatedTable
from tests.fakes import FakeLedger

PACKS: Final = {name: load_pack(name) for name in ("md-uth-a", "md-jh-a", "sd-pmg-02")}

# One of everything that a table file can say.
BASE: Final[dict[str, Any]] = {
    "table": {"id": "T07", "seats": 6},
    "rules": {"pack": "md-uth-a", "wagers": ["1.00"], "count": "blind", "simultaneous": "split"},
    "meters": {"meter": {"seed": "10000.00", "rate": "0.2", "limit": "90000.00"}},
    "house": {"stub_count_rounds": 10, "deck_change_hours": 4, "checklist_from": "5000.00"},
    "ledger": {"copy": "copy"},
    "staff": {"file": "staff.toml"},
    "software": {"sha256": "0" * 64},
    "approval": {"by": "M. Lee", "reference": "GC-7"},
    "hardware": {"factory": "lgpio", "map": "expander-6"},
    "pins": {"buzzer": "GPIO18", "drop": "none"},
    "expanders": {"X1": {"bus": 1, "address": 0x20}},
    "keypad": {"keys": [list(row) for row in DEFAULT_KEYMAP]},
    "timing": {"settle_ms": 150, "bounce_ms": 30, "chatter_edges": 30},
    "displays": {
        "dealer": {"driver": "ssd1306", "interface": "i2c", "bus": 1, "address": 0x3C, "rotate": 0},
        "meter": {"enabled": True, "driver": "ssd1309"},
    },
}
TEXT: Final = """# A table as a technician writes it.
[table]
id = "T07"
seats = 6

[rules]
pack = "md-uth-a"
wagers = ["1.00"]
count = "shown"

[meters.meter]
seed = "10000.00"
rate = "0.2"

[hardware]
factory = "mock"
map = "expander-6"

[timing]
settle_ms = 150
bounce_ms = 30

[displays.dealer]
driver = "sh1106"
"""

FAMILIAR: Final = (
    *("GPIO4", "GPIO5", "GPIO2", "X1.A0", "X1.A7", "X9.A0", "R5C1", "R1C1", "none", "mock", "spi"),
    *("1.00", "0.5", "-1.00", "1e3", "9" * 50, "../../etc/passwd", "md-jh-a", "expander-10"),
)

words = st.sampled_from(sorted({key for keys in KEYS.values() for key in keys} | {"X1", "dealer"}))
names = words | st.text(max_size=12)
scalars = (
    st.none().map(lambda _: "")
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(FAMILIAR)
    | st.sampled_from([date(2026, 1, 1), time(1, 2), datetime(2026, 1, 1, tzinfo=UTC)])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def find_pack(name: str) -> Any:
    if name not in PACKS:
        raise BadInput(f"found {name!r}, which is no pack; allowed {', '.join(PACKS)}")
    return PACKS[name]


def paths(document: dict[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for key, value in document.items():
        found.append((*above, key))
        if isinstance(value, dict):
            found += paths(value, (*above, key))
    return found


@st.composite
def spoilt(draw: st.DrawFn) -> dict[str, Any]:
    """The base file with up to four places changed, added or gone."""
    document = deepcopy(BASE)
    for _ in range(draw(st.integers(1, 4))):
        *above, key = draw(st.sampled_from(paths(document)))
        where = document
        for name in above:
            where = where[name]
        how = draw(st.sampled_from(["set", "add", "remove"]))
        if how == "set":
            where[key] = draw(values)
        elif how == "add":
            where[draw(names)] = draw(values)
        else:
            del where[key]
        if not document:
            break
    return document


def check_sentences(problems: tuple[str, ...]) -> None:
    """Each on one line that can be printed, and none of them is about the program."""
    assert problems
    for problem in problems:
        assert problem.strip(), problems
        assert problem.isprintable(), problems
        assert "Traceback" not in problem, problems


def read(document: dict[str, Any]) -> TableFile | None:
    """The table of a document, or nothing after a list of sentences."""
    try:
        return table_from_document(
            document, where="table.toml", find_pack=find_pack, load_map=load_map
        )
    except BadInput as bad:
        check_sentences(bad.problems)
        return None


def test_the_base_file_is_good() -> None:
    file = read(BASE)
    assert file is not None
    assert file.hardware is not None
    assert table_from_toml(TEXT, where="t", find_pack=find_pack, load_map=load_map).hardware


@pytest.mark.requirement(24)
@given(spoilt())
def test_a_spoilt_document_is_a_table_or_a_list_of_sentences(document: dict[str, Any]) -> None:
    file = read(document)
    if file is not None and file.hardware is not None:
        lines = [line for line, _ in file.hardware.lines]
        assert len(set(lines)) == len(lines)
        sensors = [line for line in lines if line.kind is LineKind.SENSOR]
        assert len(sensors) == file.settings.seats * len(file.settings.wagers)
        assert file.hardware.timing.settle_ms >= 2 * file.hardware.timing.bounce_ms


@given(spoilt())
def test_whatever_is_read_as_a_table_can_be_started_as_one(document: dict[str, Any]) -> None:
    document.pop("software", None)  # approves another program than this one
    file = read(document)
    if file is None:
        return
    table = SimulatedTable(file, FakeLedger)
    assert table.unit.phase is Phase.CLOSED, table.unit.down
    assert table.unit.screen().view.table_id == file.settings.table_id


@st.composite
def garbled(draw: st.DrawFn, text: str = TEXT) -> str:
    """The text with a few places cut out, doubled or overwritten."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        new = draw(
            st.text(max_size=6) | st.sampled_from(['"', "[", "]]", "=", "\n", "\x00", "'''"])
        )
        text = text[:start] + new + text[end:]
    return text


@given(garbled())
def test_a_garbled_text_is_a_table_or_a_list_of_sentences(text: str) -> None:
    try:
        table_from_toml(text, where="table.toml", find_pack=find_pack, load_map=load_map)
    except BadInput as bad:
        check_sentences(bad.problems)


class Started(Exception):
    """The command went as far as starting the table."""


def _started(*_: object) -> Any:
    raise Started


def run_table(data: bytes) -> tuple[int, str]:
    """`feltlink table` up to where it would open the table: its status, and what it said."""
    said = io.StringIO()
    with (
        TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as world,
        contextlib.redirect_stderr(said),
    ):
        world.setattr(table_command, "open_daemon", _started)
        path = Path(folder) / "table.toml"
        path.write_bytes(data)
        try:
            status = main(["table", "-c", str(path), "--data", folder])
        except Started:
            status = 0
    return status, said.getvalue()


@given(
    garbled().map(str.encode)
    | st.binary(max_size=200)
    | garbled().map(lambda t: t.encode("utf-16"))
)
def test_the_daemon_refuses_any_bytes_with_status_two_and_sentences(data: bytes) -> None:
    status, said = run_table(data)
    assert status in (0, 2)
    lines = said.splitlines()
    assert all(line.startswith("feltlink: ") and line.isprintable() for line in lines)
    assert status == 0 or lines


def test_the_daemon_goes_on_with_a_good_file() -> None:
    assert run_table(TEXT.encode()) == (0, "")


@given(
    st.integers(1, 6),
    st.integers(60, 1000),
    st.integers(5, 30),
    st.lists(st.sampled_from(["# why", "", "   ", "\t# [table]"]), max_size=8),
)
def test_a_good_file_stays_good_with_other_numbers_and_comments(
    seats: int, settle_ms: int, bounce_ms: int, between: list[str]
) -> None:
    text = (
        TEXT.replace("seats = 6", f"seats = {seats}")
        .replace("settle_ms = 150", f"settle_ms = {settle_ms}")
        .replace("bounce_ms = 30", f"bounce_ms = {bounce_ms}")
    )
    lines = text.splitlines()
    for number, line in enumerate(between):
        lines.insert(number * 3, line)
    files = [
        table_from_toml(each, where="t", find_pack=find_pack, load_map=load_map)
        for each in (text, "\n".join(lines), "\r\n".join(lines))
    ]
    assert files[0] == files[1] == files[2]
    assert files[0].settings.seats == seats
    assert files[0].hardware is not None
    assert files[0].hardware.timing.settle_ms == settle_ms


# The staff file.

STAFF: Final = f"""# Who may sign in.
[[staff]]
number = "101"
name = "Dana"
role = "dealer"
pin = "{hash_pin("2580", salt=bytes(16), n=16)}"
changed = "2026-01-31"
active = true

[[staff]]
number = "201"
name = "Zoë"
role = "floor"
pin = "{hash_pin("1379", salt=bytes(16), n=16)}"
changed = "2026-01-31"
"""


def test_the_staff_file_is_good() -> None:
    staff = Staff.from_toml(STAFF, "staff.toml")
    assert staff.check("201", "1379") is not None
    assert Staff.from_toml(staff.to_toml(), "staff.toml") == staff


@given(garbled(STAFF))
def test_a_garbled_staff_file_is_a_staff_or_a_list_of_sentences(text: str) -> None:
    try:
        staff = Staff.from_toml(text, "staff.toml")
    except BadInput as bad:
        check_sentences(bad.problems)
        return
    assert Staff.from_toml(staff.to_toml(), "staff.toml") == staff
    for number in ("101", "201", "", "ä"):
        person = staff.check(number, "0000")
        assert person is None or person.role in Role


@given(
    garbled(STAFF).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=99)
)
def test_a_staff_file_of_any_bytes_is_a_staff_or_a_list_of_sentences(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "staff.toml"
        path.write_bytes(data)
        path.chmod(0o600)
        try:
            load_staff(path)
        except BadInput as bad:
            check_sentences(bad.problems)
