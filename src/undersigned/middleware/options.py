"""What a middleware is told: the options that all middlewares take, and the service that they describe."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Required, TypedDict, TypeVar, get_args

from undersigned.errors import ConfigurationError
from undersigned.fork_safety import is_first_time, is_one_of_several
from undersigned.limits import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY
from undersigned.log_text import printable
from undersigned.middleware.error_response import logger
from undersigned.policy.policy import Policy
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.ed25519 import library
from undersigned.verification.verifier import AsyncVerifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from undersigned.middleware.decision import Decision
    from undersigned.middleware.error_response import ErrorResponse
    from undersigned.signature.profile import Profile
    from undersigned.url import Origins
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import Verifier


HTTP2_SERVERS = frozenset({"hypercorn", "gunicorn", "daphne", "uvicorn"})
"""Servers that reject an HTTP/2 request whose `:authority` and Host differ: they show the value of both."""

Mode = Literal["required", "optional", "observe"]
"""What happens to an unsigned request: reject, accept, or accept and log. An invalid signature is always rejected.

A profile may say that an unknown signer counts as unsigned (`Answers.unknown`)."""

Context = TypeVar("Context")


class Options(TypedDict, Generic[Context], total=False):
    """The options that every middleware takes, by keyword. `Context` is the request as the server or framework has it.

    Attributes:
        mode: what happens to an unsigned request; by default it is rejected.
        max_body: the largest body that is read, in bytes; by default 1 MiB. A larger one gets 413.
        max_unsigned_body: the largest body, in bytes, that is read from an unsigned request to apply the policy; by
            default 1 MiB. A request with a larger one must be signed.
        policy: which operations must be signed. It replaces `mode`. The operation that it resolves is in the signature.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the response to a rejected request: a function of the `ErrorResponse` and the request that
            returns another, for example of `ErrorResponse.with_content`.
        log_whole: whether a rejected request, which the log has at DEBUG as `undersigned explain` reads it, comes with
            its credentials and its body; by default it does not.
    """

    mode: Mode
    max_body: int
    max_unsigned_body: int
    policy: Policy | None
    on_decision: Callable[[Decision], object] | None
    rejection: Callable[[ErrorResponse, Context], ErrorResponse] | None
    log_whole: bool


class AsyncOptions(Options[Context], total=False):
    """The options that every middleware of a server with an event loop takes, in addition to `Options`.

    Attributes:
        body_timeout: how many seconds reading a body may take; by default 30. A slower one gets 408.
        fallback: returns True if the caller is authenticated some other way; a function of the request, sync or async.
            It is called only if the policy would reject the request and another credential could change that.
    """

    body_timeout: float
    fallback: Callable[[Context], bool | Awaitable[bool]] | None


class WSGIOptions(Options[Context], total=False):
    """The options that every middleware of a WSGI server takes, in addition to `Options`.

    Attributes:
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target. That
            works only for paths of unreserved characters, and cannot tell `/p?` from `/p`.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host. Without it, HTTP/2
            is rejected.
        fallback: returns True if the caller is authenticated some other way; a function of the environ. It is called
            only if the policy would reject the request and another credential could change that.
    """

    reconstruct: bool
    http2_server: str | None
    fallback: Callable[[Context], bool] | None


class AsyncSetup(AsyncOptions[Context], total=False):
    """All that a middleware of a server with an event loop takes: `AsyncOptions`, the verifier and the origins.

    Attributes:
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
    """

    verifier: Required[Verifier | AsyncVerifier]
    origins: Required[ConfiguredOrigins]


class ASGISetup(AsyncSetup[MutableMapping[str, Any]], total=False):
    """All that an ASGI middleware takes, in addition to `AsyncSetup`. Its functions get the scope.

    Attributes:
        server_adds_root_path: as in `undersigned.asgi.SignatureMiddleware`.
        http2_server: as in `undersigned.asgi.SignatureMiddleware`.
    """

    server_adds_root_path: bool
    http2_server: str | None


class WSGISetup(WSGIOptions[dict[str, Any]], total=False):
    """All that a WSGI middleware takes, also the options of `WSGIOptions`. Its functions get the environ.

    Attributes:
        verifier: the verifier.
        origins: as in `AsyncSetup`.
    """

    verifier: Required[Verifier]
    origins: Required[ConfiguredOrigins]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service whose requests are verified. The options may come from settings that no type checker reads.

    The arguments are those of the middlewares, as `ASGISetup` and `WSGISetup` list them.

    Raises:
        ConfigurationError: an option has a wrong value or contradicts another, or the verifier's profile is for
            responses.
    """

    verifier: AsyncVerifier
    origins: Origins
    body_timeout: float = DEFAULT_BODY_TIMEOUT
    http2_server: str | None = None
    fallback: Callable[[Any], bool | Awaitable[bool]] | None = None
    mode: Mode = "required"
    max_body: int = DEFAULT_MAX_BODY
    max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY
    policy: Policy | None = None
    on_decision: Callable[[Decision], object] | None = None
    rejection: Callable[[ErrorResponse, Any], ErrorResponse] | None = None
    log_whole: bool = False
    reconstruct: bool = False

    def __post_init__(self) -> None:
        """Check the options that decide which requests pass."""
        verifier, mode, policy = self.verifier, self.mode, self.policy
        if not isinstance(verifier, AsyncVerifier):
            raise ConfigurationError("verifier: pass a Verifier or, over ASGI, an AsyncVerifier")
        if verifier.profile.message != "request":
            raise ConfigurationError(
                f"verifier: its profile, {verifier.profile.name}, is for responses; pass one for requests"
            )
        if mode not in get_args(Mode):
            raise ConfigurationError(
                'mode: use "required", "optional" or "observe"; if some requests must be signed, use "optional" and '
                "guard their routes, or give a policy"
            )
        if policy is not None and not isinstance(policy, Policy):
            raise ConfigurationError("policy: pass a Policy, such as Policy(required_for=['create_media_buy'])")
        if policy is not None and mode != "required":
            raise ConfigurationError("mode: the policy decides what must be signed: leave mode out")
        if self.fallback is not None and policy is None:
            raise ConfigurationError(
                "fallback: pass a function that tells whether the caller is known, together with policy="
            )
        self._check_values()

    def _check_values(self) -> None:
        """Check what is not of the type that the options have."""
        for option in ("on_decision", "rejection", "fallback"):
            function = getattr(self, option)
            if function is not None and not callable(function):
                raise ConfigurationError(f"{option}: pass a function")
            if option != "fallback" and iscoroutinefunction(function):
                raise ConfigurationError(f"{option}: pass a function that is not async, as nothing awaits it")
        if self.http2_server is not None and self.http2_server not in HTTP2_SERVERS:
            raise ConfigurationError(
                f"http2_server: expected one of {', '.join(sorted(HTTP2_SERVERS))}, which compare :authority with "
                "Host: serve HTTP/1.1 with any other server"
            )
        for option in ("max_body", "max_unsigned_body"):
            if not isinstance(getattr(self, option), int):
                raise ConfigurationError(f"{option}: give a number of bytes, such as 65536")
        if not isinstance(self.body_timeout, (int, float)):
            raise ConfigurationError("body_timeout: give a number of seconds, such as 30")

    @property
    def profile(self) -> Profile:
        """The verifier's profile."""
        return self.verifier.profile

    @property
    def in_memory(self) -> bool:
        """Whether nonces are kept in the memory of this process only."""
        remembers = self.profile.replay.remembers != "nothing"
        return remembers and isinstance(self.verifier.replay, MemoryReplayStore)

    def announce(self) -> None:
        """Log in one line what is verified and where, and whether nonces are kept in this process only."""
        asked = _MODES[self.mode]
        if self.policy is not None:
            lists = [f"{name} {_shown(names)}" for name, names in self.policy.lists() if names]
            asked = f"policy: {', '.join(lists) or 'it lists no operation'}"
        profile = self.profile
        source = f": {profile.source}" if profile.source else ""
        verified = f"undersigned verifies requests with the profile {profile.name}{source}; Ed25519 with {library()}"
        line = f"{verified}; {asked}; origins: {self.origins}{_IN_MEMORY if self.in_memory else ''}"
        logger.info("%s", printable(line))
        self.warn_of_workers(has_workers=_is_worker())

    def warn_of_workers(self, *, has_workers: bool) -> None:
        """Warn once in each process if the server has other workers, which would accept the same nonces again.

        It never does for loopback origins: servers that reload in development have helpers that look like workers.

        Args:
            has_workers: whether the server may have several.
        """
        is_alone = has_workers and self.in_memory and not self.origins.are_loopback
        if is_alone and is_first_time(_SEVERAL) and is_one_of_several():
            logger.warning(_SEVERAL)


_SHOWN: Final = 8
_IN_MEMORY: Final = "; nonces are kept in the memory of this process only: several workers need a store that they share"
_SEVERAL: Final = (
    "the server has several processes, and each keeps its nonces in memory, so each accepts the same signed request "
    "once; use SqliteReplayStore, RedisReplayStore or PostgresReplayStore"
)
_MODES: Final[Mapping[Mode, str]] = {
    "required": "every request must be signed",
    "optional": 'mode="optional": unsigned requests pass, and signatures must be valid',
    "observe": 'mode="observe": unsigned requests pass and are logged, and signatures must be valid',
}


def _is_worker() -> bool:
    """Return whether gunicorn runs, or another process started this one by multiprocessing, as other servers do."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    is_child = multiprocessing is not None and multiprocessing.parent_process() is not None
    # gunicorn names itself there, for its workers.
    return is_child or os.environ.get("SERVER_SOFTWARE", "").startswith("gunicorn/")


def _shown(names: Collection[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"[{', '.join(sorted(names)[:_SHOWN])}{more}]"
