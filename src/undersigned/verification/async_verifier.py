"""The asynchronous verifier: it asks for what the checklist needs. The synchronous one runs the same code."""

from __future__ import annotations

import time
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeVar, cast

from undersigned.errors import ConfigurationError, KeySourceError, SignatureError
from undersigned.message.content import Content
from undersigned.signature.key_source import KeySet
from undersigned.signature.profile import Profile
from undersigned.verification.checklist import identify
from undersigned.verification.screening import screen_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from undersigned.errors import Step
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.replay.store import AsyncContentStore, AsyncReplayStore, ContentClaim
    from undersigned.signature.key_source import AsyncKeySource
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.verification.revocation import AsyncRevocationSource, RevocationList
    from undersigned.verification.screening import ParsedSignature
    from undersigned.verification.verified_signature import AuthenticatedSignature, Bound, VerifiedSignature

Answer = TypeVar("Answer")

_MADE = {
    "keys": "KeySet.from_jwks(jwks)",
    "replay": "MemoryReplayStore()",
    "revocations": "RevocationList.from_json(text)",
}
_OTHER_CLOCKS = (time.monotonic, time.perf_counter, time.time_ns)
"""Functions whose answers are numbers, but not seconds since the epoch."""


class AsyncVerifier:
    """A verifier that verifies requests by one profile, and awaits the answers of its sources.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names. A source that does not have to be awaited works too.
        replay: tells whether a nonce is fresh. A store that does not have to be awaited works too.
        revocations: has the revocation list of a key; a `RevocationList` is one. None: no key is revoked.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument is of the wrong type.
    """

    __slots__ = ("_accepts_repeats", "_caps", "_keys", "_remembers", "_replay", "_revocations", "clock", "profile")

    def __init__(
        self,
        profile: Profile,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: AsyncRevocationSource | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _check_arguments(profile, keys, replay, revocations, clock)
        self.profile = profile
        self._keys = keys
        self._replay = replay
        self._revocations = revocations
        self._caps = profile.replay.caps
        self._remembers = profile.replay.remembers != "nothing"
        self._accepts_repeats = profile.replay.accepts_repeats
        self.clock = clock

    async def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read.

        Raises:
            SignatureError: the request is rejected, or it cannot be verified now.
        """
        authenticated = await self.authenticate(request)
        digest = authenticated.running_digest(request.body)
        covered = Content() if digest is None else request.content
        return await self.complete(authenticated, covered, digest=digest)

    async def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, with the request that it answers.

        Raises:
            SignatureError: the response is rejected, or it cannot be verified now.
            ConfigurationError: the profile is for requests, or the response lacks its request.
        """
        check_response(self.profile, response)
        authenticated = await self.authenticate(response)
        digest = authenticated.running_digest(response.body)
        covered = Content() if digest is None else response.content
        return await self.complete(authenticated, covered, digest=digest)

    async def authenticate(
        self, request: Request | Response, *, chosen: ParsedSignature | None = None
    ) -> AuthenticatedSignature:
        """Take the steps that need no body: 0 to 10 (AdCP verifier checklist).

        Args:
            request: the request, or a response with the request that it answers.
            chosen: one of its signatures, if the steps 0 to 6 are done. None: the profile chooses.

        Raises:
            SignatureError: as `verify`.
        """
        if chosen is None:
            selected = self.screen(request)
            if len(selected) > 1:
                return await self._authenticate_several(selected)
            chosen = cast("ParsedSignature", selected[0])
        parsed, lookup = chosen, chosen.lookup()
        try:
            try:
                answer = self._keys.find(lookup)
                keys = answer if isinstance(answer, tuple) else await _awaited(answer)
            except Exception as failure:
                raise self._keys_unavailable(failure) from failure
            try:
                return await self._prove(parsed, keys)
            except SignatureError:
                others = [key for key in await self._find_again(parsed) if key not in keys]
                if not others:
                    raise
            return await self._prove(parsed, others)
        except SignatureError as error:
            error.add_evidence(
                keyid=parsed.keyid, created=parsed.created, algorithm=parsed.algorithm, signature_base=None
            )
            raise

    def screen(self, message: Request | Response) -> Sequence[ParsedSignature | SignatureError]:
        """Read and check the signatures of a message (steps 0 to 6), as `undersigned.verification.screening` does.

        Raises:
            SignatureError: as `verify`.
        """
        return screen_all(message, self.profile, now=self.clock())

    async def _authenticate_several(
        self, selected: Sequence[ParsedSignature | SignatureError]
    ) -> AuthenticatedSignature:
        """Return the first signature that is authentic. If all must be, return one that covers the content first.

        Raises:
            SignatureError: no signature is authentic, or one of them is not although all must be. It is the error of
                the first.
        """
        authentic: list[AuthenticatedSignature] = []
        first: SignatureError | None = None
        every = self.profile.selection.pick == "all"
        for parsed in selected:
            try:
                if isinstance(parsed, SignatureError):
                    raise parsed
                authentic.append(await self.authenticate(parsed.request, chosen=parsed))
            except SignatureError as error:
                first = first or error
            if first is not None if every else authentic:
                break
        if not authentic or (every and first is not None):
            raise cast("SignatureError", first)
        authentic.sort(key=lambda one: one.candidate.digest is None)
        return authentic[0]._replace(others=tuple(authentic[1:]))

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
            claim: ContentClaim = "fresh"
            answer: ContentClaim | Awaitable[ContentClaim]
            if (remembered := bound.remembered) is not None:
                try:
                    if self._accepts_repeats:
                        answer = self._claim_content(bound, remembered, now=now)
                    else:
                        name, caps = authenticated.key.replay_name, self._caps
                        answer = self._replay.claim(name, remembered, now=now, until=bound.until, caps=caps)
                    claim = answer if isinstance(answer, str) else await _awaited(answer)
                except Exception as failure:
                    raise self._store_unavailable(step=12) from failure
            verified = bound.accept(claim, content)
        except SignatureError as error:
            base = authenticated.signature_base
            error.add_evidence(
                keyid=parsed.keyid, created=parsed.created, algorithm=parsed.algorithm, signature_base=base
            )
            raise
        if not authenticated.others:
            return verified
        others = [await self.complete(other, content, digest=digest) for other in authenticated.others]
        return replace(verified, others=tuple(others))

    def _claim_content(self, bound: Bound, remembered: str, *, now: float) -> ContentClaim | Awaitable[ContentClaim]:
        name, caps, content = bound.proven.key.replay_name, self._caps, bound.proven.repeatable
        if content is None:
            return self._replay.claim(name, remembered, now=now, until=bound.until, caps=caps)
        store = cast("AsyncContentStore", self._replay)
        return store.claim_content(name, remembered, content, now=now, until=bound.until, caps=caps)

    async def _prove(self, parsed: ParsedSignature, keys: Sequence[VerificationKey]) -> AuthenticatedSignature:
        """Take the steps 7 to 10 with the keys that were found."""
        identified = identify(parsed, keys)
        if self._revocations is not None:
            lists = [await self._list(self._revocations, key) for key in identified.keys]
            identified = identified.check_revocations(lists)
        full: list[bool] = []
        if not self._remembers:
            return identified.prove([False] * len(identified.keys))
        try:
            for key in identified.keys:
                answer = self._replay.full(key.replay_name, now=parsed.now, caps=self._caps)
                full.append(answer if isinstance(answer, bool) else await _awaited(answer))
        except Exception as failure:
            raise self._store_unavailable(step="9a") from failure
        return identified.prove(full)

    def _keys_unavailable(self, failure: Exception) -> SignatureError:
        if isinstance(failure, KeySourceError):
            return self.profile.error(failure.reason, step=7, detail=str(failure))
        return self.profile.error(
            "signature_jwks_unavailable",
            step=7,
            detail="the key source raised an exception: see the cause in the log",
        )

    async def _find_again(self, parsed: ParsedSignature) -> Sequence[VerificationKey]:
        """Return what the source finds at a second look, if it offers one."""
        if not getattr(self._keys, "asks_again", False):
            return ()
        try:
            return await _awaited(self._keys.find(parsed.lookup(again=True)))
        except Exception:  # noqa: BLE001 - a source may raise anything
            # What was found before decides: that another source is down is no reason to call the signature valid.
            return ()

    async def _list(self, source: AsyncRevocationSource, key: VerificationKey) -> RevocationList | None:
        try:
            return await _awaited(source.current(key.owner))
        except Exception as failure:
            raise self.profile.error(
                "signature_revocation_stale",
                step=9,
                detail="the revocation source raised an exception: see the cause in the log",
            ) from failure

    def _store_unavailable(self, *, step: Step) -> SignatureError:
        return self.profile.error(
            "signature_store_unavailable",
            step=step,
            detail="the replay store raised an exception: see the cause in the log",
        )


def check_response(profile: Profile, response: Response) -> None:
    """Check that a profile is for responses, and that a response has the request that it answers.

    Raises:
        ConfigurationError: it is not, or it has not.
    """
    if profile.message != "response":
        raise ConfigurationError(f"profile: {profile.name} is for requests; pass one that is for responses")
    if response.request is None:
        raise ConfigurationError("response: give it the request that it answers, Response(..., request=request)")


async def _awaited(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer


def _check_arguments(profile: object, keys: object, replay: object, revocations: object, clock: object) -> None:
    if not isinstance(profile, Profile):
        raise ConfigurationError(
            'profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2, or profiles.BY_NAME["adcp-3.2"]'
        )
    for option, source in (("keys", keys), ("replay", replay), ("revocations", revocations)):
        if isinstance(source, type):
            raise ConfigurationError(f"{option}: {source.__name__} is a class; make one, such as {_MADE[option]}")
    # Texts have a `find` too.
    if isinstance(keys, (str, bytes, bytearray)) or not callable(getattr(keys, "find", None)):
        raise ConfigurationError(
            "keys: pass a key source: KeySet.from_jwks(jwks) for a JWK set, KeySet.of(key) for keys, or JWKSFile(path)"
        )
    if not callable(getattr(replay, "claim", None)) or not callable(getattr(replay, "full", None)):
        raise ConfigurationError("replay: pass a replay store, such as MemoryReplayStore()")
    if profile.replay.accepts_repeats and not callable(getattr(replay, "claim_content", None)):
        raise ConfigurationError(
            f"replay: profile {profile.name} accepts a repeated request, so the store needs claim_content; "
            "MemoryReplayStore() has it, and the other stores of the library"
        )
    if revocations is not None and not callable(getattr(revocations, "current", None)):
        raise ConfigurationError("revocations: pass a RevocationList or a source of them, or leave it out")
    if not callable(clock) or clock in _OTHER_CLOCKS:
        raise ConfigurationError("clock: pass a function that returns seconds since the epoch, such as time.time")
    if isinstance(keys, KeySet):
        keys.check_for(profile)
