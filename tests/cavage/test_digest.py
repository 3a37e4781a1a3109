"""The Digest that a signature by the draft covers, as the verifier of ActivityPub reads it."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activitypub.actors import INBOX, sign_by_draft, sign_by_hand, verifier, with_fields

from undersigned import Request, SignatureError

HELLO = "ZOyIygCyaOW6GjVnihtTFtIS9PNmskdyMlNKiuyjfzw="
DATE = "Sun, 22 Nov 2026 00:00:05 GMT"


def with_digest(value: str, body: bytes = b"Hello world") -> Request:
    """A request whose signature covers this Digest."""
    request = with_fields(Request("POST", INBOX, [], body), ("Date", DATE), ("Digest", value))
    return sign_by_hand(request, {"host": "inbox.example", "date": DATE, "digest": value})


def fault_of(request: Request) -> tuple[str, str]:
    with pytest.raises(SignatureError) as caught:
        verifier().verify(request)
    return caught.value.reason, caught.value.detail


def test_signer_writes_the_digest_of_mastodon():
    signed = sign_by_draft(Request("POST", INBOX, [], b"Hello world"))
    assert dict(signed.fields)["digest"] == f"SHA-256={HELLO}"


@pytest.mark.parametrize("value", [f"SHA-256={HELLO}", f"sha-256={HELLO}", f"md5=AA== ,\tSha-256={HELLO}, unixsum=1"])
def test_sha_256_is_read_in_any_case_among_other_digests(value):
    assert bytes(verifier().verify(with_digest(value)).content) == b"Hello world"
    assert fault_of(with_digest(value, b"Hello world!"))[0] == "signature_digest_mismatch"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "not a list of digests"),
        (HELLO[:-1], "not a list of digests"),
        ("md5=AA==", "one SHA-256"),
        (f"SHA-256={HELLO},SHA-256={HELLO}", "one SHA-256"),
        ("SHA-256=AA==", "one SHA-256"),
        ("SHA-256=A", "not Base64"),
        (f"sha-256=:{HELLO}:", "not Base64"),
        (",".join(["md5=AA=="] * 33), "33 digests, and at most"),
        (f"SHA-256={HELLO}, x={'x' * 4096}", "characters and 2 digests, and at most 4,096"),
    ],
)
def test_malformed_digest_is_rejected(value, fault):
    reason, detail = fault_of(with_digest(value))
    assert reason == "signature_header_malformed"
    assert fault in detail


@given(st.binary(min_size=1), st.binary(max_size=3))
def test_digest_is_of_these_bytes_only(body, more):
    request = with_digest(f"SHA-256={base64.b64encode(hashlib.sha256(body).digest()).decode()}", body + more)
    if more:
        assert fault_of(request)[0] == "signature_digest_mismatch"
    else:
        assert bytes(verifier().verify(request).content) == body
