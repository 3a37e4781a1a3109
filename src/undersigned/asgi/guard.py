"""The guard of a server with an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from undersigned.asgi.threaded_verifier import awaitable
from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.middleware import options
from undersigned.middleware.guard import Guard
from undersigned.url import Origins
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import ConfiguredOrigins

Answer = TypeVar("Answer")

_LONGEST_TIMEOUT = 86_400


class AsyncGuard(Guard):
    """A guard that verifies requests in an event loop, each as an `AsyncIncoming`.

    Args:
        verifier: as in `SignatureMiddleware`, with all other options. Functions get the `context` of a request.

    Attributes:
        profile: the verifier's profile.
        max_body: the largest body that is read, in bytes.
        body_timeout: how many seconds reading a body may take.
        server_adds_root_path: whether the server puts its root path in front of `raw_path`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    __slots__ = ("body_timeout", "max_body", "profile", "server_adds_root_path")

    def __init__(
        self,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        mode: options.Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Callable[..., bool | Awaitable[bool]] | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Callable[..., ErrorResponse] | None = None,
    ) -> None:
        if not isinstance(verifier, AsyncVerifier):
            raise ConfigurationError("verifier: pass a Verifier or an AsyncVerifier")
        options.check_options(mode, max_body, http2_server)
        options.check_size("max_unsigned_body", max_unsigned_body)
        options.check_policy(policy, fallback=fallback, mode=mode)
        options.check_listeners(on_decision, rejection)
        options.check_flag("server_adds_root_path", server_adds_root_path)
        if not isinstance(body_timeout, (int, float)) or not 0 < body_timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("body_timeout: give seconds greater than 0, such as 30, and at most a day")
        super().__init__(
            awaitable(verifier),
            Origins(origins),
            clock=verifier.clock,
            replay=verifier.replay,
            mode=mode,
            policy=policy,
            fallback=fallback,
            max_unsigned_body=min(max_unsigned_body, max_body),
            http2_server=http2_server,
            on_decision=on_decision,
            rejection=rejection,
            in_thread=_in_thread,
        )
        self.profile = verifier.profile
        self.max_body = max_body
        self.body_timeout = body_timeout
        self.server_adds_root_path = server_adds_root_path


async def _in_thread(call: Callable[[], Answer]) -> Answer:
    import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

    return await asyncio.to_thread(call)
