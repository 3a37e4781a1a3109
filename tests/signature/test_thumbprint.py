from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from tests.keys import EC_PUBLIC, PUBLIC, b64url

from undersigned.signature.jwk import thumbprint, written_thumbprint

PUBLISHED = Path(__file__).parents[1] / "vectors/published/profiles/web-bot-auth/jwk_thumbprint_vectors.json"


def test_thumbprint_equals_the_example_of_rfc_8037():
    jwk = {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "kid": "other",
        "d": "no",
    }
    assert thumbprint(jwk) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.parametrize("vector", json.loads(PUBLISHED.read_text()), ids=lambda vector: vector["name"])
def test_thumbprint_equals_the_published_one(vector):
    assert thumbprint(json.loads(vector["jwk"])) == vector["thumbprint"]


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "OKP", "crv": "Ed25519", "x": b64url(b"\xfb" * 32)},
        {"kty": "EC", "crv": "P-256", "x": b64url(b"\0\xfb" * 16), "y": b64url(b"\xff" * 32)},
        {"kty": "EC", "crv": "P-521", "x": b64url(b"\0\xfb" * 33), "y": b64url(b"\xff" * 66)},
        {"kty": "RSA", "n": b64url(b"\xfb" * 256), "e": "AQAB"},
    ],
    ids=lambda jwk: jwk.get("crv", "RSA"),
)
def test_thumbprint_does_not_depend_on_the_spelling(jwk):
    name = "n" if jwk["kty"] == "RSA" else "x"
    value = jwk[name]
    octets = base64.urlsafe_b64decode(value + "==")
    stray = value[:-1] + chr(ord(value[-1]) + 1)
    spelled = {value, value + "=" * (-len(value) % 4), value.replace("-", "+").replace("_", "/"), stray}
    spelled = {one for one in spelled if base64.b64decode(one + "==", altchars=b"-_") == octets}
    if jwk["kty"] == "RSA":
        spelled.add(b64url(b"\0" + octets))
    assert len(spelled) > 1
    assert {thumbprint(jwk | {name: one}) for one in spelled} == {thumbprint(jwk)} == {written_thumbprint(jwk)}
    assert len({written_thumbprint(jwk | {name: one}) for one in spelled}) == len(spelled)


@pytest.mark.parametrize(
    "jwk", [{}, {"kty": "oct", "k": "AA"}, PUBLIC, EC_PUBLIC], ids=lambda jwk: jwk.get("kty", "none")
)
def test_thumbprint_needs_every_public_member_as_a_string(jwk):
    assert (thumbprint(jwk) is None) == ("crv" not in jwk)
    for name in ("kty", "crv", "x"):
        for value in (None, ["a"]):
            assert thumbprint({**jwk, name: value}) is written_thumbprint({**jwk, name: value}) is None


def test_thumbprint_accepts_any_text_in_its_members():
    assert thumbprint({"kty": "OKP", "crv": "\ud800", "x": '"'})
