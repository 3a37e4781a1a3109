"""RFC 9421 as data: component values, signature bases and signatures of requests, over the canonical target."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.vectors.corpus import ROOT, absent
from undersigned import Request, VerificationKey, canonicalize
from undersigned.base import signature_base
from undersigned.components import ComponentValues, UnresolvableComponent
from undersigned.fields import MalformedField, parse_byte_sequences, parse_signature_input

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = ROOT / "rfc9421_vectors.json"

UNREGISTERED = "sf needs the type of a field, and only registered fields have one (http-sf's retrofit table)"
REFUSED = {
    **dict.fromkeys(
        (
            "2.1.1-sf",
            "2.1.1-sf-duplicate-key",
            "2.1.1-sf-duplicate-parameter",
            "2.1.1-sf-boolean-true",
            "2.1.1-sf-two-lines",
            "2.1.1-sf-decimal",
            "2.1.1-sf-bytes",
            "2.1.1-sf-strings-tokens",
            "2.1.1-sf-list",
            "2.1.1-sf-item",
        ),
        UNREGISTERED,
    ),
    "2.2.1-lowercase-method": "AdCP wants methods in upper case, and servers change the case",
}
"""Component cases that have a value in the file and none here, and why."""

ORIGIN_FORM = {
    "2.2.5-absolute-form": '"@request-target": /path?param=value',
    "2.2.5-asterisk-form": '"@request-target": /',
}
"""The values of a target in another form: requests are verified in origin-form, the one a canonical URL has."""

REFUSED_BASES = {
    "base-duplicate-label": "AdCP refuses a repeated label instead of taking the last",
    "base-duplicate-param": "AdCP refuses a repeated parameter instead of taking the last",
}


def cases(key: str) -> list:
    """A parameter a case about a request."""
    if not _FILE.is_file():
        return absent(_FILE)
    return [pytest.param(case, id=case["id"]) for case in requests(key)]


def requests(key: str) -> Iterator[dict]:
    return (case for case in json.loads(_FILE.read_text("utf-8"))[key] if case["message"]["kind"] == "request")


def request_of(case: dict) -> Request:
    sent = case["message"]
    return Request(sent["method"], sent["target_uri"], sent["fields"], case.get("body", ""))


def line(case: dict) -> str:
    """The line of the case's component."""
    request = request_of(case)
    component = parse_signature_input(f"s=({case['component']})")["s"].components[0]
    value = ComponentValues(request, canonicalize(request.url)).value(component)
    return f"{component.text}: {value}"


def base_of(case: dict, label: str) -> str:
    request = request_of(case)
    read = parse_signature_input(request.field("signature-input"))[label]
    return signature_base(ComponentValues(request, canonicalize(request.url)), read.components, read.text)


@pytest.mark.parametrize("case", cases("components"))
def test_a_component_has_the_value_the_rfc_gives_it(case):
    if "error" in case or case["id"] in REFUSED:
        with pytest.raises((UnresolvableComponent, MalformedField)):
            line(case)
    else:
        assert line(case) == ORIGIN_FORM.get(case["id"], case["expected_line"])


@pytest.mark.parametrize("case", cases("bases"))
def test_a_base_is_the_one_the_rfc_gives(case):
    if "error" in case or case["id"] in REFUSED_BASES:
        with pytest.raises((UnresolvableComponent, MalformedField)):
            base_of(case, case["label"])
    else:
        assert base_of(case, case["label"]) == case["expected_base"]


@pytest.mark.parametrize("case", cases("vectors"))
def test_a_signature_of_the_rfc_is_over_this_base_and_verifies(case):
    base = base_of(case, case["label"])
    assert base == case["signature_base"]
    if case["alg"] in {"ed25519", "ecdsa-p256-sha256"}:
        published = json.loads(_FILE.read_text("utf-8"))["keys"][case["key"]]["jwk"]
        name = {"ed25519": "EdDSA", "ecdsa-p256-sha256": "ES256"}[case["alg"]]
        key = VerificationKey.from_jwk({**published, "kid": case["key"], "alg": name})
        signature = parse_byte_sequences(request_of(case).field("signature"), "base64")[case["label"]]
        assert key.verifies(signature, base.encode("ascii")) is case["valid"]
