"""Requests that must be rejected although their key may sign, under every profile (steps 10 to 14)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.vectors.recipes.keys import STRANGER
from tests.vectors.recipes.message import BODY, FULL, NOW, TYPE, Flavor, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

NONCE = "b3duLW5vbmNlLW93bi1ub24"


def recipes(flavor: Flavor) -> Iterator[Recipe]:
    yield from _targets(flavor)
    for recipe in (*_changed(flavor), *_signatures(), *_components()):
        yield replace(recipe, rule=recipe.rule, code="signature_invalid")
    yield from _digests(flavor)
    yield from _spent(flavor)
    yield from _bodies()


def _targets(flavor: Flavor) -> Iterator[Recipe]:
    _, _, host, path = flavor.url.split("/", 3)
    yield malformed("host-not-ascii", "a receiver converts no U-label", Sent(url=f"https://m\u00fcnchen.{host}/{path}"))
    for name, rule, headers in (
        ("host-of-another-origin", "Host is not the target's authority", (("Host", "other.own.test"),)),
        ("host-with-another-port", "Host has another port", (("Host", f"{host}:8443"),)),
        ("host-malformed", "Host is not an authority", (("Host", f"{host}/x"),)),
        ("host-empty", "Host is empty", (("Host", ""),)),
        ("host-repeated", "there are two Host fields", (("Host", host), ("Host", host))),
        ("authority-differs", ":authority is not the target's", ((":authority", "other.own.test"),)),
        ("authority-and-host-differ", ":authority and Host differ", ((":authority", host), ("Host", "other.own.test"))),
    ):
        yield malformed(name, rule, Sent(headers=headers))


def malformed(name: str, rule: str, sent: Sent) -> Recipe:
    # A path without a clear operation is rejected earlier: without a policy, the checklist alone decides.
    return Recipe(f"target-{name}", rule, sent=sent, proven=False, code="target_uri_malformed", capability=None)


def _changed(flavor: Flavor) -> Iterator[Recipe]:
    url, (scheme, _, host, path) = flavor.url, flavor.url.split("/", 3)
    keyed = (("Idempotency-Key", "own-1"),)
    for name, rule, changes in (
        ("method-changed", "another method", {"method": "PUT"}),
        ("path-changed", "another path", {"url": f"{scheme}//{host}/own/{path}"}),
        ("slashes-changed", "one slash instead of two is another path", {"url": f"{scheme}//{host}//{path}"}),
        ("query-added", "a query", {"url": f"{url}?own"}),
        ("empty-query-added", "a lone question mark is a query", {"url": f"{url}?"}),
        ("host-changed", "another host", {"url": f"{scheme}//other.own.test/{path}"}),
        ("port-added", "another port", {"url": f"{scheme}//{host}:8443/{path}"}),
        ("scheme-changed", "another scheme, and so another target", {"url": f"http://{host}/{path}"}),
    ):
        yield Recipe(name, f"changed on its way: {rule}", changes=changes)
    yield Recipe("type-changed", "changed on its way: another Content-Type", replaced={"Content-Type": f"{TYPE};own=1"})
    yield Recipe(
        "digest-and-body-changed",
        "changed on its way: the content, and its digest with it",
        changes={"body": BODY.replace("250.5", "999.5")},
        replaced={"Content-Digest": flavor.digest_of(BODY.replace("250.5", "999.5"))},
    )
    yield Recipe(
        "covered-field-changed",
        "changed on its way: a field that is covered",
        sent=Sent(headers=keyed),
        covered=(*FULL, "idempotency-key"),
        replaced={"Idempotency-Key": "own-2"},
    )
    yield Recipe(
        "covered-field-taken-away",
        "changed on its way: a field that is covered is gone",
        sent=Sent(headers=keyed),
        covered=(*FULL, "idempotency-key"),
        replaced={"Idempotency-Key": None},
    )
    yield Recipe(
        "parameters-changed",
        "changed on its way: the signature's end",
        written=lambda text: text.replace(f"expires={NOW + 300}", f"expires={NOW + 299}"),
        based=False,
    )


def _signatures() -> Iterator[Recipe]:
    yield Recipe("signed-by-another-key", "another key signed", signer=STRANGER)
    for name, rule, mangle in (
        ("signature-of-63-bytes", "a byte of the signature is missing", lambda signature: signature[:-1]),
        ("signature-of-65-bytes", "the signature has a byte too many", lambda signature: signature + b"\x00"),
        ("signature-of-no-bytes", "the signature is empty", lambda _: b""),
        ("signature-of-zeros", "the signature is all zeros", lambda _: bytes(64)),
    ):
        yield Recipe(name, rule, mangle=mangle)


def _components() -> Iterator[Recipe]:
    none = {"proven": False, "based": False}
    for name, rule, component in (
        ("component-of-a-response", "a component only a response has", "@status"),
        ("component-unknown", "an undefined derived component", "@own"),
        (
            "component-of-the-request-of-a-response",
            "a component of the request that a response answers",
            '"@method";req',
        ),
        ("component-of-a-trailer", "a trailer", '"idempotency-key";tr'),
        ("query-parameter-absent", "a query parameter that is not there", '"@query-param";name="a"'),
        ("field-absent", "a field that is not there", "idempotency-key"),
    ):
        yield Recipe(name, f"covered, and without a value: {rule}", covered=(*FULL, component), **none)
    yield Recipe(
        "covered-field-not-ascii",
        "a covered field that is not ASCII has no line in a base",
        sent=Sent(headers=(("Idempotency-Key", "caf\u00e9"),)),
        covered=(*FULL, "idempotency-key"),
        **none,
    )
    yield Recipe(
        "method-in-lower-case",
        "methods in lower case are not signed: servers change the case",
        sent=Sent(method="post"),
        **none,
    )


def _digests(flavor: Flavor) -> Iterator[Recipe]:
    code = "signature_digest_mismatch"
    right = flavor.digest_of(BODY)
    changed = {"body": BODY.replace("250.5", "999.5")}
    yield Recipe("body-changed", "the content was changed", changes=changed, code=code)
    for name, rule, digest in (
        ("second-digest-wrong", "of two digests the second is wrong", f"{right}, {flavor.digest_of('', 'sha-512')}"),
        (
            "first-digest-wrong",
            "of two digests the first is wrong",
            f"{flavor.digest_of('')}, {flavor.digest_of(BODY, 'sha-512')}",
        ),
        ("digest-cut-off", "the digest is cut off", "sha-256=:AAAA:"),
        ("digest-unknown-alone", "no digest is by a known algorithm", right.replace("sha-256", "sha")),
    ):
        yield Recipe(name, rule, digest=digest, code=code)
    yield Recipe(
        "ended-while-read",
        "it ended, and its nonce with it, while the content was read",
        state={"now_when_read": NOW + 361},
        code="signature_window_invalid",
    )


def _spent(flavor: Flavor) -> Iterator[Recipe]:
    entry = {"keyid": flavor.key.kid, "nonce": NONCE}
    for name, rule, body in (
        ("replayed", "the key's nonce was spent before", BODY),
        ("replayed-before-the-body-is-checked", "a spent nonce wins over what the content says", '{"a":1,"a":2}'),
    ):
        yield Recipe(
            name,
            rule,
            sent=Sent(body=body),
            parameters={"nonce": f'"{NONCE}"'},
            state={"replay_cache_entries": [{**entry, "ttl_seconds": 1}]},
            code="signature_replayed",
        )


def _bodies() -> Iterator[Recipe]:
    for name, rule, body, content_type in (
        ("key-repeated", "an object has a key twice", '{"plan_id":"a","plan_id":"b"}', TYPE),
        ("key-repeated-within", "an object within has a key twice", '{"a":[{"b":{"c":1,"c":2}}]}', TYPE),
        ("key-repeated-in-another-json", "a type that ends in +json", '{"a":1,"a":2}', "application/ld+json"),
    ):
        yield Recipe(
            f"body-{name}", rule, sent=Sent(headers=(("Content-Type", content_type),), body=body), code="body_malformed"
        )
