"""JWK sets as a peer publishes them: keys by key ID, where one bad key does not spoil the set (RFC 7517 section 5)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.limits import MOST_CANDIDATES, MOST_KEYS
from undersigned.message.strict_json import loads
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undersigned.signature.jwk import JWK


_ARRAYS: Final = ("keys",)


class Keys:
    """The keys of a document by key ID; one key ID may name several, and the first four count.

    A key is made when it is looked up: making one takes up to 300 us, and a document may list many.

    Args:
        named: the JWKs, each with the key ID that names it.
        make: makes a key of a JWK, whose `kid` is the key ID.
        wanted: tells at each lookup whether a JWK still counts. None: each does.
        is_empty: whether the document lists no key that a signature can name.
    """

    __slots__ = ("_jwks", "_made", "_make", "_wanted", "is_empty")

    def __init__(
        self,
        named: Iterable[tuple[str, JWK]],
        *,
        make: Callable[[JWK], VerificationKey] = VerificationKey.from_jwk,
        wanted: Callable[[JWK], bool] | None = None,
        is_empty: bool = False,
    ) -> None:
        self._jwks: dict[str, list[JWK]] = {}
        for keyid, jwk in named:
            self._jwks.setdefault(keyid, []).append(jwk)
        self._make, self._wanted = make, wanted
        self._made: dict[str, tuple[VerificationKey, ...]] = {}
        self.is_empty = is_empty

    def __contains__(self, keyid: str) -> bool:
        return keyid in self._jwks

    def __iter__(self) -> Iterator[str]:
        return iter(self._jwks)

    def get(self, keyid: str) -> tuple[VerificationKey, ...]:
        """Return the keys that a key ID names, four at most."""
        made = self._made.get(keyid)
        if made is None:
            jwks = self._jwks.get(keyid)
            if jwks is None:
                return ()
            keys = tuple(self._make({**jwk, "kid": keyid}) for jwk in jwks[:MOST_CANDIDATES])
            # Two threads may make the keys at once; then both use the same.
            made = self._made.setdefault(keyid, keys)
        if self._wanted is None:
            return made
        return tuple(key for key, jwk in zip(made, self._jwks[keyid], strict=False) if self._wanted(jwk))


def read_json_object(text: bytes) -> Mapping[str, object]:
    """Return a JSON object without repeated keys.

    Raises:
        UnusableDocument: it is not one.
    """
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        raise UnusableDocument("the document is not JSON, or has duplicate keys") from None
    if not isinstance(value, dict):
        raise UnusableDocument("the document is not a JSON object")
    return value


def members_of(document: Mapping[str, object], arrays: Sequence[str] = _ARRAYS) -> list[Mapping[str, object]]:
    """Return the objects in the array `keys` of a JWK set, or in those of other arrays that the document has.

    Raises:
        UnusableDocument: there is no such array, one is not an array, they have more than 256 members, or members of
            which none is an object.
    """
    given = [document[name] for name in arrays if name in document]
    if not given or not all(isinstance(members, list) for members in given):
        raise UnusableDocument(f"the document has no array {' or '.join(arrays)}")
    listed = list(itertools.chain.from_iterable(cast("list[list[object]]", given)))
    if len(listed) > MOST_KEYS:
        raise UnusableDocument(f"the document has more than {MOST_KEYS} keys")
    members = [cast("Mapping[str, object]", member) for member in listed if isinstance(member, dict)]
    if listed and not members:
        raise UnusableDocument("the document has no key among its keys")
    return members


def read_jwk_set(
    document: Mapping[str, object],
    *,
    owner: str = "",
    wanted: Callable[[JWK], bool] | None = None,
    most: int = MOST_KEYS,
    arrays: Sequence[str] = _ARRAYS,
) -> Keys:
    """Return the keys of a JWK set.

    A member that is not an object or has no `kid` is ignored: no signature can name it. A key that cannot be used is
    kept with its fault, so that a signature naming it is rejected for what is wrong with it.

    Args:
        document: the JWK set.
        owner: whose keys they are.
        wanted: tells whether a JWK counts: when it is read, and at each lookup. None: each does.
        most: how many keys are kept: the first ones.
        arrays: the arrays that may have keys.

    Raises:
        UnusableDocument: as `members_of`.
    """
    named = [(keyid, jwk) for jwk in members_of(document, arrays) if isinstance(keyid := jwk.get("kid"), str) and keyid]
    return Keys(
        [one for one in named if wanted is None or wanted(one[1])][:most],
        make=lambda jwk: VerificationKey.from_jwk(jwk, owner=owner),
        wanted=wanted,
        is_empty=not named,
    )


def parse_jwk_set(text: bytes) -> Keys:
    """Return the keys of a JWK set, as `read_jwk_set` does, from its JSON text."""
    return read_jwk_set(read_json_object(text))
