"""`undersigned sign`: write the signature fields for a request, or for many."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from undersigned.cli.json_lines import CODE, JSONObject, answer_lines, standard_input
from undersigned.cli.key_files import key_option, keyid_option, read_signing_key
from undersigned.cli.options import SECONDS, data_option, header_option, profile_option, typed_fields, wrong_url
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.timestamps import moment
from undersigned.pasted.request import read_json_request
from undersigned.signature.signer import Signer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.cli.options import Content
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.profile import Profile
    from undersigned.signature.signer import SignedFields


@click.command()
@key_option
@keyid_option
@profile_option
@click.option("-X", "--method", metavar="METHOD", help="The method.  [default: GET, or POST with -d]")
@header_option
@data_option
@click.option("--curl", "as_curl", is_flag=True, help="Write a whole curl command, for a shell.")
@click.option("--created", type=SECONDS, help="The time of signing, in seconds since the epoch.  [default: now]")
@click.option("--nonce", help="Unpadded Base64url.  [default: a new nonce for each request]")
@click.argument("url", metavar="URL | -")
def sign(
    *,
    key: BinaryIO,
    keyid: str | None,
    profile: Profile,
    method: str | None,
    headers: tuple[tuple[str, str], ...],
    content: Content | None,
    as_curl: bool,
    created: int | None,
    nonce: str | None,
    url: str,
) -> None:
    """Sign a request, and print the headers to add to it, one per line, or a curl command.

    Give the method, the headers and the body as you will send them, and send all headers that are printed. A JSON body
    gets its Content-Type if none is given. `undersigned request` signs and sends in one step.

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
    if url == "-" and (method is not None or headers or content is not None or as_curl):
        raise click.UsageError("- reads whole requests as JSON; leave out -X, -H, -d and --curl, or give a URL")
    try:
        signer = Signer(read_signing_key(key, profile, keyid=keyid), profile=profile)
        signed = partial(signer.sign, created=created, nonce=nonce)
        if url == "-":
            found = answer_lines(standard_input(), lambda value: _answer(value, signed), partial(_error, CODE))
            click.get_current_context().exit(int(sum("error" in one for one in found) > 0))
        fields = typed_fields(headers, content)
        octets = b"" if content is None else content.octets
        request = Request(method or ("GET" if content is None else "POST"), url, fields, octets)
        added = signed(request)
    except MalformedURL as malformed:
        raise wrong_url(url, malformed) from None
    except (ConfigurationError, SigningError) as unsignable:
        raise click.UsageError(str(unsignable)) from None
    if as_curl:
        click.echo(curl_command(request.method, added.target_uri, [*fields, *added], content))
    else:
        for name, value in (*fields[len(headers) :], *added):
            click.echo(f"{name}: {value}")
    _note_expiry(added)


def _note_expiry(added: SignedFields) -> None:
    """Say on standard error until when the signature can be used."""
    for member in parse_signature_input(dict(added)["Signature-Input"]).values():
        expires = member.parameters.get("expires")
        if isinstance(expires, int):
            click.echo(f"This signature is for one request, which must arrive before {moment(expires)}.", err=True)


def _answer(value: JSONValue, signed: Callable[[Request], SignedFields]) -> JSONObject:
    request = Request(*read_json_request(value))
    try:
        added = signed(request)
    except MalformedURL as malformed:
        return _error(malformed.code, str(malformed))
    except (ConfigurationError, SigningError) as unsignable:
        return _error("request_not_signable", str(unsignable))
    return {"headers": [list(field) for field in added.fields], "signature_base": added.signature_base}


def _error(code: str, message: str) -> JSONObject:
    return {"error": code, "message": message}


def curl_command(method: str, url: str, fields: Iterable[tuple[str, str]], content: Content | None) -> str:
    """Return a curl command for a shell. It reads a file again when it runs; any other content is part of the command.

    Raises:
        click.UsageError: curl cannot send the request, or a shell cannot be given it as text.
    """
    octets = b"" if content is None else content.octets
    if method == "HEAD" and octets:
        raise click.UsageError("--curl: curl cannot send a HEAD request with a body")
    # With --request HEAD, curl waits for content that never comes.
    options = ["--head" if method == "HEAD" else f"--request {shlex.quote(method)}"]
    options += ["--path-as-is"] if "/." in url else []
    # curl takes `Name:` for a field to leave out.
    options += [f"--header {_word(f'{name}: {value}' if value else f'{name};')}" for name, value in fields]
    if content is not None and content.path is not None:
        options.append(f"--data-binary {shlex.quote(f'@{content.path}')}")
    elif octets:
        options.append(f"--data-raw {_word(octets.decode('latin-1'))}")
    return " \\\n  ".join([f"curl {options[0]}", *options[1:], shlex.quote(url)])


def _word(text: str) -> str:
    """Return one word of a shell. What is not printable ASCII depends on the locale, and on how it is pasted."""
    if not (text.isascii() and text.isprintable()):
        raise click.UsageError("--curl: what is not printable ASCII must be in a file: -d @FILE")
    return shlex.quote(text)
