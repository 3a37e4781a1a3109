"""How an application finds or requires the signature that a middleware published."""

from __future__ import annotations

import logging

import pytest

from undersigned import ConfigurationError, SignatureError, asgi, profiles, wsgi


def test_application_finds_the_signature_of_a_signed_request(side):
    gate = side()
    gate.signed("GET", "/p")
    signature = gate.interface.find_signature(gate.calls[0].context)
    assert signature.keyid == "buyer-2026"
    assert gate.interface.verified_signature(gate.calls[0].context) is signature


def test_requiring_a_missing_signature_raises_and_logs_the_code_of_the_profile(side, caplog):
    gate = side(profile=profiles.ADCP_WEBHOOK, mode="optional")
    gate.unsigned("GET", "/p")
    assert gate.calls[0].signature is None
    with caplog.at_level(logging.INFO, "undersigned"), pytest.raises(SignatureError) as caught:
        gate.interface.verified_signature(gate.calls[0].context)
    assert str(caught.value) == "webhook_signature_required"
    assert "webhook_signature_required (presence of a signature): the route requires a signature" in caplog.text


@pytest.mark.parametrize(
    ("interface", "published"),
    [(asgi, {}), (asgi, {"undersigned": "mallory"}), (wsgi, {}), (wsgi, {"undersigned": "mallory"})],
)
@pytest.mark.parametrize("function", ["find_signature", "verified_signature"])
def test_request_without_middleware_is_neither_signed_nor_unsigned(interface, published, function):
    with pytest.raises(ConfigurationError, match="put SignatureMiddleware outside the application"):
        getattr(interface, function)(published)
