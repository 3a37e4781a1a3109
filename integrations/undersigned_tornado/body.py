"""The content of a request between Tornado, which pushes it, and the verification, which asks for it."""

from __future__ import annotations

import asyncio

from undersigned.asgi import Disconnected


class Body:
    """The content of one request. Tornado reads more of it only after the last chunk has been asked for."""

    def __init__(self) -> None:
        self._parts: asyncio.Queue[tuple[bytes, bool] | None] = asyncio.Queue()
        self._stopped = False

    async def feed(self, chunk: bytes) -> None:
        """Take a chunk, and wait until it has been received or nobody wants it."""
        if not self._stopped:
            self._parts.put_nowait((chunk, True))
            await self._parts.join()

    def end(self) -> None:
        """End the content."""
        self._parts.put_nowait((b"", False))

    def disconnect(self) -> None:
        """End the request, because the client has gone."""
        self._parts.put_nowait(None)

    async def receive(self) -> tuple[bytes, bool]:
        """Return the next chunk, and whether more may come.

        Raises:
            Disconnected: the client has gone.
        """
        part = await self._parts.get()
        self._parts.task_done()
        if part is None:
            raise Disconnected
        return part

    def stop(self) -> None:
        """Discard what is left, and what still comes."""
        self._stopped = True
        while not self._parts.empty():
            self._parts.get_nowait()
            self._parts.task_done()
