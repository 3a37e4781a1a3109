"""The thread for long content ends every call, whatever the call raises."""

from __future__ import annotations

import asyncio

import pytest

from undersigned.asgi.worker import Worker


def ask(call):
    async def asked():
        # A call that never ends would hold the request for ever.
        async with asyncio.timeout(30):
            return await Worker().run(call)

    return asyncio.run(asked())


def test_answer_and_error_are_those_of_the_call():
    assert ask(lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        ask(lambda: 1 // 0)


def test_call_that_raises_stop_iteration_ends():
    with pytest.raises(RuntimeError, match="StopIteration"):
        ask(lambda: next(iter(())))
