"""The pytest plugin: the fixtures `signing_key`, `signed_client` and `frozen_nonce_clock`.

pytest loads this module in every run, so it imports what a fixture needs when the fixture is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from undersigned.signature.key_pair import KeyPair
    from undersigned.testing import FrozenNonceClock

    from .clients import SignedClients


@pytest.fixture(scope="session")
def signing_key() -> KeyPair:
    """Return a new key pair: `signing_key.private` is for a signer, `signing_key.public` for a verifier."""
    from undersigned.signature.key_pair import KeyPair  # noqa: PLC0415 - as the module says

    return KeyPair.generate("ed25519", keyid="test-key")


@pytest.fixture
def frozen_nonce_clock() -> FrozenNonceClock:
    """Return a clock that moves only by `advance`, with nonces that are the same in every run."""
    from undersigned.testing import FrozenNonceClock  # noqa: PLC0415 - as above

    return FrozenNonceClock()


@pytest.fixture
def signed_client(signing_key: KeyPair) -> SignedClients:
    """Return an object whose methods make test clients that sign with `signing_key`."""
    from .clients import SignedClients  # noqa: PLC0415 - as above

    return SignedClients(signing_key)
