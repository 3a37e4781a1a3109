"""Keys in files: `SigningKey.from_file` and `KeySet.from_file`."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from tests.keys import EC_PUBLIC, JWKS, PRIVATE, PUBLIC, URL, ed25519_key

from undersigned import ConfigurationError, KeySet, MemoryReplayStore, Request, Signer, SigningKey, Verifier, profiles

PRIVATE_PEM = ed25519_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
LOCKED_PEM = ed25519_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
PUBLIC_PEM = ed25519_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def verifies(signing: SigningKey, keys: KeySet) -> bool:
    request = Request("GET", URL)
    signed = [*request.fields, *Signer(signing, profile=profiles.ADCP_3_2).sign(request)]
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    return verifier.verify(Request("GET", URL, signed)).keyid == signing.keyid


@pytest.mark.parametrize(
    ("private", "given"),
    [
        (json.dumps(PRIVATE).encode(), {}),
        (json.dumps({**PRIVATE, "kid": None}).encode(), {"keyid": PUBLIC["kid"]}),
        (PRIVATE_PEM, {"keyid": PUBLIC["kid"]}),
        (LOCKED_PEM, {"keyid": PUBLIC["kid"], "password": b"secret"}),
    ],
    ids=["JWK", "JWK without kid", "PEM", "PEM with a password"],
)
@pytest.mark.parametrize(
    ("public", "named"),
    [
        (json.dumps(JWKS).encode(), {}),
        (json.dumps(PUBLIC).encode(), {}),
        (PUBLIC_PEM, {"keyid": PUBLIC["kid"]}),
    ],
    ids=["JWK set", "JWK", "PEM"],
)
def test_keys_of_files_sign_and_verify(tmp_path, private, given, public, named):
    (tmp_path / "private").write_bytes(private)
    (tmp_path / "public").write_bytes(public)
    signing = SigningKey.from_file(tmp_path / "private", **given)
    assert verifies(signing, KeySet.from_file(str(tmp_path / "public"), **named))


def test_owner_of_the_keys_is_the_one_given(tmp_path):
    (tmp_path / "public").write_text(json.dumps(EC_PUBLIC))
    [key] = KeySet.from_file(tmp_path / "public", owner="buyer")
    assert key.owner == "buyer"


@pytest.mark.parametrize("read", [SigningKey.from_file, KeySet.from_file])
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "path: .* cannot be read: No such file"),
        (b"s3cr3t", "path: .* (is neither|is not)"),
        (b"\xff", "path: .* (is neither|is not)"),
        (b"[]", "JSON object"),
        (PRIVATE_PEM, "keyid: .* is a PEM"),
    ],
)
def test_file_without_a_key_is_rejected_without_quoting_it(tmp_path, read, text, fault):
    if text is not None:
        (tmp_path / "key").write_bytes(text)
    with pytest.raises(ConfigurationError, match=fault) as caught:
        read(tmp_path / "key")
    assert "s3cr3t" not in str(caught.value)
