"""Events as bytes and back: the same form on the disk and, later, on the wire.

JSON in UTF-8; amounts are exact decimal strings; what does not fit its type is refused while
it is read. No file and no socket is touched here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, get_args

import msgspec

from controller.domain import events as did
from controller.domain.errors import BadInput, Fault
from controller.domain.money import Money, parse_money

VERSION: Final = 2


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


KIND_OF: Final[dict[type[did.Event], str]] = {
    kind: _snake(kind.__name__) for kind in get_args(did.Event)
}
EVENT_OF: Final = {name: kind for kind, name in KIND_OF.items()}


def _to_json(value: object) -> str:
    if isinstance(value, Money):
        return value.exact()
    raise TypeError(f"{type(value).__name__} has no place in an event")


def _from_json(kind: type, value: object) -> object:
    if kind is Money:
        try:
            return parse_money(value)
        except BadInput as bad:
            raise ValueError(str(bad)) from bad
    raise TypeError(f"{kind.__name__} has no place in an event")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_to_json)


@cache
def _decoder(kind: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(EVENT_OF[kind], dec_hook=_from_json)


def encode(event: did.Event) -> bytes:
    return _ENCODER.encode(event)


def decode(kind: str, version: int, payload: bytes) -> did.Event:
    """Read one row's event. Whatever cannot be read stops the table: nothing is skipped."""
    if kind not in EVENT_OF or version > VERSION:
        raise Fault(
            f"A row of kind {kind}, version {version}, is not known to this software;"
            " install the version that wrote it."
        )
    try:
        event: did.Event = _decoder(kind).decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError) as bad:
        raise Fault(f"A row of kind {kind} cannot be read: {bad}.") from bad
    return event
