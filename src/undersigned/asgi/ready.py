"""The route of the readiness check over ASGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.asgi.threaded_verifier import awaitable
from undersigned.errors import ConfigurationError
from undersigned.middleware.readiness import METHODS, Readiness
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from undersigned.asgi.interface import ASGIApp, Receive, Scope, Send


class ReadyRoute:
    """A middleware that answers one path itself: 200 if requests can be verified now, else 503.

    Put it outside `SignatureMiddleware`: who checks the health of a worker signs nothing, and may use any Host. The
    content names what is not ready, of `keys`, `revocations` and `store`, as `AsyncVerifier.unready` does.

    Args:
        app: the application, which gets all other requests.
        verifier: the verifier of the `SignatureMiddleware`.
        path: the path to answer.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: ASGIApp, *, verifier: Verifier | AsyncVerifier, path: str = "/ready") -> None:
        if not isinstance(verifier, AsyncVerifier):
            raise ConfigurationError("verifier: pass a Verifier or an AsyncVerifier")
        self.app = app
        self._readiness = Readiness(awaitable(verifier), path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the check, or call the application."""
        if scope["type"] != "http" or scope["path"] != self._readiness.path or scope["method"] not in METHODS:
            await self.app(scope, receive, send)
            return
        status, fields, content = await self._readiness.answer()
        headers = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in fields]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})
