from __future__ import annotations

import pytest

from undersigned.discovery.adcp.brand import registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("agent.example.com", "example.com"),
        ("example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("seller.github.io", "seller.github.io"),
        ("agent.seller.vercel.app", "seller.vercel.app"),
        ("xn--bcher-kva.example.com", "example.com"),
        ("agent.internal", "agent.internal"),
        ("co.uk", None),
        ("github.io", None),
        ("localhost", None),
        ("192.0.2.1", None),
        ("2001:db8::1", None),
    ],
)
def test_registrable_domain_is_the_part_that_one_owner_registered(host, domain):
    assert registrable_domain(host) == domain
