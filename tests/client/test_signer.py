"""What every client integration shares: which requests are signed, and what is sent then."""

from __future__ import annotations

import pytest
from tests.keys import BODY, JSON_FIELD, signer, verifier

from undersigned import ConfigurationError, KeyPair, Request, Signer, SigningError, profiles
from undersigned.client import BotAuth, ClientSigner

ORIGIN = "https://seller.example.com"
OTHER = "https://other.example.com"


def client(*origins: str, **options) -> ClientSigner:
    return ClientSigner(signer(**options), origins or [ORIGIN])


def receive(signed, body: bytes = b"") -> Request:
    fields = {"host": signed.authority, **{name.lower(): value for name, value in signed.headers}}
    return Request(signed.method, signed.url, fields, body)


@pytest.mark.parametrize(("fields", "body"), [([], b""), ([JSON_FIELD, ("X-A", "1")], BODY)])
def test_signed_request_verifies_as_it_is_sent(fields, body):
    signed = client().sign("POST", "HTTPS://Seller.example.com:443/./p?q#f", fields, body)
    assert (signed.url, signed.origin, signed.authority) == (f"{ORIGIN}/p?q", ORIGIN, "seller.example.com")
    assert signed.headers[: len(fields)] == tuple(fields)
    assert verifier().verify(receive(signed, body)).target_uri == f"{ORIGIN}/p?q"


def test_content_of_unknown_length_is_signed_as_content():
    signed = client().sign("POST", f"{ORIGIN}/", [JSON_FIELD, ("Transfer-Encoding", "chunked")], b"")
    assert '"content-digest"' in dict(signed.headers)["Signature-Input"]


@pytest.mark.parametrize("host", ["Seller.Example.com:443", " seller.example.com.", "seller.example.com"])
def test_host_is_signed_and_sent_in_canonical_form(host):
    signed = client(components=["host"]).sign("GET", f"{ORIGIN}/", [("HOST", host)], b"")
    assert signed.headers[0] == ("HOST", "seller.example.com")
    assert verifier().verify(receive(signed))


@pytest.mark.parametrize(
    "url", [f"{OTHER}/", "http://seller.example.com/", f"{ORIGIN}:8443/", "https://seller.example.com@x.example/"]
)
def test_origin_that_is_not_listed_is_rejected_with_the_fix(url):
    with pytest.raises(SigningError, match=r"origins: https?://\S+ is not listed for this path; add it to origins="):
        client().sign("GET", url, [], b"")


def test_path_of_an_origin_limits_what_is_signed():
    below = client(f"{ORIGIN}/api/")
    assert below.sign("GET", f"{ORIGIN}/api/x", [], b"").url == f"{ORIGIN}/api/x"
    for path in ("/", "/api", "/apis/x", "/api/../x"):
        with pytest.raises(SigningError, match="not listed for this path"):
            below.sign("GET", f"{ORIGIN}{path}", [], b"")


@pytest.mark.parametrize(("typed", "sent"), [("wss://seller.example.com/ws", f"{ORIGIN}/ws"), ("WS://a.example", None)])
def test_websocket_is_signed_as_the_request_of_its_handshake(typed, sent):
    signed = client(ORIGIN, "http://a.example").sign("GET", typed, [], b"")
    assert signed.url == (sent or "http://a.example/")
    assert verifier().verify(receive(signed))


@pytest.mark.parametrize(
    ("profile", "options", "named"),
    [
        (profiles.WEB_BOT_AUTH_STRING, {"agent": "https://bot.example", "form": "typed"}, "form"),
        (profiles.WEB_BOT_AUTH_TYPED, {"agent": "https://bot.example"}, "form"),
        (profiles.WEB_BOT_AUTH_STRING, {"agent": "http://bot.example"}, "agent"),
    ],
)
def test_bot_whose_agent_nobody_would_read_is_a_configuration_error(profile, options, named):
    key = KeyPair.generate().signing_key()
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        BotAuth(Signer(key, profile=profile), **options)
