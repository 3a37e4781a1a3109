"""What a policy does to a URL, and how two URLs compare: as JSON, and as text in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from undersigned.errors import MalformedURL, printable
from undersigned.normalization import IRI_LADDER, RULE_SETS, Rung, compare
from undersigned.url import same_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undersigned.cli.lines import Answer
    from undersigned.normalization import Equivalence, Ladder
    from undersigned.url import Explanation, Rule

_BEFORE, _AFTER, _RULE, _QUIET, _REFUSED = "red", "green", "bold cyan", "dim", "bold red"

_DOUBTS = {
    "usually": "That usually says that they identify the same, and not always: it is no equivalence.",
    "never": "Such rules change what a URL identifies: it is no equivalence.",
}


def ladder(policy: str | None) -> Ladder:
    """Return the ladder to compare by: the IRI draft's, or two rungs, the string and what `policy` makes of it."""
    return IRI_LADDER if policy is None else (Rung("string", ()), Rung(policy, RULE_SETS[policy]))


def adcp_verdict(a: str, b: str) -> str:
    """Return whether AdCP takes two URLs for `same` or `different`, or `malformed`, which are neither."""
    try:
        return "same" if same_url(a, b) else "different"
    except MalformedURL:
        return "malformed"


def changes(explanation: Explanation) -> list[Answer]:
    """Return the changes of an explanation as JSON."""
    return [{**_rule(one.rule), "before": one.before, "after": one.after} for one in explanation.changes]


def one_answer(explanation: Explanation, policy: str) -> Answer:
    """Return an explanation as JSON."""
    answer: dict[str, object] = {"url": explanation.url, "policy": policy, "changes": changes(explanation)}
    if explanation.error is None:
        return {**answer, "result": explanation.result}
    refusal = explanation.error
    return {**answer, "error": refusal.code, "rule": refusal.rule, "message": str(refusal)}


def two_answer(a: str, b: str, policy: str | None) -> Answer:
    """Return how two URLs compare as JSON."""
    answer: dict[str, object] = {"urls": [a, b], "adcp": adcp_verdict(a, b)}
    try:
        found = compare(a, b, ladder=ladder(policy))
    except MalformedURL as refusal:
        return {**answer, "error": refusal.code, "rule": refusal.rule, "message": str(refusal)}
    gap = found.difference
    return {
        **answer,
        "rung": found.rung,
        "rules": [_rule(rule) for rule in found.rules],
        "preserves": found.preserves,
        "equivalent": found.equivalent,
        "forms": list(found.forms),
        "difference": gap and {"part": gap.part, "a": gap.a, "b": gap.b, "at": gap.at},
    }


def write_lines(lines: Iterable[Text]) -> None:
    """Write lines, in colour where they go to a terminal; none is folded."""
    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        console.print(line)


def explanation_text(explanation: Explanation) -> Iterator[Text]:
    """Yield the lines that say which rule changed what, and what came of it."""
    yield Text(printable(explanation.url), "bold")
    for change in explanation.changes:
        yield _rule_line(change.rule)
        yield from _pair(change.before, change.after, ("- ", "+ "))
    if explanation.error is None:
        end = "as it was" if not explanation.changes else "the result"
        yield Text.assemble("  = ", (printable(explanation.result or ""), "bold green"), (f"  ({end})", _QUIET))
    else:
        yield Text.assemble("  ! ", (f"{explanation.error.rule}: {explanation.error}", _REFUSED))


def comparison_text(a: str, b: str, policy: str | None) -> Iterator[Text]:
    """Yield the lines that say on which rung two URLs meet, or what difference remains."""
    try:
        found = compare(a, b, ladder=ladder(policy))
    except MalformedURL as refusal:
        yield Text(f"{refusal.rule}: {refusal}", _REFUSED)
    else:
        yield from _met(found) if found.rung else _parted(found)
    verdict = {"same": "the same URL", "different": "two URLs", "malformed": "malformed, which nothing is the same as"}
    yield Text.assemble("AdCP signs them as ", (verdict[adcp_verdict(a, b)], "bold"))


def _met(found: Equivalence) -> Iterator[Text]:
    yield Text.assemble("They meet on the rung ", (str(found.rung), "bold green"), ".")
    for rule in found.rules:
        yield _rule_line(rule)
    yield Text.assemble("  = ", (printable(found.forms[0]), "bold green"))
    if not found.equivalent:
        yield Text(_DOUBTS[str(found.preserves)], _QUIET)


def _parted(found: Equivalence) -> Iterator[Text]:
    part = found.difference.part if found.difference else ""
    yield Text.assemble("They meet on no rung. What remains differs first in the ", (part, _REFUSED), ".")
    yield from _pair(*found.forms, ("a ", "b "))


def _rule_line(rule: Rule) -> Text:
    return Text.assemble("  ", (rule.name, _RULE), f"  {rule.summary}  ", (f"{rule.source}; {rule.preserves}", _QUIET))


def _pair(before: str, after: str, marks: Sequence[str]) -> Iterator[Text]:
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    for mark, text, style in zip(marks, (before, after), (_BEFORE, _AFTER), strict=True):
        middle = text[start : len(text) - end]
        yield Text.assemble(
            (f"    {mark}", style),
            printable(text[:start]),
            (printable(middle), f"bold reverse {style}"),
            printable(text[len(text) - end :]),
        )


def _rule(rule: Rule) -> dict[str, object]:
    return {"rule": rule.name, "source": rule.source, "preserves": rule.preserves}
