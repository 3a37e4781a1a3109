"""The guard of a server with an event loop, and the verifier that it asks without blocking the loop."""

from __future__ import annotations

import contextvars
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from undersigned.limits import MOST_VERIFYING_THREADS, TURNS_BEFORE_REJECTION
from undersigned.middleware.guard import Guard
from undersigned.verification.verifier import AsyncVerifier, Verifier, finish

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.middleware.options import AsyncOptions
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import Part, ReceivedSignature

Answer = TypeVar("Answer")


class AsyncGuard(Guard):
    """A guard that verifies requests in an event loop, each as an `AsyncIncoming`.

    Args:
        verifier: as in `SignatureMiddleware`, with all other options. Functions get the `context` of a request.

    Attributes:
        server_adds_root_path: whether the server puts its root path in front of `raw_path`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        **options: Unpack[AsyncOptions[Any]],
    ) -> None:
        super().__init__(awaitable(verifier), origins, http2_server=http2_server, **options)
        self.server_adds_root_path = server_adds_root_path

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function, which other requests do not wait for."""
        import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

        return await asyncio.to_thread(call)

    async def let_others_first(self) -> None:
        """Wait some turns of the event loop, so that a flood of rejected requests does not have them all."""
        import asyncio  # noqa: PLC0415 - as above

        for _ in range(TURNS_BEFORE_REJECTION):
            await asyncio.sleep(0)


def awaitable(verifier: AsyncVerifier) -> AsyncVerifier:
    """Return the verifier as a guard awaits it, without blocking the event loop."""
    if not isinstance(verifier, Verifier) or not verifier.blocking:
        return verifier
    return verifier.for_tasks() or ThreadedVerifier(verifier)


class ThreadedVerifier(AsyncVerifier):
    """A verifier whose methods are awaited, and call the methods of another verifier in a thread.

    The threads are its own: those of asyncio resolve names, and the application waits in them for its own work.

    Args:
        verifier: the verifier whose sources block.
    """

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.profile, self.clock, self.replay = verifier.profile, verifier.clock, verifier.replay
        self._executor, self._pid = _new_executor(), os.getpid()

    async def unready(self) -> tuple[Part, ...]:
        """As `Verifier.unready`, in a thread."""
        return await self._run(self._verifier.unready)

    async def authenticate(self, message: Request | Response) -> ReceivedSignature:
        """As `Verifier.authenticate`, in a thread."""
        return await self._run(lambda: finish(self._verifier.authenticate(message)))

    async def complete(
        self, signature: ReceivedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """As `Verifier.complete`, in a thread."""
        return await self._run(lambda: finish(self._verifier.complete(signature, content, digest=digest)))

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        import asyncio  # noqa: PLC0415 - as above

        if self._pid != os.getpid():
            # The threads did not survive the fork.
            self._executor, self._pid = _new_executor(), os.getpid()
        in_context = partial(contextvars.copy_context().run, call)
        return await asyncio.get_running_loop().run_in_executor(self._executor, in_context)


def _new_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_VERIFYING_THREADS, "undersigned")
