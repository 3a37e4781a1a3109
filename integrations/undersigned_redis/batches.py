"""Batches: claims that come in one turn of the event loop go to the server in one message, over one connection.

The client takes several times as long to send and read a claim as the server takes to make it. Each claim is still
one script, atomic for itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from undersigned_redis.client import Client, Script
    from undersigned_redis.script import ScriptCall

_MOST: Final = 64
"""Claims of one batch: they take the server about a millisecond."""


class _Batch(NamedTuple):
    """The claims of a batch, and the task that sends them."""

    calls: list[ScriptCall]
    answers: asyncio.Task[Sequence[object]]

    def is_open(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return whether the task is still to begin: in this loop, and not cancelled."""
        return self.answers.get_loop() is loop and not self.answers.done()


class Batches:
    """The claims of one store.

    Args:
        client: an asyncio client of one server.
        claim: the script, registered with the client.
    """

    __slots__ = ("_claim", "_client", "_open")

    def __init__(self, client: Client, claim: Script) -> None:
        self._client = client
        self._claim = claim
        self._open: _Batch | None = None

    async def answer(self, call: ScriptCall) -> object:
        """Return the answer to a claim, which is sent with the others of this turn of the event loop."""
        loop, batch = asyncio.get_running_loop(), self._open
        if batch is None or len(batch.calls) >= _MOST or not batch.is_open(loop):
            calls: list[ScriptCall] = []
            self._open = batch = _Batch(calls, loop.create_task(self._send(calls)))
        at = len(batch.calls)
        batch.calls.append(call)
        # Whose claim is cancelled does not cancel the others.
        answer = (await asyncio.shield(batch.answers))[at]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _send(self, calls: Sequence[ScriptCall]) -> Sequence[object]:
        if self._open is not None and self._open.calls is calls:
            self._open = None
        if len(calls) == 1:
            return [await self._claim_alone(calls[0])]
        pipeline = self._client.pipeline(transaction=False)
        for call in calls:
            pipeline.execute_command("EVALSHA", self._claim.sha, len(call.keys), *call.keys, *call.args)
        answers = await cast("Awaitable[Sequence[object]]", pipeline.execute(raise_on_error=False))
        # The server does not know the script before the first claim, and after a restart.
        return [
            await self._claim_alone(call) if type(answer).__name__ == "NoScriptError" else answer
            for call, answer in zip(calls, answers, strict=True)
        ]

    def _claim_alone(self, call: ScriptCall) -> Awaitable[object]:
        return cast("Awaitable[object]", self._claim(call.keys, call.args))
