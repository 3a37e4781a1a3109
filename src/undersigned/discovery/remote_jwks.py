"""Remote JWK sets: keys that their owner publishes at an https URL. They are cached, and fetched again when needed."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from undersigned.discovery.document_cache import Kept, Loader, any_copy
from undersigned.discovery.fetch import FetchRequest, Target
from undersigned.discovery.fetch_errors import UntrustedURL, source_errors
from undersigned.discovery.fetching_key_source import FoundKeys, KeptKeys, has_keys
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import parse_jwk_set
from undersigned.discovery.network import Network
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.document_cache import Copy, Flight
    from undersigned.discovery.jwk_set import Keys
    from undersigned.signature.key_source import KeyLookup

JWK_SET_TYPES: Final = "application/jwk-set+json, application/json"


class FetchedKeys(KeptKeys):
    """A key source over one document with keys."""

    __slots__ = ("_kept", "url")

    def __init__(self, url: str, load: Callable[[Copy[Keys] | None], Copy[Keys]], loader: Loader) -> None:
        super().__init__(loader)
        self.url = url
        self._kept = Kept(url, Target.of(url).host, load, loader)

    def kept(self, lookup: KeyLookup) -> Kept[Keys]:  # noqa: ARG002 - other sources have a document for each sender
        """Return the document."""
        return self._kept

    def had(self, keyid: str) -> FoundKeys:
        """Return the keys with this key ID of the last copy, however old it is: who had a key, not what to use."""
        keys = self._kept.last_value()
        return () if keys is None else keys.get(keyid)

    def is_ready(self) -> bool:
        """Return whether there are keys that may be used. If a fetch is due, begin it; never wait for it."""
        return self._kept.usable_copy(any_copy, begins=True) is not None

    def fetched_question(self, lookup: KeyLookup) -> FetchedQuestion:
        """Return the lookup as a question."""
        return FetchedQuestion(self._kept, self._loader, lookup)


class FetchedQuestion:
    """A lookup in a document, which `KeySources` asks several of at the same time."""

    __slots__ = ("_is_enough", "_kept", "_keyid", "_since")

    def __init__(self, kept: Kept[Keys], loader: Loader, lookup: KeyLookup) -> None:
        self._kept, self._keyid, self._since = kept, lookup.keyid, loader.clock()
        self._is_enough = partial(has_keys, lookup, loader)

    @property
    def is_failing(self) -> bool:
        """Whether the last fetch failed. Not if a key was kept: it may be used when the next fetch has failed too."""
        last = self._kept.last_value()
        return self._kept.is_failing and (last is None or self._keyid not in last)

    def begin(self) -> Flight | None:
        """Begin to fetch the keys if they lack the key ID. Return the fetch to wait for, or None if that is no help."""
        return self._kept.flight_to_await(self._since, self._is_enough)

    def end(self) -> FoundKeys:
        """Return the keys after such a wait.

        Raises:
            KeySourceError: as for `FetchedKeys.find`.
        """
        return self._kept.value_after_wait(self._since, self._is_enough).get(self._keyid)


class RemoteJWKS(FetchedKeys):
    """A key source that fetches a JWK set over https.

    For an unknown key ID, the set is fetched again at once, then at most every `freshness.interval` seconds. Only one
    fetch is in flight, however many threads wait. If the server cannot be reached when the set expires, the set is used
    for another `freshness.stale` seconds. A new set replaces the old one: a key that is not in the new set is unknown.
    But an empty set is taken for an accident, until a second fetch in a row finds it empty too.

    Args:
        url: the https URL of the set.
        freshness: how long the set is used.
        network: which addresses may be reached, and in what time.
        clock: returns seconds that never go back, such as `time.monotonic`.

    Raises:
        ConfigurationError: `url` is not an https URL.
    """

    __slots__ = ()

    def __init__(
        self,
        url: str,
        *,
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_url("url", url)
        loader = Loader(network, freshness, clock)
        request = FetchRequest(url=url, max_bytes=MOST_JWKS_BYTES, accept=JWK_SET_TYPES)

        def load(_last: Copy[Keys] | None) -> Copy[Keys]:
            with source_errors("the JWK set"):
                return loader.load(request, parse_jwk_set)

        super().__init__(url, load, loader)


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
