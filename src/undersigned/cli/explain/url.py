"""Explanation of a URL's changes by a rule set, and comparison of two URLs: as JSON, and as text in colour."""

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

_BEFORE, _AFTER, _RULE, _QUIET, _ERROR = "red", "green", "bold cyan", "dim", "bold red"

_DOUBTS = {
    "usually": "Not equivalent: these rules usually preserve the meaning of a URL, but not always.",
    "never": "Not equivalent: these rules may change the meaning of a URL.",
}


def ladder(rules: str | None) -> Ladder:
    """Return the comparison ladder: the ladder of the IRI draft, or two rungs, the string and the rule set `rules`."""
    return IRI_LADDER if rules is None else (Rung("string", ()), Rung(rules, RULE_SETS[rules]))


def adcp_verdict(a: str, b: str) -> str:
    """Return `same` or `different` by the AdCP algorithm, or `malformed` if one URL has no canonical form."""
    try:
        return "same" if same_url(a, b) else "different"
    except MalformedURL:
        return "malformed"


def changes(explanation: Explanation) -> list[Answer]:
    """Return the changes of an explanation as JSON objects."""
    return [{**_rule(one.rule), "before": one.before, "after": one.after} for one in explanation.changes]


def one_answer(explanation: Explanation, rules: str) -> Answer:
    """Return an explanation as a JSON object."""
    answer: dict[str, object] = {"url": explanation.url, "rule_set": rules, "changes": changes(explanation)}
    if explanation.error is None:
        return {**answer, "result": explanation.result}
    error = explanation.error
    return {**answer, "error": error.code, "rule": error.rule, "message": str(error)}


def two_answer(a: str, b: str, rules: str | None) -> Answer:
    """Return the comparison of two URLs as a JSON object."""
    answer: dict[str, object] = {"urls": [a, b], "adcp": adcp_verdict(a, b)}
    try:
        found = compare(a, b, ladder=ladder(rules))
    except MalformedURL as error:
        return {**answer, "error": error.code, "rule": error.rule, "message": str(error)}
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
    """Write lines without folding them, in colour if they go to a terminal."""
    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        console.print(line)


def explanation_text(explanation: Explanation) -> Iterator[Text]:
    """Yield the lines that show each change, and the result or the error."""
    yield Text(printable(explanation.url), "bold")
    for change in explanation.changes:
        yield _rule_line(change.rule)
        yield from _pair(change.before, change.after, ("- ", "+ "))
    if explanation.error is None:
        end = "unchanged" if not explanation.changes else "the result"
        yield Text.assemble("  = ", (printable(explanation.result or ""), "bold green"), (f"  ({end})", _QUIET))
    else:
        yield Text.assemble("  ! ", (f"{explanation.error.rule}: {explanation.error}", _ERROR))


def comparison_text(a: str, b: str, rules: str | None) -> Iterator[Text]:
    """Yield the lines that show the rung on which two URLs are equal, or the difference that remains."""
    try:
        found = compare(a, b, ladder=ladder(rules))
    except MalformedURL as error:
        yield Text(f"{error.rule}: {error}", _ERROR)
    else:
        yield from _equality_text(found) if found.rung else _difference_text(found)
    verdict = {"same": "the same URL", "different": "different URLs", "malformed": "malformed: equal to no URL"}
    yield Text.assemble("For AdCP signatures: ", (verdict[adcp_verdict(a, b)], "bold"))


def _equality_text(found: Equivalence) -> Iterator[Text]:
    yield Text.assemble("Equal on the rung ", (str(found.rung), "bold green"), ".")
    for rule in found.rules:
        yield _rule_line(rule)
    yield Text.assemble("  = ", (printable(found.forms[0]), "bold green"))
    if not found.equivalent:
        yield Text(_DOUBTS[str(found.preserves)], _QUIET)


def _difference_text(found: Equivalence) -> Iterator[Text]:
    part = found.difference.part if found.difference else ""
    yield Text.assemble("Not equivalent: the two differ first in the ", (part, _ERROR), ".")
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
