"""Canonicalizing has one shortcut: what it returns is what the rules return."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import canonical_parts, hostile, outcome, respellings

from undersigned.url import ADCP, ADCP_RECEIVED, URL, MalformedURL, canonicalize, explain

_TRICKY_CHARACTERS = "aA0.-_:@/?#%[]\\ ~2eEfF47ghxn\t\x7fé"


def assert_rules_decide(url):
    for received, rules in ((False, ADCP), (True, ADCP_RECEIVED)):
        explanation = explain(url, rules)
        found = outcome(lambda received=received: canonicalize(url, received=received))
        if isinstance(found, MalformedURL):
            assert explanation.error is not None
            assert (str(found), found.rule) == (str(explanation.error), explanation.error.rule)
        else:
            assert (found.target_uri, explanation.error) == (explanation.result, None)
            assert found.authority == URL.parse(found.target_uri).authority


@given(
    hostile
    | canonical_parts.map(lambda parts: parts.text)
    | respellings().map(lambda pair: pair[1])
    | st.text(st.sampled_from(_TRICKY_CHARACTERS), max_size=12).map("https://a".__add__)
)
def test_explanation_has_the_result_or_the_error_of_canonicalize(url):
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
