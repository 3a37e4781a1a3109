"""An honest sender: requests of every usual size and shape, signed by hand with hashlib and cryptography alone."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPrivateNumbers, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256
from tests.vectors.recipes.keys import PRIVATE, Key, b64url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    Fields = Sequence[tuple[str, str]]

KEYID: Final = "https://buyer.example/keys/signing?use=requests#2026"
KEY: Final = Key("honest-sender")
HOST: Final = "seller.example.com"
AGENT: Final = '"https://bot.example"'
CREATED: Final = 1_790_000_000

_BROWSER: Final = (
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("accept-language", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"),
    ("cache-control", 'max-age=0, private="set-cookie", no-transform'),
    ("priority", "u=0, i"),
    ("sec-ch-ua", '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"'),
    ("sec-ch-ua-mobile", "?0"),
    ("sec-fetch-site", "same-origin"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"),
)
_BLANKS: Final = ("", " ", "  ", "\t", " \t ")


@dataclass(frozen=True)
class Rule:
    """What an endpoint asks a signature for.

    `covered` names components by method, target, fields and content. `member_of` is a field whose member, with the
    signature's label, is covered. It may be empty. `token` is the Workload-Identity-Token that the request has. A
    signature `is_alone` if the receiver reads no message with several.
    """

    tag: str
    label: str
    covered: Callable[[str, str, Fields, bytes], Sequence[str]]
    parameters: tuple[str, ...]
    padded_digest: bool
    padded: bool
    keyid: str
    member_of: str = ""
    token: str = ""
    is_rsa: bool = False
    is_alone: bool = False


@dataclass(frozen=True)
class Sent:
    """A request as it is sent."""

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def __str__(self) -> str:
        sizes = {name: len(value) for name, value in self.fields if len(value) > 200}
        start = f"{self.method} {len(self.target)} {self.target[:80]}"
        return f"{start} {sizes} {len(self.fields)} fields, {len(self.body)}"


def _number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(f"{text}=="), "big")


def _rsa_jwk() -> dict[str, str]:
    """The key test-key-rsa of RFC 9421."""
    vectors = Path(__file__).parents[1] / "vectors" / "published" / "rfc9421_vectors.json"
    return json.loads(vectors.read_text())["keys"]["test-key-rsa"]["jwk"]


@cache
def _rsa_key() -> RSAPrivateKey:
    """The private key: OpenSSL checks its primes each time that it is made."""
    given = {name: _number(value) for name, value in _rsa_jwk().items() if len(name) <= 2}
    public = RSAPublicNumbers(given["e"], given["n"])
    primes = (given[name] for name in ("p", "q", "d", "dp", "dq", "qi"))
    return RSAPrivateNumbers(*primes, public).private_key()


def _rsa_octets(base: bytes) -> bytes:
    return _rsa_key().sign(base, PKCS1v15(), SHA256())


def rsa_jwk(keyid: str) -> dict[str, object]:
    """The public RSA key that the receiver knows."""
    given = _rsa_jwk()
    return {"kid": keyid, "kty": "RSA", "alg": "RS256", "use": "sig", "n": given["n"], "e": given["e"]}


def token() -> str:
    """A Workload-Identity-Token for the key, by an issuer that has the same key."""
    claims = {"sub": "wimse://buyer.example/orders", "exp": CREATED + 3600, "cnf": {"jwk": jwk("")}}
    head = {"alg": "EdDSA", "kid": "issuer", "typ": "wit+jwt"}
    text = ".".join(b64url(json.dumps(part).encode()) for part in (head, claims))
    return f"{text}.{b64url(KEY.sign(text))}"


def thumbprint() -> str:
    """The thumbprint of the key (RFC 7638)."""
    text = json.dumps({name: KEY.jwk[name] for name in ("crv", "kty", "x")}, separators=(",", ":"))
    return b64url(hashlib.sha256(text.encode()).digest())


def jwk(keyid: str) -> dict[str, object]:
    """The public key that the receiver knows."""
    return {**{name: value for name, value in KEY.jwk.items() if name != PRIVATE}, "kid": keyid}


def request(random: Random, rule: Rule, *, longest_path: int) -> Sent:
    """Return a signed request of a random size and shape."""
    method = random.choice(("GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"))
    body = _body(random) if method in {"POST", "PUT", "PATCH"} else b""
    target = _target(random, longest_path)
    fields = [
        ("host", HOST),
        ("authorization", f"GNAP {'t' * 900}"),
        *random.sample(_BROWSER, random.randrange(len(_BROWSER))),
    ]
    if random.random() < 0.5:
        fields.append(("cookie", "; ".join(f"c{at}={'v' * 60}" for at in range(random.randrange(120)))))
    fields += [(f"x-edge-{at}", "v" * random.randrange(120)) for at in range(random.choice((0, 5, 60, 77)))]
    fields.append(("content-type", "application/json; charset=utf-8"))
    if rule.token:
        fields.append(("workload-identity-token", rule.token))
    if body:
        fields.append(("content-length", str(len(body))))
    signed = _signed(random, rule, method, target, fields, body)
    random.shuffle(signed)
    return Sent(method, target, tuple(signed), body)


def _target(random: Random, longest_path: int) -> str:
    size = random.choice((1, 60, 500, longest_path))
    segments = random.choice(("order", "caf%C3%A9", "a", "items;v=1,2", "~user", "%E2%82%AC", "2026-10-01T00:00:00Z"))
    path = ("/" + segments) * (size // (len(segments) + 1) or 1)
    click = "https%3A%2F%2Fclick.example%2Fc%3Fu%3Dhttps%253A%252F%252Fshop.example%252Fp"
    queries = (
        "",
        "?",
        "?q=1",
        "?" + "&".join(f"id{at}={at}" for at in range(300)),
        f"?u={click * 30}",
        "?" + "q" * 5000,
    )
    query = random.choice(queries)
    return path[:longest_path] + (query if len(path) + len(query) < 8000 else "")


def _body(random: Random) -> bytes:
    bid = {"id": "1", "imp": [{"id": str(at), "banner": {"w": 300, "h": 250}, "bidfloor": 0.5} for at in range(200)]}
    dense = "[" * 30 + ",".join(["{}"] * random.choice((1, 1000, 100_000))) + "]" * 30
    texts = ('{"a":1}', json.dumps(bid), dense, json.dumps({"text": 'ü,[]{}:\\"' * 1000}), "[" + "0," * 500_000 + "0]")
    return random.choice(texts).encode()[:1_048_576]


def _signed(
    random: Random, rule: Rule, method: str, target: str, fields: list[tuple[str, str]], body: bytes
) -> list[tuple[str, str]]:
    """Return the fields with Content-Digest, Signature-Input and Signature, in a random spelling."""
    digest = hashlib.sha256(body).digest()
    text = base64.b64encode(digest).decode() if rule.padded_digest else b64url(digest)
    more = random.choice(("", f", unixsum=:{'A' * 8}:", f' ,\tmd5=:{"A" * 22}==:;note="old"'))
    fields = [*fields, ("content-digest", f"sha-256=:{text}:{more}")]
    names = [f'"{name}"' for name in rule.covered(method, target, fields, body)]
    path, _, query = target.partition("?")
    values = {
        "@method": method, "@target-uri": f"https://{HOST}{target}", "@authority": HOST, "@scheme": "https",
        "@path": path, "@query": f"?{query}", "@request-target": target, **dict(fields),
    }  # fmt: skip
    values = {f'"{name}"': value for name, value in values.items()}
    if rule.member_of:
        member = f'"{rule.member_of}";key="{rule.label}"'
        fields.append((rule.member_of, f"{rule.label}={AGENT}"))
        names.append(member)
        values[member] = AGENT
    gap = random.choice(_BLANKS[1:3])
    # A parser writes the list in its one spelling, so that spelling is signed.
    listed = " ".join(names)
    written = random.choice((f"({listed})", f"( {listed.replace(' ', gap)} )"))
    nonce = b64url(random.randbytes(random.choice((16, 64))))
    parameters = "".join(
        {
            "created": f";created={CREATED}",
            "expires": f";expires={CREATED + 300}",
            "nonce": f';nonce="{nonce}"',
            "keyid": f';keyid="{rule.keyid}"',
            "alg": ';alg="ed25519"',
            "tag": f';tag="{rule.tag}"',
            "wimse-aud": f';wimse-aud="https://{HOST}{path}"',
        }[name]
        for name in random.sample(rule.parameters, len(rule.parameters))
    )
    base = "".join(f"{name}: {values[name]}\n" for name in names)
    base += f'"@signature-params": ({listed}){parameters}'
    octets = _rsa_octets(base.encode("ascii")) if rule.is_rsa else KEY.sign(base)
    text = base64.b64encode(octets).decode() if rule.padded else b64url(octets)
    inputs, signatures = [f"{rule.label}={written}{parameters}"], [f"{rule.label}=:{text}:"]
    for at in range(0 if rule.is_alone else random.randrange(3)):
        other = f'proxy{at}=("@method" "@authority" "@path"  "forwarded";sf);created={CREATED}'
        inputs.append(f'{other};keyid="https://edge.example/k{at}";tag="edge";nonce="{"n" * 86}"')
        filler = base64.b64encode(bytes(random.choice((64, 256, 512)))).decode()
        signatures.append(f"proxy{at}=:{filler}:" if rule.padded else f"proxy{at}=:{filler.rstrip('=')}:")
    lines = random.choice((_one_line, _several_lines))
    return [*fields, *lines(random, "signature-input", inputs), *lines(random, "signature", signatures)]


def _one_line(random: Random, name: str, members: list[str]) -> list[tuple[str, str]]:
    comma = f"{random.choice(_BLANKS)},{random.choice(_BLANKS)}"
    return [(name, comma.join(members))]


def _several_lines(_random: Random, name: str, members: list[str]) -> list[tuple[str, str]]:
    return [(name, member) for member in members]
