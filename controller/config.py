"""The table file: TOML text to frozen settings, or every problem of the text at once.

Pure: no file access. Whoever calls hands in the text and a way to find the pack it names.
A new section is a line in KEYS, a reader, and a part of docs/config.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from controller.choices import (
    CHOICE_KEYS,
    PLACEHOLDER,
    SEATS_MAX,
    Ground,
    check_choices,
    check_rates,
    read_choices,
)
from controller.document import (
    AMOUNT,
    CENTS,
    IDENTIFIER,
    RATE,
    Kind,
    Problems,
    Section,
    one_of,
    parse,
    read_cents,
    show,
    text_up_to,
    whole,
)
from controller.domain.errors import BadInput, Broken
from controller.domain.money import ZERO, Money
from controller.domain.pack import CountMode, MeterParameters, MeterRule, Overflow, Pack, Settings
from controller.hardware import DROP, Hardware
from controller.hardware_file import HARDWARE_KEYS, read_hardware, says_hardware

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from controller.packfile import PackFile

# Every key of a table file. docs/config.md describes each of them, and a test compares the two.
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "table": ("id", "seats"),
    "rules": ("pack", "edition", *CHOICE_KEYS),
    "meters.NAME": (
        "seed",
        "initial",
        "initial_reserve",
        "rate",
        "reserve_rate",
        "limit",
        "overflow",
        "max_contribution",
        "link",
    ),
    "collection": ("fees",),
    "house": ("stub_count_rounds", "deck_change_hours", "checklist_from"),
    "ledger": ("copy",),
    "staff": ("file",),
    "software": ("sha256",),
    "approval": ("by", "reference"),
    **HARDWARE_KEYS,
}
SECTIONS: Final = tuple(dict.fromkeys(name.partition(".")[0] for name in KEYS))

DEFAULT_TABLE_ID: Final = "T01"


def _read_fees(value: object) -> tuple[Money, ...] | None:
    fees = [read_cents(item) for item in value] if isinstance(value, list) else [None]
    whole_cents = tuple(fee for fee in fees if fee is not None)
    return whole_cents if len(whole_cents) == len(fees) else None


def _read_digest(value: object) -> str | None:
    good = isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value)
    return str(value) if good else None


TEXT: Final = text_up_to(200)
SEATS: Final = whole(1, SEATS_MAX)
OVERFLOW: Final = one_of(Overflow)
STUB_ROUNDS: Final = whole(0, 1000)
DECK_HOURS: Final = whole(0, 24)
DIGEST: Final = Kind("64 hexadecimal digits in small letters", _read_digest)
FEES: Final = Kind('a list of amounts in whole cents, such as ["5.00", "4.00", "3.00"]', _read_fees)


@dataclass(frozen=True, slots=True)
class TableFile:
    """Everything a table file says, every default filled in."""

    settings: Settings
    pack: Pack
    ledger_copy: str | None
    staff_file: str | None
    software: str | None  # the digest of the approved program
    approval_by: str | None
    approval_reference: str | None
    hardware: Hardware | None  # None: the file says nothing about wires
    where: str
    pack_warnings: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed and yet a mistake. Worked out when asked for: it counts every hand."""
        return (*self.pack_warnings, *_warnings(self.settings, self.pack, self.where))


def no_maps(name: str) -> str:
    raise Broken(f"nobody said where the ready map {name} is")


def table_from_toml(
    text: str,
    *,
    where: str,
    find_pack: Callable[[str], PackFile],
    load_map: Callable[[str], str] = no_maps,
) -> TableFile:
    """Read a table file; `find_pack` loads the pack it names, or raises BadInput."""
    document = parse(text, where=where)
    return table_from_document(document, where=where, find_pack=find_pack, load_map=load_map)


def default_table(pack_file: PackFile) -> TableFile:
    """The table of somebody who wrote no table file: all seats of the pack, all its defaults."""
    document = {"table": {"id": DEFAULT_TABLE_ID}, "rules": {"pack": pack_file.pack.id}}
    where = f"{pack_file.pack.id} with its defaults"
    return table_from_document(document, where=where, find_pack=lambda _: pack_file)


def table_from_document(
    document: Mapping[str, object],
    *,
    where: str,
    find_pack: Callable[[str], PackFile],
    load_map: Callable[[str], str] = no_maps,
) -> TableFile:
    return _Reader(document, where).read(find_pack, load_map)


def default_hardware(file: TableFile, load_map: Callable[[str], str]) -> Hardware:
    """The wires of a table whose file says nothing about them: a ready map, if one fits."""
    problems = Problems(f"table {file.settings.table_id} without a [hardware] section")
    settings = file.settings
    root = Section({}, SECTIONS, problems)
    hardware = read_hardware(
        root, problems, seats=settings.seats, spots=len(settings.wagers), load_map=load_map
    )
    _check_drop(settings, hardware, problems)
    problems.stop_if_any()
    return hardware


def _check_drop(settings: Settings, hardware: Hardware, problems: Problems) -> None:
    """A slot that counts the chips has to be wired."""
    if settings.count is CountMode.SENSOR and DROP not in dict(hardware.lines):
        problems.say("rules.count", '"sensor" without a drop slot', "it with pins.drop set")


class _Reader:
    """One pass over one document. Without its pack a file is still read, to report the rest."""

    def __init__(self, document: Mapping[str, object], where: str) -> None:
        self._where = where
        self._problems = Problems(where)
        self._root = Section(document, SECTIONS, self._problems)
        self._rules = self._root.section("rules", KEYS["rules"])
        self._meters = self._root.named("meters", KEYS["meters.NAME"])

    def read(
        self, find_pack: Callable[[str], PackFile], load_map: Callable[[str], str]
    ) -> TableFile:
        pack_file = self._find(find_pack)
        sections = ("ledger", "staff", "software", "approval")
        ledger, staff, software, approval = (self._root.section(k, KEYS[k]) for k in sections)
        texts = (
            ledger.take("copy", TEXT, None),
            staff.take("file", TEXT, None),
            software.take("sha256", DIGEST, None),
            approval.take("by", TEXT, None),
            approval.take("reference", TEXT, None),
        )
        settings = self._settings(pack_file)
        hardware = self._hardware(settings, load_map)
        self._problems.stop_if_any()
        if pack_file is None:
            raise Broken("a table file without a pack passed for good")
        pack = pack_file.pack
        return TableFile(
            settings,
            pack,
            *texts,
            hardware=hardware,
            where=self._where,
            pack_warnings=pack_file.warnings,
        )

    def _hardware(self, settings: Settings, load_map: Callable[[str], str]) -> Hardware | None:
        if not says_hardware(self._root):
            return None
        seats, spots = settings.seats, len(settings.wagers)
        hardware = read_hardware(
            self._root, self._problems, seats=seats, spots=spots, load_map=load_map
        )
        _check_drop(settings, hardware, self._problems)
        return hardware

    def _find(self, find_pack: Callable[[str], PackFile]) -> PackFile | None:
        name = self._rules.take("pack", TEXT, None, required=True)
        try:
            return None if name is None else find_pack(name)
        except BadInput as bad:
            for problem in bad.problems:
                self._problems.sentences.append(f"{self._where}: rules.pack: {problem}")
        return None

    def _settings(self, pack_file: PackFile | None) -> Settings:
        table = self._root.section("table", KEYS["table"])
        seats = table.take("seats", SEATS, pack_file.pack.seats_max if pack_file else SEATS_MAX)
        choices = read_choices(self._rules, pack_file.defaults if pack_file else PLACEHOLDER)
        edition = self._rules.take("edition", TEXT, pack_file.pack.edition if pack_file else "")
        house = self._root.section("house", KEYS["house"])
        fees = self._root.section("collection", KEYS["collection"]).take("fees", FEES, ())
        if pack_file:
            self._check_seats(seats, pack_file)
            self._check_edition(edition, pack_file)
            self._check_fees(fees, pack_file.pack)
            ground = Ground(pack_file.pack, pack_file.limits, pack_file.cites, seats, edition)
            check_choices(choices, ground, self._rules)
        return Settings(
            table_id=table.take("id", IDENTIFIER, "", required=True),
            seats=seats,
            wagers=choices.wagers,
            edition=edition,
            adjacent_boxes=choices.adjacent_boxes,
            envy_holder_must_wager=choices.envy_holder_must_wager,
            simultaneous=choices.simultaneous,
            stake_returned=choices.stake_returned,
            validate_all=choices.validate.everything,
            validate_from=choices.validate.from_amount,
            count=choices.count,
            void_contributions=choices.void_contributions,
            floor_may_add=choices.floor_may_add,
            collection_fees=fees,
            meters=self._all_parameters(pack_file),
            stub_count_rounds=house.take("stub_count_rounds", STUB_ROUNDS, 0),
            deck_change_hours=house.take("deck_change_hours", DECK_HOURS, 0),
            checklist_from=house.take("checklist_from", CENTS, None),
        )

    def _check_seats(self, seats: int, pack_file: PackFile) -> None:
        most = pack_file.pack.seats_max
        if seats > most:
            allowed = f"at most {most} ({pack_file.cites['seats_max']})"
            self._problems.add("table.seats", seats, allowed)

    def _check_edition(self, edition: str, pack_file: PackFile) -> None:
        known = [pack_file.pack.edition, *(known.name for known in pack_file.limits.editions)]
        if edition not in known:
            allowed = ", ".join(f'"{name}"' for name in known)
            self._rules.refuse("edition", edition, allowed)

    def _check_fees(self, fees: tuple[Money, ...], pack: Pack) -> None:
        if fees and len(fees) != len(pack.collection):
            labels = ", ".join(band.label for band in pack.collection)
            allowed = f"one for each band of the pack: {labels}" if labels else "none by this pack"
            self._problems.add("collection.fees", [fee.payable() for fee in fees], allowed)

    def _all_parameters(self, pack_file: PackFile | None) -> tuple[MeterParameters, ...]:
        if pack_file is None:
            rules = [MeterRule(name, name, ZERO, 0, 0) for name in self._meters]
            return tuple(self._parameters(rule, "") for rule in rules)
        known = [rule.name for rule in pack_file.pack.meters]
        for name in self._meters:
            if name not in known:
                allowed = ", ".join(known) or "none: this pack has no meter"
                self._problems.say("meters", f"a meter {show(name)}", allowed)
        parameters = tuple(
            self._parameters(rule, pack_file.cites[f"meters.{rule.name}"])
            for rule in pack_file.pack.meters
        )
        check_rates([(each.rate_ppm, each.reserve_rate_ppm) for each in parameters], self._problems)
        return parameters

    def _parameters(self, rule: MeterRule, cite: str) -> MeterParameters:
        keys = KEYS["meters.NAME"]
        empty = Section({}, keys, self._problems, path=f"meters.{rule.name}")
        section = self._meters.get(rule.name, empty)
        seed = section.take("seed", AMOUNT, rule.minimum)
        found = MeterParameters(
            name=rule.name,
            seed=seed,
            initial=section.take("initial", AMOUNT, seed),
            initial_reserve=section.take("initial_reserve", AMOUNT, ZERO),
            rate_ppm=section.take("rate", RATE, rule.default_rate_ppm),
            reserve_rate_ppm=section.take("reserve_rate", RATE, rule.default_reserve_rate_ppm),
            limit=section.take("limit", CENTS, None),
            overflow=section.take("overflow", OVERFLOW, Overflow.RESERVE),
            max_contribution=section.take("max_contribution", AMOUNT, None),
            link=section.take("link", IDENTIFIER, None),
        )
        _check_amounts(found, rule.minimum, cite, section)
        return found


def _check_amounts(found: MeterParameters, minimum: Money, cite: str, section: Section) -> None:
    for key, amount in (("seed", found.seed), ("initial", found.initial)):
        if section.has(key) and amount < minimum:
            allowed = f"{minimum.for_people()} or more ({cite})"
            section.refuse(key, amount.payable(), allowed)
    floor = max(found.seed, found.initial)
    if found.limit is not None and found.limit < floor:
        allowed = f"at least the seed and the initial amount, {floor.for_people()}"
        section.refuse("limit", found.limit.payable(), allowed)


def _warnings(settings: Settings, pack: Pack, where: str) -> list[str]:
    warnings = [] if pack.pays else [f"{where}: rules.pack: no line pays, so no wager can win."]
    returned = seed_return(settings, pack)
    if returned > 1:
        hundredths = returned.numerator * 10_000 // returned.denominator
        warnings.append(
            f"{where}: rules.wagers: with every meter at its seed the paytable returns"
            f" {hundredths // 100}.{hundredths % 100:02d} % of a"
            f" {min(settings.wagers).for_people()} wager: the house loses on every such wager."
        )
    full_table = max(settings.wagers) * settings.seats
    for meter in settings.meters:
        adds = full_table.share(meter.rate_ppm) + full_table.share(meter.reserve_rate_ppm)
        if meter.max_contribution is not None and adds > meter.max_contribution:
            warnings.append(
                f"{where}: meters.{meter.name}.max_contribution: a full table adds"
                f" {adds.for_people()}, so its rounds will be refused."
            )
    return warnings


def seed_return(settings: Settings, pack: Pack) -> Fraction:
    """What the smallest wager, which has the most to gain from a meter, gets back on average."""
    from controller.domain.odds import line_counts
    from controller.domain.returns import own_return

    return own_return(
        pack,
        line_counts(pack),
        wager=min(settings.wagers),
        amounts={meter.name: meter.seed for meter in settings.meters},
        stake_returned=settings.stake_returned,
    )
