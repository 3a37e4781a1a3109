from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.message import Content, HeaderFields
from undersigned.message.content import has_content_coding, has_other_charset, is_json
from undersigned.message.strict_json import AmbiguousJSON


def test_content_is_the_same_bytes_however_it_is_chunked():
    content = Content((b"a", b"", b"bc"))
    assert bytes(content) == b"abc"
    assert len(content) == 3
    assert content == Content((b"abc",))
    assert hash(content) == hash(Content((b"abc",)))
    assert content != Content((b"ab",))
    assert content != b"abc"
    assert Content() == Content((b"",))


def test_content_repr_shows_its_size_only():
    assert repr(Content((b"secret",))) == str(Content((b"secret",))) == "<Content: 6 bytes>"


def test_content_is_read_as_json_once_and_strictly():
    content = Content((b'{"a": ', b"[1]}"))
    assert content.json() == {"a": [1]}
    assert content.json() is content.json()
    ambiguous = Content((b'{"a": 1, "a": 2}',))
    for _ in range(2):
        with pytest.raises(AmbiguousJSON, match="repeats a key"):
            ambiguous.json()
    with pytest.raises(ValueError, match="Expecting value"):
        Content().json()


def of_type(*types: str) -> HeaderFields:
    return HeaderFields([("Content-Type", value) for value in types])


@pytest.mark.parametrize(
    "value",
    [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json ; a=b",
        "text/json",
        "application/vnd.acme.v1+json",
        "text/plain, application/json",
        "text/plain,\tapplication/json\t;a=b",
        "application/json, text/plain",
        "application/vnd.a+b+json;v=1",
    ],
)
def test_json_type_is_recognised_in_any_case_and_with_parameters(value):
    assert is_json(of_type(value))


@pytest.mark.parametrize(
    "value",
    [
        "text/plain",
        "text/plain;application/json",
        "application/jsonl",
        "application/jsonp",
        "application/x-json",
        "application/+json",
        "application/x-ndjson",
        "json",
        "multipart/json",
        "",
    ],
)
def test_another_type_is_not_json(value):
    assert not is_json(of_type(value))


def test_any_of_several_content_type_lines_makes_the_content_json():
    assert is_json(of_type("text/plain", "application/json"))
    assert not is_json(of_type("text/plain", "text/html"))
    assert not is_json(of_type())


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("text/plain", False),
        ("text/plain; charset=UTF-8", False),
        ('text/plain; charset="us-ascii"; a=b', False),
        ("text/plain;charset=iso-8859-1", True),
        ("text/plain;charset=windows-1252", True),
        ("text/plain;charset=utf-7", True),
        ("text/plain;charset=utf-16", True),
        ("text/plain;charset*=utf-8", True),
    ],
)
def test_charset_may_change_how_content_is_read(value, other):
    assert has_other_charset(of_type(value)) is has_other_charset(of_type("text/plain", value)) is other


@pytest.mark.parametrize(
    ("value", "coded"), [("gzip", True), ("identity, gzip", True), ("", False), (" Identity", False)]
)
def test_content_coding_may_change_how_content_is_read(value, coded):
    fields = HeaderFields([("Content-Encoding", value)])
    assert has_content_coding(fields) is coded


def test_long_content_type_may_be_json_with_any_charset():
    longest = "text/plain;x=".ljust(4096, "v")
    for lines, is_long in (([longest], False), ([longest + "v"], True), ([longest[:130], longest[:3965]], True)):
        fields = HeaderFields([("content-type", line) for line in lines])
        assert is_json(fields) is is_long
        assert has_other_charset(fields) is is_long


JSON_TYPE = re.compile(
    r"[ \t]*(?:application|text)/(?:[!#$%&'*+.^_`|~0-9a-z-]+\+)?json[ \t]*(?:;.*)?", re.IGNORECASE | re.DOTALL
)
"""One part of a Content-Type."""
PARTS = ["application/json", "text/", "json", "a+", "b", "/", ";", ",", " ", "\t", "JSON", "\n", "text/x+json", "é"]


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_content_is_json_if_any_part_between_commas_is_a_json_type(value):
    value = value.strip(" \t")
    assert is_json(of_type(value)) == any(map(JSON_TYPE.fullmatch, value.split(",")))
