"""Canonicalizing has one shortcut: what it returns is what the rules return."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import canonical_parts, hostile, outcome, respellings

from undersigned.url import ADCP, ADCP_RECEIVED, URL, MalformedURL, canonicalize, canonicalize_authority

_TRICKY_CHARACTERS = "aA0.-_:@/?#%[]\\ ~2eEfF47ghxn\t\x7fé"


def by_rules(url, rules):
    value = URL.parse(url)
    for rule in rules:
        value = rule.apply(value)
    return str(value), value.authority


def assert_rules_decide(url):
    for received, rules in ((False, ADCP), (True, ADCP_RECEIVED)):
        expected = outcome(lambda rules=rules: by_rules(url, rules))
        found = outcome(lambda received=received: canonicalize(url, received=received))
        if isinstance(expected, MalformedURL):
            assert isinstance(found, MalformedURL)
            assert (str(found), found.rule) == (str(expected), expected.rule)
        else:
            assert (found.target_uri, found.authority) == expected


@given(
    hostile
    | canonical_parts.map(lambda parts: parts.text)
    | respellings().map(lambda pair: pair[1])
    | st.text(st.sampled_from(_TRICKY_CHARACTERS), max_size=12).map("https://a".__add__)
)
def test_canonical_form_is_what_the_rules_make(url):
    assert_rules_decide(url)


def test_canonical_form_is_what_the_rules_make_of_each_triplet_and_character():
    for code in range(256):
        byte, char = f"{code:02X}", chr(code)
        urls = [f"https://a/%{byte}", f"https://a/%{byte.lower()}", f"https://a/{char}", f"https://a/?{char}"]
        urls += [f"https://{char}/", f"https://{char}@a/", f"https://a/#{char}", f"https://a:{char}/"]
        for url in urls:
            assert_rules_decide(url)


@pytest.mark.parametrize("length", [252, 253, 254])
def test_longest_name_is_the_same_with_and_without_a_port(length):
    name = ("a" * 49 + ".") * 5 + "a" * (length - 250)
    for port in ("", ":8443"):
        assert_rules_decide(f"https://{name}{port}/")


def test_result_is_plain_text_when_the_url_is_a_str_subclass():
    class Text(str):
        __slots__ = ()

    found = canonicalize(Text("https://a/p"))
    assert {type(found.target_uri), type(found.authority)} == {str}


AUTHORITIES = st.one_of(
    respellings().map(lambda pair: URL.parse(pair[1]).authority or ""),
    hostile.map(lambda url: url.removeprefix("https://").partition("/")[0]),
    st.text(st.sampled_from(_TRICKY_CHARACTERS), max_size=12),
)


@given(AUTHORITIES.filter(lambda text: not set("/?#@") & set(text)), st.sampled_from(["https", "http"]))
def test_canonical_authority_is_what_the_rules_make(authority, scheme):
    for received, rules in ((False, ADCP), (True, ADCP_RECEIVED)):
        expected = outcome(lambda rules=rules: by_rules(f"{scheme}://{authority}/", rules)[1])
        found = outcome(lambda received=received: canonicalize_authority(authority, scheme, received=received))
        assert found == expected or type(found) is type(expected) is MalformedURL
