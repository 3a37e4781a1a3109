"""Findings: the changes on the way, and the settings that fix them."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    url: str
    requests: int
    passed: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
