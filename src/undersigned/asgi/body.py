"""Request bodies over ASGI: read once, within a size and a time, and replayed in the same chunks."""

from __future__ import annotations

from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any

from undersigned.limits import MOST_LENGTH_DIGITS
from undersigned.message.content import Content
from undersigned.middleware.answer import CONTENT_TOO_LARGE, REQUEST_TIMEOUT, UnreadRequest
from undersigned.middleware.authority import unsupported_error

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    from undersigned.asgi.interface import Message, Receive
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile


class Disconnected(Exception):
    """Raised when the client disconnects before its body is complete. There is nobody to answer."""


def is_declared_longer(fields: HeaderFields, cap: int) -> bool:
    """Return whether the Content-Length is above `cap` bytes."""
    declared = fields.combined.get("content-length") or "0"
    return declared.isdecimal() and (len(declared) > MOST_LENGTH_DIGITS or int(declared) > cap)


def event_loop_check(profile: Profile) -> Callable[[], None]:
    """Return a function that checks that asyncio runs the event loop. Threads and the body's timeout depend on it.

    The function raises VerificationUnavailable if another library runs the event loop.
    """
    # asyncio takes longer to import than this whole package, and WSGI never needs it.
    from asyncio import get_running_loop  # noqa: PLC0415

    def check() -> None:
        try:
            get_running_loop()
        except RuntimeError:
            raise unsupported_error(
                profile, "the server runs no asyncio event loop: run it on asyncio, not on trio"
            ) from None

    return check


async def no_content() -> Content:
    """Return the content of a request that has none."""
    return Content()


async def read_content(
    fields: HeaderFields, receive: Receive, digest: RunningDigest | None, *, cap: int, seconds: float
) -> Content:
    """Read the content, and feed it to `digest` while reading.

    Raises:
        UnreadRequest: the content, or its Content-Length, is above `cap` bytes, or reading takes longer than `seconds`.
        Disconnected: the client disconnected.
    """
    if is_declared_longer(fields, cap):
        raise UnreadRequest(CONTENT_TOO_LARGE)
    reading = _read(receive, digest, cap)
    try:
        waits_for = reading.send(None)
    except StopIteration as done:
        # Nearly every small request is there completely, so there is nothing to wait for. A timeout would add a tenth
        # of a signature check to it.
        content: Content = done.value
        return content
    import asyncio  # noqa: PLC0415 - as in event_loop_check

    try:
        async with asyncio.timeout(seconds):
            return await _resume(reading, waits_for)
    except TimeoutError:
        raise UnreadRequest(REQUEST_TIMEOUT) from None


async def read_unverified(
    fields: HeaderFields, receive: Receive, most: int, *, cap: int, seconds: float
) -> Content | None:
    """Read the content of a request whose sender is not known. Return None if only a signed one may be as long.

    Args:
        fields: the header fields.
        receive: returns the next event of the server.
        most: upper bound on the bytes of content without a valid signature.
        cap: upper bound on the bytes of any content.
        seconds: how long reading may take.

    Raises:
        UnreadRequest: the content, or its Content-Length, is above `cap` bytes, or reading takes longer than `seconds`.
        Disconnected: the client disconnected.
    """
    try:
        return await read_content(fields, receive, None, cap=most, seconds=seconds)
    except UnreadRequest as unread:
        if unread.response is not CONTENT_TOO_LARGE or most == cap or is_declared_longer(fields, cap):
            raise
        return None


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
def _resume(reading: Coroutine[Any, Any, Content], waits_for: object) -> Generator[Any, Any, Content]:
    """Continue a coroutine that has taken its first step and `waits_for` something (PEP 492, PEP 380)."""
    while True:
        try:
            sent = yield waits_for
        except BaseException as thrown:  # noqa: BLE001 - the coroutine gets everything, including cancellation
            step = partial(reading.throw, thrown)
        else:
            step = partial(reading.send, sent)
        try:
            waits_for = step()
        except StopIteration as done:
            content: Content = done.value
            return content


def replay(content: Content, receive: Receive) -> Receive:
    """Return a `receive` that replays the chunks as received, then yields what the server sends next."""
    # A list of messages would take many times the memory of many small chunks, so make one at a time.
    chunks = iter(content.chunks or (b"",))
    left = len(content.chunks) or 1

    async def receive_again() -> Message:
        nonlocal left
        if left == 0:
            return await receive()
        left -= 1
        return {"type": "http.request", "body": next(chunks), "more_body": left > 0}

    return receive_again


def bodiless(receive: Receive) -> Receive:
    """Return a `receive` for a request verified without content. If content comes anyway, the request ends."""

    async def receive_without_content() -> Message:
        message = await receive()
        if message["type"] == "http.request" and message.get("body"):
            return {"type": "http.disconnect"}
        return message

    return receive_without_content
