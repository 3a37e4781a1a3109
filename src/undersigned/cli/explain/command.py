"""`undersigned explain`: show changes by canonicalization, a comparison of URLs, or why a request is rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from undersigned.cli.explain.request import request_answer, request_text
from undersigned.cli.explain.url import comparison_text, explanation_text, one_answer, two_answer, write_lines
from undersigned.cli.input_file import FILE_OR_DASH, as_input_file
from undersigned.cli.key_file import keyid_option, read_key_set
from undersigned.cli.lines import write_object
from undersigned.cli.options import SECONDS
from undersigned.errors import ConfigurationError
from undersigned.explanation import REQUEST_PROFILES, MalformedRequest, explain_request, parse_pasted_request
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.normalization import RULE_SETS
from undersigned.url import Origin
from undersigned.url import explain as explanation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.text import Text

    from undersigned.cli.input_file import InputFile
    from undersigned.cli.lines import Answer
    from undersigned.cli.options import Command
    from undersigned.signature.key_source import KeySet

MOST_URLS = 2

_MOST: Final = DEFAULT_MAX_BODY + 65_536
"""The most bytes of a recorded request, or of its content: those that a middleware accepts by default, and a head."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """The recorded request to verify, and the options for it."""

    file: InputFile
    body: InputFile | None
    scheme: str
    jwks: KeySet
    profile: str | None
    now: int | None
    base: InputFile | None
    origins: tuple[Origin, ...]


def _read_origins(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[Origin, ...]:
    try:
        return tuple(map(Origin.parse, texts))
    except ConfigurationError as error:
        raise click.BadParameter(str(error)) from None


def _file(name: str, *names: str, words: str) -> Callable[[Command], Command]:
    """Return an option that names a file to read."""
    return click.option(name, *names, type=FILE_OR_DASH, callback=as_input_file, metavar="FILE", help=words)


@click.command(short_help="Show why a request is rejected, and how URLs change.")
@click.option("--rules", type=click.Choice(list(RULE_SETS)), help="A rule set.  [default: adcp]")
@_file("--request", "request_file", words="A file with a signed request, as any tool shows it.")
@_file("--jwks", words="The public keys, for --request: a JWK set, a public JWK, or a public key in PEM.")
@keyid_option
@_file("--body", words="A file with the content, if the request file has none.")
@_file("--base", words="A file with the signature base that the signer signed.")
@click.option(
    "--scheme",
    type=click.Choice(["https", "http"]),
    help="For --request.  [default: https]",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    callback=_read_origins,
    metavar="URL",
    help="For --request: an origin of the server, as in origins=, which the sender may have signed. May be repeated.",
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
    request_file: InputFile | None,
    jwks: InputFile | None,
    keyid: str | None,
    body: InputFile | None,
    base: InputFile | None,
    scheme: str | None,
    origins: tuple[Origin, ...],
    profile: str | None,
    now: int | None,
    as_json: bool,
    urls: tuple[str, ...],
) -> None:
    """Show changes by canonicalization, a comparison of URLs, or why a signed request is rejected.

    For one URL, show each rule that changes it. For two URLs, show the lowest rung of the comparison ladder on which
    they are equal and the rules needed, or their first difference. With --rules, compare by that rule set. For a
    request with --jwks, show each checklist step, the rebuilt signature base, and what changed on the way. The base
    that the sender signed is found, or given by --base. The request is verified as of the time when it was signed.

    The exit code is 0 if the URL has a canonical form, the URLs are equivalent, or the request is verified; else 1.

    \b
    Examples:
      undersigned explain 'https://Seller.Example.com:443/a/../b'
      undersigned explain --request request.txt --jwks keys/public.jwks.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    if request_file is not None:
        if urls or rules is not None:
            raise click.UsageError("--request cannot be combined with URLs or --rules")
        if jwks is None:
            raise click.UsageError("--request needs --jwks, the keys to verify with")
        keys = read_key_set(jwks, keyid=keyid)
        recorded = RecordedRequest(request_file, body, scheme or "https", keys, profile, now, base, origins)
        answer, text = _request(recorded)
    elif origins or any(given is not None for given in (jwks, keyid, body, base, scheme, profile, now)):
        raise click.UsageError(
            "--jwks, --keyid, --body, --base, --scheme, --origin, --profile and --now need --request"
        )
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
    content = None if recorded.body is None else recorded.body.read(_MOST)
    try:
        pasted = parse_pasted_request(recorded.file.read(_MOST), scheme=recorded.scheme, body=content)
    except MalformedRequest as malformed:
        raise click.ClickException(f"{recorded.file}: {malformed}") from None
    if not pasted.is_whole:
        raise click.ClickException(f"{recorded.file}: {pasted.fault}")
    explained = explain_request(
        pasted.request,
        next((profile for profile in REQUEST_PROFILES if profile.name == recorded.profile), None),
        recorded.jwks,
        now=recorded.now,
        signers_base=None if recorded.base is None else recorded.base.read(_MOST),
        origins=recorded.origins,
    )
    return request_answer(explained), request_text(explained)
