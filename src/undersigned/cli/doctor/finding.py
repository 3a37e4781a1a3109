"""Findings: what was found to change on the way, and what to set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One change, or one thing that keeps signatures from being accepted.

    Attributes:
        check: what was looked at.
        problem: what happens, in plain words.
        advice: what to set.
        sent: the request target or the content that was sent, where it matters.
        arrives: what it arrives as, where that was found out.
    """

    check: str
    problem: str
    advice: str
    sent: str = ""
    arrives: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one examination found.

    Attributes:
        url: the URL that was examined.
        requests: how many requests it took.
        kept: the checks that showed no change.
        findings: the others.
        notes: what an operator may want to know besides.
    """

    url: str
    requests: int
    kept: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
