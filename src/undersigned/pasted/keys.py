"""Pasted keys: the public keys of a verifier as a JWK set, a JWK or PEM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned import profiles
from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.signature.jwk import public_jwk, thumbprint
from undersigned.signature.key_source import ExaminedKeys
from undersigned.signature.pem import form_of, is_pem, pem_jwks, read_public_pem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.jwk import PublicKey

    JSONObject: TypeAlias = Mapping[str, JSONValue]

EVERY_PURPOSE: Final = frozenset[str]().union(*(profile.key.purposes for profile in profiles.BY_NAME.values()))
"""The purposes of a key in PEM. A PEM does not name a purpose, so the key may be used for each of them."""


def parse_pasted_keys(text: bytes, *, keyid: str | None) -> ExaminedKeys:
    """Return the public keys of a text, which is a JWK set, a public JWK or a PEM.

    Raises:
        ConfigurationError: it has no such keys. The message does not quote it.
    """
    if is_pem(text):
        if keyid is None:
            raise missing_keyid(read_public_pem(text))
        return ExaminedKeys.from_jwks(pem_jwks(text, keyid=keyid, purposes=EVERY_PURPOSE))
    jwks = json_object(text, "a JWK set, a public JWK or a public key in PEM")
    if "d" in jwks or "k" in jwks:
        raise ConfigurationError("this is a private key: give the public one, such as public.jwks.json")
    return ExaminedKeys.from_jwks({"keys": [with_kid(jwks, keyid)]} if "kty" in jwks else jwks)


def missing_keyid(key: PublicKey) -> ConfigurationError:
    """Return the error for a PEM without `--keyid`. It names the kid that `undersigned keygen` would give the key."""
    return ConfigurationError(
        "a PEM has no key ID: give the kid under which verifiers know the key, with --keyid. If the kid was made by "
        f"`undersigned keygen`, it is the key's thumbprint: --keyid {thumbprint(public_jwk(key))}"
    )


def with_kid(jwk: JSONObject, keyid: str | None) -> JSONObject:
    """Return a JWK with its own kid, or with `keyid` if it has none."""
    return jwk if "kid" in jwk or keyid is None else {**jwk, "kid": keyid}


def json_object(text: bytes, expected: str) -> JSONObject:
    """Return the JSON object that a text is, or raise ConfigurationError with what was expected."""
    try:
        value = loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ConfigurationError(f"expected {expected}: {form_of(text)}")
    return value
