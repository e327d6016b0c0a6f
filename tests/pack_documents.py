"""Pack documents for tests to break: plain values, as the TOML reader gives them."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from controller.adapters.pack_files import PACKS
from controller.domain.errors import BadInput
from controller.packfile import pack_from_document

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]


def refusal(read: Callable[[], object]) -> tuple[str, ...]:
    """The problems that reading something brought up; none if it is good."""
    try:
        read()
    except BadInput as bad:
        return bad.problems
    return ()


def document_of(name: str) -> Document:
    return tomllib.loads((PACKS / f"{name}.toml").read_text("utf-8"))


def problems_of(document: Document, base: Document | None = None) -> tuple[str, ...]:
    with pytest.raises(BadInput) as caught:
        pack_from_document(document, where="own.toml", base=base)
    return caught.value.problems


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))]
    return [path]


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something could be put in place of what is there."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    found = [(*path, key) for key, _ in items]
    for key, item in items:
        if isinstance(item, dict | list):
            found += paths(item, (*path, key))
    return found


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text(max_size=12)
    | st.dates()
    | st.sampled_from(["1.00", "0.5", "royal_flush", "meter", "300 to 1", "all", "split"]),
    _containers,
    max_leaves=5,
)


def mangle(document: Document, data: st.DataObject) -> None:
    """Put up to three values of any kind in any place, old or new."""
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths(document)))
        if isinstance(path[-1], str) and data.draw(st.booleans()):
            path = (*path[:-1], data.draw(st.text(max_size=6)))
        put(document, path, data.draw(VALUES))
