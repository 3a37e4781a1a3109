"""The ASGI middleware: judges a request before the application sees it, and hands on what was judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from inspect import isawaitable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from undersigned.asgi.body import Disconnected, bodiless, read_content, replayed
from undersigned.asgi.scope import (
    detected_server,
    request_target,
    server_root_path,
    shown_target,
    verified_scope,
)
from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware import authority, options
from undersigned.middleware.answer import TOO_MANY_FIELDS, ErrorResponse, Recorder, UnreadRequest, log_unsigned
from undersigned.url import canonicalize
from undersigned.url.origin import Origins
from undersigned.verification.gate import Authenticate, Complete, Gate, Judged, ReadContent
from undersigned.verification.screening import is_signed
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from undersigned.middleware.answer import Record
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin
    from undersigned.verification.gate import Question

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

Fallback: TypeAlias = Callable[[Scope], bool | Awaitable[bool]]

DEFAULT_BODY_TIMEOUT = 30.0
_LONGEST_TIMEOUT = 86_400


class SignatureMiddleware:
    """Verifies HTTP requests and WebSocket handshakes; the result is in `scope["state"]["signature"]`.

    It belongs outermost: whatever rewrites path, Host or headers stands inside of it or not at all. A request with more
    than 128 header fields is answered 431, signed or not.

    Args:
        app: the application.
        verifier: a `Verifier` (asked in a thread where its sources block) or an `AsyncVerifier`.
        origins: the public origins the service answers to, such as `https://seller.example.com`, with the path prefix
            that a proxy strips.
        mode: what becomes of an unsigned request, or a function of the scope that says so.
        max_body: the largest body that is read to be digested, in bytes; a larger one is answered 413.
        body_timeout: the seconds that reading a body may take; a slower one is answered 408.
        server_adds_root_path: whether the server puts its root path in front of `raw_path`, as uvicorn does with
            `--root-path`.
        http2_server: the server's name where it serves HTTP/2 and compares `:authority` with Host itself
            (hypercorn, gunicorn, daphne, uvicorn); HTTP/2 is refused without it.
        policy: which operations must be signed; it stands in the place of `mode`. The operation it finds is in
            `scope["state"]["operation"]`, and in the signature.
        fallback: whether another authenticator accepts the caller, a function of the scope, sync or async; asked only
            where the policy would refuse and another credential could change that.
        on_decision: gets a `Decision` for every judged request.

    Raises:
        ConfigurationError: an option is not what it must be.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: Iterable[str],
        mode: options.Mode | Callable[[Scope], options.Mode] = "required",
        max_body: int = options.DEFAULT_MAX_BODY,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Fallback | None = None,
        on_decision: Callable[[Decision], object] | None = None,
    ) -> None:
        if not isinstance(verifier, (Verifier, AsyncVerifier)):
            raise ConfigurationError("verifier: pass a Verifier or an AsyncVerifier")
        options.check_options(mode, max_body, http2_server)
        options.check_policy(policy, fallback=fallback, on_decision=on_decision, mode=mode)
        if not isinstance(body_timeout, (int, float)) or not 0 < body_timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("body_timeout: give seconds greater than 0, such as 30, and at most a day")
        self.app = app
        self._verifier = verifier
        # On the event loop and not in a thread: nothing that such a verifier asks blocks.
        self._asks_here = isinstance(verifier, Verifier) and not verifier.blocking
        self._origins = Origins(origins)
        self._mode = mode
        self._max_body = max_body
        self._body_timeout = body_timeout
        self._server_adds_root_path = server_adds_root_path
        self._http2_server = http2_server
        self._policy = policy
        self._fallback = fallback
        self._gate = Gate(verifier.profile, policy, fallback=fallback is not None)
        self._recorder = Recorder(verifier.profile, verifier.clock, on_decision)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge one request or handshake, then call the application with what was judged."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] not in {"http", "websocket"}:
            raise ConfigurationError(f"undersigned does not know ASGI scopes of type {scope['type']!r}")
        record = self._recorder.begin()
        try:
            passed = await self._passed(scope, receive, send, record)
        except SignatureError as error:
            record.refused(error)
            await _answer(scope, send, ErrorResponse.of(error))
        except UnreadRequest as refused:
            record.unread(refused.refusal)
            await _answer(scope, send, refused.refusal)
        except Disconnected:
            return
        else:
            await self.app(*passed)

    async def _passed(self, scope: Scope, receive: Receive, send: Send, record: Record) -> tuple[Scope, Receive, Send]:
        """Return what the application is called with: a new scope, and a receive that yields what was judged."""
        snapshot = [(bytes(name), bytes(value)) for name, value in islice(scope["headers"], authority.MOST_FIELDS + 1)]
        if len(snapshot) > authority.MOST_FIELDS:
            raise UnreadRequest(TOO_MANY_FIELDS)
        fields = HeaderFields([(name.decode("latin-1"), value.decode("latin-1")) for name, value in snapshot])
        signed = is_signed(fields)
        if not signed and self._policy is None:
            self._check_unsigned(scope)
            record.passed(None, None)
            return {**scope, "headers": snapshot, "state": _state(scope, Judged(None, None, None))}, receive, send
        self._check_server(scope, receive, send)
        try:
            record.origin, request = self._request(scope, fields)
            judged = await self._judged(scope, receive, request, signed=signed)
            target = canonicalize(request.url) if judged.signature is None else judged.signature.target
            new = verified_scope(
                scope,
                snapshot,
                target=target,
                origin=record.origin,
                server_adds_root_path=self._server_adds_root_path,
            )
        except MalformedURL as malformed:
            hosts, shown = fields.values("host"), shown_target(scope)
            raise authority.target_refused(self._verifier.profile, malformed, hosts=hosts, target=shown) from None
        record.passed(judged.signature, judged.warning)
        new["state"] = _state(scope, judged)
        if scope["type"] == "websocket" or (judged.content is None and request.has_body):
            return new, receive, send
        return new, bodiless(receive) if judged.content is None else replayed(judged.content, receive), send

    async def _judged(self, scope: Scope, receive: Receive, request: Request, *, signed: bool) -> Judged:
        """Drive the gate: await the answers to its questions."""
        judging = self._gate.judge(request, signed=signed)
        try:
            question = next(judging)
            while True:
                try:
                    if self._asks_here and isinstance(question, (Authenticate, Complete)):
                        answer: object = question.ask(self._verifier)
                    else:
                        answer = await self._answered(question, scope, receive, request)
                except SignatureError as error:
                    question = judging.throw(error)
                else:
                    question = judging.send(answer)
        except StopIteration as done:
            return cast("Judged", done.value)

    async def _answered(self, question: Question, scope: Scope, receive: Receive, request: Request) -> object:
        verifier = self._verifier
        match question:
            case Authenticate() | Complete():
                if isinstance(verifier, AsyncVerifier):
                    return await cast("Awaitable[object]", question.ask(verifier))
                _check_event_loop(verifier.profile)
                import asyncio  # noqa: PLC0415 - as in asgi_body

                return await asyncio.to_thread(question.ask, verifier)
            case ReadContent(digest):
                if scope["type"] == "websocket":
                    return Content()
                _check_event_loop(verifier.profile)
                return await read_content(request, receive, digest, cap=self._max_body, seconds=self._body_timeout)
            case _:
                accepted = cast("Fallback", self._fallback)(scope)
                return await accepted if isawaitable(accepted) else accepted

    def _check_unsigned(self, scope: Scope) -> None:
        mode = options.checked_mode(self._mode(scope) if callable(self._mode) else self._mode)
        if mode == "required":
            raise self._verifier.profile.error("signature_required", step=0, detail="the request is not signed")
        if mode == "observe":
            log_unsigned()

    def _check_server(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a server that hides what was signed: HTTP/2 and later where nobody compares `:authority` with Host."""
        version, root = scope.get("http_version", "1.1"), server_root_path(scope)
        if version.startswith("1.") and not root:
            return
        profile, named = self._verifier.profile, self._http2_server
        server = detected_server(receive, send)
        if server == "daphne" and root:
            raise authority.unsupported(
                profile,
                "daphne takes root_path from any client's Daphne-Root-Path field, and it decides where the request is "
                "routed: give it to the application, as FastAPI(root_path=...), and not to daphne",
            )
        if not authority.compares_authority(version, named) or not (
            version.startswith("1.") or server in {None, named}
        ):
            raise authority.http2_refused(profile, version, server)

    def _request(self, scope: Scope, fields: HeaderFields) -> tuple[Origin, Request]:
        """Return the origin the request is for, and the request as it was on the wire.

        Raises:
            MalformedURL: the target, the authority or the method is refused.
        """
        authority.check_names(fields.names, self._verifier.profile)
        authority.check_framing(fields, self._verifier.profile)
        method = scope.get("method", "GET")
        authority.check_method(method)
        hosts = fields.values("host")
        http2 = not scope.get("http_version", "1.1").startswith("1.")
        origin, host = authority.matched_origin(self._origins, hosts, several=http2)
        target = request_target(scope, self._verifier.profile, server_adds_root_path=self._server_adds_root_path)
        if len(hosts) > 1:
            fields = HeaderFields([*(field for field in fields if field[0] != "host"), ("host", host)])
        has_body = fields.has("transfer-encoding") or any(length != "0" for length in fields.values("content-length"))
        request = Request(method, target.url(origin), fields, has_body=has_body, query_unknown=target.query is None)
        return origin, request


def _check_event_loop(profile: Profile) -> None:
    """Refuse to wait on any event loop but asyncio's, which threads and the time a body takes depend on.

    Raises:
        VerificationUnavailable: there is none.
    """
    import asyncio  # noqa: PLC0415 - as in asgi_body

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise authority.unsupported(
            profile, "the server runs no asyncio event loop: run it on asyncio, and not on trio"
        ) from None


def _state(scope: Scope, judged: Judged) -> dict[str, Any]:
    return {**scope.get("state", {}), "signature": judged.signature, "operation": judged.operation}


async def _answer(scope: Scope, send: Send, refusal: ErrorResponse) -> None:
    """Send the refusal, as an HTTP response or, for a handshake, as one where the server can."""
    websocket = scope["type"] == "websocket"
    if websocket and "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    kind = "websocket.http.response" if websocket else "http.response"
    fields = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in refusal.fields]
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": fields})
    await send({"type": f"{kind}.body", "body": b"" if scope.get("method") == "HEAD" else refusal.body})
