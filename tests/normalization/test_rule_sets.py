"""Properties of the rule sets, and relations between them and the rule set of signatures."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.url.spellings import identifiers, outcome, respellings

from undersigned.normalization import (
    ATOM,
    CATALOGUE,
    IRI,
    IRI_LADDER,
    IRI_SYNTAX,
    POWDER,
    RFC3986_SCHEME,
    RFC3986_SYNTAX,
)
from undersigned.url import ADCP, ADCP_RECEIVED, URL, MalformedURL, explain

FIXED = (ADCP, ADCP_RECEIVED, RFC3986_SYNTAX, RFC3986_SCHEME, IRI, ATOM)
RULE_SETS = (*FIXED, POWDER)


def form(text, rules):
    return explain(text, rules).result


def test_catalogue_has_each_rule_once_with_a_summary():
    rule_sets = (*RULE_SETS, *(rung.rules for rung in IRI_LADDER))
    assert {rule.name for rules in rule_sets for rule in rules} <= {entry.name for entry in CATALOGUE}
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)
    assert all(entry.summary.endswith(".") for entry in CATALOGUE)


@given(identifiers)
def test_any_text_has_a_form_or_a_printable_error(text):
    for rules in RULE_SETS:
        explanation = explain(text, rules)
        if explanation.result is None:
            message = str(explanation.error)
            assert message.isascii()
            assert message.isprintable()


@given(identifiers)
@example("0://::")
@example("http://a:b:80/")
def test_form_is_a_fixed_point_of_its_rule_set(text):
    for rules in FIXED:
        if (once := form(text, rules)) is not None:
            assert form(once, rules) == once


@given(identifiers)
@example("0://::")
@example("http://a:b:80/")
def test_result_of_a_rule_parses_to_the_same_parts(text):
    for rules in RULE_SETS:
        url = URL.parse(text)
        for rule in rules:
            after = outcome(lambda rule=rule, url=url: rule.apply(url))
            if isinstance(after, MalformedURL):
                break
            assert (rule.name, URL.parse(str(after))) == (rule.name, after)
            url = after


@pytest.mark.parametrize(
    "text",
    [
        "http://a/" + "e%CC%81%CC%96" * 5000,
        "http://a/#" + "%#" * 10_000,
        "x:/./" + "/..//" * 10_000,
        "x://" + ":" * 20_000,
    ],
    ids=["marks", "hashes", "dots", "colons"],
)
def test_giant_text_has_a_form_by_every_general_rule_set(text):
    for rules in (RFC3986_SCHEME, IRI, POWDER, ATOM):
        assert form(text, rules) is not None


def test_powder_applied_twice_decodes_twice():
    once = form("http://a/%2541", POWDER)
    assert (once, form(once, POWDER)) == ("http://a/%41", "http://a/A")


@pytest.mark.parametrize("rules", [RFC3986_SYNTAX, RFC3986_SCHEME, IRI], ids=["syntax", "scheme", "iri"])
@pytest.mark.parametrize("text", ["/a", "//a/b", "a", "?b", "", "1:b"])
def test_relative_reference_is_rejected_by_rfc_3986_and_iri(rules, text):
    error = explain(text, rules).error
    assert error is not None
    assert error.rule == "absolute"


@pytest.mark.parametrize(
    ("text", "syntax", "scheme"),
    [
        ("MAILTO:Joe@Example.COM?Subject=%41", "mailto:Joe@Example.COM?Subject=A", "mailto:Joe@example.com?Subject=A"),
        ("TAG:Ann@Example.Com,2004:%41", "tag:Ann@Example.Com,2004:A", "tag:Ann@Example.Com,2004:A"),
        ("URN:Example:A%2fb", "urn:Example:A%2Fb", "urn:example:A%2Fb"),
        ("urn:a/../b", "urn:a/../b", "urn:a/../b"),
        ("FILE://LocalHost/a/./b", "file://localhost/a/b", "file:///a/b"),
        ("file:/a//../b", "file:/a/b", "file:///a/b"),
        ("Example://A.B:/", "example://a.b:/", "example://a.b/"),
        ("example://a", "example://a", "example://a/"),
        ("ws://a:80", "ws://a:80", "ws://a/"),
        ("http://a/b/%2e%2E/c", "http://a/c", "http://a/c"),
        ("http://%41%C3%a9.test/", "http://a%C3%A9.test/", "http://a%C3%A9.test/"),
        ("http://a/?%7e%2f#%7e", "http://a/?~%2F#~", "http://a/?~%2F#~"),
        ("http://\u00c9A/\u00e9", "http://\u00c9a/\u00e9", "http://\u00c9a/\u00e9"),
    ],
)
def test_rfc_3986_is_for_any_scheme(text, syntax, scheme):
    assert (form(text, RFC3986_SYNTAX), form(text, RFC3986_SCHEME)) == (syntax, scheme)


@given(identifiers)
def test_iri_rules_equal_rfc_3986_rules_for_an_ascii_uri(text):
    if text.isascii():
        assert form(text, IRI_SYNTAX) == form(text, RFC3986_SYNTAX)
        found = form(text, IRI)
        assert found == form(text, RFC3986_SCHEME) or "xn--" in found


_ACCEPTED = st.one_of(respellings().map(lambda pair: pair[1]), identifiers)


@given(_ACCEPTED)
def test_adcp_keeps_rfc_3986_differences_except_user_info_and_fragment(text):
    url, canonical = URL.parse(text), form(text, ADCP)
    if canonical is None or not text.isascii() or "xn--" in canonical:
        return
    # AdCP also removes zeros in front of a port and the root dot. It rejects an encoded dot segment, or keeps it until
    # the segment after it removes it.
    if (url.port or "").startswith("0") or url.host[-1] == "." or "%2e" in text.lower():
        return
    kept = str(url._replace(userinfo=None, fragment=None))
    assert form(kept, RFC3986_SCHEME) == form(canonical, RFC3986_SCHEME)


@given(_ACCEPTED)
def test_urls_equal_by_rfc_3986_are_equal_by_adcp_except_in_the_query(text):
    canonical = form(text, ADCP)
    if canonical is None or not text.isascii() or "%2e" in text.lower() or "%" in (URL.parse(text).query or ""):
        return
    assert form(form(text, RFC3986_SCHEME), ADCP) == canonical


def test_encoded_dot_segment_is_rejected_by_adcp_only():
    assert form("https://a/b/%2e%2e/../c", RFC3986_SCHEME) == "https://a/c"
    assert form("https://a/b/%2e%2e/../c", ADCP) == "https://a/b/c"
    assert form("https://a/b/%2e%2e/c", ADCP) is None


def test_query_is_changed_by_rfc_3986_and_not_by_adcp():
    a, b = "https://a/?%7e", "https://a/?~"
    assert form(a, RFC3986_SCHEME) == form(b, RFC3986_SCHEME)
    assert form(a, ADCP) != form(b, ADCP)
