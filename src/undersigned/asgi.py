"""The ASGI middleware: verifies a request before the application sees it, and hands on what was verified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from . import wire
from .asgi_scope import authority_values, detected_server, request_target, verified_scope
from .errors import ConfigurationError, MalformedURL, SignatureError
from .origins import Origins
from .refusal import CONTENT_TOO_LARGE, REQUEST_TIMEOUT, BodyRefused, Refusal, log_refusal, log_unsigned
from .request import Request
from .screening import is_signed
from .verify import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from .checklist import Proven, VerifiedSignature
    from .digest import RunningDigest
    from .origins import Origin

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

Answer = TypeVar("Answer")

DEFAULT_BODY_TIMEOUT = 30.0


class SignatureMiddleware:
    """Verifies HTTP requests and WebSocket handshakes; the result is in `scope["state"]["signature"]`.

    It belongs outermost: whatever rewrites path, Host or headers stands inside of it or not at all.

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

    Raises:
        ConfigurationError: an option is not what it must be.
    """

    def __init__(  # noqa: PLR0913 - the options of the deployment, each by its name
        self,
        app: ASGIApp,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: Iterable[str],
        mode: wire.Mode | Callable[[Scope], wire.Mode] = "required",
        max_body: int = wire.DEFAULT_MAX_BODY,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
    ) -> None:
        if not isinstance(verifier, (Verifier, AsyncVerifier)):
            raise ConfigurationError("verifier: pass a Verifier or an AsyncVerifier")
        wire.check_options(mode, max_body, http2_server)
        if not body_timeout > 0:
            raise ConfigurationError("body_timeout: give seconds greater than 0")
        self.app = app
        self._verifier = verifier
        self._origins = Origins(origins)
        self._mode = mode
        self._max_body = max_body
        self._body_timeout = body_timeout
        self._server_adds_root_path = server_adds_root_path
        self._http2_server = http2_server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify one request or handshake, then call the application with what was verified."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] not in {"http", "websocket"}:
            raise ConfigurationError(f"undersigned does not know ASGI scopes of type {scope['type']!r}")
        try:
            verified = await self._judged(scope, receive, send)
        except SignatureError as error:
            log_refusal(error)
            await _answer(scope, send, Refusal.of(error))
        except BodyRefused as refused:
            await _answer(scope, send, refused.refusal)
        except _Disconnected:
            return
        else:
            await self.app(*verified)

    async def _judged(self, scope: Scope, receive: Receive, send: Send) -> tuple[Scope, Receive, Send]:
        """Return what the application is called with: a new scope, and a receive that yields what was verified."""
        snapshot = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in snapshot]
        if not is_signed(Request("GET", "", fields)):
            return {**scope, "headers": snapshot, "state": self._unsigned(scope)}, receive, send
        profile = self._verifier.profile
        self._check_server(scope, receive, send)
        try:
            origin, request = self._request(scope, fields)
            proven = await self._authenticate(request)
            new = verified_scope(
                scope, snapshot, proven.target, origin, server_adds_root_path=self._server_adds_root_path
            )
        except MalformedURL as malformed:
            raise wire.target_refused(profile, malformed) from None
        chunks: Sequence[bytes] = ()
        digest = proven.running_digest()
        if digest is not None and scope["type"] == "http":
            chunks = await self._read(request, receive, digest)
        signature = await self._complete(proven, chunks, digest)
        new["state"] = {**scope.get("state", {}), "signature": signature}
        if scope["type"] == "websocket":
            return new, receive, send
        if digest is not None:
            return new, _replay(chunks, receive), send
        return new, receive if request.has_body else _bodiless(receive), send

    def _unsigned(self, scope: Scope) -> dict[str, Any]:
        mode = wire.checked_mode(self._mode(scope) if callable(self._mode) else self._mode)
        if mode == "required":
            raise self._verifier.profile.error("signature_required", step=0, detail="the request is not signed")
        if mode == "observe":
            log_unsigned()
        return {**scope.get("state", {}), "signature": None}

    def _check_server(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse HTTP/2 and later where nobody has compared `:authority` with Host."""
        version = scope.get("http_version", "1.1")
        server = detected_server(receive, send)
        named = self._http2_server
        if wire.compares_authority(version, named) and (version.startswith("1.") or server in {None, named}):
            return
        raise wire.unsupported(
            self._verifier.profile,
            f"HTTP/{'3' if version.startswith('3') else '2'} hides whether :authority and Host agree: serve HTTP/1.1, "
            f"or serve HTTP/2 by {', '.join(sorted(wire.HTTP2_SERVERS))} and name it in http2_server=",
        )

    def _request(self, scope: Scope, fields: list[tuple[str, str]]) -> tuple[Origin, Request]:
        """Return the origin the request is for, and the request as it was on the wire.

        Raises:
            MalformedURL: the target, the authority or the method is refused.
        """
        method = scope.get("method", "GET")
        wire.check_method(method)
        hosts = authority_values(fields)
        http2 = not scope.get("http_version", "1.1").startswith("1.")
        origin, host = wire.matched_origin(self._origins, hosts, several=http2)
        target = request_target(scope, self._verifier.profile, server_adds_root_path=self._server_adds_root_path)
        lengths = {value for name, value in fields if name.lower() == "content-length"}
        chunked = any(name.lower() == "transfer-encoding" for name, _ in fields)
        own = [(name, value) for name, value in fields if name.lower() != "host"]
        request = Request(
            method,
            target.url(origin),
            [*own, ("host", host)],
            has_body=chunked or bool(lengths - {"0"}),
            query_unknown=target.query is None,
        )
        return origin, request

    async def _authenticate(self, request: Request) -> Proven:
        verifier = self._verifier
        if isinstance(verifier, AsyncVerifier):
            return await verifier.authenticate(request)
        if not verifier.blocking:
            return verifier.authenticate(request)
        return await _in_thread(lambda: verifier.authenticate(request))

    async def _complete(
        self, proven: Proven, chunks: Sequence[bytes], digest: RunningDigest | None
    ) -> VerifiedSignature:
        verifier = self._verifier
        if isinstance(verifier, AsyncVerifier):
            return await verifier.complete(proven, chunks, digest=digest)
        if not verifier.blocking:
            return verifier.complete(proven, chunks, digest=digest)
        return await _in_thread(lambda: verifier.complete(proven, chunks, digest=digest))

    async def _read(self, request: Request, receive: Receive, digest: RunningDigest) -> Sequence[bytes]:
        """Read and digest the body, chunk by chunk, up to the cap and in time."""
        import asyncio  # noqa: PLC0415 - its import costs more than all of this package, and WSGI never needs it

        declared = request.field("content-length") or "0"
        if declared.isdecimal() and len(declared) < 20 and int(declared) > self._max_body:  # noqa: PLR2004 - digits
            raise BodyRefused(CONTENT_TOO_LARGE)
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._body_timeout):
                more = True
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _Disconnected
                    chunk = bytes(message.get("body", b""))
                    size += len(chunk)
                    if size > self._max_body:
                        raise BodyRefused(CONTENT_TOO_LARGE)
                    if chunk:
                        digest.update(chunk)
                        chunks.append(chunk)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise BodyRefused(REQUEST_TIMEOUT) from None
        return chunks


class _Disconnected(Exception):
    """The client went away before its body was whole; there is nobody to answer."""


def _replay(chunks: Sequence[bytes], receive: Receive) -> Receive:
    """Return a receive that yields the chunks as they came, then whatever the server says next."""
    last = len(chunks) - 1
    messages = iter(
        [{"type": "http.request", "body": chunk, "more_body": at < last} for at, chunk in enumerate(chunks)]
        or [{"type": "http.request", "body": b"", "more_body": False}]
    )

    async def replay() -> Message:
        message = next(messages, None)
        return await receive() if message is None else message

    return replay


def _bodiless(receive: Receive) -> Receive:
    """Return a receive for a request signed without content: content that comes all the same ends the request."""

    async def bodiless() -> Message:
        message = await receive()
        if message["type"] == "http.request" and message.get("body"):
            return {"type": "http.disconnect"}
        return message

    return bodiless


async def _in_thread(call: Callable[[], Answer]) -> Answer:
    import asyncio  # noqa: PLC0415 - as in _read

    return await asyncio.to_thread(call)


async def _answer(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Send the refusal, as an HTTP response or, for a handshake, as one where the server can."""
    websocket = scope["type"] == "websocket"
    if websocket and "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    kind = "websocket.http.response" if websocket else "http.response"
    fields = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in refusal.fields]
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": fields})
    await send({"type": f"{kind}.body", "body": refusal.body})
