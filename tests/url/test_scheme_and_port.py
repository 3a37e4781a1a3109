from __future__ import annotations

import pytest
from tests.url.spellings import RULES

from undersigned.url import URL, MalformedURL

characters = RULES["characters"]
fragment = RULES["fragment"]
scheme_case = RULES["scheme-case"]
web_scheme = RULES["web-scheme"]


@pytest.mark.parametrize(
    ("text", "part", "code"),
    [
        ("ht\ttps://a/", "scheme", "U+0009"),
        ("https://\x7f@a/", "userinfo", "U+007F"),
        ("https://a:8\u0660/", "port", "U+0660"),
        ("https://a/\\", "path", "U+005C"),
        ("https://a/?\U0001f600", "query", "U+1F600"),
        ("https://a/# ", "fragment", "U+0020"),
    ],
)
def test_message_names_the_part_and_the_character(text, part, code):
    with pytest.raises(MalformedURL, match=rf"^the {part} contains {code.replace('+', '[+]')},"):
        characters.apply(URL.parse(text))


def test_host_is_left_to_its_own_rules():
    url = URL.parse("https://mün chen\\/")
    assert characters.apply(url) is url


def test_scheme_becomes_lower_case_and_none_stays_none():
    assert scheme_case.apply(URL.parse("MailTo:Ann")) == URL.parse("mailto:Ann")
    assert scheme_case.apply(URL.parse("//A")) == URL.parse("//A")


def test_message_says_whether_the_scheme_is_missing_or_wrong():
    with pytest.raises(MalformedURL, match="missing"):
        web_scheme.apply(URL.parse("a/b"))
    with pytest.raises(MalformedURL, match="'gopher' is neither http nor https"):
        web_scheme.apply(URL.parse("gopher://a/"))


def test_fragment_is_removed_and_none_stays_none():
    assert fragment.apply(URL.parse("a:b#")) == URL.parse("a:b")
    assert fragment.apply(URL.parse("a:b")) == URL.parse("a:b")
