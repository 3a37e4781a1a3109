from __future__ import annotations

import pytest

from undersigned import ConfigurationError, MalformedURL, canonicalize
from undersigned.url.origin import Origin, Origins


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://seller.example.com", Origin("https", "seller.example.com")),
        ("https://seller.example.com/", Origin("https", "seller.example.com")),
        ("HTTPS://Seller.Example.com:443", Origin("https", "seller.example.com")),
        ("http://seller.example.com:8080", Origin("http", "seller.example.com:8080")),
        ("https://bücher.example", Origin("https", "xn--bcher-kva.example")),
        ("https://[2001:DB8::1]:8443/api/", Origin("https", "[2001:db8::1]:8443", "/api")),
        ("https://h/a/../%62//", Origin("https", "h", "/b")),
    ],
)
def test_origin_is_parsed_into_canonical_form(text, origin):
    assert Origin.parse(text) == origin


def test_str_of_an_origin_is_a_url():
    assert str(Origin.parse("https://h:8443/api/")) == "https://h:8443/api"


@pytest.mark.parametrize(
    "text",
    [
        "seller.example.com",
        "",
        "https://",
        "wss://h",
        "https://u:p@h",
        "https://@h",
        "https://h?",
        "https://h/?a=1",
        "https://h#",
        "https://h/#f",
        "https://h/a b",
        "*",
        "https://*",
        None,
        b"https://h",
        5,
    ],
)
def test_origin_raises_a_configuration_error_when_it_is_malformed(text):
    with pytest.raises(ConfigurationError, match=r"^origins: "):
        Origins([text])


@pytest.mark.parametrize("origins", [[], (), "https://h", b"https://h", None, 5])
def test_origins_raise_a_configuration_error_unless_they_are_a_filled_list(origins):
    with pytest.raises(ConfigurationError, match=r"^origins: "):
        Origins(origins)


@pytest.mark.parametrize(
    "pair", [("https://h", "https://H:443"), ("https://h", "http://h"), ("https://h/a", "https://h/b")]
)
def test_origins_raise_a_configuration_error_when_an_authority_is_listed_twice(pair):
    with pytest.raises(ConfigurationError, match="h is listed twice"):
        Origins(pair)


@pytest.mark.parametrize("authority", ["h", "H", "h:443", "h:0443", "h.", "H.:443", "h:"])
def test_match_returns_the_origin_for_every_spelling_of_its_authority(authority):
    origins = Origins(["https://h/api", "http://other"])
    assert origins.match(authority) == Origin("https", "h", "/api")


@pytest.mark.parametrize("authority", ["evil", "h:80", "h:8443", "hh", "h.h", "other:443"])
def test_match_returns_none_for_another_authority(authority):
    assert Origins(["https://h", "http://other"]).match(authority) is None


def test_match_uses_the_default_port_of_the_origins_scheme():
    origins = Origins(["https://a", "http://b"])
    assert origins.match("a:443") == Origin("https", "a")
    assert origins.match("b:80") == Origin("http", "b")
    assert origins.match("a:80") is None
    assert origins.match("b:443") is None


@pytest.mark.parametrize(
    "authority", ["", " ", "h/", "h?", "h#", "u@h", "h,h", "h:x", "h:99999", "[::1", "bücher.example", "\ud800", "h\n"]
)
def test_match_raises_when_the_authority_is_malformed(authority):
    with pytest.raises(MalformedURL):
        Origins(["https://h", "http://other"]).match(authority)


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://h/", True),
        ("https://h/p?q", True),
        ("http://h/", False),
        ("https://h:8443/", False),
        ("https://other/", False),
        ("https://b/api/p", True),
        ("https://b/api", False),
        ("https://b/apix", False),
    ],
)
def test_target_is_listed_when_it_is_below_the_prefix_of_an_origin(url, listed):
    assert Origins(["https://h", "https://b/api"]).lists(canonicalize(url)) is listed


def test_label_name_matches_in_usual_spellings_only_when_it_is_listed():
    ours = Origins(["https://xn--mnchen-3ya.example", "http://h:8080"])
    for spelled in ("xn--mnchen-3ya.example", "XN--Mnchen-3ya.EXAMPLE", "xn--mnchen-3ya.example.:443"):
        assert ours.match(spelled) == Origin("https", "xn--mnchen-3ya.example")
    for other in ("xn--mnchen-3ya.example.net", "xn--bcher-kva.example", "user@xn--mnchen-3ya.example", "xn--\0"):
        assert ours.match(other) is None
    with pytest.raises(MalformedURL):
        ours.match("xn--mnchen-3ya.example:0x1bb")
