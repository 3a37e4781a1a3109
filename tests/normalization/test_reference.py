from __future__ import annotations

import pytest

from undersigned.errors import ConfigurationError
from undersigned.normalization.reference import absolute, default_scheme, dot_segments, resolved_against
from undersigned.url import URL, MalformedURL


def after(rule, text):
    return str(rule.apply(URL.parse(text)))


@pytest.mark.parametrize("text", ["http://a", "mailto:ann", "svn+ssh://a", "z39.50r:a", "A:"])
def test_reference_with_a_scheme_is_absolute(text):
    assert after(absolute, text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [("a/b", "relative"), ("//a", "relative"), ("", "relative"), ("?a", "relative"), ("1a:b", "'1a' is not a scheme")],
)
def test_reference_is_rejected_when_it_has_no_scheme(text, message):
    with pytest.raises(MalformedURL, match=message) as caught:
        absolute.apply(URL.parse(text))
    assert caught.value.rule == "absolute"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("www.example.com", "http://www.example.com"),
        ("www.example.com/a?b", "http://www.example.com/a?b"),
        ("//www.example.com/a", "http://www.example.com/a"),
        ("www.example.com:8080/a", "http://www.example.com:8080/a"),
        ("www.example.com:", "http://www.example.com:"),
        ("www.example.com:8080", "http://www.example.com:8080"),
        ("https://a", "https://a"),
        ("tel:112", "tel:112"),
        ("iris.beep:dreg1/a", "iris.beep:dreg1/a"),
        ("soap.beep://a/b", "soap.beep://a/b"),
        ("/a", "/a"),
        ("", ""),
        ("?a", "?a"),
    ],
)
def test_host_without_a_scheme_gets_http(text, expected):
    assert after(default_scheme, text) == expected
    assert default_scheme.apply(URL.parse(text)) == URL.parse(expected)


BASE = "http://a/b/c/d;p?q"
RFC_3986_SECTION_5_4 = """
g:h g:h|g http://a/b/c/g|./g http://a/b/c/g|g/ http://a/b/c/g/|/g http://a/g|//g http://g|?y http://a/b/c/d;p?y
g?y http://a/b/c/g?y|#s http://a/b/c/d;p?q#s|g#s http://a/b/c/g#s|g?y#s http://a/b/c/g?y#s|;x http://a/b/c/;x
g;x http://a/b/c/g;x|g;x?y#s http://a/b/c/g;x?y#s|. http://a/b/c/|./ http://a/b/c/|.. http://a/b/|../ http://a/b/
../g http://a/b/g|../.. http://a/|../../ http://a/|../../g http://a/g|../../../g http://a/g|/./g http://a/g
/../g http://a/g|g. http://a/b/c/g.|.g http://a/b/c/.g|g.. http://a/b/c/g..|..g http://a/b/c/..g|./../g http://a/b/g
./g/. http://a/b/c/g/|g/./h http://a/b/c/g/h|g/../h http://a/b/c/h|g;x=1/./y http://a/b/c/g;x=1/y
g;x=1/../y http://a/b/c/y|g?y/./x http://a/b/c/g?y/./x|g#s/../x http://a/b/c/g#s/../x|http:g http:g
"""


@pytest.mark.parametrize("case", RFC_3986_SECTION_5_4.replace("\n", "|").strip("|").split("|"))
def test_reference_resolves_as_in_rfc_3986(case):
    reference, target = case.split(" ")
    assert after(resolved_against(BASE), reference) == target


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        (BASE, "//h/x/../y?z", "http://h/y?z"),
        (f"{BASE}#f", "", BASE),
        ("http://a", "b", "http://a/b"),
        ("http://a?q", "b", "http://a/b"),
        ("http://a", "", "http://a"),
        ("http://a/b/", "../../c", "http://a/c"),
        ("urn:a", "b", "urn:b"),
        ("file:/a", "b", "file:/b"),
        ("x:/", "b", "x:/b"),
    ],
)
def test_reference_resolves_against_a_base_of_any_form(base, reference, target):
    assert after(resolved_against(base), reference) == target


def test_relative_base_raises_a_configuration_error():
    with pytest.raises(ConfigurationError, match="base: "):
        resolved_against("/a")


@pytest.mark.parametrize("text", ["a:/.//b", "a:/b/..//c", "a:/..//b/.", "/.//b"])
def test_path_without_an_authority_never_starts_with_two_slashes(text):
    url = dot_segments.apply(URL.parse(text))
    assert url.path.startswith("/.//")
    assert URL.parse(str(url)) == url
    assert dot_segments.apply(url) == url
