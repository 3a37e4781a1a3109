"""Signed messages: the base is compared, the signature verified, and a deterministic one made again to the byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import MalformedVector
from undersigned.message.content_digest import ContentDigest
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences, serialize_byte_sequence
from undersigned.signature.components import UnresolvableComponent, signature_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.message import Message
    from undersigned.conformance.published_key import PublishedKey
    from undersigned.message.signature_input import SignatureInput

_DETERMINISTIC: Final = frozenset({"ed25519", "rsa-v1_5-sha256", "hmac-sha256"})
"""The algorithms whose signature is the same each time (RFC 9421 section 3.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedMessage:
    """A message with a signature, at the level of RFC 9421 itself: no profile says whether it is accepted.

    Attributes:
        name: the name of the vector.
        message: the message.
        key: the key that the vector names.
        algorithm: the RFC 9421 name of the algorithm, or "" for that of the key.
        label: the label of the signature, or "" for the only one.
        base: the published signature base, or "" if none is published.
        valid: whether the signature is valid.
        digested: whether Content-Digest is that of the published content; None if it is not compared.
    """

    name: str
    message: Message
    key: PublishedKey
    algorithm: str = ""
    label: str = ""
    base: str = ""
    valid: bool = True
    digested: bool | None = None

    def differences(self) -> Iterator[Difference | None]:
        """Compare the base, whether the signature and the digest are valid, and the signature that is made again."""
        try:
            label, read = self._input()
            found, note = signature_base(self.message.values(), read.components, read.text), ""
        except (UnresolvableComponent, MalformedField) as error:
            label, found, note = "", "an error", str(error)
        if self.base or note:
            yield Difference.between("signature base", self.base, found, note=note)
        octets = found.encode("ascii")
        key = self.key.verification(self.algorithm)
        if key.fault:
            raise MalformedVector(f"key: {key.fault}")
        signature = self._signature(label)
        yield Difference.between("signature valid", _word(self.valid), _word(key.verifies(signature, octets)))
        if self.digested is not None:
            yield Difference.between("content digest valid", _word(self.digested), _word(self._is_digested()))
        if self.valid and self.key.is_private:
            made = self.key.signing(self.algorithm).sign(octets)
            if key.algorithms <= _DETERMINISTIC:
                yield Difference.between("signature, signed again", _spell(signature), _spell(made))
            yield Difference.between("new signature valid", "true", _word(key.verifies(made, octets)))

    def _input(self) -> tuple[str, SignatureInput]:
        given = self.message.sent.fields.combined.get("signature-input") or ""
        members = parse_signature_input(given, repeated_keys=True)
        label = self.label or next(iter(members))
        if label not in members or not (self.label or len(members) == 1):
            raise MalformedVector("label must be a member of Signature-Input; leave it out only if there is one")
        return label, members[label]

    def _signature(self, label: str) -> bytes:
        value = self.message.sent.fields.combined.get("signature") or ""
        try:
            return parse_byte_sequences(value, "base64", repeated_keys=True).get(label, b"")
        except MalformedField:
            return b""

    def _is_digested(self) -> bool:
        given = self.message.sent.fields.combined.get("content-digest") or ""
        return ContentDigest.parse(given, "base64").running_digest(self.message.sent.body).matches()


def _word(valid: bool) -> str:  # noqa: FBT001 - a truth value to be spelled
    return str(valid).lower()


def _spell(signature: bytes) -> str:
    return serialize_byte_sequence(signature, "base64")
