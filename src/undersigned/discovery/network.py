"""The network: which addresses a source may reach, by which certificates, and in what time."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from undersigned.discovery.fetch_errors import Unreachable, UntrustedURL
from undersigned.discovery.freshness import check_seconds
from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_TOTAL_TIMEOUT, DEFAULT_WAIT_TIMEOUT, MOST_ADDRESSES

if TYPE_CHECKING:
    from undersigned.errors import Reason

AddressRange: TypeAlias = IPv4Network | IPv6Network

_SPECIAL: Final[tuple[AddressRange, ...]] = tuple(
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
            "2001::/23",  # IETF protocols; Teredo, which holds IPv4 addresses
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which holds IPv4 addresses
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
"""`ipaddress.is_global` is not used: up to Python 3.11 it is true for NAT64, 6to4, ::10.0.0.1 and 168.63.129.16."""


_GLOBAL: Final = IPv6Network("2000::/3")
"""All other IPv6 addresses are local, translated, or not assigned (RFC 4291 section 2.4)."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
"""IPv4 addresses behind NAT64 (RFC 6052)."""


Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
"""A function that returns the addresses of a host name, given the port. It may block, and raises OSError if there are
none."""


def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the operating system has for `host`, IPv4 and IPv6, in its order."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in answers]


Document = Literal["keys", "revocations"]
"""What is fetched: a set of keys, with everything that leads to it, or a revocation list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """A report of one fetch of a document, for metrics.

    Attributes:
        document: what was fetched.
        url: the URL that the operator configured, or the URL that a sender named, if the source fetches those.
        seconds: how long the fetch took, with all requests that it needed.
        error: why it failed, or None.
        made: when a document that the operator configured was made, seconds since the epoch: a revocation list at its
            `updated`, a set of keys when it was fetched. None if the fetch failed.
    """

    document: Document
    url: str
    seconds: float
    error: Reason | None = None
    made: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The operator's rules for reaching servers. Nothing in a message or a fetched document changes them.

    The defaults reach public addresses only (the SSRF guard of AdCP). `allowed` and `resolve` are also how tests reach
    a server on the loopback interface.

    Args:
        allowed: special address ranges that may be reached all the same, such as `("10.20.0.0/16",)` for key servers
            inside the operator's own network. Every URL of the source may then point there, also one that another
            party wrote.
        resolve: returns the addresses of a host name; called once per fetch, off the event loop.
        tls: the client's TLS context, for a private certificate authority. Default: the system's authorities.
        total_timeout: seconds for a whole fetch, from the name's resolution to the last byte.
        wait_timeout: seconds that a request waits for a fetch. After that, the fetch continues without it, and the last
            good copy is used. If that copy does not have what the request needs, the request gets 503.
        on_fetch: gets a `FetchReport` after every fetch of a document, in the thread or task that fetched it.

    Raises:
        ConfigurationError: a value is wrong, or `tls` does not check certificates and names.
    """

    allowed: Sequence[str] = ()
    resolve: Resolver = system_addresses
    tls: ssl.SSLContext | None = None
    total_timeout: float = DEFAULT_TOTAL_TIMEOUT
    wait_timeout: float = DEFAULT_WAIT_TIMEOUT
    on_fetch: Callable[[FetchReport], object] | None = field(default=None, repr=False, compare=False)
    _allowed: tuple[AddressRange, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the arguments and parse `allowed`."""
        try:
            allowed = tuple(map(ip_network, self.allowed))
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"allowed: {error}; give address ranges such as 10.20.0.0/16") from None
        if self.tls is not None and not _checks_certificates(self.tls):
            raise ConfigurationError("tls: pass a client SSLContext that checks certificates and host names")
        for option in ("total_timeout", "wait_timeout"):
            check_seconds(option, getattr(self, option), least=0.001)
        object.__setattr__(self, "_allowed", allowed)

    def check(self, addresses: Sequence[str]) -> tuple[str, ...]:
        """Return the addresses of a name as the fetch may use them, in their order and without repeats.

        Raises:
            UntrustedURL: one of the addresses is special and not allowed; then none of them is used.
            Unreachable: there is no address, or there are more than 16.
        """
        distinct = tuple(dict.fromkeys(addresses))
        if not 0 < len(distinct) <= MOST_ADDRESSES:
            raise Unreachable(f"the host has no address, or more than {MOST_ADDRESSES}")
        for text in distinct:
            if not self._permits(text):
                # The address is left out: it can tell a caller how names resolve inside the operator's network.
                raise UntrustedURL(
                    "the host has an address that is private, local, reserved or translated; "
                    "network=Network(allowed=[...]) of undersigned.discovery names the ranges that may be reached"
                )
        return distinct

    def _permits(self, text: str) -> bool:
        try:
            address = ip_address(text)
        except ValueError:
            return False
        is_local = isinstance(address, IPv6Address) and address not in _GLOBAL
        is_special = is_local or any(address in special for special in _SPECIAL)
        if is_special and not any(address in permitted for permitted in self._allowed):
            return False
        if address in _NAT64:
            # A translator may reach the IPv4 addresses of its own network.
            return self._permits(str(IPv4Address(int(address) & 0xFFFFFFFF)))
        return True

    @property
    def context(self) -> ssl.SSLContext:
        """The TLS context: `tls`, or one with the system's certificate authorities."""
        return _system_context() if self.tls is None else self.tls


def _checks_certificates(context: object) -> bool:
    return isinstance(context, ssl.SSLContext) and context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED


_system_context = cache(ssl.create_default_context)
"""Reading the authorities takes some 20 ms, so all sources of a process share one context."""
