"""`undersigned explain`: show changes by canonicalization, a comparison of URLs, or why a request is rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from undersigned import profiles
from undersigned.cli.explain.request import request_answer, request_text
from undersigned.cli.explain.url import comparison_text, explanation_text, one_answer, two_answer, write_lines
from undersigned.cli.key_file import FILE, read_key_set
from undersigned.cli.lines import write_object
from undersigned.cli.options import SECONDS
from undersigned.explanation import REQUEST_PROFILES, MalformedRequest, explain_request, parse_pasted_request
from undersigned.normalization import RULE_SETS
from undersigned.url import explain as explanation_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.text import Text

    from undersigned.cli.lines import Answer
    from undersigned.signature.key_source import KeySet

MOST_URLS = 2


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """The recorded request to verify, and the options for it."""

    file: Path
    body: Path | None
    scheme: str
    jwks: KeySet
    profile: str | None
    now: int | None
    base: Path | None


def _key_set(context: click.Context, parameter: click.Parameter, path: Path | None) -> KeySet | None:
    return None if path is None else read_key_set(context, parameter, path)


@click.command()
@click.option("--rules", type=click.Choice(list(RULE_SETS)), help="A rule set.  [default: adcp]")
@click.option("--request", "request_file", type=FILE, help="A file with a signed request, as any tool shows it.")
@click.option("--jwks", type=FILE, callback=_key_set, help="A file with a JWK set, for --request.")
@click.option("--body", type=FILE, help="A file with the content, if the request file has none.")
@click.option("--base", type=FILE, help="A file with the signature base that the signer signed.")
@click.option(
    "--scheme",
    type=click.Choice(["https", "http"]),
    default="https",
    show_default=True,
    help="For --request.",
)
@click.option(
    "--profile",
    type=click.Choice([profile.name for profile in REQUEST_PROFILES]),
    help="The profile of the signature.  [default: a guess, from its tag and fields]",
)
@click.option(
    "--now", type=SECONDS, help="The verifier's clock, in seconds since the epoch.  [default: when it was signed]"
)
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("urls", nargs=-1, metavar="[URL [URL]]")
def explain(
    *,
    rules: str | None,
    request_file: Path | None,
    jwks: KeySet | None,
    body: Path | None,
    base: Path | None,
    scheme: str,
    profile: str | None,
    now: int | None,
    as_json: bool,
    urls: tuple[str, ...],
) -> None:
    """Show changes by canonicalization, a comparison of URLs, or why a signed request is rejected.

    For one URL, show each rule that changes it. For two URLs, show the lowest rung of the comparison ladder on which
    they are equal and the rules needed, or their first difference. With --rules, compare by that rule set. For a
    request with --jwks, show each checklist step, the rebuilt signature base and its first difference from --base.

    The exit code is 0 if the URL has a canonical form, the URLs are equivalent, or the request is verified; else 1.
    """
    if request_file is not None:
        if urls or rules is not None:
            raise click.UsageError("--request cannot be combined with URLs or --rules")
        if jwks is None:
            raise click.UsageError("--request needs --jwks, the keys to verify with")
        recorded = RecordedRequest(request_file, body, scheme, jwks, profile, now, base)
        answer, text = _request(recorded)
    elif jwks is not None or body is not None or base is not None or now is not None:
        raise click.UsageError("--jwks, --body, --base and --now need --request")
    elif len(urls) == 1:
        answer, text = _one(urls[0], rules or "adcp")
    elif len(urls) == MOST_URLS:
        answer, text = _two(urls[0], urls[1], rules)
    else:
        raise click.UsageError("give one URL, two URLs, or --request")
    if as_json:
        write_object(answer)
    else:
        write_lines(text)
    good = answer.get("ok", answer.get("equivalent", "error" not in answer))
    click.get_current_context().exit(0 if good else 1)


def _one(url: str, rules: str) -> tuple[Answer, Iterable[Text]]:
    explanation = explanation_of(url, RULE_SETS[rules])
    return one_answer(explanation, rules), explanation_text(explanation)


def _two(a: str, b: str, rules: str | None) -> tuple[Answer, Iterable[Text]]:
    return two_answer(a, b, rules), comparison_text(a, b, rules)


def _request(recorded: RecordedRequest) -> tuple[Answer, Iterable[Text]]:
    content = None if recorded.body is None else _bytes(recorded.body)
    try:
        pasted = parse_pasted_request(_bytes(recorded.file), scheme=recorded.scheme, body=content)
    except MalformedRequest as malformed:
        raise click.ClickException(f"{click.format_filename(recorded.file)}: {malformed}") from None
    if not pasted.is_whole:
        raise click.ClickException(f"{click.format_filename(recorded.file)}: {pasted.fault}")
    explained = explain_request(
        pasted.request,
        None if recorded.profile is None else profiles.BY_NAME[recorded.profile],
        recorded.jwks,
        now=recorded.now,
        signers_base=None if recorded.base is None else _bytes(recorded.base),
    )
    return request_answer(explained), request_text(explained)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as failure:
        raise click.ClickException(f"{click.format_filename(path)} cannot be read: {failure.strerror}") from None
