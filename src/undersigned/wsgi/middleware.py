"""The WSGI middleware: judges a request before the application sees it, and hands on what was judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware import authority, options
from undersigned.middleware.answer import TOO_MANY_FIELDS, ErrorResponse, Recorder, UnreadRequest, log_unsigned, logger
from undersigned.url import canonicalize
from undersigned.url.origin import Origins
from undersigned.verification.gate import Authenticate, Complete, Gate, Judged, ReadContent, drive
from undersigned.verification.screening import is_signed
from undersigned.verification.verifier import Verifier
from undersigned.wsgi.body import put_back, read_content
from undersigned.wsgi.environ import (
    BodyFraming,
    count_fields,
    field_lines,
    query_unknown,
    request_target,
    shown_names,
    shown_target,
    verified_environ,
)
from undersigned.wsgi.servers import NOTICES, check_server, detected_server

if TYPE_CHECKING:
    from undersigned.middleware.answer import Record
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import Origin
    from undersigned.verification.gate import Question

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
WSGIApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]

Fallback: TypeAlias = Callable[[Environ], bool]

SIGNATURE = "undersigned.signature"
OPERATION = "undersigned.operation"

_REASONS = {
    401: "Unauthorized",
    413: "Content Too Large",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class SignatureMiddleware:
    """Verifies HTTP requests; the result is in `environ["undersigned.signature"]`.

    It belongs outermost: whatever rewrites path, Host or headers (a ProxyFix, a dispatcher) stands inside of it or
    not at all. A request with header fields of more than 128 names is answered 431, signed or not.

    Args:
        app: the application.
        verifier: the verifier.
        origins: the public origins the service answers to, such as `https://seller.example.com`, with the path prefix
            that a proxy strips.
        mode: what becomes of an unsigned request, or a function of the environ that says so.
        max_body: the largest body that is read to be digested, in bytes; a larger one is answered 413.
        reconstruct: whether a target may be rebuilt from the decoded path where the server gives no raw one, which
            works for paths of unreserved characters only and cannot tell `/p?` from `/p`.
        http2_server: the server's name where it serves HTTP/2 and compares `:authority` with Host itself; HTTP/2 is
            refused without it.
        policy: which operations must be signed; it stands in the place of `mode`. The operation it finds is in
            `environ["undersigned.operation"]`, and in the signature.
        fallback: whether another authenticator accepts the caller, a function of the environ; asked only where the
            policy would refuse and another credential could change that.
        on_decision: gets a `Decision` for every judged request.

    Raises:
        ConfigurationError: an option is not what it must be.
    """

    def __init__(
        self,
        app: WSGIApp,
        *,
        verifier: Verifier,
        origins: Iterable[str],
        mode: options.Mode | Callable[[Environ], options.Mode] = "required",
        max_body: int = options.DEFAULT_MAX_BODY,
        reconstruct: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Fallback | None = None,
        on_decision: Callable[[Decision], object] | None = None,
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        options.check_options(mode, max_body, http2_server)
        options.check_policy(policy, fallback=fallback, on_decision=on_decision, mode=mode)
        self.app = app
        self._verifier = verifier
        self._origins = Origins(origins)
        self._mode = mode
        self._max_body = max_body
        self._reconstruct = reconstruct
        self._http2_server = http2_server
        self._noticed = False
        self._policy = policy
        self._fallback = fallback
        self._gate = Gate(verifier.profile, policy, fallback=fallback is not None)
        self._recorder = Recorder(verifier.profile, verifier.clock, on_decision)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Judge one request, then call the application with what was judged."""
        record = self._recorder.begin()
        try:
            passed = self._passed(environ, start_response, record)
        except SignatureError as error:
            record.refused(error)
            return _answer(environ, start_response, ErrorResponse.of(error))
        except UnreadRequest as refused:
            record.unread(refused.refusal)
            return _answer(environ, start_response, refused.refusal)
        return self.app(passed, start_response)

    def _passed(self, environ: Environ, start_response: StartResponse, record: Record) -> Environ:
        """Return the environ for the application: a copy that holds what was judged."""
        if count_fields(environ) > authority.MOST_FIELDS:
            raise UnreadRequest(TOO_MANY_FIELDS)
        fields = HeaderFields(field_lines(environ))
        signed = is_signed(fields)
        if not signed and self._policy is None:
            self._check_unsigned(environ)
            record.passed(None, None)
            return {**environ, SIGNATURE: None, OPERATION: None}
        server = detected_server(environ, start_response)
        check_server(server, environ, self._verifier.profile)
        self._notice(server)
        framing = BodyFraming.of(environ)
        try:
            record.origin, request = self._request(environ, fields, framing, server=server)
            judged = self._judged(environ, framing, request, signed=signed)
            target = canonicalize(request.url) if judged.signature is None else judged.signature.target
            new = verified_environ(environ, target, record.origin)
        except MalformedURL as malformed:
            hosts, shown = fields.values("host"), shown_target(environ)
            raise authority.target_refused(self._verifier.profile, malformed, hosts=hosts, target=shown) from None
        record.passed(judged.signature, judged.warning)
        if judged.content is not None:
            put_back(new, judged.content)
        elif not request.has_body:
            # Content of a request judged to have none would reach the application unjudged.
            new["wsgi.input"] = BytesIO()
        new[SIGNATURE], new[OPERATION] = judged.signature, judged.operation
        return new

    def _judged(self, environ: Environ, framing: BodyFraming, request: Request, *, signed: bool) -> Judged:
        """Answer the gate's questions one after the other."""
        judging = self._gate.judge(request, signed=signed)
        return drive(judging, lambda question: self._answered(question, environ, framing))

    def _answered(self, question: Question, environ: Environ, framing: BodyFraming) -> object:
        match question:
            case Authenticate() | Complete():
                return question.ask(self._verifier)
            case ReadContent(digest):
                profile = self._verifier.profile
                return read_content(environ, framing, digest, cap=self._max_body, profile=profile)
            case _:
                return cast("Fallback", self._fallback)(environ)

    def _check_unsigned(self, environ: Environ) -> None:
        mode = options.checked_mode(self._mode(environ) if callable(self._mode) else self._mode)
        if mode == "required":
            raise self._verifier.profile.error("signature_required", step=0, detail="the request is not signed")
        if mode == "observe":
            log_unsigned()

    def _notice(self, server: str | None) -> None:
        if server in NOTICES and not self._noticed:
            self._noticed = True
            logger.warning(NOTICES[server])

    def _request(
        self, environ: Environ, fields: HeaderFields, framing: BodyFraming, *, server: str | None
    ) -> tuple[Origin, Request]:
        """Return the origin the request is for, and the request as it was on the wire.

        Raises:
            MalformedURL: the target, the authority or the method is refused.
            SignatureError: the server or the stack cannot show what was signed.
        """
        profile = self._verifier.profile
        if not authority.compares_authority(environ.get("SERVER_PROTOCOL", ""), self._http2_server):
            raise authority.http2_refused(profile, environ.get("SERVER_PROTOCOL", ""), server)
        authority.check_names(shown_names(environ), profile)
        authority.check_framing(fields, profile)
        method = environ["REQUEST_METHOD"]
        authority.check_method(method)
        hosts = fields.values("host")
        origin, _ = authority.matched_origin(self._origins, hosts, several=False)
        target = request_target(environ, profile, reconstruct=self._reconstruct, server=server)
        unknown = query_unknown(environ, target)
        return origin, Request(method, target.url(origin), fields, has_body=framing.has_body, query_unknown=unknown)


def _answer(environ: Environ, start_response: StartResponse, refusal: ErrorResponse) -> Iterable[bytes]:
    start_response(f"{refusal.status} {_REASONS[refusal.status]}", refusal.fields)
    # After a HEAD, some servers send content all the same, and the client reads it as its next response.
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [refusal.body]
