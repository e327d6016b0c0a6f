"""Rule packs: TOML text to a frozen pack, or every problem of the text at once.

Pure: no file access. Who finds a file, or the pack that it builds on, hands the text in.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from controller.choices import (
    CHOICE_KEYS,
    PLACEHOLDER,
    SEATS_MAX,
    Choices,
    Edition,
    Ground,
    Limits,
    check_choices,
    check_rates,
    read_choices,
)
from controller.document import (
    AMOUNT,
    FLAG,
    IDENTIFIER,
    POSITIVE_CENTS,
    RATE,
    Kind,
    Problems,
    Section,
    one_of,
    parse,
    pattern,
    text_up_to,
    whole,
)
from controller.domain.money import ZERO, show_rate
from controller.domain.pack import (
    PERCENT_WHOLE,
    ROYALS,
    CollectionBand,
    EnvyLine,
    Hand,
    HandBasis,
    MeterPay,
    MeterRule,
    OddsPay,
    Pack,
    Pay,
    Style,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ALWAYS_CITED: Final = ("edition", "hand_basis", "seats_max")
CITED_IF_STATED: Final = ("wager_max", "stake_returnable")
HEAD_KEYS: Final = ("format", "id", "title", "jurisdiction", "source", *ALWAYS_CITED)
TABLE_KEYS: Final = ("cites", "meters", "pays", "envy", "settings", "collection", "editions")
PACK_KEYS: Final = (*HEAD_KEYS, *CITED_IF_STATED, *TABLE_KEYS, "base")
PAY_KEYS: Final = ("hand", "meter", "percent", "odds", "cite")
METER_KEYS: Final = ("title", "minimum", "cite", "default_rate", "default_reserve_rate")
ENVY_KEYS: Final = ("scales", "cite", "schedule")
ENVY_ROW_KEYS: Final = ("wager", "cite", *(hand.value for hand in Hand))
BAND_KEYS: Final = ("players_from", "label", "cite")
EDITION_KEYS: Final = ("adjacent_boxes_max", "cite")

# Lines that look at where the cards lie need all seven of them on the table.
_PLACED: Final = (Hand.ROYAL_FLUSH_FIRST_FIVE, Hand.COMMUNITY_ROYAL_FLUSH)

_ODDS: Final = re.compile(r"([1-9]\d{0,6}) (to|for) 1", re.ASCII)
_METER_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,15}", re.ASCII)


def _read_odds(value: object) -> tuple[int, Style] | None:
    found = _ODDS.fullmatch(value) if isinstance(value, str) else None
    return (int(found[1]), Style(found[2])) if found else None


TEXT: Final = text_up_to(200)
TITLE: Final = text_up_to(60)
CITE: Final = Kind('the rule it comes from, such as "MD 12.D(1)(a)(i)"', TEXT.read)
ODDS: Final = Kind('odds such as "300 to 1" or "50 for 1"', _read_odds)
PERCENT: Final = whole(1, PERCENT_WHOLE)
SEATS: Final = whole(1, SEATS_MAX)
HAND: Final = one_of(Hand)
BASIS: Final = one_of(HandBasis)
METER_NAME: Final = pattern(
    _METER_NAME.pattern, "1 to 16 of a-z, 0-9, underscore and hyphen, a letter first"
)


@dataclass(frozen=True, slots=True)
class PackFile:
    """A pack with what a table file needs besides: defaults, limits and the rule behind each."""

    pack: Pack
    defaults: Choices
    limits: Limits
    cites: Mapping[str, str]  # "pays.royal_flush", "meters.star", "settings.count", "seats_max"…
    document: Mapping[str, object]  # merged: what another pack can build on
    warnings: tuple[str, ...]


def pack_from_toml(text: str, *, where: str, base: Mapping[str, object] | None = None) -> PackFile:
    """Read a pack. `base` is the document of the pack it names in its key `base`."""
    return pack_from_document(parse(text, where=where), where=where, base=base)


def pack_from_document(
    document: Mapping[str, object], *, where: str, base: Mapping[str, object] | None = None
) -> PackFile:
    problems = Problems(where)
    if base is None and "base" in document:
        problems.add("base", document["base"], "the id or the path of a pack")
    if base is not None and document.get("id", base.get("id")) == base.get("id"):
        problems.add(
            "id", document.get("id"), "an id of its own, not that of the pack it builds on"
        )
    merged = merge(document, base or {})
    found = _Reader(merged, problems, where).read()
    problems.stop_if_any()
    return found


def merge(document: Mapping[str, object], base: Mapping[str, object]) -> dict[str, object]:
    """The document over its base, key by key. A restated value does not keep the old citation."""
    merged = {**base, **document}
    merged.pop("base", None)
    old, new = base.get("cites", {}), document.get("cites", {})
    if isinstance(old, dict) and isinstance(new, dict):
        kept = {key: cite for key, cite in old.items() if key not in document}
        merged["cites"] = {**kept, **new}
    return merged


def fingerprint(document: Mapping[str, object]) -> str:
    """SHA-256 of the document in canonical form: comments and layout do not count, values do."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


class _Reader:
    """One pass over one document. Values are complete only if no problem was found."""

    def __init__(self, document: Mapping[str, object], problems: Problems, where: str) -> None:
        self._document = document
        self._problems = problems
        self._where = where
        self._root = Section(document, PACK_KEYS, problems)
        self._cites: dict[str, str] = {}
        self._warnings: list[str] = []

    def read(self) -> PackFile:
        self._read_cites()
        limits = self._limits()
        pack = self._pack()
        defaults = self._defaults(pack, limits)
        self._warn_of_idle_meters(pack)
        if not self._problems.sentences:  # only then is every value one that JSON can hold
            pack = replace(pack, fingerprint=fingerprint(self._document))
        return PackFile(
            pack=pack,
            defaults=defaults,
            limits=limits,
            cites=MappingProxyType(self._cites),
            document=MappingProxyType(dict(self._document)),
            warnings=tuple(self._warnings),
        )

    def _read_cites(self) -> None:
        cites = self._root.section("cites", (*ALWAYS_CITED, *CITED_IF_STATED))
        for key in (*ALWAYS_CITED, *CITED_IF_STATED):
            needed = key in ALWAYS_CITED or self._root.has(key)
            if needed or cites.has(key):
                self._cites[key] = cites.take(key, CITE, "", required=needed)

    def _cite(self, section: Section, name: str) -> None:
        self._cites[name] = section.take("cite", CITE, "", required=True)

    def _pack(self) -> Pack:
        root = self._root
        root.take("format", whole(1, 1), 1, required=True)
        basis = root.take("hand_basis", BASIS, HandBasis.BEST_OF_SEVEN, required=True)
        seats_max = root.take("seats_max", SEATS, SEATS_MAX, required=True)
        meters = self._meters()
        pays = self._pays(basis, meters)
        envy, scales = self._envy()
        return Pack(
            id=root.take("id", IDENTIFIER, "", required=True),
            title=root.take("title", TITLE, "", required=True),
            jurisdiction=root.take("jurisdiction", TITLE, "", required=True),
            source=root.take("source", TEXT, "", required=True),
            edition=root.take("edition", TITLE, "", required=True),
            hand_basis=basis,
            seats_max=seats_max,
            meters=_in_order_of_pays(meters, pays),
            pays=pays,
            envy=envy,
            envy_scales=scales,
            collection=self._collection(seats_max),
            fingerprint="",
        )

    def _limits(self) -> Limits:
        editions = []
        for name, section in self._root.named("editions", EDITION_KEYS).items():
            if TITLE.read(name) is None or name == self._document.get("edition"):
                self._problems.add("editions", name, "names of editions besides the pack's own")
            most = section.take("adjacent_boxes_max", SEATS, 1, required=True)
            editions.append(Edition(name, most))
            self._cite(section, f"editions.{name}")
        wager_max = self._root.take("wager_max", POSITIVE_CENTS, ZERO)
        returnable = self._root.take("stake_returnable", FLAG, fallback=True)
        return Limits(wager_max or None, returnable, tuple(editions))

    def _meters(self) -> dict[str, MeterRule]:
        meters = {}
        for name, section in self._root.named("meters", METER_KEYS).items():
            if METER_NAME.read(name) is None:
                self._problems.add("meters", name, f"names of {METER_NAME.allowed}")
            meters[name] = MeterRule(
                name=name,
                title=section.take("title", TITLE, "", required=True),
                minimum=section.take("minimum", AMOUNT, ZERO, required=True),
                default_rate_ppm=section.take("default_rate", RATE, 0, required=True),
                default_reserve_rate_ppm=section.take("default_reserve_rate", RATE, 0),
            )
            self._cite(section, f"meters.{name}")
        defaults = [
            (meter.default_rate_ppm, meter.default_reserve_rate_ppm) for meter in meters.values()
        ]
        check_rates(defaults, self._problems)
        return meters

    def _pays(self, basis: HandBasis, meters: Mapping[str, MeterRule]) -> tuple[Pay, ...]:
        if not self._root.has("pays"):
            self._problems.say("pays", "nothing", "a list of lines, or pays = [] for none")
        pays: list[Pay] = []
        for row in self._root.rows("pays", PAY_KEYS):
            hand = row.take("hand", HAND, None, required=True)
            if hand is not None:
                self._check_line(row, hand, [pay.hand for pay in pays], basis)
            pays.append(self._pay(row, hand or Hand.HIGH_CARD, meters))
            self._cite(row, f"pays.{hand}")
        return tuple(pays)

    def _check_line(self, row: Section, hand: Hand, above: list[Hand], basis: HandBasis) -> None:
        if hand in above:
            row.refuse("hand", hand.value, "each hand once")
        elif hand in ROYALS and Hand.ROYAL_FLUSH in above:
            row.refuse("hand", hand.value, 'this royal above the line "royal_flush" only')
        if hand in _PLACED and basis is not HandBasis.BEST_OF_SEVEN:
            row.refuse("hand", hand.value, 'this royal with hand_basis = "best_of_seven" only')

    def _pay(self, row: Section, hand: Hand, meters: Mapping[str, MeterRule]) -> Pay:
        if row.has("odds") and (row.has("meter") or row.has("percent")):
            found = "odds beside a meter or a percentage"
            self._problems.say(row.path("odds"), found, "either odds, or meter and percent")
        if not (row.has("meter") or row.has("percent")):
            multiplier, style = row.take("odds", ODDS, (1, Style.FOR), required=True)
            return OddsPay(hand, multiplier, style)
        fit = [name for name in meters if METER_NAME.read(name) is not None]
        names = Kind(
            "a meter of this pack: " + (", ".join(fit) or "it has none"),
            lambda value: value if isinstance(value, str) and value in meters else None,
        )
        meter = row.take("meter", names, "", required=True)
        return MeterPay(hand, meter, row.take("percent", PERCENT, 1, required=True))

    def _envy(self) -> tuple[tuple[EnvyLine, ...], bool]:
        section = self._root.section("envy", ENVY_KEYS)
        scales = section.take("scales", FLAG, fallback=False)
        if section.has("scales"):
            self._cite(section, "envy.scales")
        lines: list[EnvyLine] = []
        for row in section.rows("schedule", ENVY_ROW_KEYS):
            lines += self._envy_row(row, lines)
        if self._root.has("envy") and not lines:
            self._problems.say("envy.schedule", "nothing", "at least one wager with its envy")
        return tuple(lines), scales

    def _envy_row(self, row: Section, above: list[EnvyLine]) -> list[EnvyLine]:
        wager = row.take("wager", POSITIVE_CENTS, ZERO, required=True)
        hands = [hand for hand in Hand if row.has(hand.value)]
        if wager and wager in [line.wager for line in above]:
            row.refuse("wager", wager.payable(), "each wager once")
        if not hands or (above and set(hands) != {line.hand for line in above}):
            row.refuse("wager", [hand.value for hand in hands], "the same hands for every wager")
        self._cite(row, f"envy.{wager.payable()}")
        return [EnvyLine(wager, hand, row.take(hand, POSITIVE_CENTS, ZERO)) for hand in hands]

    def _collection(self, seats_max: int) -> tuple[CollectionBand, ...]:
        bands: list[CollectionBand] = []
        for row in self._root.section("collection", ("band",)).rows("band", BAND_KEYS):
            highest = bands[-1].players_from - 1 if bands else seats_max
            players = row.take("players_from", SEATS, 1, required=True)
            if players > highest:
                row.refuse("players_from", players, f"at most {highest}: largest number first")
            bands.append(CollectionBand(players, row.take("label", TITLE, "", required=True)))
            self._cite(row, f"collection.{players}")
        if bands and bands[-1].players_from != 1:
            self._problems.say("collection.band", "no band for one player", "1 in the last band")
        return tuple(bands)

    def _defaults(self, pack: Pack, limits: Limits) -> Choices:
        section = self._root.section("settings", (*CHOICE_KEYS, "cites"))
        choices = read_choices(section, PLACEHOLDER, required=True)
        cites = section.section("cites", CHOICE_KEYS)
        for key in CHOICE_KEYS:
            self._cites[f"settings.{key}"] = cites.take(key, CITE, "", required=True)
        if not self._problems.sentences:
            ground = Ground(pack, limits, self._cites, pack.seats_max, pack.edition)
            check_choices(choices, ground, section)
        return choices

    def _warn_of_idle_meters(self, pack: Pack) -> None:
        paid = {pay.meter for pay in pack.pays if isinstance(pay, MeterPay)}
        for meter in pack.meters:
            if meter.name not in paid:
                self._warnings.append(
                    f"{self._where}: meters.{meter.name}: no line of the paytable pays this meter,"
                    f" and it takes {show_rate(meter.default_rate_ppm)} of each wager."
                )


def _in_order_of_pays(
    meters: Mapping[str, MeterRule], pays: tuple[Pay, ...]
) -> tuple[MeterRule, ...]:
    """Highest line first. The order in which a file lists its meters is layout, not a value."""
    paid = [pay.meter for pay in pays if isinstance(pay, MeterPay) and pay.meter in meters]
    names = dict.fromkeys([*paid, *sorted(meters)])
    return tuple(meters[name] for name in names)
