from __future__ import annotations

import pytest

from undersigned.discovery.finish import finish


class Pause:
    def __await__(self):
        yield


async def paused(value):
    await Pause()
    return value


async def prompt(value):
    return value


def test_finish_returns_what_a_coroutine_returns():
    assert finish(prompt(5)) == 5


def test_finish_rejects_a_coroutine_that_suspends():
    with pytest.raises(RuntimeError, match="event loop"):
        finish(paused(5))
