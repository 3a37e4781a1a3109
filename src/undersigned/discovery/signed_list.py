"""Signed revocation lists: a JWS over the list, by a key that the operator has pinned (AdCP, Revocation; RFC 7515)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from joserfc import jws
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwk import ECKey, OKPKey

from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.jwk_set import read_json_object
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_LIST_BYTES
from undersigned.signature.key_source import KeySet
from undersigned.verification.revocation import RevocationList

if TYPE_CHECKING:
    from collections.abc import Mapping

LIST_TYPE: Final = "adcp-gov-revocation+jws"
"""The `typ` of a revocation list's JWS (AdCP)."""

_LATEST: Final = 60
"""Upper bound on the seconds that a list's `updated` may lie in the future: two clocks differ."""

_ALGORITHMS: Final = {"ed25519": ("EdDSA", "Ed25519"), "ecdsa-p256-sha256": ("ES256",)}


class PinnedKeys:
    """The keys that may sign an issuer's revocation lists.

    Args:
        jwks: a JWK set of public keys, each with `kid` and `alg`.

    Raises:
        ConfigurationError: it is not a JWK set, has no key with a `kid`, or one of its keys cannot be used.
    """

    __slots__ = ("_keys",)

    def __init__(self, jwks: Mapping[str, object]) -> None:
        keys = KeySet.from_jwks(jwks).keys
        for key in keys.values():
            if key.algorithm not in _ALGORITHMS:
                fault = key.fault or "its alg must be EdDSA or ES256"
                raise ConfigurationError(f"keys: {key.keyid!r} cannot be used: {fault}")
        # Every key without a fault has its members as strings.
        members = {jwk["kid"]: jwk for jwk in cast("list[dict[str, str]]", jwks["keys"]) if "kid" in jwk}
        self._keys = {keyid: (_import_key(members[keyid]), _ALGORITHMS[key.algorithm]) for keyid, key in keys.items()}

    def payload_of(self, text: bytes) -> bytes:
        """Return the payload of a JWS, in compact or JSON serialization, that one of the keys signed.

        Raises:
            UnusableDocument: it is not such a JWS.
        """
        registry = _Registry()
        try:
            signed = jws.extract_compact(_compact(text), registry=registry)
            header = signed.protected
            key, registry.names = self._keys[header["kid"]]
            is_valid = header.get("typ") == LIST_TYPE and jws.validate_compact(signed, key, registry=registry)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UnusableDocument("the document is not a JWS by a pinned key") from error
        if not is_valid:
            raise UnusableDocument(f"the JWS is not of the type {LIST_TYPE}, or its signature is not valid")
        return signed.payload


def read_signed_list(
    text: bytes, *, keys: PinnedKeys, issuer: str, last: RevocationList | None, now: float
) -> RevocationList:
    """Return the revocation list in a JWS.

    Args:
        text: the JWS.
        keys: the keys that may have signed it.
        issuer: who must have made the list.
        last: the list that was read last.
        now: seconds since the epoch.

    Raises:
        UnusableDocument: it is not signed by one of the keys, not a list of the issuer, older than `last`, or of the
            future.
    """
    try:
        read = RevocationList.from_json(keys.payload_of(text), issuer=issuer)
    except ConfigurationError as error:
        raise UnusableDocument(str(error)) from None
    if read.updated > now + _LATEST:
        raise UnusableDocument("the revocation list is of the future")
    if last is not None and read.updated < last.updated:
        raise UnusableDocument("the revocation list is older than the one that was read before")
    return read


def _import_key(jwk: Mapping[str, str]) -> OKPKey | ECKey:
    public: dict[str, str | list[str]] = {name: jwk[name] for name in ("kty", "crv", "x", "y") if name in jwk}
    return OKPKey.import_key(public) if jwk["kty"] == "OKP" else ECKey.import_key(public)


def _compact(text: bytes) -> bytes:
    """Return the compact serialization of a JWS, which has no header that is not signed (RFC 7515 section 7)."""
    text = text.strip()
    if not text.startswith(b"{"):
        return text
    document = read_json_object(text)
    signatures = document.get("signatures", [document])
    if not isinstance(signatures, list) or len(cast("list[object]", signatures)) != 1:
        raise UnusableDocument("the JWS has not exactly one signature")
    [signature] = cast("list[Mapping[str, str]]", signatures)
    segments = (signature["protected"], cast("str", document["payload"]), signature["signature"])
    return ".".join(segments).encode("ascii")


class _Registry(jws.JWSRegistry):
    """The algorithms of one key. joserfc's own warns of the name EdDSA, which AdCP has."""

    max_payload_length = MOST_LIST_BYTES

    def __init__(self) -> None:
        super().__init__()
        self.names: tuple[str, ...] = ()

    def get_alg(self, name: str) -> Any:  # joserfc does not export the type
        if name not in self.names:
            raise UnsupportedAlgorithmError(f"the key is not for {name}")
        return self.algorithms[name]
