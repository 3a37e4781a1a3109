"""Verifiers over ASGI whose sources block, or could."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from tests import keys
from tests.drive import Message, call_asgi, scope_of

from undersigned import AsyncVerifier, MemoryReplayStore, RevocationList, Verifier, asgi, profiles
from undersigned.discovery import KeySources, RevocationSources


def made(make=Verifier, **options) -> asgi.SignatureMiddleware:
    """A middleware around an application that answers with the key id of the signature."""

    async def app(scope, _receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": asgi.verified_signature(scope).keyid.encode()})

    given = {"keys": keys.KEYS, "replay": MemoryReplayStore(), "clock": lambda: keys.NOW, **options}
    return asgi.SignatureMiddleware(app, verifier=make(profiles.ADCP_3_2, **given), origins=[keys.ORIGIN])


async def answer(app) -> tuple[int, bytes]:
    """What the application answers to a signed request."""
    signed = keys.signed_request()
    message = Message(signed.url.removeprefix(keys.ORIGIN), "POST", list(signed.fields), signed.body)
    answered = await call_asgi(app, scope_of(message), signed.body)
    return answered.status, answered.content


VERIFIED = (200, b"buyer-ed25519")


class Held:
    """A blocking source that holds every thread that asks for a key, until it is opened."""

    blocking = True

    def __init__(self) -> None:
        self.opened, self.asked = threading.Event(), 0

    def find(self, lookup):
        self.asked += 1
        self.opened.wait(20)
        return keys.KEYS.find(lookup)


def test_requests_that_wait_for_a_source_leave_the_threads_of_asyncio_free():
    source = Held()

    async def run() -> None:
        app = made(keys=source)
        most = min(32, (os.cpu_count() or 1) + 4)
        waiting = [asyncio.ensure_future(answer(app)) for _ in range(most)]
        try:
            while source.asked < most:  # noqa: ASYNC110 - threads ask it
                await asyncio.sleep(0.001)
            await asyncio.wait_for(asyncio.to_thread(int), 10)
        finally:
            source.opened.set()
        # All carry one nonce.
        assert min(await asyncio.gather(*waiting)) == VERIFIED

    asyncio.run(run())


class Remote:
    """A source that blocks threads, and whose answers tasks can await, as `RemoteJWKS` is."""

    blocking = True

    def find(self, _lookup):
        pytest.fail("it blocks")

    def async_find(self, lookup):
        return keys.KEYS.find(lookup)


def test_source_that_tasks_can_await_needs_no_thread():
    threads = []

    def clock() -> float:
        threads.append(threading.get_ident())
        return keys.NOW

    assert asyncio.run(answer(made(keys=Remote(), clock=clock))) == VERIFIED
    assert set(threads) == {threading.get_ident()}


class RemoteStore:
    """A replay store that blocks threads, and whose answers tasks can await."""

    blocking = True

    def __init__(self) -> None:
        self._store = MemoryReplayStore()

    def full(self, *_arguments, **_options):
        pytest.fail("it blocks")

    claim = full

    async def async_full(self, *arguments, **options):
        return self._store.full(*arguments, **options)

    async def async_claim(self, *arguments, **options):
        return self._store.claim(*arguments, **options)


def test_store_that_tasks_can_await_is_never_asked_in_the_way_that_blocks():
    app = made(replay=RemoteStore())
    assert asyncio.run(answer(app)) == VERIFIED
    assert b"replayed" in asyncio.run(answer(app))[1]


class BlockingList:
    """A source of revocation lists that blocks."""

    blocking = True

    def __init__(self) -> None:
        self.threads = []

    def current(self, _owner):
        self.threads.append(threading.current_thread())
        return RevocationList(revoked=frozenset(), updated=keys.NOW - 60, next_update=keys.NOW + 60)


class Silent:
    """Any source, which does not say whether it blocks, and notes the threads that it is asked in."""

    def __init__(self, source, *methods) -> None:
        self.threads = set()
        for method in methods:
            setattr(self, method, self._noting(getattr(source, method)))

    def _noting(self, ask):
        def noted(*arguments, **options):
            self.threads.add(threading.current_thread())
            return ask(*arguments, **options)

        return noted


@pytest.mark.parametrize("make", [Verifier, AsyncVerifier])
@pytest.mark.parametrize("several", [True, False], ids=["of several", "alone"])
def test_source_that_does_not_say_whether_it_blocks_is_never_asked_on_the_loop(make, several):
    found = Silent(keys.KEYS, "find")
    store = Silent(MemoryReplayStore(), "full", "claim")
    lists = Silent(BlockingList(), "current")
    sources = {"keys": found, "revocations": lists}
    if several:
        sources = {"keys": KeySources({"": found}), "revocations": RevocationSources({"": lists})}
    assert asyncio.run(answer(made(make=make, replay=store, **sources))) == VERIFIED
    assert all(one.threads and threading.current_thread() not in one.threads for one in (found, store, lists))


def test_source_of_several_lists_answers_nothing_for_another_owner():
    assert RevocationSources({"acme": BlockingList()}).async_current("other") is None


def test_threads_are_new_after_a_fork(monkeypatch):
    blocking, own = BlockingList(), os.getpid()
    app = made(revocations=blocking)
    for process in (own, own + 1):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        asyncio.run(answer(app))
    before, after = (blocking.threads[0], blocking.threads[-1])
    assert before is not after
