"""The test keys of a corpus, in any of its files. A name means the nearest key with that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.published_key import PublishedKey
from undersigned.conformance.vector import KeyRing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import PurePath

    from undersigned.message.strict_json import JSONValue


class NamedKeys(NamedTuple):
    """The keys that one file names.

    Attributes:
        path: the file.
        keys: the keys by name.
    """

    path: PurePath
    keys: Mapping[str, JSONValue]


class Keys:
    """The keys of a corpus.

    Args:
        rings: the lists of JWKs with `kid`, each with its file.
        named: the keys that other files name.
        alone: the files that are one JWK.
    """

    __slots__ = ("_alone", "_named", "_rings")

    def __init__(
        self,
        rings: Iterable[tuple[PurePath, Sequence[Document]]],
        named: Iterable[NamedKeys],
        alone: Iterable[tuple[PurePath, Document]],
    ) -> None:
        self._rings = list(rings)
        self._named = list(named)
        self._alone = list(alone)

    def ring(self, path: PurePath) -> KeyRing:
        """Return the keys that a vector in `path` may name by `kid`. If two files share a `kid`, the nearer one counts.

        A file whose key has no `kid` makes the ring faulty, if it is the nearest one.
        """
        by_kid: dict[str, Document] = {}
        for where, keys in sorted(self._rings, key=lambda ring: -_count_shared(ring[0], path)):
            for key in keys:
                kid = key.members.get("kid")
                if not isinstance(kid, str):
                    return KeyRing((), f"{where.name}: kid is not a string")
                by_kid.setdefault(kid, key)
        fault = "" if by_kid else "no file of the corpus has the keys"
        return KeyRing(tuple(by_kid.values()), fault)

    def find(self, name: str, path: PurePath) -> PublishedKey:
        """Return the key of that name, from the nearest file that has one.

        Raises:
            MalformedVector: there is none.
        """
        having = [found for found in self._named if name in found.keys]
        if not having:
            raise MalformedVector("no file of the corpus has the key that the vector names")
        return PublishedKey.read(max(having, key=lambda found: _count_shared(found.path, path)).keys[name])

    def alone(self, path: PurePath) -> PublishedKey:
        """Return the nearest key that has a file of its own.

        Raises:
            MalformedVector: there is none.
        """
        if not self._alone:
            raise MalformedVector("no file of the corpus is the key of this message")
        return PublishedKey(max(self._alone, key=lambda found: _count_shared(found[0], path))[1])


def _count_shared(one: PurePath, other: PurePath) -> int:
    """Return how many directories two paths share."""
    pairs = zip(one.parent.parts, other.parent.parts, strict=False)
    return next(
        (at for at, (left, right) in enumerate(pairs) if left != right), min(len(one.parents), len(other.parents))
    )
