"""Remote JWK sets: keys that their owner publishes at an https URL. They are cached, and fetched again when needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from undersigned.discovery.cache import Cache
from undersigned.discovery.document import Loader, source_error
from undersigned.discovery.failures import FetchError, UntrustedURL
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import parse_jwk_set
from undersigned.discovery.kept import AsyncKept, Kept
from undersigned.discovery.network import Network
from undersigned.discovery.source import AsyncFetchedKeys, FetchedKeys
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.cache import Copy
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.kept import Load


JWK_SET_TYPES: Final = "application/jwk-set+json, application/json"


class RemoteJWKS(FetchedKeys):
    """A key source that fetches a JWK set over https, for threads.

    For an unknown keyid, the set is fetched again at once, then at most every `freshness.interval` seconds. At most one
    fetch is in flight, however many threads wait. If the server cannot be reached when the set expires, the set is used
    for another `freshness.stale` seconds. A new set replaces the old one: a key that is not in the new set is unknown.

    Args:
        url: the https URL of the set.
        freshness: how long the set is used.
        network: which addresses may be reached, and in what time.
        max_bytes: upper bound on the bytes of the set.
        clock: returns seconds that never go back, such as `time.monotonic`.

    Raises:
        ConfigurationError: `url` is not an https URL, or `max_bytes` is not a positive whole number.
    """

    __slots__ = ("url",)

    def __init__(
        self,
        url: str,
        *,
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        max_bytes: int = MOST_JWKS_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        loader = Loader.blocking(network, freshness, clock)
        super().__init__(Kept(url, _load(url, loader, max_bytes), Cache(freshness, clock), network=network))
        self.url = url


class AsyncRemoteJWKS(AsyncFetchedKeys):
    """`RemoteJWKS` for the tasks of an event loop."""

    __slots__ = ("url",)

    def __init__(
        self,
        url: str,
        *,
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        max_bytes: int = MOST_JWKS_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        loader = Loader.awaiting(network, freshness, clock)
        super().__init__(AsyncKept(url, _load(url, loader, max_bytes), Cache(freshness, clock), network=network))
        self.url = url


def _load(url: str, loader: Loader, max_bytes: int) -> Load[Keys]:
    check_url("url", url)
    if type(max_bytes) is not int or max_bytes < 1:
        raise ConfigurationError("max_bytes: give a number of bytes, such as 65536")
    request = FetchRequest(url=url, max_bytes=max_bytes, accept=JWK_SET_TYPES)

    async def load(last: Copy[Keys] | None) -> Copy[Keys]:
        try:
            return await loader.load(request, last, parse_jwk_set)
        except FetchError as error:
            raise source_error("the JWK set", error, "signature_jwks_unavailable") from error

    return load


def check_url(option: str, url: object) -> None:
    """Check that the guarded fetch accepts a configured URL.

    Raises:
        ConfigurationError: `url` is not a string, or the guarded fetch rejects it.
    """
    fault = "it is not a string"
    if isinstance(url, str):
        try:
            Target.of(url)
        except UntrustedURL as untrusted:
            fault = str(untrusted)
        else:
            return
    raise ConfigurationError(f"{option}: {fault}; give a URL such as https://example.com/jwks.json")
