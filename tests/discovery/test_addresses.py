from __future__ import annotations

import json
from ipaddress import ip_network
from pathlib import Path

import pytest

from undersigned import UndersignedError
from undersigned.discovery import Network

PUBLISHED = json.loads((Path(__file__).parents[1] / "vectors/published/profiles/ssrf/special_ranges.json").read_text())


def is_reached(address: str) -> bool:
    """Whether a fetch may go to the address."""
    try:
        return Network().check([address]) == (address,)
    except UndersignedError:
        return False


@pytest.mark.parametrize("group", PUBLISHED)
def test_every_published_special_range_is_special_from_its_first_to_its_last_address(group):
    for text in PUBLISHED[group]:
        published = ip_network(text)
        for address in (published[0], published[-1]):
            assert not is_reached(str(address))


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:169.254.169.254",  # mapped
        "::10.0.0.1",  # compatible
        "64:ff9b::a00:1",  # NAT64
        "64:ff9b:1::a00:1",
        "2002:a00:1::1",  # 6to4
        "2001:0:a00:1::1",  # Teredo
        "fd00:ec2::254",  # metadata over IPv6
        "168.63.129.16",
        "100.100.100.200",
        "192.88.99.1",
        "fec0::1",
        "3fff::1",
        "5f00::1",
        "fe80::1%eth0",
    ],
)
def test_addresses_that_hide_another_one_are_special(address):
    assert not is_reached(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "2606:4700::1111", "2400::1"]
)
def test_public_addresses_are_not_special(address):
    assert is_reached(address)
