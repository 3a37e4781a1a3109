"""Request bodies over ASGI: read once, within a size and a time, and replayed in the same chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.limits import MOST_LENGTH_DIGITS
from undersigned.message.content import Content
from undersigned.middleware.answer import CONTENT_TOO_LARGE, REQUEST_TIMEOUT, UNSIGNED_TOO_LARGE, UnreadRequest
from undersigned.middleware.authority import unsupported_error
from undersigned.policy.webhooks import may_be_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    import asyncio  # noqa: PLC0415 - as in event_loop_check

    chunks: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(seconds):
            while more:
                chunk, more = await read_chunk(receive)
                size += len(chunk)
                if size > cap:
                    raise UnreadRequest(CONTENT_TOO_LARGE)
                if chunk:
                    chunks.append(chunk)
                    if digest is not None:
                        digest.update(chunk)
    except TimeoutError:
        raise UnreadRequest(REQUEST_TIMEOUT) from None
    return Content(chunks)


async def read_if_json(
    fields: HeaderFields, receive: Receive, begun: list[bytes], *, cap: int, seconds: float
) -> tuple[Content | None, bool]:
    """Read the content if it begins as JSON. Return it, or None, and whether more of it may come.

    Args:
        fields: the header fields.
        receive: returns the next event of the server.
        begun: gets the chunks that have been read.
        cap: upper bound on the bytes of JSON.
        seconds: how long reading may take.

    Raises:
        UnreadRequest: the JSON is above `cap` bytes, or reading it takes longer than `seconds`.
        Disconnected: the client disconnected.
    """
    import asyncio  # noqa: PLC0415 - as in event_loop_check

    size, more, is_known = 0, True, False
    try:
        async with asyncio.timeout(seconds):
            while more:
                chunk, more = await read_chunk(receive)
                size += len(chunk)
                if chunk:
                    begun.append(chunk)
                if not is_known:
                    is_json = may_be_json(b"".join(begun), fields, ended=not more)
                    if is_json is False:
                        return None, more
                    is_known = is_json is True
                    if is_known and is_declared_longer(fields, cap):
                        raise UnreadRequest(UNSIGNED_TOO_LARGE)
                if size > cap:
                    raise UnreadRequest(UNSIGNED_TOO_LARGE)
    except TimeoutError:
        raise UnreadRequest(REQUEST_TIMEOUT) from None
    return Content(begun), False


async def read_chunk(receive: Receive) -> tuple[bytes, bool]:
    """Return the next part of the content, and whether more may come.

    Raises:
        Disconnected: the client disconnected.
    """
    message = await receive()
    if message["type"] != "http.request":
        raise Disconnected
    return bytes(message.get("body", b"")), message.get("more_body", False)


def replay(chunks: Sequence[bytes], receive: Receive, *, more: bool = False) -> Receive:
    """Return a `receive` that replays chunks as received, then yields what the server sends next.

    Args:
        chunks: the chunks.
        receive: returns the next event of the server.
        more: whether the content continues after the chunks.
    """
    # A list of messages would take many times the memory of many small chunks, so make one at a time.
    remaining = iter(chunks or (b"",))
    left = len(chunks) or 1

    async def receive_again() -> Message:
        nonlocal left
        if left == 0:
            return await receive()
        left -= 1
        return {"type": "http.request", "body": next(remaining), "more_body": more or left > 0}

    return receive_again


def bodiless(receive: Receive) -> Receive:
    """Return a `receive` for a request verified without content. If content comes anyway, the request ends."""

    async def receive_without_content() -> Message:
        message = await receive()
        if message["type"] == "http.request" and message.get("body"):
            return {"type": "http.disconnect"}
        return message

    return receive_without_content
