"""The canonical form of a URL by the AdCP URL canonicalization algorithm.

A `URL` is a frozen value, a `Rule` a small named function on it, and a `RuleSet` an ordered tuple of rules.
`canonicalize` applies the rule set `ADCP`, which signatures use. `explain` applies any rule set and returns the changes
by each rule. The other canonical forms are in `undersigned.normalization`.
"""

from undersigned.errors import MalformedURL
from undersigned.url.canonical import CanonicalURL, canonicalize, canonicalize_authority, same_url
from undersigned.url.identifiers import Identifier, IdentifierSet, MalformedIdentifier
from undersigned.url.origin import Origin, Origins
from undersigned.url.parts import URL
from undersigned.url.rule import Rule
from undersigned.url.rule_set import ADCP, ADCP_RECEIVED, Change, Explanation, RuleSet, explain

__all__ = [
    "ADCP",
    "ADCP_RECEIVED",
    "URL",
    "CanonicalURL",
    "Change",
    "Explanation",
    "Identifier",
    "IdentifierSet",
    "MalformedIdentifier",
    "MalformedURL",
    "Origin",
    "Origins",
    "Rule",
    "RuleSet",
    "canonicalize",
    "canonicalize_authority",
    "explain",
    "same_url",
]
