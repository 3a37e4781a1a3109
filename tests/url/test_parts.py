from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import hostile

from undersigned.url import URL


@given(hostile | st.text(st.sampled_from("a:/@[]?#\n"), max_size=12))
def test_parsed_parts_join_to_the_same_text(text):
    assert str(URL.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("https://ann:x@ads.pub.test:8443/a?b#c", ("https", "ann:x", "ads.pub.test", "8443", "/a", "b", "c")),
        ("https://@ads.pub.test:?#", ("https", "", "ads.pub.test", "", "", "", "")),
        ("https://ads.pub.test", ("https", None, "ads.pub.test", None, "", None, None)),
        ("https:///p", ("https", None, "", None, "/p", None, None)),
        ("mailto:ann@pub.test", ("mailto", None, None, None, "ann@pub.test", None, None)),
        ("urn:example:a:b", ("urn", None, None, None, "example:a:b", None, None)),
        ("//ads.pub.test/p", (None, None, "ads.pub.test", None, "/p", None, None)),
        ("/a:b", (None, None, None, None, "/a:b", None, None)),
        ("", (None, None, None, None, "", None, None)),
        ("https://[::1]:80/", ("https", None, "[::1]", "80", "/", None, None)),
        ("https://[::1]/", ("https", None, "[::1]", None, "/", None, None)),
        ("https://[::1]x:80/", ("https", None, "[::1]x", "80", "/", None, None)),
        ("https://a:b:c", ("https", None, "a:b", "c", "", None, None)),
        ("https://a@b@c", ("https", "a@b", "c", None, "", None, None)),
        ("https://h/a?b?c#d#e?f", ("https", None, "h", None, "/a", "b?c", "d#e?f")),
    ],
)
def test_text_is_split_into_its_parts(text, parts):
    assert tuple(URL.parse(text)) == parts


@pytest.mark.parametrize(
    ("text", "authority"),
    [("https://a:x@b:1/", "a:x@b:1"), ("https://@b:/", "@b:"), ("https://b/", "b"), ("https:///", ""), ("urn:a", None)],
)
def test_authority_is_the_text_between_its_delimiters(text, authority):
    assert URL.parse(text).authority == authority


@pytest.mark.parametrize("text", [None, b"https://ads.pub.test/", 1])
def test_value_raises_a_type_error_when_it_is_not_text(text):
    with pytest.raises(TypeError):
        URL.parse(text)


def test_url_cannot_be_changed():
    with pytest.raises(AttributeError):
        URL.parse("https://ads.pub.test/").path = "/other"
