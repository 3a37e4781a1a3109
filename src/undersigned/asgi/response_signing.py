"""The ASGI middleware that signs responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from undersigned.asgi.received import ScopeReceived
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.middleware.response_signing import ResponseSigning

if TYPE_CHECKING:
    from undersigned.asgi.scope import ASGIApp, Message, Receive, Scope, Send
    from undersigned.message.request import Request
    from undersigned.signature.signer import Signer
    from undersigned.url.origin import ConfiguredOrigins

_UNSEEN: Final = frozenset(
    {"http.response.pathsend", "http.response.zerocopysend", "http.response.trailers", "http.response.push"}
)
"""The extensions by which an application sends something that this middleware does not see."""


class ResponseSigningMiddleware:
    """A middleware that signs the responses of an application. Put it outside all other layers.

    A response is sent when its body is complete. If it cannot be signed, a `SigningError` is raised in the application
    before its first byte is sent, and the server answers 500. A response is not signed if its request is not for an
    origin of the service, has more than 100 headers, or has a value that cannot be covered.

    Args:
        app: the application, for example with a `SignatureMiddleware` around it.
        signer: a signer whose profile is for responses, such as `profiles.UCP_RESPONSE`.
        origins: the public origins of the service, as for `SignatureMiddleware`.
        max_body: the largest body that is signed, in bytes.
        server_adds_root_path: as for `SignatureMiddleware`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        signer: Signer,
        origins: ConfiguredOrigins,
        max_body: int = DEFAULT_MAX_BODY,
        server_adds_root_path: bool = False,
    ) -> None:
        self.app = app
        self._signing = ResponseSigning(signer, origins, max_body=max_body)
        self._server_adds_root_path = server_adds_root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, and sign its response."""
        request = None
        if scope["type"] == "http":
            adds = self._server_adds_root_path
            request = self._signing.request(ScopeReceived.of(scope, receive, server_adds_root_path=adds))
        if request is None:
            await self.app(scope, receive, send)
            return
        offered = cast("dict[str, object]", scope.get("extensions") or {})
        extensions = {name: value for name, value in offered.items() if name not in _UNSEEN}
        await self.app({**scope, "extensions": extensions}, receive, self._signing_send(request, send))

    def _signing_send(self, request: Request, send: Send) -> Send:
        """Return a `send` that keeps the messages of one response until the response is complete."""
        start: Message = {}
        body = bytearray()

        async def keep(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if message["type"] != "http.response.body":
                await send(message)
                return
            body.extend(message.get("body", b""))
            self._signing.check_size(len(body))
            if message.get("more_body", False):
                return
            headers = [(bytes(name), bytes(value)) for name, value in start.get("headers", ())]
            texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
            added = self._signing.fields(request, start["status"], texts, bytes(body))
            signed = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in added]
            await send({**start, "headers": [*headers, *signed]})
            await send({"type": "http.response.body", "body": bytes(body)})

        return keep
