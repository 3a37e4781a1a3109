"""The asynchronous verifier: it asks for what the checklist needs. The synchronous one runs the same code."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeVar, cast

from undersigned.errors import ConfigurationError, KeySourceError, SignatureError
from undersigned.message.content import Content
from undersigned.verification.checklist import identify
from undersigned.verification.screening import screen_all
from undersigned.verification.sources import check_sources, finder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from undersigned.errors import Step
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.replay.store import AsyncContentStore, AsyncReplayStore, ContentClaim
    from undersigned.signature.key_source import AsyncKeySource
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.verification.checklist import Identified
    from undersigned.verification.revocation import AsyncRevocationSource, RevocationList
    from undersigned.verification.screening import ParsedSignature
    from undersigned.verification.verified_signature import AuthenticatedSignature, VerifiedSignature

Answer = TypeVar("Answer")


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

    __slots__ = (
        "_accepts_repeats",
        "_caps",
        "_find",
        "_keys",
        "_remembers",
        "_replay",
        "_revocations",
        "clock",
        "profile",
    )

    def __init__(
        self,
        profile: Profile,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: AsyncRevocationSource | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_sources(profile, keys, replay, revocations, clock)
        self.profile = profile
        self._keys = keys
        self._find = finder(keys)
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
        covered = Content() if digest is None and request.body else request.content
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
        covered = Content() if digest is None and response.body else response.content
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
            first = selected[0]
            if len(selected) > 1 or isinstance(first, SignatureError):
                return await self._authenticate_several(selected)
            chosen = first
        try:
            answer = self._find(chosen)
            keys = answer if isinstance(answer, tuple) else await _wait_for(answer)
        except Exception as failure:
            unavailable = self._keys_unavailable(failure)
            _add_evidence(unavailable, chosen)
            raise unavailable from failure
        tried: list[Sequence[VerificationKey]] = []
        while True:
            try:
                identified = identify(chosen, keys)
                if self._revocations is not None:
                    identified = await self._check_revocations(identified, self._revocations)
                full: list[VerificationKey] = []
                try:
                    for key in identified.keys if self._remembers else ():
                        is_full = self._replay.full(key.replay_name, now=chosen.now, caps=self._caps)
                        if is_full is not False and await _wait_for(is_full):
                            full.append(key)
                except Exception as failure:
                    raise self._store_unavailable(step="9a") from failure
                return identified.prove(full)
            except SignatureError as error:
                tried.append(keys)
                keys = await self._find_others(chosen, tried, error)

    def screen(self, message: Request | Response) -> Sequence[ParsedSignature | SignatureError]:
        """Read and check the signatures of a message (steps 0 to 6), as `undersigned.verification.screening` does.

        Raises:
            SignatureError: as `verify`.
        """
        return screen_all(message, self.profile, now=self.clock())

    async def _authenticate_several(
        self, selected: Sequence[ParsedSignature | SignatureError]
    ) -> AuthenticatedSignature:
        """Return the first authentic signature, or, if all must be authentic, one with all others in `others`.

        In the second case, a signature that covers the content comes first.

        Raises:
            SignatureError: no signature is authentic, or one is not although all must be. It is the first error.
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
        return replace(authentic[0], others=tuple(authentic[1:]))

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
        now = self.clock()
        try:
            bound = authenticated.bind(digest, now=now)
            claim: ContentClaim = "fresh"
            answer: ContentClaim | Awaitable[ContentClaim]
            if (remembered := bound.remembered) is not None:
                name, until, caps = authenticated.key.replay_name, bound.until, self._caps
                try:
                    if self._accepts_repeats and (content_digest := authenticated.repeatable) is not None:
                        store = cast("AsyncContentStore", self._replay)
                        answer = store.claim_content(name, remembered, content_digest, now=now, until=until, caps=caps)
                    else:
                        answer = self._replay.claim(name, remembered, now=now, until=until, caps=caps)
                    claim = answer if isinstance(answer, str) else await _wait_for(answer)
                except Exception as failure:
                    raise self._store_unavailable(step=12) from failure
            verified = bound.accept(claim, content)
        except SignatureError as error:
            _add_evidence(error, authenticated.candidate, authenticated.signature_base)
            raise
        if not authenticated.others:
            return verified
        others: list[VerifiedSignature] = []
        for other in authenticated.others:
            # If it covers the content too, it is by the same digest. Else the content is not of this signature.
            own = (content, digest) if other.candidate.digest == authenticated.candidate.digest else (Content(), None)
            others.append(await self.complete(other, own[0], digest=own[1]))
        return replace(verified, others=tuple(others))

    def _keys_unavailable(self, failure: Exception) -> SignatureError:
        if isinstance(failure, KeySourceError):
            return self.profile.error(failure.reason, step=7, detail=str(failure))
        return self.profile.error(
            "signature_jwks_unavailable",
            step=7,
            detail="the key source raised an exception: see the cause in the log",
        )

    async def _find_others(
        self, parsed: ParsedSignature, tried: Sequence[Sequence[VerificationKey]], error: SignatureError
    ) -> Sequence[VerificationKey]:
        """Ask the key source a second time, if it offers that. Return the keys that it did not find at first.

        Args:
            parsed: the signature.
            tried: the keys that each call of the source returned.
            error: why none of them verifies the signature.

        Raises:
            SignatureError: `error`, if there are no further keys.
        """
        if len(tried) == 1 and getattr(self._keys, "asks_again", False):
            # If another source is down, that is no reason to call the signature valid: what was found before decides.
            with suppress(Exception):
                found = await _wait_for(self._keys.find(parsed.lookup(again=True)))
                if others := [key for key in found if key not in tried[0]]:
                    return others
        _add_evidence(error, parsed)
        try:
            raise error
        finally:
            del error  # its traceback has this frame

    async def _check_revocations(self, identified: Identified, source: AsyncRevocationSource) -> Identified:
        """Check step 9 with the revocation list of each key."""
        return identified.check_revocations([await self._list(source, key) for key in identified.keys])

    async def _list(self, source: AsyncRevocationSource, key: VerificationKey) -> RevocationList | None:
        try:
            return await _wait_for(source.current(key.owner))
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
        ConfigurationError: the profile is for requests, or the response lacks its request.
    """
    if profile.message != "response":
        raise ConfigurationError(f"profile: {profile.name} is for requests; pass one that is for responses")
    if response.request is None:
        raise ConfigurationError("response: give it the request that it answers, Response(..., request=request)")


def _add_evidence(error: SignatureError, parsed: ParsedSignature, base: str | None = None) -> None:
    error.add_evidence(keyid=parsed.keyid, created=parsed.created, algorithm=parsed.algorithm, signature_base=base)


async def _wait_for(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer
