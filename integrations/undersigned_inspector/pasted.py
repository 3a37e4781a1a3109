"""What is pasted into the page: the request, the keys and the options, as the page sends them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from undersigned import ConfigurationError, KeySet, profiles
from undersigned.errors import UndersignedError
from undersigned.explanation import MalformedRequest, PastedRequest, parse_pasted_request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.pem import is_pem
from undersigned.signature.public_jwk import pem_jwks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undersigned import KeyLookup, KeySource, Profile, Request, VerificationKey

_MOST_DIGITS = 15
_MOST_FIELDS = 1000
_PRIVATE = frozenset({"d", "k"})
_PURPOSES = frozenset[str]().union(*(profile.key.purposes for profile in profiles.BY_NAME.values()))
"""The purposes of a key in PEM, which names none."""


class Unusable(UndersignedError):
    """Raised when something that was pasted cannot be used. The message does not quote it.

    Attributes:
        field: the field of the page.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NoKeys:
    """A key source without a key, for a request that is pasted alone."""

    blocking = False

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:  # noqa: ARG002 - there is nothing to find
        """Return no key."""
        return ()


@dataclass(frozen=True, slots=True)
class Pasted:
    """A pasted request with what is needed to explain it.

    Attributes:
        request: the request.
        keys: the keys to verify with.
        profile: the profile, or None for a guess.
        now: the verifier's clock, or None for the time of signing.
        base: the signer's base, or None.
    """

    request: PastedRequest
    keys: KeySource
    profile: Profile | None
    now: int | None
    base: bytes | None


def read_pasted(content: bytes) -> Pasted:
    """Read what the page sends: a JSON object of texts.

    Raises:
        Unusable: a text cannot be used.
    """
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unusable("request", "the page sent something else than its form: reload it")
    texts = {name: text for name, text in cast("dict[str, object]", value).items() if isinstance(text, str)}
    now = texts.get("now", "").strip()
    if now and not (now.isascii() and now.isdigit() and len(now) <= _MOST_DIGITS):
        raise Unusable("now", "give the time in seconds since the epoch")
    base = texts.get("base", "")
    request = _request(texts)
    return Pasted(
        request=request,
        keys=_keys(texts.get("keys", ""), request.request),
        profile=profiles.BY_NAME.get(texts.get("profile", "")),
        now=int(now) if now else None,
        base=_octets(base) if base.strip() else None,
    )


def _request(texts: dict[str, str]) -> PastedRequest:
    scheme = "http" if texts.get("scheme") == "http" else "https"
    body = _octets(texts["body"]) if texts.get("body") else None
    if texts.get("file"):
        try:
            body = base64.b64decode(texts["file"], validate=True)
        except ValueError:
            raise Unusable("file", "the content of the file did not arrive") from None
    text = texts.get("request", "")
    if not text.strip():
        raise Unusable("request", "paste a request")
    try:
        pasted = parse_pasted_request(_octets(text), scheme=scheme, body=body)
    except MalformedRequest as malformed:
        raise Unusable("request", str(malformed)) from None
    if len(pasted.request.fields) > _MOST_FIELDS:
        raise Unusable("request", f"the request has more than {_MOST_FIELDS:,} header fields")
    return pasted


def _keys(text: str, request: Request) -> KeySource:
    if not text.strip():
        return NoKeys()
    try:
        return KeySet.from_jwks(_jwks(text, request))
    except ConfigurationError as error:
        raise Unusable("keys", str(error)) from None


def _jwks(text: str, request: Request) -> Mapping[str, object]:
    """Return the keys as a JWK set. A key in PEM gets the key ID that the request names."""
    if is_pem(_octets(text)):
        return pem_jwks(text, keyid=_keyid(request), purposes=_PURPOSES)
    value: object
    try:
        value = loads(_octets(text))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Unusable("keys", "expected a JWK set, a public JWK or a public key in PEM")
    jwks = cast("dict[str, object]", value)
    jwks = {"keys": [jwks]} if "kty" in jwks and "keys" not in jwks else jwks
    listed = jwks.get("keys")
    for jwk in cast("list[object]", listed) if isinstance(listed, list) else []:
        if isinstance(jwk, dict) and not _PRIVATE.isdisjoint(cast("dict[str, object]", jwk)):
            raise Unusable("keys", "there is a private key among them: paste public keys only")
    return jwks


def _keyid(request: Request) -> str | None:
    try:
        members = parse_signature_input(request.fields.combined.get("signature-input") or "")
    except MalformedField:
        return None
    named = [member.parameters.get("keyid") for member in members.values()]
    return next((keyid for keyid in named if isinstance(keyid, str)), None)


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
