"""A verifier that verifies in a thread, since its sources block and the event loop must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from undersigned.asgi.body import check_event_loop
from undersigned.verification.verifier import AsyncVerifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.verification.checklist import AuthenticatedSignature
    from undersigned.verification.server import GateVerifier
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import Verifier

Answer = TypeVar("Answer")


def awaitable(verifier: Verifier | AsyncVerifier) -> GateVerifier:
    """Return the verifier as the gate awaits it, without blocking the event loop."""
    if isinstance(verifier, AsyncVerifier):
        return verifier
    return ThreadedVerifier(verifier) if verifier.blocking else verifier.awaitable


class ThreadedVerifier:
    """A verifier whose methods to await call those of another verifier in a thread.

    Args:
        verifier: the verifier whose sources block.
    """

    __slots__ = ("_verifier", "profile")

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.profile = verifier.profile

    async def authenticate(self, request: Request) -> AuthenticatedSignature:
        """As `AsyncVerifier.authenticate`."""
        return await self._run(lambda: self._verifier.authenticate(request))

    async def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """As `AsyncVerifier.complete`."""
        return await self._run(lambda: self._verifier.complete(authenticated, content, digest=digest))

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        check_event_loop(self.profile)
        import asyncio  # noqa: PLC0415 - as in asgi.body

        return await asyncio.to_thread(call)
