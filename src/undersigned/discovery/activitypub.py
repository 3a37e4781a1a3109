"""Discovery for ActivityPub: the key of the actor that a key ID names (swicg/activitypub-http-signature)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from undersigned.discovery.document_cache import Copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import UntrustedURL, UnusableDocument, source_errors
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import Keys, read_json_object
from undersigned.discovery.network import Network
from undersigned.discovery.sender_limits import NamedKeys
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import (
    LONGEST_MULTIBASE,
    MOST_ACTOR_BYTES,
    MOST_ACTORS,
    MOST_AGENT_FETCHES,
    MOST_KEYS,
    MOST_NEW_ACTORS,
)
from undersigned.message.request import Request
from undersigned.signature.jwk import read_base58
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from undersigned.discovery.fetching_key_source import FoundKeys
    from undersigned.signature.jwk import PublicKey
    from undersigned.signature.key_source import KeyLookup

__all__ = ["ActorKeys"]

ACTOR_FRESHNESS: Final = Freshness(default=3600, most=3600)
"""How long an actor's key is used. Actors rarely change it, and a signature that fails has it fetched again."""

ACTOR_TYPES: Final = 'application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
"""The media types of an actor (ActivityPub section 3.2)."""

_PROFILE: Final = "https://www.w3.org/ns/activitystreams"

_PEM: Final = "publicKeyPem"
_MULTIBASE: Final = "publicKeyMultibase"
_RSA: Final = "rsa-v1_5-sha256"

_LISTS: Final = ("publicKey", "assertionMethod")
"""The members of an actor that list its keys: in PEM, and as Multikeys (FEP-521a)."""

_RSA_PUBLIC: Final = b"\x85\x24"
_ED25519_PUBLIC: Final = b"\xed\x01"
"""The multicodec prefixes of an RSAPublicKey (RFC 8017 A.1.1) and of an Ed25519 key."""


class FetchSigner(Protocol):
    """A signer of the fetches, such as a `Signer` or a `CavageSigner`."""

    def sign(self, request: Request) -> Iterable[tuple[str, str]]:
        """Return the headers to add."""
        ...


class ActorKeys(NamedKeys[str]):
    """The keys of the actors that key IDs name, for threads and asyncio. The `owner` of a key is the id of its actor.

    A key ID must be an https URL, such as `https://social.example/users/bob#main-key`. Any other key ID, such as an
    `acct:` URI, names no key. The URL without its fragment is fetched, and its `publicKey` must have the whole key ID
    as id, or a Multikey of its `assertionMethod` (FEP-521a). The key's owner must list it. Senders choose the URLs,
    so every fetch is guarded as `undersigned.discovery` says, and all fetches together are bounded.

    If a key does not verify a signature, it is fetched again, at most every `freshness.interval` seconds. The key of an
    actor that is gone (404 or 410) is used for another `freshness.stale` seconds, if it was fetched before. Otherwise
    it is unknown.

    Args:
        signer: signs the fetches, for servers that answer signed requests only: a `Signer` or a `CavageSigner` with the
            key of your own server's actor.
        trusted: tells whether a host is trusted, in lower case; None: all are. It is asked at every request, for the
            host of the key ID and for the host of the key's owner.
        freshness: how long keys are used.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight, without those that hang.
        most_a_minute: how many key IDs that gave no key yet may be fetched in a minute.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_signer", "_trusted")

    def __init__(
        self,
        *,
        signer: FetchSigner | None = None,
        trusted: Callable[[str], bool] | None = None,
        freshness: Freshness = ACTOR_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_ACTORS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(network, freshness, clock, most=MOST_ACTORS, at_once=most_at_once, a_minute=most_a_minute)
        self._signer = signer
        self._trusted = trusted

    def find(self, lookup: KeyLookup) -> FoundKeys:
        """Return the key that `lookup.keyid` names.

        Raises:
            KeySourceError: the URL must not be fetched or its documents contradict each other
                (`signature_jwks_untrusted`). Or the actor is gone (`signature_key_unknown`), or cannot be fetched now
                (`signature_jwks_unavailable`).
        """
        return super().find(lookup) if lookup.keyid.startswith("https://") else ()

    def async_find(self, lookup: KeyLookup) -> FoundKeys | Coroutine[object, None, FoundKeys]:
        """Return the key as `find` does, or an awaitable of it if it has to be fetched."""
        return super().async_find(lookup) if lookup.keyid.startswith("https://") else ()

    def agent(self, lookup: KeyLookup) -> tuple[str, str]:
        """Return the key ID of an actor's key, and the URL of the document that has it."""
        return lookup.keyid, self._location(lookup.keyid)

    def load(self, agent: str) -> Copy[Keys]:
        """Fetch the key of an actor."""
        # If the actor is gone, a copy that is kept still verifies the Delete with which it says good-bye.
        with source_errors("the actor", unusable="signature_jwks_untrusted", is_named=True):
            return self._load(agent)

    def _load(self, keyid: str) -> Copy[Keys]:
        location = keyid.partition("#")[0]
        copy = self._document(location)
        key = published_key(copy.value, keyid)
        if key is None:
            return Copy(Keys(()), copy.fetched, copy.fresh_until)
        owner = owner_of(key)
        # Anyone can name anyone as the owner of a key. Only the owner's own document confirms it.
        own = copy if owner == location and key is not copy.value else self._document(owner)
        check_owner(own.value, owner=owner, keyid=keyid)
        found = verification_key(key, keyid=keyid, owner=owner)
        # The owner's host may be blocked later.
        keys = Keys([(keyid, {})], make=lambda _jwk: found, wanted=lambda _jwk: bool(self._location(owner)))
        return Copy(keys, copy.fetched, min(copy.fresh_until, own.fresh_until))

    def _document(self, url: str) -> Copy[Mapping[str, object]]:
        url = self._location(url)
        fields = () if self._signer is None else tuple(self._signer.sign(Request("GET", url)))
        request = FetchRequest(
            url=url, max_bytes=MOST_ACTOR_BYTES, accept=ACTOR_TYPES, fields=fields, accepts=_is_activity
        )
        return self._loader.load(request, _read_actor)

    def _location(self, url: str) -> str:
        """Return the URL of a document that may be fetched in canonical form, without the fragment."""
        try:
            target = Target.of(url)
        except UntrustedURL as untrusted:
            raise KeySourceError("signature_jwks_untrusted", f"the actor: {untrusted}") from None
        if self._trusted is not None and not self._trusted(target.host):
            raise KeySourceError(
                "signature_jwks_untrusted", "trusted: it rejects the host of the key ID or of the key's owner"
            )
        return f"https://{target.authority}{target.path_and_query}"


def _read_actor(body: bytes) -> Mapping[str, object]:
    """Return the document of an actor or a key. What has no id, such as an error, is none, and withdraws nothing."""
    document = read_json_object(body)
    if not isinstance(document.get("id"), str):
        raise UnusableDocument("the document has no id, as actors and keys have")
    return document


def _is_activity(content_type: str) -> bool:
    """Return whether a document is of ActivityStreams: anything else may be a file that a user uploaded."""
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
    return media_type == "application/activity+json" or (media_type == "application/ld+json" and _PROFILE in parameters)


def published_key(document: Mapping[str, object], keyid: str) -> Mapping[str, object] | None:
    """Return the key with the id `keyid` of an actor's document, or the document if it is that key; None if it is not.

    Raises:
        UnusableDocument: it lists more than 256 keys.
    """
    if document.get("id") == keyid and not {_PEM, _MULTIBASE}.isdisjoint(document):
        return document
    for one in _listed_keys(document):
        if isinstance(one, Mapping):
            key = cast("Mapping[str, object]", one)
            if key.get("id") == keyid:
                return key
    return None


def owner_of(key: Mapping[str, object]) -> str:
    """Return the id of the actor whose key it is.

    Raises:
        KeySourceError: the key does not say.
    """
    owner = key.get("owner", key.get("controller"))
    if not isinstance(owner, str) or not owner.isascii() or not owner.isprintable():
        raise _not_confirmed("the key has no owner that is a URL")
    return owner


def check_owner(actor: Mapping[str, object], *, owner: str, keyid: str) -> None:
    """Check that a document is that of the key's owner, and that it lists the key.

    Raises:
        KeySourceError: the document has another id, or does not list the key.
    """
    if actor.get("id") != owner:
        raise _not_confirmed("the document of the key's owner has another id")
    ids = [
        cast("Mapping[str, object]", one).get("id") if isinstance(one, Mapping) else one for one in _listed_keys(actor)
    ]
    if keyid not in ids:
        raise _not_confirmed("the owner of the key does not list it in publicKey")


def verification_key(key: Mapping[str, object], *, keyid: str, owner: str) -> VerificationKey:
    """Return the key in a `publicKeyPem`, as SPKI or as PKCS #1, or in a `publicKeyMultibase`.

    Raises:
        KeySourceError: it is not a public key that can be used: of RSA, or as a Multikey also of Ed25519.
    """
    pem, multibase = key.get(_PEM), key.get(_MULTIBASE)
    try:
        if isinstance(pem, str):
            return VerificationKey.from_pem(pem, keyid=keyid, owner=owner, algorithm=_RSA)
        if isinstance(multibase, str):
            public, algorithm = _multikey(multibase)
            return VerificationKey.from_public_key(public, keyid=keyid, owner=owner, algorithm=algorithm)
    except (ConfigurationError, ValueError, UnsupportedAlgorithm):
        raise _not_confirmed("the publicKeyPem or publicKeyMultibase is not a public key that can be used") from None
    raise _not_confirmed("the key has no publicKeyPem and no publicKeyMultibase")


def _multikey(multibase: str) -> tuple[PublicKey, str]:
    """Return the key of a Multikey in base58btc, and the RFC 9421 name of its algorithm."""
    if multibase[:1] != "z" or len(multibase) > LONGEST_MULTIBASE:
        raise ValueError("not base58btc, or too long")
    octets = read_base58(multibase[1:])
    codec, content = octets[:2], octets[2:]
    if codec == _ED25519_PUBLIC:
        return Ed25519PublicKey.from_public_bytes(content), "ed25519"
    loaded = load_der_public_key(content) if codec == _RSA_PUBLIC else None
    return cast("PublicKey", loaded), _RSA


def _not_confirmed(fault: str) -> KeySourceError:
    """Return the error for documents that no longer confirm a key. They are an answer, so a copy counts no more."""
    return KeySourceError("signature_jwks_untrusted", f"the actor: {fault}", definite=True)


def _listed_keys(document: Mapping[str, object]) -> Sequence[object]:
    """Return the members of `publicKey` and `assertionMethod`: keys, each an object or the id of one."""
    listed: list[object] = []
    for value in map(document.get, _LISTS):
        listed += cast("list[object]", value) if isinstance(value, list) else [] if value is None else [value]
    if len(listed) > MOST_KEYS:
        raise UnusableDocument(f"the actor lists more than {MOST_KEYS} keys")
    return listed
