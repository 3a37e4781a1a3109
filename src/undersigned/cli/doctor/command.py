"""The command `undersigned doctor`: its options, and how the result is written."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from undersigned.cli.doctor.examination import Examination
from undersigned.cli.http import NoAnswer, ca_file_option, timeout_option
from undersigned.cli.json_lines import write_object
from undersigned.cli.key_files import key_option, keyid_option, read_signing_key
from undersigned.cli.options import header_option, profile_option
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.signature.signer import Signer
from undersigned.url import CanonicalURL, canonicalize

if TYPE_CHECKING:
    import ssl

    from undersigned.signature.profile import Profile

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH")


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
    type=click.Choice(_METHODS),
    default="GET",
    show_default=True,
    help="The method of the probes. POST, PUT and PATCH are used to test bodies only; the other probes are then GET.",
)
@timeout_option
@ca_file_option
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("url", callback=_read_url)
def doctor(
    *,
    key: BinaryIO,
    keyid: str | None,
    profile: Profile,
    headers: tuple[tuple[str, str], ...],
    method: str,
    timeout: int,
    tls: ssl.SSLContext,
    as_json: bool,
    url: CanonicalURL,
) -> None:
    """Find what rewrites requests on their path to your server, and the settings that fix it.

    About thirty small requests, signed and unsigned, go to paths below URL/undersigned-doctor. Any response is enough,
    even a 404. No other server is contacted, and redirects are not followed. The exit code is 0 if nothing is changed,
    1 if something is changed or no response comes, 2 for wrong usage.

    \b
    Example:
      undersigned doctor https://seller.example.com --key keys/private.jwk.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    try:
        signer = Signer(read_signing_key(key, profile, keyid=keyid), profile=profile)
        found = Examination(url, signer, method=method, fields=headers, timeout=timeout, tls=tls)
        found.examine()
    except (ConfigurationError, SigningError) as error:
        raise click.UsageError(str(error)) from None
    except NoAnswer as silence:
        if as_json:
            write_object({"url": str(url), "error": "no_answer", "message": str(silence)})
        else:
            click.echo(f"{url}: no response: {silence}", err=True)
        click.get_current_context().exit(1)
    if as_json:
        write_object(
            {
                "unchanged": not found.findings,
                "profile": profile.name,
                "url": str(found.site),
                "requests": found.requests,
                "passed": found.passed,
                "findings": list(map(dataclasses.asdict, found.findings)),
                "notes": found.notes,
                "untested": found.untested,
            }
        )
    else:
        _write(found, profile.name)
    click.get_current_context().exit(int(bool(found.findings)))


def _write(found: Examination, profile: str) -> None:
    click.echo(f"{found.site}: {found.requests} requests with the profile {profile}")
    for name in found.passed:
        click.echo(f"  ok       {name}")
    for finding in found.findings:
        click.echo(f"  PROBLEM  {finding.check}: {finding.problem}")
        for word, text in (("sent:   ", finding.sent), ("arrives:", finding.arrives)):
            if text:
                click.echo(f"           {word} {text}")
    for note in found.notes:
        click.echo(f"  note     {note}")
    if found.findings:
        click.echo("How to fix:")
    else:
        click.echo("No problems found: requests arrive as they were signed.")
    for advice in dict.fromkeys(finding.advice for finding in found.findings):
        checks = [finding.check for finding in found.findings if finding.advice == advice]
        click.echo(f"  {', '.join(checks)}: {advice}")
    click.echo("Not tested:")
    for name, reason in found.untested.items():
        click.echo(f"  {name}: {reason}")
