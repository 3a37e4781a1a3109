from __future__ import annotations

import math
import ssl

import pytest

from undersigned import ConfigurationError, UndersignedError
from undersigned.discovery import Network

SPECIAL = r"private, local, reserved or translated; network=Network\(allowed="


def test_network_keeps_the_order_of_addresses_and_drops_repeats():
    assert Network().check(["8.8.8.8", "2606:4700::1111", "8.8.8.8"]) == ("8.8.8.8", "2606:4700::1111")


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["8.8.8.8", "no address"], ["::1%lo"]])
def test_network_rejects_a_name_when_one_address_is_special(addresses):
    with pytest.raises(UndersignedError, match=SPECIAL) as rejected:
        Network().check(addresses)
    assert addresses[-1] not in str(rejected.value)


def test_network_reaches_a_special_range_only_when_the_operator_allows_it():
    network = Network(allowed=["10.20.0.0/16", "fd00:1::/64"])
    assert network.check(["10.20.255.1", "fd00:1::5"]) == ("10.20.255.1", "fd00:1::5")
    for other in ("10.21.0.1", "fd00:2::5", "::ffff:10.20.0.1"):
        with pytest.raises(UndersignedError, match=SPECIAL):
            network.check([other])


def test_address_behind_an_allowed_nat64_is_checked_too():
    network = Network(allowed=["64:ff9b::/96"])
    assert network.check(["64:ff9b::808:808"]) == ("64:ff9b::808:808",)
    for inside in ("64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"):
        with pytest.raises(UndersignedError, match=SPECIAL):
            network.check([inside])


@pytest.mark.parametrize("count", [0, 17])
def test_network_does_not_reach_a_name_with_no_address_or_too_many(count):
    with pytest.raises(UndersignedError, match="no address, or more than 16"):
        Network().check([f"8.8.8.{last}" for last in range(count)])


def test_system_resolver_knows_localhost():
    assert {"127.0.0.1", "::1"} & set(Network().resolve("localhost", 443))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"allowed": "10.0.0.0/8"}, "allowed"),
        ({"allowed": ["10.0.0.1/8"]}, "allowed"),
        ({"allowed": [None]}, "allowed"),
        ({"allowed": 5}, "allowed"),
        ({"tls": "certificate.pem"}, "tls"),
        ({"tls": ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)}, "tls"),
        ({"total_timeout": math.inf}, "total_timeout"),
        ({"total_timeout": "5"}, "total_timeout"),
        ({"wait_timeout": 0}, "wait_timeout"),
    ],
)
def test_network_names_the_option_that_cannot_be_used(options, named):
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        Network(**options)


def test_networks_share_one_context_of_the_system():
    assert Network().context is Network().context
    assert Network().context.verify_mode is ssl.CERT_REQUIRED


def is_reached(address: str) -> bool:
    """Whether a fetch may go to the address."""
    try:
        return Network().check([address]) == (address,)
    except UndersignedError:
        return False


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
        *("::ffff:0:7f00:1", "200::1", "fe00::1", "1::1", "4000::1"),  # not global unicast
    ],
)
def test_addresses_that_hide_another_one_are_special(address):
    assert not is_reached(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "2606:4700::1111", "2400::1"]
)
def test_public_addresses_are_not_special(address):
    assert is_reached(address)
