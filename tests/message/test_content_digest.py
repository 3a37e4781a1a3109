from __future__ import annotations

import base64
import hashlib

import pytest

from undersigned.message.content_digest import RunningDigest, content_digest, has_digests, parse_content_digest
from undersigned.message.structured_fields import MalformedField

SHA256 = base64.b64encode(hashlib.sha256(b"content").digest()).decode()
SHA512 = base64.b64encode(hashlib.sha512(b"content").digest()).decode()


def matches(value: str, *chunks: bytes) -> bool:
    expected = parse_content_digest(value, "base64")
    running = RunningDigest(expected)
    for chunk in chunks:
        running.update(chunk)
    return running.matches(expected)


@pytest.mark.parametrize(
    "value",
    [
        f"sha-256=:{SHA256}:",
        f"sha-512=:{SHA512}:",
        f"sha-256=:{SHA256}:, sha-512=:{SHA512}:",
        f"sha-256=:{SHA256}:, md5=:AAAA:",
        f"sha-256=:{SHA256}:;p=1",
    ],
)
def test_right_content_matches_however_it_is_chunked(value):
    assert matches(value, b"content")
    assert matches(value, b"", b"con", b"", b"tent")


@pytest.mark.parametrize(
    "value",
    [
        f"sha-256=:{SHA256}:, sha-512=:AAAA:",
        f"sha-512=:{SHA512}:, sha-256=:AAAA:",
        f"sha-256=:{SHA512}:",
        "sha-256=::",
        f"sha-256=:{SHA256[:-4]}:",
    ],
)
def test_every_digest_of_a_known_algorithm_must_match(value):
    assert not matches(value, b"content")


def test_other_content_does_not_match():
    assert not matches(f"sha-256=:{SHA256}:", b"contenT")
    assert not matches(f"sha-256=:{SHA256}:")


def test_digest_of_unknown_algorithms_alone_matches_nothing():
    assert not matches("md5=:AAAA:", b"content")
    assert not matches("md5=:AAAA:")


@pytest.mark.parametrize("value", ["", "sha-256", "SHA-256=:AAAA:", "sha-256=:AAAA:, sha-256=:AAAA:", "sha-256=abc"])
def test_text_is_rejected_when_it_is_not_a_content_digest(value):
    with pytest.raises(MalformedField):
        parse_content_digest(value, "base64")


def test_digest_uses_sha_256_by_default():
    assert content_digest(b"content", "base64") == f"sha-256=:{SHA256}:"


def test_digest_can_have_several_algorithms():
    made = content_digest(b"content", "base64", algorithms=("sha-512", "sha-256"))
    assert made == f"sha-512=:{SHA512}:, sha-256=:{SHA256}:"
    assert matches(made, b"content")


def test_digest_made_in_base64url_reads_back():
    made = content_digest(b"content", "base64url", algorithms=("sha-256", "sha-512"))
    assert "=:" in made
    assert not made.endswith("=:")
    assert has_digests(b"content", parse_content_digest(made, "base64url"))
