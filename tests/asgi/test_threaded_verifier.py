"""Verifiers over ASGI whose sources block, or could."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from tests import keys

from undersigned import MemoryReplayStore, RevocationList, SignatureError
from undersigned.asgi.guard import awaitable
from undersigned.discovery import RevocationSources


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
        verifier = awaitable(keys.verifier(keys=source))
        most = min(32, (os.cpu_count() or 1) + 4)
        waiting = [asyncio.ensure_future(verifier.authenticate(keys.signed_request())) for _ in range(most)]
        try:
            # The threads of the source are all at work once it was asked as often.
            await asyncio.sleep(0.2)
            await asyncio.wait_for(asyncio.to_thread(int), 10)
        finally:
            source.opened.set()
        await asyncio.gather(*waiting)

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

    async def run():
        return await awaitable(keys.verifier(keys=Remote(), clock=clock)).authenticate(keys.signed_request())

    assert asyncio.run(run()).key.keyid == "buyer-ed25519"
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
    verifier = awaitable(keys.verifier(replay=RemoteStore()))
    assert asyncio.run(verifier.verify(keys.signed_request())).keyid == "buyer-ed25519"
    with pytest.raises(SignatureError, match="replayed"):
        asyncio.run(verifier.verify(keys.signed_request()))


class BlockingList:
    """A source of revocation lists that blocks."""

    blocking = True

    def __init__(self) -> None:
        self.threads = []

    def current(self, _owner):
        self.threads.append(threading.get_ident())
        return RevocationList(revoked=frozenset(), updated=keys.NOW - 60, next_update=keys.NOW + 60)


@pytest.mark.parametrize("several", [True, False], ids=["of one owner", "of all"])
def test_revocation_source_that_blocks_is_asked_in_a_thread(several):
    blocking = BlockingList()
    revocations = RevocationSources({"": blocking}) if several else blocking

    async def run() -> None:
        await awaitable(keys.verifier(revocations=revocations)).authenticate(keys.signed_request())

    asyncio.run(run())
    [thread] = blocking.threads
    assert thread != threading.get_ident()


def test_source_of_several_lists_answers_nothing_for_another_owner():
    assert RevocationSources({"acme": BlockingList()}).async_current("other") is None


def test_threads_are_new_after_a_fork(monkeypatch):
    blocking, own = BlockingList(), os.getpid()
    verifier = awaitable(keys.verifier(revocations=blocking))
    for process in (own, own + 1):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        asyncio.run(verifier.authenticate(keys.signed_request()))
    before, after = blocking.threads
    assert before != after
