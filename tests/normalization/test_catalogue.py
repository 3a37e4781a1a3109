from __future__ import annotations

from undersigned.normalization import CATALOGUE, IRI_LADDER, RULE_SETS
from undersigned.url import Rule


def test_every_name_is_listed_once():
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)


def test_every_rule_of_a_rule_set_or_a_ladder_is_in_the_catalogue():
    rule_sets = [*RULE_SETS.values(), *(rung.rules for rung in IRI_LADDER)]
    assert {rule.name for rules in rule_sets for rule in rules} <= {rule.name for rule in CATALOGUE}


def test_entry_has_a_summary_a_source_and_a_class():
    sources = ("AdCP step", "RFC 3986", "RFC 8141", "IRI draft", "POWDER mail", "Atom post", "Wikipedia", "Grokipedia")
    for entry in CATALOGUE:
        assert isinstance(entry, Rule)
        assert entry.summary.endswith(".")
        assert entry.preserves in {"always", "usually", "never"}
        assert entry.source.startswith(sources)
        assert entry.name == entry.name.lower()


def test_catalogue_has_the_rules_that_the_documents_name():
    assert {
        "scheme-case", "host-case", "hex-case", "unreserved", "dot-segments", "empty-path", "default-port",
        "trailing-slash", "directory-index", "fragment", "http-only", "single-slashes", "no-www", "www",
        "sorted-query", "unused-parameters", "default-parameters", "empty-query", "name-to-address", "decode-all",
        "plus-as-space", "default-scheme", "host-dots", "escape", "nfc", "iri-to-uri", "idn", "resolved",
    } <= {entry.name for entry in CATALOGUE}  # fmt: skip
