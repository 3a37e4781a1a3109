"""A request over WSGI."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from undersigned.message.header_fields import HeaderFields
from undersigned.middleware.incoming import Incoming
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
from undersigned.wsgi.servers import check_server, detected_server

if TYPE_CHECKING:
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.guard import Accepted
    from undersigned.url import CanonicalURL, Origin
    from undersigned.wsgi.guard import SyncGuard

SIGNATURE = "undersigned.signature"
"""The environ's key for the verified signature, or None."""
VERIFICATION = "undersigned"
"""The environ's key for the `Verification`: everything that the middleware found out."""


class EnvironIncoming(Incoming):
    """One request over WSGI. Nothing in it has to be awaited.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        environ: the environ.
        start_response: the function of the server, by which it may be recognised.

    Attributes:
        detected: the name of the server, once it has been recognised.
    """

    detected: str | None = None
    _verified: dict[str, Any] | None = None
    _start = b""

    def __init__(
        self, guard: SyncGuard, context: object, environ: dict[str, Any], start_response: object = None
    ) -> None:
        super().__init__(context, environ["REQUEST_METHOD"], http_version(environ), environ.get("REMOTE_ADDR"))
        self.outer = environ.get(VERIFICATION)
        self._environ = environ
        self._start_response = start_response
        self._guard = guard
        framing = self._framing = BodyFraming.of(environ)
        self.has_body = framing.has_body
        if has_too_many_fields(environ):
            self.has_too_many_fields = True
        else:
            self.fields = HeaderFields(field_lines(environ))
            self.names = shown_names(environ)

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised."""
        self.detected = detected_server(self._environ, self._start_response)
        check_server(self.detected, self._environ, self._guard.profile)
        return self.detected

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        environ, server = self._environ, self.server()
        target = request_target(environ, self._guard.profile, reconstruct=self._guard.reconstruct, server=server)
        return target, query_unknown(environ, target)

    def shown_target(self) -> str:
        """Return the request target as the server shows it."""
        return shown_target(self._environ)

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        environ = self._environ
        path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        return path.encode("latin-1", "replace").decode("utf-8", "replace")

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        self._verified = verified_environ(self._environ, target, origin)

    async def read_content(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading."""
        return read_content(self._environ, self._framing, digest, cap=self._guard.max_body, profile=self._guard.profile)

    async def read_unverified(self, most: int) -> Content | None:
        """Read the content if it begins as JSON."""
        profile = self._guard.profile
        content, self._start = read_if_json(self._environ, self._framing, self.fields, cap=most, profile=profile)
        return content

    def forwarded(self, accepted: Accepted) -> dict[str, Any]:
        """Return the environ that the application gets."""
        # Not kept: the environ refers to this request, and a cycle would hold its content until it is collected.
        verified, self._verified = self._verified, None
        new = {**self._environ} if verified is None else verified
        if accepted.content is not None:
            put_back(new, accepted.content)
        elif accepted.is_closed:
            new["wsgi.input"] = BytesIO()
        elif self._start:
            resume(new, self._start, self._framing)
        new[SIGNATURE] = accepted.verification.signature
        new[VERIFICATION] = accepted.verification
        return new
