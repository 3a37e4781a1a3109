"""Two key pairs on disk. The JWK set contains one of them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from undersigned import KeyPair

KEYID = "buyer-2026"


@pytest.fixture(autouse=True)
def adcp(monkeypatch) -> None:
    """Most lines of these tests are AdCP's, and so are the published vectors."""
    monkeypatch.setenv("UNDERSIGNED_PROFILE", "adcp-3.2")


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> SimpleNamespace:
    """The names of the key files for a command."""
    directory: Path = tmp_path_factory.mktemp("keys")
    own = KeyPair.generate("ed25519", keyid=KEYID)
    ecdsa = KeyPair.generate("ecdsa-p256-sha256", keyid="buyer-p256")
    stranger = KeyPair.generate("ed25519", keyid="stranger")
    contents = {
        "private": own.private,
        "public": {"keys": [*own.public["keys"], *ecdsa.public["keys"]]},
        "ecdsa": ecdsa.private,
        "stranger": stranger.private,
    }
    for name, content in contents.items():
        (directory / name).touch(0o600)
        (directory / name).write_text(json.dumps(content))
    return SimpleNamespace(**{name: str(directory / name) for name in contents})


def private_pem(jwk: str) -> bytes:
    """Return the key of a file with a private Ed25519 JWK in PEM."""
    key = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(json.loads(Path(jwk).read_text())["d"] + "="))
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
