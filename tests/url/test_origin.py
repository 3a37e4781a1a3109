from __future__ import annotations

import pytest
from tests.url.spellings import outcome
from tests.work import lines_run

from undersigned import ConfigurationError, MalformedURL, canonicalize
from undersigned.url import Origin, Origins


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
        *(
            "seller.example.com",
            "",
            "https://",
            "wss://h",
            "https://u:p@h",
            "https://@h",
            "https://h?",
            "https://h/?a=1",
        ),
        *("https://h#", "https://h/#f", "https://h/a b", "*", "https://*", None, b"https://h", 5),
        # A pattern has one star, before a name.
        *(
            "https://*.com",
            "https://*.",
            "https://*.*.example.com",
            "https://a.*.example.com",
            "https://a*.example.com",
        ),
        *("https://*example.com", "https://*.1.2.3", "https://*.[::1]", "https://*.example.com?x", "https://*.*"),
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
    "pair",
    [
        *(("https://h", other) for other in ("https://H:443", "http://h", "https://h/api")),
        ("https://h/a", "https://h/b"),
    ],
)
def test_authority_may_be_listed_once(pair):
    with pytest.raises(ConfigurationError, match="h is listed twice"):
        Origins(pair)


@pytest.mark.parametrize("authority", ["h", "H", "h:443", "h:0443", "h.", "H.:443", "h:"])
def test_match_returns_the_origin_for_every_spelling_of_its_authority(authority):
    origins = Origins(["https://h/api", "http://other"])
    assert origins.match(authority) == Origin("https", "h", "/api")


@pytest.mark.parametrize("authority", ["evil", "h:80", "h:8443", "hh", "h.h", "other:443"])
def test_match_returns_none_for_another_authority(authority):
    origins = Origins(["https://h", "http://other"])
    assert origins.match(authority) is None
    assert origins.match("other:80") == Origin("http", "other")


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
    for other in ("xn--mnchen-3ya.example.net", "xn--bcher-kva.example", "xn--a.example"):
        assert ours.match(other) is None
    for other in ("user@xn--mnchen-3ya.example", "xn--\0", "xn--mnchen-3ya.example:0x1bb"):
        with pytest.raises(MalformedURL):
            ours.match(other)


TENANTS = ["https://*.Example.com", "https://*.bücher.example:8443/api", "https://www.example.com/site", "http://h"]


@pytest.mark.parametrize(
    ("authority", "origin"),
    [
        ("acme.example.com", Origin("https", "acme.example.com")),
        ("ACME.example.COM.:443", Origin("https", "acme.example.com")),
        ("acme.example.com:0443", Origin("https", "acme.example.com")),
        ("a_b-c1.example.com", Origin("https", "a_b-c1.example.com")),
        ("xn--mnchen-3ya.example.com", Origin("https", "xn--mnchen-3ya.example.com")),
        ("XN--Mnchen-3ya.example.com", Origin("https", "xn--mnchen-3ya.example.com")),
        ("acme.xn--bcher-kva.example:8443", Origin("https", "acme.xn--bcher-kva.example:8443", "/api")),
        ("www.example.com", Origin("https", "www.example.com", "/site")),
        ("xn--nxasmq6b.xn--bcher-kva.example:8443", Origin("https", "xn--nxasmq6b.xn--bcher-kva.example:8443", "/api")),
    ],
)
def test_pattern_matches_a_name_with_exactly_one_more_label(authority, origin):
    assert Origins(TENANTS).match(authority) == origin


@pytest.mark.parametrize(
    "authority",
    [
        *("example.com", "example.com.", "a.b.example.com", "acme.example.com:80", "acme.example.com:8443", "com"),
        *("acme.example.com.evil.example", "acme.example.comx", "acmeexample.com", "xn--bcher-kva.example:8443"),
        *("acme.xn--bcher-kva.example", "xn--a.xn--b.example.com", "example.com.example.net", "[::1.2.3.4]", "1.2.3.4"),
    ],
)
def test_pattern_matches_no_other_name_nor_port(authority):
    assert Origins(TENANTS).match(authority) is None


@pytest.mark.parametrize(
    "authority",
    [
        *(
            ".example.com",
            "..example.com",
            "a..example.com",
            "*.example.com",
            "acme.example.com..",
            "acme%2eexample.com",
        ),
        *("%61cme.example.com", "acme.example\u3002com", "b\u00fccher.example.com", "ac\u200dme.example.com"),
        *(
            "acme.example.com\0",
            "acme.example.com/",
            "acme.example.com#",
            "u@acme.example.com",
            "acme.example.com@evil",
        ),
        *("acme.example.com, evil", "acme.example.com:443:443", "acme.example.com:+443", " acme.example.com"),
        *("xn--.example.com", "xn--a\u0301.example.com", "xn--0.example.com", f"{'a' * 64}.example.com"),
        f"{'a' * 63}.{'b.' * 130}example.com",
    ],
)
def test_hostile_spelling_of_a_tenant_is_rejected(authority):
    found = outcome(lambda: Origins(TENANTS).match(authority))
    assert found is None or isinstance(found, MalformedURL)


def test_pattern_may_be_listed_once():
    with pytest.raises(ConfigurationError, match=r"\*.example.com is listed twice"):
        Origins(["https://*.example.com", "http://*.example.com"])


def test_client_may_list_a_pattern():
    origins = Origins(["https://*.example.com/api"])
    assert origins.lists(canonicalize("https://acme.example.com/api/x"))
    assert not origins.lists(canonicalize("https://example.com/api/x"))
    assert not origins.lists(canonicalize("http://acme.example.com/api/x"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("port", ["", ":8000"])
def test_loopback_origin_also_means_the_other_spellings(host, port):
    origins = Origins([f"http://{host}{port}/api"])
    for other in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        assert origins.match(f"{other}{port}") == Origin("http", f"{other.lower()}{port}", "/api")
    for other in ("localhost:9", "127.0.0.2", "app.localhost", "localhost.example"):
        assert origins.match(other) is None


def test_other_spelling_of_a_loopback_origin_keeps_what_is_listed():
    origins = Origins(["http://localhost:8000", "http://127.0.0.1:8000/api", "https://localhost"])
    assert origins.match("127.0.0.1:8000") == Origin("http", "127.0.0.1:8000", "/api")
    assert origins.match("127.0.0.1") is None
    assert origins.match("localhost.evil.example:8000") is None


def test_text_of_origins_has_the_other_spellings_and_is_short():
    assert str(Origins(["http://localhost:8000"])) == (
        "http://localhost:8000; for a loopback host also http://127.0.0.1:8000, http://[::1]:8000"
    )
    assert str(Origins([f"https://h{at}" for at in range(9)])).endswith("https://h4 and 4 more")
    assert str(Origins([f"https://h{at}" for at in range(5)])).endswith("https://h3, https://h4")
    assert str(Origins(lambda _authority: None)) == "those that a function names"


def test_function_names_the_origin_of_a_canonical_authority():
    asked = []

    def tenant(authority: str) -> str | None:
        asked.append(authority)
        return f"https://{authority}/api" if authority.startswith("acme.") else None

    origins = Origins(tenant)
    assert origins.match("ACME.example.com.:443") == Origin("https", "acme.example.com", "/api")
    assert origins.match("other.example.com") is None
    assert asked == ["acme.example.com", "other.example.com"]


def test_function_cannot_name_another_authority_than_the_received_one():
    assert Origins(lambda _authority: "https://seller.example.com").match("evil.example") is None
    assert Origins(lambda _authority: "http://h").match("h:80") == Origin("http", "h")
    assert Origins(lambda _authority: "http://h").match("h:443") is None


@pytest.mark.parametrize("answer", [True, "h", 5, "https://*.example.com"])
def test_function_that_returns_no_origin_is_a_configuration_error(answer):
    with pytest.raises(ConfigurationError, match=r"^origins: "):
        Origins(lambda _authority: answer).match("h")


@pytest.mark.parametrize("authority", ["", "h/", "u@h", "h,h", "b\u00fccher.example", "h" * 1025, ".example.com"])
def test_function_is_not_asked_about_what_is_no_authority(authority):
    with pytest.raises(MalformedURL):
        Origins(lambda _authority: pytest.fail("it was asked")).match(authority)


@pytest.mark.parametrize(("length", "rule"), [(1024, "reg-name"), (1025, "authority-length")])
def test_authority_that_is_too_long_is_rejected_before_it_is_read(length, rule):
    with pytest.raises(MalformedURL) as caught:
        Origins(["https://h"]).match("h" * length)
    assert caught.value.rule == rule


LABELS = ".".join(["xn--mnchen-3ya"] * 15)


@pytest.mark.parametrize(
    "origins",
    [
        ["https://xn--mnchen-3ya.example"],
        ["https://*.xn--mnchen-3ya.example", "http://h"],
        lambda _authority: None,
        {"ours.example": "https://ours.example"}.get,
    ],
    ids=["list", "pattern", "no tenant", "tenants"],
)
def test_labels_of_an_unknown_host_are_not_decoded(origins):
    # Checking them takes as long as several verifications, and any sender can write them.
    ours = Origins(origins)
    plain = "a" * len(LABELS[:14]) + ".a" * 14
    assert ours.match(LABELS) is None
    assert lines_run(lambda: ours.match(LABELS)) <= lines_run(lambda: ours.match(plain.upper())) + 20


def test_function_may_answer_with_any_authority_that_it_is_asked_about():
    origins = Origins(lambda authority: f"https://{authority}")
    assert origins.match("XN--Mnchen-3ya.example") == Origin("https", "xn--mnchen-3ya.example")
    with pytest.raises(MalformedURL) as caught:
        origins.match("xn--a.example")
    assert caught.value.rule == "a-labels"
