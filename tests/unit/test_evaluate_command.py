"""`feltlink evaluate` as a floorperson, and as a program, uses it."""

from __future__ import annotations

import io
import json

import pytest

from controller.commands.evaluate import run
from controller.domain.errors import BadInput

ROYAL = "Ah Kh | Qh Jh Th 2c 3d"
BOARD_ROYAL = "2c 3d | Ah Kh Qh Jh Th"


def answer_to(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, object]:
    assert run([*argv, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def sentence_for(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run(list(argv)) == 0
    return capsys.readouterr().out


def pipe_in(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), encoding="ascii"))


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_hand_is_answered_in_the_published_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_to(capsys, ROYAL) == {
        "hand": "royal_flush",
        "suit": "hearts",
        "cards": ["Ah", "Kh", "Qh", "Jh", "Th"],
        "first_five": True,
        "community": False,
    }


def test_only_a_royal_has_a_suit(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answer_to(capsys, "9h 9c | 10s 9d 10c 2h 3h")
    assert answer == {
        "hand": "full_house",
        "suit": None,
        "cards": ["9h", "9c", "9d", "Ts", "Tc"],
        "first_five": True,
        "community": False,
    }


@pytest.mark.parametrize(
    ("pack", "deal", "line"),
    [
        ("md-uth-a", ROYAL, "royal_flush"),
        ("md-uth-a", BOARD_ROYAL, None),
        ("md-jh-a", "Ad Kd | Qd Jd Td 2c 3d", "royal_flush_diamonds"),
        ("md-jh-a", ROYAL, "royal_flush"),
        ("sd-uthp-01", ROYAL, "royal_flush_first_five"),
        ("sd-uthp-01", BOARD_ROYAL, "community_royal_flush"),
        ("sd-uthp-01", "Ah Kh | Qh Jh 2c Th 3d", "royal_flush"),
    ],
)
def test_with_a_pack_the_winning_line_is_answered_too(
    capsys: pytest.CaptureFixture[str], pack: str, deal: str, line: str | None
) -> None:
    answer = answer_to(capsys, deal, "--pack", pack)
    assert list(answer) == ["hand", "suit", "cards", "first_five", "community", "line"]
    assert answer["line"] == line


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ([ROYAL], "Royal flush of hearts: Ah Kh Qh Jh Th; in the first five cards"),
        ([BOARD_ROYAL], "Royal flush of hearts: Ah Kh Qh Jh Th; on the board"),
        (["9h 9c | As Kd Qh"], "Pair: 9h 9c As Kd Qh"),
        (
            [ROYAL, "--pack", "md-uth-a"],
            "Royal flush of hearts: Ah Kh Qh Jh Th; in the first five cards;"
            " wins royal_flush (100 % of meter)",
        ),
        (
            ["9h 9c | 9s 9d Kh", "--pack", "md-uth-a"],
            "Four of a kind: 9h 9c 9s 9d Kh; wins four_of_a_kind (300 to 1)",
        ),
        (
            ["9h 8c | As Kd Qh", "--pack", "md-uth-a"],
            "High card: As Kd Qh 9h 8c; wins nothing on md-uth-a",
        ),
    ],
)
def test_people_get_one_sentence(
    capsys: pytest.CaptureFixture[str], argv: list[str], sentence: str
) -> None:
    assert sentence_for(capsys, *argv) == sentence + "\n"


def test_a_bad_deal_is_refused_with_all_its_problems(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput) as caught:
        run(["Ah 1x | Qh Zz"])
    assert len(caught.value.problems) == 3
    assert capsys.readouterr().out == ""


def test_an_unknown_pack_is_refused() -> None:
    with pytest.raises(BadInput):
        run([ROYAL, "--pack", "no-such-pack"])


def test_best_of_seven_asks_for_the_whole_board() -> None:
    with pytest.raises(BadInput, match="needs all five community cards"):
        run(["Ah Kh | Qh Jh Th", "--pack", "sd-uthp-01"])


@pytest.mark.parametrize("argv", [[], [ROYAL, "--pac", "md-uth-a"], [ROYAL, ROYAL]])
def test_a_wrong_command_line_is_bad_input(argv: list[str]) -> None:
    with pytest.raises(BadInput, match="see feltlink evaluate --help"):
        run(argv)


def test_each_line_of_standard_input_gets_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe_in(monkeypatch, f"{ROYAL}\n\n   \n{BOARD_ROYAL}".encode())
    assert run(["-"]) == 0
    assert [(a["hand"], a["community"], "line" in a) for a in answers(capsys)] == [
        ("royal_flush", False, False),
        ("royal_flush", True, False),
    ]


def test_a_bad_line_answers_its_error_and_the_others_their_hand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_byte = b"Ah Kh | Qh Jh \xff\n"
    pipe_in(monkeypatch, b"Ah 1x | Qh Jh\n" + bad_byte + f"{ROYAL}\r\n".encode())
    assert run(["-"]) == 2
    first, second, third = answers(capsys)
    assert list(first) == list(second) == ["error"]
    assert "'1x' is not a card" in str(first["error"])
    assert "community cards after the bar" in str(first["error"])
    assert third["hand"] == "royal_flush"


def test_lines_are_judged_by_the_pack_and_refused_where_it_cannot_decide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe_in(monkeypatch, f"Ah Kh | Qh Jh Th\n{BOARD_ROYAL}\n".encode())
    assert run(["-", "--pack", "sd-uthp-01"]) == 2
    undecided, won = answers(capsys)
    assert "needs all five community cards" in str(undecided["error"])
    assert won["line"] == "community_royal_flush"


def test_no_lines_are_no_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe_in(monkeypatch, b"")
    assert run(["-", "--json"]) == 0
    assert capsys.readouterr().out == ""
