"""Verifiers: two drivers that ask what the checklist needs answered, one for sync and one for async."""

from __future__ import annotations

import time
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, TypeVar, cast

from undersigned.errors import ConfigurationError
from undersigned.signature.profile import Profile
from undersigned.verification.checklist import identify
from undersigned.verification.revocation import RevocationList
from undersigned.verification.screening import screen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.errors import SignatureError, Step
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.replay.store import AsyncReplayStore, Claim, ReplayStore
    from undersigned.signature.keys import AsyncKeySource, KeySource
    from undersigned.verification.checklist import AuthenticatedSignature, VerifiedSignature

Answer = TypeVar("Answer")


class Verifier:
    """Verifies requests by one profile. Safe to share between threads where its sources are.

    Args:
        profile: what makes a signature acceptable.
        keys: which key a keyid names.
        replay: whether a nonce is fresh.
        revocations: the keys revoked, or None for no such list.
        clock: seconds since the epoch.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    __slots__ = ("_keys", "_replay", "_revocations", "blocking", "clock", "profile")

    def __init__(
        self,
        profile: Profile,
        *,
        keys: KeySource,
        replay: ReplayStore,
        revocations: RevocationList | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _check_arguments(profile, keys, replay, revocations, clock)
        for option, asked in (("keys", keys.find), ("replay", replay.full), ("replay", replay.claim)):
            if iscoroutinefunction(asked):
                raise ConfigurationError(f"{option}: its answers have to be awaited; use AsyncVerifier")
        self.profile = profile
        self._keys = keys
        self._replay = replay
        self._revocations = revocations
        self.clock = clock
        self.blocking: bool = any(getattr(source, "blocking", True) for source in (keys, replay))
        """Whether verifying may block on IO; a source that does not say is taken to block."""

    def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body is at hand.

        Raises:
            SignatureError: the request is not acceptable, or that cannot be found out now.
        """
        proven = self.authenticate(request)
        return self.complete(proven, request.content, digest=proven.running_digest(request.body))

    def authenticate(self, request: Request) -> AuthenticatedSignature:
        """Take the steps that need no body: 0 to 10.

        Raises:
            SignatureError: as `verify`.
        """
        candidate = screen(request, self.profile, now=self.clock())
        try:
            key = self._keys.find(candidate.keyid)
        except Exception as failure:
            raise _no_key_source(self.profile) from failure
        identified = identify(candidate, key, revocations=self._revocations)
        try:
            full = self._replay.full(candidate.keyid, now=candidate.now, caps=self.profile.caps)
        except Exception as failure:
            raise _no_store(self.profile, step="9a") from failure
        return identified.prove(full=full)

    def complete(
        self, proven: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the body: 11 to 14.

        Args:
            proven: what `authenticate` returned.
            content: the body as it was read.
            digest: what `proven.running_digest` returned, fed with the body.

        Raises:
            SignatureError: as `verify`.
        """
        now, candidate = self.clock(), proven.candidate
        bound = proven.bind(digest, now=now)
        try:
            claim = self._replay.claim(
                candidate.keyid, candidate.nonce, now=now, until=candidate.until, caps=self.profile.caps
            )
        except Exception as failure:
            raise _no_store(self.profile, step=12) from failure
        return bound.accept(claim, content)


class AsyncVerifier:
    """`Verifier` over sources whose answers may have to be awaited.

    Args:
        profile: what makes a signature acceptable.
        keys: which key a keyid names.
        replay: whether a nonce is fresh.
        revocations: the keys revoked, or None for no such list.
        clock: seconds since the epoch.

    Raises:
        ConfigurationError: an argument is not what it must be.
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
        """Verify a request whose body is at hand; as `Verifier.verify`."""
        proven = await self.authenticate(request)
        return await self.complete(proven, request.content, digest=proven.running_digest(request.body))

    async def authenticate(self, request: Request) -> AuthenticatedSignature:
        """Take the steps that need no body; as `Verifier.authenticate`."""
        candidate = screen(request, self.profile, now=self.clock())
        try:
            key = await _settled(self._keys.find(candidate.keyid))
        except Exception as failure:
            raise _no_key_source(self.profile) from failure
        identified = identify(candidate, key, revocations=self._revocations)
        try:
            full = await _settled(self._replay.full(candidate.keyid, now=candidate.now, caps=self.profile.caps))
        except Exception as failure:
            raise _no_store(self.profile, step="9a") from failure
        return identified.prove(full=full)

    async def complete(
        self, proven: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the body; as `Verifier.complete`."""
        now, candidate = self.clock(), proven.candidate
        bound = proven.bind(digest, now=now)
        try:
            claim: Claim = await _settled(
                self._replay.claim(
                    candidate.keyid, candidate.nonce, now=now, until=candidate.until, caps=self.profile.caps
                )
            )
        except Exception as failure:
            raise _no_store(self.profile, step=12) from failure
        return bound.accept(claim, content)


async def _settled(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer


def _no_key_source(profile: Profile) -> SignatureError:
    return profile.error(
        "signature_jwks_unavailable", step=7, detail="the key source raised instead of answering: see the cause"
    )


def _no_store(profile: Profile, *, step: Step) -> SignatureError:
    return profile.error(
        "signature_store_unavailable", step=step, detail="the replay store raised instead of answering: see the cause"
    )


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
