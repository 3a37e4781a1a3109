"""Other implementations of RFC 9421 over real sockets, both ways: what one signs, the other verifies, unless it is
changed on its way."""

from __future__ import annotations

import base64
import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.interop import ours
from tests.interop.peer import Order, running
from tests.interop.wire import TAMPERINGS, Wire, unchanged

from undersigned import Profile, profiles
from undersigned.signature.rules import CoverageRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

COMPONENTS = ("@method", "@target-uri", "@authority", "content-type", "content-digest")
FIELDS = {"Content-Type": "application/json", "X-Plan": "gold"}
ASYMMETRIC = ours.ALGORITHMS[:-1]
WEB_CRYPTO = ("ed25519", "rsa-pss-sha512")


@dataclass(frozen=True)
class Package:
    """What a package can do, and what it does not check.

    docs/interop.md lists each disagreement with the text of the standard that decides it.

    Attributes:
        algorithms: those that it has and we have.
        components: what is covered.
        fields: what else a request has, by the algorithm.
        profile: our profile, by the algorithm and the components.
        codes: what we answer to a change, if it is another code than with other packages.
        unnoticed: the changes on the way that its verifier accepts.
        unverified: the algorithms whose signatures by it we reject.
        digests: whether its signer makes a Content-Digest.
    """

    algorithms: tuple[str, ...]
    components: tuple[str, ...] = COMPONENTS
    fields: Callable[[str], Mapping[str, str]] = lambda _algorithm: {}
    profile: Callable[[str, Sequence[str]], Profile] = ours.profile
    codes: Mapping[str, str] = field(default_factory=dict)
    unnoticed: frozenset[str] = frozenset()
    unverified: frozenset[str] = frozenset()
    digests: bool = False

    def order(self, algorithm: str) -> Order:
        return Order(self.components, ours.keyid(algorithm), fields={**FIELDS, **self.fields(algorithm)})


def signature_agent(_algorithm: str) -> Mapping[str, str]:
    return {"Signature-Agent": '"https://bot.example"'}


def signature_key(algorithm: str) -> Mapping[str, str]:
    """The public key in the request (Signature-Key, scheme hwk), by the names that JOSE has since RFC 9864."""
    jwk = {**ours.public_jwk(algorithm)}
    jwk = {**jwk, "alg": "Ed25519" if jwk["alg"] == "EdDSA" else jwk["alg"]}
    members = "".join(f';{name}="{jwk[name]}"' for name in ("alg", "kty", "crv", "x", "y", "n", "e") if name in jwk)
    return {"Signature-Key": f"sig1=hwk{members}"}


def web_bot_auth(algorithm: str, components: Sequence[str]) -> Profile:
    return profiles.WEB_BOT_AUTH_STRING.derive(
        coverage=CoverageRule(always=tuple(components)), algorithms=frozenset({algorithm})
    )


def adcp(version: str, published: Profile) -> Package:
    return Package(
        ("ed25519", "ecdsa-p256-sha256"),
        fields=lambda _algorithm: {"X-Version": version},
        profile=lambda algorithm, _components: published.derive(algorithms=frozenset({algorithm})),
        # A signature is valid for five minutes at most. One that began a second earlier is valid for longer.
        codes={
            **dict.fromkeys(TAMPERINGS, "request_signature_invalid"),
            "parameter": "request_signature_window_invalid",
            "content": "request_signature_digest_mismatch",
        },
        digests=True,
    )


PACKAGES = {
    "http-message-signatures": Package(
        ours.ALGORITHMS, unnoticed=frozenset({"content"}), unverified=frozenset({"rsa-pss-sha512"})
    ),
    "http-message-sig": Package(WEB_CRYPTO, unnoticed=frozenset({"content"})),
    "web-bot-auth": Package(
        WEB_CRYPTO,
        components=(*COMPONENTS, "signature-agent"),
        fields=signature_agent,
        profile=web_bot_auth,
        unnoticed=frozenset({"content"}),
    ),
    "hellocoop-httpsig": Package(
        ASYMMETRIC,
        components=("@method", "@authority", "@path", "content-type", "content-digest", "signature-key"),
        fields=signature_key,
        digests=True,
    ),
    "pypi-http-message-signatures": Package(ours.ALGORITHMS, digests=True),
    "pypi-requests-http-signature": Package(
        ours.ALGORITHMS,
        components=(*COMPONENTS, "date"),
        fields=lambda _algorithm: {"Date": formatdate(usegmt=True)},
        digests=True,
    ),
    "pypi-adcp 3.2": adcp("3.2", profiles.ADCP_3_2),
    "pypi-adcp 3.1": adcp("3.1", profiles.ADCP_3_1.derive(digest=replace(profiles.ADCP_3_1.digest, policy="required"))),
}


@pytest.fixture(scope="module")
def wire():
    opened = Wire()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client():
    with httpx.Client(timeout=30) as opened:
        yield opened


@pytest.fixture(scope="module")
def peers(request):
    """Start the peers of all selected tests at once, and return the one of a package."""
    selected = [item.callspec.params for item in request.session.items if item.path == request.path]
    scripts = {params["name"].split()[0] for params in selected}
    with ExitStack() as stack:
        started = {script: stack.enter_context(running(script, ours.keys())) for script in scripts}
        yield lambda name: started[name.split()[0]]


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
    package = PACKAGES[name]
    order = package.order(algorithm) if package.digests else with_digest(package.order(algorithm))
    wire.change = TAMPERINGS.get(change, unchanged)
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
    wire.change = TAMPERINGS.get(change, unchanged)
    wire.server = peers(name).port
    got = ours.send(order, wire, package.profile(algorithm, order.components), client)
    is_accepted = change == "nothing" or change in package.unnoticed
    assert got.json()["verified"] is is_accepted, got.text
