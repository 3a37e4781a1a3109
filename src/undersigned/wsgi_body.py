"""Request bodies over WSGI: read once, up to a cap, and put back for the application."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from .content import Content
from .refusal import CONTENT_TOO_LARGE, BodyRefused

if TYPE_CHECKING:
    from .digest import RunningDigest
    from .profile import Profile
    from .wsgi_environ import BodyFraming

_CHUNK = 64 * 1024


def read_content(
    environ: dict[str, Any], framing: BodyFraming, digest: RunningDigest | None, *, cap: int, profile: Profile
) -> Content:
    """Read the content, feeding `digest` while it comes.

    Raises:
        BodyRefused: it is larger than `cap` bytes.
        SignatureError: its framing cannot be read on this server, the server raised, or it is shorter than declared.
    """
    if framing.length is not None and framing.length > cap:
        raise BodyRefused(CONTENT_TOO_LARGE)
    if not framing.is_readable:
        raise profile.error(
            "signature_header_malformed", step=1, detail="the body's framing cannot be read on this server"
        )
    # One buffer and not a list of chunks: the application reads it, so joining them would hold the content twice.
    read = BytesIO()
    size, left = 0, framing.length
    if left:
        # Room for all of it at once: a buffer that grows is copied many times over.
        read.seek(left - 1)
        read.write(b"\0")
        read.seek(0)
    while left is None or left > 0:
        try:
            chunk: bytes = environ["wsgi.input"].read(_CHUNK if left is None else min(_CHUNK, left))
        except Exception as failure:
            raise profile.error(
                "signature_digest_mismatch", step=11, detail="the server raised while the body was read"
            ) from failure
        if not chunk:
            break
        size += read.write(chunk)
        if size > cap:
            raise BodyRefused(CONTENT_TOO_LARGE)
        if digest is not None:
            digest.update(chunk)
        left = None if left is None else left - len(chunk)
    if left:
        raise profile.error("signature_digest_mismatch", step=11, detail="the body is shorter than Content-Length")
    return Content((read.getvalue(),) if size else ())


def put_back(environ: dict[str, Any], content: Content) -> None:
    """Make the content what the application reads, its length known and its framing plain."""
    stream = BytesIO(bytes(content))
    environ.update({"wsgi.input": stream, "wsgi.input_terminated": True, "CONTENT_LENGTH": str(len(content))})
    environ.pop("HTTP_TRANSFER_ENCODING", None)
