"""The verification of Sanic's requests by their raw targets, before they are routed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sanic.response import HTTPResponse
from sanic.signals import Event

from undersigned import ConfigurationError, MalformedURL
from undersigned.asgi import AsyncGuard, WireIncoming
from undersigned.middleware import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY, ErrorResponse

from .requirement import VERIFICATION, Rejected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from sanic import Request, Sanic

    from undersigned import AsyncVerifier, Decision, Policy, Verifier
    from undersigned.message import Content
    from undersigned.middleware import ConfiguredOrigins, Mode
    from undersigned.url import CanonicalURL, Origin

_FIRST = 1_000_000
_OTHER_TARGET = "the canonical target is not the target that Sanic routes"


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
    verifying = AsyncGuard(
        verifier=verifier,
        origins=origins,
        mode=mode,
        max_body=max_body,
        max_unsigned_body=max_unsigned_body,
        body_timeout=body_timeout,
        policy=policy,
        fallback=fallback,
        on_decision=on_decision,
        rejection=rejection,
    )
    verifying.announce()

    async def verify(request: Request[Any, Any], **_context: object) -> None:
        if request.app.asgi:
            raise ConfigurationError("the server runs Sanic by ASGI: use undersigned.asgi.SignatureMiddleware instead")
        incoming = _RequestIncoming(verifying, request)
        accepted = await verifying.verify(incoming)
        if isinstance(accepted, ErrorResponse):
            raise Rejected(accepted.status, dict(accepted.fields), accepted.body)
        incoming.put_back(accepted.content)
        setattr(request.ctx, VERIFICATION, accepted.verification)

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


class _RequestIncoming(WireIncoming):
    """One request of Sanic."""

    def __init__(self, guard: AsyncGuard, request: Request[Any, Any]) -> None:
        lines = cast("Iterable[tuple[str, str]]", request.headers.items())
        super().__init__(
            guard,
            request,
            request.method,
            request.version,
            request.ip or None,
            target=request.raw_url,
            headers=[(_octets(name), _octets(value)) for name, value in lines],
        )
        self._request = request
        self._stream: Any = request.stream

    def routed_path(self) -> str:
        """Return the percent-decoded path, which Sanic must route as it was received."""
        if not self._is_routed(self.raw_target):
            detail = f"request target: {_OTHER_TARGET}"
            raise self.guard.profile.error("target_uri_malformed", step=10, detail=detail)
        return super().routed_path()

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified: Sanic routes its own."""
        super().accept(target, origin)
        if not self._is_routed((self.verified or "").encode("ascii")):
            raise MalformedURL(_OTHER_TARGET, rule="request target")

    def _is_routed(self, target: bytes) -> bool:
        path, _, query = target.partition(b"?")
        return (path, query) == (_octets(self._request.path), _octets(self._request.query_string))

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        # Sanic's stream has no body, or no more of it, if this is false.
        chunk: bytes | None = await self._stream.read() if self._stream.request_body else b""
        return chunk or b"", bool(self._stream.request_body)

    def put_back(self, content: Content | None) -> None:
        """Let Sanic read again what has been read, and then the rest of the content."""
        begun = b"".join(self.chunks) if content is None else bytes(content)
        stream = self._stream
        if begun:
            stream.recv_buffer[:0] = begun
            stream.request_bytes_left += len(begun)
            # It is None if the content has been read to its end.
            stream.request_body = stream.request_body or True


async def _answer(_request: Request[Any, Any], rejected: Rejected) -> HTTPResponse:
    return HTTPResponse(rejected.content, rejected.status_code, dict(rejected.fields))


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
