"""The record of what was decided about a request: a `Decision` for whoever listens, and a line of the log.

A request that is rejected, or that passes although its signature failed, has one line in the log, and the evidence
below it.
"""

from __future__ import annotations

import json
import logging
import time
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from undersigned.errors import CHECKS, SignatureError, UndersignedError, VerificationUnavailable
from undersigned.limits import LONGEST_IN_LINE
from undersigned.log_text import printable
from undersigned.middleware.decision import Decision, Evidence, claims_of, seconds_off, without_query
from undersigned.middleware.error_response import UnreadRequest, logger
from undersigned.reasons import fix_of
from undersigned.redaction import WITHHELD, is_credential, without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.content import Content
    from undersigned.message.request import Request
    from undersigned.middleware.decision import Outcome
    from undersigned.middleware.options import Service
    from undersigned.middleware.received import Received
    from undersigned.verification.verified_signature import VerifiedSignature

_LOGGED: Final = (
    "code", "step", "method", "target", "origin", "target_uri", "client", "status", "route", "keyid", "seconds_off",
)  # fmt: skip
"""The attributes of a `Decision` that a record of the log has, each with the prefix `signature_`."""

_TARGET_URI: Final = '"@target-uri": '

_WORDS: Final[Mapping[Outcome, tuple[int, str]]] = {
    "warned": (logging.WARNING, "request accepted on another credential"),
    "unknown": (logging.INFO, "request accepted as unsigned"),
}


def record(
    outcome: Outcome,
    received: Received,
    service: Service,
    result: VerifiedSignature | SignatureError | None = None,
    *,
    request: Request | None = None,
    content: Content | None = None,
    status: int | None = None,
    route: str | None = None,
    by_route: bool = False,
) -> None:
    """Pass on what was decided. Log a failed signature, and an unsigned request if the mode only observes.

    The `request` is what was rebuilt, and `content` is what was read of its body. The `result` is the verified
    signature, or why there is none. `route` and `by_route` are as in `Admission.reject`.
    """
    error = result if isinstance(result, SignatureError) else None
    observes = outcome == "unsigned" and service.mode == "observe"
    if error is None and not observes and service.on_decision is None:
        return
    decision = _decision(outcome, received, service, result, request)
    decision.status, decision.route = status, route
    if by_route:
        decision.seconds = 0.0
    if error is not None:
        _log_error(error, decision)
        _log_request(received, service, request, content)
    elif observes:
        why = 'mode="observe" lets it pass the middleware, and mode="required" would reject it'
        line = f"unsigned request: {why} ({'; '.join(_request(decision))})"
        logger.warning("%s", line, extra=_fields(decision))
    if service.on_decision is not None:
        try:
            service.on_decision(decision)
        except Exception as failure:  # noqa: BLE001 - what counts or shows requests must not decide about them
            logger.error("on_decision raised an exception; ignored", exc_info=failure)


def _decision(
    outcome: Outcome,
    received: Received,
    service: Service,
    result: VerifiedSignature | SignatureError | None,
    request: Request | None,
) -> Decision:
    profile, origins, fields = service.profile, service.origins, received.fields
    error = result if isinstance(result, SignatureError) else None
    keyid, created = (None, None) if result is None else (result.keyid, result.created)
    claims = {} if error is None else claims_of(fields, profile)
    reason, now, shown = None if error is None else error.reason, service.verifier.clock(), received.shown_target()
    base = None if result is None else result.signature_base
    uri = None
    if base is not None and reason == "signature_invalid":
        uri = next((line.removeprefix(_TARGET_URI) for line in base.split("\n") if line.startswith(_TARGET_URI)), None)
    detail, told = (None, None) if error is None else (error.detail, error.received)
    origin = None if request is None else request.origin
    url = _url(received, request)
    if origin is None:
        # What is told of a request that was not for an origin, or whose origin did not matter, decides nothing.
        with suppress(Exception):
            origin = received.origin(origins)
    return Decision(
        outcome=outcome,
        profile=profile.name,
        code=None if error is None else error.code,
        step=None if error is None or isinstance(error, UnreadRequest) else CHECKS[error.step],
        method=_clean(received.method, 32),
        target=_clean(without_query(shown)),
        origin=None if origin is None else str(origin),
        target_uri=None if uri is None else _clean(without_query(uri)),
        client=_clean(received.client, 64),
        keyid=_clean(keyid or claims.get("keyid"), 128),
        algorithm=None if result is None else result.algorithm or None,
        tag=None if keyid is None else profile.selection.tag,
        seconds=time.perf_counter() - received.begun,
        skew=None if created is None else now - created,
        seconds_off=seconds_off(claims, profile, now) if reason == "signature_window_invalid" else None,
        # It refers to no content, and nothing of it is in a repr.
        evidence=lambda: Evidence(
            url=url, fields=fields.lines, base=base, detail=detail, received=told, is_local=origins.are_loopback
        ).cleaned(),
    )


def _log_error(error: SignatureError, decision: Decision) -> None:
    """Log a failed signature: one line at WARNING, because Python shows WARNING if nobody has configured logging.

    The record has the same as fields, such as `signature_code`. The line is an ERROR only if a source or a store raised
    an exception of another package: no sender can cause that while they work.
    """
    level, words = _WORDS.get(decision.outcome, (logging.WARNING, "request rejected"))
    is_down = isinstance(error, VerificationUnavailable) and decision.outcome not in _WORDS
    cause = None if isinstance(error.__cause__, UndersignedError) or not is_down else error.__cause__
    told = {**_fields(decision), "signature_detail": error.detail}
    level = level if cause is None else logging.ERROR
    logger.log(level, "%s: %s", words, _line_of(error, decision), extra=told, exc_info=cause)
    if logger.isEnabledFor(logging.INFO) and not isinstance(error, UnreadRequest):
        logger.info("evidence: %s", error.explain())


def _log_request(received: Received, service: Service, request: Request | None, content: Content | None) -> None:
    """Log a request at DEBUG in the form that `undersigned explain` reads, so that nobody has to capture it.

    Without `log_whole`, the values of credentials are withheld, and there is no body.
    """
    if not logger.isEnabledFor(logging.DEBUG):
        return
    url, fields = _url(received, request), list(received.fields)
    if not service.log_whole:
        url = without_credentials(url, mask=WITHHELD)
        fields = [(name, WITHHELD if is_credential(name) else without_credentials(value)) for name, value in fields]
    told: dict[str, object] = {"method": received.method, "url": url, "headers": fields}
    if service.log_whole and content is not None:
        told["body_b64"] = b64encode(bytes(content)).decode("ascii")
    logger.debug("%s", json.dumps({"request": told, "received_at": service.verifier.clock()}))


def _url(received: Received, request: Request | None) -> str:
    """Return the URL of a request; only its target as the server shows it, if its origin was not looked for."""
    return received.shown_target() if request is None or request.origin is None else request.url


def _line_of(error: SignatureError, decision: Decision) -> str:
    """Return one line about a rejected request: its code, check, reason, request, fix and what the sender wrote."""
    received = None if error.received is None else without_credentials(error.received)
    told = [
        *_request(decision),
        f"keyid: {decision.keyid}" if decision.keyid else "",
        f"@target-uri: {decision.target_uri}" if decision.target_uri else "",
        _off(decision.seconds_off),
        f"received: {printable(received, limit=LONGEST_IN_LINE)}" if received else "",
    ]
    check = "" if isinstance(error, UnreadRequest) else f" ({CHECKS[error.step]})"
    fix = fix_of(error)
    line = f"{error.code}{check}: {printable(error.detail.rstrip('.'))} ({'; '.join(filter(None, told))})"
    return f"{line}. Fix: {fix}" if fix else line


def _request(decision: Decision) -> list[str]:
    """Return which request it was, in parts."""
    named = (("route", decision.route), ("origin", decision.origin), ("client", decision.client))
    parts = [f"{name}: {value}" for name, value in (*named, ("status", decision.status)) if value is not None]
    return [f"{decision.method or '?'} {decision.target or '?'}", *parts]


def _off(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"it ended {seconds:.0f} seconds ago" if seconds > 0 else f"it begins in {-seconds:.0f} seconds"


def _fields(decision: Decision) -> dict[str, object]:
    return {f"signature_{name}": getattr(decision, name) for name in _LOGGED}


def _clean(text: str | None, limit: int = LONGEST_IN_LINE) -> str | None:
    return None if text is None else printable(text, limit=limit)
