"""Services with many names, through both middlewares: prefixes, patterns and functions."""

from __future__ import annotations

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


def test_function_that_returns_no_origin_is_the_operators_mistake(serve):
    service = serve(lambda _authority: 5)
    with pytest.raises(ConfigurationError, match="origins: "):
        signed(service, "https://h/p", path="/p", host="h")
