"""The signature base of a received message, rebuilt as its signer made it (RFC 9421 section 3.2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from undersigned.message.request import Request
from undersigned.message.signature_input import USUAL_COVERAGES
from undersigned.signature.components import signature_base, values_of
from undersigned.signature.plain_base import PlainBase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.component import Coverage
    from undersigned.message.response import Response
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL

_PLAIN: Final[Mapping[tuple[str, ...], PlainBase | None]] = MappingProxyType(
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
    """Return the signature base of a received message whose target is `target` in the form that the profile signs.

    Args:
        signed: the message. Its header fields are valid.
        target: the target of the request.

    Raises:
        UnresolvableComponent: the message has no value for a covered component.
    """
    message, coverage = signed.request, signed.coverage
    plain = _PLAIN.get(coverage.texts)
    if plain is not None and isinstance(message, Request):
        base = plain.text(message, target, None, signed.text)
        if base is not None:
            return base
    values = values_of(message, target, reading=signed.profile.coverage.reading)
    return signature_base(values, coverage.components, signed.text)
