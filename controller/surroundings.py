"""What a table's unit needs besides its table: put together once per process."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from controller.domain.table import Person
from controller.ports import Board, Clock, Screens
from controller.readout import Facts


class Surroundings(Struct, frozen=True):
    """What a unit needs besides its table: one value, put together once per process."""

    board: Board
    screens: Screens
    clock: Clock
    check_pin: Callable[[str, str], Person | None]
    facts: Callable[[], Facts]
    table_id: str
    simulated: bool
