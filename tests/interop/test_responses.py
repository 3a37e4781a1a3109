"""Signed responses of other implementations of RFC 9421 over real sockets, both ways: each is bound to its request."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tests.interop import ours
from tests.interop.packages import PACKAGES
from tests.interop.test_peers import with_digest
from tests.interop.wire import TAMPERINGS, keep

from undersigned import SignatureError

COMPONENTS = (
    "@status", "content-type", "content-digest", '"@method";req', '"@target-uri";req', '"@authority";req',
    '"content-digest";req', '"signature";req;key="sig1"',
)  # fmt: skip
NAMES = ("http-message-signatures", "http-message-sig", "pypi-http-message-signatures")
"""The packages that sign and verify responses with components of their requests."""


def _flip(answer: bytes) -> bytes:
    """Another first character of the Base64 is another first byte."""
    before, name, text = answer.partition(b"sig1=:")
    return before + name + (b"B" if text[:1] == b"A" else b"A") + text[1:]


CHANGES = {
    "status": lambda answer: re.sub(rb" \d{3} ", b" 203 ", answer, count=1),
    "field": lambda answer: answer.replace(b"application/json", b"application/jsop"),
    "content": lambda answer: answer.replace(b'"verified"', b'"verifies"'),
    "signature": _flip,
    "other": bytes,
}
"""What is changed of a response on its way. `other`: the request was, so the response is signed for another one."""

EVERY = pytest.mark.parametrize(
    ("name", "algorithm", "change"),
    [
        pytest.param(name, algorithm, change, id=f"{name}-{algorithm}-{change}")
        for name in NAMES
        for algorithm, change in PACKAGES[name].changed(CHANGES)
    ],
)


def tamper(wire, change: str) -> None:
    wire.answer = CHANGES.get(change, bytes)
    wire.change = TAMPERINGS["target"] if change == "other" else keep


@pytest.fixture(autouse=True)
def _unchanged(wire):
    yield
    wire.answer = bytes


@EVERY
def test_we_verify_the_response_that_a_peer_signs(name, algorithm, change, peers, wire, client):
    package = PACKAGES[name]
    order = with_digest(package.order(algorithm))
    asked = json.dumps({"components": COMPONENTS, "keyid": order.keyid})
    order = replace(order, fields={**order.fields, "X-Answer": asked})
    tamper(wire, change)
    wire.server = peers(name).port
    agreed, responses = package.profile(algorithm, order.components), ours.responses(algorithm, COMPONENTS)
    if change == "nothing" and algorithm not in package.unverified:
        got = ours.send(order, wire, agreed, client, responses=responses)
        assert (got.status_code, got.json()["verified"]) == (200, True), got.text
        return
    with pytest.raises(SignatureError) as caught:
        ours.send(order, wire, agreed, client, responses=responses)
    is_signed = change == "content" and algorithm not in package.unverified
    assert caught.value.reason == ("signature_digest_mismatch" if is_signed else "signature_invalid")


@EVERY
def test_peer_verifies_the_response_that_we_sign(name, algorithm, change, peers, wire):
    package = PACKAGES[name]
    order = replace(package.order(algorithm), answered=True)
    order = order if package.digests else with_digest(order)
    tamper(wire, change)
    agreed = package.profile(algorithm, order.components)
    with ours.server(wire, agreed, answers=ours.response_profile(algorithm, COMPONENTS)):
        got = peers(name).send(order, wire)
    assert got["verified"] is (change == "nothing" or change in package.unnoticed), got
