"""`undersigned doctor`: find changes to requests on the way to a server, and the settings that fix them."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import click

from undersigned.cli.connection import NoAnswer
from undersigned.cli.doctor.diagnosis import Examination
from undersigned.cli.doctor.over_http2 import with_http2
from undersigned.cli.doctor.probe import ProbeClient
from undersigned.cli.doctor.profile_guess import ProfileGuess
from undersigned.cli.doctor.site import Site
from undersigned.cli.key_file import key_option, keyid_option, read_signing_key
from undersigned.cli.lines import write_object
from undersigned.cli.options import ca_file_option, timeout_option
from undersigned.cli.signing import signer_by
from undersigned.cli.trust import tls_context
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.explanation.draft import DRAFT
from undersigned.explanation.profile_guess import REQUEST_PROFILES
from undersigned.message import token
from undersigned.url import CanonicalURL, canonicalize

if TYPE_CHECKING:
    from undersigned.cli.doctor.finding import Diagnosis
    from undersigned.cli.input_file import InputFile

_UNSIGNED_SCHEME = "draft-cavage-12 does not sign the URL's scheme, so the doctor cannot tell http from https"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH")
_FIELD = re.compile(rf"({token.ANY}+):[ \t]*([!-~](?:[ -~]*[!-~])?)")


def _read_url(_ctx: click.Context, _param: click.Parameter, text: str) -> CanonicalURL:
    try:
        url = canonicalize(text)
    except MalformedURL as malformed:
        raise click.BadParameter(str(malformed)) from None
    if url.query is not None or "#" in text or "@" in text.partition("://")[2].partition("/")[0]:
        raise click.BadParameter("give scheme, host and path only, such as https://seller.example.com/adcp")
    return url


def _read_fields(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    matches = [_FIELD.fullmatch(text) for text in texts]
    if not all(matches):
        raise click.BadParameter("give a name, a colon and a value, such as 'Signature-Agent: \"https://bot.example\"'")
    return tuple((match[1], match[2]) for match in matches if match is not None)


@click.command(short_help="Find what changes requests on the way to your server.")
@key_option
@keyid_option
@click.option(
    "--profile",
    type=click.Choice([profile.name for profile in REQUEST_PROFILES]),
    help="The profile of the server.  [default: a guess, from its answers and the header fields]",
)
@click.option(
    "--header",
    "fields",
    multiple=True,
    callback=_read_fields,
    metavar="'NAME: VALUE'",
    help="A header field of every signed probe, such as Signature-Agent. May be repeated.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="GET",
    show_default=True,
    help="The method of the probes. POST, PUT and PATCH are used to test content only; the other probes are then GET.",
)
@timeout_option
@ca_file_option
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("url", callback=_read_url)
def doctor(
    *,
    key: InputFile,
    keyid: str | None,
    profile: str | None,
    fields: tuple[tuple[str, str], ...],
    method: str,
    timeout: int,
    ca_file: InputFile | None,
    as_json: bool,
    url: CanonicalURL,
) -> None:
    """Find changes to requests on the way to your server, and the settings that fix them.

    About thirty small requests, signed and unsigned, go to paths below URL/undersigned-doctor. Any answer is enough,
    also 404. No other server is contacted, and redirects are not followed. If the server offers HTTP/2, as many go over
    HTTP/2 again. Proxies that show their names are named. The exit code is 0 if nothing is changed, 1 if something is
    changed or no answer comes, 2 for wrong usage.

    \b
    Example:
      undersigned doctor https://seller.example.com --key keys/private.jwk.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    given = next((one for one in REQUEST_PROFILES if one.name == profile), None)
    signing = read_signing_key(key, given, keyid=keyid)
    client = ProbeClient(url, timeout, tls_context(ca_file))
    guess = ProfileGuess(Site.of(url), signing, fields, client.ask)
    try:
        if given is None:
            likely = guess.likely()
            found = guess.find_accepted(likely) or likely[0]
        else:
            found = given
        guess.check(found)
        signer = signer_by(found, signing)
        diagnosis = Examination(url, signer, client.ask, method=method, fields=fields).diagnose()
        if found is DRAFT:
            diagnosis = dataclasses.replace(diagnosis, notes=(*diagnosis.notes, _UNSIGNED_SCHEME))
        if given is not None and diagnosis.findings and not diagnosis.passed:
            other = guess.find_accepted([other for other in guess.likely() if other is not found])
            if other is not None:
                note = f"requests by the profile {other.name} are accepted: --profile {other.name}"
                diagnosis = dataclasses.replace(diagnosis, notes=(*diagnosis.notes, note))
        diagnosis = with_http2(
            diagnosis, client, lambda ask: Examination(url, signer, ask, method="GET", fields=fields).diagnose()
        )
    except (ConfigurationError, SigningError) as error:
        raise click.UsageError(str(error)) from None
    except NoAnswer as silence:
        if as_json:
            write_object({"url": str(url), "error": "no_answer", "message": str(silence)})
        else:
            click.echo(f"{url}: no answer: {silence}", err=True)
        click.get_current_context().exit(1)
    if as_json:
        write_object({"unchanged": not diagnosis.findings, "profile": found.name, **dataclasses.asdict(diagnosis)})
    else:
        _write(diagnosis, found.name)
    click.get_current_context().exit(int(bool(diagnosis.findings)))


def _write(diagnosis: Diagnosis, profile: str) -> None:
    click.echo(f"{diagnosis.url}: {diagnosis.requests} requests by the profile {profile}")
    for name in diagnosis.passed:
        click.echo(f"  ok       {name}")
    for finding in diagnosis.findings:
        click.echo(f"  PROBLEM  {finding.check}: {finding.problem}")
        for word, text in (("sent:   ", finding.sent), ("arrives:", finding.arrives)):
            if text:
                click.echo(f"           {word} {text}")
    for one in diagnosis.intermediaries:
        click.echo(f"  proxy    {one.name} ({one.evidence})")
    for note in diagnosis.notes:
        click.echo(f"  note     {note}")
    if not diagnosis.findings:
        click.echo("No problems found: requests arrive as they were signed.")
        return
    click.echo("How to fix:")
    for advice in dict.fromkeys(finding.advice for finding in diagnosis.findings):
        checks = [finding.check for finding in diagnosis.findings if finding.advice == advice]
        click.echo(f"  {', '.join(checks)}: {advice}")
