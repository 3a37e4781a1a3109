"""A request over WSGI: what the environ shows of it, its content, and the environ that the application gets."""

from __future__ import annotations

from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from undersigned.message.header_fields import HeaderFields
from undersigned.middleware.incoming import Incoming
from undersigned.middleware.requirement import VERIFICATION, Verification
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
    from undersigned.message.request_target import RequestTarget
    from undersigned.url import CanonicalURL, Origin
    from undersigned.wsgi.middleware import SyncGuard

SIGNATURE = "undersigned.signature"
"""The environ's key for the verified signature, or None."""

_CHUNK = 64 * 1024
_PEEK = 512
"""How many octets of content that no valid signature covers are read at first: it may not be JSON."""


class EnvironIncoming(Incoming):
    """One request over WSGI. Nothing in it has to be awaited.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        environ: the environ.
        start_response: the function of the server, by which it may be recognised.
    """

    _verified: dict[str, Any] | None = None
    _size = 0
    """How many octets of the content have been read."""

    def __init__(
        self, guard: SyncGuard, context: object, environ: dict[str, Any], start_response: object = None
    ) -> None:
        super().__init__(guard, context, environ["REQUEST_METHOD"], http_version(environ), environ.get("REMOTE_ADDR"))
        outer = environ.get(VERIFICATION)
        self.outer = outer if isinstance(outer, Verification) else None
        self._environ = environ
        self._start_response = start_response
        self._reconstruct, self._notice = guard.reconstruct, guard.notice
        framing = self._framing = BodyFraming.of(environ)
        self.has_body = framing.has_body
        if has_too_many_fields(environ):
            self.has_too_many_fields = True
        else:
            self.fields = HeaderFields(field_lines(environ))
            self.names = shown_names(environ)

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised."""
        server = detected_server(self._environ, self._start_response)
        self._notice(server, self._environ)
        check_server(server, self._environ, self.guard.profile)
        return server

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        environ, server = self._environ, self.server()
        target = request_target(environ, self.guard.profile, reconstruct=self._reconstruct, server=server)
        return target, query_unknown(environ, target)

    def shown_target(self) -> str:
        """Return the request target as the server shows it, or the path and query if it shows none."""
        shown, query = shown_target(self._environ), self._environ.get("QUERY_STRING")
        return shown or quote(self.routed_path()) + (f"?{query}" if query else "")

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        environ = self._environ
        path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        return path.encode("latin-1", "replace").decode("utf-8", "replace")

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        self._verified = verified_environ(self._environ, target, origin)

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        length, profile = self._framing.length, self.guard.profile
        if not self._framing.is_readable:
            raise profile.error(
                "signature_header_malformed", step=1, detail="this server cannot read the framing of the body"
            )
        # Nearly every server returns it at once, if it knows the length.
        wanted = _CHUNK if length is None else length - self._size
        if self.is_begun:
            wanted = min(wanted, _PEEK if self.more is None else _CHUNK)
        try:
            # What is not made of octets cannot be joined.
            chunk = b"".join((self._environ["wsgi.input"].read(wanted) or b"",))
        except Exception as failure:
            raise profile.error(
                "signature_digest_mismatch",
                step=11,
                detail="reading the body raised an exception, or returned something other than bytes",
            ) from failure
        self._size += len(chunk)
        if length is not None and self._size < length and not chunk:
            raise profile.error("signature_digest_mismatch", step=11, detail="the body is shorter than Content-Length")
        return chunk, bool(chunk) if length is None else self._size < length

    def forwarded(self, verification: Verification) -> dict[str, Any]:
        """Return the environ that the application gets, with what is published."""
        # Not kept: the environ refers to this request, and a cycle would hold its content until it is collected.
        verified, self._verified = self._verified, None
        new = {**self._environ} if verified is None else verified
        if self.content is not None:
            octets = bytes(self.content)
            new["wsgi.input"], new["wsgi.input_terminated"] = BytesIO(octets), True
            new["CONTENT_LENGTH"] = str(len(octets))
            new.pop("HTTP_TRANSFER_ENCODING", None)
        elif self.is_closed:
            new["wsgi.input"] = BytesIO()
        elif self.chunks:
            left = None if self._framing.length is None else self._framing.length - self._size
            new["wsgi.input"] = BufferedReader(_ResumedContent(b"".join(self.chunks), new["wsgi.input"], left))
        new[SIGNATURE] = verification.signature
        new[VERIFICATION] = verification
        return new


class _ResumedContent(RawIOBase):
    """A stream that begins with octets that have been read, and continues with the stream of the server.

    Args:
        begun: the octets.
        stream: the stream of the server.
        left: the number of octets that it still has, or None if only its end shows it.
    """

    def __init__(self, begun: bytes, stream: Any, left: int | None) -> None:
        super().__init__()
        self._begun = begun
        self._stream = stream
        self._left = left

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer`, and return how many octets were read."""
        size = len(buffer)
        octets, self._begun = self._begun[:size], self._begun[size:]
        if not octets and self._left != 0:
            octets = self._stream.read(size if self._left is None else min(size, self._left))
            self._left = None if self._left is None else self._left - len(octets)
        buffer[: len(octets)] = octets
        return len(octets)
