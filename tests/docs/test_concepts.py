"""The page of concepts: it has every term that the other pages use, and what it says of them is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from undersigned import KeyPair, KeySet, MemoryReplayStore, Request, Signer, SigningKey, Verifier, profiles, same_url
from undersigned.errors import SignatureError

PAGE = (Path(__file__).parents[2] / "docs" / "concepts.md").read_text("utf-8")
TERMS = {
    *(
        "component",
        "covered component",
        "signature base",
        "target URI",
        "authority",
        "canonical form",
        "content digest",
    ),
    *("label", "`created`, `expires`", "`keyid`", "`alg`", "`nonce`", "`tag`"),
    *(
        "profile",
        "key source",
        "`signer`",
        "origin",
        "replay",
        "replay store",
        "revocation list",
        "policy",
        "middleware",
    ),
}


def test_page_has_every_term_once():
    terms = re.findall(r"^\| ([^|]+?) \| ", PAGE, re.MULTILINE)
    assert sorted(term for term in terms if term != "term") == sorted(TERMS)


def test_spellings_of_the_page_have_one_canonical_form():
    spellings = re.search(r"`(HTTPS://[^`]+)` and `(https://[^`]+)` have the same one", PAGE)
    assert spellings
    assert same_url(spellings[1], spellings[2])


def test_covered_components_are_protected_and_others_are_not():
    pair = KeyPair.generate()
    signer = Signer(SigningKey.from_jwk(pair.private), profile=profiles.ADCP_3_2)
    verifier = Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(pair.public), replay=MemoryReplayStore())
    signed = [*signer.sign(Request("POST", "https://a.example/y", [("Content-Type", "text/plain")], b"order"))]
    for method, kind in (("PUT", "text/plain"), ("POST", "text/html")):
        with pytest.raises(SignatureError, match="signature_invalid"):
            verifier.verify(Request(method, "https://a.example/y", [("Content-Type", kind), *signed], b"order"))
    fields = [("Content-Type", "text/plain"), ("X-Trace", "added on the way"), *signed]
    assert verifier.verify(Request("POST", "https://a.example/y", fields, b"order")).authority == "a.example"
