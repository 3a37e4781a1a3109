"""`undersigned request`: send a signed request, and show what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

import click

from undersigned.cli.connection import NoAnswer
from undersigned.cli.explain.url import write_lines
from undersigned.cli.input_file import FILE_OR_DASH, as_input_file
from undersigned.cli.key_file import key_option, keyid_option, read_key_set, read_signing_key
from undersigned.cli.lines import write_object
from undersigned.cli.options import ca_file_option, timeout_option
from undersigned.cli.plain_request import data_option, header_option, typed_fields, wrong_url
from undersigned.cli.request.sender import Sender
from undersigned.cli.request.why import Why
from undersigned.cli.signing import BY_NAME, signer_by, signing_profile_option
from undersigned.cli.terminal import write_foreign
from undersigned.cli.trust import tls_context
from undersigned.errors import ConfigurationError, MalformedURL, SigningError, printable

if TYPE_CHECKING:
    from undersigned.cli.content import Content
    from undersigned.cli.input_file import InputFile
    from undersigned.cli.request.reply import Reply
    from undersigned.message.request import Request

_GOOD = range(200, 300)
_REDIRECTS = range(300, 400)


@click.command()
@key_option
@keyid_option
@signing_profile_option
@header_option
@data_option
@click.option(
    "--jwks",
    type=FILE_OR_DASH,
    callback=as_input_file,
    metavar="FILE",
    help="The public keys that the server knows, to explain a 401: a JWK set, a public JWK, or a public key in PEM.",
)
@timeout_option
@ca_file_option
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("method")
@click.argument("url")
def request(
    *,
    key: InputFile,
    keyid: str | None,
    profile: str,
    headers: tuple[tuple[str, str], ...],
    content: Content | None,
    jwks: InputFile | None,
    timeout: int,
    ca_file: InputFile | None,
    as_json: bool,
    method: str,
    url: str,
) -> None:
    """Send a signed request, and show what comes back.

    On a 401, say why: what the code of the answer means, and with --jwks which check fails. Redirects are not followed,
    and proxy settings of the environment are not used. At most 65,536 bytes of content are shown.

    The exit code is 0 if the status is 200 to 299, 1 for another status or no answer, and 2 for wrong usage.

    \b
    Examples:
      undersigned request GET https://seller.example.com/orders --key keys/private.jwk.json
      undersigned request POST http://localhost:8000/orders --key keys/private.jwk.json \\
        -d '{"plan": 1}' --jwks keys/public.jwks.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    by = BY_NAME[profile]
    try:
        signing = read_signing_key(key, by, keyid=keyid)
        keys = None if jwks is None else read_key_set(jwks, keyid=signing.keyid, is_own=True)
        sender = Sender(signer_by(by, signing), timeout, tls_context(ca_file))
        octets = b"" if content is None else content.octets
        sent = sender.sign(method, url, typed_fields(headers, content), octets)
    except MalformedURL as malformed:
        raise wrong_url(url, malformed) from None
    except (ConfigurationError, SigningError) as wrong:
        raise click.UsageError(str(wrong)) from None
    try:
        reply = sender.send(sent)
    except NoAnswer as silence:
        if as_json:
            write_object({"url": sent.url, "error": "no_answer", "message": str(silence)})
        else:
            click.echo(f"Error: {printable(sent.url)}: no answer: {silence}", err=True)
        click.get_current_context().exit(1)
    why = Why.of(reply, sent, by, keys)
    if as_json:
        write_object({"url": sent.url, **reply.json(), "why": why and why.json()})
    else:
        reply.write()
        _note_redirect(reply, sent)
        if why is not None:
            write_foreign("")
            write_lines(why.lines())
    click.get_current_context().exit(int(reply.status not in _GOOD))


def _note_redirect(reply: Reply, sent: Request) -> None:
    for location in reply.values("location") if reply.status in _REDIRECTS else ():
        target = printable(_join(sent.url, location))
        write_foreign("")
        write_foreign(f"The redirect to {target} is not followed: a signature is for one URL only.")


def _join(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return location
