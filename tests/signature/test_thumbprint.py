from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.keys import EC_PUBLIC, PUBLIC

from undersigned.signature.jwk import thumbprint

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


def test_thumbprint_needs_every_member_as_a_string():
    for jwk in (PUBLIC, EC_PUBLIC):
        assert thumbprint(jwk)
        for name in ("kty", "crv", "x"):
            assert thumbprint({**jwk, name: None}) is None
            assert thumbprint({**jwk, name: ["a"]}) is None


@pytest.mark.parametrize("jwk", [{}, {"kty": "oct", "k": "AA"}, {"kty": "OKP", "crv": "Ed25519"}])
def test_key_without_public_members_has_no_thumbprint(jwk):
    assert thumbprint(jwk) is None


def test_thumbprint_accepts_any_text_in_its_members():
    assert thumbprint({"kty": "OKP", "crv": "\ud800", "x": '"'})
