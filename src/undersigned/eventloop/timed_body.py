"""A body that must come within a time: an upload that takes longer is answered with 408."""

from __future__ import annotations

from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from undersigned.middleware.body import Body
from undersigned.middleware.error_response import UnreadRequest

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest

Answer = TypeVar("Answer")


class TimedBody(Body):
    """A body that is read within a time."""

    async def read(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading."""
        return await self._in_time(super().read(digest))

    async def read_unverified(self) -> None:
        """Read the content if it begins as JSON, else only the beginning of it."""
        await self._in_time(super().read_unverified())

    async def _in_time(self, reading: Coroutine[Any, Any, Answer]) -> Answer:
        """Return what is read within `body_timeout`. What has come already needs no timer, and no asyncio."""
        try:
            waits_for = reading.send(None)
        except StopIteration as done:
            return cast("Answer", done.value)
        import asyncio  # noqa: PLC0415 - a body that has come already needs none of it

        try:
            async with asyncio.timeout(self._service.body_timeout):
                answer: Answer = await _resumed(reading, waits_for)
        except TimeoutError:
            raise self.too_slow() from None
        return answer

    def too_slow(self) -> UnreadRequest:
        """Return the error for a body that did not come in time."""
        return UnreadRequest("request_timeout", "reading the body took longer than body_timeout")


@coroutine
def _resumed(reading: Coroutine[Any, Any, Answer], waits_for: object) -> Generator[Any, Any, Answer]:
    """Wait for what a coroutine that has begun waits for, and let it go on."""
    try:
        while True:
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - it is raised where the coroutine waits
                waits_for = reading.throw(error)
            else:
                waits_for = reading.send(None)
    except StopIteration as done:
        return cast("Answer", done.value)
