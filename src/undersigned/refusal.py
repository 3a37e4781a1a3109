"""Refusals: what a caller hears, and what the operator's log hears."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass

from .errors import SignatureError, VerificationUnavailable

logger = logging.getLogger("undersigned")


class BodyRefused(Exception):
    """A body that is not read to its end, and what to answer."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that refuses a request.

    Attributes:
        status: the HTTP status code.
        code: the one word the caller hears.
        challenge: whether `WWW-Authenticate` carries the code.
    """

    status: int
    code: str
    challenge: bool = False

    @classmethod
    def of(cls, error: SignatureError) -> Refusal:
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


CONTENT_TOO_LARGE = Refusal(413, "content_too_large")
REQUEST_TIMEOUT = Refusal(408, "request_timeout")


def log_refusal(error: SignatureError) -> None:
    """Log a refusal: an error with its cause where we must act, else a message for the operator."""
    if isinstance(error, VerificationUnavailable):
        logger.error("request refused: %s", error.explain(), exc_info=error.__cause__)
    else:
        logger.info("request refused: %s", error.explain())


def log_unsigned() -> None:
    """Log that an unsigned request goes on because the mode only observes."""
    logger.warning("unsigned request passed on: the mode observes; required would refuse it")
