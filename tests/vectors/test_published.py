"""Every published vector, run as `undersigned conformance` runs it."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import ADCP, PUBLISHED, published

from undersigned.conformance import grade


@pytest.mark.parametrize("vector", published())
def test_published_vector_has_its_published_outcome(vector):
    assert grade(vector).difference is None


def test_every_published_vector_has_a_copy():
    assert {found.name.removeprefix(ADCP): len(found.vectors) for found in PUBLISHED.sets} == {
        "request-signing": 46,
        "request-signing/profile-3.2": 46,
        "request-signing/a2a": 33,
        "webhook-signing": 29,
        "request-signing/canonicalization": 41,
        "request-signing/body-integrity-policy": 17,
        "request-signing/protocol-method-names": 21 + 7 + 8,
        "rfc9421_vectors": 132 - 13 + 18 - 2 + 18,
        "web_bot_auth_vectors": 8,
    }


def test_vectors_not_run_are_exactly_the_listed_ones():
    found = {(aside.name, aside.count, aside.reason.partition(":")[0]) for aside in PUBLISHED.set_aside}
    assert found == {
        ("rfc9421_vectors", 27, "responses"),
        ("rfc9421_vectors", 10, "sf on an unregistered field"),
        ("rfc9421_vectors", 2, "targets in absolute-form or asterisk-form"),
        ("rfc9421_vectors", 2, "repeated labels and parameters"),
        ("rfc9421_vectors", 1, "methods in lower case"),
        ("rfc9421_vectors", 6, "signatures by algorithms that no profile accepts; their bases are compared"),
        ("web_bot_auth_vectors", 4, "signatures by algorithms that no profile accepts; their bases are compared"),
        ("web_bot_auth_vectors", 35, "this library has no profile for Web Bot Auth"),
    }
