"""The ASGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from inspect import isawaitable
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from undersigned.asgi.answer import answer
from undersigned.asgi.body import (
    Disconnected,
    bodiless,
    event_loop_check,
    no_content,
    read_content,
    read_if_json,
    replay,
)
from undersigned.asgi.interface import ASGIApp, Receive, Scope, Send
from undersigned.asgi.scope import (
    check_root_path,
    detected_server,
    request_target,
    server_root_path,
    shown_target,
    verified_scope,
)
from undersigned.asgi.threaded_verifier import awaitable
from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY, MOST_FIELDS
from undersigned.message.header_fields import HeaderFields
from undersigned.middleware import options
from undersigned.middleware.answer import TOO_MANY_FIELDS, ErrorResponse, UnreadRequest, shaped
from undersigned.middleware.authority import HTTP1_VERSIONS
from undersigned.middleware.exchange import Received
from undersigned.middleware.guard import Guard, Rejected, Visit
from undersigned.middleware.requirement import Verification
from undersigned.url import Origins
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.decision import Decision, Recorder
    from undersigned.policy.policy import Policy
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL, Origin
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.gate import Admitted

Fallback: TypeAlias = Callable[[Scope], bool | Awaitable[bool]]
"""Returns whether another authenticator accepts the caller."""
Rejection: TypeAlias = Callable[[ErrorResponse, Scope], ErrorResponse]
"""Returns the answer to a rejected request, made of the usual one."""

VERIFICATION = "undersigned"
"""The scope's key for the `Verification`: everything that the middleware found out."""

_LONGEST_TIMEOUT = 86_400
_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH"})
"""The methods for which content may come over HTTP/2 without Content-Length."""

Answer = TypeVar("Answer")
Forwarded: TypeAlias = tuple[Scope, Receive, Send]


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
        if not isinstance(verifier, (Verifier, AsyncVerifier)):
            raise ConfigurationError("verifier: pass a Verifier or an AsyncVerifier")
        options.check_options(mode, max_body, http2_server)
        options.check_size("max_unsigned_body", max_unsigned_body)
        options.check_policy(policy, fallback=fallback, mode=mode)
        options.check_listeners(on_decision, rejection)
        options.check_flag("server_adds_root_path", server_adds_root_path)
        if not isinstance(body_timeout, (int, float)) or not 0 < body_timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("body_timeout: give seconds greater than 0, such as 30, and at most a day")
        known = Origins(origins)
        self.app = app
        profile = verifier.profile
        self._guard: Guard[Forwarded] = Guard(
            awaitable(verifier),
            known,
            clock=verifier.clock,
            replay=verifier.replay,
            mode=mode,
            policy=policy,
            fallback=fallback is not None,
            max_unsigned_body=min(max_unsigned_body, max_body),
            http2_server=http2_server,
            on_decision=on_decision,
        )
        recorder = self._guard.recorder
        self._options = _Options(
            profile,
            recorder,
            max_body,
            body_timeout,
            server_adds_root_path,
            policy,
            fallback,
            rejection,
            event_loop_check(profile),
        )
        self.announce()

    def announce(self) -> None:
        """Log what is verified and where, when the middleware is made. A subclass may do it later, or not at all."""
        self._guard.announce()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify one request or handshake, then call the application with the verified request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] not in {"http", "websocket"}:
            raise ConfigurationError(f"undersigned does not know ASGI scopes of type {scope['type']!r}")
        try:
            forwarded = await self._guard.admit(_Exchange(self._options, scope, receive, send))
        except Rejected as rejected:
            await answer(scope, send, rejected.response)
        except Disconnected:
            return
        else:
            await self.app(*forwarded)


class _Options(NamedTuple):
    """The options of a middleware that its exchanges need."""

    profile: Profile
    recorder: Recorder
    max_body: int
    body_timeout: float
    server_adds_root_path: bool
    policy: Policy | None
    fallback: Fallback | None
    rejection: Rejection | None
    check_event_loop: Callable[[], None]


class _Exchange:
    """One request over ASGI, as the guard asks for it."""

    __slots__ = ("_begun", "_fields", "_headers", "_more", "_options", "_receive", "_scope", "_send", "visit")

    def __init__(self, chosen: _Options, scope: Scope, receive: Receive, send: Send) -> None:
        self._options = chosen
        self._scope = scope
        self._receive = receive
        self._send = send
        self._headers: list[tuple[bytes, bytes]] = []
        self._begun: list[bytes] = []
        # Whether more content follows what has been read; None if nothing has been read.
        self._more: bool | None = None
        client: tuple[str, int] | None = scope.get("client")
        self.visit = Visit(self.shown_target, client[0] if client else None)

    def shaped(self, response: ErrorResponse) -> ErrorResponse:
        return shaped(response, self._options.rejection, self._scope)

    def received_request(self) -> Received:
        scope = self._scope
        # A snapshot: a server may append trailers to its list after the application has started.
        headers = self._headers = [
            (name if type(name) is bytes else bytes(name), value if type(value) is bytes else bytes(value))
            for name, value in islice(scope["headers"], MOST_FIELDS + 1)
        ]
        if len(headers) > MOST_FIELDS:
            raise UnreadRequest(TOO_MANY_FIELDS)
        fields = self._fields = HeaderFields.of_octets(headers)
        combined = fields.combined
        method, version = scope.get("method", "GET"), scope.get("http_version", "1.1")
        has_body: bool | None = "transfer-encoding" in combined
        if "content-length" in combined:
            has_body = has_body or combined["content-length"] != "0"
        elif version not in HTTP1_VERSIONS and method in _WITH_CONTENT:
            # HTTP/2 needs no Content-Length. For other methods nothing is read: uvicorn waits forever if no content
            # comes.
            has_body = None
        return Received(method, version, fields, combined if "_" in "".join(combined) else (), has_body)

    def server(self) -> str | None:
        scope = self._scope
        if not (scope.get("root_path") or scope.get("app_root_path")) and (
            scope.get("http_version", "1.1") in HTTP1_VERSIONS
        ):
            return None
        server = detected_server(self._receive, self._send)
        has_field = "daphne-root-path" in self._fields.combined
        check_root_path(server_root_path(scope), server, self._options.profile, has_field=has_field)
        return server

    def target(self) -> tuple[RequestTarget, bool]:
        self.server()
        chosen = self._options
        target = request_target(self._scope, chosen.profile, server_adds_root_path=chosen.server_adds_root_path)
        return target, target.query is None

    def shown_target(self) -> str:
        return shown_target(self._scope)

    def read_content(self, digest: RunningDigest | None) -> Coroutine[Any, Any, Content]:
        if self._scope["type"] == "websocket":
            return no_content()
        chosen = self._options
        chosen.check_event_loop()
        return read_content(self._fields, self._receive, digest, cap=chosen.max_body, seconds=chosen.body_timeout)

    async def read_unverified(self, most: int) -> Content | None:
        if self._scope["type"] == "websocket":
            return await no_content()
        chosen = self._options
        chosen.check_event_loop()
        content, self._more = await read_if_json(
            self._fields, self._receive, self._begun, cap=most, seconds=chosen.body_timeout
        )
        return content

    async def run_apart(self, call: Callable[[], Answer]) -> Answer:
        import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

        return await asyncio.to_thread(call)

    async def accepts_caller(self) -> bool:
        accepted = cast("Fallback", self._options.fallback)(self._scope)
        return await accepted if isawaitable(accepted) else accepted

    def routed_path(self) -> str:
        return str(self._scope["path"])

    def forward_unsigned(self, admitted: Admitted | None = None, *, closed: bool = False) -> Forwarded:
        receive = self._receive
        if self._more is not None:
            receive = replay(self._begun, receive, more=self._more)
        elif closed and self._scope["type"] == "http":
            receive = bodiless(receive)
        return {**self._scope, "headers": self._headers, **self._published_entries(admitted)}, receive, self._send

    def forward(self, admitted: Admitted, target: CanonicalURL, origin: Origin, *, has_body: bool) -> Forwarded:
        adds = self._options.server_adds_root_path
        new = verified_scope(self._scope, self._headers, target=target, origin=origin, server_adds_root_path=adds)
        new.update(self._published_entries(admitted))
        content, receive = admitted.content, self._receive
        if self._scope["type"] == "http":
            if content is not None:
                receive = replay(content.chunks, receive)
            elif not has_body:
                receive = bodiless(receive)
        return new, receive, self._send

    def _published_entries(self, admitted: Admitted | None) -> Scope:
        """Return what the application may read of the verification."""
        chosen, scope = self._options, self._scope
        ask = None if chosen.fallback is None else partial(chosen.fallback, scope)
        made = Verification.of_admitted(
            admitted,
            chosen.profile,
            chosen.recorder,
            self.visit,
            chosen.policy,
            ask=ask,
            outer=scope.get(VERIFICATION),
        )
        return {
            "state": {**scope.get("state", {}), "signature": made.signature},
            VERIFICATION: made,
        }
