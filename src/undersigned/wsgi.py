"""The WSGI middleware: verifies a request before the application sees it, and hands on what was verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

from . import wire
from .errors import ConfigurationError, MalformedURL, SignatureError
from .origins import Origins
from .refusal import CONTENT_TOO_LARGE, BodyRefused, Refusal, log_refusal, log_unsigned
from .request import Request
from .screening import is_signed
from .verify import Verifier
from .wsgi_environ import BodyFraming, field_lines, request_target, verified_environ

if TYPE_CHECKING:
    from .digest import RunningDigest
    from .origins import Origin

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
WSGIApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]

_REASONS = {401: "Unauthorized", 413: "Content Too Large", 503: "Service Unavailable"}
_CHUNK = 64 * 1024


class SignatureMiddleware:
    """Verifies HTTP requests; the result is in `environ["undersigned.signature"]`.

    It belongs outermost: whatever rewrites path, Host or headers (a ProxyFix, a dispatcher) stands inside of it or
    not at all.

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

    Raises:
        ConfigurationError: an option is not what it must be.
    """

    def __init__(
        self,
        app: WSGIApp,
        *,
        verifier: Verifier,
        origins: Iterable[str],
        mode: wire.Mode | Callable[[Environ], wire.Mode] = "required",
        max_body: int = wire.DEFAULT_MAX_BODY,
        reconstruct: bool = False,
        http2_server: str | None = None,
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        wire.check_options(mode, max_body, http2_server)
        self.app = app
        self._verifier = verifier
        self._origins = Origins(origins)
        self._mode = mode
        self._max_body = max_body
        self._reconstruct = reconstruct
        self._http2_server = http2_server

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Verify one request, then call the application with what was verified."""
        try:
            verified = self._judged(environ)
        except SignatureError as error:
            log_refusal(error)
            return _answer(start_response, Refusal.of(error))
        except BodyRefused as refused:
            return _answer(start_response, refused.refusal)
        return self.app(verified, start_response)

    def _judged(self, environ: Environ) -> Environ:
        """Return the environ for the application: a copy that holds what was verified."""
        fields = field_lines(environ)
        if not is_signed(Request("GET", "", fields)):
            self._check_unsigned(environ)
            return {**environ, "undersigned.signature": None}
        profile = self._verifier.profile
        framing = BodyFraming.of(environ)
        try:
            origin, request = self._request(environ, fields, framing)
            proven = self._verifier.authenticate(request)
            new = verified_environ(environ, proven.target, origin)
        except MalformedURL as malformed:
            raise wire.target_refused(profile, malformed) from None
        digest = proven.running_digest()
        if digest is not None:
            body = self._read(environ, framing, digest, new)
            signature = self._verifier.complete(proven, (body,), digest=digest)
        else:
            signature = self._verifier.complete(proven, (), digest=None)
            if not request.has_body:
                # Content of a request signed without any would reach the application unsigned.
                new["wsgi.input"] = BytesIO()
        return {**new, "undersigned.signature": signature}

    def _check_unsigned(self, environ: Environ) -> None:
        mode = wire.checked_mode(self._mode(environ) if callable(self._mode) else self._mode)
        if mode == "required":
            raise self._verifier.profile.error("signature_required", step=0, detail="the request is not signed")
        if mode == "observe":
            log_unsigned()

    def _request(self, environ: Environ, fields: list[tuple[str, str]], framing: BodyFraming) -> tuple[Origin, Request]:
        """Return the origin the request is for, and the request as it was on the wire.

        Raises:
            MalformedURL: the target, the authority or the method is refused.
            SignatureError: the server or the stack cannot show what was signed.
        """
        profile = self._verifier.profile
        if "werkzeug.proxy_fix.orig" in environ:
            raise wire.unsupported(profile, "ProxyFix stands outside of this middleware: wrap it, do not be wrapped")
        if not wire.compares_authority(environ.get("SERVER_PROTOCOL", ""), self._http2_server):
            raise wire.unsupported(
                profile,
                "HTTP/2 hides whether :authority and Host agree: serve HTTP/1.1, or serve HTTP/2 by gunicorn and name "
                "it in http2_server=",
            )
        method = environ["REQUEST_METHOD"]
        wire.check_method(method)
        hosts = [value for name, value in fields if name == "host"]
        origin, _ = wire.matched_origin(self._origins, hosts, several=False)
        target = request_target(environ, profile, reconstruct=self._reconstruct)
        return origin, Request(method, target.url(origin), fields, has_body=framing.has_body)

    def _read(self, environ: Environ, framing: BodyFraming, digest: RunningDigest, new: Environ) -> bytes:
        """Read and digest the body up to the cap, and put it back for the application."""
        if framing.length is not None and framing.length > self._max_body:
            raise BodyRefused(CONTENT_TOO_LARGE)
        profile = self._verifier.profile
        if not framing.is_readable:
            raise profile.error(
                "signature_header_malformed", step=1, detail="the body's framing cannot be read on this server"
            )
        content = BytesIO()
        left = framing.length
        while left is None or left > 0:
            wanted = _CHUNK if left is None else min(_CHUNK, left)
            try:
                chunk: bytes = environ["wsgi.input"].read(wanted)
            except Exception as failure:
                raise profile.error(
                    "signature_digest_mismatch", step=11, detail="the server raised while the body was read"
                ) from failure
            if not chunk:
                break
            content.write(chunk)
            digest.update(chunk)
            if content.tell() > self._max_body:
                raise BodyRefused(CONTENT_TOO_LARGE)
            left = None if left is None else left - len(chunk)
        if left:
            raise profile.error("signature_digest_mismatch", step=11, detail="the body is shorter than Content-Length")
        content.seek(0)
        new.update(
            {"wsgi.input": content, "wsgi.input_terminated": True, "CONTENT_LENGTH": str(len(content.getbuffer()))}
        )
        new.pop("HTTP_TRANSFER_ENCODING", None)
        return content.getvalue()


def _answer(start_response: StartResponse, refusal: Refusal) -> Iterable[bytes]:
    start_response(f"{refusal.status} {_REASONS[refusal.status]}", refusal.fields)
    return [refusal.body]
