"""Two key pairs on disk. The JWK set contains one of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from undersigned.signature.key_pair import KeyPair

if TYPE_CHECKING:
    import pathlib

KEYID = "buyer-2026"


@dataclass(frozen=True)
class KeyFiles:
    """The key files for a command."""

    private: str
    public: str
    ecdsa: str
    stranger: str


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> KeyFiles:
    directory: pathlib.Path = tmp_path_factory.mktemp("keys")
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
        (directory / name).write_text(json.dumps(content))
    return KeyFiles(**{name: str(directory / name) for name in contents})
