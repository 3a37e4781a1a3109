"""Key sources for ActivityPub: the key of whichever actor a signature's keyid names."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.discovery.activitypub.loader import Actor, ActorLoader
from undersigned.discovery.agents import Agents
from undersigned.discovery.allowance import Allowance
from undersigned.discovery.cache import Cache
from undersigned.discovery.document import Loader
from undersigned.discovery.failures import UntrustedURL
from undersigned.discovery.fetch import Target
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.kept import AsyncKept, Kept
from undersigned.discovery.network import Network
from undersigned.discovery.running import AsyncRunning, Running
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import MOST_ACTORS, MOST_AGENT_FETCHES, MOST_NEW_ACTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from undersigned.discovery.activitypub.loader import FetchSigner
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

ACTOR_FRESHNESS: Final = Freshness(default=3600, most=3600)
"""How long an actor's key is used. Actors rarely change it, and a signature that fails has it fetched again."""

_Keys: TypeAlias = "tuple[VerificationKey, ...]"


class ActorKeys(Running):
    """The keys of the actors that keyids name, for threads. The `owner` of a key is the id of its actor.

    A keyid must be an https URL, such as `https://social.example/users/bob#main-key`. Any other keyid, such as an
    `acct:` URI, names no key. The URL without its fragment is fetched, and its `publicKey` must have the whole keyid as
    id. The owner of the key must list it. Senders choose the URLs, so every fetch is guarded as `undersigned.discovery`
    says, and all fetches together are bounded.

    If a key does not verify a signature, it is fetched again, at most every `freshness.interval` seconds. The key of an
    actor that is gone (404 or 410) is used for another `freshness.stale` seconds, if it was fetched before. Otherwise
    it is unknown.

    Args:
        signer: signs the fetches, for servers that answer signed requests only: a `Signer` or a `CavageSigner` with the
            key of your own server's actor.
        trusted: tells whether keys may be fetched from a host, in lower case; None: from any. The host of the key's
            owner must be trusted too.
        freshness: how long keys are used.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight.
        most_a_minute: how many keyids that gave no key yet may be fetched in a minute.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_actors", "_rule")

    def __init__(
        self,
        *,
        signer: FetchSigner | None = None,
        trusted: Callable[[str], bool] | None = None,
        freshness: Freshness = ACTOR_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_ACTORS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        self._rule = _Rule(Loader.blocking(network, freshness, clock), allowance, network, signer, trusted)
        self._actors: Agents[Kept[Actor]] = Agents(MOST_ACTORS)

    @property
    def blocking(self) -> bool:
        """Always True: the source may fetch."""
        return True

    @property
    def asks_again(self) -> bool:
        """Always True: an actor may have a new key with the same id."""
        return True

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the key that `lookup.keyid` names.

        Raises:
            KeySourceError: the URL must not be fetched or its documents contradict each other
                (`signature_jwks_untrusted`). Or the actor is gone (`signature_key_unknown`), or cannot be fetched now
                (`signature_jwks_unavailable`).
        """
        keyid, rule = lookup.keyid, self._rule
        if not rule.is_actor(keyid):
            return ()

        def make() -> Kept[Actor]:
            return Kept(rule.location(keyid), rule.load(keyid), rule.cache(), network=rule.network)

        return self._actors.get(keyid, make).get(rule.criterion(lookup)).keys

    def start(self) -> None:
        """Do nothing: keys are fetched when a request names them."""

    def stop(self) -> None:
        """Wait for the fetches in flight."""
        for kept in self._actors.all():
            kept.stop()


class AsyncActorKeys(AsyncRunning):
    """`ActorKeys` for the tasks of an event loop; `async with` ends the fetches in flight when it is left."""

    __slots__ = ("_actors", "_rule")

    def __init__(
        self,
        *,
        signer: FetchSigner | None = None,
        trusted: Callable[[str], bool] | None = None,
        freshness: Freshness = ACTOR_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_ACTORS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        self._rule = _Rule(Loader.awaiting(network, freshness, clock), allowance, network, signer, trusted)
        self._actors: Agents[AsyncKept[Actor]] = Agents(MOST_ACTORS)

    @property
    def asks_again(self) -> bool:
        """As for `ActorKeys`."""
        return True

    def find(self, lookup: KeyLookup) -> _Keys | Coroutine[object, None, _Keys]:
        """Return the key as `ActorKeys.find` does, or an awaitable of it if it has to be fetched."""
        keyid, rule = lookup.keyid, self._rule
        if not rule.is_actor(keyid):
            return ()

        def make() -> AsyncKept[Actor]:
            return AsyncKept(rule.location(keyid), rule.load(keyid), rule.cache(), network=rule.network)

        kept, is_enough = self._actors.get(keyid, make), rule.criterion(lookup)
        fresh = kept.fresh()
        return fresh.keys if fresh is not None and is_enough(fresh) else _fetch(kept, is_enough)

    def start(self) -> None:
        """Do nothing: keys are fetched when a request names them."""

    async def stop(self) -> None:
        """End the fetches in flight."""
        await asyncio.gather(*(kept.stop() for kept in self._actors.all()))


async def _fetch(kept: AsyncKept[Actor], is_enough: Callable[[Actor], bool]) -> _Keys:
    return (await kept.get(is_enough)).keys


class _Rule:
    """The rule that both sources share: which keyids are looked up, and how."""

    __slots__ = ("_allowance", "_loader", "_signer", "_trusted", "network")

    def __init__(
        self,
        loader: Loader,
        allowance: Allowance,
        network: Network,
        signer: FetchSigner | None,
        trusted: Callable[[str], bool] | None,
    ) -> None:
        if signer is not None and not callable(getattr(signer, "sign", None)):
            raise ConfigurationError("signer: pass a Signer or a CavageSigner, or leave it out")
        if trusted is not None and not callable(trusted):
            raise ConfigurationError("trusted: pass a function of a host, such as lambda host: host not in blocked")
        self._loader = loader
        self._allowance = allowance
        self.network = network
        self._signer = signer
        self._trusted = trusted

    def is_actor(self, keyid: str) -> bool:
        """Return whether a keyid is a URL that an actor may have."""
        return keyid.startswith("https://")

    def location(self, url: str) -> str:
        """Return the URL of a document in canonical form, without the fragment.

        Raises:
            KeySourceError: it must not be fetched.
        """
        try:
            target = Target.of(url)
        except UntrustedURL as untrusted:
            raise KeySourceError("signature_jwks_untrusted", f"the actor: {untrusted}") from None
        if self._trusted is not None and not self._trusted(target.host):
            raise KeySourceError(
                "signature_jwks_untrusted", "trusted: it rejects the host of the keyid or of the key's owner"
            )
        return f"https://{target.authority}{target.path_and_query}"

    def load(self, keyid: str) -> ActorLoader:
        """Return the function that loads the key of a new keyid.

        Raises:
            KeySourceError: too many are fetched now.
        """
        self._allowance.check()
        return ActorLoader(
            keyid=keyid, locate=self.location, loader=self._loader, allowance=self._allowance, signer=self._signer
        )

    def cache(self) -> Cache[Actor]:
        """Return a new cache."""
        return Cache(self._loader.freshness, self._loader.clock)

    def criterion(self, lookup: KeyLookup) -> Callable[[Actor], bool]:
        """Return a function that tells whether a copy is enough: it has a key or, if its key failed, is new enough."""

        def is_enough(actor: Actor) -> bool:
            outdated = actor.fetched + self._loader.freshness.interval
            return bool(actor.keys) if not lookup.again else self._loader.clock() < outdated

        return is_enough
