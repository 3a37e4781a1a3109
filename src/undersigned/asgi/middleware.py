"""The ASGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

import sys
from inspect import CO_COROUTINE, currentframe
from typing import TYPE_CHECKING

from undersigned.asgi.received import ScopeBody, ScopeReceived, is_closed_only
from undersigned.errors import ConfigurationError, SignatureError
from undersigned.eventloop import AsyncGuard
from undersigned.eventloop.guard import awaitable
from undersigned.middleware.admission import shown_outside
from undersigned.middleware.error_response import ErrorResponse
from undersigned.middleware.readiness import Readiness

if TYPE_CHECKING:
    from typing import Unpack

    from undersigned.asgi.scope import ASGIApp, Message, Receive, Scope, Send
    from undersigned.middleware.options import AsyncOptions, Service
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import AsyncVerifier, Verifier


_FALCON, _LITESTAR = 3000, 4500
"""The codes with which frameworks close a handshake for an exception: Falcon's is the status above 3000."""


class SignatureMiddleware:
    """A middleware that verifies HTTP requests and WebSocket handshakes.

    The application asks for the signature with `find_signature(scope)` and `verified_signature(scope)`. If the latter
    raises before a response has begun, and nothing else answers, this middleware does. Put it outside everything that
    rewrites the path, Host or headers. A request with more than 100 headers gets 431, signed or not.

    Args:
        app: the application.
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        server_adds_root_path: whether the server puts its root path in front of `raw_path`, as uvicorn does with
            `--root-path`.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host (hypercorn,
            gunicorn, daphne, uvicorn). Without it, HTTP/2 is rejected.
        options: the options of every middleware, as `undersigned.middleware.AsyncOptions` lists them: `mode`, `policy`
            and so on. Their functions get the scope. The operation is also in `scope["undersigned"].operation`.

    Raises:
        ConfigurationError: an option has a wrong value. Frameworks make their middlewares when the server starts: the
            server is then told that the start has failed, and why.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        **options: Unpack[AsyncOptions[Scope]],
    ) -> None:
        self.app = app
        self._adds_root_path = server_adds_root_path
        self._failure: Exception | None = None
        try:
            self._guard = AsyncGuard(verifier=verifier, origins=origins, http2_server=http2_server, app=app, **options)
        except (ConfigurationError, TypeError) as error:
            # A server takes an exception of its lifespan call for an application without a lifespan, and serves.
            if not _is_made_by_coroutine():
                raise
            self._failure = error
            return
        self._guard.service.announce()

    @property
    def service(self) -> Service:
        """What the middleware was told to verify."""
        return self._guard.service

    def check_start(self) -> None:
        """Check what else the start of a server shows: for a framework that keeps its lifespan to itself.

        Raises:
            ConfigurationError: the server runs on trio, or the routes do not fit the policy.
        """
        if (failure := self._failure or _unsupported({"type": "lifespan"})) is not None:
            raise failure
        self._guard.check_names()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify one request or handshake, then call the application with the verified request."""
        failure = self._failure or _unsupported(scope)
        if failure is not None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.failed", "message": str(failure)})
            # Frameworks raise after that event, too: a test client waits for it.
            raise failure.with_traceback(None)
        if scope["type"] == "lifespan":
            await self.app(scope, receive, _checking(self._guard, send))
            return
        received = ScopeReceived.of(scope, receive, send, server_adds_root_path=self._adds_root_path)
        body = ScopeBody(self._guard.service, received, receive)
        result = await self._guard.verify(received, body)
        if isinstance(result, ErrorResponse):
            await _answer(scope, send, result)
            return
        if self._guard.service.rejection is not None:
            send = _shaping(scope, send, received)
        send = _answering(scope, send, received)
        forwarded = body.forwarded(result)
        show = shown_outside(scope, forwarded)
        has_answered = False

        async def send_after_showing(message: Message) -> None:
            nonlocal has_answered
            has_answered = True
            if message["type"] != "http.response.body":
                show()
            await send(message)

        try:
            await self.app(forwarded, body.rest(), send_after_showing)
        except SignatureError as error:
            # Nothing else answers for an application without a framework.
            if has_answered or not isinstance(error.answer, ErrorResponse):
                raise
            await _answer(scope, send, error.answer)
        finally:
            show()


def _unsupported(scope: Scope) -> ConfigurationError | None:
    """Return why a call cannot be served, or None."""
    # A caller on trio has imported it.
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return ConfigurationError(
            "the server runs the application on trio, which undersigned does not support: run it on asyncio or uvloop"
        )
    if scope["type"] not in {"http", "websocket", "lifespan"}:
        return ConfigurationError(f"undersigned does not know ASGI scopes of type {scope['type']!r}")
    return None


def _checking(guard: AsyncGuard, send: Send) -> Send:
    """Return a `send` that lets the start fail if the routes, which are complete by then, do not fit the policy."""
    failed = False

    async def checked(message: Message) -> None:
        nonlocal failed
        if message["type"] == "lifespan.startup.complete":
            try:
                guard.check_names()
            except ConfigurationError as error:
                failed = True
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                # The application releases what it has opened.
                raise
        if not failed:
            await send(message)

    return checked


def _is_made_by_coroutine() -> bool:
    """Return whether a coroutine makes the middleware, as frameworks do at their first call, and no import does."""
    frame = currentframe()
    while frame is not None and frame.f_code.co_name != "<module>":
        if frame.f_code.co_flags & CO_COROUTINE:
            return True
        frame = frame.f_back
    return False


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
        self.app = app
        self._readiness = Readiness(awaitable(verifier), path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the check, or call the application."""
        answer = None
        if scope["type"] == "http":
            answer = await self._readiness.answer(scope["method"], scope["path"])
        if answer is None:
            await self.app(scope, receive, send)
        else:
            await _answer(scope, send, answer)


async def _answer(
    scope: Scope, send: Send, response: ErrorResponse, merged_fields: list[tuple[str, str]] | None = None
) -> None:
    """Send a response, also to a handshake if the server can send it one."""
    if is_closed_only(scope):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    fields = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in merged_fields or response.fields
    ]
    await send({"type": f"{kind}.start", "status": response.status, "headers": fields})
    await send({"type": f"{kind}.body", "body": b"" if scope.get("method") == "HEAD" else response.body})


def _shaping(scope: Scope, send: Send, received: ScopeReceived) -> Send:
    """Return a `send` that sends the answer by `rejection=` instead of the response of a route that rejects."""
    replaced = False

    async def shape(message: Message) -> None:
        nonlocal replaced
        if replaced:
            return
        is_start = message["type"].endswith("http.response.start")
        answer = received.replacement(message["status"]) if is_start else None
        if answer is None:
            await send(message)
            return
        replaced = True
        others = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", ())]
        await _answer(scope, send, answer, answer.merged(others))

    return shape


def _answering(scope: Scope, send: Send, received: ScopeReceived) -> Send:
    """Return a `send` that answers a handshake that a route rejects, even if its framework can only close it."""
    if scope["type"] != "websocket":
        return send
    is_accepted = False

    async def answer(message: Message) -> None:
        nonlocal is_accepted
        is_accepted = is_accepted or message["type"] == "websocket.accept"
        rejection = received.answers[-1] if received.answers and not is_accepted else None
        # A route that goes on after a rejection closes with a code of its own.
        if rejection is not None and message.get("code") in {rejection.status + _FALCON, _LITESTAR}:
            await _answer(scope, send, rejection)
        else:
            await send(message)

    return answer
