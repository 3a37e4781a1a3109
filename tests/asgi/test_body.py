from __future__ import annotations

import asyncio

import pytest
from tests.asgi.test_middleware import http_scope
from tests.keys import ORIGIN

from undersigned import SignatureError
from undersigned.asgi import ScopeBody, ScopeReceived
from undersigned.eventloop import AsyncGuard
from undersigned.verification.blocking_calls import finish


def receiving(*messages, before=None):
    """A receive that answers with `messages` one after the other, each after awaiting `before()`."""
    coming = iter(messages)

    async def receive():
        if before is not None:
            await before()
        return next(coming)

    return receive


def reading(party, receive, *, cap=9, fields=(), **options):
    """Return a coroutine that reads the content of one request."""
    guard = AsyncGuard(verifier=party.verifier(), origins=[ORIGIN], max_body=cap, **options)
    scope = {**http_scope(party), "headers": list(fields)}
    return ScopeBody(guard.service, ScopeReceived.of(scope, receive), receive).read(None)


def part(body: bytes, *, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


async def twice() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def test_content_that_arrives_later_is_awaited(party):
    receive = receiving(part(b"a", more=True), part(b"", more=True), part(b"b"), before=twice)
    content = asyncio.run(reading(party, receive))
    assert content.chunks == [b"a", b"b"]


@pytest.mark.parametrize("before", [None, twice])
def test_content_that_breaks_off_is_incomplete(party, before):
    receive = receiving(part(b"a", more=True), {"type": "http.disconnect"}, before=before)
    with pytest.raises(SignatureError, match="content_incomplete"):
        asyncio.run(reading(party, receive))


def test_content_that_is_there_needs_no_timer_and_no_event_loop(party):
    assert bytes(finish(reading(party, receiving(part(b"a", more=True), part(b"b"))))) == b"ab"


@pytest.mark.parametrize("given_up", [False, True])
def test_cancellation_while_waiting_for_content_is_raised(party, given_up):
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
        task = asyncio.create_task(reading(party, receiving(part(b"a"), before=long)))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    if given_up:
        assert asyncio.run(cancelled()).chunks == [b"a"]
    else:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancelled())
    assert heard == ["cancelled"]


def read(party, *parts: bytes, cap: int, length: str | None = None) -> bytes:
    """Content that comes in `parts` at once, read up to `cap` bytes."""
    fields = [] if length is None else [(b"content-length", length.encode())]
    last = len(parts) - 1
    receive = receiving(*(part(body, more=at < last) for at, body in enumerate(parts)))
    return bytes(asyncio.run(reading(party, receive, cap=cap, fields=fields)))


@pytest.mark.parametrize("parts", [(b"abcd",), (b"ab", b"cd"), (b"a", b"b", b"c", b"d")])
def test_content_of_exactly_the_cap_is_read_and_one_byte_more_is_not(party, parts):
    assert read(party, *parts, cap=4) == b"abcd"
    with pytest.raises(SignatureError, match="content_too_large"):
        read(party, *parts, cap=3)


def test_content_is_read_only_when_its_declared_length_is_within_the_cap(party):
    for length in ("4", "3", "x"):
        assert read(party, b"abcd", cap=4, length=length) == b"abcd"
    for length, cap in (("5", 4), ("1" + "0" * 18, 10**20)):
        with pytest.raises(SignatureError, match="content_too_large"):
            read(party, b"", cap=cap, length=length)


@pytest.mark.parametrize(
    ("parts", "detail", "fix"),
    [
        ((b"",), "the body is shorter than Content-Length, or a layer outside the middleware has read the body", True),
        ((b"ab", b"c"), "the body is shorter than Content-Length", False),
    ],
)
def test_content_that_is_shorter_than_declared_is_rejected_at_once(party, parts, detail, fix):
    with pytest.raises(SignatureError) as caught:
        read(party, *parts, cap=4, length="4")
    assert caught.value.detail.startswith(detail)
    assert ("make SignatureMiddleware the outermost layer" in (caught.value.fix or "")) is fix


@pytest.mark.parametrize(("begun", "detail"), [(False, ", or a layer"), (True, "")])
def test_content_that_does_not_come_at_all_is_told_from_content_that_is_slow(party, begun, detail):
    async def receive():
        nonlocal begun
        if not begun:
            await asyncio.Event().wait()
        begun = False
        return part(b"a", more=True)

    with pytest.raises(SignatureError) as caught:
        asyncio.run(reading(party, receive, body_timeout=0.01))
    assert caught.value.detail.startswith(f"reading the body took longer than body_timeout{detail}")


@pytest.mark.parametrize("begun", [(), (part(b"a", more=True),)])
def test_content_that_does_not_come_tells_that_a_layer_may_have_read_it(party, begun):
    with pytest.raises(SignatureError) as caught:
        asyncio.run(reading(party, receiving(*begun, {"type": "http.disconnect"})))
    assert caught.value.detail.startswith("the client has gone, or sent a body that the server cannot read")
    assert ("a layer outside the middleware has read the body before" in caught.value.detail) is not bool(begun)
