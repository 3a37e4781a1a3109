"""A search over random alterations, one and two at a time: no cause is stated that is not true.

Each request is signed with the mistakes of a signer, and then changed on the way. A stated cause must name the bytes
that the key really signed. `python -m tests.explanation.test_search 20000 2` searches for long.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from tests import keys

from undersigned import Request, profiles
from undersigned.explanation import Cause, ExplainedRequest, explain_request
from undersigned.url import Origin

SITE = "https://seller.example.com"
PATHS = ("/", "/orders", "/a/b%2Fc/", "/api/v1/caf%C3%A9", "/a//b", "/x/y;z=1/a:b@c", "/A/%7Eb")
QUERIES = (None, "", "b=2&a=1", "q=a+b%20c&r=%2c", "x=1&x=2&y", "a=1&b=2&c=3&d=4&e=5&f=6")
JSON = '{"a": 1.50, "b": ["/", "<ü>"]}'.encode()
BODIES = (JSON, b"a=b+c&d=%2F", b"text\r\n", b"\xef\xbb\xbf{}", b"[1,2]", "grün".encode())
HOSTS = ("10.0.0.7:8000", "backend", "seller.example.com:8443", "other.example")
ORIGINS = (Origin.parse(f"{SITE}/api"),)


@dataclass
class Draft:
    """A request while it is signed and changed: its own fields, what was signed, and both fields of the signature."""

    method: str
    url: str
    body: bytes
    fields: list[tuple[str, str]]
    base: bytes = b""
    octets: bytes = b""
    raw: str = ""
    known: object = field(default=keys.KEYS)

    def put(self, name: str, value: str | None) -> None:
        """Replace a header field, or remove it."""
        self.fields = [one for one in self.fields if one[0] != name]
        self.fields += [] if value is None else [(name, value)]

    def value(self, name: str) -> str:
        """Return the value of a header field, or an empty text."""
        return dict(self.fields).get(name, "")


def _move(draft: Draft, chance: random.Random) -> None:
    """Change the URL on the way."""
    scheme, _, rest = draft.url.partition("://")
    host, slash, target = rest.partition("/")
    path, mark, query = f"{slash}{target}".partition("?")
    parts = query.split("&")
    chance.shuffle(parts)
    at = chance.randrange(len(path) + 1)
    url = chance.choice(
        [
            f"http://{host}{path}{mark}{query}",
            f"{scheme}://{chance.choice(HOSTS)}{path}{mark}{query}",
            f"{scheme}://{host}{chance.choice(['/api', '/v1', '/zebra'])}{path}{mark}{query}",
            f"{scheme}://{host}/{path.rpartition('/')[2]}{mark}{query}",
            f"{scheme}://{host}{quote(unquote(path), safe=chance.choice(['/', '/:@;=']))}{mark}{query}",
            f"{scheme}://{host}{path.replace('//', '/')}{mark}{query}",
            f"{scheme}://{host}{path}/{mark}{query}",
            f"{scheme}://{host}{path[:at]}/{path[at:]}{mark}{query}",
            f"{scheme}://{host}{path}{mark}{'&'.join(parts)}",
            f"{scheme}://{host}{path}?{query}&utm={chance.randrange(9)}",
            f"{scheme}://{host}{path}?{query.replace('+', '%20')}",
            f"{scheme}://{host}{path}",
        ]
    )
    draft.url = url
    draft.put("Host", url.split("/")[2])


def _retype(draft: Draft, chance: random.Random) -> None:
    draft.put("Content-Type", chance.choice(["application/json; charset=utf-8", "text/plain", "x/y", None]))


def _rewrite(draft: Draft, chance: random.Random) -> None:
    """Change the body on the way."""
    body = draft.body
    changed = [body + b"\n", body.strip(), body[: chance.randrange(len(body) + 1)], body.swapcase(), b""]
    try:
        changed += [json.dumps(json.loads(body), sort_keys=chance.random() < 0.5).encode()] * 3
    except ValueError:
        changed += [body.decode("utf-8", "replace").encode("latin-1", "replace"), body.decode("latin-1").encode()]
    draft.body = chance.choice(changed)


def _replace_digest(draft: Draft, chance: random.Random) -> None:
    value = chance.choice([keys.digest_of(draft.body, "sha-512"), keys.digest_of(b"x"), "sha-256=:AAAA:", "x", None])
    draft.put("Content-Digest", value)


def _redo_parameters(draft: Draft, chance: random.Random) -> None:
    head, _, rest = draft.raw.partition(";")
    parts = rest.split(";")
    chance.shuffle(parts)
    draft.raw = chance.choice(
        [f"{head};{';'.join(parts)}", f"{draft.raw};x", draft.raw.replace(str(keys.NOW), str(keys.NOW + 1), 1)]
    )


def _respell(draft: Draft, chance: random.Random) -> None:
    octets = bytearray(draft.octets)
    octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
    changed = [bytes(octets), draft.octets[:60], draft.octets + b"\n", draft.octets.hex().encode(), bytes(64)]
    draft.octets = chance.choice(changed)


def _forget_key(draft: Draft, chance: random.Random) -> None:
    jwk = {name: value for name, value in keys.PUBLIC.items() if name != chance.choice(["use", "key_ops", "adcp_use"])}
    draft.known = keys.KeySet.from_jwks({"keys": [jwk, keys.EC_PUBLIC]})


ON_THE_WAY = (_move, _retype, _rewrite, _replace_digest, _redo_parameters, _respell, _forget_key)


def _at_signing(base: str, chance: random.Random) -> bytes:
    """Return what a signer that is written by hand signs."""
    lines = base.split("\n")
    names = chance.sample(lines[:-1], len(lines) - 1)
    changed = [
        f"{base}\n",
        base.replace("\n", "\r\n"),
        "\n".join(lines[:-1]),
        base.replace('"', ""),
        base.replace('params": ', 'params": sig1='),
        base.replace("seller", "SELLER", 1),
        base.replace("https://seller.example.com", "", 1),
        base.lower(),
        "\n".join([*names, lines[-1]]),
        base.replace(";", "; "),
        base.replace("seller", f"buyer{chance.randrange(9)}"),
        base.rpartition(";")[0],
    ]
    return chance.choice(changed).encode()


def drawn(chance: random.Random) -> tuple[Draft, bytes]:
    """Return a request after one or two alterations, and its body as it was signed."""
    query = chance.choice(QUERIES)
    url = f"{SITE}{chance.choice(PATHS)}{'' if query is None else f'?{query}'}"
    body = chance.choice(BODIES)
    fields = [("Content-Type", "application/json"), ("Content-Digest", keys.digest_of(body)), ("Host", SITE[8:])]
    draft = Draft(chance.choice(("POST", "PUT")), url, body, fields, raw=keys.covering(*keys.FULL))
    sent = keys.hostile_request(Request(draft.method, url, fields, body), draft.raw)
    read = keys.parse_signature_input(draft.raw)["sig1"]
    values = keys.ComponentValues(sent, keys.canonicalize(url))
    base = keys.signature_base(values, read.components, read.text)
    alterations = list(chance.choices([*ON_THE_WAY, None], k=chance.choice((1, 1, 2))))
    draft.base = _at_signing(base, chance) if None in alterations else base.encode()
    draft.octets = keys.KEY.sign(draft.base)
    for alter in filter(None, alterations):
        alter(draft, chance)
    return draft, body


def explained(draft: Draft) -> ExplainedRequest:
    """Return what is said of a request."""
    signature = f"sig1=:{base64.b64encode(draft.octets).decode()}:"
    fields = [*draft.fields, ("Signature-Input", draft.raw), ("Signature", signature)]
    request = Request(draft.method, draft.url, fields, draft.body)
    return explain_request(request, profiles.ADCP_3_2, draft.known, now=keys.NOW, origins=ORIGINS)


def is_true(cause: Cause, draft: Draft, body: bytes) -> bool:
    """Return whether a cause names what was signed."""
    proven = cause.base is None or cause.base.encode("latin-1") == draft.base
    if cause.name == "other content" and cause.base is None:
        proven = draft.body != body or draft.value("Content-Digest") != keys.digest_of(body)
    if cause.name == "other digest form":
        proven = draft.value("Content-Digest") != keys.digest_of(draft.body)
    return proven and cause.signed != cause.received and cause.keyid in {"", "buyer-ed25519"}


def search(count: int, seed: int) -> tuple[int, list[str]]:
    """Return how many causes are stated for so many requests, and which of them are false."""
    chance, causes, false = random.Random(seed), 0, list[str]()  # noqa: S311 - a seed makes it repeatable
    for number in range(count):
        draft, body = drawn(chance)
        found = explained(draft)
        assert found.summary.isascii()
        assert found.summary.isprintable()
        if found.cause is not None:
            causes += 1
            false += [] if is_true(found.cause, draft, body) else [f"{number}: {found.cause}: {draft}"]
    return causes, false


def test_no_cause_of_a_random_alteration_is_false():
    causes, false = search(40, seed=1)
    assert false == []
    assert causes > 12


if __name__ == "__main__":
    sys.exit("\n".join(search(int(sys.argv[1]), seed=int(sys.argv[2]))[1]) or 0)
