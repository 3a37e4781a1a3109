"""The log of a middleware: one line for each rejected request, and the evidence below it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from undersigned.errors import UndersignedError, VerificationUnavailable, printable, without_credentials
from undersigned.limits import LONGEST_IN_LINE
from undersigned.reasons import REASONS, UNREAD_FIXES

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.middleware.answer import ErrorResponse

logger = logging.getLogger("undersigned")


def log_rejection(error: SignatureError, what: str = "request rejected", *, level: int | None = None) -> None:
    """Log a rejected request: one line at WARNING, because Python shows WARNING if nobody has configured logging.

    The line has the code, the step, the reason and the fix, and the fields `signature_code`, `signature_step`,
    `signature_keyid` and `signature_detail`. The evidence, such as the rebuilt signature base, follows at INFO. The
    line is an ERROR only if a key source, a revocation source or a replay store raised an exception of another package.
    No sender can cause that while they work.

    Args:
        error: why it is rejected.
        what: the beginning of the line.
        level: the level, if it is another one.
    """
    chosen = _level(error) if level is None else level
    cause = error.__cause__ if chosen == logging.ERROR else None
    logger.log(chosen, "%s: %s", what, line_of(error), extra=_fields(error), exc_info=cause)
    if logger.isEnabledFor(logging.INFO):
        logger.info("evidence: %s", error.explain())


def log_excused(error: SignatureError) -> None:
    """Log a request whose signature failed, and which another credential excuses."""
    log_rejection(error, "request accepted on another credential", level=logging.WARNING)


def log_unknown(error: SignatureError) -> None:
    """Log a request that counts as unsigned, because nobody knows its signer."""
    log_rejection(error, "request accepted as unsigned", level=logging.INFO)


def log_unread(response: ErrorResponse) -> None:
    """Log a request that was rejected before it was read to its end."""
    fix = UNREAD_FIXES[response.code]
    told = {"signature_code": response.code}
    logger.warning("request rejected: %s: %s. Fix: %s", response.code, response.detail, fix, extra=told)


def log_unsigned() -> None:
    """Log that an unsigned request is accepted because the mode only observes."""
    logger.warning('unsigned request accepted: mode="observe" lets it pass, mode="required" would reject it')


def line_of(error: SignatureError) -> str:
    """Return one line about a rejected request: its code, step, reason, fix and, cleaned, what the sender wrote."""
    detail = printable(error.detail.rstrip("."))
    received = None if error.received is None else without_credentials(error.received)
    shown = [("received", received), ("keyid", error.keyid)]
    texts = [f"{name}: {printable(text, limit=LONGEST_IN_LINE)}" for name, text in shown if text is not None]
    evidence = f" ({'; '.join(texts)})" if texts else ""
    fix = "" if error.reason is None else f". Fix: {REASONS[error.reason].operator}"
    return f"{error.code} at step {error.step}: {detail}{evidence}{fix}"


def _level(error: SignatureError) -> int:
    """Return the level of a rejection: ERROR if a source of the operator failed in a way that it does not report."""
    cause = error.__cause__
    failed = isinstance(error, VerificationUnavailable) and cause is not None
    return logging.ERROR if failed and not isinstance(cause, UndersignedError) else logging.WARNING


def _fields(error: SignatureError) -> dict[str, object]:
    return {
        "signature_code": error.code,
        "signature_step": error.step,
        "signature_keyid": None if error.keyid is None else printable(error.keyid),
        "signature_detail": error.detail,
    }
