"""JWK sets as a peer publishes them: keys by keyid, where one bad key does not spoil the set (RFC 7517 section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from undersigned.discovery.failures import UnusableDocument
from undersigned.limits import LONGEST_KEYID, MOST_CANDIDATES, MOST_KEYS
from undersigned.message.strict_json import loads
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable

Keys: TypeAlias = Mapping[str, tuple[VerificationKey, ...]]
"""The keys of a source by keyid; one keyid may name several."""


def read_json_object(text: bytes) -> Mapping[str, object]:
    """Return a JSON object without repeated keys.

    Raises:
        UnusableDocument: it is not one.
    """
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        raise UnusableDocument("the document is not JSON, or repeats a key") from None
    if not isinstance(value, dict):
        raise UnusableDocument("the document is not a JSON object")
    return value


def parse_jwk_set(text: bytes) -> Keys:
    """Return the keys of a JWK set, as `read_jwk_set` does, from its JSON text."""
    return read_jwk_set(read_json_object(text))


def read_jwk_set(
    document: Mapping[str, object], *, wanted: Callable[[Mapping[str, object]], bool] | None = None
) -> Keys:
    """Return the keys of a JWK set.

    A member that is not an object or has no `kid` of 1 to 1,024 characters is ignored: no signature can name it. A key
    that cannot be used is kept with its fault, so that a signature naming it is rejected for what is wrong with it.
    When several keys have one `kid`, the first four are kept.

    Args:
        document: the JWK set.
        wanted: tells whether a JWK is to be kept; all are, if it is not given.

    Raises:
        UnusableDocument: there is no array `keys`, or it has more than 256 members.
    """
    members = document.get("keys")
    if not isinstance(members, list):
        raise UnusableDocument("the JWK set has no array keys")
    if len(cast("list[object]", members)) > MOST_KEYS:
        raise UnusableDocument(f"the JWK set has more than {MOST_KEYS} keys")
    keys: dict[str, tuple[VerificationKey, ...]] = {}
    for member in cast("list[object]", members):
        if not isinstance(member, dict):
            continue
        jwk = cast("Mapping[str, object]", member)
        keyid = jwk.get("kid")
        if (
            not isinstance(keyid, str)
            or not 0 < len(keyid) <= LONGEST_KEYID
            or (wanted is not None and not wanted(jwk))
        ):
            continue
        keys[keyid] = (*keys.get(keyid, ()), VerificationKey.from_jwk(jwk))[:MOST_CANDIDATES]
    return keys
