"""Named keys: sources that fetch what a signature names. Senders choose the URLs, so all fetches are bounded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from undersigned.discovery.document_cache import Loader
from undersigned.discovery.fetching_key_source import KeptKeys
from undersigned.discovery.sender_limits import Senders
from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from undersigned.discovery.document_cache import Copy, Kept
    from undersigned.discovery.freshness import Freshness
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.network import Network
    from undersigned.signature.key_source import KeyLookup

TrustedAgents: TypeAlias = Collection[str] | Callable[[str], bool] | None
"""The agents whose keys may be fetched: URLs as senders write them, or a function of the URL to fetch. None: all."""


Agent = TypeVar("Agent", bound=Hashable)
"""An agent that a signature names. Two equal agents have the same keys."""


class NamedKeys(KeptKeys, Generic[Agent]):
    """A key source that fetches the keys of the agent that a signature names. Each kind of agent extends it."""

    __slots__ = ("_senders",)

    def __init__(
        self,
        network: Network,
        freshness: Freshness,
        clock: Callable[[], float],
        *,
        most: int,
        at_once: int,
        a_minute: int,
    ) -> None:
        super().__init__(Loader(network, freshness, clock))
        self._senders = Senders(self._loader, most=most, at_once=at_once, a_minute=a_minute)

    @abstractmethod
    def agent(self, lookup: KeyLookup) -> tuple[Agent, str]:
        """Return the agent that a signature names, and the URL to fetch, or raise a `KeySourceError`."""

    @abstractmethod
    def load(self, agent: Agent) -> Copy[Keys]:
        """Fetch the keys of an agent, or raise a `KeySourceError`."""

    def kept(self, lookup: KeyLookup) -> Kept[Keys]:
        """Return the document of the agent that a signature names."""
        agent, location = self.agent(lookup)
        return self._senders.kept(agent, location, lambda _last: self.load(agent))


def trusted_urls(trusted: TrustedAgents) -> Callable[[str, str], bool]:
    """Return a function that tells whether keys may be fetched from a URL, by its canonical and its written form.

    Raises:
        ConfigurationError: `trusted` has something else than URLs.
    """
    if trusted is None:
        return lambda _location, _url: True
    if callable(trusted):
        return lambda location, _url: trusted(location)
    try:
        urls = frozenset(canonicalize(url).target_uri for url in trusted)
    except (TypeError, MalformedURL) as error:
        raise ConfigurationError(f"trusted: {error}; give URLs such as https://bot.example") from None
    return lambda location, url: location in urls or canonicalize(url, received=True).target_uri in urls
