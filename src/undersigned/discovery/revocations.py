"""Remote revocation lists: fetched again at their `next_update`, and verified with pinned keys (AdCP step 9)."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from undersigned.discovery.cache import Cache
from undersigned.discovery.document import Loader, source_error
from undersigned.discovery.failures import FetchError
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.kept import AsyncKept, Kept
from undersigned.discovery.network import Network
from undersigned.discovery.owned import AsyncOwner, Owned, Owner
from undersigned.discovery.remote_jwks import check_url
from undersigned.discovery.signed_list import PinnedKeys, read_signed_list
from undersigned.discovery.source import AsyncFetched, Fetched
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_LIST_BYTES
from undersigned.verification.revocation import LONGEST_INTERVAL, SHORTEST_INTERVAL, RevocationList

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from undersigned.discovery.cache import Copy
    from undersigned.discovery.kept import Load
    from undersigned.verification.revocation import AsyncRevocationSource

LIST_FRESHNESS: Final = Freshness(
    least=SHORTEST_INTERVAL, default=SHORTEST_INTERVAL, most=LONGEST_INTERVAL, stale=10 * LONGEST_INTERVAL
)
"""When a list is fetched again. The verifier checks separately whether a list is stale."""


class RemoteRevocationList(Fetched[RevocationList]):
    """A revocation source that polls an issuer's signed list over https, for threads.

    The list is fetched again at its `next_update`, but not before a minute and not after 30 minutes. After a failed
    fetch, it is fetched every 30 seconds. The last good list counts until its grace period is over. Then the verifier
    rejects signatures until a fresh list is fetched. `with` polls in a thread. Without it, a request fetches the list
    when it is due.

    Args:
        url: the https URL of the list, such as `https://gov.example.com/.well-known/governance-revocations.json`.
        issuer: the list's `issuer`, such as `https://gov.example.com`.
        keys: the JWK set of the public keys that may sign the list.
        network: which addresses may be reached, and in what time.
        clock: seconds that never go back.
        now: seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ()

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        keys: Mapping[str, object],
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        load = _load(url, issuer, keys, Loader.blocking(network, LIST_FRESHNESS, clock), now)
        cache = Cache[RevocationList](LIST_FRESHNESS, clock, ahead=0)
        super().__init__(Kept(url, load, cache, network=network, document="revocations"))

    def current(self, owner: str) -> RevocationList:  # noqa: ARG002 - the protocol's signature
        """Return the issuer's list, whoever owns the key.

        Raises:
            KeySourceError: no list could be fetched yet.
        """
        return self._kept.get(_is_enough)


class AsyncRemoteRevocationList(AsyncFetched[RevocationList]):
    """`RemoteRevocationList` for the tasks of an event loop; `async with` polls in a task."""

    __slots__ = ()

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        keys: Mapping[str, object],
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        load = _load(url, issuer, keys, Loader.awaiting(network, LIST_FRESHNESS, clock), now)
        cache = Cache[RevocationList](LIST_FRESHNESS, clock, ahead=0)
        super().__init__(AsyncKept(url, load, cache, network=network, document="revocations"))

    def current(self, owner: str) -> RevocationList | Coroutine[object, None, RevocationList]:  # noqa: ARG002 - as above
        """As `RemoteRevocationList.current`; to be awaited if the list is due."""
        return self._kept.fresh() or self._kept.get(_is_enough)


class RevocationSources(Owner, AsyncOwner):
    """Revocation sources by owner: each signer's keys by the list that applies to that signer.

    `with` or `async with` starts and stops the sources that poll. If the answer of one has to be awaited, this is a
    source for `AsyncVerifier`.

    Args:
        sources: a source for each owner, as the key source names them.

    Raises:
        ConfigurationError: an owner is not text, or a source is not one.
    """

    __slots__ = ("_owned", "_sources")

    def __init__(self, sources: Mapping[str, AsyncRevocationSource]) -> None:
        for owner, source in sources.items():
            if not isinstance(owner, str) or not callable(getattr(source, "current", None)):
                raise ConfigurationError("sources: name for each owner a source such as RemoteRevocationList(url, ...)")
        self._sources = dict(sources)
        self._owned = Owned(tuple(sources.values()))

    @property
    def blocking(self) -> bool:
        """Whether one of the sources may block."""
        return any(getattr(source, "blocking", True) for source in self._sources.values())

    def current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """Return what the owner's source answers, or None if there is none for this owner."""
        source = self._sources.get(owner)
        return None if source is None else source.current(owner)


def _load(
    url: str, issuer: str, keys: Mapping[str, object], loader: Loader, now: Callable[[], float]
) -> Load[RevocationList]:
    check_url("url", url)
    if not isinstance(issuer, str) or not issuer:
        raise ConfigurationError("issuer: give the issuer of the list, such as https://gov.example.com")
    pinned = PinnedKeys(keys)
    request = FetchRequest(url=url, max_bytes=MOST_LIST_BYTES, accept="application/jose+json, application/jose")

    async def load(last: Copy[RevocationList] | None) -> Copy[RevocationList]:
        wall = now()
        before = None if last is None else last.value
        read = partial(read_signed_list, keys=pinned, issuer=issuer, last=before, now=wall)
        try:
            copy = await loader.load(request, last, read)
        except FetchError as error:
            raise source_error("the revocation list", error, "signature_revocation_stale") from error
        # The list's own time counts and not Cache-Control; a 304 makes a list no younger.
        seconds = min(max(copy.value.next_update - wall, SHORTEST_INTERVAL), LONGEST_INTERVAL)
        return replace(copy, fresh_until=copy.fetched + seconds)

    return load


def _is_enough(_list: RevocationList) -> bool:
    return True
