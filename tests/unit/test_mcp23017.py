"""The port expander: what it is told, what it forgets, and how it is told again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controller.domain.errors import Broken, Fault
from controller.hardware import Expander
from firmware.mcp23017 import LINES, OUTPUT_ONLY, Mcp23017
from tests.fake_expander import CONTROL, DIRECTION, LATCH, PULL_UP, FakeBus, FakeChip

X1 = Expander("X1", bus=1, address=0x20)


def plugged() -> tuple[FakeChip, FakeBus, Mcp23017]:
    chip = FakeChip()
    bus = FakeBus(at_20=chip)
    return chip, bus, Mcp23017(bus, X1)


def test_unused_lines_are_inputs_with_pull_up_except_the_two_that_may_not_be() -> None:
    chip, _, _ = plugged()
    assert {line for line in LINES if chip.is_output(line)} == {"A7", "B7"}
    assert chip.pair(PULL_UP) == 0x7F7F
    assert chip.pair(LATCH) == 0


def test_a_lamp_is_switched_by_one_write_to_its_port_and_only_when_it_changes() -> None:
    chip, bus, expander = plugged()
    expander.output("B7", high=False)
    bus.writes.clear()
    expander.output("B7", high=True)
    expander.output("B7", high=True)
    assert bus.writes == [(0x20, LATCH + 1, 0x80)]
    assert chip.is_driven_high("B7")
    assert expander.is_set("B7")


def test_a_line_takes_its_level_before_it_becomes_an_output_so_that_no_lamp_flashes() -> None:
    _, bus, expander = plugged()
    bus.writes.clear()
    expander.output("A0", high=True)
    assert bus.writes == [(0x20, LATCH, 0x01), (0x20, DIRECTION, 0x7E)]


def test_all_sixteen_lines_are_read_in_one_transfer() -> None:
    chip, bus, expander = plugged()
    chip.grounded = {"A0", "B3"}
    bus.reads.clear()
    assert expander.high_lines() == set(LINES) - {"A0", "B3", "A7", "B7"}
    assert bus.reads == [(0x20, PULL_UP)]


@pytest.mark.parametrize("line", sorted(OUTPUT_ONLY))
def test_a7_and_b7_are_refused_as_inputs(line: str) -> None:
    _, bus, expander = plugged()
    bus.writes.clear()
    with pytest.raises(Broken, match=f"{line} of an MCP23017 may only be an output"):
        expander.input(line, pull_up=True)
    expander.output(line, high=True)
    expander.release(line)
    assert bus.writes == [(0x20, LATCH + (line == "B7"), 0x80), (0x20, LATCH + (line == "B7"), 0)]


def test_a_line_that_is_let_go_is_an_input_with_pull_up_again() -> None:
    chip, _, expander = plugged()
    expander.output("A3", high=True)
    expander.input("A4", pull_up=False)
    assert not expander.is_pulled_up("A4")
    expander.release("A3")
    expander.release("A4")
    assert not chip.is_output("A3")
    assert chip.pair(PULL_UP) == 0x7F7F


def test_an_expander_that_is_not_there_is_told_by_name_address_and_bus() -> None:
    with pytest.raises(Fault) as told:
        Mcp23017(FakeBus(), Expander("X2", bus=3, address=0x21))
    assert str(told.value) == (
        "Expander X2 at 0x21 on I2C bus 3 does not answer (Remote I/O error): check its cable, its"
        " power and its address pins."
    )


def test_an_expander_that_lost_its_power_unnoticed_is_found_out_and_told_again() -> None:
    chip, _, expander = plugged()
    expander.output("A5", high=True)
    assert expander.remembers()
    chip.replug()
    assert not expander.remembers()
    expander.restore()
    assert expander.remembers()
    assert chip.is_driven_high("A5")
    assert chip.pair(DIRECTION) == 0x7F5F


def test_a_lamp_switched_while_the_cable_was_out_is_lit_once_the_cable_is_in_again() -> None:
    chip, _, expander = plugged()
    expander.output("A5", high=False)
    chip.unplug()
    with pytest.raises(Fault, match="does not answer"):
        expander.output("A5", high=True)
    with pytest.raises(Fault, match="does not answer"):
        expander.output("A5", high=True)
    chip.replug()
    expander.output("A5", high=True)
    assert chip.is_driven_high("A5")
    assert expander.remembers()


@pytest.mark.parametrize("noticed", [True, False])
def test_keys_are_never_read_from_an_expander_that_forgot_its_pull_ups(noticed: bool) -> None:
    chip, _, expander = plugged()
    expander.output("B4", high=False)
    if noticed:
        chip.unplug()
        with pytest.raises(Fault):
            expander.high_lines()
    chip.replug()
    assert expander.high_lines() == set(LINES) - {"A7", "B7", "B4"}
    assert chip.is_output("B4")


def test_an_expander_that_does_not_keep_what_it_is_told_is_refused() -> None:
    chip = FakeChip()
    chip.keeps_writes = False
    with pytest.raises(Fault, match="X1 at 0x20 on I2C bus 1 does not keep what is written to it"):
        Mcp23017(FakeBus(at_20=chip), X1)


def test_registers_that_other_software_had_moved_are_put_back() -> None:
    chip = FakeChip()
    chip.write(CONTROL, 0x80)
    expander = Mcp23017(FakeBus(at_20=chip), X1)
    expander.output("A2", high=True)
    expander.output("B2", high=True)
    chip.write(CONTROL, 0x80)
    expander.restore()
    assert chip.is_driven_high("A2")
    assert chip.is_driven_high("B2")


STEPS = st.one_of(
    st.tuples(st.just("output"), st.sampled_from(LINES), st.booleans()),
    st.tuples(st.just("input"), st.sampled_from(["A0", "A1", "B2"]), st.booleans()),
    st.tuples(st.sampled_from(["unplug", "replug", "read"]), st.just("A0"), st.just(False)),
)


def take(step: tuple[str, str, bool], chip: FakeChip, expander: Mcp23017) -> None:
    what, line, on = step
    if what == "output":
        expander.output(line, high=on)
    elif what == "input":
        expander.input(line, pull_up=on)
    elif what == "read":
        expander.high_lines()
    elif what == "unplug":
        chip.unplug()
    elif not chip.is_plugged:
        chip.replug()


@given(st.lists(STEPS, max_size=30))
@example(
    [("unplug", "", False), ("replug", "", False), ("input", "A0", False), ("input", "B2", False)]
)
def test_whatever_is_pulled_out_and_when_the_next_reading_finds_the_chip_as_asked(
    steps: list[tuple[str, str, bool]],
) -> None:
    chip, _, expander = plugged()
    for step in [*steps, ("replug", "", False), ("read", "", False)]:
        try:
            take(step, chip, expander)
        except Fault:
            assert not chip.is_plugged
            continue
        if step[0] == "read":
            assert [chip.is_output(line) for line in LINES] == list(map(expander.is_output, LINES))
            assert chip.pair(LATCH) == sum(expander.is_set(x) << n for n, x in enumerate(LINES))
