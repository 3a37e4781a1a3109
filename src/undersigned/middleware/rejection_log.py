"""The log of a middleware: one line for each rejected request, within an allowance, and the evidence below it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from undersigned.errors import UndersignedError, VerificationUnavailable, printable, without_credentials
from undersigned.limits import LONGEST_IN_LINE
from undersigned.middleware.fixes import FIXES, UNREAD_FIXES
from undersigned.middleware.line_allowance import LineAllowance

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.policy.policy import Policy
    from undersigned.policy.route import RouteResolver

logger = logging.getLogger("undersigned")


class RejectionLog:
    """The log of one middleware: the logger `undersigned`, and what it has to say about rejected requests.

    A rejected request is one line at WARNING, because Python shows WARNING if nobody has configured logging. The line
    has the code, the step, the reason and the fix. Any sender can cause such lines, so each code has an allowance; a
    line beyond it is logged at DEBUG. The evidence, such as the rebuilt signature base, follows at INFO.

    A line is an ERROR only if a key source, a revocation source or a replay store raised an exception of another
    package. No sender can cause that while they work.
    """

    __slots__ = ("_allowance",)

    def __init__(self) -> None:
        self._allowance = LineAllowance()

    def log_rejection(self, error: SignatureError) -> None:
        """Log a rejected request.

        The line has the fields `signature_code`, `signature_step`, `signature_keyid` and `signature_detail`.
        """
        self._write("request rejected", error, _level(error))

    def log_excused(self, error: SignatureError) -> None:
        """Log a request whose signature failed, and which another credential excuses."""
        self._write("request accepted on another credential", error, logging.WARNING)

    def log_unknown(self, error: SignatureError) -> None:
        """Log a request that counts as unsigned, because nobody knows its signer."""
        self._write("request accepted as unsigned", error, logging.INFO)

    def log_unread(self, response: ErrorResponse) -> None:
        """Log a request that was rejected before it was read to its end."""
        note = self._allowance.take(response.code)
        logger.log(
            logging.DEBUG if note is None else logging.WARNING,
            "request rejected: %s: %s. Fix: %s%s",
            response.code,
            response.detail,
            UNREAD_FIXES[response.code],
            note or "",
            extra={"signature_code": response.code},
        )

    def log_unsigned(self) -> None:
        """Log that an unsigned request is accepted because the mode only observes."""
        note = self._allowance.take("observe")
        logger.log(
            logging.DEBUG if note is None else logging.WARNING,
            'unsigned request accepted: mode="observe" lets it pass, mode="required" would reject it%s',
            note or "",
        )

    def log_failed_callback(self, option: str, failure: Exception) -> None:
        """Log the exception that the listener in `option` raised."""
        note = self._allowance.take(option)
        if note is not None:
            logger.error("%s raised an exception; ignored%s", option, note, exc_info=failure)

    def _write(self, what: str, error: SignatureError, level: int) -> None:
        note = self._allowance.take(f"{what}: {error.code}")
        evidence = logging.INFO
        if note is None:
            level = evidence = logging.DEBUG
        if logger.isEnabledFor(level):
            cause = error.__cause__ if level == logging.ERROR else None
            logger.log(level, "%s: %s%s", what, line_of(error), note or "", extra=_fields(error), exc_info=cause)
        if logger.isEnabledFor(evidence):
            logger.log(evidence, "evidence: %s", error.explain())


def line_of(error: SignatureError) -> str:
    """Return one line about a rejected request: its code, step, reason, fix and, cleaned, what the sender wrote."""
    detail = printable(error.detail.rstrip("."))
    received = None if error.received is None else without_credentials(error.received)
    shown = [("received", received), ("keyid", error.keyid)]
    texts = [f"{name}: {printable(text, limit=LONGEST_IN_LINE)}" for name, text in shown if text is not None]
    evidence = f" ({'; '.join(texts)})" if texts else ""
    fix = "" if error.reason is None else f". Fix: {FIXES[error.reason]}"
    return f"{error.code} at step {error.step}: {detail}{evidence}{fix}"


def log_rejection(error: SignatureError) -> None:
    """Log a rejected request without a middleware: as information with its evidence, because no allowance bounds it.

    The record has the fields that a middleware's line has.
    """
    logger.info("request rejected: %s", error.explain(), extra=_fields(error))


def log_missing(policy: Policy) -> None:
    """Log the operations that a policy lists and no route of the application has. They were probably misspelt."""
    for option in ("required_for", "warn_for", "supported_for"):
        missing = cast("RouteResolver", policy.resolver).missing(getattr(policy, option))
        if missing:
            logger.warning("%s: no route of the application has the operation %s", option, ", ".join(sorted(missing)))


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
