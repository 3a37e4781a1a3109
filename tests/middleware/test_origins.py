"""Services with many names, through both middlewares: prefixes, patterns, functions and loopback hosts."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of

from undersigned import ConfigurationError, asgi, wsgi


class Served:
    """A middleware around an application that tells which path and caller it sees."""

    def __init__(self, party, origins, **options) -> None:
        self.party, self.seen, self.decisions = party, [], []
        options = {"origins": origins, "on_decision": self.decisions.append, **options}
        self.app = self.made(verifier=party.verifier(), **options)

    def signed(self, url: str, *, path: str, host: str) -> int:
        """Send a request that was signed for `url`, as a proxy forwards it; return the status."""
        return self.request(Message(path, "GET", [("Host", host), *self.party.fields("GET", url)]))

    def request(self, message: Message) -> int:
        raise NotImplementedError


class ASGI(Served):
    def made(self, **options):
        async def app(scope, _receive, send) -> None:
            signature = scope["undersigned"].signature
            self.seen.append((scope["path"], signature and signature.target_uri))
            await send({"type": "http.response.start", "status": 200, "headers": []})

        return asgi.SignatureMiddleware(app, **options)

    def request(self, message) -> int:
        return asyncio.run(call_asgi(self.app, scope_of(message))).status


class WSGI(Served):
    def made(self, **options):
        def app(environ, start_response) -> list[bytes]:
            signature = environ["undersigned"].signature
            self.seen.append((environ["PATH_INFO"], signature and signature.target_uri))
            start_response("200 OK", [])
            return []

        return wsgi.SignatureMiddleware(app, **options)

    def request(self, message) -> int:
        return call_wsgi(self.app, environ_of(message, "gunicorn")).status


both = pytest.mark.parametrize("serve", [ASGI, WSGI])


@both
def test_signature_for_another_prefix_than_the_listed_one_is_rejected(serve, party):
    service = serve(party, ["https://h/a"])
    assert service.signed("https://h/a/p", path="/p", host="h") == 200
    for url in ("https://h/p", "https://h/b/p", "https://h/a/q", "https://other/a/p"):
        assert service.signed(url, path="/p", host="h") == 401
    assert service.seen == [("/p", "https://h/a/p")]


@both
def test_path_that_leaves_its_prefix_is_rejected(serve, party):
    service = serve(party, ["https://h/b"])
    assert service.signed("https://h/x/p", path="/../x/p", host="h") == 401
    assert service.seen == []


@both
def test_tenant_is_the_one_that_was_signed(serve, party):
    service = serve(party, ["https://*.example.com"])
    assert service.signed("https://acme.example.com/p", path="/p", host="ACME.Example.com") == 200
    assert service.signed("https://acme.example.com/p", path="/p", host="other.example.com") == 401
    assert service.signed("https://example.com/p", path="/p", host="example.com") == 401
    assert service.signed("https://a.b.example.com/p", path="/p", host="a.b.example.com") == 401
    assert [decision.origin for decision in service.decisions] == [
        "https://acme.example.com",
        "https://other.example.com",
        None,
        None,
    ]


@both
def test_function_names_the_tenants(serve, party):
    service = serve(party, lambda authority: f"https://{authority}" if authority == "acme.example.com" else None)
    assert service.signed("https://acme.example.com/p", path="/p", host="acme.example.com:443") == 200
    assert service.signed("https://evil.example.com/p", path="/p", host="evil.example.com") == 401


@both
@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_loopback_origin_accepts_what_was_signed_for_each_spelling(serve, host, party):
    service = serve(party, ["http://localhost:8000"])
    assert service.signed(f"http://{host}/p", path="/p", host=host) == 200
    assert service.signed("http://localhost:8000/q", path="/q", host="127.0.0.1:8000") == 401


@both
def test_error_says_which_spellings_a_loopback_origin_means(serve, party, caplog):
    service = serve(party, ["http://localhost:8000"])
    with caplog.at_level(logging.INFO, "undersigned"):
        service.signed("http://localhost/p", path="/p", host="localhost")
    assert "(configured: http://localhost:8000; for a loopback host also http://127.0.0.1:8000" in caplog.text


@both
def test_function_that_returns_no_origin_is_the_operators_mistake(serve, party):
    service = serve(party, lambda _authority: 5)
    with pytest.raises(ConfigurationError, match="origins: "):
        service.signed("https://h/p", path="/p", host="h")
