"""A public JWK set or UCP profile, and the responses that serve it (UCP, signatures.md)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast

from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_FILE_BYTES
from undersigned.publishing.public_jwks import public_jwks_text, read_jwks
from undersigned.signature.pem import is_pem, pem_jwks
from undersigned.watched_file import WatchedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_MAX_AGE: Final = 300
"""The seconds that receivers may cache the set by default."""

_A_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class JWKSResponse:
    """The response to a GET or HEAD request for the JWK set. Its status is 200.

    Attributes:
        fields: the headers.
        body: the body; empty for HEAD.
    """

    fields: tuple[tuple[str, str], ...]
    body: bytes


class PublishedKeys:
    """A public JWK set, and the responses that serve it. Safe to share between threads.

    Attributes:
        path: where receivers look for it by default.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it, or of one with a public key in PEM. The
            file is read again when it changes. If it is missing, broken or has private material, the last good set is
            served. The log says so once.
        keyid: the `kid` of a key in PEM; by default its thumbprint (RFC 7638).
        max_age: the seconds that receivers may cache the set.
        clock: returns seconds that never go back, such as `time.monotonic`. The file is checked at most once a second.

    Raises:
        ConfigurationError: `keys` is not a JWK set, or must not be published, for example because it has private
            material. Or `max_age` is not a whole number of seconds up to a day.
    """

    __slots__ = ("_fields", "_keyid", "_text", "_watched")

    path: ClassVar[str] = "/.well-known/jwks.json"
    _media_type: ClassVar[str] = "application/jwk-set+json"
    _cache_control: ClassVar[str] = "public"

    def __init__(
        self,
        keys: Mapping[str, object] | str | os.PathLike[str],
        *,
        keyid: str | None = None,
        max_age: int = DEFAULT_MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if type(max_age) is not int or not 0 <= max_age <= _A_DAY:
            raise ConfigurationError(f"max_age: give whole seconds, from 0 to {_A_DAY}")
        self._fields = (
            ("Content-Type", self._media_type),
            ("Cache-Control", f"{self._cache_control}, max-age={max_age}"),
            ("X-Content-Type-Options", "nosniff"),
        )
        self._keyid = keyid
        self._watched: WatchedFile[bytes] | None = None
        if isinstance(keys, str | os.PathLike):
            self._watched = WatchedFile(keys, self._text_of_file, most=MOST_JWKS_FILE_BYTES, clock=clock)
        self._text = self._text_of(keys) if self._watched is None else self._watched.value

    def response(self, method: str) -> JWKSResponse:
        """Return the response to a request with the method GET or HEAD."""
        text = self._text if self._watched is None else self._watched.value
        fields = (*self._fields, *self._signature_fields(text), ("Content-Length", str(len(text))))
        return JWKSResponse(fields, b"" if method == "HEAD" else text)

    def _text_of(self, keys: object) -> bytes:
        """Return the body to serve for a JWK set, if it may be published."""
        return public_jwks_text(keys)

    def _text_of_file(self, file: bytes) -> bytes:
        return self._text_of(pem_jwks(file, keyid=self._keyid) if is_pem(file) else read_jwks(file))

    def _signature_fields(self, text: bytes) -> tuple[tuple[str, str], ...]:  # noqa: ARG002 - a key directory is signed
        """Return the headers that sign the body."""
        return ()


class PublishedUCPProfile(PublishedKeys):
    """A UCP profile, and the responses that serve it: a JSON object with the array `keys` and whatever else it has.

    Release 2026-04-08 of UCP reads the keys in `signing_keys`, and later ones in `keys`. Both arrays are served.

    Arguments and errors are those of `PublishedKeys`; `keys` is the profile.
    """

    __slots__ = ()

    path: ClassVar[str] = "/.well-known/ucp"
    _media_type: ClassVar[str] = "application/json"

    def _text_of(self, keys: object) -> bytes:
        if isinstance(keys, dict):
            profile = cast("Mapping[str, object]", keys)
            keys = {**profile, "signing_keys": profile.get("keys")}
        return public_jwks_text(keys, is_profile=True)
