"""The keys of AdCP agents, as sources: of one agent, and of all the agents that a verifier deals with."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, get_args

from undersigned.discovery.adcp.agent import Agent, AgentLoader, AgentProtocol
from undersigned.discovery.fetch import Target
from undersigned.discovery.fetch_errors import UntrustedURL
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.kept import Loader
from undersigned.discovery.key_sources import KeySources
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import FetchedKeys, check_url
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_FETCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ADCP_FRESHNESS: Final = Freshness(stale=900)
"""How long an agent's keys are used: for half an hour at most, which is the longest interval of revocation lists."""


class AdCPAgent(FetchedKeys):
    """The keys of one AdCP agent, found from its URL (AdCP, Discovering keys).

    The agent's capabilities name its operator's brand.json, whose entry with exactly the agent's URL names the JWK set.
    The domains of agent and brand.json must be the same, or the brand.json must authorize the agent's domain. The
    agent's `identity.key_origins` must agree with the JWK set's host. When the brand.json expires, the JWK set's URL is
    looked up again. Redirects are not followed, and every URL is fetched under the guard of `network`.

    Args:
        url: the agent's URL, exactly as its operator's brand.json has it.
        purpose: the member of `identity.key_origins` that must be declared.
        protocol: the protocol of the URL, `mcp` or `a2a`.
        publisher: a publisher's domain, for webhooks that a seller sends about that publisher's inventory. If its
            adagents.json pins keys for the agent, only these keys count.
        freshness: how long the keys are used.
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
        purpose: str = "request_signing",
        protocol: AgentProtocol = "mcp",
        publisher: str = "",
        freshness: Freshness = ADCP_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        agent = _agent(url, purpose, protocol, publisher, network, now)
        loader = Loader(network, freshness, clock)
        super().__init__(url, AgentLoader(agent, loader), loader)


class AdCPDirectory(KeySources):
    """The keys of the AdCP agents that a verifier deals with. A signer is known by its agent's URL.

    Args:
        agents: agent URLs, all with the options of `AdCPAgent` that follow, or `AdCPAgent` objects with their own.
        purpose: as for `AdCPAgent`.
        protocol: as for `AdCPAgent`.
        freshness: as for `AdCPAgent`.
        network: as for `AdCPAgent`.

    Raises:
        ConfigurationError: an argument has the wrong type or value, or an agent is listed twice.
    """

    __slots__ = ()

    def __init__(
        self,
        agents: Iterable[str | AdCPAgent],
        *,
        purpose: str = "request_signing",
        protocol: AgentProtocol = "mcp",
        freshness: Freshness = ADCP_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
    ) -> None:
        if isinstance(agents, str):
            raise ConfigurationError("agents: give a list of agent URLs")
        found: dict[str, AdCPAgent] = {}
        for given in agents:
            agent = given
            if not isinstance(agent, AdCPAgent):
                agent = AdCPAgent(agent, purpose=purpose, protocol=protocol, freshness=freshness, network=network)
            if agent.url in found:
                raise ConfigurationError(f"agents: {agent.url} is listed twice; list each agent once")
            found[agent.url] = agent
        super().__init__(found)


def _agent(
    url: str, purpose: str, protocol: AgentProtocol, publisher: str, network: Network, now: Callable[[], float]
) -> Agent:
    check_url("url", url)
    if not isinstance(purpose, str) or not purpose:
        raise ConfigurationError("purpose: give a member of key_origins, such as request_signing or webhook_signing")
    if protocol not in get_args(AgentProtocol):
        raise ConfigurationError('protocol: must be "mcp" or "a2a"')
    if not isinstance(publisher, str) or (publisher and not _is_authority(publisher)):
        raise ConfigurationError("publisher: give a domain without scheme, such as publisher.example.com")
    seconds = MOST_FETCHES * network.total_timeout
    return Agent(url=url, purpose=purpose, protocol=protocol, publisher=publisher, seconds=seconds, now=now)


def _is_authority(publisher: str) -> bool:
    try:
        return Target.of(f"https://{publisher}/").authority == publisher
    except UntrustedURL:
        return False
