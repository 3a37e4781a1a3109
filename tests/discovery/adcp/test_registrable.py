from __future__ import annotations

import pytest

from undersigned.discovery.site import registrable_domain, site_of


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


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("a.b.example.com", "example.com"),
        ("localhost", "localhost"),
        ("github.io", "github.io"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1:2:3", "2001:db8::/64"),
    ],
)
def test_site_stands_for_all_hosts_that_one_owner_can_name(host, site):
    assert site_of(host) == site
