from __future__ import annotations

import asyncio

import pytest
from tests import keys

from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned.asgi.threaded_verifier import awaitable
from undersigned.signature.key_source import ExaminedKeys


class Ending(Verifier):
    """A verifier of a user whose own method raises what ends a generator."""

    def __init__(self) -> None:
        super().__init__(profiles.ADCP_3_2, keys=ExaminedKeys({}), replay=MemoryReplayStore())
        self.blocking = True

    def authenticate(self, _request):
        raise StopIteration


def test_method_that_raises_stop_iteration_ends_the_request():
    async def authenticate() -> None:
        async with asyncio.timeout(20):
            await awaitable(Ending()).authenticate(keys.signed_request())

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(authenticate())
