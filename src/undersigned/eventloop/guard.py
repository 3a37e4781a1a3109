"""The guard of an event loop, which blocks none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from undersigned.limits import TURNS_BEFORE_REJECTION
from undersigned.middleware.guard import Guard
from undersigned.middleware.options import Service
from undersigned.url import Origins
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

    Its arguments are those of `undersigned.asgi.SignatureMiddleware`, but for `server_adds_root_path`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        http2_server: str | None = None,
        app: object = None,
        **options: Unpack[AsyncOptions[Any]],
    ) -> None:
        verifier, found = awaitable(verifier), Origins(origins)
        super().__init__(Service(verifier=verifier, origins=found, http2_server=http2_server, **options), app)

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function, which other requests do not wait for."""
        import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

        return await asyncio.to_thread(call)

    async def yield_to_others(self) -> None:
        """Wait some turns of the event loop, so that a flood of rejected requests does not have them all."""
        import asyncio  # noqa: PLC0415 - as above

        for _ in range(TURNS_BEFORE_REJECTION):
            await asyncio.sleep(0)


def awaitable(verifier: AsyncVerifier) -> AsyncVerifier:
    """Return the verifier as a guard awaits it, without blocking the event loop."""
    return verifier.for_tasks() if isinstance(verifier, Verifier) else verifier
