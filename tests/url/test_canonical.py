from __future__ import annotations

import copy
import pickle

import pytest

from undersigned.url import CanonicalURL, MalformedURL, canonicalize, canonicalize_authority, same_url


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://ads.pub.test/a/b?c=d", ("https", "ads.pub.test", None, "/a/b", "c=d")),
        ("http://ads.pub.test:8443", ("http", "ads.pub.test", 8443, "/", None)),
        ("https://[2001:DB8::1]/?", ("https", "[2001:db8::1]", None, "/", "")),
        ("https://[::1]:0?a?b", ("https", "[::1]", 0, "/", "a?b")),
    ],
)
def test_properties_return_the_parts_of_the_canonical_form(url, parts):
    canonical = canonicalize(url)
    assert (canonical.scheme, canonical.host, canonical.port, canonical.path, canonical.query) == parts


def test_canonical_url_is_a_frozen_value():
    canonical = canonicalize("https://ads.pub.test/p")
    assert canonical == CanonicalURL("https://ads.pub.test/p", "ads.pub.test")
    assert hash(canonical) == hash(copy.copy(canonical))
    assert pickle.loads(pickle.dumps(canonical)) == canonical  # noqa: S301 - our own bytes
    assert not hasattr(canonical, "__dict__")
    with pytest.raises(AttributeError):
        canonical.target_uri = "https://evil.test/"


def test_str_of_a_canonical_url_is_its_target_uri():
    assert str(canonicalize("HTTPS://ads.pub.test")) == "https://ads.pub.test/"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://ads.pub.test", "HTTPS://ads.pub.test:443/."),
        ("https://münchen.test/", "https://xn--mnchen-3ya.test./#x"),
        ("https://a/%7Eb", "https://a/~b"),
    ],
)
def test_urls_are_the_same_when_they_have_one_canonical_form(a, b):
    assert same_url(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://a/", "http://a/"),
        ("https://a/p", "https://a/p?"),
        ("https://a/p", "https://a/p/"),
        ("https://a/?x=1&y=2", "https://a/?y=2&x=1"),
        ("https://a/?%7e", "https://a/?~"),
        ("https://a/b//c", "https://a/b/c"),
        ("https://a/b%2Fc", "https://a/b/c"),
        ("https://[::1]/", "https://[0:0:0:0:0:0:0:1]/"),
        ("https://a/P", "https://a/p"),
    ],
)
def test_urls_are_not_the_same_when_their_canonical_forms_differ(a, b):
    assert not same_url(a, b)


@pytest.mark.parametrize(("a", "b"), [("https://a/", "a"), ("a", "https://a/"), ("a", "a")])
def test_same_url_raises_when_a_url_is_malformed(a, b):
    with pytest.raises(MalformedURL):
        same_url(a, b)


@pytest.mark.parametrize(
    ("authority", "scheme", "expected"),
    [
        ("ads.pub.test", "https", "ads.pub.test"),
        ("ads.pub.test:8443", "https", "ads.pub.test:8443"),
        ("Ads.Pub.Test.:443", "https", "ads.pub.test"),
        ("ads.pub.test:443", "http", "ads.pub.test:443"),
        ("ads.pub.test:80", "HTTP", "ads.pub.test"),
        ("ads.pub.test:", "https", "ads.pub.test"),
        ("[2001:DB8::1]:443", "https", "[2001:db8::1]"),
        ("192.0.2.7:80", "http", "192.0.2.7"),
        ("münchen.test", "https", "xn--mnchen-3ya.test"),
    ],
)
def test_authority_has_the_same_form_alone_and_in_a_url(authority, scheme, expected):
    assert canonicalize_authority(authority, scheme) == expected
    assert canonicalize(f"{scheme}://{authority}/p").authority == expected


@pytest.mark.parametrize(
    "authority",
    [
        *("", ":443", "a/", "a/b", "a?", "a#", "ann@a", "@a", "a\\b", "a b", "a,b", "a\n", " a", "a ", "//a"),
        *("https://a", "a:x", "a:65536", "::1", "[::1", "[::1]x", "a..", "a%41", "\x00", "a:80:80", "/", "?", "#"),
    ],
)
def test_authority_is_malformed_when_it_is_more_than_host_and_port(authority):
    for scheme in ("https", "http"):
        with pytest.raises(MalformedURL):
            canonicalize_authority(authority, scheme)


def test_received_authority_is_malformed_when_it_contains_non_ascii():
    with pytest.raises(MalformedURL) as caught:
        canonicalize_authority("münchen.test", "https", received=True)
    assert caught.value.rule == "as-received"


@pytest.mark.parametrize("scheme", ["", "ftp", "https:", "https://a", "https://ads.pub.test/", "ht tp", "\x00"])
def test_authority_is_malformed_when_the_scheme_is_not_http_or_https(scheme):
    with pytest.raises(MalformedURL):
        canonicalize_authority("ads.pub.test", scheme)


@pytest.mark.parametrize("value", [None, b"https://ads.pub.test/", 1, ["https://ads.pub.test/"]])
def test_value_raises_a_type_error_when_it_is_not_text(value):
    with pytest.raises(TypeError):
        canonicalize(value)
    with pytest.raises(TypeError):
        same_url("https://ads.pub.test/", value)
    with pytest.raises(TypeError):
        canonicalize_authority(value, "https")
