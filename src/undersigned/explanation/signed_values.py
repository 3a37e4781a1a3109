"""What a signature may have been made over: the parts of a recorded request, each of which a change can alter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.limits import LONGEST_BASE
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.url import CanonicalURL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.content import Content
    from undersigned.message.leniency import Reading
    from undersigned.message.signature_input import SignatureInput
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.url import URL, Origin

_PARTS: Final = ("method", "scheme", "authority", "path", "query")


class SignedValues(NamedTuple):
    """The values that a signature covers, the signature itself, and the keys that may have made it.

    Attributes:
        method, scheme, path, fields, content: the parts of the request.
        authority: the host, with its port if the port is not the scheme's default.
        query: the query without its `?`, or None.
        typed: the URL as it was received, before canonicalization.
        reading: how components are read. A method may have lower-case letters, since a sender may have signed them.
        read, label, signature: the member of Signature-Input, its label, and the bytes of the signature.
        keys, others: the keys to verify with, and others that the sender may have.
        origins: the origins of the service, to which the sender may have sent the request.
    """

    method: str
    scheme: str
    authority: str
    path: str
    query: str | None
    fields: HeaderFields
    content: Content
    typed: URL
    reading: Reading
    read: SignatureInput
    label: str
    signature: bytes
    keys: tuple[VerificationKey, ...]
    others: tuple[VerificationKey, ...]
    origins: Sequence[Origin]

    @property
    def target(self) -> CanonicalURL:
        """The target in the form that is signed."""
        query = "" if self.query is None else f"?{self.query}"
        return CanonicalURL(f"{self.scheme}://{self.authority}{self.path}{query}", self.authority)

    @property
    def base(self) -> str | None:
        """The signature base of these values (RFC 9421 section 2.5), or None if they have none in ASCII."""
        target = self.target
        request = Request(self.method, str(target), self.fields, self.content)
        try:
            base = signature_base(
                ComponentValues(request, target, reading=self.reading), self.read.components, self.read.text
            )
        except UnresolvableComponent:
            return None
        return base if base.isascii() else None

    def signer(self, octets: bytes) -> VerificationKey | None:
        """Return the key that verifies the signature over a base, by any of its algorithms, or None."""
        if not 0 < len(octets) <= LONGEST_BASE:
            return None
        named = self.read.parameters.get("alg")
        for key in self.keys:
            algorithms = [named] if isinstance(named, str) and named in key.algorithms else sorted(key.algorithms)
            if any(key.verifies(self.signature, octets, algorithm=algorithm) for algorithm in algorithms):
                return key
        return None

    def with_field(self, name: str, value: str) -> SignedValues:
        """Return a copy in which the field `name` has one line with this value."""
        lines = [line for line in self.fields.lines if line[0] != name]
        return self._replace(fields=HeaderFields([*lines, (name, value)]))

    def with_authority(self, authority: str) -> SignedValues:
        """Return a copy with another authority, which Host has too if it is covered."""
        changed = self._replace(authority=authority)
        return changed.with_field("host", authority) if "host" in self.read.coverage.names else changed

    def texts(self, received: SignedValues) -> tuple[str, str]:
        """Return what differs between these values and those that were received, as text of each."""
        parts = [name for name in _PARTS if getattr(self, name) != getattr(received, name)]
        mine, theirs = self.fields.combined, received.fields.combined
        names = [name for name in sorted(self.read.coverage.names - {"host"}) if mine.get(name) != theirs.get(name)]
        return self._text(parts, names), received._text(parts, names)

    def _text(self, parts: Sequence[str], names: Sequence[str]) -> str:
        query = "no query" if self.query is None else f"?{self.query}" if self.query else "a lone ?"
        fields = self.fields.combined
        texts = [f"{name}: {fields[name]}" if name in fields else f"no {name}" for name in names]
        own = [query if part == "query" else str(getattr(self, part)) for part in parts]
        return ", ".join([*(own if len(own) < 2 else [str(self.target)]), *texts])  # noqa: PLR2004


class Alternative(NamedTuple):
    """What the sender may have signed instead.

    Attributes:
        name: the name of the change, one of `NAMES`; or two, joined by `and`, if one layer makes both.
        values: the values.
        octets: what was signed, or None if it is the base of `values`.
        told: the changed part as the sender signed it and as it was received, or None if `values` tell.
    """

    name: str
    values: SignedValues
    octets: bytes | None = None
    told: tuple[str, str] | None = None
