from __future__ import annotations

import pytest
from tests.keys import BODY, JSON_FIELD, PRIVATE, URL, signed_request, verifier

from undersigned import ConfigurationError, Request, SignatureError, Signer, SigningKey, profiles
from undersigned.testing import PARTS, FrozenNonceClock, tamper


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_verifier_rejects_a_request_when_any_part_was_tampered_with(part, method):
    fields, body = ([JSON_FIELD], BODY) if method == "POST" else ([], b"")
    request = signed_request(method, f"{URL}?plan=1", fields, body)
    assert verifier().verify(request).keyid == "buyer-ed25519"
    with pytest.raises(SignatureError):
        verifier().verify(tamper(request, part))


@pytest.mark.parametrize("part", ["created", "signature"])
def test_unsigned_request_cannot_be_tampered_with(part):
    with pytest.raises(ConfigurationError, match=f"no {part} to change; pass a signed request"):
        tamper(Request("GET", URL), part)


def test_unknown_part_is_rejected_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="part: use one of method, path, "):
        tamper(signed_request(), "everything")


def test_frozen_clock_makes_the_same_signatures_in_every_run():
    def signatures() -> list:
        clock = FrozenNonceClock()
        signer = Signer(SigningKey.from_jwk(PRIVATE), profile=profiles.ADCP_3_2, clock=clock, nonces=clock.nonce)
        first = signer.sign(Request("GET", URL)).fields
        clock.advance(10)
        return [first, signer.sign(Request("GET", URL)).fields]

    first, second = signatures()
    assert signatures() == [first, second]
    assert dict(first)["Signature-Input"].split(";")[1:3] == ["created=1776520800", "expires=1776521100"]
    assert "created=1776520810" in dict(second)["Signature-Input"]
