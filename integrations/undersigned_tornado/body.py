"""The content of a request between Tornado, which pushes it, and the verification, which asks for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undersigned.asgi import Message


class Body:
    """The content of one request. Tornado reads more of it only after the last chunk has been asked for."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._stopped = False

    async def feed(self, chunk: bytes) -> None:
        """Take a chunk, and wait until it has been received or nobody wants it."""
        if not self._stopped:
            self._messages.put_nowait({"type": "http.request", "body": chunk, "more_body": True})
            await self._messages.join()

    def end(self) -> None:
        """End the content."""
        self._messages.put_nowait({"type": "http.request", "body": b"", "more_body": False})

    def disconnect(self) -> None:
        """End the request, because the client has gone."""
        self._messages.put_nowait({"type": "http.disconnect"})

    async def receive(self) -> Message:
        """Return the next message, as ASGI has it."""
        message = await self._messages.get()
        self._messages.task_done()
        return message

    def stop(self) -> None:
        """Discard what is left, and what still comes."""
        self._stopped = True
        while not self._messages.empty():
            self._messages.get_nowait()
            self._messages.task_done()
