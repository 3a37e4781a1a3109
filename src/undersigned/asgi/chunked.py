"""A request in a server with an event loop, whose content comes in chunks: ASGI's, or another one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from undersigned.limits import MOST_FIELDS, MOST_LENGTH_DIGITS
from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields
from undersigned.middleware.answer import CONTENT_TOO_LARGE, REQUEST_TIMEOUT, UNSIGNED_TOO_LARGE, UnreadRequest
from undersigned.middleware.authority import HTTP1_VERSIONS, unsupported_error
from undersigned.middleware.incoming import Incoming
from undersigned.policy.webhooks import may_be_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.asgi.guard import AsyncGuard
    from undersigned.message.content_digest import RunningDigest
    from undersigned.signature.profile import Profile

_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH"})
"""The methods for which content may come over HTTP/2 without Content-Length."""


class Disconnected(Exception):
    """Raised when the client disconnects before its body is complete. There is nobody to answer."""


class AsyncIncoming(Incoming):
    """A request whose content is read chunk by chunk, within a size and a time.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        method: as in `Incoming`.
        version: as in `Incoming`.
        client: as in `Incoming`.

    Attributes:
        chunks: what has been read of content that does not begin as JSON; the application gets it again.
        more: whether more of it may come; None if nothing has been read of such content.
    """

    more: bool | None = None

    def __init__(self, guard: AsyncGuard, context: object, method: str, version: str, client: str | None) -> None:
        super().__init__(context, method, version, client)
        self.guard = guard
        self.chunks: list[bytes] = []

    def set_fields(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Take the header fields as octets, with names in lower case, and what they say about content."""
        if len(headers) > MOST_FIELDS:
            self.has_too_many_fields = True
            return
        fields = self.fields = HeaderFields.of_octets(headers)
        combined = fields.combined
        self.names = combined if "_" in "".join(combined) else ()
        has_body: bool | None = "transfer-encoding" in combined
        if "content-length" in combined:
            has_body = has_body or combined["content-length"] != "0"
        elif self.version not in HTTP1_VERSIONS and self.method in _WITH_CONTENT:
            # HTTP/2 needs no Content-Length. For other methods nothing is read: uvicorn waits forever if no content
            # comes.
            has_body = None
        self.has_body = has_body

    @abstractmethod
    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come.

        Raises:
            Disconnected: the client disconnected.
        """

    async def read_content(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading.

        Raises:
            UnreadRequest: the content, or its Content-Length, is too large, or reading takes too long.
            Disconnected: the client disconnected.
        """
        check_event_loop(self.guard.profile)
        guard = self.guard
        if _is_declared_longer(self.fields, guard.max_body):
            raise UnreadRequest(CONTENT_TOO_LARGE)
        # asyncio takes longer to import than this whole package, and WSGI never needs it.
        import asyncio  # noqa: PLC0415

        chunks: list[bytes] = []
        size, more = 0, True
        try:
            async with asyncio.timeout(guard.body_timeout):
                while more:
                    chunk, more = await self.read_chunk()
                    size += len(chunk)
                    if size > guard.max_body:
                        raise UnreadRequest(CONTENT_TOO_LARGE)
                    if chunk:
                        chunks.append(chunk)
                        if digest is not None:
                            digest.update(chunk)
        except TimeoutError:
            raise UnreadRequest(REQUEST_TIMEOUT) from None
        return Content(chunks)

    async def read_unverified(self, most: int) -> Content | None:
        """Read the content if it begins as JSON, else only the beginning of it.

        Raises:
            UnreadRequest: the JSON is above `most` bytes, or reading it takes too long.
            Disconnected: the client disconnected.
        """
        check_event_loop(self.guard.profile)
        import asyncio  # noqa: PLC0415 - as in read_content

        fields, chunks = self.fields, self.chunks
        size, more, is_known = 0, True, False
        try:
            async with asyncio.timeout(self.guard.body_timeout):
                while more:
                    chunk, more = await self.read_chunk()
                    self.more = more
                    size += len(chunk)
                    if chunk:
                        chunks.append(chunk)
                    if not is_known:
                        is_json = may_be_json(b"".join(chunks), fields, ended=not more)
                        if is_json is False:
                            return None
                        is_known = is_json is True
                        if is_known and _is_declared_longer(fields, most):
                            raise UnreadRequest(UNSIGNED_TOO_LARGE)
                    if size > most:
                        raise UnreadRequest(UNSIGNED_TOO_LARGE)
        except TimeoutError:
            raise UnreadRequest(REQUEST_TIMEOUT) from None
        return Content(chunks)


def check_event_loop(profile: Profile) -> None:
    """Check that asyncio runs the event loop. Threads and the body's timeout depend on it.

    Raises:
        VerificationUnavailable: another library runs the event loop.
    """
    from asyncio import get_running_loop  # noqa: PLC0415 - as in read_content

    try:
        get_running_loop()
    except RuntimeError:
        detail = "the server runs no asyncio event loop: run it on asyncio, not on trio"
        raise unsupported_error(profile, detail) from None


def _is_declared_longer(fields: HeaderFields, cap: int) -> bool:
    """Return whether the Content-Length is above `cap` bytes."""
    declared = fields.combined.get("content-length") or "0"
    return declared.isdecimal() and (len(declared) > MOST_LENGTH_DIGITS or int(declared) > cap)
