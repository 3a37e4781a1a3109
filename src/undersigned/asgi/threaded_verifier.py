"""A verifier that verifies in a thread, since its sources block and the event loop must not."""

from __future__ import annotations

import contextvars
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from undersigned.asgi.chunked import check_event_loop
from undersigned.limits import MOST_VERIFYING_THREADS
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.verification.gate import GateVerifier
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import AsyncVerifier, Part, ReceivedSignature

Answer = TypeVar("Answer")


def awaitable(verifier: Verifier | AsyncVerifier) -> GateVerifier:
    """Return the verifier as the gate asks it, without blocking the event loop."""
    if not isinstance(verifier, Verifier) or not verifier.blocking:
        return verifier
    return verifier.for_tasks() or ThreadedVerifier(verifier)


class ThreadedVerifier:
    """A verifier whose methods can be awaited, and call the methods of another verifier in a thread.

    The threads are its own: those of asyncio resolve names, and the application waits in them for its own work.

    Args:
        verifier: the verifier whose sources block.
    """

    __slots__ = ("_executor", "_pid", "_verifier", "profile")

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.profile = verifier.profile
        self._executor, self._pid = _new_executor(), os.getpid()

    async def unready(self) -> tuple[Part, ...]:
        """As `Verifier.unready`, in a thread."""
        return await self._run(self._verifier.unready)

    async def authenticate(self, message: Request) -> ReceivedSignature:
        """As `Verifier.authenticate`, in a thread."""
        return await self._run(partial(self._verifier.authenticate, message))

    async def complete(
        self, signature: ReceivedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """As `Verifier.complete`, in a thread."""
        return await self._run(partial(self._verifier.complete, signature, content, digest=digest))

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        check_event_loop(self.profile)
        import asyncio  # noqa: PLC0415 - as in asgi.chunked

        if self._pid != os.getpid():
            # The threads did not survive the fork.
            self._executor, self._pid = _new_executor(), os.getpid()
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: context.run(call))


def _new_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_VERIFYING_THREADS, "undersigned")
