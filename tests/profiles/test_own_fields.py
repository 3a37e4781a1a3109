"""Profiles with structured fields of their own: how `;sf` and `;key` read them, in requests and responses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.keys import OneKey, key_pair, verification_key
from tests.profiles.test_signing import NOW, signer

from undersigned import MemoryReplayStore, Request, Response, SignatureError, Signer, SigningError, Verifier
from undersigned.profiles import GNAP, UCP_RESPONSE

TYPES = {"x-plan": "dictionary", "x-tiers": "list", "x-tier": "item"}
OWN = GNAP.derive(
    name="own",
    coverage=GNAP.coverage._replace(
        always=("@method", '"x-plan";sf', '"x-plan";key="b"', '"x-tiers";sf'), field_types=TYPES
    ),
)
SENT = [("X-Plan", "a=1,   b=2"), ("X-Tiers", "gold,silver")]


def verifier(profile) -> Verifier:
    keys = OneKey(verification_key("ed25519"))
    return Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW)


def test_own_structured_field_is_signed_in_its_strict_serialization():
    request = Request("GET", "https://shop.example/", SENT)
    fields = signer(OWN).sign(request)
    respelled = [("X-Plan", "a=1"), ("X-Plan", "b=2"), ("X-Tiers", "gold , silver"), *fields]
    verified = verifier(OWN).verify(replace(request, fields=respelled))
    assert '"x-plan";sf: a=1, b=2\n"x-plan";key="b": 2\n"x-tiers";sf: gold, silver\n' in verified.signature_base
    changed = [("X-Plan", "a=1, b=3"), ("X-Tiers", "gold, silver"), *fields]
    with pytest.raises(SignatureError, match="invalid_client"):
        verifier(OWN).verify(replace(request, fields=changed))


def test_response_covers_an_own_structured_field_of_its_request():
    covered = ("@status", '"x-plan";req;sf', '"x-tier";sf')
    profile = UCP_RESPONSE.derive(coverage=UCP_RESPONSE.coverage._replace(always=covered, field_types=TYPES))
    asked = Request("GET", "https://shop.example/", SENT)
    response = Response(204, [("X-Tier", "gold;  a")], request=asked)
    fields = Signer(key_pair("ed25519").signing_key(), profile=profile, clock=lambda: NOW).sign_response(response)
    signed = replace(response, fields=[("X-Tier", "gold;a"), *fields])
    assert '"x-plan";req;sf: a=1, b=2\n' in verifier(profile).verify_response(signed).signature_base


def test_own_structured_field_that_cannot_be_parsed_is_not_signed():
    with pytest.raises(SigningError, match="x-plan"):
        signer(OWN).sign(Request("GET", "https://shop.example/", [("X-Plan", "a="), SENT[1]]))
