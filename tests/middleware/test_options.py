"""The options of both middlewares."""

from __future__ import annotations

import pytest
from tests.keys import ORIGIN
from tests.middleware.gate import OverWSGI

from undersigned import ConfigurationError, Policy, Verifier, asgi, wsgi


async def returns_later(*_given):
    return True


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware], ids=["asgi", "wsgi"])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"origins": []}, "origins"),
        ({"origins": "https://seller.example.com"}, "origins"),
        ({"origins": ["seller.example.com"]}, "origins"),
        ({"origins": ["https://user@seller.example.com"]}, "origins"),
        ({"origins": ["https://seller.example.com/?q"]}, "origins"),
        ({"origins": ["https://a.example", "http://a.example"]}, "origins"),
        ({"max_body": "1"}, "max_body"),
        ({"body_timeout": "30"}, "body_timeout"),
        ({"on_decision": "log"}, "on_decision"),
        ({"on_decision": returns_later}, "on_decision"),
        ({"rejection": b"no"}, "rejection"),
        ({"rejection": returns_later}, "rejection"),
        ({"policy": Policy(required_for=["create_media_buy"]), "fallback": True}, "fallback"),
        ({"http2_server": "granian"}, "http2_server"),
        ({"http2_server": "mod_wsgi"}, "http2_server"),
        ({"verifier": None}, "verifier"),
        ({"verifier": Verifier}, "verifier"),
        ({"max_unsigned_body": "64K"}, "max_unsigned_body: give a number of bytes"),
        ({"mode": "optional", "policy": Policy()}, "mode"),
        ({"fallback": lambda _given: True}, "fallback"),
        ({"policy": Policy}, "policy"),
        ({"policy": ["create_media_buy"]}, "policy"),
    ],
)
def test_wrong_option_is_rejected_by_name_at_construction(party, middleware, options, named):
    given = {"verifier": party.verifier(), "origins": [ORIGIN], **options}
    with pytest.raises(ConfigurationError, match=f"^{named}"):
        middleware(lambda *_: None, **given)


class Later:
    def __await__(self):
        yield


@pytest.mark.parametrize("fallback", [lambda _environ: Later(), returns_later])
def test_fallback_that_has_to_be_awaited_over_wsgi_lets_a_request_through_only_if_it_never_waits(party, fallback):
    gate = OverWSGI(party, policy=Policy(required_for=["create_media_buy"]), fallback=fallback)
    if fallback is returns_later:
        assert gate.status("POST", "/adcp/create_media_buy") == 200
    else:
        with pytest.raises(RuntimeError, match="a method is async"):
            gate.status("POST", "/adcp/create_media_buy")
        assert gate.calls == []


@pytest.mark.parametrize("mode", [lambda _request: "required", "lax", True, None, ["required"], {"required"}])
def test_mode_that_is_not_one_of_the_three_words_is_rejected(side, mode):
    with pytest.raises(ConfigurationError, match=r'^mode: use "required", "optional" or "observe"'):
        side(mode=mode)
