"""Other implementations of RFC 9421 over real sockets, both ways: what one signs, the other verifies, unless it is
changed on its way."""

from __future__ import annotations

import base64
import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache

import pytest
from tests.interop import ours
from tests.interop.peer import Order, running
from tests.interop.wire import TAMPERINGS, Wire, unchanged

COMPONENTS = ("@method", "@target-uri", "@authority", "content-type", "content-digest")


@dataclass(frozen=True)
class Package:
    """What a package can do, and what it does not check.

    docs/interop.md lists each disagreement with the text of the standard that decides it.

    Attributes:
        algorithms: those that it has and we have.
        unnoticed: the changes on the way that its verifier accepts.
        unverified: the algorithms whose signatures by it we reject.
        digests: whether its signer makes a Content-Digest.
    """

    algorithms: tuple[str, ...]
    unnoticed: frozenset[str] = frozenset()
    unverified: frozenset[str] = frozenset()
    digests: bool = False


PACKAGES = {
    "http-message-signatures": Package(
        ours.ALGORITHMS, unnoticed=frozenset({"content"}), unverified=frozenset({"rsa-pss-sha512"})
    ),
}


@pytest.fixture(scope="module")
def wire():
    opened = Wire()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def peers():
    """Return a peer by its name, and start it when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(running(name, ours.keys())))


EVERY = pytest.mark.parametrize(
    ("name", "algorithm", "change"),
    [
        pytest.param(name, algorithm, change, id=f"{name}-{algorithm}-{change}")
        for name, package in PACKAGES.items()
        for algorithm in package.algorithms
        for change in ("nothing", *TAMPERINGS)
    ],
)


def with_digest(order: Order) -> Order:
    digest = base64.b64encode(hashlib.sha256(order.body.encode()).digest()).decode()
    return replace(order, fields={**order.fields, "Content-Digest": f"sha-256=:{digest}:"})


@EVERY
def test_we_verify_what_a_peer_signs(name, algorithm, change, peers, wire):
    order = Order(COMPONENTS, algorithm)
    if not PACKAGES[name].digests:
        order = with_digest(order)
    wire.change = TAMPERINGS.get(change, unchanged)
    with ours.server(wire, ours.profile(algorithm, COMPONENTS)):
        got = peers(name).send(order, wire)
    if change == "nothing" and algorithm not in PACKAGES[name].unverified:
        assert got["status"] == 200, got
        assert json.loads(got["body"]) == {"verified": True, "content": order.body}
    else:
        is_signed = change == "content" and algorithm not in PACKAGES[name].unverified
        code = "signature_digest_mismatch" if is_signed else "signature_invalid"
        assert (got["status"], code in got["fields"]["www-authenticate"][0]) == (401, True), got


@EVERY
def test_peer_verifies_what_we_sign(name, algorithm, change, peers, wire):
    order = Order(COMPONENTS, algorithm)
    wire.change = TAMPERINGS.get(change, unchanged)
    wire.server = peers(name).port
    got = ours.send(order, wire, ours.profile(algorithm, COMPONENTS))
    is_accepted = change == "nothing" or change in PACKAGES[name].unnoticed
    assert got.json()["verified"] is is_accepted, got.text
