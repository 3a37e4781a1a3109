"""The verification of Sanic's requests by their raw targets, before they are routed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from sanic.response import HTTPResponse
from sanic.signals import Event

from undersigned import ConfigurationError
from undersigned.asgi import VERIFICATION as PUBLISHED
from undersigned.asgi import SignatureMiddleware
from undersigned.middleware import (
    DEFAULT_BODY_TIMEOUT,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_UNSIGNED_BODY,
    ErrorResponse,
    Verification,
)

from .requirement import VERIFICATION, Rejected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from sanic import Request, Sanic

    from undersigned import AsyncVerifier, Decision, Policy, Verifier
    from undersigned.asgi import Message, Receive, Scope, Send
    from undersigned.middleware import ConfiguredOrigins, Mode

_CALL = "undersigned_sanic.call"
_FIRST = 1_000_000


def verify_signatures(
    app: Sanic[Any, Any],
    *,
    verifier: Verifier | AsyncVerifier,
    origins: ConfiguredOrigins,
    mode: Mode = "required",
    max_body: int = DEFAULT_MAX_BODY,
    max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
    body_timeout: float = DEFAULT_BODY_TIMEOUT,
    policy: Policy | None = None,
    fallback: Callable[[Request[Any, Any]], bool | Awaitable[bool]] | None = None,
    on_decision: Callable[[Decision], object] | None = None,
    rejection: Callable[[ErrorResponse, Request[Any, Any]], ErrorResponse] | None = None,
) -> None:
    """Verify every request of an application on Sanic's own server, before the request is routed.

    A signed request gets 401 if its target is not canonical, such as `/a/../b`. Sanic would route another path than the
    one that was signed. Content that a signature covers has been read and verified before the handler runs. The handler
    reads it as any other content: a streaming handler from `request.stream`.

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
        policy: which operations must be signed. It replaces `mode`.
        fallback: tells whether another authenticator accepts the caller; a function of the request, sync or async. It
            is asked only if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the request that
            returns another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    verifying = SignatureMiddleware(
        _forward,
        verifier=verifier,
        origins=origins,
        mode=mode,
        max_body=max_body,
        max_unsigned_body=max_unsigned_body,
        body_timeout=body_timeout,
        policy=policy,
        fallback=_of_request(fallback) if callable(fallback) else fallback,
        on_decision=on_decision,
        rejection=_of_rejected(rejection) if callable(rejection) else rejection,
    )

    async def verify(request: Request[Any, Any], **_context: object) -> None:
        if request.app.asgi:
            raise ConfigurationError("the server runs Sanic by ASGI: use undersigned.asgi.SignatureMiddleware instead")
        call = _Call(request, by_policy=policy is not None)
        await verifying(call.scope(), call.receive, call.send)
        if not call.is_forwarded:
            raise call.rejection()

    app.add_signal(verify, Event.HTTP_ROUTING_BEFORE)
    app.register_middleware(  # pyright: ignore[reportUnknownMemberType]
        _check_verified, "request", priority=_FIRST
    )
    app.exception(Rejected)(_answer)  # pyright: ignore[reportUnknownMemberType]


async def _check_verified(request: Request[Any, Any]) -> None:
    """Check that a request that was routed has been verified before.

    When an application starts, Sanic removes from its classes the signals that this application does not use. Another
    application of the same process then has none of them.
    """
    if request.route is not None and getattr(request.ctx, VERIFICATION, None) is None:
        raise ConfigurationError(
            "Sanic did not ask for the verification: set config.TOUCHUP = False for every application of this process"
        )


class _Call:
    """One Sanic request as an ASGI connection.

    Attributes:
        is_forwarded: whether the request was verified, and its handler may run.
    """

    def __init__(self, request: Request[Any, Any], *, by_policy: bool) -> None:
        self.request = request
        self.is_forwarded = False
        self._by_policy = by_policy
        self._is_forwarding = False
        self._sent: list[Message] = []

    def scope(self) -> dict[str, Any]:
        request = self.request
        target, _, query = request.raw_url.partition(b"?")
        lines = cast("Iterable[tuple[str, str]]", request.headers.items())
        return {
            "type": "http",
            "method": request.method,
            "http_version": request.version,
            "path": unquote(target),
            "raw_path": target,
            "query_string": query,
            "headers": [(_octets(name), _octets(value)) for name, value in lines],
            "client": (request.ip, 0) if request.ip else None,
            _CALL: self,
        }

    async def receive(self) -> Message:
        stream: Any = self.request.stream
        if self._is_forwarding:
            # The rest of the content stays in the stream for the handler.
            return {"type": "http.request"}
        # Sanic's stream has no body, or no more of it, if this is false.
        chunk: bytes | None = await stream.read() if stream.request_body else b""
        return {"type": "http.request", "body": chunk or b"", "more_body": bool(stream.request_body)}

    async def send(self, message: Message) -> None:
        self._sent.append(message)

    async def forward(self, scope: Scope, receive: Receive) -> None:
        """Let Sanic route the verified request."""
        request, published = self.request, cast("Verification", scope[PUBLISHED])
        if (self._by_policy or published.signature is not None) and not _is_routed(request, scope):
            error = published.profile.error(
                "target_uri_malformed", step=10, detail="the canonical target is not the target that Sanic routes"
            )
            published.reject(error)
            answer = ErrorResponse.of(error)
            raise Rejected(answer.status, dict(answer.fields), answer.body)
        if receive != self.receive:
            self._is_forwarding = True
            content: list[bytes] = []
            message: Message = {"more_body": True}
            while message.get("more_body"):
                message = await receive()
                content.append(message.get("body", b""))
            _put_back(request.stream, b"".join(content))
        setattr(request.ctx, VERIFICATION, published)
        self.is_forwarded = True

    def rejection(self) -> Rejected:
        """Return the answer to a request that was not forwarded."""
        start, body = self._sent
        fields = {name.decode("ascii"): value.decode("ascii") for name, value in start["headers"]}
        return Rejected(start["status"], fields, body["body"])


def _put_back(stream: Any, begun: bytes) -> None:
    """Let Sanic read octets again, and then the rest of the content."""
    if begun:
        stream.recv_buffer[:0] = begun
        stream.request_bytes_left += len(begun)
        # It is None if the content has been read to its end.
        stream.request_body = stream.request_body or True


def _is_routed(request: Request[Any, Any], scope: Scope) -> bool:
    """Return whether Sanic routes the target that was verified."""
    target = (scope["raw_path"].decode("ascii"), scope["query_string"].decode("ascii"))
    return target == (request.path, request.query_string)


async def _forward(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's
    call: _Call = scope.pop(_CALL)
    await call.forward(scope, receive)


async def _answer(_request: Request[Any, Any], rejected: Rejected) -> HTTPResponse:
    return HTTPResponse(rejected.content, rejected.status_code, dict(rejected.fields))


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _of_request(function: Callable[[Request[Any, Any]], Any]) -> Callable[[Scope], Any]:
    return lambda scope: function(scope[_CALL].request)


def _of_rejected(
    function: Callable[[ErrorResponse, Request[Any, Any]], ErrorResponse],
) -> Callable[[ErrorResponse, Scope], ErrorResponse]:
    return lambda response, scope: function(response, scope[_CALL].request)
