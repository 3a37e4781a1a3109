"""The protocols of what the gate asks: a verifier, and the server that has the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import AuthenticatedSignature, VerifiedSignature

Answer = TypeVar("Answer")


class GateVerifier(Protocol):
    """A verifier that the gate awaits, as an `AsyncVerifier` is. Every method may wait for IO."""

    @property
    def profile(self) -> Profile:
        """The profile."""
        ...

    async def authenticate(self, request: Request) -> AuthenticatedSignature:
        """Take the steps that need no content, as `AsyncVerifier.authenticate`."""
        ...

    async def complete(
        self, authenticated: AuthenticatedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the content, as `AsyncVerifier.complete`."""
        ...


class Server(Protocol):
    """A server with one request that the gate verifies. Every method may wait for IO."""

    def read_content(self, digest: RunningDigest | None) -> Coroutine[Any, Any, Content]:
        """Read the content of the request, and feed it to `digest` while reading."""
        ...

    def read_unverified(self, most: int) -> Coroutine[Any, Any, Content | None]:
        """Read the content of a request whose sender is not known. Return None if it is longer than `most` bytes."""
        ...

    async def run_apart(self, call: Callable[[], Answer]) -> Answer:
        """Run a slow function and return its result. Other requests are served in the meantime."""
        ...

    async def accepts_caller(self) -> bool:
        """Return whether another authenticator of the application accepts the caller."""
        ...
