"""Request bodies over ASGI: read once, up to a cap and in time, and replayed as the chunks they came in."""

from __future__ import annotations

from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any

from undersigned.message.content import Content
from undersigned.middleware.answer import CONTENT_TOO_LARGE, REQUEST_TIMEOUT, UnreadRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
    from typing import TypeAlias

    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.header_fields import HeaderFields

    Message: TypeAlias = MutableMapping[str, Any]
    Receive: TypeAlias = Callable[[], Awaitable[Message]]

_DIGITS = 18


class Disconnected(Exception):
    """The client went away before its body was whole; there is nobody to answer."""


async def read_content(
    fields: HeaderFields, receive: Receive, digest: RunningDigest | None, *, cap: int, seconds: float
) -> Content:
    """Read the content, feeding `digest` while it comes.

    Raises:
        UnreadRequest: it is larger than `cap` bytes, by its Content-Length or in fact, or takes longer than `seconds`.
        Disconnected: the client went away.
    """
    declared = fields.combined("content-length") or "0"
    if declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > cap):
        raise UnreadRequest(CONTENT_TOO_LARGE)
    reading = _read(receive, digest, cap)
    try:
        waits_for = reading.send(None)
    except StopIteration as done:
        # All of it was there, as with nearly every small request: there was nothing to wait for. A timeout would
        # cost such a request a tenth of its signature check.
        content: Content = done.value
        return content
    import asyncio  # noqa: PLC0415 - its import costs more than all of this package, and WSGI never needs it

    try:
        async with asyncio.timeout(seconds):
            return await _resumed(reading, waits_for)
    except TimeoutError:
        raise UnreadRequest(REQUEST_TIMEOUT) from None


async def _read(receive: Receive, digest: RunningDigest | None, cap: int) -> Content:
    chunks: list[bytes] = []
    feed = None if digest is None else digest.update
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        chunk = bytes(message.get("body", b""))
        if chunk:
            size += len(chunk)
            if size > cap:
                raise UnreadRequest(CONTENT_TOO_LARGE)
            chunks.append(chunk)
            if feed is not None:
                feed(chunk)
        more = message.get("more_body", False)
    return Content(chunks)


@coroutine
def _resumed(reading: Coroutine[Any, Any, Content], waits_for: object) -> Generator[Any, Any, Content]:
    """Go on with a coroutine that has taken its first step and `waits_for` something (PEP 492, PEP 380)."""
    while True:
        try:
            sent = yield waits_for
        except BaseException as thrown:  # noqa: BLE001 - cancellation among them: it is for the one that waits
            step = partial(reading.throw, thrown)
        else:
            step = partial(reading.send, sent)
        try:
            waits_for = step()
        except StopIteration as done:
            content: Content = done.value
            return content


def replayed(content: Content, receive: Receive) -> Receive:
    """Return a receive that yields the chunks as they came, then whatever the server says next."""
    last = len(content.chunks) - 1
    # One at a time: a message for each of many small chunks would be many times as large as they are.
    messages = iter(
        {"type": "http.request", "body": chunk, "more_body": at < last}
        for at, chunk in enumerate(content.chunks or (b"",))
    )

    async def replay() -> Message:
        message = next(messages, None)
        return await receive() if message is None else message

    return replay


def bodiless(receive: Receive) -> Receive:
    """Return a receive for a request judged to have no content: content that comes all the same ends the request."""

    async def guarded() -> Message:
        message = await receive()
        if message["type"] == "http.request" and message.get("body"):
            return {"type": "http.disconnect"}
        return message

    return guarded
