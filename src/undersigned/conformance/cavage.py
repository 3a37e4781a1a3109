"""Messages signed by draft-cavage-http-signatures-12: the base is compared, and the signature verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.cavage.base import signing_string
from undersigned.cavage.header import CavageParameters
from undersigned.conformance.difference import Difference
from undersigned.conformance.document import MalformedVector
from undersigned.message.request_target import typed_target
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.components import UnresolvableComponent
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.published_key import PublishedKey
    from undersigned.message.request import Request

ALGORITHM = "rsa-v1_5-sha256"
"""The one algorithm of the scheme, by its RFC 9421 name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CavageMessage:
    """A request signed by the draft.

    Attributes:
        name: the name of the vector.
        request: the request.
        key: the key that the vector names.
        base: the published signing string.
    """

    name: str
    request: Request
    key: PublishedKey
    base: str

    def differences(self) -> Iterator[Difference | None]:
        """Compare the signing string, and whether the signature is valid."""
        read = parameters(self.request)
        try:
            target = typed_target(self.request.url, canonicalize(self.request.url))
            found = signing_string(self.request, target, read.names, created=read.created, expires=read.expires)
        except UnresolvableComponent as unresolvable:
            found = f"an error: {unresolvable}"
        yield Difference.between("signing string", self.base, found)
        valid = self.key.verification(ALGORITHM).verifies(read.signature, found.encode("ascii"))
        yield Difference.between("signature valid", "true", str(valid).lower())


def parameters(request: Request) -> CavageParameters:
    """Return the parameters of the signature.

    Raises:
        MalformedVector: the request has no signature by the draft.
    """
    try:
        return CavageParameters.parse(request.fields.combined.get("signature", ""))
    except MalformedField as malformed:
        raise MalformedVector(str(malformed)) from None
