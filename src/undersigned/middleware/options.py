"""The options that all middlewares take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypedDict, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.decision import Decision
    from undersigned.policy.policy import Policy

Mode = Literal["required", "optional", "observe"]
"""What happens to an unsigned request: reject, accept, or accept and log. An invalid signature is always rejected.

A profile may say that an unknown signer counts as unsigned (`Answers.unknown`)."""

Context = TypeVar("Context")


class Options(TypedDict, Generic[Context], total=False):
    """The options that every middleware takes, by keyword. `Context` is the request as the server or framework has it.

    Attributes:
        mode: what happens to an unsigned request; by default it is rejected.
        max_body: the largest body that is read, in bytes; by default 1 MiB. A larger one gets 413.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes; by
            default 1 MiB. A request with a larger one must be signed.
        policy: which operations must be signed. It replaces `mode`. The operation that it resolves is in the signature.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the request that
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
    """The options that every middleware of a server with an event loop takes, also those of `Options`.

    Attributes:
        body_timeout: how many seconds reading a body may take; by default 30. A slower one gets 408.
        fallback: tells whether another authenticator accepts the caller; a function of the request, sync or async. It
            is asked only if the policy would reject the request and another credential could change that.
    """

    body_timeout: float
    fallback: Callable[[Context], bool | Awaitable[bool]] | None


class WSGIOptions(Options[Context], total=False):
    """The options that every middleware of a WSGI server takes, also those of `Options`.

    Attributes:
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target. That
            works only for paths of unreserved characters, and cannot tell `/p?` from `/p`.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host. Without it, HTTP/2
            is rejected.
        fallback: tells whether another authenticator accepts the caller; a function of the environ. It is asked only
            if the policy would reject the request and another credential could change that.
    """

    reconstruct: bool
    http2_server: str | None
    fallback: Callable[[Context], bool] | None
