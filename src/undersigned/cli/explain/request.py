"""Explanation of a recorded request: as JSON, and as text in colour."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rich.text import Text

from undersigned.errors import printable
from undersigned.explanation import CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.cli.lines import Answer
    from undersigned.explanation import BaseDifference, ContentDigests, ExplainedRequest, ValidityPeriod

_MARKS: Final = {
    "passed": ("+", "green"),
    "failed": ("x", "bold red"),
    "not checked": ("-", "dim"),
    "not reached": (" ", "dim"),
}
_LAST_SECOND: Final = 253_402_300_799


def request_answer(explained: ExplainedRequest) -> Answer:
    """Return the result as a JSON object."""
    error, gap, search = explained.error, explained.difference, explained.search
    return {
        "ok": error is None,
        "profile": explained.profile,
        "code": error and error.code,
        "step": error and error.step,
        "detail": error and error.detail,
        "steps": [{"step": step, "check": CHECKS[step], "outcome": outcome} for step, outcome in explained.steps],
        "validity": explained.validity and asdict(explained.validity),
        "signature_base": explained.base,
        "signers_base": explained.signers_base,
        "difference": gap and asdict(gap),
        "content_digest": explained.digests and asdict(explained.digests),
        "changes": [] if search.cause is None else [asdict(change) for change in search.cause.changes],
        "keyid": search.cause and search.cause.keyid,
        "search": {"tried": search.tried, "complete": search.is_complete},
        "causes": list(explained.causes),
    }


def request_text(explained: ExplainedRequest) -> Iterator[Text]:
    """Yield the lines that show the result."""
    yield Text.assemble(("Profile: ", "bold"), explained.profile)
    if explained.validity is not None:
        yield from _validity_text(explained.validity)
    for step, outcome in explained.steps:
        mark, style = _MARKS[outcome]
        note = "  (not checked: needs a revocation list or a replay store)" if outcome == "not checked" else ""
        yield Text.assemble(
            (f"{mark} {step!s:>2}  ", style), (CHECKS[step], "" if mark.strip() else style), (note, "dim")
        )
        if outcome == "failed" and explained.error is not None:
            yield Text(f"      {explained.error.code}: {printable(explained.error.detail)}", style)
    if explained.digests is not None:
        yield from _digests_text(explained.digests)
    yield Text()
    if explained.base is None:
        yield Text("The signature base cannot be rebuilt from this request.", "bold")
    else:
        yield Text("The signature base, rebuilt from this request:", "bold")
        for line in explained.base.split("\n"):
            yield Text(f"  {printable(line)}")
    if explained.difference is not None:
        yield from _difference_text(explained.difference)
    proven = 0 if explained.search.cause is None else len(explained.search.cause.changes)
    for number, cause in enumerate(explained.causes):
        word = "Cause: " if number < proven else "Likely cause: "
        yield Text.assemble((word, "bold"), (printable(cause), "yellow"))
    if not explained.search.is_complete:
        yield Text(f"No cause was found in {explained.search.tried} variants; there are more.", "dim")


def _validity_text(validity: ValidityPeriod) -> Iterator[Text]:
    how = "when it was signed" if validity.is_signing_time else "the verifier's clock"
    yield Text.assemble(("Checked as of: ", "bold"), f"{_moment(validity.judged_at)}, {how}")
    if validity.fault:
        gap = "" if validity.expires is None else f", expires {_moment(validity.expires)}"
        yield Text.assemble(("Now: ", "bold"), (f"{validity.fault}{gap}", "yellow"))


def _moment(seconds: float) -> str:
    """Return a time in UTC, or its number of seconds if no calendar has it."""
    if 0 <= seconds <= _LAST_SECOND:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{seconds:.0f} seconds since the epoch"


def _digests_text(digests: ContentDigests) -> Iterator[Text]:
    yield Text()
    yield Text.assemble((f"{digests.field} of the content: ", "bold"), (digests.computed, "green"))
    if digests.declared is not None and not digests.matches:
        yield Text.assemble((f"{digests.field} as received:    ", "bold"), (printable(digests.declared), "red"))


def _difference_text(gap: BaseDifference) -> Iterator[Text]:
    yield Text()
    place = f"byte {gap.offset}, which is line {gap.line}, column {gap.column}"
    yield Text(f"The signer's base first differs at {place}:", "bold")
    for name, line, style in (("rebuilt", gap.rebuilt, "red"), ("signer", gap.signers, "green")):
        at = gap.column - 1
        yield Text.assemble(
            (f"  {name:8}", "dim"),
            printable(line[:at]),
            (printable(line[at : at + 1]) or "(its end)", f"bold reverse {style}"),
            printable(line[at + 1 :]),
        )
