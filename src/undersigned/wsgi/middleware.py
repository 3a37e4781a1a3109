"""The WSGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

from undersigned.limits import DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.middleware import options
from undersigned.middleware.answer import ErrorResponse
from undersigned.middleware.rejection_log import logger
from undersigned.wsgi.guard import SyncGuard
from undersigned.wsgi.incoming import EnvironIncoming
from undersigned.wsgi.servers import NOTICES

if TYPE_CHECKING:
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import Verifier

Environ: TypeAlias = dict[str, Any]
"""What a server says of a request (PEP 3333)."""
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
"""Begins the response (PEP 3333)."""
WSGIApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]
"""An application (PEP 3333)."""

Fallback: TypeAlias = Callable[[Environ], bool]
"""Returns whether another authenticator accepts the caller."""
Rejection: TypeAlias = Callable[[ErrorResponse, Environ], ErrorResponse]
"""Returns the answer to a rejected request, made of the usual one."""

_KNOWN = frozenset(HTTPStatus)
_REASONS = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content"}


class SignatureMiddleware:
    """A middleware that verifies HTTP requests.

    The verified signature is in `environ["undersigned.signature"]`; it is None for an unsigned request. Put this
    middleware outside everything that rewrites the path, Host or header fields, such as a ProxyFix or a dispatcher. A
    request with header fields of more than 100 names gets 431, signed or not.

    Args:
        app: the application.
        verifier: the verifier.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        mode: what happens to an unsigned request.
        max_body: the largest body that is read, in bytes. A larger one gets 413.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes. A
            request with a larger one must be signed.
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target. That
            works only for paths of unreserved characters, and cannot tell `/p?` from `/p`.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host. Without it, HTTP/2
            is rejected.
        policy: which operations must be signed. It replaces `mode`. The operation it resolves is in
            `environ["undersigned"].operation` and in the signature.
        fallback: tells whether another authenticator accepts the caller; a function of the environ. It is asked only
            if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the environ that
            returns another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        app: WSGIApp,
        *,
        verifier: Verifier,
        origins: ConfiguredOrigins,
        mode: options.Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        reconstruct: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Fallback | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Rejection | None = None,
    ) -> None:
        options.check_app(app, "WSGI")
        self.app = app
        self._noticed = False
        self._guard = SyncGuard(
            verifier=verifier,
            origins=origins,
            mode=mode,
            max_body=max_body,
            max_unsigned_body=max_unsigned_body,
            reconstruct=reconstruct,
            http2_server=http2_server,
            policy=policy,
            fallback=fallback,
            on_decision=on_decision,
            rejection=rejection,
        )
        self._guard.announce()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Verify one request, then call the application with what was verified."""
        incoming = EnvironIncoming(self._guard, environ, environ, start_response)
        try:
            result = self._guard.verify_now(incoming)
        finally:
            self._notice(incoming.detected)
        if isinstance(result, ErrorResponse):
            return self.answer(environ, start_response, result)
        return self.app(incoming.forwarded(result), start_response)

    def answer(self, environ: Environ, start_response: StartResponse, response: ErrorResponse) -> Iterable[bytes]:
        """Answer a request that is rejected. A subclass may answer in another content type."""
        start_response(f"{response.status} {_reason(response.status)}", response.fields)
        # Some servers send the content of a response to HEAD, although the client expects the next response there.
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [response.body]

    def _notice(self, server: str | None) -> None:
        """Log once what the operator of a development server has to know."""
        if server in NOTICES and not self._noticed:
            self._noticed = True
            logger.warning(NOTICES[server])


def _reason(status: int) -> str:
    """Return the reason phrase of a status code (RFC 9110 section 15)."""
    # http.HTTPStatus has older phrases for some of them until Python 3.13.
    return _REASONS.get(status) or (HTTPStatus(status).phrase if status in _KNOWN else "Error")
