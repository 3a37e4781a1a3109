"""Vectors of one profile only: digest policies, purposes, spellings of a digest, limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.vectors.recipes.flavors import ADCP_3_1, ADCP_3_2, WEBHOOK
from tests.vectors.recipes.keys import SELLER_REQUESTS
from tests.vectors.recipes.message import BARE, FULL, TYPE, TYPED, Flavor, Recipe, Sent
from tests.vectors.recipes.proven import malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def recipes(flavor: Flavor) -> Iterator[Recipe]:
    if flavor == ADCP_3_1:
        yield from _digest_policies()
    elif flavor == WEBHOOK:
        yield from _deliveries()
    else:
        yield from _no_body()
        yield from _limits()


def _policy(digest: str) -> Mapping[str, object]:
    return {"covers_content_digest": digest}


def _digest_policies() -> Iterator[Recipe]:
    yield Recipe("digest-either-not-covered", "the policy either lets a digest be covered or not", covered=TYPED)
    yield Recipe(
        "digest-either-sent-and-not-covered",
        "a digest that is not covered is not looked at",
        covered=TYPED,
        digest="not a digest at all",
    )
    yield Recipe("digest-required-covered", "the policy required", capability=_policy("required"))
    yield Recipe("digest-forbidden-not-covered", "the policy forbidden", covered=TYPED, capability=_policy("forbidden"))
    padded = replace(ADCP_3_1, digest_padded=True)
    yield Recipe("digest-in-base64", "a digest may be spelled as RFC 9530 does", digest=padded.digest_of(Sent().body))
    yield Recipe(
        "digest-required-not-covered",
        "the policy required, and no digest is covered",
        covered=TYPED,
        capability=_policy("required"),
        code="signature_components_incomplete",
    )
    for name, rule, covered, values in (
        ("digest-forbidden-covered", "a digest is covered", FULL, {}),
        (
            "digest-forbidden-covered-with-a-parameter",
            "a digest is covered as bytes",
            (*TYPED, '"content-digest";bs'),
            {'"content-digest";bs': ":AAAA:"},
        ),
    ):
        digest = ADCP_3_1.digest_of(Sent().body)
        yield Recipe(
            name,
            f"the policy forbidden, and {rule}",
            sent=Sent(values=values),
            covered=covered,
            digest=digest,
            capability=_policy("forbidden"),
            code="signature_components_unexpected",
        )


def _deliveries() -> Iterator[Recipe]:
    yield Recipe(
        "key-of-requests", "a key for requests may sign deliveries: the tag keeps them apart", key=SELLER_REQUESTS
    )
    other = replace(WEBHOOK, digest_padded=False)
    yield Recipe(
        "digest-in-base64url", "a digest may be spelled as the signature is", digest=other.digest_of(Sent().body)
    )
    for component in ("content-type", "content-digest"):
        yield Recipe(
            f"empty-body-{component}-not-covered",
            f"a delivery covers {component}, content or not",
            sent=Sent(body=""),
            covered=tuple(name for name in FULL if name != component),
            code="signature_components_incomplete",
        )


def _no_body() -> Iterator[Recipe]:
    yield Recipe(
        "no-body-and-a-digest",
        "without content a digest may be covered all the same",
        sent=Sent(method="GET", body=""),
        covered=(*BARE, "content-digest"),
    )
    yield Recipe(
        "no-body-and-a-wrong-digest",
        "without content, a covered digest must be the digest of no bytes",
        sent=Sent(method="GET", body=""),
        covered=(*BARE, "content-digest"),
        digest=replace(ADCP_3_1, digest_padded=True).digest_of("{}"),
        code="signature_digest_mismatch",
    )
    yield Recipe(
        "digest-in-base64url",
        "a digest has one spelling only",
        digest=ADCP_3_1.digest_of(Sent().body),
        proven=False,
        code="signature_header_malformed",
    )


def _limits() -> Iterator[Recipe]:
    """What takes longer to read than a signature takes to verify; one checklist holds the same for every profile."""
    # Words, commas, semicolons and colons: 11 of the signature's own member, 2 commas, 49 names, 2 semicolons. Only a
    # parser reads decimals.
    several = [" ".join(f'"own-{number}"' for number in range(size)) for size in (32, 17)]
    listed = ", ".join(f"own-{number}=({names});p=1.5" for number, names in enumerate(several))
    yield Recipe(
        "signature-input-of-64-delimiters",
        "a parsed field may have 64 delimiters",
        input=f"{{}}, {listed}",
        signature=f"{{}}, own-0={ADCP_3_2.bytes_field(bytes(64))}",
    )
    many = ", ".join(f"own-{number}=:AAAA:" for number in range(40))
    for name, rule, options in (
        ("signature-input-of-65-delimiters", "a Signature-Input of more", {"input": f"{{}}, {listed};q"}),
        ("signature-of-too-many-labels", "a Signature", {"signature": f"{{}}, {many}"}),
        ("digest-of-too-many-algorithms", "a Content-Digest", {"digest": f"{ADCP_3_2.digest_of(Sent().body)}, {many}"}),
        ("signature-input-too-long", "a Signature-Input", {"parameters": {"keyid": f'"{"own" * 5462}"'}}),
        ("type-too-long", "a Content-Type", {"sent": Sent(headers=(("Content-Type", f'{TYPE};own="{"x" * 4096}"'),))}),
    ):
        yield Recipe(
            name,
            f"too many delimiters, members or characters: {rule}",
            proven=False,
            code="signature_header_malformed",
            **options,
        )
    for name, rule, sent in (
        ("too-long", "a target of 9001 characters", Sent(url=f"{ADCP_3_2.url}?{'x' * 9000}"[:9001])),
        ("host-too-long", "a Host of 1025 characters", Sent(headers=(("Host", "own." * 256 + "x"),))),
    ):
        yield malformed(name, rule, sent)
