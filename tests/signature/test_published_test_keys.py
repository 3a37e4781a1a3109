"""Published test keys are refused, wherever they come from."""

from __future__ import annotations

import json
import re
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.keys import KEYS, Request, Signer, SigningKey, VerificationKey, verifier
from tests.vectors.corpora import ROOT

from undersigned import ConfigurationError, KeyPair, KeySet, SignatureError, profiles
from undersigned.discovery import JWKSFile, RemoteRevocationList

ADCP = json.loads((ROOT / "adcp-3.2.4/request-signing/keys.json").read_text())["keys"][0]
PUBLIC = {name: value for name, value in ADCP.items() if name[0] not in "_$"}
PRIVATE = {**PUBLIC, "d": ADCP["_private_d_for_test_only"]}
FAULT = "the key is a published test key: anyone can sign with it"


def published(value):
    """Yield every JWK of a document that has its private half, without that half."""
    if isinstance(value, dict):
        if any("private" in name or name in "dk" for name in value) and "kty" in value:
            yield {name: value[name] for name in ("kty", "crv", "x", "y", "n", "e", "k") if name in value}
        value = [*value.values()]
    for member in value if isinstance(value, list) else ():
        yield from published(member)


def documents():
    for path in ROOT.rglob("*"):
        if path.suffix in {".json", ".txt"} and re.search('"kty"', path.read_text("utf-8")):
            yield json.loads(path.read_text("utf-8"))


def test_every_key_whose_private_half_is_in_the_published_vectors_is_refused():
    jwks = [jwk for document in documents() for jwk in published(document)]
    assert len({json.dumps(jwk) for jwk in jwks}) >= 15
    for jwk in jwks:
        is_secret = jwk["kty"] == "oct"
        key = VerificationKey.from_secret(jwk, keyid="k") if is_secret else VerificationKey.from_jwk({**jwk, "kid": ""})
        assert key.fault == FAULT
        assert not key.for_tests().fault


@pytest.mark.parametrize(
    ("secret", "curve"),
    [
        ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", None),
        ("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42", None),
        ("6c1382765aec5358f117733d281c1c7bdc39884d04a45a1e6c67c858bc206c19", ec.SECP256R1),
        ("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", ec.SECP256R1),
        (
            "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5",
            ec.SECP384R1,
        ),
    ],
)
def test_keys_of_other_rfcs_are_refused_however_they_are_given(secret, curve):
    """RFC 8032, RFC 8392 and RFC 6979 print the private keys."""
    octets = bytes.fromhex(secret)
    private = ec.derive_private_key(int(secret, 16), curve()) if curve else Ed25519PrivateKey.from_private_bytes(octets)
    pair = KeyPair.from_private_key(private)
    assert {key.fault for key in pair.key_set()} == {FAULT}
    assert VerificationKey.from_public_key(private.public_key(), keyid="test").fault == FAULT


def test_signature_by_a_published_test_key_is_rejected_unless_the_key_is_for_tests():
    added = Signer(SigningKey.from_jwk(PRIVATE), profile=profiles.ADCP_3_2).sign(Request("GET", "https://a.example/"))
    request = Request("GET", "https://a.example/", [*added])
    given = KeySet.from_jwks({"keys": [PUBLIC]})
    with pytest.raises(ConfigurationError, match=FAULT):
        verifier(keys=given)
    clock = {"clock": time.time}
    with pytest.raises(SignatureError) as rejected:
        verifier(keys=KeySet.of(*given, *KEYS), **clock).verify(request)
    assert (rejected.value.reason, rejected.value.detail) == ("signature_key_purpose_invalid", FAULT)
    assert verifier(keys=given.for_tests(), **clock).verify(request).keyid == PUBLIC["kid"]


def test_key_that_is_not_published_is_the_same_key_for_tests():
    [key] = KeyPair.generate().key_set()
    assert key.for_tests() is key


def test_source_that_has_published_test_keys_alone_is_rejected_at_construction(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [PUBLIC]}))
    with pytest.raises(ConfigurationError, match=FAULT):
        JWKSFile(path)
    with pytest.raises(ConfigurationError, match=FAULT):
        RemoteRevocationList("https://a.example/list", issuer="https://a.example", keys={"keys": [PUBLIC]})
