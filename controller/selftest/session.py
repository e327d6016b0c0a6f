"""Talking with the technician while the table goes on turning: questions, deeds, second tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from controller.inputs import Input
from controller.screen import Page
from controller.selftest.record import Outcome, Result
from controller.selftest.rig import Rig
from controller.selftest.tasks import YES_OR_NO, GoOn, Task, Technician

DEED_S: Final = 30  # how long a deed may take
SECOND_US: Final = 1_000_000
SKIP: Final = "s"

Turn = Callable[[], tuple[Input, ...]]


class Ending(Enum):
    """How the wait for a deed ended."""

    DONE = auto()
    LATE = auto()
    SKIPPED = auto()


class Session:
    """One technician at one table. `turn` keeps the table going and tells what people did."""

    def __init__(self, rig: Rig, technician: Technician, turn: Turn | None = None) -> None:
        self.rig, self.technician = rig, technician
        self._turn = turn or rig.turn

    def ask(self, task: Task) -> str:
        """Put a question and go on turning until it is answered."""
        self._tell(task)
        while True:
            self._turn()
            answer = self.technician.answer()
            if answer is None:
                continue
            if task.is_free or answer in task.choices:
                return answer
            self.technician.news(f"Please answer {' or '.join(task.choices)}.")

    def until(
        self, task: Task, is_done: Callable[[tuple[Input, ...]], bool], *, limit_s: int = DEED_S
    ) -> Ending:
        """Ask for a deed and turn until it is done, given up, or too late."""
        self._tell(task)
        return self.wait(is_done, limit_s=limit_s)

    def wait(
        self, is_done: Callable[[tuple[Input, ...]], bool], *, limit_s: int = DEED_S
    ) -> Ending:
        late_us = self.rig.pins.now_us() + limit_s * SECOND_US
        while self.rig.pins.now_us() < late_us:
            if is_done(self._turn()):
                return Ending.DONE
            if self.technician.answer() == SKIP:
                return Ending.SKIPPED
        return Ending.LATE

    def pause(self, pause_us: int) -> None:
        """Let the table turn for a while."""
        end_us = self.rig.pins.now_us() + pause_us
        while self.rig.pins.now_us() < end_us:
            self._turn()

    def tried(self, check: Callable[[], Result]) -> Result:
        """A check, and as often again as the technician wants while it fails."""
        tries = 1
        while (result := check()).outcome is Outcome.FAIL and self.again(result):
            tries += 1
        if tries == 1:
            return result
        return replace(result, figures={**result.figures, "tries": tries})

    def again(self, result: Result) -> bool:
        question = f"{result.name}: {result.says} Try it again? [y/n]"
        glass = (result.name.upper(), "FAILED. AGAIN?")
        return self.ask(Task(question, (GoOn(),), YES_OR_NO, glass=glass)) == "y"

    def _tell(self, task: Task) -> None:
        hint = "ANSWER AT TERMINAL" if task.is_question else ""
        self.rig.show(Page("SELF-TEST", task.glass, hint=hint))
        self.technician.told(task)
