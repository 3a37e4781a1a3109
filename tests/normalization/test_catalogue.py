from __future__ import annotations

import pytest

from undersigned.normalization import CATALOGUE, IRI_LADDER, RULE_SETS
from undersigned.url import Family, Rule


def test_every_name_stands_once():
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)


def test_every_rule_of_a_policy_or_a_ladder_is_in_the_catalogue():
    policies = [*RULE_SETS.values(), *(rung.policy for rung in IRI_LADDER)]
    assert {rule for policy in policies for rule in policy} <= set(CATALOGUE)


def test_entry_says_what_it_does_whence_it_comes_and_what_it_preserves():
    sources = ("AdCP step", "RFC 3986", "RFC 8141", "IRI draft", "POWDER mail", "Atom post", "Wikipedia", "Grokipedia")
    for entry in CATALOGUE:
        assert isinstance(entry, (Rule, Family))
        assert entry.summary.endswith(".")
        assert entry.preserves in {"always", "usually", "never"}
        assert entry.source.startswith(sources)
        assert entry.name == entry.name.lower()


@pytest.mark.parametrize(
    "names",
    [
        {"scheme-case", "host-case", "hex-case", "unreserved", "dot-segments", "empty-path", "default-port"},
        {"trailing-slash", "directory-index", "fragment", "http-only", "single-slashes", "no-www", "www"},
        {"sorted-query", "unused-parameters", "default-parameters", "empty-query", "name-to-address"},
        {
            "decode-all",
            "plus-as-space",
            "default-scheme",
            "host-dots",
            "escape",
            "nfc",
            "iri-to-uri",
            "idn",
            "resolved",
        },
    ],
)
def test_catalogue_has_all_that_the_documents_name(names):
    assert names <= {entry.name for entry in CATALOGUE}
