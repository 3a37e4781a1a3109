"""`undersigned sign`: write the signature fields for a request, or for many."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from undersigned.cli.curl import curl_command
from undersigned.cli.input_file import standard_input
from undersigned.cli.key_file import key_option, keyid_option, read_signing_key
from undersigned.cli.lines import CODE, Answer, MalformedLine, answer_lines
from undersigned.cli.options import SECONDS
from undersigned.cli.plain_request import data_option, header_option, typed_fields, wrong_url
from undersigned.cli.request_line import parse_request
from undersigned.cli.signing import BY_NAME, kept_fields, signing, signing_profile_option
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.cli.content import Content
    from undersigned.cli.input_file import InputFile
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.signed_fields import SignedFields


@click.command(short_help="Write the header fields that sign a request.")
@key_option
@keyid_option
@signing_profile_option
@click.option("-X", "--method", metavar="METHOD", help="The method.  [default: GET, or POST with -d]")
@header_option
@data_option
@click.option("--curl", "as_curl", is_flag=True, help="Write a whole curl command, for bash.")
@click.option("--created", type=SECONDS, help="The time of signing, in seconds since the epoch.  [default: now]")
@click.option("--expires", type=SECONDS, help="In seconds since the epoch.  [default: the profile's latest]")
@click.option("--nonce", help="Unpadded Base64url.  [default: a new nonce for each request]")
@click.option("--label", help="The label of the signature.  [default: the profile's]")
@click.argument("url", metavar="URL | -")
def sign(
    *,
    key: InputFile,
    keyid: str | None,
    profile: str,
    method: str | None,
    headers: tuple[tuple[str, str], ...],
    content: Content | None,
    as_curl: bool,
    created: int | None,
    expires: int | None,
    nonce: str | None,
    label: str | None,
    url: str,
) -> None:
    """Sign a request: write the header fields to add to it, one in a line, or a curl command.

    Give the method, the header fields and the content as you will send them, and send all fields that are written.
    Content that is JSON gets its Content-Type if none is given. `undersigned request` signs and sends in one step.
    A signature by draft-cavage-12 comes with Date, and Digest if there is content: send them in place of your own.

    \b
    Examples:
      undersigned sign --key keys/private.jwk.json -X POST -d @body.json https://seller.example.com/orders
      undersigned sign --key key.pem --keyid buyer-2026 --curl https://seller.example.com/orders

    With -, read many requests from standard input, one JSON object in a line, and write one object for each:

    \b
    {"method", "url", "headers": {..} or [[n, v], ..], "body" or "body_b64"}

    \b
    {"headers": [[n, v], ..], "signature_base": ...}
    {"error": "target_uri_malformed", "message": ...}
    {"error": "request_not_signable", "message": ...}
    {"error": "line_malformed", "message": ...}
    """  # noqa: D301 - click needs the escape to keep the line breaks
    lines = standard_input(click.get_current_context(), "-") if url == "-" else None
    if lines is not None and (method is not None or headers or content is not None or as_curl):
        raise click.UsageError("- reads whole requests as JSON; leave out -X, -H, -d and --curl, or give a URL")
    by = BY_NAME[profile]
    signing_key = read_signing_key(key, by, keyid=keyid)
    try:
        signed = signing(by, signing_key, created=created, expires=expires, nonce=nonce, label=label)
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from None
    if lines is not None:
        answer_lines(lines, lambda value: _answer(value, signed), _line_error)
        return
    fields = typed_fields(headers, content)
    octets = b"" if content is None else content.octets
    request = Request(method or ("GET" if content is None else "POST"), url, fields, octets)
    try:
        added = signed(request)
    except MalformedURL as malformed:
        raise wrong_url(url, malformed) from None
    except SigningError as unsignable:
        raise click.UsageError(str(unsignable)) from None
    if as_curl:
        sent = [*kept_fields(fields, added, by), *added]
        click.echo(curl_command(request.method, added.target_uri, sent, content))
    else:
        for name, value in (*fields[len(headers) :], *added):
            click.echo(f"{name}: {value}")
    _note_expiry(added)


def _note_expiry(added: SignedFields) -> None:
    """Say on standard error until when the signature can be used."""
    inputs = dict(added).get("Signature-Input")
    for member in parse_signature_input(inputs).values() if inputs else ():
        expires = member.parameters.get("expires")
        if isinstance(expires, int):
            until = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(expires))
            click.echo(f"This signature is for one request, which must arrive before {until}.", err=True)


def _answer(value: JSONValue, signed: Callable[[Request], SignedFields]) -> Answer:
    request = parse_request(value)
    try:
        added = signed(request)
    except MalformedURL as malformed:
        return {"error": malformed.code, "message": str(malformed)}
    except SigningError as unsignable:
        return {"error": "request_not_signable", "message": str(unsignable)}
    return {"headers": [list(field) for field in added.fields], "signature_base": added.signature_base}


def _line_error(malformed: MalformedLine) -> Answer:
    return {"error": CODE, "message": str(malformed)}
