"""Findings: the changes on the way, and the settings that fix them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from undersigned.cli.doctor.intermediaries import Intermediary

HTTP2 = Literal["examined", "not installed", "not offered", "not encrypted"]
"""What is known about HTTP/2: it was examined, or why not. The package h2 is not installed, the server does not offer
it, or the URL is not https, so that nothing is negotiated."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change on the way, or another reason why signatures are not accepted.

    Attributes:
        check: the name of the check.
        problem: a description of the problem.
        advice: the setting that fixes it.
        sent: the request target that was sent, or an empty text.
        arrives: the request target that arrives, or an empty text if it is not known.
    """

    check: str
    problem: str
    advice: str
    sent: str = ""
    arrives: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one examination.

    Attributes:
        url: the examined URL.
        requests: the number of requests that were sent.
        passed: the names of the checks without a problem.
        findings: the problems.
        notes: further information for the operator.
        intermediaries: the proxies that the answers show by name.
        http2: what is known about HTTP/2.
    """

    url: str
    requests: int
    passed: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    intermediaries: tuple[Intermediary, ...] = ()
    http2: HTTP2 = "not encrypted"
