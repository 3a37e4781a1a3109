"""The ASGI middleware that signs responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from undersigned.asgi.scope import request_target
from undersigned.errors import MalformedURL, SignatureError
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.authority import matched_origin
from undersigned.middleware.response_signing import ResponseSigning, log_unsignable

if TYPE_CHECKING:
    from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
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
    origin of the service, or has a value that cannot be covered.

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
        self._profile = signer.profile
        self._server_adds_root_path = server_adds_root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, and sign its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            request = self._request(scope)
        except (MalformedURL, SignatureError):
            log_unsignable()
            await self.app(scope, receive, send)
            return
        offered = cast("dict[str, object]", scope.get("extensions") or {})
        extensions = {name: value for name, value in offered.items() if name not in _UNSEEN}
        await self.app({**scope, "extensions": extensions}, receive, _SigningSend(self._signing, request, send))

    def _request(self, scope: Scope) -> Request:
        fields = HeaderFields([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]])
        origin = matched_origin(self._signing.origins, fields, scope.get("http_version", "1.1"))
        target = request_target(scope, self._profile, server_adds_root_path=self._server_adds_root_path)
        return Request(scope["method"], target.url(origin), fields)


class _SigningSend:
    """A `send` that keeps the messages of one response until the response is complete."""

    __slots__ = ("_body", "_request", "_send", "_signing", "_start")

    def __init__(self, signing: ResponseSigning, request: Request, send: Send) -> None:
        self._signing = signing
        self._request = request
        self._send = send
        self._start: Message = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            self._signing.check_size(len(self._body))
            if not message.get("more_body", False):
                await self._finish()
        else:
            await self._send(message)

    async def _finish(self) -> None:
        start, body = self._start, bytes(self._body)
        headers = [(bytes(name), bytes(value)) for name, value in start.get("headers", ())]
        texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        added = self._signing.fields(self._request, start["status"], texts, body)
        signed = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in added]
        await self._send({**start, "headers": [*headers, *signed]})
        await self._send({"type": "http.response.body", "body": body})
