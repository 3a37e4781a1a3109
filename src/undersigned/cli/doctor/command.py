"""`undersigned doctor`: find changes to requests on the way to a server, and the settings that fix them."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from undersigned import profiles
from undersigned.cli.doctor.diagnosis import Examination
from undersigned.cli.doctor.probes import ask
from undersigned.cli.http import NoAnswer, ca_file_option, timeout_option
from undersigned.cli.keys import key_option, keyid_option, read_signing_key
from undersigned.cli.lines import write_object
from undersigned.cli.options import header_option, profile_option
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.signature.signer import Signer
from undersigned.url import CanonicalURL, canonicalize

if TYPE_CHECKING:
    import ssl

    from undersigned.cli.doctor.checks import Diagnosis

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH")


def _read_url(_ctx: click.Context, _param: click.Parameter, text: str) -> CanonicalURL:
    try:
        url = canonicalize(text)
    except MalformedURL as malformed:
        raise click.BadParameter(str(malformed)) from None
    if url.query is not None or "#" in text or "@" in text.partition("://")[2].partition("/")[0]:
        raise click.BadParameter("give scheme, host and path only, such as https://seller.example.com/adcp")
    return url


@click.command()
@key_option
@keyid_option
@profile_option
@header_option
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
    key: BinaryIO,
    keyid: str | None,
    profile: str,
    headers: tuple[tuple[str, str], ...],
    method: str,
    timeout: int,
    tls: ssl.SSLContext,
    as_json: bool,
    url: CanonicalURL,
) -> None:
    """Find changes to requests on the way to your server, and the settings that fix them.

    About thirty small requests, signed and unsigned, go to paths below URL/undersigned-doctor. Any answer is enough,
    also 404. No other server is contacted, and redirects are not followed. The exit code is 0 if
    nothing is changed, 1 if something is changed or no answer comes, 2 for wrong usage.

    \b
    Example:
      undersigned doctor https://seller.example.com --key keys/private.jwk.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    by = profiles.BY_NAME[profile]
    try:
        signer = Signer(read_signing_key(key, by, keyid=keyid), profile=by)
        asked = partial(ask, url, timeout=timeout, tls=tls)
        diagnosis = Examination(url, signer, asked, method=method, fields=headers).diagnose()
    except (ConfigurationError, SigningError) as error:
        raise click.UsageError(str(error)) from None
    except NoAnswer as silence:
        if as_json:
            write_object({"url": str(url), "error": "no_answer", "message": str(silence)})
        else:
            click.echo(f"{url}: no answer: {silence}", err=True)
        click.get_current_context().exit(1)
    if as_json:
        write_object({"unchanged": not diagnosis.findings, "profile": profile, **dataclasses.asdict(diagnosis)})
    else:
        _write(diagnosis, profile)
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
    for note in diagnosis.notes:
        click.echo(f"  note     {note}")
    if not diagnosis.findings:
        click.echo("No problems found: requests arrive as they were signed.")
        return
    click.echo("How to fix:")
    for advice in dict.fromkeys(finding.advice for finding in diagnosis.findings):
        checks = [finding.check for finding in diagnosis.findings if finding.advice == advice]
        click.echo(f"  {', '.join(checks)}: {advice}")
