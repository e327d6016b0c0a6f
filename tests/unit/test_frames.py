"""The two displays, pixel by pixel: every state has its picture, and nothing is ever cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PIL import Image, ImageChops

from controller.domain.money import UCENTS_PER_CENT, Money
from controller.domain.pack import Hand
from controller.domain.table import (
    ChipCount,
    Claim,
    ClaimStatus,
    Envy,
    PaidFrom,
    Phase,
    Wager,
)
from controller.domain.view import MeterView, View
from controller.screen import Page, Screen
from display.frames import (
    DEALER_SIZE,
    WIDE_SIZE,
    Starting,
    amounts_on,
    blank,
    dealer_frame,
    meter_frame,
    stale_frame,
    start_frame,
    stopped_frame,
)
from display.letters import (
    FACES,
    LARGE_FACES,
    LARGE_SIGNS,
    SMALL,
    TEXT_FACES,
    TINY,
    Face,
    amount_width,
    fit,
    glyph,
    width_of,
)
from display.sheet import MARGIN_PX, PAGE_MS, SHIFT_MS, Box, Sheet
from display.text import SIMULATED
from tests.builders import usd
from tests.unit import golden
from tests.unit.scenes import LONG, NOT_NOW, levels, locked, opened, scenes, view, voided, won
from tests.unit.watching import said_by, watched

SIZES = (DEALER_SIZE, WIDE_SIZE)
LARGEST_CENTS = 99_999_999_99
EVERYTHING_CENTS = 999_999_999_999_99  # the largest amount that a file can name


@pytest.mark.parametrize("name", sorted(scenes()))
def test_each_moment_looks_as_it_was_judged_good(name: str) -> None:
    assert golden.difference(name, scenes()[name]()) == ""


def test_no_golden_picture_is_left_over_from_a_moment_that_is_gone() -> None:
    assert {path.stem for path in golden.GOLDEN.glob("*.png")} == scenes().keys()


def test_the_pictures_in_the_document_are_the_golden_ones() -> None:
    shown = {path.stem: golden.read(path) for path in golden.DOCUMENTED.glob("*.png")}
    assert shown.keys() == golden.documented()
    assert len(shown) >= 12
    for name, picture in shown.items():
        assert golden.same(picture, golden.enlarged(golden.read(golden.GOLDEN / f"{name}.png")))


def test_a_picture_that_differs_is_kept_and_the_way_to_accept_it_is_said(tmp_path: Path) -> None:
    said = golden.difference("dealer-closed", blank(DEALER_SIZE), tmp_path)
    assert "python -m tests.unit.golden --accept dealer-closed" in said
    assert golden.same(golden.read(tmp_path / "dealer-closed.png"), blank((384, 192)))


def test_the_small_font_has_every_sign_that_a_table_needs() -> None:
    signs = "abcdefghijklmnopqrstuvwxyz…♠♥♦♣←↑→↓" + LARGE_SIGNS.replace(" ", "")
    unknown = glyph(SMALL, "\ue123").ink
    inks = [glyph(SMALL, sign).ink for sign in signs]
    assert all(ink is not None and ink != unknown for ink in inks)


@pytest.mark.parametrize("face", LARGE_FACES)
def test_each_large_size_has_its_signs_and_figures_of_one_width(face: Face) -> None:
    assert all(glyph(face, sign).ink for sign in LARGE_SIGNS.replace(" ", ""))
    assert len({glyph(face, figure).advance for figure in "0123456789"}) == 1


def test_text_that_the_large_letters_lack_is_written_smaller_and_in_full() -> None:
    assert fit("CAFÉ", 120, 40) in TEXT_FACES
    assert fit("CAFE", 120, 40) in LARGE_FACES


@pytest.mark.parametrize("name", sorted(scenes()))
def test_nothing_is_cut_off_and_nothing_covers_anything_else(name: str) -> None:
    draw = scenes()[name]
    with watched(all_ink=True) as drawn:
        draw()
    assert drawn.outside == []
    assert drawn.overlaps() == []


amounts = st.one_of(
    st.integers(0, LARGEST_CENTS), st.sampled_from([0, 1, 99, 100_00, LARGEST_CENTS])
).map(lambda cents: Money(cents * UCENTS_PER_CENT))
titles = st.one_of(
    st.sampled_from(["Progressive", "Mega", "Major", "Minor", "Diamond", "Star"]),
    st.text(min_size=1, max_size=60),
)
meters = st.builds(MeterView, titles, amounts, st.booleans(), st.booleans())
seats = st.integers(1, 10)
seat_sets = st.sets(seats).map(lambda found: tuple(sorted(found)))
wagers = st.dictionaries(seats, st.sampled_from([usd("1.00"), usd("5.00"), usd("1000.00")])).map(
    lambda found: tuple(Wager(seat, amount) for seat, amount in sorted(found.items()))
)
claims = st.builds(
    Claim,
    seats,
    st.sampled_from(Hand),
    st.sampled_from(PaidFrom),
    amounts,
    st.sampled_from(ClaimStatus),
    st.just("Dana"),
    late=st.booleans(),
)
envies = st.builds(Envy, seats, seats, st.sampled_from(Hand), amounts)
chips = st.builds(ChipCount, st.sampled_from([usd("1.00"), usd("5.00")]), st.integers(0, 99))
sentences = st.text(max_size=300)


@st.composite
def views(draw: Any) -> View:
    return View(
        table_id=draw(st.sampled_from(["T01", "a-very-long-table-name-of-a-pit", "9"])),
        phase=draw(st.sampled_from(Phase)),
        fault=draw(sentences),
        round=draw(st.integers(0, 10**9)),
        seen=draw(seat_sets),
        accepted=draw(wagers),
        count_hidden=draw(st.booleans()),
        counted=draw(st.lists(chips, max_size=2).map(tuple)),
        fee=draw(st.sampled_from([None, ("7 or more", None), ("4 or fewer", usd("3.00"))])),
        claims=draw(st.lists(claims, max_size=6).map(tuple)),
        envy=draw(st.lists(envies, max_size=6).map(tuple)),
        face_up=draw(seat_sets),
        to_return=draw(wagers),
        must_clear=draw(seat_sets),
        out_of_service=draw(seat_sets),
        meters=draw(st.lists(meters, max_size=6).map(tuple)),
    )


lines = st.one_of(
    st.sampled_from(
        ["1 ROYAL FLUSH 100%", "SEAT 6", "$1,000.00", "PAY $99,999,999.99", "AMOUNT 1 OF 2"]
    ),
    st.text(max_size=21),
)
pages = st.builds(
    Page,
    st.text(max_size=21),
    st.lists(lines, max_size=5).map(tuple),
    st.one_of(st.just(""), st.text(alphabet="0123456789* ", max_size=8)),
    st.text(max_size=21),
)
screens = st.builds(
    Screen,
    views(),
    st.none() | pages,
    st.just("") | sentences,
    st.lists(st.sampled_from(["DOOR OPEN", "FLOOR CALLED", "LINK DOWN"]), max_size=3).map(tuple),
    st.lists(st.sampled_from(["COUNT THE STUB", "CHANGE THE DECK"]), max_size=2).map(tuple),
    st.booleans(),
)
times = st.integers(0, 10**7)


@given(screens, times)
def test_whatever_happens_the_dealer_display_can_be_drawn_with_nothing_cut_off(
    screen: Screen, at_ms: int
) -> None:
    with watched() as drawn:
        frame = dealer_frame(screen, at_ms=at_ms)
    assert (frame.mode, frame.size) == ("1", DEALER_SIZE)
    assert drawn.outside == []
    assert drawn.overlaps() == []
    assert not screen.simulated or SIMULATED in drawn.texts


@given(screens, times, st.sampled_from(SIZES))
def test_whatever_happens_no_amount_on_the_meter_display_is_cut_or_covered(
    screen: Screen, at_ms: int, size: tuple[int, int]
) -> None:
    with watched() as drawn:
        frame = meter_frame(screen, size=size, at_ms=at_ms)
    assert (frame.mode, frame.size) == ("1", size)
    assert drawn.outside == []
    assert drawn.overlaps() == []
    assert not screen.simulated or SIMULATED in drawn.texts
    for amount in amounts_on(screen, size=size, at_ms=at_ms).values():
        assert amount.for_people().removeprefix("$") in drawn.texts


def dealer_says(screen: Screen, at_ms: int = 0) -> list[str]:
    return said_by(dealer_frame, screen=screen, at_ms=at_ms)


def meter_says(moment: View, size: tuple[int, int], at_ms: int = 0, **also: Any) -> list[str]:
    return said_by(meter_frame, screen=Screen(moment, **also), size=size, at_ms=at_ms)


def test_in_a_blind_count_the_display_gives_no_hint_of_what_was_accepted() -> None:
    blind: dict[str, Any] = {"pack_id": "ca-texas-holdem", "count": "blind"}
    frames = {
        dealer_frame(Screen(view(locked(*seats, **blind))), at_ms=at_ms).tobytes()
        for seats in ((), (4,), tuple(range(1, 11)))
        for at_ms in (0, PAGE_MS, 2 * PAGE_MS)
    }
    assert len(frames) == 1


@given(sentences)
def test_a_refusal_of_any_length_can_be_read_to_its_last_word(notice: str) -> None:
    screen = Screen(view(opened()), notice=notice or "?")
    read: list[str] = []
    for page in range(20):
        said = dealer_says(screen, page * PAGE_MS)
        pages = int(said[0].rpartition("/")[2]) if "/" in said[0] else 1
        header = 2 if pages > 1 else 1
        read += said[header:] if page < pages else []
    expected = "".join(letter for letter in f"NO:{notice or '?'}".upper() if letter.isprintable())
    assert "".join(read).replace(" ", "") == "".join(expected.split())


def test_a_new_refusal_is_read_from_its_beginning_whenever_it_comes() -> None:
    screen = Screen(view(opened()), notice=LONG)
    for came_ms in (0, PAGE_MS, 9 * SHIFT_MS + 2 * PAGE_MS):
        said = said_by(dealer_frame, screen=screen, at_ms=came_ms + 10, since_ms=came_ms)
        assert said[0] == "1/3"


@pytest.mark.requirement(13)
def test_a_refusal_is_said_instead_of_the_round_with_the_state_above_it() -> None:
    said = dealer_says(Screen(view(opened()), notice=NOT_NOW))
    assert said[0] == "BETS OPEN"
    assert " ".join(said[1:]) == f"NO: {NOT_NOW.upper()}"


def test_every_seat_that_is_owed_envy_or_a_wager_is_named_even_at_a_table_of_ten() -> None:
    ten = tuple(range(10, 0, -1))
    owed = tuple(Envy(seat, 11, Hand.ROYAL_FLUSH, usd("1000.00")) for seat in ten)
    moment = replace(view(won()), claims=(), envy=owed, face_up=(11,))
    assert " ".join(str(seat) for seat in ten) in " ".join(dealer_says(Screen(moment)))
    back = replace(view(voided()), to_return=tuple(Wager(seat, usd("1.00")) for seat in ten))
    assert " ".join(str(seat) for seat in ten) in " ".join(dealer_says(Screen(back)))


def test_the_envy_walk_names_who_gets_it_how_much_and_what_stays_face_up() -> None:
    said = dealer_says(Screen(view(won(validated=True))), 2 * PAGE_MS)
    assert said[-4:] == ["ENVY SEATS 5 2 1", "FACE UP: SEAT 4", "1,000.00", "$"]


def test_notes_at_the_foot_of_a_page_all_come_up_although_the_pages_take_turns_too() -> None:
    late = replace(view(won()).claims[0], late=True, hand=Hand.ROYAL_FLUSH_FIRST_FIVE)
    moment = replace(view(won()), claims=(late, replace(late, seat=2)), face_up=(2, 4))
    pages = [set(dealer_says(Screen(moment), at * PAGE_MS)) for at in range(4)]
    for seat in (2, 4):
        assert any({f"CALL FLOOR SEAT {seat}", "LATE KEY: PRICED LAST"} <= page for page in pages)
        assert any({f"CALL FLOOR SEAT {seat}", "FACE UP"} <= page for page in pages)


@pytest.mark.requirement(55)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_players_see_every_level_in_dollars_and_cents(count: int) -> None:
    moment = levels(count)
    expected = {meter.shown.for_people().removeprefix("$") for meter in moment.meters}
    assert expected <= set(meter_says(moment, WIDE_SIZE))
    by_turns = [meter_says(moment, DEALER_SIZE, at_ms) for at_ms in (0, 4000, 8000)]
    assert expected <= {text for page in by_turns for text in page}


@given(st.integers(0, EVERYTHING_CENTS), st.sampled_from(SIZES), st.booleans())
def test_an_amount_is_as_wide_as_its_length_and_moves_with_no_cent(
    cents: int, size: tuple[int, int], simulated: bool
) -> None:
    amount = Money(cents * UCENTS_PER_CENT)
    nines = amount.for_people().translate(str.maketrans("012345678", "999999999"))
    assert all(amount_width(amount.for_people(), f) == amount_width(nines, f) for f in FACES)
    moment = replace(levels(1), meters=(MeterView("Meter", amount, False, False),) * 5)
    with watched() as drawn:
        meter_frame(Screen(moment, simulated=simulated), size=size, at_ms=0)
    assert drawn.outside == []
    assert amount.for_people().removeprefix("$") in drawn.texts


@pytest.mark.requirement(16, 45)
@pytest.mark.parametrize("size", SIZES)
def test_pending_and_limit_stand_beside_their_meter_by_turns_if_both(size: tuple[int, int]) -> None:
    assert "PENDING" in meter_says(levels(2, pending=2), size)
    assert "LIMIT" in meter_says(levels(2, limit=1), size)
    both = levels(1, pending=1, limit=1)
    assert "PENDING" in meter_says(both, size)
    assert "LIMIT" in meter_says(both, size, PAGE_MS)
    assert not {"PENDING", "LIMIT"} & set(meter_says(levels(2), size))


@pytest.mark.parametrize("size", SIZES)
def test_a_validated_hit_and_the_new_amount_take_turns(size: tuple[int, int]) -> None:
    paid, waiting = view(won(validated=True)), view(won())
    assert "12,345.67" in meter_says(paid, size)
    assert "10,000.00" in meter_says(paid, size, 4000)
    assert "12,345.67" in meter_says(paid, size, 8000)
    assert "12,345.67" not in meter_says(waiting, size)
    assert amounts_on(Screen(paid), size=size, at_ms=0) == {}
    assert amounts_on(Screen(paid), size=size, at_ms=4000) == {"Progressive": usd("10000.00")}


@pytest.mark.requirement(59)
@pytest.mark.parametrize("size", SIZES)
def test_without_news_there_is_no_number_on_the_display(size: tuple[int, int]) -> None:
    said = said_by(stale_frame, size=size)
    assert "NO DATA" in said
    assert not any(letter.isdigit() for text in said for letter in text)


@pytest.mark.requirement(68)
@pytest.mark.parametrize("size", SIZES)
def test_the_start_shows_version_and_fingerprint(size: tuple[int, int]) -> None:
    said = said_by(start_frame, size=size, starting=Starting("SENSORS", "0.2.0", "0f3a9c77" * 8))
    assert said == ["STARTING", "FELTLINK 0.2.0", "PACK 0f3a9c770f3a9c77", "SENSORS"]


@pytest.mark.parametrize("size", SIZES)
def test_a_unit_that_stops_leaves_word_of_it(size: tuple[int, int]) -> None:
    said = said_by(stopped_frame, size=size, why="The disk is full.")
    assert " ".join(said) == "OUT OF SERVICE THE DISK IS FULL. CALL ATTENDANT."


def shifted(size: tuple[int, int] | None) -> list[Image.Image]:
    """One frame in each of its nine places; without a size the dealer's."""
    minutes = [minute * SHIFT_MS for minute in range(9)]
    if size is None:
        return [dealer_frame(Screen(view(locked(2, 4, 5))), at_ms=at_ms) for at_ms in minutes]
    screen = Screen(levels(1, largest=True), simulated=True, alerts=("LINK DOWN",))
    return [meter_frame(screen, size=size, at_ms=at_ms) for at_ms in minutes]


def lit(image: Image.Image) -> int:
    return sum(byte.bit_count() for byte in image.tobytes())


@pytest.mark.parametrize("size", [None, *SIZES])
def test_the_slow_shift_gives_every_pixel_a_rest_and_cuts_nothing(
    size: tuple[int, int] | None,
) -> None:
    frames = shifted(size)
    assert len({frame.tobytes() for frame in frames}) == 9
    assert len({frame.crop(frame.getbbox()).tobytes() for frame in frames}) == 1
    always = frames[0]
    for frame in frames[1:]:
        always = ImageChops.logical_and(always, frame)
    assert 4 * lit(always) < 3 * lit(frames[0])


def test_a_sheet_keeps_its_margin_free_for_the_shift() -> None:
    sheet = Sheet(DEALER_SIZE)
    sheet.bar(Box(0, 0, 500, 500))
    assert sheet.finish(0).getbbox() == (1, 1, 128 - MARGIN_PX + 1, 64 - MARGIN_PX + 1)


def test_text_that_must_be_cut_is_seen_to_be_cut() -> None:
    moment = replace(levels(2), meters=(MeterView("W" * 60, usd("1.00"), False, False),) * 2)
    said = meter_says(moment, DEALER_SIZE)
    assert any(text.startswith("WWW") and text.endswith("…") for text in said)
    assert width_of("W" * 60, TINY) > DEALER_SIZE[0]
