"""Header fields that know what they were signed for, and header fields that are signed when they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from niquests.structures import CaseInsensitiveDict

from undersigned.client import SIGNATURE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Value = str | bytes
    Signature = Iterable[tuple[str, str]]


class SentFields(CaseInsensitiveDict["str | bytes", "str | bytes"]):
    """The header fields of a request that was sent, without its signature and its `Host`.

    niquests follows a redirect with a copy of the request, wherever it leads. Its header fields are a copy of these.

    Args:
        fields: the fields as (name, value) pairs.
        origin: the origin that the request was signed for, or None if it was sent without a signature.
    """

    def __init__(self, fields: Iterable[tuple[str, Value]], origin: str | None) -> None:
        kept = [(name, value) for name, value in fields if name.lower() != "host"]
        super().__init__(kept)  # pyright: ignore[reportUnknownMemberType]
        self.origin = origin

    def copy(self) -> SentFields:
        """Return a copy with the same origin."""
        return SentFields(plain_fields(self), self.origin)


class WireFields(CaseInsensitiveDict["str | bytes", "str | bytes"]):
    """Header fields that get a signature of their own each time they are written, also for a retry.

    Args:
        fields: the fields without a signature.
        sign: returns the fields of a new signature.
    """

    def __init__(self, fields: Iterable[tuple[str, Value]], sign: Callable[[], Signature]) -> None:
        super().__init__(list(fields))  # pyright: ignore[reportUnknownMemberType]
        self._sign = sign

    def copy(self) -> WireFields:
        """Return a copy that is signed when it is written."""
        return WireFields(plain_fields(self), self._sign)

    def items(self) -> Iterator[tuple[Value, Value]]:  # type: ignore[override] # niquests has it so
        """Return the names and values as they are written, with a signature."""
        self.update(dict(self._sign()))
        return super().items()

    def __repr__(self) -> str:
        """Return the names and values, without signing them."""
        return repr(dict(plain_fields(self)))


def plain_fields(fields: CaseInsensitiveDict[Value, Value]) -> list[tuple[str, Value]]:
    """Return the names and values without those of a signature. It asks by name: asking for all of them may sign."""
    return [(name, value) for name, value in all_fields(fields) if name.lower() not in SIGNATURE_FIELDS]


def all_fields(fields: CaseInsensitiveDict[Value, Value]) -> list[tuple[str, Value]]:
    """Return the names and values, without signing them."""
    return [(_text(name), fields[name]) for name in fields]


def text_fields(fields: Iterable[tuple[str, Value]]) -> list[tuple[str, str]]:
    """Return the names and values as text, which is bytes decoded as Latin-1."""
    return [(name, _text(value)) for name, value in fields]


def _text(value: Value) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
