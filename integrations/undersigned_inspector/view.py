"""Views: the explanation of a pasted request, and a decision of an application, as the JSON that the page shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from undersigned import profiles
from undersigned.errors import printable
from undersigned.explanation import CHECKS, explain_request
from undersigned.limits import LONGEST_TARGET
from undersigned.url import ADCP_RECEIVED, URL, explain

from .message import component_views, message_lines, request_view

if TYPE_CHECKING:
    from undersigned.errors import Step
    from undersigned.explanation import ExplainedRequest

    from .kept import Inspected
    from .pasted import Pasted

View = dict[str, object]

_CONTENT: Final = 11
_NOT_CHECKED: Final[dict[Step, str]] = {
    9: "needs a revocation list",
    "9a": "needs a replay store",
    12: "needs a replay store",
    13: "needs a replay store",
}
_NO_CONTENT: Final = "the content is not in what was pasted: paste it, or choose its file, and explain again"
_LAST_SECOND: Final = 253_402_300_799


def pasted_view(pasted: Pasted) -> View:
    """Return the explanation of a pasted request."""
    request, whole = pasted.request.request, pasted.request.is_whole
    explained = explain_request(request, pasted.profile, pasted.keys, now=pasted.now, signers_base=pasted.base)
    unread = not whole and explained.error is not None and explained.error.step == _CONTENT
    if unread:
        explained = replace(explained, error=None, cause=None)
    return {
        "title": _title(explained, unread=unread),
        "ok": explained.error is None and not unread,
        "facts": [("Read as", pasted.request.form), ("Profile", explained.profile), *_facts(explained, whole=whole)],
        "steps": _steps(explained, unread=unread),
        "request": request_view(request, is_whole=whole),
        "components": component_views(explained.base),
        "bases": _bases(explained),
        "canonicalization": canonicalization_view(request.url),
        "cause": explained.summary if explained.error is not None else "",
    }


def live_view(inspected: Inspected) -> View:
    """Return a decision of an application with its evidence."""
    decision = inspected.decision
    url = URL.parse(inspected.evidence.url)
    facts = {
        "Decided": _moment(inspected.at),
        "URL": inspected.evidence.url,
        "Profile": decision.profile,
        "Key": decision.keyid,
        "Algorithm": decision.algorithm,
        "Route": decision.route,
        "Took": f"{decision.seconds * 1000:.2f} ms",
        "Received": inspected.evidence.received,
    }
    ok = decision.outcome in {"verified", "unsigned"}
    code = f": {decision.code}" if decision.code else ""
    return {
        "number": inspected.number,
        "summary": f"{decision.method or '?'} {url.path or decision.route or ''}",
        "outcome": decision.outcome,
        "title": f"{decision.outcome.capitalize()}{code}",
        "ok": ok,
        "facts": [(name, value) for name, value in facts.items() if value],
        "steps": _live_steps(inspected),
        "request": {
            "lines": message_lines(decision.method or "?", url.path, url.query, inspected.evidence.fields),
            "body": "(content is not kept)",
            "url": inspected.evidence.url,
        },
        "components": component_views(inspected.evidence.base),
        "bases": {"rebuilt": _whole_lines(inspected.evidence.base), "signers": [], "difference": ""},
        "canonicalization": canonicalization_view(inspected.evidence.url) if url.scheme else None,
        "cause": "",
    }


def canonicalization_view(url: str) -> View:
    """Return the changes of a received URL by each rule, the rules without effect, and the result or the error."""
    explanation = explain(url, ADCP_RECEIVED)
    changes = [
        {
            "rule": change.rule.name,
            "summary": change.rule.summary,
            "source": change.rule.source,
            "before": printable(change.before, limit=LONGEST_TARGET),
            "after": printable(change.after, limit=LONGEST_TARGET),
        }
        for change in explanation.changes
    ]
    error = explanation.error
    changed = {change.rule.name for change in explanation.changes}
    rejected = None if error is None else error.rule
    applied = takewhile(lambda name: name != rejected, [rule.name for rule in ADCP_RECEIVED])
    return {
        "changes": changes,
        "unchanged": [name for name in applied if name not in changed],
        "result": None if explanation.result is None else printable(explanation.result, limit=LONGEST_TARGET),
        "error": None if error is None else f"{error.rule}: {error}",
    }


def _title(explained: ExplainedRequest, *, unread: bool) -> str:
    if explained.error is not None:
        step = explained.error.step
        return f"Rejected at step {step}, {CHECKS[step]}: {explained.error.code}"
    return "Verified up to the content, which is not known" if unread else "Verified: every checked step passes"


def _times(explained: ExplainedRequest) -> list[tuple[str, str]]:
    validity = explained.validity
    if validity is None:
        return []
    how = "when it was signed" if validity.is_signing_time else "the given time"
    times = [("Checked as of", f"{_moment(validity.judged_at)}, {how}")]
    return [*times, ("Now", printable(validity.fault))] if validity.fault else times


def _facts(explained: ExplainedRequest, *, whole: bool) -> list[tuple[str, str]]:
    """Return the time of the check, and the digest of the content."""
    found = _times(explained)
    digests = explained.digests
    if whole and digests is not None and digests.declared is not None:
        matches = "as Content-Digest declares" if digests.matches else "but Content-Digest declares another"
        found.append(("Digest", f"{digests.computed}, {matches}"))
    return found


def _steps(explained: ExplainedRequest, *, unread: bool) -> list[View]:
    steps: list[View] = []
    for step, outcome in explained.steps:
        detail, said = _NOT_CHECKED.get(step, "") if outcome == "not checked" else "", str(outcome)
        if outcome == "failed" and explained.error is not None:
            detail = f"{explained.error.code}: {printable(explained.error.detail)}"
        elif unread and step == _CONTENT:
            detail, said = _NO_CONTENT, "not checked"
        steps.append({"step": str(step), "check": CHECKS[step], "outcome": said, "detail": detail})
    return steps


def _live_steps(inspected: Inspected) -> list[View]:
    """Return the steps of a decision; none if the request was not signed and not rejected."""
    decision = inspected.decision
    if decision.outcome == "unsigned" or (decision.step is None and decision.outcome != "verified"):
        return []
    steps: list[View] = []
    reached = True
    for step, check in CHECKS.items():
        failed = check == decision.step
        reached = reached and not failed
        outcome = "failed" if failed else "passed" if reached else "not reached"
        detail = f"{decision.code}: {inspected.evidence.detail}" if failed else ""
        steps.append({"step": str(step), "check": check, "outcome": outcome, "detail": detail})
    return steps


def _bases(explained: ExplainedRequest) -> View:
    """Return both bases line by line, each line cut at the first differing byte, and that place in words."""
    gap = explained.difference
    if gap is None:
        rebuilt, signers = _whole_lines(explained.base), _whole_lines(explained.signers_base)
        return {"rebuilt": rebuilt, "signers": signers, "difference": ""}
    return {
        "rebuilt": _cut_lines(explained.base, gap.line, gap.column),
        "signers": _cut_lines(explained.signers_base, gap.line, gap.column),
        "difference": f"The bases first differ at byte {gap.offset}: line {gap.line}, column {gap.column}.",
    }


def _whole_lines(base: str | None) -> list[list[str]]:
    return [] if base is None else [[printable(line, limit=len(line))] for line in base.split("\n")]


def _cut_lines(base: str | None, number: int, column: int) -> list[list[str]]:
    """Return the lines, and line `number` as the text before the first differing byte, that byte, and the rest."""
    lines = _whole_lines(base)
    raw = (base or "").split("\n")
    if number <= len(raw):
        line, at = raw[number - 1], column - 1
        pieces = (line[:at], line[at : at + 1], line[at + 1 :])
        before, byte, rest = (printable(piece, limit=len(piece)) for piece in pieces)
        lines[number - 1] = [before, byte or "(its end)", rest]
    else:
        lines += [[] for _ in range(len(raw), number - 1)] + [["", "(its end)", ""]]
    return lines


def _moment(seconds: float) -> str:
    """Return a time in UTC, or its number of seconds if no calendar has it."""
    if 0 <= seconds <= _LAST_SECOND:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{seconds:.0f} seconds since the epoch"


PROFILE_NAMES: Final = tuple(name for name, profile in profiles.BY_NAME.items() if profile.message == "request")
"""The names of the profiles that the page offers."""
