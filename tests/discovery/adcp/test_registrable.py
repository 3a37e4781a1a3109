from __future__ import annotations

import pytest
from tests.discovery.adcp.agent_server import Operator
from tests.discovery.key_server import failure
from tests.keys import lookup

from undersigned.discovery.adcp import AdCPAgent
from undersigned.discovery.registrable_domain import site_of


@pytest.mark.parametrize(
    ("host", "brand", "found"),
    [
        ("a.b.example.co.uk", "example.co.uk", True),
        ("x.a.github.io", "a.github.io", True),
        ("a.github.io", "b.github.io", False),
        ("co.uk", "co.uk", False),
        ("localhost", "localhost", False),
    ],
)
def test_brand_json_speaks_for_the_domain_that_its_owner_registered(host, brand, found, server, clock):
    operator = Operator(server, host, brand)
    operator.brand["authorized_operators"] = [{"domain": host}] if host == brand else []
    operator.publish()
    source = AdCPAgent(operator.url, network=server.network(), clock=clock)
    if found:
        assert source.find(lookup())
        return
    assert failure(source.find, lookup()).reason == "signature_brand_origin_mismatch"


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
