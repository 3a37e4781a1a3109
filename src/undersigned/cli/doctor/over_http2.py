"""The examination over HTTP/2: the same checks again, if the server offers it, and what differs from HTTP/1.1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undersigned.cli.connection import NoAnswer
from undersigned.cli.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.cli.doctor.finding import Diagnosis
    from undersigned.cli.doctor.probe import Answer, Probe, ProbeClient

CHECK = "HTTP/2"
NOT_INSTALLED = "the server offers HTTP/2, which is not examined: pip install 'undersigned[http2]'"
_ADVICE = "see the log of the proxy or server, or do not offer HTTP/2"


def with_http2(
    diagnosis: Diagnosis, client: ProbeClient, examine: Callable[[Callable[[Probe], Answer]], Diagnosis]
) -> Diagnosis:
    """Return the diagnosis with what is different over HTTP/2.

    Args:
        diagnosis: the diagnosis over HTTP/1.1.
        client: the client of the server.
        examine: examines the server by a function that sends a probe and returns the answer.
    """
    if client.site.scheme != "https":
        return diagnosis
    try:
        if not client.offers_http2():
            return replace(diagnosis, http2="not offered")
        try:
            from undersigned.cli.doctor.http2 import HTTP2Client  # noqa: PLC0415 - needs h2, which is optional
        except ImportError:
            return replace(diagnosis, http2="not installed", notes=(*diagnosis.notes, NOT_INSTALLED))
        return _together(diagnosis, examine(HTTP2Client(client).ask))
    except NoAnswer as silence:
        failed = Finding(CHECK, f"no answer: {silence}", _ADVICE)
        return replace(diagnosis, http2="examined", findings=(*diagnosis.findings, failed))


def _together(diagnosis: Diagnosis, over_http2: Diagnosis) -> Diagnosis:
    """Return the diagnosis with the findings that are different over HTTP/2."""
    different = tuple(
        replace(finding, check=f"{finding.check} ({CHECK})")
        for finding in over_http2.findings
        if finding not in diagnosis.findings
    )
    shown = {one.name: one for one in (*over_http2.intermediaries, *diagnosis.intermediaries)}
    return replace(
        diagnosis,
        requests=diagnosis.requests + over_http2.requests,
        passed=diagnosis.passed if over_http2.findings else (*diagnosis.passed, CHECK),
        findings=(*diagnosis.findings, *different),
        intermediaries=tuple(shown.values()),
        http2="examined",
    )
