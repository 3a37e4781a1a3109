"""What has to be accepted, under every profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.vectors.recipes.keys import STRANGER, Key
from tests.vectors.recipes.message import FULL, NOW, TYPE, Flavor, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

DUPLICATES = '{"plan_id":"a","plan_id":"b"}'


def recipes(flavor: Flavor) -> Iterator[Recipe]:
    yield from _contents(flavor)
    yield from _components(flavor)
    yield from _labels(flavor)
    yield from _parameters()
    yield from _targets(flavor)
    yield from _sources(flavor)


def _contents(flavor: Flavor) -> Iterator[Recipe]:
    yield Recipe("ed25519", "a request with content, signed by Ed25519")
    yield Recipe("es256", "the same, signed by ECDSA over P-256, as r and s of 32 bytes each", key=flavor.p256)
    yield Recipe("sha-512", "the content's digest by SHA-512 alone", digests=("sha-512",))
    yield Recipe("sha-256-and-sha-512", "two digests, both right", digests=("sha-256", "sha-512"))
    digest = flavor.digest_of(Sent().body)
    yield Recipe(
        "unknown-digest-next-to-known",
        "a digest by an unregistered algorithm is ignored next to a correct one",
        digest=f"{digest}, own-digest=:AAAA:",
    )
    yield Recipe(
        "type-with-quoted-comma",
        "a Content-Type with a comma in quotes has one value",
        sent=Sent(headers=(("Content-Type", f'{TYPE};profile="a,b"'),)),
    )
    yield Recipe(
        "same-key-in-different-objects",
        "different objects may have members of the same name, also nested ones",
        sent=Sent(body='{"a":{"a":1},"b":[{"a":1},{"a":2}]}'),
    )
    yield Recipe(
        "repeated-key-that-is-no-json",
        "content of another type is not read as JSON by the checklist",
        sent=Sent(headers=(("Content-Type", "text/plain"),), body=DUPLICATES),
        capability=None,
    )
    if flavor.prefix == "webhook_":
        yield Recipe("empty-body", "a delivery without content covers its digest too", sent=Sent(body=""))
    else:
        yield Recipe("no-body", "without content three components do", sent=Sent(method="GET", body=""))


def _components(flavor: Flavor) -> Iterator[Recipe]:
    sent = Sent(headers=(("Idempotency-Key", "own-1"), ("X-Trace", "a"), ("X-Trace", "b")))
    yield Recipe(
        "more-components",
        "more fields than required may be covered; the lines of one field are joined",
        sent=sent,
        covered=(*FULL, "idempotency-key", "x-trace"),
    )
    yield Recipe(
        "components-in-another-order",
        "the components are in the base in the order of the message",
        covered=tuple(reversed(FULL)),
    )
    path = "/" + flavor.url.split("/", 3)[3]
    values = {
        '"@scheme"': "https",
        '"@path"': path,
        '"@query"': "?b=2&a=1",
        '"@query-param";name="a"': "1",
        '"@request-target"': f"{path}?b=2&a=1",
        '"x-trace";bs': ":YQ==:, :Yg==:",
    }
    yield Recipe(
        "derived-components",
        "the other derived components, and a field as bytes, may also be covered",
        sent=Sent(url=f"{flavor.url}?b=2&a=1", headers=sent.headers[1:], values=values),
        covered=(*FULL, *values),
    )


def _labels(flavor: Flavor) -> Iterator[Recipe]:
    nobodys = flavor.bytes_field(b"\x00" * 64)
    own = f';keyid="proxy";tag="{flavor.tag}"'
    yield Recipe(
        "second-label",
        "sig1 is processed; a second label is read and ignored",
        input='{}, proxy=("@method");keyid="proxy";tag="proxy"',
        signature=f"{{}}, proxy={nobodys}",
    )
    yield Recipe(
        "sig1-behind-a-label-with-the-tag",
        "sig1 is processed, whatever comes before it",
        input=f'proxy=("@method"){own}, {{}}',
        signature=f"proxy={nobodys}, {{}}",
        expected={"verified_label": "sig1"},
    )
    yield Recipe(
        "another-label", "a label that is the only one is processed", label="own", expected={"verified_label": "own"}
    )
    yield Recipe(
        "label-with-the-tag",
        "without sig1, the first label with the profile's tag is processed",
        label="own",
        input='proxy=("@method");keyid="proxy";tag="proxy", {}',
        signature=f"proxy={nobodys}, {{}}",
        expected={"verified_label": "own"},
    )


def _parameters() -> Iterator[Recipe]:
    yield Recipe(
        "parameters-in-another-order",
        "the parameters are in the base in the order of the message",
        order=("tag", "alg", "keyid", "nonce", "expires", "created"),
    )
    yield Recipe(
        "unknown-parameter", "an unregistered parameter is covered and has no effect", parameters={"own": '"x"'}
    )
    yield Recipe(
        "spaces-in-signature-input",
        "the base has the strict serialization of the parameters, not what was received",
        written=lambda text: text.replace("(", "( ").replace(" ", "  ").replace(";", "; "),
    )
    yield Recipe("nonce-of-32-bytes", "a nonce may be longer", parameters={"nonce": f'"{"own_" * 10}own"'})
    for name, rule, created, expires in (
        ("created-60-seconds-ahead", "a clock may be 60 seconds slow", NOW + 60, NOW + 360),
        ("expired-60-seconds-ago", "a clock may be 60 seconds ahead", NOW - 360, NOW - 60),
        ("valid-for-one-second", "a validity may be as short as a second", NOW, NOW + 1),
    ):
        yield Recipe(name, rule, parameters={"created": created, "expires": expires})


def _targets(flavor: Flavor) -> Iterator[Recipe]:
    _, _, host, path = flavor.url.split("/", 3)
    yield Recipe(
        "ipv6",
        "an IPv6 address keeps its brackets",
        sent=Sent(
            url=f"https://[2001:DB8::7]:8443/{path}",
            target=f"https://[2001:db8::7]:8443/{path}",
            headers=(("Host", "[2001:db8::7]:8443"),),
        ),
    )
    for name, rule, headers in (
        ("host-with-default-port", "Host is compared in canonical form", (("Host", f"{host.upper()}:443"),)),
        ("authority-and-host", ":authority and Host may agree", ((":authority", host), ("Host", host))),
    ):
        yield Recipe(name, rule, sent=Sent(headers=headers))


def _sources(flavor: Flavor) -> Iterator[Recipe]:
    own, nonce = flavor.key.kid, "b3duLW5vbmNlLW93bi1ub24"
    entries = [{"keyid": "another", "nonce": nonce}, {"keyid": own, "nonce": "another"}]
    yield Recipe(
        "nonce-of-another-key",
        "a nonce is spent for its key alone",
        parameters={"nonce": f'"{nonce}"'},
        state={"replay_cache_entries": entries},
    )
    yield Recipe(
        "cap-of-another-key",
        "a cap that another key has reached bars that key alone",
        state={"per_keyid_cap_filled_for": "another"},
    )
    fresh = {"issuer": "https://own.test", "revoked_kids": ["another"], "updated": "2026-09-21T14:00:00Z"}
    yield Recipe(
        "fresh-revocation-list",
        "a revocation list bars the keys it names and no other",
        state={"revocation_list": {**fresh, "next_update": "2026-09-21T14:15:00Z"}},
    )
    yield Recipe(
        "revocation-list-at-the-end-of-its-grace",
        "a revocation list holds for four intervals beyond its next update",
        state={"revocation_list_stale_seconds": 2400},
    )
    jwk = {**flavor.key.jwk, "adcp_use": ["governance-signing", flavor.key.purpose]}
    yield Recipe("key-of-several-purposes", "a key may have several purposes", jwks=(jwk,))
    yield Recipe(
        "jwk-alg-ed25519",
        "RFC 9864 calls EdDSA over Curve25519 Ed25519",
        jwks=({**flavor.key.jwk, "alg": "Ed25519"}, Key(STRANGER.kid).jwk),
    )
