from __future__ import annotations

import pytest

from undersigned.normalization.heuristics import (
    DIRECTORY_INDEXES,
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
from undersigned.url import URL, MalformedURL

INDEX = directory_index(DIRECTORY_INDEXES)


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (trailing_slash, "http://a/b", "http://a/b/"),
        (trailing_slash, "https://a/b?c", "https://a/b/?c"),
        (INDEX, "http://a/b/index.html?c", "http://a/b/?c"),
        (INDEX, "http://a/default.asp", "http://a/"),
        (single_slashes, "http://a//b///c", "http://a/b/c"),
        (no_www, "http://WWW.a.test/", "http://a.test/"),
        (www, "http://a.test/", "http://www.a.test/"),
        (http_only, "https://a/", "http://a/"),
        (https_only, "http://a/", "https://a/"),
    ],
)
def test_rule_gives_the_expected_url(rule, text, expected):
    assert str(rule.apply(URL.parse(text))) == expected
    assert rule.apply(URL.parse(expected)) == URL.parse(expected)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (trailing_slash, "http://a"),
        (trailing_slash, "http://a/b/"),
        (trailing_slash, "file:///a"),
        (INDEX, "http://a/INDEX.HTML"),
        (INDEX, "http://a/index.html/"),
        (INDEX, "urn:index.html"),
        (single_slashes, "http://a/b?c//d"),
        (no_www, "http://www.test/"),
        (no_www, "http://www/"),
        (no_www, "urn:www.a.test"),
        (www, "http://localhost/"),
        (www, "http://192.0.2.7/"),
        (www, "http://[::ffff:192.0.2.7]/"),
        (www, "http://Www.a.test/"),
        (www, "urn:a.test"),
        (http_only, "wss://a/"),
        (https_only, "ws://a/"),
        (address_to_name, "http://a.test/"),
        (address_to_name, "urn:192.0.2.7"),
        (name_to_address, "http://192.0.2.7/"),
        (name_to_address, "http://[::1]/"),
        (name_to_address, "urn:a"),
    ],
)
def test_rule_returns_the_same_object_when_it_does_not_apply(rule, text):
    url = URL.parse(text)
    assert rule.apply(url) is url


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (address_to_name, "http://208.77.188.166/"),
        (address_to_name, "http://[::1]/"),
        (name_to_address, "http://a.test/"),
    ],
)
def test_rule_rejects_when_it_would_need_a_lookup(rule, text):
    with pytest.raises(MalformedURL, match="no DNS lookup") as caught:
        rule.apply(URL.parse(text))
    assert caught.value.rule == rule.name
