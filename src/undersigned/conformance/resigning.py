"""Signing again: a signer with the vector's key must reproduce the vector's bytes, with its digest and spelling."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from undersigned.conformance.difference import Difference
from undersigned.errors import SignatureError
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences, serialize_byte_sequence
from undersigned.signature.rules.parameters import PARAMETERS
from undersigned.signature.signer import Signer
from undersigned.verification.screening import SIGNATURE_FIELDS, screen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.conformance.vector import Vector
    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.signature.signed_fields import SignedFields
    from undersigned.signature.signing_key import SigningKey
    from undersigned.verification.screening import ParsedSignature

_DIGESTS: Mapping[str, DigestAlgorithm] = MappingProxyType({"sha-256": "sha-256", "sha-512": "sha-512"})


def sign_again(vector: Vector, base: str) -> Iterator[Difference | None]:
    """Sign an accepted vector again and compare the results.

    - The base gives the same signature with Ed25519. An ECDSA signature differs each time, so a verifier checks it.
    - The request gives the same base and the same fields, if its Signature-Input has the spelling of our signer. A
      verifier must accept them.
    - The content gives the same Content-Digest, if the digest has the spelling of our signer.

    Args:
        vector: the vector. Its key must include the private key.
        base: the base that was verified.
    """
    request = vector.request
    candidate = screen(request, vector.profile, now=vector.now)
    key = vector.signing_key(candidate.keyid)
    deterministic = candidate.algorithm == "ed25519"
    if deterministic:
        signature = serialize_byte_sequence(key.sign(base.encode("ascii")), vector.profile.encoding)
        yield _field("Signature", request, f"{candidate.label}={signature}")
    if _is_our_spelling(candidate):
        signed = _sign(vector, candidate, key)
        made = dict(signed.fields)
        yield Difference.between("signature base, signed again", base, signed.signature_base)
        yield _field("Signature-Input", request, made["Signature-Input"])
        if deterministic:
            yield _field("Signature", request, made["Signature"])
        yield _verify(vector, request, signed)
    if candidate.digest is not None and _is_our_digest(vector, candidate):
        yield _field("Content-Digest", request, _digest(vector, candidate, key))


def _is_our_spelling(candidate: ParsedSignature) -> bool:
    """Return whether our signer would write this Signature-Input: bare components, the required ones first."""
    components, value = candidate.coverage.components, candidate.request.fields.combined.get("signature-input") or ""
    names = tuple([component.name for component in components])
    required = candidate.profile.required_components[candidate.request.has_body]
    return (
        all(component.bare for component in components)
        and names[: len(required)] == required
        and SIGNATURE_FIELDS.isdisjoint(names)
        and tuple(parse_signature_input(value)[candidate.label].parameters) == PARAMETERS
        and f"{candidate.label}={candidate.text}" in value
    )


def _sign(vector: Vector, candidate: ParsedSignature, key: SigningKey) -> SignedFields:
    request = cast("Request", candidate.request)
    required = vector.profile.required_components[request.has_body]
    others = [component.name for component in candidate.coverage.components if component.name not in required]
    return Signer(key, profile=vector.profile, components=others, check_limits=False).sign(
        _without(request, SIGNATURE_FIELDS),
        created=candidate.created,
        expires=candidate.expires,
        nonce=candidate.nonce,
        label=candidate.label,
    )


def _verify(vector: Vector, request: Request, signed: SignedFields) -> Difference | None:
    """Verify the request with the new fields, and compare the bases of signer and verifier."""
    stripped = _without(request, SIGNATURE_FIELDS)
    again = Request(request.method, request.url, [*stripped.fields, *signed.fields], request.body)
    try:
        verified = vector.verifier().verify(again)
    except SignatureError as error:
        found = f"rejected with {error.code}"
        return Difference("request, signed and verified again", "accepted", found, error.detail)
    return Difference.between("signature base, verified again", signed.signature_base, verified.signature_base)


def _is_our_digest(vector: Vector, candidate: ParsedSignature) -> bool:
    """Return whether our signer would write this Content-Digest: known algorithms, in the profile's first encoding."""
    field = candidate.request.fields.combined.get("content-digest") or ""
    try:
        members = parse_byte_sequences(field, vector.profile.digest.encodings[0])
    except MalformedField:
        return False
    return members.keys() <= _DIGESTS.keys()


def _digest(vector: Vector, candidate: ParsedSignature, key: SigningKey) -> str:
    field = candidate.request.fields.combined.get("content-digest") or ""
    digests: list[DigestAlgorithm] = [
        _DIGESTS[name] for name in parse_byte_sequences(field, vector.profile.digest.encodings[0])
    ]
    signer = Signer(key, profile=vector.profile, components=["content-digest"], digests=digests, check_limits=False)
    stripped = _without(cast("Request", candidate.request), SIGNATURE_FIELDS | {"content-digest"})
    return dict(signer.sign(stripped, created=candidate.created))["Content-Digest"]


def _field(name: str, request: Request, made: str) -> Difference | None:
    """Compare a new member with the vector's field. If the field lacks it, the whole field is the difference."""
    published = request.fields.combined.get(name.lower()) or ""
    return Difference.between(f"{name}, signed again", made if made in published else published, made)


def _without(request: Request, names: frozenset[str]) -> Request:
    fields = [(name, value) for name, value in request.fields if name not in names]
    return Request(request.method, request.url, fields, request.body)
