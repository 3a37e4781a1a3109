from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conformance.files import ECDSA, KEYS, MCP, PLAIN, RING, SIGNED, own

from undersigned import Signer, profiles
from undersigned.conformance import resigning
from undersigned.conformance.document import Document
from undersigned.conformance.resigning import sign_again
from undersigned.conformance.vector import Endpoint, KeyRing, Vector
from undersigned.policy.operation import PathResolver

FOLDER = "request-signing/profile-3.2/positive"
LEGACY = Endpoint(profiles.ADCP_3_1, PathResolver())


def vector(path: str, endpoint: Endpoint = PLAIN, ring: KeyRing = RING) -> Vector:
    return Vector(path, Document(own(path)), endpoint, ring)


def compare(given: Vector) -> list:
    return list(sign_again(given, given.result().signature.signature_base))


def differing(given: Vector) -> set[str]:
    return {found.subject for found in compare(given) if found is not None}


@pytest.mark.parametrize(
    ("name", "comparisons"),
    [
        ("ed25519", 6),
        ("es256", 4),
        ("no-body", 5),
        ("more-components", 6),
        ("second-label", 6),
        ("sha-256-and-sha-512", 6),
        ("components-in-another-order", 2),
        ("parameters-in-another-order", 2),
        ("unknown-parameter", 2),
        ("spaces-in-signature-input", 2),
        ("derived-components", 2),
        ("unknown-digest-next-to-known", 5),
    ],
)
def test_only_parts_in_our_signers_spelling_are_signed_again(name, comparisons):
    assert compare(vector(f"{FOLDER}/{name}.json")) == [None] * comparisons


def test_digest_in_another_spelling_is_not_made_again():
    assert compare(vector("request-signing/positive/digest-in-base64.json", LEGACY)) == [None] * 5
    assert compare(vector("request-signing/positive/sha-512.json", LEGACY)) == [None] * 6


def test_covered_signature_fields_are_not_signed_again():
    document = own(SIGNED)
    headers = document["request"]["headers"]
    headers["Signature-Input"] = headers["Signature-Input"].replace(
        '"content-digest")', '"content-digest" "signature")'
    )
    # No one can have signed that, so it is compared as text.
    given = Vector("own", Document(document), PLAIN, RING)
    found = list(sign_again(given, document["expected_signature_base"]))
    assert len(found) == 2


def test_wrong_private_key_is_found():
    jwks = {jwk["kid"]: jwk for jwk in own(KEYS)["keys"]}
    given = vector(SIGNED)
    other = Vector("own", given.document, PLAIN, KeyRing((Document({**jwks["own-revoked"], "kid": "own-buyer"}),)))
    found = sign_again(other, given.result().signature.signature_base)
    assert {difference.subject for difference in found if difference} == {"Signature, signed again"}


class Tampered(Signer):
    """A signer with one fault."""

    wrong = ""

    def sign(self, request, **options):
        right = super().sign(request, **options)
        fields = tuple((name, f"{value}x" if name == self.wrong else value) for name, value in right.fields)
        base = right.signature_base + ("x" if self.wrong == "base" else "")
        return replace(right, fields=fields, signature_base=base)


@pytest.mark.parametrize(
    ("path", "wrong", "subject"),
    [
        (SIGNED, "base", {"signature base, signed again", "signature base, verified again"}),
        (SIGNED, "Signature-Input", {"Signature-Input, signed again", "request, signed and verified again"}),
        (SIGNED, "Signature", {"Signature, signed again", "request, signed and verified again"}),
        (SIGNED, "Content-Digest", {"Content-Digest, signed again"}),
        (ECDSA, "Signature", {"request, signed and verified again"}),
    ],
)
def test_any_fault_of_the_signer_is_found(path, wrong, subject, monkeypatch):
    monkeypatch.setattr(Tampered, "wrong", wrong)
    monkeypatch.setattr(resigning, "Signer", Tampered)
    assert differing(vector(path)) == subject


def test_request_signed_again_is_verified_in_a_new_state():
    assert differing(vector("request-signing/mcp/positive/signed-call.json", MCP)) == set()
