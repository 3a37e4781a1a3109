"""What a policy does to one URL, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL
from undersigned.url.policy import ADCP, Policy
from undersigned.url.value import URL

if TYPE_CHECKING:
    from undersigned.url.rule import Rule


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


def explain(url: str, policy: Policy = ADCP) -> Explanation:
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
