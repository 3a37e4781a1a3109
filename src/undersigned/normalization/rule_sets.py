"""The rule sets for other purposes than signatures, and the catalogue of every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.normalization import encoding, heuristics, reference, schemes
from undersigned.url.path import empty_path, hex_case
from undersigned.url.rule_set import ADCP_RECEIVED, RuleSet
from undersigned.url.scheme_and_authority import scheme_case

if TYPE_CHECKING:
    from undersigned.url.rule import Rule

_SYNTAX: Final[RuleSet] = (
    scheme_case,
    hex_case,
    encoding.hex_case_elsewhere,
    encoding.hex_case_userinfo,
    encoding.unreserved,  # before the rules for case and dots, which process the decoded characters
    encoding.unreserved_elsewhere,
    encoding.unreserved_userinfo,
    encoding.host_case,
    reference.dot_segments,
)
_SCHEME: Final[RuleSet] = (
    schemes.empty_port,
    schemes.default_port,
    empty_path,
    schemes.default_authority,
    schemes.mailto_domain,
    schemes.urn_namespace,
)

RFC3986_SYNTAX: Final[RuleSet] = (reference.absolute, *_SYNTAX)
"""Syntax-based normalization (RFC 3986 section 6.2.2), for any scheme."""

RFC3986_SCHEME: Final[RuleSet] = (*RFC3986_SYNTAX, *_SCHEME)
"""Scheme-based normalization: `RFC3986_SYNTAX` and the rules of the schemes (RFC 3986 section 6.2.3)."""

IRI_SYNTAX: Final[RuleSet] = (reference.absolute, encoding.iri_to_uri, *_SYNTAX)
"""Syntax-based normalization of IRIs (IRI draft section 4.2): converts them to URIs, without normalizing characters."""

IRI: Final[RuleSet] = (*IRI_SYNTAX, schemes.idn, *_SCHEME)
"""Scheme-based normalization of IRIs (IRI draft section 4.3): the highest rung whose rules always preserve meaning."""

POWDER: Final[RuleSet] = (
    encoding.decode_all,  # first, and on the whole text: delimiters may be encoded too
    encoding.plus_as_space,
    reference.default_scheme,
    scheme_case,
    encoding.host_case,
    schemes.host_dots,
    empty_path,
)
"""URI canonicalization before POWDER matching (mail to public-powderwg, 3 May 2007). Use the result for matching only.
Applying the rules twice decodes twice, so the result is not a fixed point."""

ATOM: Final[RuleSet] = (
    encoding.escape,  # first, because the other rules expect a URI
    scheme_case,
    hex_case,
    encoding.hex_case_elsewhere,
    encoding.unreserved,
    encoding.unreserved_elsewhere,
    encoding.nfc,  # after decoding, because a mark composes with the letter before it
    encoding.host_case,
    reference.dot_segments,
    schemes.empty_port,
    schemes.default_port,
    empty_path,
    schemes.default_authority,
)
"""Normalization of Atom identifiers (Atom post; draft-ietf-atompub-format-02 section 3.5)."""

_ALL: Final[tuple[Rule, ...]] = (
    *(*ADCP_RECEIVED, *IRI, *POWDER, *ATOM),
    heuristics.trailing_slash,
    heuristics.directory_index(heuristics.DIRECTORY_INDEXES),
    heuristics.single_slashes,
    heuristics.no_www,
    heuristics.www,
    heuristics.http_only,
    heuristics.https_only,
    heuristics.address_to_name,
    heuristics.name_to_address,
    heuristics.sorted_query,
    heuristics.unused_parameters(()),
    heuristics.default_parameters({}),
    heuristics.empty_query,
    reference.resolved_against("http://host/"),
)

CATALOGUE: Final[tuple[Rule, ...]] = tuple({rule.name: rule for rule in _ALL}.values())
"""All rules, each once: first the rules of the rule sets in their order, then all other rules. Rules that take a value,
such as a list of file names, have an example of it here."""
