from __future__ import annotations

import pytest

from undersigned.normalization.schemes import (
    default_authority,
    empty_port,
    host_dots,
    idn,
    mailto_domain,
    urn_namespace,
)
from undersigned.url import URL


def after(rule, text):
    url = rule.apply(URL.parse(text))
    # The result of a rule parses to the same parts.
    assert URL.parse(str(url)) == url
    return str(url)


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (empty_port, "http://a:/", "http://a/"),
        (empty_port, "x://a:?b", "x://a?b"),
        (empty_port, "x://[::1]:", "x://[::1]"),
        (idn, "http://r\u00e9sum\u00e9.example.org/", "http://xn--rsum-bpad.example.org/"),
        (idn, "http://r%C3%A9sum%C3%A9.example.org/", "http://xn--rsum-bpad.example.org/"),
        (idn, "wss://M\u00dcNCHEN\u3002test", "wss://xn--mnchen-3ya.test"),
        (default_authority, "file://localhost/a", "file:///a"),
        (default_authority, "file:/a", "file:///a"),
        (default_authority, "file:/.//a", "file:////a"),
        (mailto_domain, "mailto:Joe@Example.COM", "mailto:Joe@example.com"),
        (mailto_domain, "mailto:Joe@A.B,Ann@C?to=D@E", "mailto:Joe@a.b,Ann@c?to=D@E"),
        (urn_namespace, "urn:Example:Foo", "urn:example:Foo"),
        (urn_namespace, "urn:Example", "urn:example"),
    ],
)
def test_rule_changes_the_spelling_as_the_scheme_defines(rule, text, expected):
    assert after(rule, text) == expected
    assert after(rule, expected) == expected


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (empty_port, "http://a:80/"),
        (empty_port, "x://a:b:/"),
        (idn, "http://a.test/"),
        (idn, "http://a%2Fb/"),
        (idn, "x://m\u00fcnchen/"),
        (idn, "file:///m\u00fcnchen"),
        (idn, "http://\u2615\u00ad-.xn--a/"),
        (default_authority, "file://host/a"),
        (default_authority, "file://ann@localhost/a"),
        (default_authority, "file://localhost:1/a"),
        (default_authority, "file:a"),
        (default_authority, "http://localhost/a"),
        (mailto_domain, "mailto:Joe"),
        (mailto_domain, "MAILTO:a@B"),
        (mailto_domain, "tag:Joe@B,2004:a"),
        (urn_namespace, "tag:Example:a"),
        (urn_namespace, "urn:example:A"),
    ],
)
def test_rule_returns_the_same_object_when_the_scheme_does_not_apply(rule, text):
    url = URL.parse(text)
    assert rule.apply(url) is url


@pytest.mark.parametrize(("host", "left"), [("a..", "a"), ("a.", "a"), ("192.0.2.7.", "192.0.2.7"), ("...", "")])
def test_all_trailing_dots_are_removed(host, left):
    assert host_dots.apply(URL("https", None, host, None, "/", None, None)).host == left
