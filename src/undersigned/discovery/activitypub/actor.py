"""Actors: the key in the document of an actor, and whose key it is (swicg/activitypub-http-signature)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.failures import UnusableDocument
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_KEYS
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Sequence

_PEM: Final = "publicKeyPem"
_RSA: Final = "rsa-v1_5-sha256"


def published_key(document: Mapping[str, object], keyid: str) -> Mapping[str, object] | None:
    """Return the key with the id `keyid` of an actor's document, or the document if it is that key; None if it is not.

    Raises:
        UnusableDocument: `publicKey` has more than 256 keys.
    """
    if document.get("id") == keyid and _PEM in document:
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
        UnusableDocument: the key does not say.
    """
    owner = key.get("owner", key.get("controller"))
    if not isinstance(owner, str) or not owner.isascii() or not owner.isprintable():
        raise UnusableDocument("the key has no owner that is a URL")
    return owner


def check_owner(actor: Mapping[str, object], *, owner: str, keyid: str) -> None:
    """Check that a document is that of the key's owner, and that it lists the key.

    Raises:
        UnusableDocument: the document has another id, or does not list the key.
    """
    if actor.get("id") != owner:
        raise UnusableDocument("the document of the key's owner has another id")
    ids = [
        cast("Mapping[str, object]", one).get("id") if isinstance(one, Mapping) else one for one in _listed_keys(actor)
    ]
    if keyid not in ids:
        raise UnusableDocument("the owner of the key does not list it in publicKey")


def verification_key(key: Mapping[str, object], *, keyid: str, owner: str) -> VerificationKey:
    """Return the key in a `publicKeyPem`, as SPKI or as PKCS #1.

    Raises:
        UnusableDocument: it is not a public RSA key that can be used.
    """
    pem = key.get(_PEM)
    if not isinstance(pem, str):
        raise UnusableDocument("the key has no publicKeyPem")
    try:
        return VerificationKey.from_pem(pem, keyid=keyid, owner=owner, algorithm=_RSA)
    except ConfigurationError:
        raise UnusableDocument("the publicKeyPem is not a public RSA key that can be used") from None


def _listed_keys(document: Mapping[str, object]) -> Sequence[object]:
    """Return the members of `publicKey`: one key, or a list of keys; each is an object or the id of one."""
    value = document.get("publicKey")
    if not isinstance(value, list):
        return () if value is None else (value,)
    listed = cast("list[object]", value)
    if len(listed) > MOST_KEYS:
        raise UnusableDocument(f"publicKey has more than {MOST_KEYS} keys")
    return listed
