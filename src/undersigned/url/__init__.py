"""The canonical form of a URL, by the AdCP URL canonicalization algorithm, and the others beside it.

A `URL` is a frozen value, a `Rule` a small named function on it, a `Policy` an ordered tuple of rules. `canonicalize`
runs the policy `ADCP`, which signing and verifying stand on; `explain` runs any policy and says which rule changed
what; `compare` says how far two identifiers have to be normalized before they are equal.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL
from undersigned.url.canonical import CanonicalURL, canonicalize, canonicalize_authority, same_url
from undersigned.url.policy import ADCP, ADCP_RECEIVED, Policy
from undersigned.url.rule import Entry, Family, Meaning, Rule
from undersigned.url.value import URL

if TYPE_CHECKING:
    from undersigned.url.catalogue import CATALOGUE
    from undersigned.url.comparison import (
        IRI_LADDER,
        RFC3986_LADDER,
        Difference,
        Equivalence,
        Ladder,
        Purpose,
        Rung,
        compare,
    )
    from undersigned.url.dust import LearnedRule, learn_rules
    from undersigned.url.explanation import Change, Explanation, explain
    from undersigned.url.identifiers import Identifier, IdentifierSet, MalformedIdentifier
    from undersigned.url.policies import ATOM, IRI, IRI_SYNTAX, POLICIES, POWDER, RFC3986_SCHEME, RFC3986_SYNTAX

__all__ = [
    "ADCP",
    "ADCP_RECEIVED",
    "ATOM",
    "CATALOGUE",
    "IRI",
    "IRI_LADDER",
    "IRI_SYNTAX",
    "POLICIES",
    "POWDER",
    "RFC3986_LADDER",
    "RFC3986_SCHEME",
    "RFC3986_SYNTAX",
    "URL",
    "CanonicalURL",
    "Change",
    "Difference",
    "Entry",
    "Equivalence",
    "Explanation",
    "Family",
    "Identifier",
    "IdentifierSet",
    "Ladder",
    "LearnedRule",
    "MalformedIdentifier",
    "MalformedURL",
    "Meaning",
    "Policy",
    "Purpose",
    "Rule",
    "Rung",
    "canonicalize",
    "canonicalize_authority",
    "compare",
    "explain",
    "learn_rules",
    "same_url",
]

# What signing does not need is imported when it is first asked for.
_HOMES = {
    "catalogue": ("CATALOGUE",),
    "comparison": (
        "IRI_LADDER",
        "RFC3986_LADDER",
        "Difference",
        "Equivalence",
        "Ladder",
        "Purpose",
        "Rung",
        "compare",
    ),
    "dust": ("LearnedRule", "learn_rules"),
    "explanation": ("Change", "Explanation", "explain"),
    "identifiers": ("Identifier", "IdentifierSet", "MalformedIdentifier"),
    "policies": ("ATOM", "IRI", "IRI_SYNTAX", "POLICIES", "POWDER", "RFC3986_SCHEME", "RFC3986_SYNTAX"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
