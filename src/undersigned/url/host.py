"""Rules for the host: IPv6 literals, internationalized names, case, the trailing dot, the grammar of a name."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import AddressValueError, IPv6Address
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import quote, rule

if TYPE_CHECKING:
    from undersigned.url.parts import URL

LONGEST_NAME: Final = 253
"""The longest name in characters, without a trailing dot (RFC 1035 section 2.3.4)."""

_LONGEST_LABEL: Final = 63
_IP_LITERAL: Final = re.compile(r"\[[0-9A-Fa-f:.]{2,45}\]")
_REG_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,63}+(?>(?:\.[A-Za-z0-9_-]{1,63}+)*)")
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9._-]")
_NUMBER: Final = re.compile(r"[0-9]+|0[Xx][0-9A-Fa-f]*")
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def ends_in_a_number(name: str) -> bool:
    """Return whether the last label of `name` is a number (WHATWG URL, "ends in a number checker").

    Resolvers read such a host as an IPv4 address in one of several notations. No domain name ends in a number.
    """
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def is_address(host: str) -> bool:
    """Return whether `host` is an IP literal, or ends in a number like an IPv4 address."""
    return host[:1] == "[" or ends_in_a_number(host)


def lower_ascii(text: str) -> str:
    """Return `text` with its ASCII letters in lower case.

    Other letters stay: their lower case can depend on the language.
    """
    return text.lower() if text.isascii() else text.translate(_LOWER)


def to_ascii(host: str) -> str:
    """Return a name with its U-labels converted to A-labels and its A-labels checked (UTS 46, nontransitional).

    Raises:
        UnicodeError: a label is not valid.
    """
    # After the mapping, only a plain label's hyphens are left to check, and the Bidi rule needs the U-labels of the
    # whole name. A test compares the result with that of `idna.encode`.
    import idna  # noqa: PLC0415 - its tables take longer to load than this package, and few hosts need them

    ascii_name = host.isascii()
    mapped = host if ascii_name else idna.uts46_remap(host, std3_rules=True)
    # Labels do not get shorter after the mapping, so this bounds the work.
    if len(mapped) > LONGEST_NAME + 1:
        raise UnicodeError
    written: list[str] = []
    read: list[str] = []
    for label in mapped.split("."):
        is_plain = label.isascii() and label[:4].lower() != "xn--"
        if is_plain and not ascii_name:
            idna.check_hyphen_ok(label)
        written.append(label if is_plain else idna.alabel(label).decode("ascii"))
        read.append(label if is_plain else idna.ulabel(label))
    if not _RIGHT_TO_LEFT.isdisjoint(map(unicodedata.bidirectional, "".join(read))):
        # One right-to-left label puts all labels of the name under the Bidi rule (RFC 5893 section 1.4). The library
        # checks each label alone.
        for label in filter(None, read):
            idna.check_bidi(label.lower(), check_ltr=True)
    return ".".join(written)


@rule("ip-literal", source="AdCP step 2; RFC 3986 section 3.2.2; RFC 5952 section 4.3", preserves="always")
def ip_literal(url: URL) -> URL:
    """Reject brackets around anything but an IPv6 address without a zone; put the address in lower case."""
    host = url.host
    if not host or host[0] != "[":
        return url
    if _IP_LITERAL.fullmatch(host):
        try:
            IPv6Address(host[1:-1])
        except AddressValueError:
            raise MalformedURL(f"{quote(host)} is not an IPv6 address", rule=ip_literal.name) from None
        # The algorithm changes only the case of the digits. It neither compresses nor expands the address.
        return url if host == (lower := host.lower()) else url._replace(host=lower)
    raise MalformedURL(f"the host {quote(host)} {_bracket_fault(host)}", rule=ip_literal.name)


def _bracket_fault(host: str) -> str:
    inside, closing, after = host[1:].partition("]")
    if not closing:
        return "has no closing bracket"
    if after:
        return "continues after its bracket: expected a port or the path"
    if "%" in inside:
        return "has a zone identifier, which has no meaning on another host; remove it"
    if inside[:1] in {"v", "V"}:
        return "is an IPvFuture address, which is not supported"
    return "has brackets without an IPv6 address"


@rule("as-received", source="AdCP step 2", preserves="always")
def as_received(url: URL) -> URL:
    """Reject a received host with non-ASCII characters: only the sender converts a host to A-labels."""
    if url.host is None or url.host.isascii():
        return url
    raise MalformedURL(
        f"the host {quote(url.host)} contains non-ASCII; the sender must convert it to A-labels", rule=as_received.name
    )


@rule("a-labels", source="AdCP step 2; UTS 46 section 4.2; RFC 5893 section 2", preserves="always")
def a_labels(url: URL) -> URL:
    """Convert the U-labels of a name to A-labels (UTS 46, nontransitional); reject an A-label that is not valid."""
    host = url.host
    if host is None or (host.isascii() and "xn--" not in host.lower()):
        return url
    try:
        name = to_ascii(host)
    except UnicodeError as error:
        # The library's message quotes the whole name; its code comes from a fixed list.
        reason = str(getattr(error, "code", None) or "invalid or too long").replace("_", " ")
        raise MalformedURL(
            f"the host {quote(host)} is not a valid internationalized name: {reason}", rule=a_labels.name
        ) from None
    return url if name == host else url._replace(host=name)


@rule("host-case", source="AdCP step 2; RFC 3986 section 6.2.2.1", preserves="always")
def host_case(url: URL) -> URL:
    """Put the ASCII letters of the host in lower case."""
    host = url.host
    return url if host is None or host == (lower := lower_ascii(host)) else url._replace(host=lower)


@rule("root-dot", source="AdCP step 2; RFC 9110 section 4.2.3", preserves="usually")
def root_dot(url: URL) -> URL:
    """Remove one trailing dot of a name; reject a trailing dot after an IPv4 address."""
    host = url.host
    if not host or host[-1] != ".":
        return url
    if ends_in_a_number(host[:-1]):
        raise MalformedURL(f"the host {quote(host)} is an IPv4 address with a trailing dot", rule=root_dot.name)
    return url._replace(host=host[:-1])


@rule("reg-name", source="AdCP step 2; RFC 3986 section 3.2.2; RFC 1035 section 2.3.4", preserves="always")
def reg_name(url: URL) -> URL:
    """Reject a name unless DNS can hold it: labels of letters, digits, `-` and `_`, separated by single dots."""
    host = url.host
    if host is None or host[:1] == "[" or (len(host) <= LONGEST_NAME and _REG_NAME.fullmatch(host)):
        return url
    raise MalformedURL(f"the host {quote(host)} {_name_fault(host)}", rule=reg_name.name)


def _name_fault(host: str) -> str:
    if ":" in host:
        return "contains a colon; write an IPv6 address in brackets"
    if found := _NOT_IN_NAME.search(host):
        return f"contains U+{ord(found[0]):04X}: expected letters, digits, '-', '_' and '.'"
    if len(host) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if "" in host.split("."):
        return "has an empty label"
    return f"has a label longer than {_LONGEST_LABEL} characters"
