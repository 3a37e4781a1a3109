from __future__ import annotations

import pytest

from undersigned.url import ADCP_RECEIVED, URL, MalformedURL, Rule, canonicalize


def upper_path(url):
    """Put the path in upper case.

    More.
    """
    return url._replace(path=url.path.upper())


def test_summary_is_the_first_line_of_the_docstring():
    assert Rule("upper-path", "a test", "never", upper_path).summary == "Put the path in upper case."
    assert Rule("bare", "a test", "always", lambda url: url).summary == ""


@pytest.mark.parametrize("rule", ADCP_RECEIVED, ids=lambda rule: rule.name)
def test_each_rule_has_a_summary_a_source_and_a_class(rule):
    assert rule.summary.endswith(".")
    assert rule.source.startswith(("AdCP step", "RFC 3986"))
    assert rule.preserves in {"always", "usually", "never"}


@pytest.mark.parametrize("rule", ADCP_RECEIVED, ids=lambda rule: rule.name)
def test_each_rule_returns_the_same_object_when_nothing_changes(rule):
    for text in ("https://ads.pub.test:8443/a/b%2F?c", "http://[::1]/", "https://xn--mnchen-3ya.test/"):
        url = URL.parse(text)
        assert rule.apply(url) is url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", "'a b'"),
        ("a\x00\n\x1b\x7f", "'a\\x00\\n\\x1b\\x7f'"),
        ("\u2028\ud800", "'\\u2028\\ud800'"),
        ("a " * 20, "'" + "a " * 20 + "'"),
        ("a " * 21, "'" + "a " * 18 + "a...'"),
        ("\U0001f600" * 9, "'" + ("\\U0001f600" * 4)[:37] + "...'"),
    ],
)
def test_host_is_quoted_as_short_printable_ascii(text, expected):
    with pytest.raises(MalformedURL) as caught:
        canonicalize(f"https://{text}/", received=True)
    assert str(caught.value).startswith(f"the host {expected} ")
