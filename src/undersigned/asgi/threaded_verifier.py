"""A verifier that verifies in a thread, since its sources block and the event loop must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from undersigned.asgi.body import event_loop_check
from undersigned.asgi.worker import run_to_end
from undersigned.verification.awaited_verifier import AwaitedVerifier
from undersigned.verification.verifier import AsyncVerifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.verification.server import GateVerifier
    from undersigned.verification.verifier import Verifier

Answer = TypeVar("Answer")


def awaitable(verifier: Verifier | AsyncVerifier) -> GateVerifier:
    """Return the verifier as the gate awaits it, without blocking the event loop."""
    if isinstance(verifier, AsyncVerifier):
        return verifier
    return ThreadedVerifier(verifier) if verifier.blocking else verifier.awaitable


class ThreadedVerifier(AwaitedVerifier):
    """A verifier whose methods can be awaited, and call the methods of another verifier in a thread.

    Args:
        verifier: the verifier whose sources block.
    """

    __slots__ = ("_check_event_loop",)

    def __init__(self, verifier: Verifier) -> None:
        super().__init__(verifier)
        self._check_event_loop = event_loop_check(verifier.profile)

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return what a method of the verifier returns in a thread."""
        self._check_event_loop()
        import asyncio  # noqa: PLC0415 - as in asgi.body

        return await asyncio.to_thread(run_to_end, call)
