"""Requests that must be rejected because of their key, before any cryptography, under every profile (steps 7 to 9a)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.vectors.recipes.keys import STRANGER
from tests.vectors.recipes.message import Flavor, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def recipes(flavor: Flavor) -> Iterator[Recipe]:
    yield from _unknown()
    yield from _misused(flavor)
    yield from _revoked(flavor)
    yield from _capped(flavor)


def _unknown() -> Iterator[Recipe]:
    yield Recipe(
        "unknown-key",
        "no source knows the key",
        parameters={"keyid": f'"{STRANGER.kid}"'},
        proven=False,
        code="signature_key_unknown",
    )
    yield Recipe(
        "key-source-down",
        "the key source cannot be asked, which is not the sender's fault",
        state={"key_source_down": True},
        code="signature_jwks_unavailable",
    )


def _misused(flavor: Flavor) -> Iterator[Recipe]:
    jwk, p256 = flavor.key.jwk, flavor.p256.jwk
    for name, rule, changed in (
        ("jwk-use-enc", "its use is not sig", {**jwk, "use": "enc"}),
        ("jwk-without-use", "it has no use", _without(jwk, "use")),
        ("jwk-without-verify", "its key_ops do not name verify", {**jwk, "key_ops": ["sign"]}),
        ("jwk-without-purpose", "it has no adcp_use", _without(jwk, "adcp_use")),
        ("jwk-alg-of-another-curve", "its alg does not match its crv", {**jwk, "alg": "ES256"}),
        ("jwk-of-another-alg", "it is for another algorithm than the signature's", {**p256, "kid": flavor.key.kid}),
        ("jwk-x-too-short", "its x is not 32 bytes", {**jwk, "x": str(jwk["x"])[:-4]}),
        ("jwk-without-x", "it has no x", _without(jwk, "x")),
    ):
        yield _misuse(name, rule, jwks=(changed,))
    off_curve = {**p256, "y": p256["x"]}
    yield _misuse("jwk-off-the-curve", "its x and y are not a point of P-256", jwks=(off_curve,), key=flavor.p256)
    yield _misuse("jwk-of-another-purpose", "its purpose is another", key=flavor.misused)


def _misuse(name: str, rule: str, **options: object) -> Recipe:
    code = "signature_key_purpose_invalid"
    return Recipe(name, f"the key may not be used: {rule}", proven=False, code=code, **options)


def _revoked(flavor: Flavor) -> Iterator[Recipe]:
    times = {"updated": "2026-09-21T14:00:00Z", "next_update": "2026-09-21T14:15:00Z"}
    old = {"updated": "2026-09-20T14:00:00Z", "next_update": "2026-09-20T14:15:00Z"}
    for name, rule, state in (
        ("revoked", "the revocation list names the key", {"revoked_kids": [flavor.revoked.kid]}),
        ("revoked-by-a-list", "the same, by a list with its times", _listed(flavor, times)),
        ("revoked-by-a-stale-list", "a list that is stale still bars whom it names", _listed(flavor, old)),
    ):
        yield Recipe(name, rule, key=flavor.revoked, proven=False, state=state, code="signature_key_revoked")
    yield Recipe(
        "revocation-list-stale",
        "the revocation list is a second older than its grace",
        proven=False,
        state={"revocation_list_stale_seconds": 2401},
        code="signature_revocation_stale",
    )


def _listed(flavor: Flavor, times: Mapping[str, str]) -> dict[str, object]:
    return {"revocation_list": {"issuer": "https://own.test", "revoked_kids": [flavor.revoked.kid], **times}}


def _capped(flavor: Flavor) -> Iterator[Recipe]:
    abuse = "signature_rate_abuse"
    own = {"keyid": flavor.key.kid}
    for name, rule, state, step, proven in (
        (
            "cap-reached",
            "the key's cap of live nonces is reached",
            {"replay_cache_per_keyid_cap_hit": own},
            "9a",
            False,
        ),
        (
            "total-cap-reached",
            "the cap of all keys together is reached",
            {"replay_cache_total_cap_hit": True},
            "9a",
            False,
        ),
        (
            "cap-reached-meanwhile",
            "the cap was reached by another request at the same time",
            {"replay_cache_cap_hit_meanwhile": own},
            13,
            True,
        ),
    ):
        yield Recipe(name, rule, proven=proven, state=state, code=abuse, step=step)
    yield Recipe(
        "store-down",
        "the replay store cannot be asked, which is not the sender's fault",
        state={"replay_store_down": True},
        code="signature_store_unavailable",
    )


def _without(jwk: Mapping[str, object], member: str) -> dict[str, object]:
    return {name: value for name, value in jwk.items() if name != member}
