"""The WSGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from inspect import isawaitable, iscoroutine
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.message.header_fields import HeaderFields
from undersigned.middleware import options
from undersigned.middleware.answer import TOO_MANY_FIELDS, ErrorResponse, UnreadRequest, shaped
from undersigned.middleware.exchange import Received
from undersigned.middleware.guard import Guard, Rejected, Visit
from undersigned.middleware.rejection_log import logger
from undersigned.middleware.requirement import Verification
from undersigned.url import Origins
from undersigned.verification.verifier import Verifier, finish
from undersigned.wsgi.body import put_back, read_content, read_if_json, resume
from undersigned.wsgi.environ import (
    BodyFraming,
    field_lines,
    has_too_many_fields,
    http_version,
    query_unknown,
    request_target,
    shown_names,
    shown_target,
    verified_environ,
)
from undersigned.wsgi.servers import NOTICES, check_server, detected_server

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

Answer = TypeVar("Answer")

SIGNATURE = "undersigned.signature"
"""The environ's key for the verified signature, or None."""
VERIFICATION = "undersigned"
"""The environ's key for the `Verification`: everything that the middleware found out."""

_NO_FIELDS = HeaderFields(())
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
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        options.check_options(mode, max_body, http2_server)
        options.check_size("max_unsigned_body", max_unsigned_body)
        options.check_policy(policy, fallback=fallback, mode=mode)
        options.check_listeners(on_decision, rejection)
        known = Origins(origins)
        options.check_flag("reconstruct", reconstruct)
        if options.is_async(fallback):
            raise ConfigurationError("fallback: the function must not be async; WSGI awaits nothing")
        self.app = app
        self._noticed = False
        self._guard: Guard[Environ] = Guard(
            verifier,
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
        self._options = _Options(
            verifier.profile, self._guard.recorder, max_body, reconstruct, policy, fallback, rejection
        )
        self.announce()

    def announce(self) -> None:
        """Log what is verified and where, when the middleware is made. A subclass may do it later, or not at all."""
        self._guard.announce()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Verify one request, then call the application with what was verified."""
        exchange = _Exchange(self._options, environ, start_response)
        try:
            forwarded = finish(self._guard.admit(exchange))
        except Rejected as rejected:
            return self.answer(environ, start_response, rejected.response)
        finally:
            self._notice(exchange.detected)
        return self.app(forwarded, start_response)

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


class _Options(NamedTuple):
    """The options of a middleware that its exchanges need."""

    profile: Profile
    recorder: Recorder
    max_body: int
    reconstruct: bool
    policy: Policy | None
    fallback: Fallback | None
    rejection: Rejection | None


class _Exchange:
    """One request over WSGI, as the guard asks for it. Nothing in it has to be awaited.

    Attributes:
        detected: the name of the server, once it has been recognised.
    """

    __slots__ = ("_begun", "_environ", "_fields", "_framing", "_options", "_start_response", "detected", "visit")

    def __init__(self, chosen: _Options, environ: Environ, start_response: StartResponse) -> None:
        self._options = chosen
        self._environ = environ
        self._start_response = start_response
        self._framing = BodyFraming.of(environ)
        self._begun = b""
        self._fields = _NO_FIELDS
        self.detected: str | None = None
        self.visit = Visit(self.shown_target, environ.get("REMOTE_ADDR"))

    def shaped(self, response: ErrorResponse) -> ErrorResponse:
        return shaped(response, self._options.rejection, self._environ)

    def received_request(self) -> Received:
        environ = self._environ
        if has_too_many_fields(environ):
            raise UnreadRequest(TOO_MANY_FIELDS)
        fields = self._fields = HeaderFields(field_lines(environ))
        names, has_body = shown_names(environ), self._framing.has_body
        return Received(environ["REQUEST_METHOD"], http_version(environ), fields, names, has_body)

    def server(self) -> str | None:
        self.detected = detected_server(self._environ, self._start_response)
        check_server(self.detected, self._environ, self._options.profile)
        return self.detected

    def target(self) -> tuple[RequestTarget, bool]:
        environ, chosen, server = self._environ, self._options, self.server()
        target = request_target(environ, chosen.profile, reconstruct=chosen.reconstruct, server=server)
        return target, query_unknown(environ, target)

    def shown_target(self) -> str:
        return shown_target(self._environ)

    async def read_content(self, digest: RunningDigest | None) -> Content:
        chosen = self._options
        return read_content(self._environ, self._framing, digest, cap=chosen.max_body, profile=chosen.profile)

    async def read_unverified(self, most: int) -> Content | None:
        profile = self._options.profile
        content, self._begun = read_if_json(self._environ, self._framing, self._fields, cap=most, profile=profile)
        return content

    async def run_apart(self, call: Callable[[], Answer]) -> Answer:
        # A WSGI server gives each request a thread, or a process, of its own.
        return call()

    async def accepts_caller(self) -> bool:
        return self._ask()

    def _ask(self) -> bool:
        accepted: object = cast("Fallback", self._options.fallback)(self._environ)
        if isawaitable(accepted):
            # Something to await is true, whatever it would say.
            if iscoroutine(accepted):
                accepted.close()
            raise ConfigurationError("fallback: the function must return True or False; WSGI awaits nothing")
        return accepted is True

    def routed_path(self) -> str:
        environ = self._environ
        path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        return path.encode("latin-1", "replace").decode("utf-8", "replace")

    def forward_unsigned(self, admitted: Admitted | None = None, *, closed: bool = False) -> Environ:
        new = {**self._environ, **self._published_entries(admitted)}
        if admitted is not None and admitted.content is not None:
            put_back(new, admitted.content)
        elif self._begun:
            resume(new, self._begun, self._framing)
        elif closed:
            new["wsgi.input"] = BytesIO()
        return new

    def forward(self, admitted: Admitted, target: CanonicalURL, origin: Origin, *, has_body: bool) -> Environ:
        new = verified_environ(self._environ, target, origin)
        if admitted.content is not None:
            put_back(new, admitted.content)
        elif not has_body:
            # A request without content was verified, so no content may reach the application.
            new["wsgi.input"] = BytesIO()
        new.update(self._published_entries(admitted))
        return new

    def _published_entries(self, admitted: Admitted | None) -> Environ:
        """Return what the application may read of the verification."""
        chosen = self._options
        ask, outer = None if chosen.fallback is None else self._ask, self._environ.get(VERIFICATION)
        made = Verification.of_admitted(
            admitted, chosen.profile, chosen.recorder, self.visit, chosen.policy, ask=ask, outer=outer
        )
        return {
            SIGNATURE: made.signature,
            VERIFICATION: made,
        }
