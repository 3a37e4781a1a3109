"""Rule sets, the one that signing follows, and an explanation of what a rule set does to one URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from undersigned.errors import MalformedURL
from undersigned.url.authority import authority, default_port, port_number, userinfo
from undersigned.url.host import a_labels, as_received, host_case, ip_literal, reg_name, root_dot
from undersigned.url.path import dot_segments, empty_path, encoded_dots, hex_case, triplets, unreserved
from undersigned.url.rule import Rule
from undersigned.url.syntax import characters, fragment, scheme_case, web_scheme
from undersigned.url.value import URL

RuleSet: TypeAlias = tuple[Rule, ...]
"""Rules in the order they run; each takes what the one before it returns."""

ADCP: Final[RuleSet] = (
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

ADCP_RECEIVED: Final[RuleSet] = (as_received, *ADCP)
"""The same for who compares a URL it was given: a host with non-ASCII is refused."""


@dataclass(frozen=True, slots=True)
class Change:
    """One rule's change: the whole URL before and after it, as text."""

    rule: Rule
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way of one URL through a policy.

    The texts are the caller's own: they may hold anything the URL held, control characters included.

    Attributes:
        url: the URL as given.
        changes: the rules that changed it, in order; those before a refusal included.
        result: the text after the last rule, or `None` where a rule refused.
        refusal: the refusal, or `None`; its `rule` says which rule it was.
    """

    url: str
    changes: tuple[Change, ...]
    result: str | None
    refusal: MalformedURL | None = None


def explain(url: str, policy: RuleSet = ADCP) -> Explanation:
    """Run `policy` on `url` and return which rule changed what.

    Raises:
        TypeError: `url` is not a `str`.
    """
    value = URL.parse(url)
    changes: list[Change] = []
    for rule in policy:
        try:
            changed = rule.apply(value)
        except MalformedURL as refusal:
            return Explanation(url, tuple(changes), None, refusal)
        if changed != value:
            changes.append(Change(rule, str(value), str(changed)))
        value = changed
    return Explanation(url, tuple(changes), str(value))
