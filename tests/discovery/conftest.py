from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import settings
from tests.keys import lookup

from undersigned import AsyncVerifier, MemoryReplayStore, Verifier
from undersigned.testing import FrozenNonceClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned import KeyLookup, Profile


@pytest.fixture
def clock() -> FrozenNonceClock:
    return FrozenNonceClock(1000.0)


class BlockingSource:
    """A source for threads, asked by a test."""

    is_async = False

    def find_all(self, source, asked: KeyLookup):
        return source.find(asked)

    def current(self, source):
        """The revocation list of a source."""
        return source.current("")

    def find(self, source, keyid: str):
        """The first key that `keyid` names, or None."""
        return next(iter(self.find_all(source, lookup(keyid))), None)

    def verifying(self, profile: Profile, source):
        """A function that verifies requests by the keys of a source."""
        return Verifier(profile, keys=source, replay=MemoryReplayStore()).verify

    def pause(self) -> None:
        """Let threads and tasks go on."""
        time.sleep(0.01)

    def close(self) -> None:
        """Nothing is left open."""


class AwaitingSource(BlockingSource):
    """A source for an event loop, asked by a test."""

    is_async = True

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def find_all(self, source, asked: KeyLookup):
        return self._answer(getattr(source, "async_find", source.find), asked)

    def current(self, source):
        return self._answer(source.async_current, "")

    def _answer(self, ask, *arguments):
        async def awaited():
            answer = ask(*arguments)
            return await answer if inspect.isawaitable(answer) else answer

        return self._runner.run(awaited())

    def verifying(self, profile: Profile, source):
        verifier = AsyncVerifier(profile, keys=source, replay=MemoryReplayStore())
        return lambda request: self._answer(verifier.verify, request)

    def pause(self) -> None:
        self._runner.run(asyncio.sleep(0.01))

    def close(self) -> None:
        self._runner.close()


@pytest.fixture(params=[BlockingSource, AwaitingSource], ids=["threads", "asyncio"])
def world(request: pytest.FixtureRequest) -> Iterator[BlockingSource | AwaitingSource]:
    """Threads or asyncio: every rule of a source holds in both."""
    world = request.param()
    yield world
    world.close()


OF_DOCUMENTS = ("adcp/test_agent.py", "web_bot_auth/test_sources.py", "activitypub/test_sources.py", "test_ucp.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a document says does not depend on who asks: each of these tests is run in threads or asyncio."""

    def is_kept(item: pytest.Item) -> bool:
        world = item.callspec.params.get("world") if hasattr(item, "callspec") else None
        if world is None or not str(item.path).endswith(OF_DOCUMENTS):
            return True
        name = item.name.replace("threads", "").replace("asyncio", "")
        return world.is_async == bool(crc32(name.encode()) % 2)

    if settings.get_current_profile_name() != "thorough":
        items[:] = filter(is_kept, items)
