"""Services with many names, through both middlewares: prefixes, patterns, functions and loopback hosts."""

from __future__ import annotations

import logging

import pytest

from undersigned import ConfigurationError


@pytest.fixture
def serve(side):
    return lambda origins: side(origins=origins)


def signed(gate, url: str, *, path: str, host: str) -> int:
    """Send a request that was signed for `url`, as a proxy forwards it; return the status."""
    return gate.status("GET", path, gate.party.fields("GET", url), host=host)


def test_signature_for_another_prefix_than_the_listed_one_is_rejected(serve):
    service = serve(["https://h/a"])
    assert signed(service, "https://h/a/p", path="/p", host="h") == 200
    for url in ("https://h/p", "https://h/b/p", "https://h/a/q", "https://other/a/p"):
        assert signed(service, url, path="/p", host="h") == 401
    assert [(call.path, call.signature.target_uri) for call in service.calls] == [("/p", "https://h/a/p")]


def test_path_that_leaves_its_prefix_is_rejected(serve):
    service = serve(["https://h/b"])
    assert signed(service, "https://h/x/p", path="/../x/p", host="h") == 401
    assert service.calls == []


def test_tenant_is_the_one_that_was_signed(serve):
    service = serve(["https://*.example.com"])
    assert signed(service, "https://acme.example.com/p", path="/p", host="ACME.Example.com") == 200
    assert signed(service, "https://acme.example.com/p", path="/p", host="other.example.com") == 401
    assert signed(service, "https://example.com/p", path="/p", host="example.com") == 401
    assert signed(service, "https://a.b.example.com/p", path="/p", host="a.b.example.com") == 401
    assert [decision.origin for decision in service.decisions] == [
        "https://acme.example.com",
        "https://other.example.com",
        None,
        None,
    ]


def test_function_names_the_tenants(serve):
    service = serve(lambda authority: f"https://{authority}" if authority == "acme.example.com" else None)
    assert signed(service, "https://acme.example.com/p", path="/p", host="acme.example.com:443") == 200
    assert signed(service, "https://evil.example.com/p", path="/p", host="evil.example.com") == 401


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_loopback_origin_accepts_what_was_signed_for_each_spelling(serve, host):
    service = serve(["http://localhost:8000"])
    assert signed(service, f"http://{host}/p", path="/p", host=host) == 200
    assert signed(service, "http://localhost:8000/q", path="/q", host="127.0.0.1:8000") == 401


def test_error_says_which_spellings_a_loopback_origin_means(serve, caplog):
    service = serve(["http://localhost:8000"])
    with caplog.at_level(logging.INFO, "undersigned"):
        signed(service, "http://localhost/p", path="/p", host="localhost")
    assert "(configured: http://localhost:8000; for a loopback host also http://127.0.0.1:8000" in caplog.text


def test_function_that_returns_no_origin_is_the_operators_mistake(serve):
    service = serve(lambda _authority: 5)
    with pytest.raises(ConfigurationError, match="origins: "):
        signed(service, "https://h/p", path="/p", host="h")
