"""Signatures that are made somewhere else: what is prepared, and which request it is attached to."""

from __future__ import annotations

import dataclasses

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from tests.keys import BODY, JSON_FIELD, KEY, NONCE, NOW, URL, verifier

from undersigned import (
    ConfigurationError,
    KeyReference,
    KeySet,
    Request,
    Signer,
    SigningError,
    VerificationKey,
    profiles,
)

PRIVATE = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
KEYS = KeySet.of(VerificationKey.from_public_key(PRIVATE.public_key(), keyid="offline"))
SIGNER = Signer(KeyReference("offline", "ed25519"), profile=profiles.ADCP_3_2, clock=lambda: NOW)
REQUEST = Request("POST", URL, [JSON_FIELD, ("X-Other", "s3cret")], BODY)


def test_signature_made_elsewhere_verifies():
    prepared = SIGNER.prepare(REQUEST)
    assert (prepared.keyid, prepared.algorithm) == ("offline", "ed25519")
    signed = SIGNER.attach(prepared, PRIVATE.sign(prepared.signature_base), REQUEST)
    received = Request("POST", signed.target_uri, [*REQUEST.fields, *signed], BODY)
    assert verifier(keys=KEYS).verify(received).keyid == "offline"


def test_prepared_signature_is_the_one_that_sign_makes():
    own = Signer(KEY, profile=profiles.ADCP_3_2, clock=lambda: NOW)
    prepared = own.prepare(REQUEST, nonce=NONCE, label="a", created=NOW - 1, expires=NOW)
    signed = own.sign(REQUEST, nonce=NONCE, label="a", created=NOW - 1, expires=NOW)
    assert prepared.signature_base.decode() == signed.signature_base
    assert (prepared.components, prepared.target_uri) == (signed.components, signed.target_uri)
    assert own.attach(prepared, KEY.sign(prepared.signature_base), REQUEST) == signed


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"method": "PUT"}, "method"),
        ({"url": f"{URL}?x"}, "URL"),
        ({"fields": [JSON_FIELD]}, "headers"),
        ({"fields": [("X-Other", "s3cret"), JSON_FIELD]}, "headers"),
        ({"fields": [JSON_FIELD, ("X-Other", "t")]}, "headers"),
        ({"body": BODY + b" "}, "content"),
        ({"has_body": False}, "content"),
    ],
)
def test_request_that_changed_is_rejected(change, part):
    prepared = SIGNER.prepare(REQUEST)
    parts = {"method": "POST", "url": URL, "fields": REQUEST.fields, "body": BODY, "has_body": True, **change}
    with pytest.raises(SigningError, match=f"^request: its {part} changed after it was prepared"):
        SIGNER.attach(prepared, PRIVATE.sign(prepared.signature_base), Request(**parts))


@pytest.mark.parametrize("change", [{"keyid": "other"}, {"algorithm": "ecdsa-p256-sha256"}])
def test_prepared_signature_of_another_key_is_not_attached(change):
    prepared = dataclasses.replace(SIGNER.prepare(REQUEST), **change)
    with pytest.raises(ConfigurationError, match="prepared: it is for another key"):
        SIGNER.attach(prepared, bytes(64), REQUEST)


def test_repr_shows_neither_base_nor_request():
    shown = repr(SIGNER.prepare(REQUEST))
    assert "offline" in shown
    assert "s3cret" not in shown
    assert URL not in shown
