from __future__ import annotations

import pytest
from tests.url.spellings import RULES

from undersigned.url import URL, MalformedURL

authority = RULES["authority"]
characters = RULES["characters"]
default_port = RULES["default-port"]
fragment = RULES["fragment"]
port_number = RULES["port-number"]
scheme_case = RULES["scheme-case"]
userinfo = RULES["userinfo"]
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https:/p", "no authority"),
        ("https://ann@:1/p", "authority without a host"),
        ("https://ann:secret@ann:secret@a/", "more than one '@'"),
        ("https://secret[@a/", "bracket"),
        ("https://secret]@a/", "bracket"),
    ],
)
def test_message_does_not_repeat_the_password_when_the_authority_is_malformed(text, message):
    with pytest.raises(MalformedURL, match=message) as caught:
        authority.apply(URL.parse(text))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["https://a", "https://@a", "https://ann:x:y@a:1"])
def test_authority_with_a_host_is_returned_unchanged(text):
    assert authority.apply(URL.parse(text)) == URL.parse(text)


def test_userinfo_is_removed_even_when_it_is_empty():
    assert userinfo.apply(URL.parse("https://@a/")) == URL.parse("https://a/")


@pytest.mark.parametrize(
    ("port", "number"), [(None, None), ("", None), ("0", "0"), ("00", "0"), ("0443", "443"), ("65535", "65535")]
)
def test_port_is_written_without_leading_zeros(port, number):
    assert port_number.apply(URL("https", None, "a", port, "/", None, None)).port == number


@pytest.mark.parametrize("port", ["65536", "99999", "100000", "9" * 5000, "0" * 9 + "65536"])
def test_port_above_65535_is_rejected(port):
    with pytest.raises(MalformedURL, match="above 65535"):
        port_number.apply(URL("https", None, "a", port, "/", None, None))


@pytest.mark.parametrize("port", ["a", "-1", "+1", " 1", "1_0", "\u00b2", "\u0661", "0x1", "1.0"])
def test_port_is_rejected_when_it_is_not_ascii_digits(port):
    with pytest.raises(MalformedURL, match="not a number"):
        port_number.apply(URL("https", None, "a", port, "/", None, None))


@pytest.mark.parametrize(
    ("scheme", "port", "left"),
    [("https", "443", None), ("http", "80", None), ("https", "80", "80"), ("http", "443", "443"), ("ws", "80", "80")],
)
def test_default_port_is_removed_only_for_its_own_scheme(scheme, port, left):
    assert default_port.apply(URL(scheme, None, "a", port, "/", None, None)).port == left
