"""Verifiers: they ask for what the checklist needs, and share one body for sync and async."""

from __future__ import annotations

import time
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar, cast

from undersigned.errors import ConfigurationError, SignatureError
from undersigned.signature.keys import VerificationKey
from undersigned.signature.profile import Profile
from undersigned.verification.checklist import identify
from undersigned.verification.revocation import RevocationList
from undersigned.verification.screening import screen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from undersigned.errors import Step
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.replay.store import AsyncReplayStore, Claim, ReplayStore
    from undersigned.signature.keys import AsyncKeySource, KeySource
    from undersigned.verification.checklist import AuthenticatedSignature, VerifiedSignature

Answer = TypeVar("Answer")

_WAITS = "the answer has to be awaited: use AsyncVerifier"


class AsyncVerifier:
    """A verifier that verifies requests by one profile, and awaits the answers of its sources.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names. A source that does not have to be awaited works too.
        replay: tells whether a nonce is fresh. A store that does not have to be awaited works too.
        revocations: the revoked keys, or None if there is no such list.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument is of the wrong type.
    """

    __slots__ = ("_keys", "_replay", "_revocations", "clock", "profile")

    def __init__(
        self,
        profile: Profile,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: RevocationList | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _check_arguments(profile, keys, replay, revocations, clock)
        self.profile = profile
        self._keys = keys
        self._replay = replay
        self._revocations = revocations
        self.clock = clock

    async def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body is at hand.

        Raises:
            SignatureError: the request is rejected, or it cannot be verified now.
        """
        authenticated = await self.authenticate(request)
        digest = authenticated.running_digest(request.body)
        return await self.complete(authenticated, request.content, digest=digest)

    async def authenticate(self, request: Request) -> AuthenticatedSignature:
        """Take the steps that need no body: 0 to 10 (AdCP verifier checklist).

        Raises:
            SignatureError: as `verify`.
        """
        profile, now = self.profile, self.clock()
        parsed = screen(request, profile, now=now)
        try:
            identified = identify(parsed, await self._key(parsed.keyid), revocations=self._revocations)
            return identified.prove(full=await self._is_full(parsed.keyid, now))
        except SignatureError as error:
            error.add_evidence(keyid=parsed.keyid, created=parsed.created, signature_base=None)
            raise

    async def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the body: 11 to 14 (AdCP verifier checklist).

        Args:
            authenticated: what `authenticate` returned.
            content: the body as it was read.
            digest: what `authenticated.running_digest` returned, fed with the body.

        Raises:
            SignatureError: as `verify`.
        """
        now, parsed = self.clock(), authenticated.candidate
        try:
            bound = authenticated.bind(digest, now=now)
            claim = await self._claim(parsed.keyid, parsed.nonce, now=now, until=parsed.until)
            return bound.accept(claim, content)
        except SignatureError as error:
            base = authenticated.signature_base
            error.add_evidence(keyid=parsed.keyid, created=parsed.created, signature_base=base)
            raise

    async def _key(self, keyid: str) -> VerificationKey | None:
        try:
            answer = self._keys.find(keyid)
            return answer if isinstance(answer, VerificationKey) else await _awaited(answer)
        except Exception as failure:
            raise self.profile.error(
                "signature_jwks_unavailable",
                step=7,
                detail="the key source raised an exception: see the cause in the log",
            ) from failure

    async def _is_full(self, keyid: str, now: float) -> bool:
        try:
            answer = self._replay.full(keyid, now=now, caps=self.profile.caps)
            return answer if isinstance(answer, bool) else await _awaited(answer)
        except Exception as failure:
            raise self._store_unavailable(step="9a") from failure

    async def _claim(self, keyid: str, nonce: str, *, now: float, until: float) -> Claim:
        try:
            answer = self._replay.claim(keyid, nonce, now=now, until=until, caps=self.profile.caps)
            return answer if isinstance(answer, str) else await _awaited(answer)
        except Exception as failure:
            raise self._store_unavailable(step=12) from failure

    def _store_unavailable(self, *, step: Step) -> SignatureError:
        return self.profile.error(
            "signature_store_unavailable",
            step=step,
            detail="the replay store raised an exception: see the cause in the log",
        )


class Verifier:
    """A verifier that verifies requests by one profile. Safe to share between threads if its sources are.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names.
        replay: tells whether a nonce is fresh.
        revocations: the revoked keys, or None if there is no such list.
        clock: returns seconds since the epoch.

    Attributes:
        profile: the profile.
        clock: the clock.
        blocking: whether verifying may block on IO. A source without a `blocking` attribute is taken to block.

    Raises:
        ConfigurationError: an argument is of the wrong type, or its answers have to be awaited.
    """

    __slots__ = ("_shared", "blocking", "clock", "profile")

    def __init__(
        self,
        profile: Profile,
        *,
        keys: KeySource,
        replay: ReplayStore,
        revocations: RevocationList | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shared = AsyncVerifier(profile, keys=keys, replay=replay, revocations=revocations, clock=clock)
        for option, asked in (("keys", keys.find), ("replay", replay.full), ("replay", replay.claim)):
            if iscoroutinefunction(asked):
                raise ConfigurationError(f"{option}: its answers have to be awaited; use AsyncVerifier")
        self.profile = profile
        self.clock = clock
        self.blocking: bool = any(getattr(source, "blocking", True) for source in (keys, replay))

    def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body is at hand, as `AsyncVerifier.verify`."""
        return finish(self._shared.verify(request))

    def authenticate(self, request: Request) -> AuthenticatedSignature:
        """Take the steps that need no body, as `AsyncVerifier.authenticate`."""
        return finish(self._shared.authenticate(request))

    def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the body, as `AsyncVerifier.complete`."""
        return finish(self._shared.complete(authenticated, content, digest=digest))


def finish(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine in which nothing waits, and return its result.

    What waits all the same gets a RuntimeError, which the verifiers report as an unavailable source.
    """
    try:
        coroutine.send(None)
        coroutine.throw(RuntimeError(_WAITS))
    except StopIteration as done:
        return cast("Answer", done.value)
    coroutine.close()
    raise RuntimeError(_WAITS)


async def _awaited(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer


def _check_arguments(profile: object, keys: object, replay: object, revocations: object, clock: object) -> None:
    if not isinstance(profile, Profile):
        raise ConfigurationError("profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2")
    if not callable(getattr(keys, "find", None)):
        raise ConfigurationError("keys: pass a key source, such as KeySet.from_jwks(jwks)")
    if not callable(getattr(replay, "claim", None)) or not callable(getattr(replay, "full", None)):
        raise ConfigurationError("replay: pass a replay store, such as MemoryReplayStore()")
    if revocations is not None and not isinstance(revocations, RevocationList):
        raise ConfigurationError("revocations: pass a RevocationList, or leave it out")
    if not callable(clock):
        raise ConfigurationError("clock: pass a function that returns seconds since the epoch, such as time.time")
