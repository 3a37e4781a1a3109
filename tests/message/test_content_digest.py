from __future__ import annotations

import base64
import hashlib

import pytest
from tests.keys import signer

from undersigned import Request, SigningError
from undersigned.profiles import ADCP_3_2

URL = "https://seller.example.com/p"
SHA256 = base64.b64encode(hashlib.sha256(b"content").digest()).decode()
SHA512 = base64.b64encode(hashlib.sha512(b"content").digest()).decode()


def fault(value: str, body: bytes = b"content") -> str:
    """Return what a signer says of a Content-Digest that a request has already, or an empty string."""
    try:
        signer().sign(Request("POST", URL, {"Content-Type": "text/plain", "Content-Digest": value}, body))
    except SigningError as error:
        return str(error)
    return ""


def made(*chunks: bytes, **rule) -> str:
    """Return the Content-Digest that a signer makes of content in chunks."""
    builder = signer(ADCP_3_2.derive(digest=ADCP_3_2.digest._replace(**rule))).digest_builder()
    for chunk in chunks:
        builder.update(chunk)
    return builder.value()


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
def test_right_content_matches(value):
    assert not fault(value)


@pytest.mark.parametrize(
    "value",
    [
        f"sha-256=:{SHA256}:, sha-512=:AAAA:",
        f"sha-512=:{SHA512}:, sha-256=:AAAA:",
        f"sha-256=:{SHA512}:",
        "sha-256=::",
        f"sha-256=:{SHA256[:-4]}:",
        "md5=:AAAA:",
    ],
)
def test_every_digest_of_a_known_algorithm_must_match(value):
    assert "does not match the body" in fault(value)


def test_other_content_does_not_match():
    assert "does not match the body" in fault(f"sha-256=:{SHA256}:", b"contenT")


@pytest.mark.parametrize("value", ["", "sha-256", "SHA-256=:AAAA:", "sha-256=:AAAA:, sha-256=:AAAA:", "sha-256=abc"])
def test_text_is_rejected_when_it_is_not_a_content_digest(value):
    assert fault(value).startswith("headers: Content-Digest: ")


def test_digest_is_the_same_however_the_content_is_chunked():
    assert made(b"content") == made(b"", b"con", b"", b"tent") == f"sha-256=:{SHA256}:"


def test_digest_has_the_first_algorithm_and_encoding_of_the_profile():
    assert made(b"content", algorithms=("sha-512", "sha-256")) == f"sha-512=:{SHA512}:"
    unpadded = base64.urlsafe_b64encode(hashlib.sha256(b"content").digest()).decode().rstrip("=")
    assert made(b"content", encodings=("base64url", "base64")) == f"sha-256=:{unpadded}:"
