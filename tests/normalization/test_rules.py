"""Rules of schemes and heuristics: what each changes, and what it leaves."""

from __future__ import annotations

import pytest

from undersigned.normalization import heuristics as h
from undersigned.normalization import schemes as s
from undersigned.url import URL, MalformedURL

INDEX = h.directory_index(h.DIRECTORY_INDEXES)
EXPECTED = h.unused_parameters({"id", ""})
DEFAULTS = h.default_parameters({"id": "", "sort": "ascending"})

CHANGED = (
    (s.empty_port, "http://a:/ http://a/", "x://a:?b x://a?b", "x://[::1]: x://[::1]"),
    (s.idn, "http://r\u00e9sum\u00e9.example.org/ http://xn--rsum-bpad.example.org/"),
    (s.idn, "http://r%C3%A9sum%C3%A9.example.org/ http://xn--rsum-bpad.example.org/"),
    (s.idn, "wss://M\u00dcNCHEN\u3002test wss://xn--mnchen-3ya.test"),
    (s.default_authority, "file://localhost/a file:///a", "file:/a file:///a", "file:/.//a file:////a"),
    (s.mailto_domain, "mailto:Joe@Example.COM mailto:Joe@example.com"),
    (s.mailto_domain, "mailto:Joe@A.B,Ann@C?to=D@E mailto:Joe@a.b,Ann@c?to=D@E"),
    (s.urn_namespace, "urn:Example:Foo urn:example:Foo", "urn:Example urn:example"),
    (s.host_dots, "https://a../ https://a/", "https://192.0.2.7./ https://192.0.2.7/", "https://.../ https:///"),
    (h.trailing_slash, "http://a/b http://a/b/", "https://a/b?c https://a/b/?c"),
    (INDEX, "http://a/b/index.html?c http://a/b/?c", "http://a/default.asp http://a/"),
    (h.single_slashes, "http://a//b///c http://a/b/c"),
    (h.no_www, "http://WWW.a.test/ http://a.test/"),
    (h.www, "http://a.test/ http://www.a.test/"),
    (h.http_only, "https://a/ http://a/"),
    (h.https_only, "http://a/ https://a/"),
    (h.sorted_query, "http://a/p?b=2&a=1#f http://a/p?a=1&b=2#f", "a?b&a-b=1&a=2&a=1 a?a=2&a=1&a-b=1&b"),
    (EXPECTED, "http://a/p?id=1&x=2&ID=3&id=4#f http://a/p?id=1&id=4#f", "http://a/p?x=2#f http://a/p#f"),
    (DEFAULTS, "a?id=&sort=ascending#f a#f", "a?id=1&sort=ascending&id#f a?id=1&id#f"),
    (h.empty_query, "http://a/p?#f http://a/p#f"),
)
"""Rules, with texts and what each becomes."""

SAME = (
    (s.empty_port, "http://a:80/", "x://a:b:/"),
    (s.idn, "http://a.test/", "http://a%2Fb/", "x://m\u00fcnchen/", "file:///m\u00fcnchen", "http://\u2615\u00ad-.xn--a/"),
    (s.default_authority, "file://host/a", "file://ann@localhost/a", "file://localhost:1/a", "file:a", "http://localhost/a"),
    (s.mailto_domain, "mailto:Joe", "MAILTO:a@B", "tag:Joe@B,2004:a"),
    (s.urn_namespace, "tag:Example:a", "urn:example:A"),
    (h.trailing_slash, "http://a", "http://a/b/", "file:///a"),
    (INDEX, "http://a/INDEX.HTML", "http://a/index.html/", "urn:index.html"),
    (h.single_slashes, "http://a/b?c//d"),
    (h.no_www, "http://www.test/", "http://www/", "urn:www.a.test"),
    (h.www, "http://localhost/", "http://192.0.2.7/", "http://[::ffff:192.0.2.7]/", "http://Www.a.test/", "urn:a.test"),
    (h.http_only, "wss://a/"),
    (h.https_only, "ws://a/"),
    (h.address_to_name, "http://a.test/", "urn:192.0.2.7"),
    (h.name_to_address, "http://192.0.2.7/", "http://[::1]/", "urn:a"),
    *((rule, "http://a/", "http://a/?id=1", "http://a/?id=1&id=0") for rule in (h.sorted_query, EXPECTED, DEFAULTS)),
    *((rule, "http://a/?") for rule in (h.sorted_query, EXPECTED, DEFAULTS)),
    (h.empty_query, "http://a/", "http://a/?id=1"),
)  # fmt: skip
"""Rules, with texts that they leave."""


@pytest.mark.parametrize(("rule", "texts"), [(rule, pair.split()) for rule, *pairs in CHANGED for pair in pairs])
def test_rule_changes_a_text_once(rule, texts):
    once = rule.apply(URL.parse(texts[0]))
    assert str(once) == texts[1]
    assert URL.parse(str(once)) == once
    assert rule.apply(once) == once


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, *texts in SAME for text in texts])
def test_rule_returns_the_same_object_when_it_does_not_apply(rule, text):
    url = URL.parse(text)
    assert rule.apply(url) is url


@pytest.mark.parametrize("text", ["http://208.77.188.166/", "http://[::1]/", "http://a.test/"])
def test_rule_rejects_when_it_would_need_a_lookup(text):
    rule = h.name_to_address if "test" in text else h.address_to_name
    with pytest.raises(MalformedURL, match="no DNS lookup") as caught:
        rule.apply(URL.parse(text))
    assert caught.value.rule == rule.name
