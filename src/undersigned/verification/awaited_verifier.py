"""A verifier whose methods can be awaited, made of one whose methods cannot."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.verification.verified_signature import AuthenticatedSignature, VerifiedSignature
    from undersigned.verification.verifier import Verifier

Answer = TypeVar("Answer")


class AwaitedVerifier:
    """A user's own verifier class, with its methods made awaitable.

    Args:
        verifier: the verifier.
    """

    __slots__ = ("_verifier", "profile")

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.profile = verifier.profile

    async def authenticate(self, request: Request) -> AuthenticatedSignature:
        """As `AsyncVerifier.authenticate`."""
        return await self.run(partial(self._verifier.authenticate, request))

    async def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """As `AsyncVerifier.complete`."""
        return await self.run(partial(self._verifier.complete, authenticated, content, digest=digest))

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return what a method of the verifier returns."""
        return call()
