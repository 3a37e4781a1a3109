"""The guard of a server in which each request has a thread, or a process, of its own."""

from __future__ import annotations

from inspect import isawaitable, iscoroutine
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.middleware import options
from undersigned.middleware.guard import Guard
from undersigned.url import Origins
from undersigned.verification.verifier import Verifier, finish

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.decision import Decision
    from undersigned.middleware.guard import Accepted
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.wsgi.incoming import EnvironIncoming


class SyncGuard(Guard):
    """A guard that verifies requests without waiting, each as an `EnvironIncoming`.

    Args:
        verifier: as in `SignatureMiddleware`, with all other options. Functions get the `context` of a request.

    Attributes:
        profile: the verifier's profile.
        max_body: the largest body that is read, in bytes.
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    __slots__ = ("max_body", "profile", "reconstruct")

    def __init__(
        self,
        *,
        verifier: Verifier,
        origins: ConfiguredOrigins,
        mode: options.Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        reconstruct: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Callable[..., bool] | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Callable[..., ErrorResponse] | None = None,
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        options.check_options(mode, max_body, http2_server)
        options.check_size("max_unsigned_body", max_unsigned_body)
        options.check_policy(policy, fallback=fallback, mode=mode)
        options.check_listeners(on_decision, rejection)
        options.check_flag("reconstruct", reconstruct)
        if options.is_async(fallback):
            raise ConfigurationError("fallback: the function must not be async; WSGI awaits nothing")
        super().__init__(
            verifier,
            Origins(origins),
            clock=verifier.clock,
            replay=verifier.replay,
            mode=mode,
            policy=policy,
            fallback=None if fallback is None else _checked(fallback),
            max_unsigned_body=min(max_unsigned_body, max_body),
            http2_server=http2_server,
            on_decision=on_decision,
            rejection=rejection,
        )
        self.profile = verifier.profile
        self.max_body = max_body
        self.reconstruct = reconstruct

    def verify_now(self, incoming: EnvironIncoming) -> Accepted | ErrorResponse:
        """Verify one request, as `verify` does."""
        return finish(self.verify(incoming))


def _checked(fallback: Callable[..., bool]) -> Callable[..., bool]:
    """Return a fallback that raises ConfigurationError if its answer would have to be awaited."""

    def ask(context: object) -> bool:
        accepted: object = fallback(context)
        if isawaitable(accepted):
            # Something to await is true, whatever it would say.
            if iscoroutine(accepted):
                accepted.close()
            raise ConfigurationError("fallback: the function must return True or False; WSGI awaits nothing")
        return accepted is True

    return ask
