"""Special addresses: the ranges that a fetch for a peer must not reach (AdCP, Webhook URL validation; RFC 6890)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
AddressRange: TypeAlias = IPv4Network | IPv6Network

SPECIAL_RANGES: Final[tuple[AddressRange, ...]] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by carriers
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's metadata service
            "169.254.0.0/16",  # link-local; metadata services of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # IETF protocols
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved; broadcast
            "::/96",  # unspecified, loopback, and IPv4 addresses written as IPv6
            "::ffff:0:0/96",  # IPv4 addresses mapped to IPv6
            "64:ff9b::/96",  # IPv4 addresses behind NAT64
            "64:ff9b:1::/48",  # NAT64 for local use
            "100::/64",  # discard
            "100:0:0:1::/64",  # dummy
            "2001::/23",  # IETF protocols; Teredo, which holds IPv4 addresses
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which holds IPv4 addresses
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
            "5f00::/16",  # segment routing
            "fc00::/7",  # unique local; metadata services over IPv6
            "fe80::/10",  # link-local
            "fec0::/10",  # site-local
            "ff00::/8",  # multicast
        ),
    )
)
"""`ipaddress.is_global` is not used: up to Python 3.11 it is true for NAT64, 6to4, ::10.0.0.1 and 168.63.129.16."""


def is_special(address: Address) -> bool:
    """Return whether `address` is in one of the `SPECIAL_RANGES`."""
    return any(address in special for special in SPECIAL_RANGES)
