"""Requests that were properly signed and changed on the way, one for each kind of change."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests import keys
from tests.keys import OneKey
from tests.profiles.examples import EXAMPLES

from undersigned import Request, VerificationKey, profiles
from undersigned.url import Origin

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned import Profile

SITE = "https://seller.example.com"
OF_SITE = {"origins": (Origin.parse(SITE), Origin.parse("https://b.example"))}
JSON = json.dumps({"b": [1, 2], "a": "x"}).encode()
SHA_1 = hashes.SHA1()  # noqa: S303 - what PHP signs with
RSA = rsa.generate_private_key(65537, 2048)
RSA_PSS, RSA_PKCS1 = (
    VerificationKey.from_public_key(RSA.public_key(), keyid="rsa", algorithm=name)
    for name in ("rsa-pss-sha512", "rsa-v1_5-sha256")
)
OTHER_JWKS = keys.KeySet.from_jwks({"keys": [keys.PUBLIC, keys.EC_PUBLIC, keys.OTHER_PUBLIC]})


@dataclass(frozen=True)
class ChangedRequest:
    """A request that was changed on the way, the change that must explain it, and what its sentence must contain."""

    name: str
    received: Request
    words: str = ""
    profile: Profile = profiles.ADCP_3_2
    origins: tuple[Origin, ...] = ()
    known: object = keys.KEYS
    now: float = keys.NOW


def _target(name: str, signed: str, received: str, words: str = "", *, fields=(), **options) -> ChangedRequest:
    """A request signed for one URL and received for another; a URL without a scheme is below `SITE`."""
    signed, received = (SITE + url if url[0] in "/:" else url for url in (signed, received))
    own = [("Host", received.split("/")[2]), *fields]
    added = keys.foreign_fields(Request("GET", signed), by=keys.signer(), nonce=keys.NONCE)
    return ChangedRequest(name, Request("GET", received, [*own, *added]), words, **options)


def _method(signed: str, received: str) -> ChangedRequest:
    """A request signed for one method and received with another."""
    request = _sign_base(Request(received, keys.URL), lambda base: base.replace(received, signed, 1))
    return ChangedRequest("other method", request, f"signed {signed}; you received {received}")


def _sign_base(request: Request, change: Callable[[str], str | bytes], claim: str = "", sign=keys.KEY.sign) -> Request:
    """The request with a signature over its base after `change`."""
    sent = keys.hostile_request(request, claim or keys.covering(*keys.BARE))
    parsed = keys.parse_signature_input(sent.fields.combined["signature-input"])["sig1"]
    base = change(
        keys.signature_base(
            keys.ComponentValues(request, keys.canonicalize(request.url)), parsed.components, parsed.text
        )
    )
    octets = sign(base if isinstance(base, bytes) else base.encode())
    return keys.with_field(sent, "signature", f"sig1=:{_b64(octets)}:")


def _sign_as_typed(url: str) -> ChangedRequest:
    """A request whose sender signed the URL as it was typed, and not its canonical form."""
    canonical = keys.canonicalize(url)

    def typed(base: str) -> str:
        return base.replace(str(canonical), url).replace(
            f'"@authority": {canonical.authority}', f'"@authority": {url.split("/")[2]}'
        )

    return ChangedRequest(
        "not canonical", _sign_base(Request("GET", url), typed), f"signed {url}; you received {canonical}"
    )


def _fields(name: str, covered: str, signed: list[str], received: list[str], words: str = "") -> ChangedRequest:
    """A request with a covered field whose lines were changed."""
    before = Request("GET", keys.URL, [(covered, line) for line in signed])
    sent = keys.hostile_request(before, keys.covering(*keys.BARE, covered))
    own = [one for one in sent.fields if one[0] != covered]
    return ChangedRequest(name, keys.replace_parts(sent, fields=[*((covered, line) for line in received), *own]), words)


def _content(name: str, change: Callable[[Request], Request], words: str = "", **options) -> ChangedRequest:
    request = keys.signed_request(body=JSON, profile=options.get("profile", profiles.ADCP_3_2))
    return ChangedRequest(name, change(request), words, **options)


def _digest_again(request: Request, body: bytes) -> Request:
    """The request with other content, and the digest of it."""
    added = keys.digest_of(body)
    return keys.replace_parts(keys.with_field(request, "content-digest", added), body=body)


def _in_base64url(request: Request, *names: str) -> Request:
    for name in names:
        label, _, octets = request.fields.combined[name].partition("=:")
        value = f"{label}=:{octets.rstrip(':').rstrip('=').replace('+', '-').replace('/', '_')}:"
        request = keys.with_field(request, name, value)
    return request


def _claiming(jwk: dict[str, object], keyid: str, words: str, **options) -> ChangedRequest:
    """A request that is signed with a key and names another key ID."""
    request = keys.signed_request(key=keys.SigningKey.from_jwk({**jwk, "kid": keyid}))
    return ChangedRequest("another key", request, f"by the key {words}, and names the key {keyid}", **options)


def _of_curve(form: Callable[[bytes], bytes], words: str, name: str = "other signature form") -> ChangedRequest:
    """A request with an ECDSA signature whose r and s are written in another form."""
    request = keys.signed_request(key=keys.EC_KEY)
    octets = form(base64.b64decode(request.fields.combined["signature"][6:-1]))
    return ChangedRequest(name, keys.with_field(request, "signature", f"sig1=:{_b64(octets)}:"), words)


def _der(raw: bytes) -> bytes:
    return encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))


def _with_another_hash(algorithm: str, words: str, sign: Callable[[bytes], bytes], key: VerificationKey):
    """A request that was signed with another hash or padding than its algorithm names."""
    claim = keys.covering(*keys.BARE, keyid=f'"{key.keyid}"', alg=f'"{algorithm}"')
    own = profiles.ADCP_3_2.derive(name="own", algorithms={algorithm})
    request = _sign_base(Request("GET", keys.URL), lambda base: base, claim, sign)
    return ChangedRequest("another hash", request, words, own, known=OneKey(key))


def _hand_written(
    name: str, change: Callable[[str], str | bytes], words: str, *, url: str = keys.URL
) -> ChangedRequest:
    """A request whose signer, written by hand, signed another base than the one of RFC 9421."""
    return ChangedRequest(name, _sign_base(Request("GET", url), change), words)


def _in_other_form(change: Callable[[bytes], bytes], words: str, spelled: str = "sig1=:{}:") -> ChangedRequest:
    """A request whose signature is written in another form."""
    request = keys.signed_request()
    octets = change(base64.b64decode(request.fields.combined["signature"][6:-1]))
    text = _b64(octets) if spelled == "sig1=:{}:" else octets.decode()
    return ChangedRequest("other signature form", keys.with_field(request, "signature", spelled.format(text)), words)


def _digest_as(value: str, words: str) -> ChangedRequest:
    """A request that is signed with this Content-Digest."""
    request = Request("POST", keys.URL, [keys.JSON_FIELD, ("Content-Digest", value)], JSON)
    return ChangedRequest("other digest form", keys.hostile_request(request, keys.covering(*keys.FULL)), words)


def _without(name: str) -> ChangedRequest:
    request = keys.with_field(keys.signed_request(body=JSON), name, None)
    return ChangedRequest("lost field", request, f"you received no {name}")


def _with_parameters(name: str, change: Callable[[str], str], words: str, more: str = "") -> ChangedRequest:
    """A request whose signature parameters were changed after signing."""
    request = keys.hostile_request(Request("GET", keys.URL), keys.covering(*keys.BARE) + more)
    value = change(request.fields.combined["signature-input"])
    return ChangedRequest(name, keys.with_field(request, "signature-input", value), words)


def _line(name: str, value: str) -> Callable[[str], str]:
    return lambda base: re.sub(f'^"{name}": .*', lambda _: f'"{name}": {value}', base, flags=re.MULTILINE)


def _b64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


SHA_256, SHA_384 = (hashlib.new(name, JSON).digest() for name in ("sha256", "sha384"))
HEX = SHA_256.hex()
DIGESTS = {
    "in hexadecimal": (f"sha-256=:{HEX}:", "by sha-256, in hexadecimal; expected sha-256=:"),
    "in bare hexadecimal": (f"sha-256={HEX}", "by sha-256, in hexadecimal, without colons"),
    "in hexadecimal in Base64": (f"sha-256=:{_b64(HEX.encode())}:", "in hexadecimal, and that in Base64; expected"),
    "twice in Base64": (f"sha-256=:{_b64(_b64(SHA_256).encode())}:", "by sha-256, in Base64 twice; expected"),
    "that is cut": (f"sha-256=:{_b64(SHA_256[:16])}:", "the first 16 bytes of the digest of the body by"),
    "in the form of the field Digest": (f"SHA-256={_b64(SHA_256)}", "as the old field Digest has it"),
    "by sha-384": (f"sha-384=:{_b64(SHA_384)}:", "by sha-384, in Base64"),
    "by another algorithm than it names": (f"sha-256=:{_b64(SHA_384)}:", "by sha-384, under the name sha-256"),
}
"""Values of Content-Digest, and what is said of them."""


def _put(old: str, new: str) -> Callable[[str], str]:
    return lambda base: base.replace(old, new)


def _sub(pattern: str, new: str) -> Callable[[str], str]:
    return lambda base: re.sub(pattern, new, base, flags=re.MULTILINE)


LAST = '"@signature-params": '
BASES: dict[str, Callable[[str], str | bytes]] = {
    "a line end after the last line": "{}\n".format,
    "a line end before the first line": "\n{}".format,
    "CRLF between the lines": _put("\n", "\r\n"),
    "commas and spaces between the lines": _put("\n", ", "),
    "an empty line before the last line": _put("\n" + LAST, "\n\n" + LAST),
    "a space at the end of each line": _sub("$", " "),
    "a space before the colons": _put('": ', '" : '),
    "times in milliseconds": _sub("=([0-9]+)", r"=\g<1>000"),
    "no last line, @signature-params": lambda base: base.rpartition("\n")[0],
    "its last line first": lambda base: "\n".join([base.rpartition("\n")[2], base.rpartition("\n")[0]]),
    "the label in its last line": _put(LAST, f"{LAST}sig1="),
    "the header Signature-Input as its last line": _put(LAST, "Signature-Input: sig1="),
    "names without quotation marks": _sub('^"(.*?)"', r"\1"),
    "names without quotation marks, except the last": _sub('^"([^"]*)": (?!\\()', r"\1: "),
    "values in lower case": lambda base: "\n".join([*base.lower().split("\n")[:-1], base.split("\n")[-1]]),
    "values in quotation marks": _sub(": ([^(].*)", r': "\1"'),
    "spaces between the parameters": _put(";", "; "),
    "parameters without quotation marks": _sub('="([^"]*)"', r"=\1"),
    "numbers in quotation marks": _sub("=([0-9]+)", r'="\1"'),
    "bare names in its last line": _sub('(?<=[( ])"(@[a-z-]+)"', r"\1"),
    "no parentheses in its last line": _sub("[()]", ""),
    "4 spaces before each line but the first": _put("\n", "\n    "),
    "4 spaces before each line, between line ends": lambda base: "\n    " + base.replace("\n", "\n    ") + "\n",
    "names without quotation marks, and with a line end after the last line": _sub(
        '^"(.*?)"|\\Z', lambda name: name[1] or "\n"
    ),
    "no quotation marks around @signature-params, and with the label in its last line": _put(
        LAST, "@signature-params: sig1="
    ),
    "@path in place of @target-uri": _put('"@target-uri": https://seller.example.com', '"@path": '),
    "no @ in its names": _put('"@', '"'),
    "a space before the parameters": _put(");", ") ;"),
    "commas between the parameters": _put(";", ","),
    "two line ends after the last line": "{}\n\n".format,
    "its text in UTF-16-LE": lambda base: base.encode("utf-16-le"),
}
"""Bases that a signer writes by hand."""

VALUES = {
    "@target-uri": (
        "/a%20b?c=d%2Ce", "/a%20b", f"{SITE}/a b?c=d,e", f"{SITE}/a%2520b?c=d%252Ce",
        f"{SITE}/a%20b?c=d%2Ce#top", "wss://seller.example.com/a%20b?c=d%2Ce", "undefined", f'"{SITE}/a%20b?c=d%2Ce"',
        "https%3A%2F%2Fseller.example.com%2Fa%2520b%3Fc%3Dd%252Ce",
    ),
    "@authority": ("seller.example.com:443", "seller.example.com:80", "SELLER.EXAMPLE.COM", "", "null"),
}  # fmt: skip
"""Values that such a signer writes for the components of a request."""


TARGETS = {
    "decoded octets": (
        "/x/a%2Fb%2Fc/y /x/a/b/c/y", "/r/https%3A%2F%2Fb.example%2Fc%2Fd%2Fe%2Ff /r/https://b.example/c/d/e/f",
        "/a%3Ab%40c /a:b@c", "/a%3Ab@c%3A /a:b@c:", "/a%252Fb /a%2Fb", "/?a=%25C3%2525 /?a=%C3%25",
        "/?a=x%2Cy%3Az /?a=x,y:z",
    ),
    "encoded octets": (
        "/a:b@c /a%3Ab%40c", "/a:b%40c: /a%3Ab%40c%3A", "/a%2Fb /a%252Fb", "/%C3%A9:a@b /%C3%A9%3Aa%40b",
        "/?a=x,y:z /?a=x%2Cy%3Az", "/?a=%C3%A9%20 /?a=%25C3%25A9%2520", "/?a=x,y%3Az, /?a=x%2Cy%3Az%2C",
        "/?a[]=x%2C /?a%5B%5D=x%2C",
    ),
    "merged slashes": ("/a//b//c/d /a/b/c/d",),
    "added slashes": ("/a/b //a/b",),
    "trailing slash": ("/a/ /a", "/a /a/"),
    "added prefix": ("/a /backend/internal/a",),
    "reordered query": (
        "/?f=6&a=1&b=2&c=3&d=4&e=5 /?a=1&b=2&c=3&d=4&e=5&f=6", "/?a=1&b=2&c=3&d=4&e=5&f=6 /?f=6&c=3&a=1&e=5&b=2&d=4"
    ),
    "+ for a space": ("/?a=x+y /?a=x%20y", "/?a=x%20y%20z /?a=x+y+z"),
    "other case": ("/?a=%c3%a9 /?a=%C3%A9", "/?a=%C3%A9 /?a=%c3%a9"),
    "rewritten query": ("/?a&b=1&c /?a=&b=1&c=", "/?a=&b=1 /?a&b=1", "/?a=1& /?a=1"),
    "added query": ("/?a=1&b=2 /?a=1&utm=x&b=2", "/?a=1&b=2&c=3&d=4&e=5&f=6 /?a=1&b=2&c=3&utm=x&d=4&e=5&f=6"),
    "other port": ("/a :5000/a",),
    "other scheme and stripped prefix": ("/api/a http://seller.example.com/a",),
    "stripped prefix and merged slashes": ("/api/a//b /a/b",),
    "added prefix and trailing slash": ("/c /backend/b/c/",),
    "stripped prefix and + for a space": ("/api/a?b=c+d /a?b=c%20d",),
    "stripped prefix and decoded octets": ("/api/a%2Fb /a/b",),
    "other scheme and decoded octets": ("/a%2Fb http://seller.example.com/a/b",),
    "decoded octets and + for a space": ("/a%2Fb?c=d+e /a/b?c=d%20e",),
}  # fmt: skip
"""Targets as they were signed and as they were received, by the change."""

CHANGED = {
    **{f"{name}: {pair}": _target(name, *pair.split()) for name, pairs in TARGETS.items() for pair in pairs},
    "a decoded slash": _target("decoded octets", "/a%2Fb", "/a/b", "the sender signed /a%2Fb; you received /a/b"),
    "an encoded slash": _target("encoded octets", "/a/b", "/a%2Fb", "the sender signed /a/b; you received /a%2Fb"),
    "merged slashes": _target("merged slashes", "/a//b", "/a/b", "signed /a//b; you received /a/b"),
    "a stripped prefix": _target("stripped prefix", "/api/v1/a", "/a", "signed /api/v1/a; you received /a"),
    "a stripped prefix that a field names": _target(
        "stripped prefix", "/tenant7/a", "/a", fields=[("X-Forwarded-Prefix", "/tenant7")]
    ),
    "a stripped prefix of an origin": _target(
        "stripped prefix", "/tenant8/a", "/a", origins=(Origin.parse(f"{SITE}/tenant8"),)
    ),
    "a rewritten target": _target(
        "rewritten target", "/shop/7?x=1", "/index.php?shop=7", fields=[("X-Original-URI", "/shop/7?x=1")]
    ),
    "a rewritten target in absolute form": _target(
        "rewritten target", "/shop/7", "/index.php", fields=[("X-Original-URL", f"{SITE}/shop/7")]
    ),
    "a lost ?": _target("lost ?", "/a?", "/a", "the sender signed a lone ?; you received no query"),
    "an added ?": _target("added ?", "/a", "/a?", "the sender signed no query; you received a lone ?"),
    "a sorted query": _target(
        "reordered query", "/a?z=1&b=2&a=3", "/a?a=3&b=2&z=1", "signed ?z=1&b=2&a=3; you received ?a=3&b=2&z=1"
    ),
    "an added query": _target("added query", "/a", "/a?gclid=1&x=2", "signed no query; you received ?gclid=1&x=2"),
    "another scheme": _target("other scheme", "/a", "http://seller.example.com/a", "signed https; you received http"),
    "a lost port": _target("other port", ":8443/a", "/a", "signed seller.example.com:8443; you received"),
    "a lost port that a field names": _target("other port", ":7443/a", "/a", fields=[("X-Forwarded-Port", "7443")]),
    "another host that a field names": _target(
        "other host", "/a", "https://backend:8000/a", fields=[("X-Forwarded-Host", "seller.example.com")]
    ),
    "another host that Forwarded names": _target(
        "other host", "/a", "https://backend/a", fields=[("Forwarded", "for=1.2.3.4;host=seller.example.com")]
    ),
    "another host of the origins": _target("other host", "/a", "https://10.0.0.7/a", **OF_SITE),
    "a host as it was typed": _sign_as_typed("https://Seller.Example.com/a"),
    "a path as it was typed": _sign_as_typed(f"{SITE}/%7Ea/../b"),
    "a URL without a path as it was typed": _sign_as_typed(f"{SITE}:443"),
    "a default port as it was typed": _sign_as_typed(f"{SITE}:443/a"),
    "another method": _method("POST", "GET"),
    "a method in lower case": _method("post", "POST"),
    "lines joined without a space": _fields("other header joining", "x-list", ["a,b"], ["a", "b"], "x-list: a,b"),
    "spaces after commas": _fields("other header joining", "x-list", ["a,b,c"], ["a, b, c"]),
    "lines in another order": _fields("other header joining", "x-list", ["b", "a"], ["a", "b"]),
    "spaces between words": _fields("other header joining", "x-list", ["a b"], ["a  b"]),
    "spaces after semicolons": _fields("other header joining", "x-list", ["a;b=1;c"], ["a; b=1; c"]),
    "an added charset": _fields("other Content-Type", "content-type", ["text/plain"], ["text/plain;charset=utf-8"]),
    "a dropped charset": _fields("other Content-Type", "content-type", ["text/plain; charset=utf-8"], ["text/plain"]),
    "an added line": _fields("added value", "x-list", ["a"], ["a", "b"]),
    "an added member": _fields("added value", "x-list", ["a, b"], ["a, x, b"]),
    "a value in lower case": _fields("other case", "x-list", ["a"], ["A"]),
    "a value in upper case": _fields("other case", "x-list", ["A"], ["a"]),
    "the digest of compact JSON": _content(
        "other content", lambda request: _digest_again(request, b'{\n  "b": [\n    1,\n    2\n  ],\n  "a": "x"\n}')
    ),
    "content that was written again": _content(
        "other content",
        lambda request: keys.replace_parts(request, body=json.dumps(json.loads(JSON), indent=2).encode()),
        "the sender signed the same JSON written with spaces, as json.dumps does",
    ),
    "a digest of the content in place of another": _content(
        "other content", lambda request: keys.with_field(request, "content-digest", keys.digest_of(b"x"))
    ),
    "a digest by another algorithm": _content(
        "other content", lambda request: keys.with_field(request, "content-digest", keys.digest_of(JSON, "sha-512"))
    ),
    "a signature in Base64url": _content(
        "other Base64",
        lambda request: _in_base64url(request, "signature"),
        "signed signature in Base64url; you received what must be padded Base64 (RFC 8941)",
    ),
    "a digest in Base64url": _content("other Base64", lambda request: _in_base64url(request, "content-digest")),
    "both in Base64url": _content(
        "other Base64", lambda request: _in_base64url(request, "signature", "content-digest")
    ),
    "another key of the set": _claiming(keys.OTHER_PRIVATE, "buyer-ed25519", "stranger", known=OTHER_JWKS),
    "a keyid that nobody knows": _claiming(keys.PRIVATE, "nobody", "buyer-ed25519"),
    "an ECDSA signature in DER": _of_curve(_der, "a DER sequence; you received r and s", "DER signature"),
    "an ECDSA signature in DER in hexadecimal": _of_curve(
        lambda raw: _der(raw).hex().encode(), "a DER sequence; you received r and s", "DER signature"
    ),
    "ECDSA with SHA-1, as PHP signs": _with_another_hash(
        "ecdsa-p256-sha256",
        "signed with ECDSA and SHA1, in place of ecdsa-p256-sha256",
        lambda base: keys.es256_key().sign(base, ec.ECDSA(SHA_1)),
        keys.KEYS.keys["buyer-es256"][0],
    ),
    "RSA-PSS with a salt of another length": _with_another_hash(
        "rsa-pss-sha512",
        "signed with PSS and SHA512",
        lambda base: RSA.sign(base, padding.PSS(padding.MGF1(hashes.SHA512()), 20), hashes.SHA512()),
        RSA_PSS,
    ),
    "RSA in PKCS #1 with another hash": _with_another_hash(
        "rsa-v1_5-sha256",
        "signed with PKCS #1 v1.5 and SHA1",
        lambda base: RSA.sign(base, padding.PKCS1v15(), SHA_1),
        RSA_PKCS1,
    ),
    "another profile": ChangedRequest(
        "another profile",
        EXAMPLES["gnap"].request,
        "with the profile gnap, and not with adcp-3.2",
        known=OneKey(EXAMPLES["gnap"].key),
        now=EXAMPLES["gnap"].now,
    ),
    **{
        f"a base with {words}": _hand_written("other base form", change, f"with {words}, in place", url=f"{SITE}/A")
        for words, change in BASES.items()
    },
    **{
        f"{name}: {value}": _hand_written(
            "other component value", _line(name, value), f'"{name}": ', url=f"{SITE}/a%20b?c=d%2Ce"
        )
        for name, values in VALUES.items()
        for value in values
    },
    "a base without a line": _hand_written(
        "other base form", lambda base: re.sub('"@authority".*\n', "", base), 'a base without "@authority"'
    ),
    "a base without two lines": _hand_written(
        "other base form", lambda base: base.split("\n", 2)[2], 'a base without "@method" "@target-uri", in place'
    ),
    "a URL in place of the base": _hand_written("other base form", lambda _: keys.URL, "signed the URL, in place of"),
    "another authority, and a line end": _hand_written(
        "other component value and other base form",
        lambda base: base.replace('rity": seller.example.com', 'rity": seller.example.com:443') + "\n",
        "com:443, in a base with a line end after the last line; you received",
    ),
    "a base with lines in another order": _hand_written(
        "reordered lines", lambda base: "\n".join([*sorted(base.split("\n")[:-1]), base.split("\n")[-1]]), "@authority"
    ),
    "fewer parameters, and a line end": _hand_written(
        "added parameters and other base form",
        lambda base: re.sub(";alg=[^;]*", "", base) + "\n",
        "tag, in a base with a",
    ),
    "a hash of the base": _hand_written(
        "hashed base", lambda base: hashlib.sha256(base.encode()).digest(), "the sha256 of the base, in place of"
    ),
    "a hash of the base in hexadecimal": _hand_written(
        "hashed base", lambda base: hashlib.sha256(base.encode()).hexdigest(), "the sha256 of the base in hexadecimal"
    ),
    "an authority in Unicode": _hand_written(
        "other component value",
        _line("@authority", "müller.example"),
        '"@authority": m\\xfcller.example',
        url="https://xn--mller-kva.example/a",
    ),
    "a signature in hexadecimal": _in_other_form(lambda octets: octets.hex().encode(), "in hexadecimal", "sig1=:{}:"),
    "a signature in bare hexadecimal": _in_other_form(
        lambda octets: octets.hex().encode(), "in hexadecimal", "sig1={}"
    ),
    "a signature in hexadecimal between colons": _in_other_form(
        lambda octets: octets.hex().encode(), "the signature in hexadecimal", "sig1=:{}: "
    ),
    "a signature in a string": _in_other_form(base64.b64encode, "the signature in Base64, without colons", 'sig1="{}"'),
    "a signature twice in Base64": _in_other_form(base64.b64encode, "in Base64 twice"),
    "a signature with bytes after it": _in_other_form(lambda octets: octets + b"\x01", "with 1 bytes after it"),
    "a signature with bytes before it": _in_other_form(lambda octets: b"\x01" + octets, "with 1 bytes before it"),
    "an ECDSA signature with s before r": _of_curve(lambda octets: octets[32:] + octets[:32], "with s before r"),
    "an ECDSA signature in little-endian": _of_curve(
        lambda octets: octets[31::-1] + octets[:31:-1], "with r and s in the other byte order"
    ),
    **{f"a digest {name}": _digest_as(*written) for name, written in DIGESTS.items()},
    "a lost Content-Type": _without("content-type"),
    "a lost Content-Digest": _without("content-digest"),
    "parameters in another order": _with_parameters(
        "reordered parameters",
        lambda value: re.sub("(;created=[0-9]+)(;expires=[0-9]+)", r"\2\1", value),
        "signed created expires nonce keyid alg tag; you received",
    ),
    "many parameters in another order": _with_parameters(
        "reordered parameters",
        lambda value: f"{value.replace(';created=1776520800', '')};created=1776520800",
        "signed created expires nonce keyid alg tag x y; you",
        ";x;y",
    ),
    "a base with two parameters of many": _hand_written(
        "added parameters", lambda base: re.sub(";(expires|nonce|alg|tag)=[^;]*", "", base), "signed created keyid; you"
    ),
    "a parameter that was added": _with_parameters(
        "added parameters", lambda value: f'{value};x="1"', "signed created expires nonce keyid alg tag; you"
    ),
    "host and scheme": _target(
        "other scheme and other host", "http://backend:8080/a", "/a", "signed http://backend:8080/a; you received"
    ),
    "host and slash": _target("other host and trailing slash", "/a", "https://10.0.0.7/a/", **OF_SITE),
    "host and scheme that a field names": _target(
        "other scheme and other host", "http://shop.example/a", "/a", fields=[("X-Forwarded-Host", "shop.example")]
    ),
    "host and prefix": _target("other host and stripped prefix", "/api/a", "https://10.0.0.7/a", **OF_SITE),
    "host and query": _target("other host and reordered query", "/a?c=1&b=2", "https://10.0.0.7/a?b=2&c=1", **OF_SITE),
}
"""Each kind of change, with the names of the variants that explain it."""
