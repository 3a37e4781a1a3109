"""Request bodies over WSGI: read once, within a size, and put back for the application."""

from __future__ import annotations

from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Any

from undersigned.message.content import Content
from undersigned.middleware.answer import CONTENT_TOO_LARGE, UNSIGNED_TOO_LARGE, UnreadRequest
from undersigned.policy.webhooks import may_be_json

if TYPE_CHECKING:
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile
    from undersigned.wsgi.environ import BodyFraming

_CHUNK = 64 * 1024
_PEEK = 512


def read_content(
    environ: dict[str, Any], framing: BodyFraming, digest: RunningDigest | None, *, cap: int, profile: Profile
) -> Content:
    """Read the content, and feed it to `digest` while reading.

    Raises:
        UnreadRequest: the content is larger than `cap` bytes.
        SignatureError: this server cannot read the framing, reading failed, or the content is shorter than declared.
    """
    if framing.length is not None and framing.length > cap:
        raise UnreadRequest(CONTENT_TOO_LARGE)
    if not framing.is_readable:
        raise profile.error(
            "signature_header_malformed", step=1, detail="this server cannot read the framing of the body"
        )
    whole = _read(environ, framing.length or 0, profile)
    if digest is not None:
        digest.update(whole)
    if len(whole) == framing.length:
        # Nearly every server returns it at once, so nothing is copied.
        return Content((whole,) if whole else ())
    return _gather(environ, whole, framing.length, digest, cap=cap, profile=profile)


def _gather(
    environ: dict[str, Any],
    begun: bytes,
    length: int | None,
    digest: RunningDigest | None,
    *,
    cap: int,
    profile: Profile,
) -> Content:
    """Read the rest from a server that returns the content in parts."""
    # One buffer, not a list of chunks: joining a list would keep the content in memory twice.
    read = BytesIO()
    if length:
        # Reserve the whole size at once: a growing buffer is copied many times.
        read.seek(length - 1)
        read.write(b"\0")
        read.seek(0)
    size = read.write(begun)
    while length is None or size < length:
        chunk = _read(environ, _CHUNK if length is None else min(_CHUNK, length - size), profile)
        if not chunk:
            break
        size += read.write(chunk)
        if size > cap:
            raise UnreadRequest(CONTENT_TOO_LARGE)
        if digest is not None:
            digest.update(chunk)
    if length is not None and size < length:
        raise profile.error("signature_digest_mismatch", step=11, detail="the body is shorter than Content-Length")
    return Content((read.getvalue(),) if size else ())


def _read(environ: dict[str, Any], size: int, profile: Profile) -> bytes:
    """Return at most `size` bytes of the stream.

    Raises:
        SignatureError: reading failed, or returned something other than at most `size` bytes.
    """
    try:
        read = environ["wsgi.input"].read(size) if size else b""
        octets = read if isinstance(read, bytes) else bytes(memoryview(read or b""))
    except Exception as failure:
        raise profile.error(
            "signature_digest_mismatch",
            step=11,
            detail="reading the body raised an exception, or returned something other than bytes",
        ) from failure
    if len(octets) > size:
        raise profile.error(
            "signature_digest_mismatch", step=11, detail="the server returned more of the body than was asked for"
        )
    return octets


def read_if_json(
    environ: dict[str, Any], framing: BodyFraming, fields: HeaderFields, *, cap: int, profile: Profile
) -> tuple[Content | None, bytes]:
    """Read the content if it begins as JSON. Return it, or None and what has been read of it.

    Raises:
        UnreadRequest: the JSON is longer than `cap` bytes.
        SignatureError: as `read_content`.
    """
    begun = b""
    left = framing.length
    if framing.is_readable:
        is_json = None
        while is_json is None:
            octets = _read(environ, _PEEK if left is None else min(_PEEK, left), profile)
            begun += octets
            left = None if left is None else left - len(octets)
            is_json = may_be_json(begun, fields, ended=not octets or left == 0)
        if not is_json:
            return None, begun
    if len(begun) > cap:
        raise UnreadRequest(UNSIGNED_TOO_LARGE)
    rest = framing._replace(length=left)
    try:
        content = read_content(environ, rest, None, cap=cap - len(begun), profile=profile)
    except UnreadRequest:
        raise UnreadRequest(UNSIGNED_TOO_LARGE) from None
    return Content((begun + bytes(content),)), begun


class ResumedContent(RawIOBase):
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
        if self._begun:
            octets, self._begun = self._begun[:size], self._begun[size:]
        else:
            octets = (
                self._stream.read(size if self._left is None else min(size, self._left)) if self._left != 0 else b""
            )
            if self._left is not None:
                self._left -= len(octets)
        buffer[: len(octets)] = octets
        return len(octets)


def resume(environ: dict[str, Any], begun: bytes, framing: BodyFraming) -> None:
    """Make the application read `begun`, and then what the server has."""
    left = None if framing.length is None else framing.length - len(begun)
    environ["wsgi.input"] = BufferedReader(ResumedContent(begun, environ["wsgi.input"], left))


def put_back(environ: dict[str, Any], content: Content) -> None:
    """Make the application read `content`, with its length declared."""
    octets = bytes(content)
    environ["wsgi.input"], environ["wsgi.input_terminated"] = BytesIO(octets), True
    environ["CONTENT_LENGTH"] = str(len(octets))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
