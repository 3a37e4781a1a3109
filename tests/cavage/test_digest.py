from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.cavage.digest import digest_builder, legacy_digest, parse_digest
from undersigned.message.content_digest import has_digests
from undersigned.message.structured_fields import MalformedField

HELLO = "ZOyIygCyaOW6GjVnihtTFtIS9PNmskdyMlNKiuyjfzw="


def test_builder_writes_the_digest_of_mastodon():
    builder = digest_builder()
    for chunk in (b"Hello", b" world"):
        builder.update(chunk)
    assert legacy_digest(builder.value()) == f"SHA-256={HELLO}"


@pytest.mark.parametrize("value", [f"SHA-256={HELLO}", f"sha-256={HELLO}", f"md5=AA== ,\tSha-256={HELLO}, unixsum=1"])
def test_sha_256_is_read_in_any_case_among_other_digests(value):
    assert has_digests(b"Hello world", parse_digest(value))
    assert not has_digests(b"Hello world!", parse_digest(value))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "not a list of digests"),
        (HELLO[:-1], "not a list of digests"),
        ("md5=AA==", "one SHA-256"),
        (f"SHA-256={HELLO},SHA-256={HELLO}", "one SHA-256"),
        ("SHA-256=AA==", "one SHA-256"),
        ("SHA-256=A", "not Base64"),
        ("SHA-256=é", "not Base64"),
        (f"sha-256=:{HELLO}:", "not Base64"),
        (",".join(["md5=AA=="] * 33), "33 digests, and at most"),
        (f"SHA-256={HELLO}, x={'x' * 4096}", "4,1.. characters and 2 digests, and at most 4,096"),
    ],
)
def test_malformed_digest_is_rejected(value, fault):
    with pytest.raises(MalformedField, match=fault):
        parse_digest(value)


@given(st.binary(), st.binary(max_size=3))
def test_digest_is_of_these_bytes_only(body, more):
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    assert has_digests(body + more, parse_digest(f"SHA-256={digest}")) == (not more)
