"""`undersigned canonicalize`: write the canonical form of URLs, or what each rule changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undersigned.cli.json_lines import CODE, JSONObject, answer_lines, standard_input
from undersigned.errors import MalformedURL
from undersigned.log_text import printable
from undersigned.url import canonicalize as canonical_form
from undersigned.url import explain as explanation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.strict_json import JSONValue
    from undersigned.url.rule_set import Explanation


@click.command()
@click.option("--explain", "explained", is_flag=True, help="Show the change by each rule.")
@click.argument("urls", nargs=-1, required=True, metavar="URL... | -")
def canonicalize(*, urls: tuple[str, ...], explained: bool) -> None:
    """Write the canonical form of URLs.

    The algorithm is AdCP URL canonicalization. The exit code is 1 if a URL has no canonical form. With -, read one JSON
    string per line and write one object per line:

    \b
    {"target_uri": ..., "authority": ...}
    {"error": "target_uri_malformed", "rule": ..., "message": ...}
    {"error": "line_malformed", "rule": "line", "message": ...}

    \b
    Example:
      undersigned canonicalize --explain 'https://Seller.Example.com:443/a/../b'
    """  # noqa: D301 - click needs the escape to keep the line breaks
    if urls == ("-",) and not explained:
        good = not sum("error" in one for one in answer_lines(standard_input(), _answer, _line_error))
    elif "-" in urls:
        raise click.UsageError("- reads URLs from standard input; give it as the only argument, without --explain")
    elif explained:
        found = [explanation_of(url) for url in urls]
        click.echo("\n".join(line for one in found for line in _lines(one)))
        good = all(one.error is None for one in found)
    else:
        answers = [_answer(url) for url in urls]
        for one in answers:
            if "error" in one:
                click.echo(f"{one['error']}: {one['rule']}: {one['message']}", err=True)
            else:
                click.echo(one["target_uri"])
        good = all("error" not in one for one in answers)
    click.get_current_context().exit(int(not good))


def _answer(url: JSONValue) -> JSONObject:
    if not isinstance(url, str):
        return _line_error("the line is not a JSON string")
    try:
        canonical = canonical_form(url)
    except MalformedURL as malformed:
        return {"error": malformed.code, "rule": malformed.rule, "message": str(malformed)}
    return {"target_uri": canonical.target_uri, "authority": canonical.authority}


def _line_error(message: str) -> JSONObject:
    return {"error": CODE, "rule": "line", "message": message}


def _lines(found: Explanation) -> Iterator[str]:
    """Yield the lines that show each change, and the result or the error."""
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
