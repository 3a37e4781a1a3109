"""Plain bases: signature bases whose values nobody has to parse, made in one pass (RFC 9421 section 2.5).

Nearly every signature covers the method, the target and a few whole header fields, and nothing else. Making such a base
here takes a fraction of the time that `signature_base` takes. `signature_base` makes every other base.
"""

from __future__ import annotations

from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from undersigned.message.request import Request
from undersigned.message.signature_input import USUAL_COVERAGES
from undersigned.signature.components import METHODS, signature_base, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.message.component import Component, Coverage
    from undersigned.message.response import Response
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL

_DERIVED: Final = ("@method", "@target-uri", "@authority")
_LEAST: Final = 2
"""The fewest components of a plain base: an `itemgetter` of one item returns no tuple."""


class PlainBase:
    """The signature base of covered components that are the method, the target or the authority, or whole fields.

    Args:
        components: the covered components, at least two, in their order.
    """

    __slots__ = ("_fields", "_in_order", "_template")

    def __init__(self, components: Sequence[Component]) -> None:
        texts = [component.text.replace("%", "%%") for component in components]
        self._template = "".join([f"{text}: %s\n" for text in texts]) + '"@signature-params": %s'
        names = [component.name for component in components]
        self._fields = tuple([name for name in names if name not in _DERIVED])
        known = (*_DERIVED, *self._fields)
        self._in_order: Callable[[tuple[str, ...]], tuple[str, ...]] = itemgetter(*map(known.index, names))

    @classmethod
    def of(cls, components: Sequence[Component]) -> PlainBase | None:
        """Return the plain base of these components, or None if one of them is not plain."""
        return cls(components) if len(components) >= _LEAST and all(map(_is_plain, components)) else None

    def text(self, request: Request, target: CanonicalURL, digest: str | None, parameters: str) -> str | None:
        """Return the signature base of a request, or None if `signature_base` must decide.

        Args:
            request: the request. Its header fields are valid.
            target: its target as it is signed.
            digest: the value of a Content-Digest that is about to be added to the request, or None.
            parameters: the value of `@signature-params`.
        """
        if request.method not in METHODS:
            return None
        combined = request.fields.combined
        if digest:
            combined = {**combined, "content-digest": digest}
        try:
            fields = tuple(map(combined.__getitem__, self._fields))
        except KeyError:
            return None
        # The method and the target are known to be printable ASCII.
        text = "".join(fields)
        if not (text.isascii() and text.isprintable()):
            return None
        known = (request.method, target.target_uri, target.authority, *fields)
        return self._template % (*self._in_order(known), parameters)


def _is_plain(component: Component) -> bool:
    return component.field_name != "" or (component.bare and component.name in _DERIVED)


_USUAL: Final[Mapping[tuple[str, ...], PlainBase | None]] = MappingProxyType(
    {coverage.texts: PlainBase.of(coverage.components) for coverage in USUAL_COVERAGES}
)


class SignedMessage(Protocol):
    """A received message with what one of its signatures covers."""

    @property
    def request(self) -> Request | Response:
        """The message."""
        ...

    @property
    def profile(self) -> Profile:
        """The profile that the message is verified by."""
        ...

    @property
    def coverage(self) -> Coverage:
        """The covered components."""
        ...

    @property
    def text(self) -> str:
        """The value of `@signature-params`."""
        ...


def rebuilt_base(signed: SignedMessage, target: CanonicalURL) -> str:
    """Return the signature base of a received message.

    Args:
        signed: the message. Its header fields are valid.
        target: the target of the request, in the form that the profile signs.

    Raises:
        UnresolvableComponent: the message has no value for a covered component.
    """
    message, coverage = signed.request, signed.coverage
    plain = _USUAL.get(coverage.texts)
    if plain is not None and isinstance(message, Request):
        base = plain.text(message, target, None, signed.text)
        if base is not None:
            return base
    values = values_of(message, target, reading=signed.profile.coverage.reading)
    return signature_base(values, coverage.components, signed.text)
