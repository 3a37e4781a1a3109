"""The signature of a recorded request, read in each Base64, whatever its profile accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.explanation.draft import DRAFT, DraftInput
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.signature.components import ComponentValues, signature_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.reading import Reading
    from undersigned.message.request import Request
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL

_BOTH: Final[tuple[Encoding, ...]] = ("base64", "base64url")


@dataclass(frozen=True, slots=True)
class RecordedSignature:
    """The first signature of a request that a profile verifies.

    Attributes:
        label: its label; "" for the draft.
        read: its member of Signature-Input, or its parameters by the draft.
        octets: its bytes, or None if they cannot be read in any Base64.
    """

    label: str
    read: SignatureInput | DraftInput
    octets: bytes | None

    @classmethod
    def of(cls, request: Request, profile: Profile) -> RecordedSignature | None:
        """Return the signature, or None if the request is not signed or the signature cannot be parsed."""
        fields = request.fields.combined
        try:
            if profile is DRAFT:
                draft = DraftInput.of(request)
                return cls("", draft, draft.given.signature)
            chosen = choose_signature_inputs(fields.get("signature-input") or "", profile.selection.labels)
        except MalformedField:
            return None
        if not chosen:
            return None
        label, read = chosen[0]
        return cls(label, read, _sequences(fields.get("signature", ""), _BOTH).get(label))

    @property
    def created(self) -> int | None:
        """When it was made, seconds since the epoch, or None if it does not say so."""
        return _seconds(self.read, "created")

    @property
    def expires(self) -> int | None:
        """When it expires, seconds since the epoch, or None if it does not say so."""
        return _seconds(self.read, "expires")


@dataclass(frozen=True, slots=True)
class OtherSpelling:
    """A field whose byte sequences are in another Base64 than the profile expects.

    Attributes:
        field: the name of the field.
        found: the Base64 that it is in.
        expected: the Base64 that the profile expects.
    """

    field: str
    found: str
    expected: str


def rebuilt_base(read: SignatureInput | DraftInput, request: Request, target: CanonicalURL, *, reading: Reading) -> str:
    """Return the text that a signature signs: the base (RFC 9421 section 2.5), or the signing string of the draft.

    Args:
        read: the member of Signature-Input, or the parameters by the draft.
        request: the request.
        target: its target in the form that is signed.
        reading: how components are read.

    Raises:
        UnresolvableComponent: there is no value for a covered component.
    """
    if isinstance(read, DraftInput):
        return read.base(request, target)
    return signature_base(ComponentValues(request, target, reading=reading), read.components, read.text)


def other_spellings(request: Request, profile: Profile) -> Iterator[OtherSpelling]:
    """Yield the fields of a signature that are in another Base64 than the profile expects."""
    wanted_by: dict[str, tuple[Encoding, ...]] = {
        "signature": (profile.encoding,),
        "content-digest": profile.digest.encodings,
    }
    for name, encodings in wanted_by.items():
        value = request.fields.combined.get(name)
        if value is not None and _sequences(value, _BOTH) and not _sequences(value, encodings):
            if "base64" in encodings:
                yield OtherSpelling(name, "Base64url", "padded Base64 (RFC 8941)")
            else:
                yield OtherSpelling(name, "padded Base64", "unpadded Base64url")


def _seconds(read: SignatureInput | DraftInput, name: str) -> int | None:
    value = read.parameters.get(name)
    return value if type(value) is int else None


def _sequences(value: str, encodings: tuple[Encoding, ...]) -> dict[str, bytes]:
    try:
        return parse_byte_sequences(value, *encodings)
    except MalformedField:
        return {}
