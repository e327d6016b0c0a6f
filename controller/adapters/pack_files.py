"""Finds and reads pack files and table files. What they say is judged elsewhere.

`rules list` must answer at once: listing the packs imports nothing that reading one needs.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from controller.domain.errors import BadInput

if TYPE_CHECKING:
    from controller.config import TableFile
    from controller.packfile import PackFile

PACKS: Final = Path(__file__).parents[1] / "packs"
MAPS: Final = Path(__file__).parents[1] / "maps"
FILE_BYTES_MAX: Final = 1_000_000

_HEAD_KEYS: Final = ("id", "title", "jurisdiction", "seats_max")


def list_heads() -> list[dict[str, object]]:
    """What `rules list` shows of each pack that comes with the program, by id."""
    documents = [_head(path.read_text("utf-8")) for path in sorted(PACKS.glob("*.toml"))]
    return [{key: document[key] for key in _HEAD_KEYS} for document in documents]


def _head(text: str) -> dict[str, object]:
    """The keys above the first table; the whole file if that part does not stand alone."""
    try:
        return tomllib.loads(text.partition("\n[")[0])
    except tomllib.TOMLDecodeError:
        return tomllib.loads(text)


def pack_ids() -> list[str]:
    return sorted(path.stem for path in PACKS.glob("*.toml"))


def load_pack(name_or_path: str, *, relative_to: Path | None = None) -> PackFile:
    """A pack by its id, or from a .toml file; a relative path starts at `relative_to`."""
    return _load_pack(_find_pack(name_or_path, relative_to), above=())


def load_table(path: Path) -> TableFile:
    """A table file, with the pack that it names."""
    return _table(_read_document(path), path)


def load_map(name: str) -> str:
    """A ready pin map that comes with the program."""
    return (MAPS / f"{name}.toml").read_text("utf-8")


def load_either(path: Path) -> PackFile | TableFile:
    """Whatever a file is: a table file has [table] or [rules], a pack has neither."""
    document = _read_document(path)
    if "table" in document or "rules" in document:
        return _table(document, path)
    return _pack(document, path, above=())


def _table(document: dict[str, object], path: Path) -> TableFile:
    from dataclasses import replace

    from controller.config import table_from_document

    table = table_from_document(
        document,
        where=str(path),
        find_pack=lambda name: load_pack(name, relative_to=path.parent),
        load_map=load_map,
    )
    return replace(
        table,
        ledger_copy=_beside(path, table.ledger_copy),
        staff_file=_beside(path, table.staff_file),
    )


def _beside(path: Path, name: str | None) -> str | None:
    """A path in a table file starts at that file."""
    return None if name is None else str(path.parent / name)


def _find_pack(name: str, relative_to: Path | None) -> Path:
    known = pack_ids()
    if name in known:
        return PACKS / f"{name}.toml"
    if name.endswith(".toml"):
        return (relative_to or Path()) / name
    ids = ", ".join(known)
    raise BadInput(f"found {name!r}, which is no pack; allowed a path to a .toml file, or {ids}")


def _load_pack(path: Path, *, above: tuple[Path, ...]) -> PackFile:
    return _pack(_read_document(path), path, above=above)


def _pack(document: dict[str, object], path: Path, *, above: tuple[Path, ...]) -> PackFile:
    from controller.packfile import pack_from_document

    base = document.get("base")
    if not isinstance(base, str):
        return pack_from_document(document, where=str(path))
    try:
        base_path = _find_pack(base, path.parent)
    except BadInput as bad:
        raise BadInput(*(f"{path}: base: {problem}" for problem in bad.problems)) from None
    line = (*above, path.resolve())
    if base_path.resolve() in line:
        raise BadInput(f"{path}: base: found {base!r}, which builds on this pack; allowed another")
    below = _load_pack(base_path, above=line)
    return pack_from_document(document, where=str(path), base=below.document)


def _read_document(path: Path) -> dict[str, object]:
    from controller.document import parse

    return parse(_read_text(path), where=str(path))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{path}: the file cannot be read ({why}); check its name and rights"
        ) from None
    if len(data) > FILE_BYTES_MAX:
        raise BadInput(f"{path}: found more than {FILE_BYTES_MAX} bytes; allowed a shorter file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadInput(
            f"{path}: line {line}: found bytes that are not UTF-8; allowed UTF-8 text"
        ) from None
