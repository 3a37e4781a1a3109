"""A key source that fetches documents with keys, and keeps them: the common part of all that fetch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from undersigned.discovery.threads_and_tasks import wait_in_task, wait_in_thread
from undersigned.errors import KeySourceError
from undersigned.verification.blocking_calls import finish

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from undersigned.discovery.document_cache import Copy, Kept, Loader
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.threads_and_tasks import Wait
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

FoundKeys: TypeAlias = "tuple[VerificationKey, ...]"


class KeptKeys(ABC):
    """A key source that fetches documents with keys, and keeps them. Threads and tasks may share it.

    If a key does not verify a signature, it is fetched again, at most every `freshness.interval` seconds: its owner may
    have published another key under the same key ID.
    """

    __slots__ = ("_loader",)

    blocking = asks_again = True

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    @abstractmethod
    def kept(self, lookup: KeyLookup) -> Kept[Keys]:
        """Return the document that has the keys for a signature, or raise a `KeySourceError`."""

    def find(self, lookup: KeyLookup) -> FoundKeys:
        """Return the keys that `lookup.keyid` names in the document, four at most.

        Raises:
            KeySourceError: the document must not or cannot be fetched now. Or it lacks the key ID, and cannot be
                fetched again. Or the signature does not name the document.
        """
        return self.held(lookup) or finish(self._fetch(lookup, wait_in_thread))

    def async_find(self, lookup: KeyLookup) -> FoundKeys | Coroutine[object, None, FoundKeys]:
        """Return the keys as `find` does, or an awaitable of them if they have to be fetched."""
        return self.held(lookup) or self._fetch(lookup, wait_in_task)

    def held(self, lookup: KeyLookup) -> FoundKeys:
        """Return the keys that `lookup.keyid` names and that may be used without waiting."""
        with suppress(KeySourceError):
            copy = self.kept(lookup).usable_copy(partial(has_keys, lookup, self._loader))
            if copy is not None:
                return copy.value.get(lookup.keyid)
        return ()

    async def _fetch(self, lookup: KeyLookup, wait: Wait) -> FoundKeys:
        keys = await self.kept(lookup).get(partial(has_keys, lookup, self._loader), wait)
        return keys.get(lookup.keyid)


def has_keys(lookup: KeyLookup, loader: Loader, copy: Copy[Keys]) -> bool:
    """Return whether a copy has the keys of a lookup, and is new enough if they did not verify the signature."""
    if lookup.is_second_try and loader.clock() >= copy.fetched + loader.freshness.interval:
        return False
    return lookup.keyid in copy.value
