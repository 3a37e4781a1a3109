"""The ASGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from undersigned.asgi.answer import answer
from undersigned.asgi.chunked import Disconnected
from undersigned.asgi.guard import AsyncGuard
from undersigned.asgi.incoming import ScopeIncoming
from undersigned.asgi.interface import ASGIApp, Receive, Scope, Send
from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.middleware import options
from undersigned.middleware.answer import ErrorResponse

if TYPE_CHECKING:
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import AsyncVerifier, Verifier

Fallback: TypeAlias = Callable[[Scope], bool | Awaitable[bool]]
"""Returns whether another authenticator accepts the caller."""
Rejection: TypeAlias = Callable[[ErrorResponse, Scope], ErrorResponse]
"""Returns the answer to a rejected request, made of the usual one."""


class SignatureMiddleware:
    """A middleware that verifies HTTP requests and WebSocket handshakes.

    The verified signature is in `scope["state"]["signature"]`, which Starlette shows as `request.state.signature`; it
    is None for an unsigned request. Put this middleware outside everything that rewrites the path, Host or header
    fields. A request with more than 100 header fields gets 431, signed or not.

    Args:
        app: the application.
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        mode: what happens to an unsigned request.
        max_body: the largest body that is read, in bytes. A larger one gets 413.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes. A
            request with a larger one must be signed.
        body_timeout: how many seconds reading a body may take. A slower one gets 408.
        server_adds_root_path: whether the server puts its root path in front of `raw_path`, as uvicorn does with
            `--root-path`.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host (hypercorn,
            gunicorn, daphne, uvicorn). Without it, HTTP/2 is rejected.
        policy: which operations must be signed. It replaces `mode`. The operation it resolves is in
            `scope["undersigned"].operation` and in the signature.
        fallback: tells whether another authenticator accepts the caller; a function of the scope, sync or async. It is
            asked only if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the scope that returns
            another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        mode: options.Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Fallback | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Rejection | None = None,
    ) -> None:
        options.check_app(app, "ASGI")
        self.app = app
        self._guard = AsyncGuard(
            verifier=verifier,
            origins=origins,
            mode=mode,
            max_body=max_body,
            max_unsigned_body=max_unsigned_body,
            body_timeout=body_timeout,
            server_adds_root_path=server_adds_root_path,
            http2_server=http2_server,
            policy=policy,
            fallback=fallback,
            on_decision=on_decision,
            rejection=rejection,
        )
        self._guard.announce()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify one request or handshake, then call the application with the verified request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] not in {"http", "websocket"}:
            raise ConfigurationError(f"undersigned does not know ASGI scopes of type {scope['type']!r}")
        incoming = ScopeIncoming(self._guard, scope, scope, receive, send)
        try:
            result = await self._guard.verify(incoming)
        except Disconnected:
            return
        if isinstance(result, ErrorResponse):
            await answer(scope, send, result)
        else:
            await self.app(*incoming.forwarded(result), send)
