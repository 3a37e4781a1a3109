from __future__ import annotations

import asyncio

import pytest

from undersigned.asgi.body import Disconnected, read_content
from undersigned.message.header_fields import HeaderFields

FIELDS = HeaderFields([])


def receiving(*messages, before=None):
    """A receive that answers with `messages` one after the other, each after awaiting `before()`."""
    coming = iter(messages)

    async def receive():
        if before is not None:
            await before()
        return next(coming)

    return receive


def part(body: bytes, *, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


async def twice() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def test_content_that_is_available_is_read_without_an_event_loop():
    reading = read_content(FIELDS, receiving(part(b"a", more=True), part(b"b")), None, cap=9, seconds=9)
    with pytest.raises(StopIteration) as done:
        reading.send(None)
    assert done.value.value.chunks == [b"a", b"b"]


def test_content_that_arrives_later_is_awaited():
    receive = receiving(part(b"a", more=True), part(b"", more=True), part(b"b"), before=twice)
    content = asyncio.run(read_content(FIELDS, receive, None, cap=9, seconds=9))
    assert content.chunks == [b"a", b"b"]


@pytest.mark.parametrize("before", [None, twice])
def test_client_that_disconnects_is_not_answered(before):
    receive = receiving(part(b"a", more=True), {"type": "http.disconnect"}, before=before)
    with pytest.raises(Disconnected):
        asyncio.run(read_content(FIELDS, receive, None, cap=9, seconds=9))


@pytest.mark.parametrize("given_up", [False, True])
def test_cancellation_while_waiting_for_content_is_raised(given_up):
    heard = []

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            if given_up:
                return
            raise

    async def cancelled():
        task = asyncio.create_task(read_content(FIELDS, receiving(part(b"a"), before=long), None, cap=9, seconds=9))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    if given_up:
        assert asyncio.run(cancelled()).chunks == [b"a"]
    else:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
    assert heard == ["cancelled"]
