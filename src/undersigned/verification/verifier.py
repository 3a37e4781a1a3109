"""The verifiers: they take the steps of the checklist, and ask their sources between them.

Both run the same coroutines. An `AsyncVerifier` awaits the answers of its sources. The answers of a `Verifier`'s
sources never have to be awaited, so its coroutines are run to their end.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from undersigned.errors import ConfigurationError, KeySourceError, SignatureError, UndersignedError
from undersigned.limits import LONGEST_IN_LINE, MOST_CAPS_KNOWN, MOST_LOGGED_HOSTS
from undersigned.message.content import Content
from undersigned.signature.key_source import KeySet, is_key_source
from undersigned.signature.profile import Profile
from undersigned.verification.checklist import (
    check_claim,
    check_content,
    complete,
    prove,
    remembered,
    repeatable,
    screen,
    unrevoked_keys,
    usable_keys,
    verifying_keys,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from undersigned.errors import Step
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.replay.store import AsyncReplayStore, Claim, ReplayStore
    from undersigned.signature.key_source import AsyncKeySource, KeySource
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.verification.checklist import ReceivedSignature
    from undersigned.verification.revocation import AsyncRevocationSource, RevocationList, RevocationSource
    from undersigned.verification.verified_signature import VerifiedSignature

    _Keys: TypeAlias = Sequence[VerificationKey]
    _List: TypeAlias = RevocationList | None

Answer = TypeVar("Answer")

Part = Literal["keys", "revocations", "store"]
"""What a verifier asks: its key source, its source of revocation lists, its replay store."""

_logger = logging.getLogger("undersigned")

_BELOW_CAP: Final = math.inf
_SECONDS_AT_CAP: Final = 1.0
"""How long a key counts as at its cap before the store is asked again."""

_PROBE: Final = "undersigned readiness"
"""The name under which the readiness check claims nonces. No key has it: a name of a key is a digest."""

_WAITS: Final = "the answer has to be awaited: use AsyncVerifier"
_MADE: Final = {
    "keys": "KeySet.from_jwks(jwks)",
    "replay": "MemoryReplayStore()",
    "revocations": "RevocationList.from_json(text)",
}
_OTHER_CLOCKS: Final = (time.monotonic, time.perf_counter, time.time_ns)
"""Functions whose answers are numbers, but not seconds since the epoch."""


class BaseVerifier:
    """The common part of `Verifier` and `AsyncVerifier`: the order of the steps.

    Attributes:
        profile: the profile.
        clock: the clock.
        replay: the replay store.
    """

    _prefix = ""
    """What the names of the methods begin with that a source is asked by, if it has them."""

    def __init__(
        self,
        profile: Profile,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: AsyncRevocationSource | None,
        clock: Callable[[], float],
    ) -> None:
        _check_sources(profile, keys, replay, revocations, clock)
        self.profile = profile
        self.clock = clock
        self._keys = keys
        self.replay = replay
        self._revocations = revocations
        self._find: Callable[..., _Keys | Awaitable[_Keys]] = self._method(keys, "find")
        self._full: Callable[..., bool | Awaitable[bool]] = self._method(replay, "full")
        self._claim: Callable[..., Claim | Awaitable[Claim]] = self._method(replay, "claim")
        self._current: Callable[..., _List | Awaitable[_List]] = self._method(revocations, "current")
        # When each key was last found at its cap. Only keys that a key source knows are in it.
        self._full_at: dict[str, float] = {}
        self._store_failed = False
        self._late: set[tuple[str, float]] = set()

    def screen(self, message: Request | Response) -> Sequence[ReceivedSignature | SignatureError]:
        """Read and check the signatures of a message (steps 0 to 6), as `undersigned.verification.checklist` does.

        Raises:
            SignatureError: as `verify`.
        """
        return screen(message, self.profile, now=self.clock())

    def _method(self, source: object, name: str) -> Any:
        return getattr(source, f"{self._prefix}{name}", None) or getattr(source, name, None)

    def _check_response(self, response: Response) -> None:
        if self.profile.message != "response":
            raise ConfigurationError(f"profile: {self.profile.name} is for requests; pass one that is for responses")
        if response.request is None:
            raise ConfigurationError("response: give it the request that it answers, Response(..., request=request)")

    async def _authenticate(self, message: Request | Response) -> ReceivedSignature:
        """Return the first authentic signature, or, if all must be authentic, one with all others in `others`.

        In the second case, a signature that covers the content comes first.
        """
        screened = self.screen(message)
        takes_all = self.profile.selection.pick == "all"
        authentic: list[ReceivedSignature] = []
        first: SignatureError | None = None
        for signature in screened:
            try:
                if isinstance(signature, SignatureError):
                    raise signature
                authentic.append(await self._prove(signature))
            except SignatureError as error:
                if takes_all or len(screened) == 1:
                    raise
                first = first or error
            else:
                if not takes_all:
                    break
        if not authentic:
            try:
                raise cast("SignatureError", first)
            finally:
                del first  # its traceback has this frame
        if len(authentic) > 1:
            authentic.sort(key=lambda one: one.digest is None)
            authentic[0].others = tuple(authentic[1:])
        return authentic[0]

    async def _prove(self, signature: ReceivedSignature) -> ReceivedSignature:
        """Find the keys of a signature and take the steps 7 to 10 with them."""
        try:
            found = await self._find_keys(signature)
            try:
                return await self._prove_by(signature, found)
            except SignatureError:
                others = await self._find_others(signature, found)
                if not others:
                    raise
            return await self._prove_by(signature, others)
        except SignatureError as error:
            _add_evidence(error, signature)
            raise

    async def _prove_by(self, signature: ReceivedSignature, found: Sequence[VerificationKey]) -> ReceivedSignature:
        keys = verifying_keys(signature, usable_keys(signature, found))
        if self._revocations is not None:
            lists = [await self._list_of(key, signature.now) for key in keys]
            keys = unrevoked_keys(signature, keys, lists)
        full: list[VerificationKey] = []
        if self.profile.replay.remembers != "nothing":
            for key in keys:
                if self._full_at.get(key.replay_name) != _BELOW_CAP and await self._is_full(key, signature.now):
                    full.append(key)  # noqa: PERF401 - an awaiting comprehension costs more
        return prove(signature, keys, full)

    async def _find_keys(self, signature: ReceivedSignature) -> Sequence[VerificationKey]:
        try:
            found: Any = self._find(signature.lookup())
            if hasattr(found, "__await__"):
                found = await found
        except KeySourceError as failure:
            raise self.profile.error(failure.reason, step=7, detail=str(failure)) from failure
        except Exception as failure:
            detail = "the key source raised an exception: see the cause in the log"
            raise self.profile.error("signature_jwks_unavailable", step=7, detail=detail) from failure
        return cast("_Keys", found)

    async def _find_others(
        self, signature: ReceivedSignature, found: Sequence[VerificationKey]
    ) -> Sequence[VerificationKey]:
        """Ask the key source a second time, if it offers that. Return the keys that it did not find at first."""
        if getattr(self._keys, "asks_again", False):
            # If another source is down, that is no reason to call the signature valid: what was found before decides.
            with suppress(Exception):
                others = await awaited(self._find(signature.lookup(again=True)))
                return [key for key in others if key not in found]
        return ()

    async def _list_of(self, key: VerificationKey, now: float) -> RevocationList | None:
        try:
            found = await awaited(self._current(key.owner))
        except Exception as failure:
            raise self.profile.error(
                "signature_revocation_stale",
                step=9,
                detail="the revocation source raised an exception: see the cause in the log",
            ) from failure
        if found is not None and now >= found.next_update:
            self._warn_of_late_list(found, now)
        return found

    def _warn_of_late_list(self, late: RevocationList, now: float) -> None:
        """Log, once for each list, that the next one is late: when this one is stale, nothing is accepted any more."""
        name = (late.issuer, late.updated)
        if name in self._late:
            return
        self._late = {name} if len(self._late) >= MOST_LOGGED_HOSTS else {*self._late, name}
        _logger.warning(
            "the revocation list of %s is late: the next one was due %d seconds ago. In %d seconds, the signatures "
            "that it applies to get 503 (revocation_stale). Publish the next one, or make its server reachable",
            ascii(late.issuer[:LONGEST_IN_LINE]), now - late.next_update, max(0.0, late.stale_after - now),
        )  # fmt: skip

    async def _is_full(self, key: VerificationKey, now: float) -> bool:
        """Return whether the cap of a key is reached, as far as this process knows (step 9a).

        The store is asked about a key that this process has not seen yet, and about a key that was at its cap a second
        ago. A request that names another key, by whomever, does not reach the store before its signature has been
        verified. The claim finds a cap that was reached in the meantime.
        """
        known, name = self._full_at, key.replay_name
        full_at = known.get(name)
        if full_at is not None and abs(now - full_at) < _SECONDS_AT_CAP:
            return True
        if full_at is None and len(known) >= MOST_CAPS_KNOWN:
            known.clear()
        # Requests that come while the store is asked do not ask it too.
        known[name] = _BELOW_CAP if full_at is None else now
        try:
            is_full = await awaited(self._full(name, now=now, caps=self.profile.replay.caps))
        except Exception as failure:
            known.pop(name, None)
            raise self._store_unavailable(failure, step="9a") from failure
        known[name] = now if is_full else _BELOW_CAP
        return is_full

    async def _complete(
        self, signature: ReceivedSignature, content: Content, digest: RunningDigest | None
    ) -> VerifiedSignature:
        now = self.clock()
        try:
            until = check_content(signature, digest, now=now)
            claim = await self._claim_nonce(signature, now, until)
            check_claim(signature, claim)
            verified = complete(signature, claim, content)
        except SignatureError as error:
            _add_evidence(error, signature, signature.signature_base)
            raise
        if not signature.others:
            return verified
        others: list[VerifiedSignature] = []
        for other in signature.others:
            # If it covers the content too, it is by the same digest. Else the content is not of this signature.
            own = (content, digest) if other.digest == signature.digest else (Content(), None)
            others.append(await self._complete(other, *own))
        return replace(verified, others=tuple(others))

    async def _claim_nonce(self, signature: ReceivedSignature, now: float, until: float) -> Claim:
        """Claim in the replay store what it remembers of the signature, if anything (steps 12 and 13)."""
        nonce = remembered(signature)
        if nonce is None:
            return "fresh"
        name, content, caps = signature.key.replay_name, repeatable(signature), self.profile.replay.caps
        kept = {} if content is None else {"content": content}
        try:
            claim = cast("Claim", await awaited(self._claim(name, nonce, now=now, until=until, caps=caps, **kept)))
        except Exception as failure:
            raise self._store_unavailable(failure, step=12) from failure
        if self._store_failed:
            self._note_recovery()
        if claim == "full":
            self._full_at[name] = now
        return claim

    def _store_unavailable(self, failure: Exception, *, step: Step) -> SignatureError:
        self._store_failed = True
        detail = "the replay store raised an exception: see the cause in the log"
        if isinstance(failure, UndersignedError):
            detail = f"the replay store: {failure}"
        return self.profile.error("signature_store_unavailable", step=step, detail=detail)

    def _note_recovery(self) -> None:
        self._store_failed = False
        _logger.warning("the replay store answers again")

    async def _find_unready(self) -> tuple[Part, ...]:
        now = self.clock()
        parts: tuple[tuple[Part, bool], ...] = (
            ("keys", is_ready(self._keys)),
            ("revocations", is_ready(self._revocations, now)),
            ("store", await self._takes_claims(now)),
        )
        return tuple(part for part, is_ready in parts if not is_ready)

    async def _takes_claims(self, now: float) -> bool:
        if self.profile.replay.remembers == "nothing":
            return True
        try:
            # Any answer will do. The nonce ends at once.
            await awaited(self._claim(_PROBE, repr(now), now=now, until=now, caps=self.profile.replay.caps))
        except Exception:
            if not self._store_failed:
                _logger.exception("the replay store raised an exception")
            self._store_failed = True
            return False
        if self._store_failed:
            self._note_recovery()
        return True


class AsyncVerifier(BaseVerifier):
    """A verifier that verifies messages by one profile, and awaits the answers of its sources.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names. A source that does not have to be awaited works too.
        replay: tells whether a nonce is fresh. A store that does not have to be awaited works too.
        revocations: has the revocation list of a key; a `RevocationList` is one. None: no key is revoked.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument is of the wrong type.
    """

    _prefix = "async_"

    def __init__(
        self,
        profile: Profile,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: AsyncRevocationSource | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(profile, keys=keys, replay=replay, revocations=revocations, clock=clock)

    async def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read.

        Raises:
            SignatureError: the request is rejected, or it cannot be verified now.
        """
        signature = await self.authenticate(request)
        content, digest = _covered_content(signature)
        return await self.complete(signature, content, digest=digest)

    async def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, with the request that it answers.

        Raises:
            SignatureError: the response is rejected, or it cannot be verified now.
            ConfigurationError: the profile is for requests, or the response lacks its request.
        """
        self._check_response(response)
        signature = await self.authenticate(response)
        content, digest = _covered_content(signature)
        return await self.complete(signature, content, digest=digest)

    async def unready(self) -> tuple[Part, ...]:
        """Return which of the sources cannot answer now; none if requests can be verified.

        Keys and revocation lists that are not there yet begin to be fetched, and are not waited for. In the replay
        store, a nonce is claimed that ends at once.
        """
        return await self._find_unready()

    async def authenticate(self, message: Request | Response) -> ReceivedSignature:
        """Take the steps that need no content: 0 to 10 (AdCP verifier checklist).

        Args:
            message: the request, or a response with the request that it answers.

        Raises:
            SignatureError: as `verify`.
        """
        return await self._authenticate(message)

    async def complete(
        self, signature: ReceivedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the content: 11 to 14 (AdCP verifier checklist).

        Args:
            signature: what `authenticate` returned.
            content: the content as it was read.
            digest: what `signature.running_digest` returned, fed with the content.

        Raises:
            SignatureError: as `verify`.
        """
        return await self._complete(signature, content, digest)


class Verifier(BaseVerifier):
    """A verifier that verifies messages by one profile. Safe to share between threads if its sources are.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names.
        replay: tells whether a nonce is fresh.
        revocations: has the revocation list of a key; a `RevocationList` is one. None: no key is revoked.
        clock: returns seconds since the epoch.

    Attributes:
        blocking: whether verifying may block on IO. A source without a `blocking` attribute is taken to block.

    Raises:
        ConfigurationError: an argument is of the wrong type, or its answers have to be awaited.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        keys: KeySource,
        replay: ReplayStore,
        revocations: RevocationSource | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(profile, keys=keys, replay=replay, revocations=revocations, clock=clock)
        asked = (
            ("keys", keys, keys.find),
            ("replay", None, replay.full),
            ("replay", None, replay.claim),
            ("revocations", revocations, getattr(revocations, "current", None)),
        )
        for option, source, method in asked:
            if iscoroutinefunction(method) or _is_for_tasks(source):
                raise ConfigurationError(f"{option}: its answers have to be awaited; use AsyncVerifier")
        self.blocking: bool = any(
            getattr(source, "blocking", True) for source in (keys, replay, revocations) if source is not None
        )

    def for_tasks(self) -> AsyncVerifier | None:
        """Return a verifier that does the same in tasks of an event loop, or None if a source would block the loop."""
        asked_for = (("find", self._keys), ("claim", self.replay), ("current", self._revocations))
        for method, source in asked_for:
            if source is not None and getattr(source, "blocking", True) and not hasattr(source, f"async_{method}"):
                return None
        if type(self) is not Verifier:
            return None
        return AsyncVerifier(
            self.profile, keys=self._keys, replay=self.replay, revocations=self._revocations, clock=self.clock
        )

    def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read, as `AsyncVerifier.verify` does."""
        signature = self.authenticate(request)
        content, digest = _covered_content(signature)
        return self.complete(signature, content, digest=digest)

    def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, as `AsyncVerifier.verify_response` does."""
        self._check_response(response)
        signature = self.authenticate(response)
        content, digest = _covered_content(signature)
        return self.complete(signature, content, digest=digest)

    def unready(self) -> tuple[Part, ...]:
        """Return which of the sources cannot answer now, as `AsyncVerifier.unready` does."""
        return finish(self._find_unready())

    def authenticate(self, message: Request | Response) -> ReceivedSignature:
        """Take the steps that need no content, as `AsyncVerifier.authenticate` does."""
        return finish(self._authenticate(message))

    def complete(
        self, signature: ReceivedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the content, as `AsyncVerifier.complete` does."""
        return finish(self._complete(signature, content, digest))


def is_ready(source: object, *now: float) -> bool:
    """Return whether a source can answer now. One without the method always can."""
    ask: Callable[..., bool] | None = getattr(source, "is_ready", None)
    return ask is None or ask(*now)


def finish(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits, and return its result.

    Raises:
        RuntimeError: it waits. The error is first raised inside the coroutine, so a verifier reports an unavailable
            source instead.
    """
    try:
        coroutine.send(None)
        coroutine.throw(RuntimeError(_WAITS))
    except StopIteration as done:
        return cast("Answer", done.value)
    coroutine.close()
    raise RuntimeError(_WAITS)


def _covered_content(signature: ReceivedSignature) -> tuple[Content, RunningDigest | None]:
    """Return the content that a signature covers, and its digest; of a message whose content has been read."""
    message = signature.request
    digest = signature.running_digest(message.body)
    return Content() if digest is None and message.body else message.content, digest


async def awaited(answer: Answer | Awaitable[Answer]) -> Answer:
    """Return an answer, which may have to be awaited."""
    given: Any = answer
    return cast("Answer", await given if hasattr(given, "__await__") else given)


def _add_evidence(error: SignatureError, signature: ReceivedSignature, base: str | None = None) -> None:
    error.add_evidence(
        keyid=signature.keyid, created=signature.created, algorithm=signature.algorithm, signature_base=base
    )


def _is_for_tasks(source: object) -> bool:
    """Return whether a source runs in tasks of an event loop only, although its answers need not always be awaited."""
    return isinstance(source, AbstractAsyncContextManager) and not isinstance(source, AbstractContextManager)


def _check_sources(profile: object, keys: object, replay: object, revocations: object, clock: object) -> None:
    """Check the arguments of a verifier, and that a key can verify a signature of the profile.

    Raises:
        ConfigurationError: an argument is of the wrong type, or lacks what the profile needs.
    """
    if not isinstance(profile, Profile):
        raise ConfigurationError(
            'profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2, or profiles.BY_NAME["adcp-3.2"]'
        )
    for option, source in (("keys", keys), ("replay", replay), ("revocations", revocations)):
        if isinstance(source, type):
            raise ConfigurationError(f"{option}: {source.__name__} is a class; make one, such as {_MADE[option]}")
    if not is_key_source(keys):
        raise ConfigurationError(
            "keys: pass a key source: KeySet.from_jwks(jwks) for a JWK set, KeySet.of(key) for keys, or JWKSFile(path)"
        )
    if not callable(getattr(replay, "claim", None)) or not callable(getattr(replay, "full", None)):
        raise ConfigurationError("replay: pass a replay store, such as MemoryReplayStore()")
    if revocations is not None and not callable(getattr(revocations, "current", None)):
        raise ConfigurationError("revocations: pass a RevocationList or a source of them, or leave it out")
    if not callable(clock) or clock in _OTHER_CLOCKS:
        raise ConfigurationError("clock: pass a function that returns seconds since the epoch, such as time.time")
    if isinstance(keys, KeySet):
        keys.check_for(profile)
