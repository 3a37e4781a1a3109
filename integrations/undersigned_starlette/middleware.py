"""The ASGI middleware, telling the application besides by which profile it judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned import asgi

if TYPE_CHECKING:
    from undersigned.asgi import Receive, Scope, Send

PROFILE = "undersigned.profile"
"""The scope's key for the profile: a requirement inside the application answers in that profile's codes."""


class SignatureMiddleware(asgi.SignatureMiddleware):
    """`undersigned.asgi.SignatureMiddleware`, whose options it has, for Starlette and FastAPI.

    `app.add_middleware(SignatureMiddleware, verifier=verifier, origins=["https://seller.example.com"])`, after every
    other `add_middleware`, makes it the outermost one, as it must be.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify one request or handshake, then call the application with what was verified."""
        await super().__call__({**scope, PROFILE: self._verifier.profile}, receive, send)
