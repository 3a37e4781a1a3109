"""The fast paths return the result of the rules, or `None`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import canonical_parts, hostile, respellings

from undersigned.url import ADCP, ADCP_RECEIVED, explain, spelling
from undersigned.url.canonical import canonical_already
from undersigned.url.value import URL

_TRICKY_CHARACTERS = "aA0.-_:@/?#%[]\\ ~2eEfF47ghxn\t\x7fé"


def by_rules(url, rules=ADCP):
    value = URL.parse(url)
    for rule in rules:
        value = rule.apply(value)
    return str(value), value.authority


def already(url):
    known = canonical_already(url)
    return None if known is None else (known.target_uri, known.authority)


def usual(host, port):
    """Return whether `common` must recognise a URL with this host and port."""
    return host[0] != "[" and not port.startswith("0") and (not port or int(port) < 60000)


@given(hostile | st.text(st.sampled_from(_TRICKY_CHARACTERS), max_size=12).map("https://a".__add__))
def test_fast_path_returns_none_or_the_result_of_the_rules(url):
    if (known := already(url)) is not None:
        assert known == (url, by_rules(url)[1]) == by_rules(url)
    if (known := spelling.common(url)) is not None:
        assert known == by_rules(url)
    if (known := spelling.common(url, received=True)) is not None:
        assert known == by_rules(url, ADCP_RECEIVED)


@given(canonical_parts)
def test_canonical_url_with_a_plain_name_is_recognised(parts):
    if usual(parts.host, parts.port[1:]) and "xn--" not in parts.host:
        assert already(parts.text) == (parts.text, parts.host + parts.port)


@given(respellings())
def test_usual_spelling_is_recognised(pair):
    canonical, url = pair
    value = URL.parse(url)
    if usual(value.host, value.port or ""):
        known = (canonical, URL.parse(canonical).authority)
        assert spelling.common(url) == known
        assert spelling.common(url, received=True) == (known if value.host.isascii() else None)


@pytest.mark.parametrize(
    "url",
    [
        *("https://[::1]/", "https://[::1]:443/", "https://a:0/", "https://a:0443/", "https://a:65535/"),
        *("https://192.0.2.7./", "https://a/%2e", "https://" + "a." * 126 + "ab/", "https://./", "https://a../"),
        *("https://xn--a.test/", "https://\u2615.test/", "https://\u00ad/", "https://" + "a" * 64 + ".\u00fc/"),
    ],
)
def test_unusual_spelling_is_left_to_the_rules(url):
    assert already(url) is None
    assert spelling.common(url) is None


def test_longest_name_is_recognised_with_and_without_a_port():
    name = ".".join(["a" * 49] * 5) + ".abc"
    assert already(f"https://{name}/") == (f"https://{name}/", name)
    assert already(f"https://{name}:8443/") is None
    assert spelling.common(f"https://{name}:8443/") == (f"https://{name}:8443/", f"{name}:8443")


def test_fast_path_agrees_with_the_rules_on_each_triplet_and_character():
    for code in range(256):
        byte, char = f"{code:02X}", chr(code)
        urls = [f"https://a/%{byte}", f"https://a/%{byte.lower()}", f"https://a/{char}", f"https://a/?{char}"]
        urls += [f"https://{char}/", f"https://{char}@a/", f"https://a/#{char}", f"https://a:{char}/"]
        for url in urls:
            result = explain(url).result
            for known in (already(url), spelling.common(url)):
                assert known is None or known[0] == result


def test_result_is_plain_text_when_the_url_is_a_str_subclass():
    class Text(str):
        __slots__ = ()

    for known in (already(Text("https://a/p")), spelling.common(Text("https://a/p"))):
        assert known == ("https://a/p", "a")
        assert {type(part) for part in known} == {str}


AUTHORITIES = st.one_of(
    respellings().map(lambda pair: URL.parse(pair[1]).authority or ""),
    hostile.map(lambda url: url.removeprefix("https://").partition("/")[0]),
    st.text(st.sampled_from(_TRICKY_CHARACTERS), max_size=12),
)


@given(AUTHORITIES, st.sampled_from(["https", "http"]))
def test_fast_path_of_an_authority_returns_none_or_the_result_of_the_rules(authority, scheme):
    for received, rules in ((False, ADCP), (True, ADCP_RECEIVED)):
        known = spelling.common_authority(authority, scheme, received=received)
        if known is not None:
            assert known == by_rules(f"{scheme}://{authority}/", rules)[1]


@pytest.mark.parametrize(
    ("authority", "canonical"),
    [
        *(("Ads.Pub.Test.", "ads.pub.test"), ("a:", "a"), ("a:443", "a"), ("a:000443", "a"), ("a:080", "a:80")),
        *(("a:59999", "a:59999"), ("a:9", "a:9"), ("\u00fc.test", "xn--tda.test")),
    ],
)
def test_usual_spelling_of_an_authority_is_recognised(authority, canonical):
    assert spelling.common_authority(authority, "https") == canonical
    assert spelling.common_authority(authority, "https", received=True) == (canonical if authority.isascii() else None)


@pytest.mark.parametrize(
    "authority", ["a:0", "a:00", "a:60000", "a:x", "a:1:1", "[::1]", "a..", "192.0.2.7.", "b@a", "a/", ""]
)
def test_unusual_spelling_of_an_authority_is_left_to_the_rules(authority):
    assert spelling.common_authority(authority, "https") is None
