"""The synchronous verifier: it runs the code of the asynchronous one, whose sources never wait."""

from __future__ import annotations

import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

from undersigned.errors import ConfigurationError
from undersigned.verification.async_verifier import AsyncVerifier
from undersigned.verification.awaited_verifier import AwaitedVerifier

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.replay.store import ReplayStore
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.verification.revocation import RevocationSource
    from undersigned.verification.screening import ParsedSignature
    from undersigned.verification.verified_signature import AuthenticatedSignature, VerifiedSignature

__all__ = ["AsyncVerifier", "Verifier", "finish"]

Answer = TypeVar("Answer")

_WAITS = "the answer has to be awaited: use AsyncVerifier"


class Verifier:
    """A verifier that verifies requests by one profile. Safe to share between threads if its sources are.

    Args:
        profile: what makes a signature acceptable.
        keys: finds the key that a keyid names.
        replay: tells whether a nonce is fresh.
        revocations: has the revocation list of a key; a `RevocationList` is one. None: no key is revoked.
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
        revocations: RevocationSource | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shared = AsyncVerifier(profile, keys=keys, replay=replay, revocations=revocations, clock=clock)
        asked_for: tuple[tuple[str, object], ...] = (
            ("keys", keys.find),
            ("replay", replay.full),
            ("replay", replay.claim),
            ("replay", getattr(replay, "claim_content", None)),
            ("revocations", getattr(revocations, "current", None)),
        )
        waiting = [option for option, asked in asked_for if iscoroutinefunction(asked)]
        waiting += [
            option for option, source in (("keys", keys), ("revocations", revocations)) if _is_for_tasks(source)
        ]
        if waiting:
            raise ConfigurationError(f"{waiting[0]}: its answers have to be awaited; use AsyncVerifier")
        self.profile = profile
        self.clock = clock
        self.blocking: bool = any(
            getattr(source, "blocking", True) for source in (keys, replay, revocations) if source is not None
        )

    @property
    def awaitable(self) -> AsyncVerifier | AwaitedVerifier:
        """A verifier that does the same as this one, with methods that can be awaited."""
        return self._shared if type(self) is Verifier else AwaitedVerifier(self)

    def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read, as `AsyncVerifier.verify` does."""
        return finish(self._shared.verify(request))

    def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, as `AsyncVerifier.verify_response` does."""
        return finish(self._shared.verify_response(response))

    def authenticate(
        self, request: Request | Response, *, chosen: ParsedSignature | None = None
    ) -> AuthenticatedSignature:
        """Take the steps that need no body, as `AsyncVerifier.authenticate`."""
        return finish(self._shared.authenticate(request, chosen=chosen))

    def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the body, as `AsyncVerifier.complete`."""
        return finish(self._shared.complete(authenticated, content, digest=digest))


def _is_for_tasks(source: object) -> bool:
    """Return whether a source runs in tasks of an event loop only, although its answers need not always be awaited."""
    return isinstance(source, AbstractAsyncContextManager) and not isinstance(source, AbstractContextManager)


def finish(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits, and return its result.

    Raises:
        RuntimeError: it waits. The error is first raised inside the coroutine, so a verifier reports an unavailable
            source instead.
    """
    results: list[Answer] = []
    steps = _keep(coroutine, results).__await__()
    # A `for` loop ends without an exception; `coroutine.send` would raise StopIteration, with a traceback.
    for _ in steps:
        with suppress(StopIteration):
            steps.throw(RuntimeError(_WAITS))
        steps.close()
        break
    if not results:
        raise RuntimeError(_WAITS)
    return results[0]


async def _keep(coroutine: Coroutine[Any, Any, Answer], results: list[Answer]) -> None:
    results.append(await coroutine)
