"""The rule sets for other purposes than signatures, and the catalogue of every rule."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from undersigned.normalization.encoding import (
    decode_all,
    escape,
    hex_case_elsewhere,
    hex_case_userinfo,
    host_case,
    iri_to_uri,
    nfc,
    plus_as_space,
    unreserved,
    unreserved_elsewhere,
    unreserved_userinfo,
)
from undersigned.normalization.heuristics import (
    DIRECTORY_INDEXES,
    address_to_name,
    default_parameters,
    directory_index,
    empty_query,
    http_only,
    https_only,
    name_to_address,
    no_www,
    single_slashes,
    sorted_query,
    trailing_slash,
    unused_parameters,
    www,
)
from undersigned.normalization.reference import absolute, default_scheme, dot_segments, resolved_against
from undersigned.normalization.schemes import (
    default_authority,
    default_port,
    empty_port,
    host_dots,
    idn,
    mailto_domain,
    urn_namespace,
)
from undersigned.url.path import empty_path, hex_case
from undersigned.url.rule_set import ADCP, ADCP_RECEIVED, RuleSet
from undersigned.url.scheme_and_port import scheme_case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.url.rule import Rule

_SYNTAX: Final[RuleSet] = (
    scheme_case,
    hex_case,
    hex_case_elsewhere,
    hex_case_userinfo,
    unreserved,  # before the rules for case and dots, which process the decoded characters
    unreserved_elsewhere,
    unreserved_userinfo,
    host_case,
    dot_segments,
)
_SCHEME: Final[RuleSet] = (empty_port, default_port, empty_path, default_authority, mailto_domain, urn_namespace)

RFC3986_SYNTAX: Final[RuleSet] = (absolute, *_SYNTAX)
"""Syntax-based normalization (RFC 3986 section 6.2.2), for any scheme."""

RFC3986_SCHEME: Final[RuleSet] = (*RFC3986_SYNTAX, *_SCHEME)
"""Scheme-based normalization: `RFC3986_SYNTAX` and the rules of the schemes (RFC 3986 section 6.2.3)."""

IRI_SYNTAX: Final[RuleSet] = (absolute, iri_to_uri, *_SYNTAX)
"""Syntax-based normalization of IRIs (IRI draft section 4.2): converts them to URIs, without normalizing characters."""

IRI: Final[RuleSet] = (*IRI_SYNTAX, idn, *_SCHEME)
"""Scheme-based normalization of IRIs (IRI draft section 4.3): the highest rung whose rules always preserve meaning."""

POWDER: Final[RuleSet] = (
    decode_all,  # first, and on the whole text: delimiters may be encoded too
    plus_as_space,
    default_scheme,
    scheme_case,
    host_case,
    host_dots,
    empty_path,
)
"""URI canonicalization before POWDER matching (mail to public-powderwg, 3 May 2007). Use the result for matching only.
Applying the rules twice decodes twice, so the result is not a fixed point."""

ATOM: Final[RuleSet] = (
    escape,  # first, because the other rules expect a URI
    scheme_case,
    hex_case,
    hex_case_elsewhere,
    unreserved,
    unreserved_elsewhere,
    nfc,  # after decoding, because a mark composes with the letter before it
    host_case,
    dot_segments,
    empty_port,
    default_port,
    empty_path,
    default_authority,
)
"""Normalization of Atom identifiers (Atom post; draft-ietf-atompub-format-02 section 3.5)."""

RULE_SETS: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        "adcp": ADCP,
        "adcp-received": ADCP_RECEIVED,
        "rfc3986-syntax": RFC3986_SYNTAX,
        "rfc3986-scheme": RFC3986_SCHEME,
        "iri": IRI,
        "powder": POWDER,
        "atom": ATOM,
    }
)
"""The rule sets by the names that the command line takes."""

_ALL: Final[tuple[Rule, ...]] = (
    *(*ADCP_RECEIVED, *IRI, *POWDER, *ATOM),
    *(trailing_slash, directory_index(DIRECTORY_INDEXES), single_slashes, no_www, www, http_only, https_only),
    *(address_to_name, name_to_address),
    *(sorted_query, unused_parameters(()), default_parameters({}), empty_query),
    resolved_against("http://host/"),
)

CATALOGUE: Final[tuple[Rule, ...]] = tuple({rule.name: rule for rule in _ALL}.values())
"""All rules, each once: first the rules of the rule sets in their order, then all other rules. Rules that take a value,
such as a list of file names, have an example of it here."""
