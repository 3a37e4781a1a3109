"""The guard of a server with an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from undersigned.limits import TURNS_BEFORE_REJECTION
from undersigned.middleware.guard import Guard
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from undersigned.middleware.options import AsyncOptions
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import AsyncVerifier

Answer = TypeVar("Answer")


class AsyncGuard(Guard):
    """A guard that verifies requests in an event loop.

    Args:
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: as in `Guard`.
        http2_server: as in `Guard`.
        options: as in `Guard`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        http2_server: str | None = None,
        **options: Unpack[AsyncOptions[Any]],
    ) -> None:
        super().__init__(awaitable(verifier), origins, http2_server=http2_server, **options)

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
    return verifier.for_tasks() if isinstance(verifier, Verifier) else verifier
