from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import RULES, UNRESERVED

from undersigned.url import URL, MalformedURL

dot_segments = RULES["dot-segments"]
empty_path = RULES["empty-path"]
encoded_dots = RULES["encoded-dots"]
hex_case = RULES["hex-case"]
triplets = RULES["triplets"]
unreserved = RULES["unreserved"]


def with_path(path):
    return URL("https", None, "a", None, path, None, None)


def remove_as_in_rfc_3986(path):
    """Follow the steps of RFC 3986 section 5.2.4 literally."""
    output = ""
    while path:
        if path.startswith("../"):
            path = path[3:]
        elif path.startswith(("./", "/./")):
            path = path[2:]
        elif path == "/.":
            path = "/"
        elif path.startswith("/../"):
            path, output = path[3:], output[: max(output.rfind("/"), 0)]
        elif path == "/..":
            path, output = "/", output[: max(output.rfind("/"), 0)]
        elif path in {".", ".."}:
            path = ""
        else:
            end = path.find("/", 1)
            end = len(path) if end < 0 else end
            output, path = output + path[:end], path[end:]
    return output


@given(st.lists(st.sampled_from([".", "..", "", "a", "b", "...", ".a", "a."]), max_size=10).map("/".join))
def test_dot_segments_are_removed_as_in_rfc_3986(path):
    removed = dot_segments.apply(with_path(f"/{path}"))
    assert removed.path == remove_as_in_rfc_3986(f"/{path}")
    assert dot_segments.apply(removed) is removed


@pytest.mark.parametrize("path", ["", "a/../b", "..", "a/."])
def test_path_without_a_leading_slash_keeps_its_dots(path):
    assert dot_segments.apply(with_path(path)).path == path


def test_triplet_is_decoded_when_its_character_is_unreserved():
    for code in range(256):
        for triplet in (f"%{code:02X}", f"%{code:02x}"):
            decoded = chr(code) if chr(code) in UNRESERVED else triplet
            twice = with_path(f"/{triplet}{triplet}")
            assert unreserved.apply(twice).path == f"/{decoded}{decoded}"
            assert hex_case.apply(twice).path == f"/%{code:02X}%{code:02X}"


@given(st.lists(st.from_regex(r"%[0-9a-fA-F]{2}|[^%]", fullmatch=True), max_size=8).map("".join))
def test_hex_case_changes_triplets_only(path):
    after = hex_case.apply(unreserved.apply(with_path(path)))
    assert re.split(r"%[0-9A-Fa-f]{2}", after.path)[0].startswith(re.split(r"%[0-9A-Fa-f]{2}", path)[0])
    assert hex_case.apply(unreserved.apply(after)) is after


@pytest.mark.parametrize("rule", [unreserved, hex_case, triplets, encoded_dots], ids=lambda rule: rule.name)
def test_rule_returns_the_same_object_when_the_path_has_no_triplets(rule):
    url = with_path("/a/.b")
    assert rule.apply(url) is url


def test_message_quotes_only_the_malformed_triplet():
    with pytest.raises(MalformedURL, match=r"contains '%zz': expected"):
        triplets.apply(with_path("/secret%zzsecret"))


def test_encoded_dot_segment_is_rejected():
    with pytest.raises(MalformedURL, match="percent-encoded"):
        encoded_dots.apply(with_path("/a/.."))


def test_empty_path_becomes_a_slash_only_after_an_authority():
    assert empty_path.apply(with_path("")).path == "/"
    assert empty_path.apply(URL.parse("urn:?x")) == URL.parse("urn:?x")
