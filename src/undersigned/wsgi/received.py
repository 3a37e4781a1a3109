"""A request over WSGI: what its environ shows, its body, and the environ that the application gets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from undersigned.errors import MalformedURL
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request_target import RequestTarget
from undersigned.middleware.admission import ADMISSION
from undersigned.middleware.body import Body
from undersigned.middleware.error_response import incomplete
from undersigned.middleware.published import PUBLISHED
from undersigned.middleware.received import NO_FIELDS, Received
from undersigned.wsgi.environ import (
    Environ,
    body_framing,
    field_lines,
    has_too_many_fields,
    raw_target,
    routed_paths,
    shown_target,
    verified_environ,
)
from undersigned.wsgi.servers import check_server, detected_server, missing_target_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from undersigned.middleware.admission import Admission
    from undersigned.middleware.options import Service
    from undersigned.url import CanonicalURL, Origin

_CHUNK = 64 * 1024
_PEEK = 512
"""How many octets of content that no valid signature covers are read at first: it may not be JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnvironReceived(Received):
    """What a server received and shows as an environ.

    Attributes:
        environ: the environ.
        length: the number of bytes of the body, or None if only the end of the stream shows it.
        is_readable: whether the stream can be read as the content and nothing else.
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target.
    """

    environ: Environ
    length: int | None
    is_readable: bool
    reconstruct: bool

    @classmethod
    def of(
        cls,
        environ: Environ,
        start_response: object = None,
        *,
        context: Callable[[], object] | None = None,
        reconstruct: bool = False,
    ) -> EnvironReceived:
        """Return what an environ shows. The server may be recognised by its `start_response`.

        By default, the `context` of the request is the environ.
        """
        begun = time.perf_counter()
        has_body, length, is_readable = body_framing(environ)
        version = str(environ.get("SERVER_PROTOCOL", "")).removeprefix("HTTP/")
        return cls(
            context=context or (lambda: environ),
            begun=begun,
            method=environ["REQUEST_METHOD"],
            version=version.removesuffix(".0") if version in {"2.0", "3.0"} else version,
            client=environ.get("REMOTE_ADDR"),
            fields=NO_FIELDS if has_too_many_fields(environ) else HeaderFields(field_lines(environ)),
            has_body=has_body,
            server=detected_server(environ, start_response),
            outer=environ.get(ADMISSION),
            environ=environ,
            length=length,
            is_readable=is_readable,
            reconstruct=reconstruct,
        )

    @property
    def names(self) -> Collection[str]:
        """The field names as an ASGI server under WSGI shows them."""
        if "asgi.scope" not in self.environ:
            return ()
        return [name.decode("latin-1") for name, _ in self.environ["asgi.scope"].get("headers", ())]

    def check_server(self) -> None:
        """Check that neither the server nor what is in front of the middleware hides what was signed."""
        check_server(self.server, self.environ)

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        environ = self.environ
        target = raw_target(environ)
        if target is None:
            if not self.reconstruct:
                raise missing_target_error(self.server)
            query = environ.get("QUERY_STRING", "")
            target = RequestTarget.reconstruct(environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", ""), query)
        if not target.is_path(*routed_paths(environ)):
            raise MalformedURL(
                "the raw target and PATH_INFO are different: something rewrites one", rule="request target"
            )
        # An environ without a raw target shows no lone `?`.
        return target, target.query is None and not (environ.get("REQUEST_URI") or environ.get("RAW_URI"))

    def shown_target(self) -> str:
        """Return the request target as the server shows it, or the path and query if it shows none."""
        shown, query = shown_target(self.environ), self.environ.get("QUERY_STRING")
        return shown or quote(self.routed_path()) + (f"?{query}" if query else "")

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        path: str = self.environ.get("SCRIPT_NAME", "") + self.environ.get("PATH_INFO", "")
        return path.encode("latin-1", "replace").decode("utf-8", "replace")


class EnvironBody(Body):
    """The body of an `EnvironReceived`. Nothing in it has to be awaited."""

    _environ: Environ | None = None

    def __init__(self, service: Service, received: EnvironReceived) -> None:
        super().__init__(service, received)
        self._received = received
        self._size = 0

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        length = self._received.length
        if not self._received.is_readable:
            raise self._service.profile.error(
                "signature_header_malformed", step=1, detail="this server cannot read the framing of the body"
            )
        # Nearly every server returns it at once, if it knows the length.
        wanted = _CHUNK if length is None else length - self._size
        if self.is_unverified:
            wanted = min(wanted, _PEEK if self.more is None else _CHUNK)
        try:
            # What is not made of octets cannot be joined.
            chunk = b"".join((self._received.environ["wsgi.input"].read(wanted) or b"",))
        except Exception as failure:
            raise incomplete(
                "reading the body raised an exception, or returned something other than bytes"
            ) from failure
        self._size += len(chunk)
        if length is not None and self._size < length and not chunk:
            raise incomplete("the body is shorter than Content-Length, or something has read it before")
        return chunk, bool(chunk) if length is None else self._size < length

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Make the environ of the target that was verified."""
        self._environ = verified_environ(self._received.environ, target, origin)

    def forwarded(self, admission: Admission) -> Environ:
        """Return the environ that the application gets, with the content and what is published."""
        environ = self._environ or {**self._received.environ}
        for name, value in admission.as_signed(lambda: field_lines(environ)) or ():
            key = name.upper().replace("-", "_")
            environ[key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"] = value
        if self.content is not None:
            octets = bytes(self.content)
            environ["wsgi.input"], environ["wsgi.input_terminated"] = BytesIO(octets), True
            environ["CONTENT_LENGTH"] = str(len(octets))
            environ.pop("HTTP_TRANSFER_ENCODING", None)
        elif self.must_stay_empty:
            environ["wsgi.input"] = BytesIO()
        elif self.chunks:
            length = self._received.length
            left = None if length is None else length - self._size
            environ["wsgi.input"] = BufferedReader(_ResumedContent(b"".join(self.chunks), environ["wsgi.input"], left))
        PUBLISHED.publish(environ, admission)
        return environ


class _ResumedContent(RawIOBase):
    """A stream that begins with octets that have been read, and continues with the stream of the server.

    That still has as many octets as are `left`; None: only its end shows it.
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
