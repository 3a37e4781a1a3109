"""JWK sets, and public keys in PEM, in files: read again when the file changes."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from undersigned.discovery.jwk_set import Keys, read_json_object, read_jwk_set
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_FILE_BYTES
from undersigned.signature.jwk import PRIVATE_FAULT, SHARED_FAULT
from undersigned.signature.pem import is_pem, pem_jwks
from undersigned.signature.published_test_keys import TEST_KEY_FAULT
from undersigned.watched_file import WatchedFile

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey


class JWKSFile:
    """A key source over a JWK set or a PEM in a file, read again when it changes. Safe to share between threads.

    The file has changed when its modification time, size or inode has. To change it, write another file and rename it.
    While the file is missing or broken, the last good set is used, and the log says so once.

    Args:
        path: the file.
        keyid: the key ID of a public key in PEM, which has none itself. A JWK set names its own keys.
        owner: whose keys they are: `signature.signer` of the requests that they verify.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: the file cannot be read, is neither a JWK set nor a public key in PEM, or has no key that
            can be used. Or `keyid` is absent for a PEM, or given for a JWK set.
    """

    __slots__ = ("_file",)

    blocking = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keyid: str | None = None,
        owner: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        read = partial(_read, keyid=keyid, owner=owner)
        self._file = WatchedFile(path, read, most=MOST_JWKS_FILE_BYTES, clock=clock)
        faults = [key.fault for keyid in self._file.value for key in self._file.value.get(keyid)]
        for fault in (SHARED_FAULT, PRIVATE_FAULT, TEST_KEY_FAULT):
            if fault in faults:
                raise ConfigurationError(f"path: {path} is not for verifying: {fault}")
        if all(faults):
            raise ConfigurationError(
                f"path: {path} has no key that can be used; each needs kid and kty, and what its kty requires"
            )

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names, four at most."""
        return self._file.value.get(lookup.keyid)


def _read(text: bytes, *, keyid: str | None, owner: str) -> Keys:
    if not is_pem(text):
        if keyid is not None:
            raise ConfigurationError("keyid: the file is not a PEM; the keys of a JWK set have their own kids")
        return read_jwk_set(read_json_object(text), owner=owner)
    if keyid is None:
        raise ConfigurationError("keyid: a PEM has no key ID; give the keyid that signatures name the key by")
    return read_jwk_set(pem_jwks(text, keyid=keyid), owner=owner)
