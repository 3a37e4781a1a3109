"""Implementations of the fediverse over real sockets, both ways: by RFC 9421 and by draft-cavage-12."""

from __future__ import annotations

import json
import re
from email.utils import formatdate
from uuid import uuid4

import httpx
import pytest
from tests.interop import ours
from tests.interop.peer import Order
from tests.interop.wire import TAMPERINGS, Message, Wire, keep
from tests.keys import OneKey

from undersigned import Request, Signer, SigningKey
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage import CavageSigner
from undersigned.client import DoubleKnock
from undersigned.profiles import ACTIVITYPUB
from undersigned.signature.rules import CoverageRule
from undersigned_httpx import SignatureTransport

COVERED = ("@method", "@target-uri", "@authority", "host", "date", "content-type", "content-digest")
INBOX, QUERY = "/inbox/%7E1/a%2Fb/plan=gold", "/inbox?plan=gold"


def another_date(message: Message) -> Message:
    """The draft's signatures have no `created`: they cover Date."""
    return message.with_field(
        "date", lambda value: re.sub(r"(\d) GMT", lambda at: f"{(int(at[1]) + 9) % 10} GMT", value)
    )


def flip_signature(message: Message) -> Message:
    return message.with_field(
        "signature",
        lambda value: re.sub(r'signature="(.)', lambda at: f'signature="{"B" if at[1] == "A" else "A"}', value),
    )


CAVAGE_TAMPERINGS = {**TAMPERINGS, "parameter": another_date, "signature": flip_signature}
EVERY = pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param(name, change, id=f"{name}-{change}")
        for name in ("fedify rfc9421", "fedify cavage", "misskey cavage")
        for change in ("nothing", *TAMPERINGS)
    ],
)


def order(name: str, wire: Wire, target: str = INBOX) -> Order:
    """An order to a peer: the components for RFC 9421, and none for the draft, of which each signs what it signs."""
    if name.endswith("cavage"):
        return Order((), "", target=target, fields={"Content-Type": "application/activity+json"})
    host = wire.origin.removeprefix("http://")
    fields = {"Content-Type": "application/activity+json", "Date": formatdate(usegmt=True), "Host": host}
    return Order(COVERED, "", target=target, fields=fields)


def tampering(name: str, change: str):
    tamperings = CAVAGE_TAMPERINGS if name.endswith("cavage") else TAMPERINGS
    return tamperings.get(change, keep)


def verifier() -> ActivityPubVerifier:
    return ActivityPubVerifier(keys=OneKey(ours.verification_key("rsa-v1_5-sha256")))


def signer(name: str) -> Signer | CavageSigner:
    key = SigningKey.from_jwk(ours.actor_jwk())
    if name.endswith("cavage"):
        return CavageSigner(key, components=["content-type"])
    return Signer(key, profile=ACTIVITYPUB.derive(coverage=CoverageRule(always=COVERED)))


def send(name: str, wire: Wire, client, target: str = INBOX):
    asked = order(name, wire, target)
    request = Request(asked.method, f"{wire.origin}{target}", list(asked.fields.items()), asked.body.encode())
    fields = [*asked.fields.items(), *signer(name).sign(request)]
    return client.request(asked.method, request.url, headers=fields, content=asked.body).json()


@EVERY
def test_we_verify_what_an_implementation_of_the_fediverse_signs(name, change, peers, wire):
    wire.change = tampering(name, change)
    with ours.serving(wire, verifier()):
        got = peers(name).send(order(name, wire), wire)
    code = "signature_digest_mismatch" if change == "content" else "signature_invalid"
    assert (got["status"], json.loads(got["body"]).get("error", "")) == (
        (200, "") if change == "nothing" else (401, code)
    )


@EVERY
def test_implementation_of_the_fediverse_verifies_what_we_sign(name, change, peers, wire, client):
    wire.change = tampering(name, change)
    wire.server = peers(name).port
    assert send(name, wire, client)["verified"] is (change == "nothing")


@pytest.mark.parametrize(
    ("name", "ours_verified", "theirs_verified"),
    [("fedify rfc9421", True, True), ("fedify cavage", False, False), ("misskey cavage", True, False)],
)
def test_query_is_signed_by_rfc_9421_and_not_by_all_by_the_draft(
    name, ours_verified, theirs_verified, peers, wire, client
):
    wire.change = keep
    with ours.serving(wire, verifier()):
        got = peers(name).send(order(name, wire, QUERY), wire)
    assert (got["status"] == 200) is theirs_verified
    wire.server = peers(name).port
    assert send(name, wire, client, QUERY)["verified"] is ours_verified


FOLLOW = {"@context": "https://www.w3.org/ns/activitystreams", "type": "Follow", "actor": ours.ACTOR}


def knocks(wire: Wire, *refused: str) -> list[str]:
    """Note the scheme of each request over the wire from now on, and break the signatures of the refused schemes."""
    seen: list[str] = []

    def change(message: Message) -> Message:
        seen.append("rfc9421" if message.field("signature-input") else "cavage")
        return CHANGES[seen[-1]](message) if seen[-1] in refused else message

    wire.change = change
    return seen


FEDERATION = pytest.mark.parametrize("name", ["federation"])
CHANGES = {"rfc9421": TAMPERINGS["signature"], "cavage": flip_signature}


@FEDERATION
@pytest.mark.parametrize(
    ("refused", "tried"),
    [((), ["rfc9421"]), (("rfc9421",), ["rfc9421", "cavage"]), (("rfc9421", "cavage"), ["rfc9421", "cavage"])],
)
def test_fedify_knocks_at_our_inbox_by_the_other_scheme_if_one_is_refused(name, refused, tried, peers, wire):
    seen = knocks(wire, *refused)
    with ours.serving(wire, verifier()):
        got = peers(name).send(Order((), "", target="/inbox"), wire)
    assert (seen, got.get("status")) == (tried, 202 if len(refused) < 2 else None), got


@FEDERATION
@pytest.mark.parametrize("first", ["rfc9421", "cavage"])
@pytest.mark.parametrize("refuses", [False, True])
def test_we_knock_at_the_inbox_of_fedify_by_the_other_scheme_if_one_is_refused(name, first, refuses, peers, wire):
    wire.server = peers(name).port
    both = pair(first)
    seen = knocks(wire, *([first] if refuses else []))
    statuses = [deliver(both, wire, "/inbox").status_code for _ in range(2)]
    other = "cavage" if first == "rfc9421" else "rfc9421"
    assert (statuses, seen) == ([202, 202], [first, other, other] if refuses else [first, first])


@FEDERATION
def test_we_answer_the_nonce_that_fedify_asks_for(name, peers, wire):
    wire.server = peers(name).port
    seen = knocks(wire)
    got = deliver(pair(), wire, "/challenge")
    assert (got.status_code, seen) == (202, ["rfc9421", "rfc9421"])
    assert ';nonce="' in wire.seen.field("signature-input")


def pair(first: str = "rfc9421") -> DoubleKnock:
    key = SigningKey.from_jwk(ours.actor_jwk())
    return DoubleKnock(Signer(key, profile=ACTIVITYPUB), CavageSigner(key), first=first)


def deliver(both: DoubleKnock, wire: Wire, target: str) -> httpx.Response:
    activity = {**FOLLOW, "id": f"{ours.ACTOR}/{uuid4()}", "object": f"{wire.origin}/users/anna"}
    fields = {"Content-Type": "application/activity+json"}
    with httpx.Client(transport=SignatureTransport(httpx.HTTPTransport(), both, origins=[wire.origin])) as client:
        return client.post(f"{wire.origin}{target}", content=json.dumps(activity), headers=fields)
