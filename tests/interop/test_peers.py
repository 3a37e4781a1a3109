"""Other implementations of RFC 9421 over real sockets, both ways: what one signs, the other verifies, unless it is
changed on its way."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.interop import ours
from tests.interop.packages import PACKAGES
from tests.interop.wire import TAMPERINGS, keep

if TYPE_CHECKING:
    from tests.interop.peer import Order

EVERY = pytest.mark.parametrize(
    ("name", "algorithm", "change"),
    [
        pytest.param(name, algorithm, change, id=f"{name}-{algorithm}-{change}")
        for name, package in PACKAGES.items()
        for algorithm, change in package.changed(TAMPERINGS)
    ],
)


def with_digest(order: Order) -> Order:
    digest = base64.b64encode(hashlib.sha256(order.body.encode()).digest()).decode()
    return replace(order, fields={**order.fields, "Content-Digest": f"sha-256=:{digest}:"})


@EVERY
def test_we_verify_what_a_peer_signs(name, algorithm, change, peers, wire):
    package = PACKAGES[name]
    order = package.order(algorithm) if package.digests else with_digest(package.order(algorithm))
    wire.change = TAMPERINGS.get(change, keep)
    with ours.server(wire, package.profile(algorithm, order.components)):
        got = peers(name).send(order, wire)
    if change == "nothing" and algorithm not in package.unverified:
        assert got["status"] == 200, got
        assert json.loads(got["body"]) == {"verified": True, "content": order.body}
    else:
        is_signed = change == "content" and algorithm not in package.unverified
        code = package.codes.get(change, "signature_digest_mismatch" if is_signed else "signature_invalid")
        assert (got["status"] >= 400, json.loads(got["body"])) == (True, {"error": code})


@EVERY
def test_peer_verifies_what_we_sign(name, algorithm, change, peers, wire, client):
    package = PACKAGES[name]
    order = package.order(algorithm)
    wire.change = TAMPERINGS.get(change, keep)
    wire.server = peers(name).port
    agreed = package.profile(algorithm, order.components)
    got = ours.send_by_requests(order, wire, agreed) if package.by_requests else ours.send(order, wire, agreed, client)
    is_accepted = change == "nothing" or change in package.unnoticed
    assert got.json()["verified"] is is_accepted, got.text
