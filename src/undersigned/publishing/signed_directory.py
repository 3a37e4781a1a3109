"""A key directory that each of its keys signs, and the responses that serve it (Web Bot Auth 5.5.3 and B.1)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, cast

from undersigned.errors import ConfigurationError
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.message.signature_agent import DIRECTORY_PATH, DIRECTORY_TYPE
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.message.timestamps import system_clock
from undersigned.profiles import WEB_BOT_AUTH_DIRECTORY
from undersigned.publishing.jwks_response import DEFAULT_MAX_AGE, PublishedKeys
from undersigned.signature.jwk import thumbprint
from undersigned.signature.signer import Signer
from undersigned.url import Origin

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.signature.remote_key import RemoteKey

_HALF_A_DAY: Final = 43_200
"""Seconds until the directory is signed again, and the longest `max_age`: a signature is valid for a day."""


class PublishedDirectory(PublishedKeys):
    """A key directory that each of its keys signs, and the responses that serve it. Safe to share between threads.

    The signatures name the directory's own authority, whatever the Host of a request is, so nobody can pass the keys
    off as the keys of another site. They are made again every twelve hours, and when the file changes.

    Args:
        keys: the public JWK set, or the path of a file with it, as for `PublishedKeys`. Each `kid` is the thumbprint.
        signing_keys: the private keys, one for each public key.
        origin: the origin at which bots are known, such as `https://bot.example`.
        max_age: the seconds that receivers may cache the directory.
        clock: returns seconds that never go back. The file is checked at most once a second.
        now: returns seconds since the epoch, for the signatures.

    Raises:
        ConfigurationError: as `PublishedKeys`. Or a `kid` is not the thumbprint, or `origin` is not an https origin.
            Or the set and `signing_keys` do not have the same keys.
    """

    __slots__ = ("_now", "_request", "_signatures", "_signers")

    path: ClassVar[str] = DIRECTORY_PATH
    _media_type: ClassVar[str] = DIRECTORY_TYPE
    # A proxy that compresses the content would break its digest.
    _cache_control: ClassVar[str] = "public, no-transform"

    def __init__(
        self,
        keys: Mapping[str, object] | str | os.PathLike[str],
        signing_keys: Sequence[RemoteKey],
        *,
        origin: str,
        max_age: int = DEFAULT_MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = system_clock,
    ) -> None:
        super().__init__(keys, max_age=max_age, clock=clock)
        if max_age > _HALF_A_DAY:
            raise ConfigurationError(f"max_age: give at most {_HALF_A_DAY}: the signatures are valid for a day")
        parsed = Origin.parse(origin)
        if parsed.scheme != "https" or parsed.prefix:
            raise ConfigurationError("origin: give an https origin without a path, such as https://bot.example")
        self._request = Request("GET", f"{parsed}{DIRECTORY_PATH}")
        if not isinstance(cast("object", signing_keys), (list, tuple)):
            raise ConfigurationError("signing_keys: give a list of keys, such as [SigningKey.from_jwk(jwk)]")
        signers = [(Signer(key, profile=WEB_BOT_AUTH_DIRECTORY, clock=now), key) for key in signing_keys]
        self._signers = {key.keyid: signer for signer, key in signers}
        self._now = now
        listed = set(_keyids(self._text))
        if listed != self._signers.keys():
            raise ConfigurationError(
                "signing_keys: give one private key for each key of the set, with the thumbprint as its kid"
            )
        self._signatures: tuple[float, bytes, tuple[tuple[str, str], ...]] = (0.0, b"", ())
        fields = dict(self._signature_fields(self._text))
        try:
            parse_signature_input(fields["Signature-Input"])
            parse_byte_sequences(fields["Signature"], "base64")
        except MalformedField as malformed:
            fault = f"receivers would not read so many signatures: {malformed}"
            raise ConfigurationError(f"signing_keys: {fault}") from None

    def _text_of(self, keys: object) -> bytes:
        text = super()._text_of(keys)
        for jwk in _members(text):
            if jwk["kid"] != thumbprint(jwk):
                raise ConfigurationError("keys: in a key directory, each kid must be the thumbprint of its key")
        return text

    def _signature_fields(self, text: bytes) -> tuple[tuple[str, str], ...]:
        """Return the headers that sign the content: one signature by each key that it lists."""
        signed_at, signed, fields = self._signatures
        now = self._now()
        if signed != text or not signed_at <= now < signed_at + _HALF_A_DAY:
            fields = self._sign(text)
            # One assignment, as two threads may sign at once.
            self._signatures = now, text, fields
        return fields

    def _sign(self, text: bytes) -> tuple[tuple[str, str], ...]:
        response = Response(200, [("Content-Type", DIRECTORY_TYPE)], text, request=self._request)
        joined: dict[str, list[str]] = {}
        # A file may list a key that was made after this process began; it has no signature until the next one.
        keyids = [keyid for keyid in _keyids(text) if keyid in self._signers]
        for number, keyid in enumerate(keyids):
            for name, value in self._signers[keyid].sign_response(response, label=f"binding{number}"):
                joined.setdefault(name, []).append(value)
        fields = {name: values[0] if name == "Content-Digest" else ", ".join(values) for name, values in joined.items()}
        return tuple(fields.items())


def _members(text: bytes) -> list[Mapping[str, object]]:
    """Return the keys of the text of a set that may be published."""
    return cast("Mapping[str, list[Mapping[str, object]]]", loads(text))["keys"]


def _keyids(text: bytes) -> list[str]:
    return [str(jwk["kid"]) for jwk in _members(text)]
