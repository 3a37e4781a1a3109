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
    return verifier.for_tasks() if isinstance(verifier, Verifier) else verifier
