"""The one command: what it says, where it says it, and with which exit status."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from controller import VERSION, cli
from controller.domain.errors import BadInput, Broken, Fault

Capture = pytest.CaptureFixture[str]


def standing_in(monkeypatch: pytest.MonkeyPatch, run: Callable[[list[str]], int]) -> None:
    """A subcommand of our own in place of `play`."""
    command = SimpleNamespace(run=run)
    monkeypatch.setattr(cli, "import_module", lambda _name: command)


def failing(error: BaseException) -> Callable[[list[str]], int]:
    def run(_words: list[str]) -> int:
        raise error

    return run


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_names_every_command_and_is_no_error(word: str, capsys: Capture) -> None:
    assert cli.main([word]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert all(name in said.out and what in said.out for name, what in cli.COMMANDS.items())


def test_no_command_at_all_is_bad_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["feltlink"])
    assert cli.main() == 2
    said = capsys.readouterr()
    assert (said.out, said.err.startswith("feltlink: a command is missing")) == ("", True)


def test_the_version_is_said(capsys: Capture) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"feltlink {VERSION}\n"


def test_an_unknown_command_is_bad_input_in_one_sentence(capsys: Capture) -> None:
    assert cli.main(["jackpot"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("feltlink: 'jackpot' is not a command; known are ")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BadInput("bad seats", "bad id"), 2, "feltlink: bad seats\nfeltlink: bad id\n"),
        (Fault("the disk is full"), 1, "feltlink: the disk is full\n"),
        (Broken("x"), 1, "feltlink: stopped, because a check of its own failed: x.\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_each_way_to_fail_has_its_exit_status_and_its_sentence(
    error: BaseException,
    status: int,
    said: str,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standing_in(monkeypatch, failing(error))
    assert cli.main(["play", "-"]) == status
    heard = capsys.readouterr()
    assert (heard.out, heard.err) == ("", said)


def test_a_command_gets_its_words_and_gives_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    def run(words: list[str]) -> int:
        heard.extend(words)
        return 7

    standing_in(monkeypatch, run)
    assert cli.main(["play", "a", "--json"]) == 7
    assert heard == ["a", "--json"]


def test_a_reader_that_leaves_early_is_no_fault(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned: list[tuple[int, int]] = []
    nowhere = SimpleNamespace(
        devnull="nowhere",
        O_WRONLY=1,
        open=lambda _path, _flags: 77,
        dup2=lambda source, target: turned.append((source, target)),
    )
    monkeypatch.setattr("controller.cli.os", nowhere)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: 1))
    standing_in(monkeypatch, failing(BrokenPipeError()))
    assert cli.main(["play", "-"]) == 0
    assert turned == [(77, 1)]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_that_is_offered_exists(name: str) -> None:
    assert callable(importlib.import_module(f"controller.commands.{name}").run)
