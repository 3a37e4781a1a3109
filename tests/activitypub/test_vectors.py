"""The published requests of the fediverse, as data: of Mastodon, of a Fedify server and made up, of both schemes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from tests.keys import OneKey
from tests.profiles.examples import FILE

from undersigned import Request, SignatureError, VerificationKey
from undersigned.activitypub import ActivityPubVerifier

VECTORS = Path(__file__).parents[1] / "vectors" / "published" / "profiles" / "fediverse"


@dataclass(frozen=True, slots=True)
class Vector:
    request: Request
    key: VerificationKey
    now: float
    base: str

    def verify(self, request: Request | None = None, *, now: float | None = None):
        at = self.now if now is None else now
        verifier = ActivityPubVerifier(keys=OneKey(self.key), clock=lambda: at)
        return verifier.verify(self.request if request is None else request)

    def changed(self, *, method=None, url=None, body=None, fields=None, without=()) -> Request:
        """The request with these changes. `fields` has new values by name; `without` the names that are left out."""
        given = {**dict(self.request.fields), **(fields or {})}
        kept = {name: value for name, value in given.items() if name not in without}
        request = self.request
        return Request(method or request.method, url or request.url, kept, request.body if body is None else body)


def _published():
    documents = [json.loads(path.read_text("utf-8")) for path in VECTORS.glob("*.json")]
    keys = {name: pem for document in documents for name, pem in document["keys"].items()}
    for vector in (vector for document in documents for vector in document["vectors"]):
        key = VerificationKey.from_pem(keys[vector["key"]], keyid="", algorithm="rsa-v1_5-sha256").for_tests()
        request = Request(vector["method"], vector["url"], vector["headers"], vector.get("body", ""))
        now = datetime.fromisoformat(vector["now"]).timestamp()
        yield vector["id"], Vector(request, key, now, vector["signature_base"])


def _wire():
    for one in json.loads(FILE.read_text("utf-8"))["examples"]:
        if one["id"].startswith("activitypub"):
            request = Request(one["method"], one["url"], one["headers"], one["body"])
            key = VerificationKey.from_jwk(one["jwk"]).for_tests()
            yield one["id"], Vector(request, key, one["now"], one["signature_base"])


ALL = {**dict(_published()), **dict(_wire())}
EVERY = pytest.mark.parametrize("vector", ALL.values(), ids=ALL)
CAVAGE = {name: vector for name, vector in ALL.items() if "cavage" in name}
EVERY_CAVAGE = pytest.mark.parametrize("vector", CAVAGE.values(), ids=CAVAGE)
POSTED = [pytest.param(vector, id=name) for name, vector in ALL.items() if vector.request.has_body]


def rejection(vector, request=None, **options) -> str:
    with pytest.raises(SignatureError) as caught:
        vector.verify(request, **options)
    return caught.value.reason


def test_all_published_requests_are_run():
    assert len(ALL) == 7
    assert len(CAVAGE) == 4


@EVERY
def test_published_request_is_verified_over_its_published_base(vector):
    verified = vector.verify()
    assert verified.signature_base == vector.base
    assert verified.algorithm == "rsa-v1_5-sha256"
    assert verified.keyid.endswith("#main-key")


@EVERY
def test_changed_request_is_rejected(vector):
    assert rejection(vector, vector.changed(method="PUT")) == "signature_invalid"
    assert rejection(vector, vector.changed(url=f"{vector.request.url}2")) == "signature_invalid"
    assert rejection(vector, vector.changed(url=f"{vector.request.url}?foo=42")) == "signature_invalid"
    other = vector.request.url.replace(vector.request.url.split("/")[2], "other.example")
    moved = vector.changed(url=other, fields={"host": "other.example"})
    assert rejection(vector, moved) == "signature_invalid"
    value = vector.request.fields.combined["signature"]
    cut = vector.changed(fields={"signature": value.replace(value[-40:-30], "AAAAAAAAAA")})
    assert rejection(vector, cut) == "signature_invalid"


@EVERY
def test_request_is_rejected_beyond_twelve_hours_and_an_hour_of_skew(vector):
    assert rejection(vector, now=vector.now + 13 * 3600 + 1) == "signature_window_invalid"
    assert rejection(vector, now=vector.now - 3600 - 10) == "signature_window_invalid"
    assert vector.verify(now=vector.now + 3600)
    assert vector.verify(now=vector.now - 3500)


@pytest.mark.parametrize("vector", POSTED)
def test_changed_content_is_rejected(vector):
    body = vector.request.body
    assert rejection(vector, vector.changed(body=body + b" ")) == "signature_digest_mismatch"
    assert rejection(vector, vector.changed(body=b"")) == "signature_digest_mismatch"


@EVERY_CAVAGE
def test_signature_input_makes_a_signature_of_the_draft_malformed(vector):
    request = vector.changed(fields={"signature-input": 'sig1=("@method" "@target-uri");created=1;keyid="k"'})
    assert rejection(vector, request) == "signature_header_malformed"
