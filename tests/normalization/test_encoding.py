from __future__ import annotations

import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import identifiers, outcome

from undersigned.normalization import encoding as e
from undersigned.url import URL, MalformedURL

EVERYWHERE = "http://{0}@{0}:80/{0}?{0}#{0}"


def after(rule, text):
    return str(rule.apply(URL.parse(text)))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_encoded_text_decodes_to_the_same_text(text):
    assert e.decode(e.encode(text)) == text
    assert e.encode(text).replace("%", "").lower() == text.encode().hex()


@pytest.mark.parametrize(
    ("triplets", "text"),
    [("%C3%A9", "é"), ("%c3%28", "%C3("), ("%C3", "%C3"), ("%ff%41", "%FFA"), ("%ed%a0%80", "%ED%A0%80")],
)
def test_octets_stay_encoded_when_they_are_not_utf_8(triplets, text):
    assert e.decode(triplets) == text


def test_decode_non_ascii_keeps_encoded_ascii():
    assert e.decode_non_ascii("a%2Fb%C3%A9%41%C7") == "a%2Fbé%41%C7"


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (e.hex_case_elsewhere, "%c3", "http://%c3@%C3:80/%c3?%C3#%C3"),
        (e.hex_case_userinfo, "%c3", "http://%C3@%c3:80/%c3?%c3#%c3"),
        (e.unreserved_elsewhere, "%7e", "http://%7e@~:80/%7e?~#~"),
        (e.unreserved_userinfo, "%7e", "http://~@%7e:80/%7e?%7e#%7e"),
        (e.iri_to_uri, "é", "http://%C3%A9@%C3%A9:80/%C3%A9?%C3%A9#%C3%A9"),
        (e.escape, "é|", "http://é|@%C3%A9%7C:80/%C3%A9%7C?%C3%A9%7C#%C3%A9%7C"),
        (e.nfc, "e%CC%81", "http://e%CC%81@%C3%A9:80/%C3%A9?%C3%A9#%C3%A9"),
        (e.plus_as_space, "+", "http:// @ :80/ ? # "),
    ],
)
def test_rule_changes_only_its_parts(rule, text, expected):
    assert after(rule, EVERYWHERE.format(text)) == expected


@pytest.mark.parametrize(
    "rule", [e.hex_case_elsewhere, e.unreserved_elsewhere, e.iri_to_uri, e.escape, e.nfc, e.decode_all]
)
def test_rule_returns_the_same_object_when_nothing_changes(rule):
    for text in ("http://ads.pub.test:8443/a?b#c", "mailto:ann@pub.test", "urn:a:b"):
        url = URL.parse(text)
        assert rule.apply(url) is url


@pytest.mark.parametrize("rule", [e.iri_to_uri, e.escape], ids=lambda rule: rule.name)
def test_lone_surrogate_is_rejected(rule):
    with pytest.raises(MalformedURL, match="lone surrogate") as caught:
        rule.apply(URL.parse("http://a/\ud800"))
    assert caught.value.rule == rule.name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a/\\/", "http://a/%5C/"),
        ("http://a/#b#c", "http://a/#b%23c"),
        ('http://a/ "<>^`{|}\x7f', "http://a/%20%22%3C%3E%5E%60%7B%7C%7D%7F"),
        ("http://a/100%", "http://a/100%25"),
        ("http://a/%zz%41", "http://a/%25zz%41"),
        ("http://a/:@!$&'()*+,;=[]-._~?/?", "http://a/:@!$&'()*+,;=[]-._~?/?"),
    ],
)
def test_escape_encodes_only_characters_not_allowed_in_a_uri(text, expected):
    assert after(e.escape, text) == expected


@given(identifiers)
def test_escaped_text_equals_the_result_of_urllib_quote(text):
    url = URL.parse(text)
    escaped = outcome(lambda: e.escape.apply(url))
    if not isinstance(escaped, MalformedURL) and "%" not in url.path:
        assert escaped.path == quote(url.path, safe=":/?#[]@!$&'()*+,;=~")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://h/1e%CC%812", "http://h/1%C3%A92"),
        ("http://a/C%CC%A7", "http://a/%C3%87"),
        ("http://a/C\u0327", "http://a/\u00c7"),
        ("http://a/\u00e9%CC%A7", "http://a/\u0229\u0301"),
        ("http://a/%43%CC%A7", "http://a/%43%CC%A7"),
        ("http://a/?q=%CC%B8b", "http://a/?q=%CC%B8b"),
        ("http://a/%2E%CC%81", "http://a/%2E%CC%81"),
        ("http://a/%CD%BE", "http://a/%CD%BE"),
        ("http://a/%E2%84%AA", "http://a/K"),
        ("http://a/%C7", "http://a/%C7"),
        ("http://a/%E2%85%A0", "http://a/%E2%85%A0"),
    ],
)
def test_nfc_composes_letters_and_never_adds_or_removes_a_delimiter(text, expected):
    assert after(e.nfc, text) == expected


def test_nfc_changes_nothing_when_a_letter_has_too_many_marks():
    few, many = "\u0301\u0316" * 15, "\u0301\u0316" * 100_000
    assert e.nfc.apply(URL.parse(f"a:{few}")).path == "\u0316" * 15 + "\u0301" * 15
    url = URL.parse(f"a:{many}")
    assert e.nfc.apply(url) is url


@given(st.text(st.characters(min_codepoint=0xA0, exclude_categories=["Cs"]), max_size=6))
def test_nfc_of_a_word_equals_unicodedata_encoded_or_not(word):
    composed = unicodedata.normalize("NFC", word)
    if all(ord(char) > 0x7F for char in composed):
        assert e.nfc.apply(URL.parse(f"a:{word}")).path == composed
        assert e.nfc.apply(URL.parse(f"a:{e.encode(word)}")).path == e.encode(composed)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http%3A%2F%2Fa%2Fb", ("http", None, "a", None, "/b", None, None)),
        ("http://a%3A80%2Fb%3Fc%23d", ("http", None, "a", "80", "/b", "c", "d")),
        ("http://a/%2541", ("http", None, "a", None, "/%41", None, None)),
        ("http://a/%zz%C3%A9%C3", ("http", None, "a", None, "/%zzé%C3", None, None)),
    ],
)
def test_decoded_text_is_parsed_again(text, parts):
    assert tuple(e.decode_all.apply(URL.parse(text))) == parts


def test_plus_in_a_scheme_stays():
    assert after(e.plus_as_space, "svn+ssh://a+b/c+d") == "svn+ssh://a b/c d"


@pytest.mark.parametrize(
    ("host", "lower"), [("A%C3%aFB", "a%C3%aFb"), ("%C", "%c"), ("aB", "ab"), ("ab", "ab"), (None, None)]
)
def test_host_is_in_lower_case_except_its_triplets(host, lower):
    assert e.host_case.apply(URL("x", None, host, None, "/", None, None)).host == lower


@pytest.mark.parametrize("path", ["%%34", "%4%31", "%%34%31", "%4%4%31", "%", "%4"])
def test_decoding_creates_no_new_triplet(path):
    once = e.decode_unreserved(path)
    assert e.decode_unreserved(once) == once
    assert path[:2] == once[:2]
