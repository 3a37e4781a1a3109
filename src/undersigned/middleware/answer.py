"""Refusals: what a caller hears, what the operator's log hears, and what is told of every decision."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.errors import SignatureError, VerificationUnavailable, printable
from undersigned.middleware.decision import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin
    from undersigned.verification.checklist import VerifiedSignature

logger = logging.getLogger("undersigned")


class UnreadRequest(Exception):
    """A message that is not read to its end, and what to answer."""

    def __init__(self, refusal: ErrorResponse) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An answer that refuses a request.

    Attributes:
        status: the HTTP status code.
        code: the one word the caller hears.
        challenge: whether `WWW-Authenticate` carries the code.
        detail: what was wrong, for the operator's log.
    """

    status: int
    code: str
    challenge: bool = False
    detail: str = ""

    @classmethod
    def of(cls, error: SignatureError) -> ErrorResponse:
        """Return the answer to a signature error: 503 where we must act, 401 where the sender must."""
        if isinstance(error, VerificationUnavailable):
            return cls(503, error.code)
        return cls(401, error.code, challenge=True)

    @property
    def body(self) -> bytes:
        """The content: a JSON object with the code and nothing more."""
        return json.dumps({"error": self.code}).encode("ascii")

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The header fields."""
        fields = [("Content-Type", "application/json"), ("Content-Length", str(len(self.body)))]
        if self.challenge:
            fields.append(("WWW-Authenticate", f'Signature error="{self.code}"'))
        return fields


CONTENT_TOO_LARGE = ErrorResponse(413, "content_too_large", detail="the body is larger than max_body")
REQUEST_TIMEOUT = ErrorResponse(408, "request_timeout", detail="the body took longer than body_timeout")
TOO_MANY_FIELDS = ErrorResponse(
    431, "request_header_fields_too_large", detail="there are more header fields than are read"
)

UNREAD: tuple[ErrorResponse, ...] = (CONTENT_TOO_LARGE, REQUEST_TIMEOUT, TOO_MANY_FIELDS)
"""The answers to messages that are not read to their end."""


def log_refusal(error: SignatureError) -> None:
    """Log a refusal: an error with its cause where we must act, else a message for the operator.

    The record has the fields `signature_code`, `signature_step`, `signature_keyid` and `signature_detail`.
    """
    if isinstance(error, VerificationUnavailable):
        logger.error("request refused: %s", error.explain(), extra=_fields(error), exc_info=error.__cause__)
    elif logger.isEnabledFor(logging.INFO):
        logger.info("request refused: %s", error.explain(), extra=_fields(error))


def log_unsigned() -> None:
    """Log that an unsigned request goes on because the mode only observes."""
    logger.warning("unsigned request passed on: the mode observes; required would refuse it")


class Recorder:
    """Tells the log, and whoever wants to know, what was decided of each request.

    Args:
        profile: the verifier's.
        clock: the verifier's; seconds since the epoch.
        on_decision: gets a `Decision` for every judged request, or None.
    """

    __slots__ = ("clock", "on_decision", "profile")

    def __init__(
        self, profile: Profile, clock: Callable[[], float], on_decision: Callable[[Decision], object] | None
    ) -> None:
        self.profile = profile
        self.clock = clock
        self.on_decision = on_decision

    def begin(self) -> Record:
        """Return the record of a request whose judging begins now."""
        return Record(self)


class Record:
    """What is decided of one request.

    Attributes:
        origin: the origin it is for, once that is known.
    """

    __slots__ = ("_begun", "_recorder", "origin")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._begun = time.perf_counter()
        self.origin: Origin | None = None

    def passed(self, signature: VerifiedSignature | None, warning: SignatureError | None) -> None:
        """Record that the request goes on, with the signature that was verified or the failure that was forgiven."""
        if warning is not None:
            logger.warning("request passed on another credential: %s", warning.explain(), extra=_fields(warning))
        self._tell(warning or signature, goes_on=True)

    def refused(self, error: SignatureError) -> None:
        """Record that the request is refused."""
        log_refusal(error)
        self._tell(error, goes_on=False)

    def unread(self, refusal: ErrorResponse) -> None:
        """Record that the request is refused without being read to its end."""
        logger.info("request refused: %s: %s", refusal.code, refusal.detail, extra={"signature_code": refusal.code})
        if self._recorder.on_decision is not None:
            where = None if self.origin is None else str(self.origin)
            self._hand_over(Decision(outcome="refused", code=refusal.code, origin=where, seconds=self._seconds()))

    def _tell(self, judged: VerifiedSignature | SignatureError | None, *, goes_on: bool) -> None:
        recorder = self._recorder
        if recorder.on_decision is None:
            return
        decision = Decision.of(
            judged,
            profile=recorder.profile,
            origin=self.origin,
            seconds=self._seconds(),
            now=recorder.clock(),
            goes_on=goes_on,
        )
        self._hand_over(decision)

    def _seconds(self) -> float:
        return time.perf_counter() - self._begun

    def _hand_over(self, decision: Decision) -> None:
        on_decision = self._recorder.on_decision
        assert on_decision is not None  # noqa: S101 - decisions are made for it alone; this tells the type checker
        try:
            on_decision(decision)
        except Exception:
            # What counts requests must not decide about them.
            logger.exception("on_decision raised; mend it")


def _fields(error: SignatureError) -> dict[str, object]:
    return {
        "signature_code": error.code,
        "signature_step": error.step,
        "signature_keyid": None if error.keyid is None else printable(error.keyid),
        "signature_detail": error.detail,
    }
