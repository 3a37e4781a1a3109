"""Signing again: a signer with the vector's key reproduces the vector's bytes, if it would spell them so."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from tests.conformance.case import Difference, same

from undersigned import Request, SignatureError, Signer, Verifier
from undersigned.message.signature_input import parse_signature_input

if TYPE_CHECKING:
    from undersigned import VerifiedSignature

PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")
SIGNATURE_FIELDS = {"signature", "signature-input"}


def sign_again(vector: Any, verified: VerifiedSignature) -> list[str]:
    """Sign an accepted vector again, compare the results, and return what was compared.

    - The base gives the same signature with Ed25519. An ECDSA signature differs each time, so a verifier checks it.
    - The request gives the same base and the same fields, if its Signature-Input has the spelling of our signer.
    - The content gives the same Content-Digest, if the digest has the spelling of our signer.
    """
    request, profile, compared = vector.request, vector.profile, []
    key, given = vector.signing_key(verified.keyid), request.fields.combined
    read = parse_signature_input(given["signature-input"])[verified.label]
    names = tuple(component.name for component in read.components)
    required = profile.required_components[request.has_body]
    is_deterministic = verified.algorithm == "ed25519"

    def compare(name: str, made: str) -> None:
        """Compare a new member with the vector's field. If the field lacks it, the whole field is the difference."""
        compared.append(name)
        if made not in given[name.lower()]:
            raise Difference(f"{name}, signed again", given[name.lower()], made)

    if is_deterministic:
        signature = base64.b64encode(key.sign(verified.signature_base.encode("ascii"))).decode()
        if profile.encoding == "base64url":
            signature = signature.translate(str.maketrans("+/", "-_", "="))
        compare("Signature", f"{verified.label}=:{signature}:")
    ours = all(component.bare for component in read.components) and names[: len(required)] == required
    if ours and tuple(read.parameters) == PARAMETERS and f"{verified.label}={read.text}" in given["signature-input"]:
        others = [name for name in names if name not in required]
        signed = Signer(key, profile=profile, components=others).sign(
            _without(request, SIGNATURE_FIELDS),
            created=read.parameters["created"],
            expires=read.parameters["expires"],
            nonce=read.parameters["nonce"],
            label=verified.label,
        )
        made = dict(signed.fields)
        same("signature base, signed again", verified.signature_base, signed.signature_base)
        compare("Signature-Input", made["Signature-Input"])
        if is_deterministic:
            compare("Signature", made["Signature"])
        stripped = _without(request, SIGNATURE_FIELDS)
        again = Request(request.method, request.url, [*stripped.fields, *signed.fields], request.body)
        try:
            found = Verifier(profile, **vector.sources()).verify(again).signature_base
        except SignatureError as error:
            raise Difference("request, signed and verified again", "accepted", error.code, error.detail) from None
        same("signature base, verified again", signed.signature_base, found)
        compared.append("verified again")
    members = [member.strip().partition("=") for member in given.get("content-digest", "").split(",")]
    algorithms = [name for name, _, _ in members]
    if "content-digest" in names and {*algorithms} <= {"sha-256", "sha-512"}:
        stripped = _without(request, SIGNATURE_FIELDS | {"content-digest"})
        profiles = [profile.derive(digest=profile.digest._replace(algorithms=(name,))) for name in algorithms]
        signers = [Signer(key, profile=one, components=["content-digest"]) for one in profiles]
        signed_again = [dict(signer.sign(stripped, created=read.parameters["created"])) for signer in signers]
        digest = ", ".join([fields["Content-Digest"] for fields in signed_again])
        # A profile may accept two encodings of Base64. A signer writes the first.
        if all(value.endswith("=:") == digest.endswith("=:") for _, _, value in members):
            compare("Content-Digest", digest)
    return compared


def _without(request: Request, names: set[str]) -> Request:
    fields = [(name, value) for name, value in request.fields if name not in names]
    return Request(request.method, request.url, fields, request.body)
