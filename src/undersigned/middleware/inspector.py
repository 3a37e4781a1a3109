"""The inspector: the last decisions of a middleware, kept in memory with their evidence, for development."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, SignatureError, is_credential, printable, without_credentials
from undersigned.limits import LONGEST_INSPECTED

if TYPE_CHECKING:
    from undersigned.message.header_fields import HeaderFields
    from undersigned.middleware.decision import Decision
    from undersigned.middleware.guard import Visit
    from undersigned.verification.verified_signature import VerifiedSignature

MASK: Final = "(masked)"
"""What is kept in place of the value of a credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A decision with its evidence. Every text of the sender is escaped and truncated, and credentials are masked.

    Attributes:
        number: the number of the decision in this inspector, from 1.
        at: when the decision was made, in seconds since the epoch.
        decision: the decision.
        url: the URL of the request; only its target as the server shows it, if its origin was not looked for.
        fields: the header fields as (name, value) pairs, once they were read.
        base: the signature base as rebuilt from the request, or None if it was not rebuilt.
        detail: what was wrong, in a sentence, or None.
        received: other evidence, such as the Host and the request target, or None.
    """

    number: int
    at: float
    decision: Decision
    url: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    base: str | None = None
    detail: str | None = None
    received: str | None = None


class Inspector:
    """An inspector that keeps the last decisions of a middleware in memory: `SignatureMiddleware(..., inspector=...)`.

    It is for development: a middleware rejects it unless all of its origins are loopback origins. It keeps no content,
    and it masks the values of header fields and of query parameters that look like credentials. It starts no server;
    `undersigned_inspector.Inspector` also shows its decisions on a page.

    Args:
        most: how many decisions are kept; the oldest is dropped first.

    Raises:
        ConfigurationError: `most` is not a positive number.
    """

    def __init__(self, *, most: int = 200) -> None:
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise ConfigurationError("most: give the number of decisions to keep, such as 200")
        self._lock = threading.Lock()
        self._kept: deque[Inspected] = deque(maxlen=most)
        self._count = 0

    def record(
        self, decision: Decision, visit: Visit | None = None, evidence: VerifiedSignature | SignatureError | None = None
    ) -> None:
        """Keep a decision with its evidence.

        Args:
            decision: the decision.
            visit: the request in the guard, or None if a route rejected the request.
            evidence: the verified signature or the error, or None.
        """
        fields = None if visit is None else visit.fields
        url = None if visit is None else visit.url or visit.shown_target()
        base = None if evidence is None else evidence.signature_base
        error = evidence if isinstance(evidence, SignatureError) else None
        received = None if error is None else error.received
        with self._lock:
            self._count += 1
            self._kept.append(
                Inspected(
                    number=self._count,
                    at=time.time(),
                    decision=decision,
                    url="" if url is None else _clean(url),
                    fields=() if fields is None else _mask_fields(fields),
                    base=None if base is None else "\n".join(map(_mask_line, base.split("\n"))),
                    detail=None if error is None else error.detail,
                    received=None if received is None else _clean(received),
                )
            )

    def after(self, number: int) -> tuple[Inspected, ...]:
        """Return the kept decisions with a greater number than `number`, oldest first."""
        with self._lock:
            return tuple(one for one in self._kept if one.number > number)

    def __repr__(self) -> str:
        """Return the number of decisions only."""
        return f"<{type(self).__name__}: {len(self._kept)} decisions>"


def _mask_fields(fields: HeaderFields) -> tuple[tuple[str, str], ...]:
    return tuple((printable(name, limit=64), MASK if is_credential(name) else _clean(value)) for name, value in fields)


def _mask_line(line: str) -> str:
    """Return a line of a signature base without the value of a credential."""
    name, colon, _ = line.partition(": ")
    return f"{_clean(name)}: {MASK}" if colon and is_credential(name) else _clean(line)


def _clean(text: str) -> str:
    """Return `text` escaped and truncated, without the values of query parameters that are credentials."""
    return printable(without_credentials(text, mask=MASK), limit=LONGEST_INSPECTED)
