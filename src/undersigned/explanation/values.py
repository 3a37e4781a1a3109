"""What a signature may have been made over: the parts of a recorded request, each of which a variant can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import MalformedURL
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.message.request_target import check_length, typed_target
from undersigned.signature.components import ComponentValues, signature_base
from undersigned.url import URL, CanonicalURL, canonicalize_authority

if TYPE_CHECKING:
    from undersigned.message.content import Content
    from undersigned.message.reading import Reading
    from undersigned.message.signature_input import SignatureInput
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey


class SignedValues(NamedTuple):
    """The values that a signature covers, the signature itself, and the keys that may have made it.

    Attributes:
        method: the method.
        scheme: the scheme of the target.
        authority: the host, with its port if the port is not the scheme's default.
        path: the path.
        query: the query without its `?`, or None.
        fields: the headers.
        content: the content.
        typed: the URL as it was received, before canonicalization.
        covered: the names of the covered components.
        reading: how they are read. A method may have lower-case letters, since a sender may have signed them.
        signature: the bytes of the signature.
        keys: the keys to verify with.
        others: other keys that the sender may have.
        keyid: the keyid that the signature names, or "".
        label: the label of the signature.
        authorities: authorities that the sender may have sent the request to.
        prefixes: prefixes that a proxy may have stripped.
    """

    method: str
    scheme: str
    authority: str
    path: str
    query: str | None
    fields: HeaderFields
    content: Content
    typed: URL
    covered: frozenset[str]
    reading: Reading
    signature: bytes
    keys: tuple[VerificationKey, ...]
    others: tuple[VerificationKey, ...] = ()
    keyid: str = ""
    label: str = ""
    authorities: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        request: Request,
        profile: Profile,
        read: SignatureInput,
        signature: bytes,
        *,
        keys: tuple[VerificationKey, ...],
    ) -> SignedValues:
        """Return the values of a request as it was received.

        A path or query without a canonical form is taken as it is.

        Args:
            request: the request.
            profile: the profile, which says which form of the target is signed.
            read: the signature to verify, as it was read.
            signature: the bytes of the signature.
            keys: the keys that the signature names.

        Raises:
            MalformedURL: the URL is too long, or its scheme or authority has no canonical form.
        """
        check_length(request.url)
        typed = URL.parse(request.url)
        try:
            _, target = request.signed_target(is_typed=profile.target == "typed")
        except MalformedURL:
            scheme = (typed.scheme or "").lower()
            authority = canonicalize_authority(typed.authority or "", scheme, received=True)
            target = typed_target(request.url, CanonicalURL(f"{scheme}://{authority}/", authority))
        reading = profile.reading._replace(lower_case_methods=True)
        return cls(
            request.method, target.scheme, target.authority, target.path, target.query, request.fields,
            request.content, typed, read.coverage.names, reading, signature, keys,
        )  # fmt: skip

    @property
    def target(self) -> CanonicalURL:
        """The target in the form that is signed."""
        query = "" if self.query is None else f"?{self.query}"
        return CanonicalURL(f"{self.scheme}://{self.authority}{self.path}{query}", self.authority)

    def base(self, read: SignatureInput) -> str:
        """Return the signature base of these values (RFC 9421 section 2.5).

        Raises:
            UnresolvableComponent: there is no value for a covered component.
        """
        target = self.target
        request = Request(self.method, str(target), self.fields, self.content)
        return signature_base(ComponentValues(request, target, reading=self.reading), read.components, read.text)

    def with_field(self, name: str, value: str) -> SignedValues:
        """Return a copy in which the field `name` has one line with this value."""
        lines = [line for line in self.fields.lines if line[0] != name]
        return self._replace(fields=HeaderFields([*lines, (name, value)]))


class Alternative(NamedTuple):
    """What the sender may have signed instead.

    Attributes:
        name: the name of the change, one of `NAMES`; or two, joined by `and`, if one layer makes both.
        values: the values.
        signed: the text of the changed part as the sender signed it.
        received: the text of the changed part as it was received.
        octets: what was signed, or None if it is the base of `values`.
    """

    name: str
    values: SignedValues
    signed: str
    received: str
    octets: bytes | None = None
