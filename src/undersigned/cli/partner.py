"""`undersigned partner`: write the page that tells a partner what to publish, to cover and to send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

import click

from undersigned.cli.options import header_option, profile_option, wrong_url
from undersigned.errors import MalformedURL, SigningError
from undersigned.message.request import Request
from undersigned.signature.key_pair import Algorithm, KeyPair
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.signature.profile import Profile

_JWK: Final = {
    "ed25519": '`"kty": "OKP", "crv": "Ed25519"`',
    "ecdsa-p256-sha256": '`"kty": "EC", "crv": "P-256"`',
    "ecdsa-p384-sha384": '`"kty": "EC", "crv": "P-384"`',
}
_VALUES: Final = {
    "created": "now, in whole seconds since the epoch",
    "keyid": "the `kid` of your key",
    "alg": "the algorithm of your key",
}


@click.command()
@profile_option
@header_option
@click.argument("url")
def partner(*, profile: Profile, headers: tuple[tuple[str, str], ...], url: str) -> None:
    """Write a page for a partner: what to publish, to cover and to send, with an example.

    URL is one that the partner will call. The page is Markdown. Give headers that the profile requires with -H.

    \b
    Example:
      undersigned partner https://shop.example.com/orders > partners.md
    """  # noqa: D301 - click needs the escape to keep the line breaks
    try:
        click.echo("\n".join(_page(profile, canonicalize(url).target_uri, headers)))
    except MalformedURL as malformed:
        raise wrong_url(url, malformed) from None
    except SigningError as unsignable:
        raise click.UsageError(f"the example cannot be signed: {unsignable}: give the header with -H") from None


def _page(by: Profile, url: str, headers: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Yield the lines of the page for a profile."""
    key, coverage, validity, digest = by.key, by.coverage, by.validity, by.digest
    yield f"# Signing requests to {url}\n"
    yield "Sign every request with HTTP Message Signatures (https://www.rfc-editor.org/rfc/rfc9421). A request that"
    yield "is not signed, or is changed in transit, is rejected with an error code.\n\n## Publish\n"
    yield "A JWK set at an https URL, with your public key, and keep the private key secret. The key is one of these:\n"
    yield from (f"- {name}: {_JWK.get(name, 'RSA, 2,048 bits or more')}" for name in sorted(by.algorithms))
    kid = "the JWK thumbprint (RFC 7638)" if key.is_thumbprint else "a name that you never reuse"
    yield f"\nIts JWK has:\n\n- `kid`: {kid}"
    if key.is_declared:
        yield '- `alg`, `"use": "sig"` and `"key_ops": ["verify"]`'
    if key.purposes:
        yield f'- `"adcp_use": "{min(key.purposes)}"`'
    yield "\n## Cover\n"
    yield from (f"- `{name}`" for name in coverage.required(has_content=False))
    rules = (("with a query", coverage.with_query), ("if you send it", coverage.if_sent), ("send it", coverage.sent))
    with_body = [one for one in by.required_components[True] if one not in by.required_components[False]]
    for when, names in (("with a body", with_body), *rules):
        yield from (f"- `{name}`, {when}" for name in names)
    if digest.policy == "required":
        yield f"\nThe digest of the body is {' or '.join(digest.algorithms)}, over the exact bytes that you send."
    yield "\n## Send\n\n| parameter | value |\n|---|---|"
    tags = {"tag": f"`{by.selection.tag}`", "nonce": "a random text, new for each request"}
    ends = f"at most {validity.longest} seconds after `created`" if validity.longest else "when the signature ends"
    for name in by.written:
        yield f"| `{name}` | {({**_VALUES, **tags, 'expires': ends}).get(name, 'as the profile says')} |"
    yield f"\nYour clock may differ by {validity.ahead} seconds. Sign again for every attempt."
    yield f"\n## Example\n\nA signature is over these lines ({by.encoding} in `Signature`):\n\n```text"
    algorithm: Algorithm = next(name for name in get_args(Algorithm) if name in by.algorithms)
    request = Request("POST", url, [("Content-Type", "application/json"), *headers], b'{"item": "tea"}')
    pair = KeyPair.generate(algorithm, keyid=None if key.is_thumbprint else "your-key-2026")
    signed = Signer(pair.signing_key(), profile=by).sign(request)
    yield f"{signed.signature_base}\n```\n\nSend with it:\n\n```http"
    yield "\n".join(f"{name}: {value}" for name, value in signed)
    yield "```"
