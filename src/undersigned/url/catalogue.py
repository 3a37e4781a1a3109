"""The catalogue: every rule there is, whichever policy it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.url.crawling import (
    address_to_name,
    directory_index,
    http_only,
    https_only,
    name_to_address,
    no_www,
    single_slashes,
    trailing_slash,
    www,
)
from undersigned.url.policies import ATOM, IRI, POWDER
from undersigned.url.policy import ADCP_RECEIVED
from undersigned.url.query import default_parameters, empty_query, sorted_query, unused_parameters
from undersigned.url.reference import resolved_against

if TYPE_CHECKING:
    from undersigned.url.rule import Entry

_ENTRIES: Final[tuple[Entry, ...]] = (
    *(*ADCP_RECEIVED, *IRI, *POWDER, *ATOM),
    *(trailing_slash, directory_index, single_slashes, no_www, www, http_only, https_only),
    *(address_to_name, name_to_address),
    *(sorted_query, unused_parameters, default_parameters, empty_query),
    resolved_against,
)

CATALOGUE: Final[tuple[Entry, ...]] = tuple({entry.name: entry for entry in _ENTRIES}.values())
"""The rules and families of rules, by name without repetition: those of the policies first, in their order."""
