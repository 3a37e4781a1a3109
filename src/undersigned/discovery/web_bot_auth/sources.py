"""Key sources for Web Bot Auth: the keys of the agent that Signature-Agent names, by URL and keyid (5.4 and 5.5)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast, get_args

from undersigned.discovery.allowance import Allowance
from undersigned.discovery.document import Loader
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.named_keys import (
    AsyncNamedKeys,
    FoundKeys,
    NamedKeys,
    TrustedAgents,
    check_freshness,
    trusted_urls,
)
from undersigned.discovery.network import Network
from undersigned.discovery.web_bot_auth.agent_keys import AgentLoader
from undersigned.discovery.web_bot_auth.published_keys import FAULT, PUBLISHED
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import MOST_AGENT_FETCHES, MOST_NEW_AGENTS
from undersigned.message.signature_agent import SignatureAgent, SignatureAgentForm
from undersigned.signature.agent import named_agent
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.signature.key_source import KeyLookup


class WebBotAuthKeys(NamedKeys[SignatureAgent]):
    """The keys of the agent that Signature-Agent names, for threads. Their `owner` is the URL of the keys.

    Senders choose the URLs, so every fetch is guarded as `undersigned.discovery` says, and all fetches together are
    bounded. The keys of a URL are kept as long as its Cache-Control says, within `freshness`. A key is looked up by URL
    and keyid, and never by keyid alone. If the profile has `answers.unknown`, the errors of this source mean that the
    sender is merely unknown.

    Args:
        form: the wire form of Signature-Agent: `string`, `typed` or `jwks`, as the profile's name has it.
        trusted: whose keys may be fetched.
        held: keys that you have beforehand, made of JWKs. They verify what Signature-Agent does not lead to, with their
            thumbprint as owner.
        freshness: how long keys are used. Its `interval` is how long a failure is remembered: up to five minutes.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight.
        most_a_minute: how many URLs that gave no keys yet may be fetched in a minute.
        accepts_test_keys: whether keys of RFC examples, whose private half is published, are accepted: in tests only.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        form: SignatureAgentForm,
        trusted: TrustedAgents = None,
        held: Iterable[VerificationKey] = (),
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        accepts_test_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        rule = _rule(form, trusted, held, freshness, network, allowance, accepts_test_keys=accepts_test_keys)
        super().__init__(rule, Loader.blocking(network, freshness, clock))


class AsyncWebBotAuthKeys(AsyncNamedKeys[SignatureAgent]):
    """`WebBotAuthKeys` for the tasks of an event loop; `async with` ends the fetches in flight when it is left."""

    __slots__ = ()

    def __init__(
        self,
        *,
        form: SignatureAgentForm,
        trusted: TrustedAgents = None,
        held: Iterable[VerificationKey] = (),
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        accepts_test_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        rule = _rule(form, trusted, held, freshness, network, allowance, accepts_test_keys=accepts_test_keys)
        super().__init__(rule, Loader.awaiting(network, freshness, clock))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A rule that finds the agent that Signature-Agent names, and loads its keys.

    Attributes:
        form: the wire form of the field.
        trusted: tells whether keys may be fetched from a URL.
        held: the keys that the operator has, by thumbprint.
        network: which addresses may be reached.
        allowance: bounds all fetches.
        accepts_test_keys: whether keys that anybody has are accepted.
    """

    form: SignatureAgentForm
    trusted: Callable[[str, str], bool]
    held: dict[str, FoundKeys]
    network: Network
    allowance: Allowance
    accepts_test_keys: bool

    def agent(self, lookup: KeyLookup) -> SignatureAgent:
        """Return the agent that the covered Signature-Agent of a signature names.

        Raises:
            KeySourceError: no agent is named, or one that is not trusted.
        """
        agent = named_agent(lookup, form=self.form)
        if agent is None:
            raise KeySourceError(
                "signature_identity_missing", "the signature covers no Signature-Agent that names somebody in this form"
            )
        if not self.trusted(agent.location, agent.url):
            raise KeySourceError("signature_jwks_untrusted", "trusted: it does not have the URL of Signature-Agent")
        # Only a card has to name its own URL as it was written. Any other URL in two spellings is one URL.
        return agent if agent.document == "cimd" else replace(agent, url=agent.location)

    def load(self, agent: SignatureAgent, loader: Loader) -> AgentLoader:
        """Return the function that loads a new agent's keys.

        Raises:
            KeySourceError: too many are fetched now.
        """
        self.allowance.check()
        return AgentLoader(
            agent=agent, loader=loader, allowance=self.allowance, accepts_test_keys=self.accepts_test_keys
        )


def _rule(
    form: SignatureAgentForm,
    trusted: TrustedAgents,
    held: Iterable[VerificationKey],
    freshness: Freshness,
    network: Network,
    allowance: Allowance,
    *,
    accepts_test_keys: bool,
) -> _Rule:
    """Check the options of a source, and return its rule."""
    if form not in get_args(SignatureAgentForm):
        raise ConfigurationError('form: must be "string", "typed" or "jwks"')
    check_freshness(freshness)
    return _Rule(
        form=form,
        trusted=trusted_urls(trusted),
        held=_held_keys(held, accepts_test_keys=accepts_test_keys),
        network=network,
        allowance=allowance,
        accepts_test_keys=accepts_test_keys,
    )


def _held_keys(held: Iterable[VerificationKey], *, accepts_test_keys: bool) -> dict[str, FoundKeys]:
    keys: dict[str, FoundKeys] = {}
    for key in held:
        if not isinstance(cast("object", key), VerificationKey) or not key.thumbprint:
            raise ConfigurationError("held: give keys that VerificationKey.from_jwk made, and that have no fault")
        if key.thumbprint in PUBLISHED and not accepts_test_keys:
            raise ConfigurationError(f"held: {FAULT}")
        keys[key.thumbprint] = (replace(key, keyid=key.thumbprint, owner=key.thumbprint),)
    return keys
