"""`feltlink staff` as an administrator calls it, on real files."""

from __future__ import annotations

import io
import json
import os
import stat
from datetime import date
from pathlib import Path

import pytest

from controller.adapters.staff_files import load_staff, save_staff
from controller.commands import staff as command
from controller.domain.errors import BadInput, Fault
from controller.domain.table import Person, Role
from controller.staff import Member, Staff, hash_pin

TODAY = date(2026, 3, 1)
CHEAP = hash_pin("2580", salt=bytes(16), n=16)


@pytest.fixture(autouse=True)
def _a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_today", lambda: TODAY)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "staff.toml"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path, pin: str = "") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{pin}\n"))
    return command.run([str(word) for word in words])


def test_a_person_is_added_signs_in_gets_a_new_pin_and_leaves(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    added = run(monkeypatch, "add", file, "201", "Flora", "floor", "--pin-stdin", pin="1379")
    assert added == 0
    assert "201 Flora may sign in as floor." in capsys.readouterr().out
    assert load_staff(file).check("201", "1379") == Person("Flora", Role.FLOOR)
    assert run(monkeypatch, "pin", file, "201", "--pin-stdin", pin="8642") == 0
    assert load_staff(file).check("201", "1379") is None
    assert load_staff(file).check("201", "8642") == Person("Flora", Role.FLOOR)
    assert run(monkeypatch, "remove", file, "201") == 0
    assert load_staff(file).check("201", "8642") is None
    assert list(file.parent.iterdir()) == [file]


def test_no_pin_stands_in_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, "add", file, "201", "Flora", "floor", "--pin-stdin", pin="13791379")
    assert "13791379" not in file.read_text()
    assert "scrypt$16384$8$1$" in file.read_text()


def test_two_people_with_the_same_pin_have_different_hashes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, "add", file, "201", "Flora", "floor", "--pin-stdin", pin="1379")
    run(monkeypatch, "add", file, "202", "Oscar", "floor", "--pin-stdin", pin="1379")
    one, other = load_staff(file).members
    assert one.pin != other.pin


def test_a_pin_is_never_an_argument(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would stand in the process list and in the shell's history."""
    for words in (("add", file, "201", "Flora", "floor", "1379"), ("pin", file, "201", "1379")):
        with pytest.raises(BadInput, match="unrecognized arguments"):
            run(monkeypatch, *words)


def test_at_a_prompt_the_pin_is_asked_for_twice(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["1379", "1378", "1379", "1379"])
    monkeypatch.setattr(command, "getpass", lambda _prompt: next(answers))
    with pytest.raises(BadInput, match="differ"):
        run(monkeypatch, "add", file, "201", "Flora", "floor")
    assert not file.exists()
    assert run(monkeypatch, "add", file, "201", "Flora", "floor") == 0


def test_a_prompt_without_an_answer_changes_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr(command, "getpass", gone)
    with pytest.raises(BadInput, match="No PIN"):
        run(monkeypatch, "add", file, "201", "Flora", "floor")
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "pin", "why"),
    [
        (("add", "201", "Flora", "floor", "--pin-stdin"), "1234", "count up or down"),
        (("add", "201", "Flora", "floor", "--pin-stdin"), "", "4 to 8 digits"),
        (("add", "2", "Flora", "floor", "--pin-stdin"), "1379", "2 to 6 digits"),
        (("add", "201", "Flora", "boss", "--pin-stdin"), "1379", "invalid choice"),
        (("add", "101", "Flora", "floor", "--pin-stdin"), "1379", "101 is Dana's number"),
        (("add", "102", "Dana", "dealer", "--pin-stdin"), "1379", "no other dealer has"),
        (("pin", "999", "--pin-stdin"), "1379", "nobody signs in with 999"),
        (("pin", "101", "--pin-stdin"), "7777", "repeat"),
        (("remove", "999"), "", "nobody signs in with 999"),
    ],
)
def test_a_mistake_is_a_sentence_and_changes_nothing(
    words: tuple[str, ...], pin: str, why: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_staff(file, Staff((Member("101", "Dana", Role.DEALER, CHEAP, TODAY),)))
    before = file.read_text()
    action, *rest = words
    with pytest.raises(BadInput, match=why):
        run(monkeypatch, action, file, *rest, pin=pin)
    assert file.read_text() == before


def test_a_number_once_given_comes_back_only_to_the_same_person(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_staff(file, Staff((Member("101", "Dana", Role.DEALER, CHEAP, TODAY),)))
    run(monkeypatch, "remove", file, "101")
    with pytest.raises(BadInput, match="Dana's number"):
        run(monkeypatch, "add", file, "101", "Dora", "dealer", "--pin-stdin", pin="1379")
    assert run(monkeypatch, "add", file, "101", "Dana", "floor", "--pin-stdin", pin="1379") == 0
    assert load_staff(file).check("101", "1379") == Person("Dana", Role.FLOOR)


def test_the_list_shows_everybody_and_warns_of_old_and_cheap_pins(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = hash_pin("1379", salt=bytes(16))
    save_staff(
        file,
        Staff(
            (
                Member("101", "Dana", Role.DEALER, real, date(2026, 2, 1)),
                Member("201", "Flora", Role.FLOOR, real, date(2025, 11, 1)),
                Member("301", "Tess", Role.TECHNICIAN, CHEAP, TODAY),
                Member("401", "Ada", Role.AUDITOR, real, date(2020, 1, 1), active=False),
            )
        ),
    )
    assert run(monkeypatch, "list", file) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "101     dealer      Dana  PIN of 2026-02-01",
        "201     floor       Flora  PIN of 2025-11-01",
        "301     technician  Tess  PIN of 2026-03-01",
        "401     auditor     Ada  removed",
    ]
    assert said.err.splitlines() == [
        "feltlink: the PIN of 201 is older than 90 days; change it.",
        "feltlink: the PIN of 301 is hashed for simulation only; give it a new one.",
    ]
    assert run(monkeypatch, "list", file, "--json") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "scrypt" not in said.out
    rows = json.loads(said.out)
    assert rows[1] == {
        "number": "201",
        "name": "Flora",
        "role": "floor",
        "active": True,
        "changed": "2025-11-01",
        "overdue": True,
        "for_simulation": False,
    }


@pytest.mark.parametrize("rights", [0o644, 0o604, 0o602, 0o660, 0o666, 0o641])
def test_a_file_that_others_can_read_or_the_group_can_write_is_not_trusted(
    rights: int, file: Path
) -> None:
    save_staff(file, Staff())
    file.chmod(rights)
    with pytest.raises(BadInput, match=f"found rights {rights:o}; allowed 600 or 640"):
        load_staff(file)


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o400])
def test_the_owner_and_the_tables_group_may_read_it(rights: int, file: Path) -> None:
    save_staff(file, Staff())
    file.chmod(rights)
    assert load_staff(file) == Staff()


def test_a_new_file_is_the_owners_alone_and_a_changed_one_keeps_its_rights(file: Path) -> None:
    save_staff(file, Staff())
    assert mode(file) == 0o600
    file.chmod(0o640)
    save_staff(file, Staff())
    assert mode(file) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_the_tables_user_stays_his_when_root_changes_it(file: Path) -> None:
    save_staff(file, Staff())
    os.chown(file, 1234, 4321)
    file.chmod(0o640)
    save_staff(file, Staff())
    assert (file.stat().st_uid, file.stat().st_gid, mode(file)) == (1234, 4321, 0o640)


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    save_staff(file, Staff())
    link.symlink_to(file)
    save_staff(link, Staff((Member("101", "Dana", Role.DEALER, CHEAP, TODAY),)))
    assert link.is_symlink()
    assert len(load_staff(file).members) == 1


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_staff(file, Staff())
    before = file.read_text()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Fault, match="No space left on device"):
        save_staff(file, Staff((Member("101", "Dana", Role.DEALER, CHEAP, TODAY),)))
    assert file.read_text() == before
    assert list(file.parent.iterdir()) == [file]


def test_the_file_is_on_the_disk_before_it_takes_the_old_ones_place(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_staff(file, Staff())
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def replaced(self: Path, target: Path) -> Path:
        done.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    save_staff(file, Staff())
    assert done == ["file", "rename", "directory"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"# " + b"x" * 1_000_001, "more than 1000000 bytes"),
        (b"[[staff]\n", "a mistake in the TOML"),
        (b"[table]\n", "an unknown key"),
    ],
)
def test_a_file_that_is_no_staff_file_is_refused(data: bytes, why: str, file: Path) -> None:
    file.write_bytes(data)
    file.chmod(0o600)
    with pytest.raises(BadInput, match=why):
        load_staff(file)


def test_a_file_that_is_not_there_is_a_sentence(file: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_staff(file)
