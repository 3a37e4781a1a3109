"""Policies: ordered tuples of rules, and the one that signing follows."""

from __future__ import annotations

from typing import Final, TypeAlias

from undersigned.url.authority import authority, default_port, port_number, userinfo
from undersigned.url.host import a_labels, as_received, host_case, ip_literal, reg_name, root_dot
from undersigned.url.path import dot_segments, empty_path, encoded_dots, hex_case, triplets, unreserved
from undersigned.url.rule import Rule
from undersigned.url.syntax import characters, fragment, scheme_case, web_scheme

Policy: TypeAlias = tuple[Rule, ...]
"""Rules in the order they run; each takes what the one before it returns."""

ADCP: Final[Policy] = (
    characters,
    scheme_case,  # step 1
    web_scheme,
    authority,
    userinfo,  # step 3; it commutes with step 2
    ip_literal,  # step 2
    a_labels,  # before the case rule: UTS 46 maps the name as it was written
    host_case,
    root_dot,
    reg_name,
    port_number,  # step 4
    default_port,
    triplets,
    dot_segments,  # step 5
    empty_path,
    unreserved,  # step 6; no rule touches the query, which is step 7
    hex_case,
    encoded_dots,
    fragment,  # step 8
)
"""The AdCP URL canonicalization algorithm, for who makes a URL: U-labels are converted."""

ADCP_RECEIVED: Final[Policy] = (as_received, *ADCP)
"""The same for who compares a URL it was given: a host with non-ASCII is refused."""
