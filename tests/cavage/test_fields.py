"""The Date and the Digest that a signature by the draft covers, as the verifier of ActivityPub reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activitypub.actors import (
    GET,
    INBOX,
    KEYID,
    NOW,
    sha256,
    sign_by_draft,
    sign_by_hand,
    verifier,
    with_fields,
)

from undersigned import Request, SignatureError

HELLO = "ZOyIygCyaOW6GjVnihtTFtIS9PNmskdyMlNKiuyjfzw="
DATE = "Sun, 22 Nov 2026 00:00:05 GMT"


def dated(text: str) -> Request:
    """A request whose signature covers this Date."""
    lines = {"(request-target)": "get /inbox?page=1", "host": "inbox.example", "date": text}
    return sign_by_hand(with_fields(GET, ("Date", text)), lines)


def with_digest(value: str, body: bytes = b"Hello world") -> Request:
    """A request whose signature covers this Digest."""
    request = with_fields(Request("POST", INBOX, [], body), ("Date", DATE), ("Digest", value))
    return sign_by_hand(request, {"host": "inbox.example", "date": DATE, "digest": value})


def rejection(request: Request) -> SignatureError:
    with pytest.raises(SignatureError) as caught:
        verifier().verify(request)
    return caught.value


def test_http_date_and_digest_are_written_as_they_are_read():
    signed = dict(sign_by_draft(Request("POST", INBOX, [], b"Hello world")).fields)
    assert (signed["date"], signed["digest"]) == (DATE, f"SHA-256={HELLO}")
    assert verifier().verify(dated("Sun, 22 Nov 2026 00:00:00 GMT")).created == NOW - 5
    verified = verifier(clock=lambda: 60).verify(dated("Thu, 01 Jan 1970 00:00:00 GMT"))
    assert (verified.created, verified.keyid) == (0, KEYID)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sunday, 22-Nov-26 00:00:00 GMT",
        "Sun Nov 22 00:00:00 2026",
        "Sun, 22 Nov 2026 00:00:00 +0000",
        "Sun, 31 Feb 2026 00:00:00 GMT",
        "Mon, 22 Nov 2026 00:00:00 GMT",
        "Sun, 22 Nov 2026 24:00:00 GMT",
        "Sun, 22 Nov 0000 00:00:00 GMT",
        "Sun, 22 Nov 99999999999 00:00:00 GMT",
    ],
)
def test_date_in_another_form_or_of_no_day_is_malformed(text):
    error = rejection(dated(text))
    assert (error.reason, error.step) == ("signature_header_malformed", 1)
    assert "the covered Date is absent, or not a date" in error.detail


@pytest.mark.parametrize("value", [f"SHA-256={HELLO}", f"sha-256={HELLO}", f"md5=AA== ,\tSha-256={HELLO}, unixsum=1"])
def test_sha_256_is_read_in_any_case_among_other_digests(value):
    assert bytes(verifier().verify(with_digest(value)).content) == b"Hello world"
    assert rejection(with_digest(value, b"Hello world!")).reason == "signature_digest_mismatch"


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
    error = rejection(with_digest(value))
    assert (error.reason, fault in error.detail) == ("signature_header_malformed", True)


@given(st.binary(min_size=1), st.binary(max_size=3))
def test_digest_is_of_these_bytes_only(body, more):
    request = with_digest(sha256(body), body + more)
    if more:
        assert rejection(request).reason == "signature_digest_mismatch"
    else:
        assert bytes(verifier().verify(request).content) == body
