"""`undersigned explain`: what canonicalization does to a URL, how two compare, and why a signed request is refused."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from undersigned import profiles
from undersigned.cli.explain.raw_request import MalformedRequest, parse_raw_request
from undersigned.cli.explain.request import explain_request, request_answer, request_text
from undersigned.cli.explain.url import comparison_text, explanation_text, one_answer, two_answer, write_lines
from undersigned.cli.key_file import FILE, read_key_set
from undersigned.cli.lines import write_object
from undersigned.cli.options import SECONDS, profile_option
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
    """The options that say which recorded request to judge, and how."""

    file: Path
    body: Path | None
    scheme: str
    jwks: KeySet
    profile: str
    now: int | None
    base: Path | None


def _key_set(context: click.Context, parameter: click.Parameter, path: Path | None) -> KeySet | None:
    return None if path is None else read_key_set(context, parameter, path)


@click.command()
@click.option("--policy", type=click.Choice(list(RULE_SETS)), help="What to do to a URL; adcp, or the ladder for two.")
@click.option("--request", "request_file", type=FILE, help="A file with a signed request, from a wire or curl -v.")
@click.option("--jwks", type=FILE, callback=_key_set, help="A file with a JWK set, for --request.")
@click.option("--body", type=FILE, help="A file with the request's content, where the request has none.")
@click.option("--base", type=FILE, help="A file with the base that the signer signed.")
@click.option(
    "--scheme", type=click.Choice(["https", "http"]), default="https", show_default=True, help="Of --request."
)
@profile_option
@click.option("--now", type=SECONDS, help="The verifier's clock, seconds since the epoch; the real one unless given.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("urls", nargs=-1, metavar="[URL [URL]]")
def explain(
    *,
    policy: str | None,
    request_file: Path | None,
    jwks: KeySet | None,
    body: Path | None,
    base: Path | None,
    scheme: str,
    profile: str,
    now: int | None,
    as_json: bool,
    urls: tuple[str, ...],
) -> None:
    """Say what canonicalization does to a URL, how two URLs compare, or why a signed request is refused.

    Of one URL: each rule that changed it. Of two: the first rung of the comparison ladder on which they meet, and the
    rules it took, or the first difference that remains. Of a request, with --jwks: each step of the checklist, the
    signature base as rebuilt, and where it first differs from the signer's.

    Exit 0 where the URL has a form, the two are equivalent, or the request is verified; 1 where not.
    """
    if request_file is not None:
        if urls or policy is not None:
            raise click.UsageError("--request stands without URLs and without --policy")
        if jwks is None:
            raise click.UsageError("--request needs --jwks, the keys to verify with")
        recorded = RecordedRequest(request_file, body, scheme, jwks, profile, now, base)
        answer, text = _request(recorded)
    elif jwks is not None or body is not None or base is not None or now is not None:
        raise click.UsageError("--jwks, --body, --base and --now go with --request")
    elif len(urls) == 1:
        answer, text = _one(urls[0], policy or "adcp")
    elif len(urls) == MOST_URLS:
        answer, text = _two(urls[0], urls[1], policy)
    else:
        raise click.UsageError("give one URL, two URLs, or --request")
    if as_json:
        write_object(answer)
    else:
        write_lines(text)
    good = answer.get("ok", answer.get("equivalent", "error" not in answer))
    click.get_current_context().exit(0 if good else 1)


def _one(url: str, policy: str) -> tuple[Answer, Iterable[Text]]:
    explanation = explanation_of(url, RULE_SETS[policy])
    return one_answer(explanation, policy), explanation_text(explanation)


def _two(a: str, b: str, policy: str | None) -> tuple[Answer, Iterable[Text]]:
    return two_answer(a, b, policy), comparison_text(a, b, policy)


def _request(recorded: RecordedRequest) -> tuple[Answer, Iterable[Text]]:
    content = None if recorded.body is None else _bytes(recorded.body)
    try:
        request = parse_raw_request(_bytes(recorded.file), scheme=recorded.scheme, body=content)
    except MalformedRequest as malformed:
        raise click.ClickException(f"{click.format_filename(recorded.file)}: {malformed}") from None
    explained = explain_request(
        request,
        profiles.BY_NAME[recorded.profile],
        recorded.jwks,
        now=time.time() if recorded.now is None else recorded.now,
        signers_base=None if recorded.base is None else _bytes(recorded.base),
    )
    return request_answer(explained), request_text(explained)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as failure:
        raise click.ClickException(f"{click.format_filename(path)} cannot be read: {failure.strerror}") from None
