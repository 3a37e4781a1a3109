"""Signed messages of our own: right, and then wrong in one place."""

from __future__ import annotations

import pytest
from tests.vectors.recipes.keys import BUYER, BUYER_P256

from undersigned import KeyPair
from undersigned.conformance import grade
from undersigned.conformance.document import Document
from undersigned.conformance.message import RequestMessage, ResponseMessage, message_by_status
from undersigned.conformance.published_key import PublishedKey
from undersigned.conformance.signed_message import SignedMessage
from undersigned.message import Request, Response
from undersigned.message.content_digest import content_digest
from undersigned.message.structured_fields import serialize_byte_sequence

TEXT = '("@method" "x-own");created=7;keyid="own"'
BASE = f'"@method": GET\n"x-own": a, b\n"@signature-params": {TEXT}'
URL = "https://own.test/p"


def sign(pair=BUYER, over: str = BASE, *fields: tuple[str, str], **changes) -> SignedMessage:
    signature = serialize_byte_sequence(pair.sign(over), "base64")
    sent = Request(
        "GET",
        URL,
        [
            ("X-Own", "a"),
            ("X-Own", "b"),
            ("Signature-Input", f"own={TEXT}"),
            ("Signature", f"own={signature}"),
            *fields,
        ],
        "content",
    )
    parts = {
        "name": "own",
        "message": RequestMessage(sent),
        "key": PublishedKey.read({**pair.jwk, "adcp_use": None}),
        "algorithm": pair.algorithm,
        "base": BASE,
    }
    return SignedMessage(**{**parts, **changes})


DIGEST = ("Content-Digest", content_digest(b"content", "base64"))


@pytest.mark.parametrize(
    "given",
    [
        sign(),
        sign(BUYER_P256),
        sign(algorithm="", label="own", base=""),
        sign(BUYER, BASE.replace("GET", "PUT"), valid=False),
        sign(BUYER, BASE, DIGEST, digested=True),
        sign(BUYER, BASE, ("Content-Digest", content_digest(b"other", "base64")), digested=False),
    ],
)
def test_correct_message_has_no_difference(given):
    assert grade(given).difference is None


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (sign(base=BASE + " "), "signature base"),
        (sign(valid=False), "signature valid"),
        (sign(BUYER, BASE.replace("GET", "PUT")), "signature valid"),
        (sign(key=PublishedKey.read(BUYER_P256.jwk), algorithm=""), "signature valid"),
        (sign(BUYER, BASE, DIGEST, digested=False), "content digest valid"),
        (sign(key=PublishedKey.read({**BUYER.jwk, "x": "AA"})), "not a vector"),
        (sign(label="other"), "not a vector"),
        (sign(message=RequestMessage(Request("GET", URL))), "signature base"),
        (sign(message=RequestMessage(Request("GET", URL, [("Signature-Input", f"own={TEXT}")]))), "signature base"),
    ],
)
def test_wrong_message_has_its_difference_in_that_place(given, subject):
    assert grade(given).difference.subject == subject


def test_message_of_several_signatures_needs_a_label():
    given = sign(BUYER, BASE, ("Signature-Input", "other=()"))
    fault = "label must be a member of Signature-Input; leave it out only if there is one"
    assert grade(given).difference.found == fault


@pytest.mark.parametrize("value", ["", "own=5", "other=:AAAA:"])
def test_unreadable_signature_is_not_valid(value):
    sent = Request("GET", URL, [("X-Own", "a, b"), ("Signature-Input", f"own={TEXT}"), ("Signature", value)])
    assert grade(sign(message=RequestMessage(sent), valid=False)).passed


def test_deterministic_signature_is_compared_to_the_byte():
    pair = KeyPair.generate("rsa-v1_5-sha256", keyid="k")
    made = pair.signing_key().sign(BASE.encode())
    fields = [("X-Own", "a, b"), ("Signature-Input", f"own={TEXT}")]
    sent = Request("GET", URL, [*fields, ("Signature", f"own={serialize_byte_sequence(made, 'base64')}")])
    parts = {"message": RequestMessage(sent), "key": PublishedKey.read(dict(pair.private)), "algorithm": ""}
    assert grade(sign(**parts)).passed


def test_response_is_signed_with_its_request():
    message = message_by_status(
        Document({"method": "GET", "url": URL, "request_headers": [["a", "1"]], "status": 201, "headers": {"b": "2"}})
    )
    assert isinstance(message, ResponseMessage)
    assert (message.sent.status, message.sent.fields.combined) == (201, {"b": "2"})
    assert message.asked == RequestMessage(Request("GET", URL, [("a", "1")]))
    alone = ResponseMessage(Response(200))
    assert alone.values().requested is None


def test_body_with_a_lone_surrogate_is_malformed():
    for members in ({}, {"status": 200}):
        document = Document({"method": "GET", "url": URL, "headers": {}, "body": "\ud800", **members})
        with pytest.raises(ValueError, match="lone surrogate"):
            message_by_status(document)


@pytest.mark.parametrize("published", [None, 5, []])
def test_key_that_is_neither_jwk_nor_pem_is_malformed(published):
    with pytest.raises(ValueError, match="neither a JWK nor a PEM"):
        PublishedKey.read(published)


def test_key_is_found_in_the_member_jwk_or_is_the_object():
    assert PublishedKey.read({"alg": "ed25519", "jwk": BUYER.jwk}) == PublishedKey.read(BUYER.jwk)
    assert PublishedKey.read(BUYER.jwk).by_kid().keyid == BUYER.kid
    assert PublishedKey.read(BUYER.jwk).by_thumbprint().keyid != BUYER.kid
    assert PublishedKey.read({"kty": "x"}).by_kid().keyid == "k"
    assert PublishedKey.read(BUYER.jwk).under_keyid("x", "ed25519").keyid == "x"
    assert PublishedKey.read(BUYER.jwk).by_kid("ed25519").algorithms == {"ed25519"}
