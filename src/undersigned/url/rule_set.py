"""Rule sets, the rule set that signatures use, and an explanation of how a rule set changes a URL."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from undersigned.errors import MalformedURL
from undersigned.url import host, path, scheme_and_authority
from undersigned.url.parts import URL
from undersigned.url.rule import Rule

RuleSet: TypeAlias = tuple[Rule, ...]
"""Rules in the order they run. Each rule takes the result of the rule before it."""

ADCP: Final[RuleSet] = (
    scheme_and_authority.characters,
    scheme_and_authority.scheme_case,  # step 1
    scheme_and_authority.web_scheme,
    scheme_and_authority.authority,
    scheme_and_authority.userinfo,  # step 3; it commutes with step 2
    host.ip_literal,  # step 2
    host.a_labels,  # before the case rule: UTS 46 maps the name as written
    host.host_case,
    host.root_dot,
    host.reg_name,
    scheme_and_authority.port_number,  # step 4
    scheme_and_authority.default_port,
    path.triplets,
    path.dot_segments,  # step 5
    path.empty_path,
    path.unreserved,  # step 6; no rule touches the query, which is step 7
    path.hex_case,
    path.encoded_dots,
    scheme_and_authority.fragment,  # step 8
)
"""The AdCP URL canonicalization algorithm for a URL that you send: U-labels are converted."""

ADCP_RECEIVED: Final[RuleSet] = (host.as_received, *ADCP)
"""The AdCP URL canonicalization algorithm for a URL from a peer: a host with non-ASCII characters is rejected."""


class Change(NamedTuple):
    """A change by one rule: the whole URL before and after it, as text."""

    rule: Rule
    before: str
    after: str


class Explanation(NamedTuple):
    """The steps of one URL through a rule set.

    The texts come from the caller's URL. They may contain anything, control characters included.

    Attributes:
        url: the URL as given.
        changes: the changes in order, up to the end or to the rule that rejected the URL.
        result: the text after the last rule, or `None` if a rule rejected the URL.
        error: the error if a rule rejected the URL, with the rule's name in `error.rule`; otherwise `None`.
    """

    url: str
    changes: tuple[Change, ...]
    result: str | None
    error: MalformedURL | None = None


def explain(url: str, rules: RuleSet = ADCP) -> Explanation:
    """Apply `rules` to `url` and return the changes by each rule.

    Raises:
        TypeError: `url` is not a `str`.
    """
    value = URL.parse(url)
    changes: list[Change] = []
    for rule in rules:
        try:
            changed = rule.apply(value)
        except MalformedURL as error:
            return Explanation(url, tuple(changes), None, error)
        if changed != value:
            changes.append(Change(rule, str(value), str(changed)))
        value = changed
    return Explanation(url, tuple(changes), str(value))
