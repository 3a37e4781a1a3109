"""The canonical form of a URL, by the AdCP URL canonicalization algorithm.

A `URL` is a frozen value, a `Rule` a small named function on it, a `Policy` an ordered tuple of rules. `canonicalize`
runs the policy `ADCP`; `explain` runs any policy and says which rule changed what.
"""

from undersigned.errors import MalformedURL
from undersigned.url.canonical import CanonicalURL, canonicalize, canonicalize_authority, same_url
from undersigned.url.explanation import Change, Explanation, explain
from undersigned.url.policy import ADCP, ADCP_RECEIVED, Policy
from undersigned.url.rule import Meaning, Rule
from undersigned.url.value import URL

__all__ = [
    "ADCP",
    "ADCP_RECEIVED",
    "URL",
    "CanonicalURL",
    "Change",
    "Explanation",
    "MalformedURL",
    "Meaning",
    "Policy",
    "Rule",
    "canonicalize",
    "canonicalize_authority",
    "explain",
    "same_url",
]
