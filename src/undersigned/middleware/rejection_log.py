"""The log of a middleware: one line for each rejected request, and the evidence below it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from undersigned.errors import CHECKS, UndersignedError, VerificationUnavailable, printable, without_credentials
from undersigned.limits import LONGEST_IN_LINE
from undersigned.reasons import REASONS, UNREAD_FIXES

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.decision import Decision

logger = logging.getLogger("undersigned")

_FIELDS = (
    "code",
    "step",
    "method",
    "target",
    "origin",
    "target_uri",
    "client",
    "status",
    "route",
    "keyid",
    "seconds_off",
)
"""The attributes of a `Decision` that a record of the log has, each with the prefix `signature_`."""


def log_rejection(
    error: SignatureError, decision: Decision, what: str = "request rejected", *, level: int | None = None
) -> None:
    """Log a rejected request: one line at WARNING, because Python shows WARNING if nobody has configured logging.

    The line has the code, the check, the reason, the request and the fix. The record has the same as fields, such as
    `signature_code` and `signature_method`. The evidence, such as the rebuilt signature base, follows at INFO. The
    line is an ERROR only if a key source, a revocation source or a replay store raised an exception of another package.
    No sender can cause that while they work.

    Args:
        error: why it is rejected.
        decision: the decision.
        what: the beginning of the line.
        level: the level, if it is another one.
    """
    chosen = _level(error) if level is None else level
    cause = error.__cause__ if chosen == logging.ERROR else None
    told = {**_fields(decision), "signature_detail": error.detail}
    logger.log(chosen, "%s: %s", what, line_of(error, decision), extra=told, exc_info=cause)
    if logger.isEnabledFor(logging.INFO):
        logger.info("evidence: %s", error.explain())


def log_excused(error: SignatureError, decision: Decision) -> None:
    """Log a request whose signature failed, and which another credential excuses."""
    log_rejection(error, decision, "request accepted on another credential", level=logging.WARNING)


def log_unknown(error: SignatureError, decision: Decision) -> None:
    """Log a request that counts as unsigned, because nobody knows its signer."""
    log_rejection(error, decision, "request accepted as unsigned", level=logging.INFO)


def log_unread(response: ErrorResponse, decision: Decision) -> None:
    """Log a request that was rejected before it was read to its end."""
    told = "; ".join(_request(decision))
    line = f"{response.code}: {response.detail} ({told}). Fix: {UNREAD_FIXES[response.code]}"
    logger.warning("request rejected: %s", line, extra={**_fields(decision), "signature_detail": response.detail})


def log_unsigned(decision: Decision) -> None:
    """Log that an unsigned request is accepted because the mode only observes."""
    line = 'mode="observe" lets it pass, mode="required" would reject it'
    told = _fields(decision)
    logger.warning("unsigned request accepted: %s (%s)", line, "; ".join(_request(decision)), extra=told)


def line_of(error: SignatureError, decision: Decision) -> str:
    """Return one line about a rejected request: its code, check, reason, request, fix and what the sender wrote."""
    received = None if error.received is None else without_credentials(error.received)
    told = [
        *_request(decision),
        f"@target-uri: {decision.target_uri}" if decision.target_uri else "",
        _off(decision.seconds_off),
        f"received: {printable(received, limit=LONGEST_IN_LINE)}" if received else "",
    ]
    fix = "" if error.reason is None else f". Fix: {REASONS[error.reason].operator}"
    detail = printable(error.detail.rstrip("."))
    return f"{error.code} ({CHECKS[error.step]}): {detail} ({'; '.join(filter(None, told))}){fix}"


def _request(decision: Decision) -> list[str]:
    """Return which request it was, in parts."""
    parts = [f"{decision.method or '?'} {decision.target or '?'}"]
    parts += [
        f"{name}: {value}"
        for name, value in (
            ("route", decision.route),
            ("origin", decision.origin),
            ("client", decision.client),
            ("answered", decision.status),
            ("keyid", decision.keyid),
        )
        if value is not None
    ]
    return parts


def _off(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"it ended {seconds:.0f} seconds ago" if seconds > 0 else f"it begins in {-seconds:.0f} seconds"


def _level(error: SignatureError) -> int:
    """Return the level of a rejection: ERROR if a source of the operator failed in a way that it does not report."""
    cause = error.__cause__
    failed = isinstance(error, VerificationUnavailable) and cause is not None
    return logging.ERROR if failed and not isinstance(cause, UndersignedError) else logging.WARNING


def _fields(decision: Decision) -> dict[str, object]:
    return {f"signature_{name}": getattr(decision, name) for name in _FIELDS}
