"""The page for a pasted request, and the parts that it shares with the page of a live decision."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from undersigned import profiles
from undersigned.explanation import CHECKS
from undersigned.limits import LONGEST_TARGET
from undersigned.log_text import printable
from undersigned.message.timestamps import moment
from undersigned.url import ADCP_RECEIVED, URL, explain

from .html import HTML, element, join
from .pasted import Unusable, explain_pasted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned import Profile
    from undersigned.explanation import BaseDifference, ExplainedRequest
    from undersigned.pasted import PastedRequest

_NO_OWN: Final[Mapping[str, Profile]] = {}
_CONTENT: Final = 11
_NO_CONTENT: Final = "the content is not in what was pasted: paste it below"
_LONGEST_VALUE: Final = 8192
_LONGEST_BODY: Final = 4096

_DOCUMENT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>undersigned inspect</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="page.css">{refresh}
</head><body><header><h1>undersigned inspect</h1></header><main>{content}</main></body></html>"""
_FORM: Final = """<section><h2>Paste a request</h2>
<p>What you paste stays in a process of this machine: it is not forwarded, stored or logged.</p>
<form method="post"><div class="pair">{request}{keys}</div>
<details{opened}><summary>Content, profile, origin and the signer's base</summary>
{body}{profile}{origin}{base}</details><button>Explain</button></form></section>"""

_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "@method": frozenset({"method"}),
    "@target-uri": frozenset({"host", "path", "query"}),
    "@authority": frozenset({"host"}),
    "@request-target": frozenset({"path", "query"}),
    "@path": frozenset({"path"}),
    "@query": frozenset({"query"}),
    "@query-param": frozenset({"query"}),
    "@signature-params": frozenset({"signature-input"}),
    "content-digest": frozenset({"content-digest", "body"}),
}
"""The parts of a request that each component is made of; any other component is a header."""


def document(*content: str, refreshed: bool = False) -> HTML:
    """Return a whole page, which the browser loads again every two seconds if it is to be refreshed."""
    refresh = '<meta http-equiv="refresh" content="2">' if refreshed else ""
    return HTML(_DOCUMENT.format(refresh=refresh, content=join(*content)))


def paste(path: str, texts: Mapping[str, str], own: Mapping[str, Profile] = _NO_OWN) -> HTML | None:
    """Return the page with the form, and above it the explanation of what was pasted.

    `own` has profiles to choose from besides the published ones, by their names on the page. Its `path` is empty.
    """
    if path:
        return None
    names = (*own, *(profile.name for profile in profiles.FOR_REQUESTS))
    if not texts:
        return document(_form(texts, names))
    try:
        result = _explanation(*explain_pasted(texts, own))
    except Unusable as unusable:
        return document(_form(texts, names, unusable))
    return document(result, _form(texts, names))


def _form(texts: Mapping[str, str], names: Iterable[str], fault: Unusable | None = None) -> HTML:
    def field(name: str, label: str, control: HTML, hint: str = "") -> HTML:
        wrong = element("p", str(fault), class_="error") if fault is not None and fault.field == name else ""
        return element("div", element("label", label, for_=name), element("p", hint, class_="hint"), wrong, control)

    def area(name: str, rows: int) -> HTML:
        # A browser drops the first line end of a text area.
        text = "\n" + texts.get(name, "")
        return element("textarea", text, id=name, name=name, rows=str(rows), spellcheck="false")

    chosen = texts.get("profile", "")
    options = [element("option", "the published one that the tag names", value="")]
    options += [element("option", name, **({"selected": ""} if name == chosen else {})) for name in names]
    origin = HTML(element("input", id="origin", name="origin", value=texts.get("origin", "")).removesuffix("</input>"))
    profile = element("select", *options, id="profile", name="profile")
    return HTML(
        _FORM.format(
            request=field("request", "Request", area("request", 12), "As HTTP, curl -v, a curl command or JSON."),
            keys=field("keys", "Public keys", area("keys", 12), "A JWK set, a JWK or a public key in PEM."),
            opened=' open=""' if fault is not None and fault.field == "origin" else "",
            body=field("body", "Content, if the request above does not have it", area("body", 4)),
            profile=field("profile", "Profile", profile),
            origin=field("origin", "Origin of the server, as in origins=", origin, "Such as http://localhost:8000."),
            base=field("base", "The base that the signer signed, if you have it", area("base", 4)),
        )
    )


def _explanation(pasted: PastedRequest, explained: ExplainedRequest) -> HTML:
    request, whole = pasted.request, pasted.is_whole
    unread = not whole and explained.error is not None and explained.error.step == _CONTENT
    if unread:
        explained = replace(explained, error=None, cause=None)
    error, title = explained.error, "Verified: every checked step passes"
    if unread:
        title = f"Verified up to the content: {_NO_CONTENT}"
    elif error is not None:
        title = f"Rejected at step {error.step}, {CHECKS[error.step]}: {error.code}"
    url = URL.parse(request.url)
    body = _body(request.body) if whole else f"({_NO_CONTENT})"
    return element(
        "section",
        verdict(title, is_good=error is None and not unread),
        element("p", explained.summary, class_="cause") if error is not None else "",
        facts([("Read as", pasted.form), ("Profile", explained.profile), *_facts(explained, whole=whole)]),
        _steps(explained, unread=unread),
        _bases(explained),
        message(request.method, url, request.fields.lines, explained.base, body),
        canonicalization(request.url),
        id="result",
    )


def verdict(title: str, *, is_good: bool) -> HTML:
    """Return the heading of a result."""
    return element("h2", title, class_="good" if is_good else "bad", id="verdict")


def facts(pairs: Iterable[tuple[str, str]]) -> HTML:
    """Return names with their values."""
    return element("dl", *[join(element("dt", name), element("dd", value)) for name, value in pairs])


def _facts(explained: ExplainedRequest, *, whole: bool) -> Iterable[tuple[str, str]]:
    if (validity := explained.validity) is not None:
        how = "when it was signed" if validity.is_signing_time else "now"
        yield "Checked as of", f"{moment(validity.judged_at)}, {how}"
        if validity.fault:
            yield "Now", validity.fault
    if whole and explained.digests is not None:
        wrong = "" if explained.digests.matches else ", but Content-Digest declares another"
        yield "Digest", f"{explained.digests.computed}{wrong}"


def _steps(explained: ExplainedRequest, *, unread: bool) -> HTML:
    rows: list[tuple[str, str, str]] = []
    for step, outcome in explained.steps:
        detail, shown = "needs a revocation list or a replay store" if outcome == "not checked" else "", str(outcome)
        if outcome == "failed" and explained.error is not None:
            detail = f"{explained.error.code}: {printable(explained.error.detail)}"
        elif unread and step == _CONTENT:
            detail, shown = _NO_CONTENT, "not checked"
        rows.append((f"{step}. {CHECKS[step]}", shown, detail))
    return checklist(rows)


def checklist(rows: Iterable[tuple[str, str, str]]) -> HTML:
    """Return the steps of the checklist: the name of each, its outcome and its detail."""
    items = [
        element("li", name, " ", element("b", outcome), element("p", detail) if detail else "", class_=outcome)
        for name, outcome, detail in rows
    ]
    return join(element("h3", "Checklist"), element("ol", *items, class_="steps"))


def _bases(explained: ExplainedRequest) -> HTML:
    if explained.base is None:
        return join(element("h3", "Signature base"), element("p", "It cannot be rebuilt from this request."))
    theirs = {} if explained.signers_base is None else {"Signed": explained.signers_base}
    return bases({"Rebuilt from the request": explained.base, **theirs}, explained.difference)


def bases(texts: Mapping[str, str], gap: BaseDifference | None = None) -> HTML:
    """Return one or two signature bases, by their names, line by line, with the first differing byte marked."""
    words = "" if gap is None else f"The bases first differ at byte {gap.offset}: line {gap.line}, column {gap.column}."
    split = [text.split("\n") for text in texts.values()]
    rows: list[HTML] = []
    for number in range(max(map(len, split))):
        lines = ["".join(lines[number : number + 1]) for lines in split]
        column = gap.column - 1 if gap is not None and gap.line == number + 1 else None
        cells = [element("td", _marked(line, column)) for line in lines]
        rows.append(element("tr", element("th", str(number + 1)), *cells, class_="" if column is None else "differs"))
    heads = [element("th", name) for name in ("", *texts)]
    table = element("table", element("tr", *heads), *rows)
    return join(element("h3", "Signature base"), element("p", words), element("div", table, class_="scroll"))


def _marked(line: str, column: int | None) -> HTML:
    if column is None:
        return join(printable(line, limit=len(line)))
    pieces = (line[:column], line[column : column + 1], line[column + 1 :])
    before, byte, rest = (printable(piece, limit=len(piece)) for piece in pieces)
    return join(before, element("mark", byte or "(its end)"), rest)


def message(method: str, url: URL, fields: Iterable[tuple[str, str]], base: str | None, body: str) -> HTML:
    """Return a request with the parts underlined that the components of a base cover."""
    names = [line.split('"')[1] for line in (base or "").split("\n") if line.count('"') > 1]
    covered = frozenset[str]().union(*(_PARTS.get(name, frozenset({name})) for name in names))

    def piece(text: str, *parts: str) -> HTML:
        shown = printable(text, limit=_LONGEST_VALUE)
        return element("u", shown) if not covered.isdisjoint(parts) else join(shown)

    query = "" if url.query is None else piece(f"?{url.query}", "query")
    lines = [join(piece(method, "method"), " ", piece(url.path, "path"), query)]
    for name, value in fields:
        lines.append(join(f"{printable(name)}: ", piece(value, name, *(["host"] if name == "host" else []))))
    content = element("u", body) if "body" in covered and body else body
    whole = element("pre", *[join(line, "\n") for line in lines], "\n", content)
    return join(element("h3", "Request: what is covered is underlined"), whole)


def _body(body: bytes) -> str:
    text = body[:_LONGEST_BODY].decode("utf-8", "backslashreplace")
    shown = "".join(one if one.isprintable() or one == "\n" else printable(one) for one in text)
    return shown if len(body) <= _LONGEST_BODY else f"{shown}... ({len(body)} bytes)"


def canonicalization(url: str) -> HTML:
    """Return the changes of a received URL by each rule, and the result or the error."""
    found, shown = explain(url, ADCP_RECEIVED), partial(printable, limit=LONGEST_TARGET)
    items = [
        element(
            "li",
            element("b", change.rule.name),
            f" {change.rule.summary} ({change.rule.source})",
            element("div", f"before: {shown(change.before)}"),
            element("div", f"after: {shown(change.after)}"),
        )
        for change in found.changes
    ]
    end = f"Canonical form: {shown(found.result or '')}"
    if found.error is not None:
        end = f"No canonical form: {found.error.rule}: {found.error}"
    return join(element("h3", "Canonicalization"), element("ol", *items), element("p", end, class_="canonical"))
