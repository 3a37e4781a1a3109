"""Request bodies over ASGI, as the application gets them: replayed in the same chunks, or cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.asgi.interface import Message, Receive


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
