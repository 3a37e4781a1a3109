"""Other ways to normalize and compare URLs: RFC 3986, IRIs, POWDER, Atom, and guesses of crawlers.

Signatures use `undersigned.url` only and never import this package.
"""

from undersigned.normalization.comparison import (
    IRI_LADDER,
    RFC3986_LADDER,
    Difference,
    Equivalence,
    Ladder,
    Purpose,
    Rung,
    compare,
)
from undersigned.normalization.rule_sets import ATOM, CATALOGUE, IRI, IRI_SYNTAX, POWDER, RFC3986_SCHEME, RFC3986_SYNTAX

__all__ = [
    "ATOM",
    "CATALOGUE",
    "IRI",
    "IRI_LADDER",
    "IRI_SYNTAX",
    "POWDER",
    "RFC3986_LADDER",
    "RFC3986_SCHEME",
    "RFC3986_SYNTAX",
    "Difference",
    "Equivalence",
    "Ladder",
    "Purpose",
    "Rung",
    "compare",
]
