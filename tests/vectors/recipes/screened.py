"""Requests that must be rejected before a key is looked up, under every profile (steps 0 to 6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.vectors.recipes.message import BARE, BODY, FULL, NOW, PARAMETERS, TYPE, TYPED, Flavor, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

MALFORMED = "signature_header_malformed"


def recipes(flavor: Flavor) -> Iterator[Recipe]:
    yield Recipe("unsigned", "a request that has to be signed is not", signed=False, code="signature_required")
    for recipe in (*_pairs(flavor), *_types(), *_nonces(), *_bytes(flavor), *_fields()):
        yield replace(recipe, rule=recipe.rule, proven=False, code=MALFORMED)
    yield from _incomplete()
    yield from _tags(flavor)
    yield from _windows()
    yield from _uncovered(flavor)


def _pairs(flavor: Flavor) -> Iterator[Recipe]:
    nobodys = flavor.bytes_field(b"\x00" * 64)
    for name, rule, given, signature in (
        ("signature-without-input", "a Signature without a Signature-Input", None, "{}"),
        ("input-without-signature", "a Signature-Input without a Signature", "{}", None),
        ("empty-input", "an empty Signature-Input", "", "{}"),
        ("empty-signature", "an empty Signature", "{}", ""),
        ("unparsable-input", "a Signature-Input that is not a dictionary", "{};", "{}"),
        ("unparsable-signature", "a Signature that is not a dictionary", "{}", "{}="),
        ("repeated-label-in-input", "a repeated label in Signature-Input", "{}, {}", "{}"),
        ("repeated-label-in-signature", "a repeated label in Signature", "{}", "{}, {}"),
        ("label-not-in-signature", "a label that Signature does not have", "{}", f"own={nobodys}"),
        ("second-label-malformed", "a label that is ignored, and cannot be read", '{}, own="@method"', "{}"),
        ("second-signature-malformed", "a signature that is ignored, and cannot be read", "{}", "{}, own=:A:"),
        ("input-not-ascii", "a Signature-Input that is not ASCII", '{};own="\u00e9"', "{}"),
        ("line-break", "a field value that holds a line break", "{},\r\n own=()", "{}"),
        ("signature-is-a-string", "a signature that is not a byte sequence", "{}", 'sig1="AAAA"'),
    ):
        yield Recipe(name, rule, input=given, signature=signature)
    yield Recipe(
        "field-name-is-no-token", "a field whose name is not a token", sent=Sent(headers=(("Own Field", "x"),))
    )


def _types() -> Iterator[Recipe]:
    for name, value, what in (
        ("created", f'"{NOW}"', "a string"),
        ("created", f"{NOW}.5", "a decimal"),
        ("created", None, "a boolean"),
        ("expires", f'"{NOW + 300}"', "a string"),
        ("nonce", "bm9uY2Utb2Ytb3duLXZlY3Q", "a token"),
        ("nonce", ":bm9uY2Utb2Ytb3duLXZlYw==:", "bytes"),
        ("keyid", "own-buyer", "a token"),
        ("alg", "ed25519", "a token"),
        ("tag", "adcp/request-signing/v1", "a token"),
    ):
        stem = f"{name}-is-{what.replace(' ', '-')}"
        if value is None:
            yield Recipe(stem, f"{name} is {what}", written=lambda text: text.replace(f"={NOW};", ";", 1))
        else:
            yield Recipe(stem, f"{name} is {what}", parameters={name: value})


def _nonces() -> Iterator[Recipe]:
    for name, rule, nonce in (
        ("nonce-padded", "a nonce with padding", "bm9uY2Utb2Ytb3duLXZlYw=="),
        ("nonce-in-base64", "a nonce in the other Base64", "bm9uY2Utb2Ytb3duLXZl+/"),
        ("nonce-of-15-bytes", "a nonce of fewer than 16 bytes", "bm9uY2Utb2Ytb3duLXZl"),
        ("nonce-cut-off", "a nonce of a length that no bytes have", "bm9uY2Utb2Ytb3duLXZlY3Rvb"),
        ("nonce-empty", "an empty nonce", ""),
    ):
        yield Recipe(name, rule, parameters={"nonce": f'"{nonce}"'})


def _bytes(flavor: Flavor) -> Iterator[Recipe]:
    wrong = replace(flavor, padded=not flavor.padded)
    yield Recipe(
        "signature-in-the-other-base64",
        "a signature in the Base64 of the other profiles",
        signature=f"sig1={wrong.bytes_field(bytes([0xFB]) * 64)}",
    )
    spelled = flavor.bytes_field(bytes([0xFB]) * 64)
    unpadded = spelled.replace("=", "") if flavor.padded else f"{spelled[:-1]}==:"
    yield Recipe(
        "signature-padded-wrongly",
        "a signature in the profile's alphabet without its padding, or with one it does not have",
        signature=f"sig1={unpadded}",
    )
    stray = spelled.replace("w==:", "x==:") if flavor.padded else f"{spelled[:-2]}x:"
    yield Recipe(
        "signature-with-stray-bits", "a signature whose last character holds bits of no byte", signature=f"sig1={stray}"
    )
    for name, rule, digest in (
        (
            "digest-key-repeated",
            "a Content-Digest that has an algorithm twice",
            f"{flavor.digest_of(BODY)}, {flavor.digest_of(BODY)}",
        ),
        (
            "digest-key-in-upper-case",
            "a Content-Digest whose algorithm is in upper case",
            flavor.digest_of(BODY).replace("sha", "SHA"),
        ),
        ("digest-is-a-string", "a Content-Digest that is not a byte sequence", 'sha-256="AAAA"'),
        (
            "digest-with-stray-bits",
            "a Content-Digest whose last character holds bits of no byte",
            "sha-256=:AB==:" if flavor.digest_padded else "sha-256=:AB:",
        ),
        ("digest-absent", "a covered Content-Digest that is not there", None),
    ):
        yield Recipe(name, rule, digest=digest)


def _fields() -> Iterator[Recipe]:
    two = (("Content-Type", TYPE), ("Content-Type", "text/plain"))
    yield Recipe("type-in-two-lines", "a covered Content-Type in two lines", sent=Sent(headers=two))
    yield Recipe(
        "type-with-a-comma",
        "a covered Content-Type with two values",
        sent=Sent(headers=(("Content-Type", f"{TYPE}, text/plain"),)),
    )
    yield Recipe(
        "type-with-an-open-quote",
        "a covered Content-Type whose quotes do not close",
        sent=Sent(headers=(("Content-Type", f'{TYPE};own="a'),)),
    )


def _incomplete() -> Iterator[Recipe]:
    code = "signature_params_incomplete"
    for name in PARAMETERS:
        yield Recipe(f"no-{name}", f"there is no {name}", parameters={name: None}, proven=False, code=code)
    yield Recipe(
        "no-expires-and-another-tag",
        "it comes before step 3",
        parameters={"expires": None, "tag": '"another"'},
        proven=False,
        code=code,
    )


def _tags(flavor: Flavor) -> Iterator[Recipe]:
    other = "adcp/webhook-signing/v1" if flavor.prefix == "request_" else "adcp/request-signing/v1"
    for name, rule, value in (
        ("tag-of-the-other-protocol", "a tag of another AdCP profile", other),
        ("tag-in-another-case", "a tag in another case", flavor.tag.title()),
        ("tag-of-a-later-version", "a tag of a later version", flavor.tag.replace("v1", "v2")),
        ("tag-empty", "an empty tag", ""),
    ):
        yield Recipe(name, rule, parameters={"tag": f'"{value}"'}, code="signature_tag_invalid")
    for name, value in (
        ("alg-not-of-the-profile", "rsa-pss-sha512"),
        ("alg-shared-secret", "hmac-sha256"),
        ("alg-of-a-jwk", "EdDSA"),
        ("alg-empty", ""),
    ):
        yield Recipe(
            name,
            f"the algorithm {value!r} is not in the profile's list",
            parameters={"alg": f'"{value}"'},
            code="signature_alg_not_allowed",
        )


def _windows() -> Iterator[Recipe]:
    for name, rule, created, expires in (
        ("expires-at-created", "it ends when it begins", NOW, NOW),
        ("expires-before-created", "it ends before it begins", NOW, NOW - 1),
        ("valid-for-301-seconds", "it is valid for longer than 300 seconds", NOW, NOW + 301),
        ("created-61-seconds-ahead", "it begins more than 60 seconds from now", NOW + 61, NOW + 300),
        ("expired-61-seconds-ago", "it ended more than 60 seconds ago", NOW - 300, NOW - 61),
    ):
        yield Recipe(name, rule, parameters={"created": created, "expires": expires}, code="signature_window_invalid")


def _uncovered(flavor: Flavor) -> Iterator[Recipe]:
    required = TYPED if flavor.digest == "either" else FULL
    for component in required:
        yield Recipe(
            f"{component.strip('@')}-not-covered",
            f"{component} is not covered",
            covered=tuple(name for name in FULL if name != component),
            code="signature_components_incomplete",
        )
    yield Recipe(
        "covered-with-a-parameter-only",
        "a required component is covered with a parameter, which makes it another",
        sent=Sent(values={'"content-type";bs': ":YXBwbGljYXRpb24vanNvbg==:"}),
        covered=(*BARE, '"content-type";bs', "content-digest"),
        code="signature_components_incomplete",
    )
