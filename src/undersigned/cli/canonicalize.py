"""`undersigned canonicalize`: write the canonical form of URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undersigned.cli.explain.url import changes, explanation_text, write_lines
from undersigned.cli.input_file import standard_input
from undersigned.cli.lines import CODE, Answer, MalformedLine, answer_lines, write_object
from undersigned.errors import MalformedURL
from undersigned.url import ADCP, ADCP_RECEIVED
from undersigned.url import canonicalize as canonical_form
from undersigned.url import explain as explanation_of

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue
    from undersigned.url import Explanation


@click.command()
@click.option("--received", is_flag=True, help="Reject a host with non-ASCII, as the receiver of a request does.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object per line, as with -.")
@click.option("--explain", "explained", is_flag=True, help="Show the change by each rule; in JSON, as `changes`.")
@click.argument("urls", nargs=-1, required=True, metavar="URL... | -")
def canonicalize(*, urls: tuple[str, ...], received: bool, as_json: bool, explained: bool) -> None:
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
    if urls == ("-",):
        file = standard_input(click.get_current_context(), "-")
        answer_lines(file, lambda value: _answer(_string(value), received=received, explained=explained), _line_error)
        return
    if "-" in urls:
        raise click.UsageError("- reads URLs from standard input; give it as the only argument")
    answers = [_answer(url, received=received, explained=explained) for url in urls]
    for url, answer in zip(urls, answers, strict=True):
        if as_json:
            write_object(answer)
        elif explained:
            write_lines(explanation_text(_explanation(url, received=received)))
        elif "error" in answer:
            click.echo(f"{answer['error']}: {answer['rule']}: {answer['message']}", err=True)
        else:
            click.echo(answer["target_uri"])
    click.get_current_context().exit(int(any("error" in answer for answer in answers)))


def _answer(url: str, *, received: bool, explained: bool) -> Answer:
    more = {"changes": changes(_explanation(url, received=received))} if explained else {}
    try:
        canonical = canonical_form(url, received=received)
    except MalformedURL as malformed:
        return {"error": malformed.code, "rule": malformed.rule, "message": str(malformed), **more}
    return {"target_uri": canonical.target_uri, "authority": canonical.authority, **more}


def _explanation(url: str, *, received: bool) -> Explanation:
    return explanation_of(url, ADCP_RECEIVED if received else ADCP)


def _string(value: JSONValue) -> str:
    if not isinstance(value, str):
        raise MalformedLine("the line is not a JSON string")
    return value


def _line_error(malformed: MalformedLine) -> Answer:
    return {"error": CODE, "rule": "line", "message": str(malformed)}
