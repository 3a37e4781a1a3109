"""`undersigned sign`: write the signature fields for requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undersigned import profiles
from undersigned.cli.key_file import FILE, read_signing_key
from undersigned.cli.lines import CODE, Answer, MalformedLine, answer_lines
from undersigned.cli.options import SECONDS, profile_option, stdin_argument
from undersigned.cli.request_line import parse_request
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.signature.signer import Signer

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.signing_key import SigningKey


@click.command()
@click.option("--key", required=True, type=FILE, callback=read_signing_key, help="A file with a private JWK.")
@profile_option
@click.option("--created", type=SECONDS, help="The time of signing, in seconds since the epoch.  [default: now]")
@click.option("--expires", type=SECONDS, help="In seconds since the epoch.  [default: the profile's latest]")
@click.option("--nonce", help="Unpadded Base64url.  [default: a new nonce for each request]")
@click.option("--label", help="The label of the signature.  [default: the profile's]")
@stdin_argument
def sign(
    *,
    key: SigningKey,
    profile: str,
    created: int | None,
    expires: int | None,
    nonce: str | None,
    label: str | None,
) -> None:
    """Sign requests.

    Read one object per line and write one object per line, with the header fields to add:

    \b
    {"method", "url", "headers": {..} or [[n, v], ..], "body" or "body_b64"}

    \b
    {"headers": [[n, v], ..], "signature_base": ...}
    {"error": "target_uri_malformed", "message": ...}
    {"error": "request_not_signable", "message": ...}
    {"error": "line_malformed", "message": ...}
    """  # noqa: D301 - click needs the escape to keep the line breaks
    try:
        signer = Signer(key, profile=profiles.BY_NAME[profile])
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from None

    def answer(value: JSONValue) -> Answer:
        request = parse_request(value)
        try:
            signed = signer.sign(request, created=created, expires=expires, nonce=nonce, label=label)
        except MalformedURL as malformed:
            return {"error": malformed.code, "message": str(malformed)}
        except SigningError as unsignable:
            return {"error": "request_not_signable", "message": str(unsignable)}
        return {"headers": [list(field) for field in signed.fields], "signature_base": signed.signature_base}

    answer_lines(answer, _line_error)


def _line_error(malformed: MalformedLine) -> Answer:
    return {"error": CODE, "message": str(malformed)}
