"""JWK sets in files: read again when the file changes."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.freshness import check_seconds
from undersigned.discovery.jwk_set import parse_jwk_set
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.jwk_set import Keys
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.keys import VerificationKey


_Version: TypeAlias = tuple[int, int, int]

_logger = logging.getLogger("undersigned.discovery")


class JWKSFile:
    """A key source over a JWK set in a file, which is read again when it changes. Safe to share between threads.

    The file has changed when its modification time, size or inode has. To change it, write another file and rename it.
    While the file is missing or broken, the last good set is used, and the log says so once.

    Args:
        path: the file.
        interval: seconds between two looks at the file.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: the file cannot be read, is not a JWK set, or has no key that can be used.
    """

    __slots__ = ("_clock", "_fault", "_interval", "_keys", "_looked", "_version", "path")

    def __init__(
        self, path: str | os.PathLike[str], *, interval: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        check_seconds("interval", interval, least=0)
        self.path = Path(path)
        self._interval = interval
        self._clock = clock
        self._looked = clock()
        self._fault = ""
        self._version: _Version | None = None
        self._keys: Keys = {}
        self._look()
        if self._fault:
            raise ConfigurationError(f"path: {self.path} cannot be used: {self._fault}")
        if all(key.fault for keys in self._keys.values() for key in keys):
            raise ConfigurationError(f"path: {self.path} has no key that can be used; each needs kid, kty, crv and alg")

    @property
    def blocking(self) -> bool:
        """Always False: looking at a file takes some microseconds."""
        return False

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names, four at most."""
        now = self._clock()
        if now >= self._looked + self._interval:
            self._looked = now
            self._look()
        return self._keys.get(lookup.keyid, ())

    def _look(self) -> None:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                version = status.st_mtime_ns, status.st_size, status.st_ino
                if version == self._version:
                    return
                text = file.read(MOST_JWKS_FILE_BYTES + 1)
            self._version = version
            self._keys = _parse(text)
            fault = ""
        except OSError as error:
            self._version = None
            fault = error.strerror or type(error).__name__
        except UnusableDocument as error:
            fault = str(error)
        if fault and fault != self._fault:
            _logger.error("%s: %s; the keys read before are used", self.path, fault)
        self._fault = fault


def _parse(text: bytes) -> Keys:
    if len(text) > MOST_JWKS_FILE_BYTES:
        raise UnusableDocument(f"the file has more than {MOST_JWKS_FILE_BYTES} bytes")
    return parse_jwk_set(text)
