"""`undersigned canonicalize`: write the canonical form of URLs, or what each rule changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undersigned.cli.lines import CODE, JSONObject, MalformedLine, answer_lines, standard_input
from undersigned.errors import MalformedURL, printable
from undersigned.url import ADCP, ADCP_RECEIVED
from undersigned.url import canonicalize as canonical_form
from undersigned.url import explain as explanation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.strict_json import JSONValue


@click.command()
@click.option("--received", is_flag=True, help="Reject a host with non-ASCII, as the receiver of a request does.")
@click.option("--explain", "explained", is_flag=True, help="Show the change by each rule; in JSON, as `changes`.")
@click.argument("urls", nargs=-1, required=True, metavar="URL... | -")
def canonicalize(*, urls: tuple[str, ...], received: bool, explained: bool) -> None:
    """Write the canonical form of URLs.

    The algorithm is AdCP URL canonicalization. The exit code is 1 if a URL argument has no canonical form. With -,
    read one JSON string per line and write one object per line:

    \b
    {"target_uri": ..., "authority": ...}
    {"error": "target_uri_malformed", "rule": ..., "message": ...}
    {"error": "line_malformed", "rule": "line", "message": ...}

    \b
    Example:
      undersigned canonicalize --explain 'https://Seller.Example.com:443/a/../b'
    """  # noqa: D301 - click needs the escape to keep the line breaks

    def answer(value: JSONValue) -> JSONObject:
        if not isinstance(value, str):
            raise MalformedLine("the line is not a JSON string")
        return _answer(value, received=received, explained=explained)

    if urls == ("-",):
        good = answer_lines(standard_input(), answer, _line_error)
        click.get_current_context().exit(int(not good))
    if "-" in urls:
        raise click.UsageError("- reads URLs from standard input; give it as the only argument")
    answers = [answer(url) for url in urls]
    for url, one in zip(urls, answers, strict=True):
        if explained:
            click.echo("\n".join(_explanation(url, received=received)))
        elif "error" in one:
            click.echo(f"{one['error']}: {one['rule']}: {one['message']}", err=True)
        else:
            click.echo(one["target_uri"])
    click.get_current_context().exit(int(any("error" in one for one in answers)))


def _answer(url: str, *, received: bool, explained: bool) -> JSONObject:
    more: dict[str, object] = {}
    if explained:
        changes = explanation_of(url, ADCP_RECEIVED if received else ADCP).changes
        more["changes"] = [
            {"rule": one.rule.name, "source": one.rule.source, "before": one.before, "after": one.after}
            for one in changes
        ]
    try:
        canonical = canonical_form(url, received=received)
    except MalformedURL as malformed:
        return {"error": malformed.code, "rule": malformed.rule, "message": str(malformed), **more}
    return {"target_uri": canonical.target_uri, "authority": canonical.authority, **more}


def _explanation(url: str, *, received: bool) -> Iterator[str]:
    """Yield the lines that show each change, and the result or the error."""
    found = explanation_of(url, ADCP_RECEIVED if received else ADCP)
    yield click.style(printable(found.url), bold=True)
    for one in found.changes:
        yield f"  {click.style(one.rule.name, fg='cyan')}  {one.rule.summary}  ({one.rule.source})"
        yield click.style(f"    - {printable(one.before)}", fg="red")
        yield click.style(f"    + {printable(one.after)}", fg="green")
    if found.error is None:
        end = "the result" if found.changes else "unchanged"
        yield f"  = {printable(found.result or '')}  ({end})"
    else:
        yield f"  ! {found.error.rule}: {found.error}"


def _line_error(malformed: MalformedLine) -> JSONObject:
    return {"error": CODE, "rule": "line", "message": str(malformed)}
