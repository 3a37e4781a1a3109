"""The options of both middlewares."""

from __future__ import annotations

import pytest
from tests.party import ORIGIN

from undersigned import ConfigurationError, asgi, wsgi


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
        ({"mode": "lax"}, "mode"),
        ({"max_body": -1}, "max_body"),
        ({"max_body": True}, "max_body"),
        ({"max_body": "1"}, "max_body"),
        ({"http2_server": "granian"}, "http2_server"),
        ({"http2_server": "mod_wsgi"}, "http2_server"),
        ({"verifier": None}, "verifier"),
    ],
)
def test_wrong_option_is_rejected_by_name_at_construction(party, middleware, options, named):
    given = {"verifier": party.verifier(), "origins": [ORIGIN], **options}
    with pytest.raises(ConfigurationError, match=f"^{named}"):
        middleware(None, **given)
