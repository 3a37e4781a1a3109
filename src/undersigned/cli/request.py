"""`undersigned request`: send a signed request, and say why it is rejected."""

from __future__ import annotations

import os
import sys
import time
from codecs import getincrementaldecoder
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click

from undersigned.cli.explain import explained_lines
from undersigned.cli.http import ca_file_option, exchange, timeout_option
from undersigned.cli.key_files import key_option, keyid_option, read_key_set, read_signing_key
from undersigned.cli.options import data_option, header_option, profile_option, typed_fields
from undersigned.cli.verdict import read_verdict
from undersigned.errors import UNAVAILABLE
from undersigned.explanation import explain_request
from undersigned.log_text import printable
from undersigned.reasons import REASONS

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from http.client import HTTPResponse

    from undersigned.cli.options import Content
    from undersigned.errors import Reason
    from undersigned.message.request import Request
    from undersigned.signature.key_source import KeySet
    from undersigned.signature.profile import Profile

_OF_THE_SERVER: Final = UNAVAILABLE | {
    "body_malformed", "signature_key_revoked", "signature_rate_abuse", "signature_replayed", "signature_required",
    "target_uri_malformed",
}  # fmt: skip
"""The codes of checks that need more than the request as it was sent and the keys of the server."""

_SKEW: Final = 30
"""The seconds by which clocks may differ before it is worth a line."""


@click.command()
@key_option
@keyid_option
@profile_option
@header_option
@data_option
@click.option(
    "--jwks",
    type=click.File("rb"),
    metavar="FILE",
    help="The public keys that the server knows, to explain a 401: a JWK set, a public JWK, or a public key in PEM.",
)
@timeout_option
@ca_file_option
@click.argument("method")
@click.argument("url")
def request(
    *,
    key: BinaryIO,
    keyid: str | None,
    profile: Profile,
    headers: tuple[tuple[str, str], ...],
    content: Content | None,
    jwks: BinaryIO | None,
    timeout: int,
    tls: ssl.SSLContext,
    method: str,
    url: str,
) -> None:
    """Send a signed request, and show the response.

    The status and the headers of the response go to standard error, its body to standard output. A 401 is explained:
    what its code means, and with --jwks which check fails. Redirects are not followed, and proxy settings of the
    environment are not used.

    The exit code is 0 if the status is 200 to 299, 1 for another status or no response, and 2 for wrong usage.

    \b
    Examples:
      undersigned request GET https://seller.example.com/orders --key keys/private.jwk.json | jq
      undersigned request POST http://localhost:8000/orders --key keys/private.jwk.json \\
        -d '{"plan": 1}' --jwks keys/public.jwks.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    signing = read_signing_key(key, profile, keyid=keyid)
    keys = None if jwks is None else read_key_set(jwks, keyid=signing.keyid)
    octets = b"" if content is None else content.octets
    fields = typed_fields(headers, content)
    with exchange(signing, profile, method, url, fields, octets, timeout=timeout, tls=tls) as (sent, response):
        received = _write(response)
    for line in _why(response, received, sent, profile, keys):
        click.echo(line, err=True)
    click.get_current_context().exit(int(response.status not in range(200, 300)))


def _write(response: HTTPResponse) -> bytes:
    """Write the head of an answer to standard error and its content to standard output; return its beginning."""
    version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"  # noqa: PLR2004 - http.client's number of it
    lines = [f"{version} {response.status} {response.reason}".rstrip()]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    for line in lines:
        click.echo(printable(line), err=True)
    beginning = b""
    is_terminal, decoder = sys.stdout.isatty(), getincrementaldecoder("utf-8")("replace")
    try:
        while piece := response.read1(65_536):
            beginning += piece if len(beginning) < 65_536 else b""  # noqa: PLR2004 - enough for the code of a rejection
            if is_terminal:
                # A terminal would obey control characters.
                text = decoder.decode(piece)
                piece = "".join(one if one.isprintable() or one in "\n\t" else printable(one) for one in text).encode()
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Who reads standard output has enough, as `head` does. What is left there must not fail again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return beginning
    if response.length:
        click.echo("(the response ends early)", err=True)
    return beginning


def _why(response: HTTPResponse, content: bytes, sent: Request, by: Profile, keys: KeySet | None) -> Iterator[str]:
    """Yield the lines that say why a request was rejected; none if it was not rejected for its signature."""
    location = response.headers.get("location")
    if response.status in range(300, 400) and location is not None:
        yield f"The redirect to {printable(location)} is not followed: a signature is for one URL only."
    verdict = read_verdict(response, content)
    if not verdict.code:
        if response.status == 401:  # noqa: PLR2004 - the status of a missing credential
            yield "Why: the response has no code of a signature, so another part of the server requires credentials"
        return
    advice = REASONS.get(cast("Reason", verdict.code))
    yield f"Why: the server says {printable(verdict.stated)}{f': {advice.meaning}' if advice else ''}"
    if advice:
        yield f"Fix: {advice.sender}"
    skew = _skew(response.headers.get("date", ""))
    if skew:
        yield f"The server's clock is {abs(skew)} seconds {'ahead of' if skew > 0 else 'behind'} this one."
    if verdict.code in _OF_THE_SERVER:
        return
    if keys is None:
        yield "To see which check fails, give the keys that the server knows: --jwks FILE"
        return
    yield from _check(sent, by, keys, code=verdict.code, skew=skew)


def _check(sent: Request, by: Profile, keys: KeySet, *, code: str, skew: int) -> Iterator[str]:
    """Yield what a verifier with the keys of the server says of the request as it was sent."""
    explained = explain_request(sent, by, keys, now=time.time() + skew)
    error = explained.error
    if error is None:
        yield (
            f"By these keys and the profile {explained.profile}, the request is valid as it was sent. The server "
            "therefore has other keys, another profile or another clock, or something in between changes requests: "
            "undersigned doctor"
        )
        return
    keyid, summary = error.keyid, explained.summary
    if keyid is not None and keyid not in keys.keys:
        known = ", ".join(map(printable, list(keys.keys)[:8]))
        summary = f"Cause: the request is signed with the key {printable(keyid)}, and the given keys are: {known}"
    elif keyid is not None and error.reason == "signature_invalid":
        # Between signing and this check nothing was in transit, so only the key can be another one.
        summary = f"Cause: the key {printable(keyid)} of --jwks is not the public half of --key"
    if error.reason != code:
        yield summary
        yield f"The server stops at another check than these keys do ({error.reason}): it has another profile or keys."
        return
    yield from explained_lines(replace(explained, summary=summary))


def _skew(date: str) -> int:
    """Return the seconds by which the server's clock is ahead, or 0 if it is about right or not known."""
    try:
        ahead = round(parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return 0
    return ahead if abs(ahead) > _SKEW else 0
