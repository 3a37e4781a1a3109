"""What holds for the policies beside the signing one, and between them and it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.url.spellings import identifiers, outcome, respelled

from undersigned.normalization import ATOM, IRI, IRI_SYNTAX, POWDER, RFC3986_SCHEME, RFC3986_SYNTAX, RULE_SETS
from undersigned.url import ADCP, URL, MalformedURL, explain

FIXED = {name: policy for name, policy in RULE_SETS.items() if name != "powder"}


def form(text, policy):
    return explain(text, policy).result


def test_policies_are_named_as_the_command_line_names_them():
    assert list(RULE_SETS) == ["adcp", "adcp-received", "rfc3986-syntax", "rfc3986-scheme", "iri", "powder", "atom"]


@given(identifiers)
def test_any_text_has_a_form_or_is_malformed_and_says_so_in_printable_ascii(text):
    for policy in RULE_SETS.values():
        explanation = explain(text, policy)
        if explanation.result is None:
            message = str(explanation.error)
            assert message.isascii()
            assert message.isprintable()


@given(identifiers)
@example("0://::")
@example("http://a:b:80/")
def test_form_is_a_fixed_point_of_its_policy(text):
    for name, policy in FIXED.items():
        if (once := form(text, policy)) is not None:
            assert (name, form(once, policy)) == (name, once)


@given(identifiers)
@example("0://::")
@example("http://a:b:80/")
def test_rule_makes_what_reads_back_as_the_same_parts(text):
    for policy in RULE_SETS.values():
        url = URL.parse(text)
        for rule in policy:
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
def test_giant_text_has_a_form_by_every_policy_for_any_scheme(text):
    for name in ("rfc3986-scheme", "iri", "powder", "atom"):
        assert form(text, RULE_SETS[name]) is not None


def test_powder_decodes_once_so_that_twice_is_more():
    once = form("http://a/%2541", POWDER)
    assert (once, form(once, POWDER)) == ("http://a/%41", "http://a/A")


@pytest.mark.parametrize("policy", [RFC3986_SYNTAX, RFC3986_SCHEME, IRI], ids=["syntax", "scheme", "iri"])
@pytest.mark.parametrize("text", ["/a", "//a/b", "a", "?b", "", "1:b"])
def test_relative_reference_is_refused_where_what_it_identifies_counts(policy, text):
    refusal = explain(text, policy).error
    assert refusal is not None
    assert refusal.rule == "absolute"


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
def test_iri_policy_is_that_of_uris_where_nothing_is_internationalized(text):
    if text.isascii():
        assert form(text, IRI_SYNTAX) == form(text, RFC3986_SYNTAX)
        found = form(text, IRI)
        assert found == form(text, RFC3986_SCHEME) or "xn--" in found


_ACCEPTED = st.one_of(respelled().map(lambda pair: pair[1]), identifiers)


@given(_ACCEPTED)
def test_adcp_keeps_all_that_rfc_3986_tells_apart_but_user_info_and_fragment(text):
    url, canonical = URL.parse(text), form(text, ADCP)
    if canonical is None or not text.isascii() or "xn--" in canonical:
        return
    # Zeros in front of a port and the root dot are AdCP's own. An encoded dot segment it refuses, or leaves standing
    # until the segment behind it removes it.
    if (url.port or "").startswith("0") or url.host[-1] == "." or "%2e" in text.lower():
        return
    kept = str(url._replace(userinfo=None, fragment=None))
    assert form(kept, RFC3986_SCHEME) == form(canonical, RFC3986_SCHEME)


@given(_ACCEPTED)
def test_what_rfc_3986_makes_one_adcp_makes_one_but_for_the_query(text):
    canonical = form(text, ADCP)
    if canonical is None or not text.isascii() or "%2e" in text.lower() or "%" in (URL.parse(text).query or ""):
        return
    assert form(form(text, RFC3986_SCHEME), ADCP) == canonical


def test_encoded_dot_segment_is_where_the_two_part_on_purpose():
    assert form("https://a/b/%2e%2e/../c", RFC3986_SCHEME) == "https://a/c"
    assert form("https://a/b/%2e%2e/../c", ADCP) == "https://a/b/c"
    assert form("https://a/b/%2e%2e/c", ADCP) is None


def test_adcp_and_rfc_3986_part_over_the_query():
    a, b = "https://a/?%7e", "https://a/?~"
    assert form(a, RFC3986_SCHEME) == form(b, RFC3986_SCHEME)
    assert form(a, ADCP) != form(b, ADCP)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://Us%7eEr:P%c3W@EXAMPLE.com/", "http://Us%7eEr:P%c3W@example.com/"),
        ("http://@example.com/", "http://@example.com/"),
        ("file://localhost/", "file:///"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com./", "http://example.com./"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("mailto:User@EXAMPLE.COM", "mailto:User@EXAMPLE.COM"),
        ("http://example.com/?a+b", "http://example.com/?a+b"),
        ("/test", "/test"),
    ],
)
def test_atom_form(text, expected):
    assert form(text, ATOM) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//Www.Example.com..", "http://www.example.com/"),
        ("www.example.com:8080", "http://www.example.com:8080/"),
        ("http://www.example.com?a%2Bb", "http://www.example.com/?a b"),
        ("http://www.example.com/%23a", "http://www.example.com/#a"),
        ("mailto:Ann+x@A", "mailto:Ann x@A"),
    ],
)
def test_powder_form(text, expected):
    assert form(text, POWDER) == expected
