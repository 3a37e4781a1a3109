from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import signed_request, verifier

from undersigned import Content, SignatureError, UndersignedError
from undersigned.profiles import ADCP_3_2


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
        with pytest.raises(UndersignedError, match="duplicate keys"):
            ambiguous.json()
    with pytest.raises(ValueError, match="Expecting value"):
        Content().json()


UNCOVERED_TYPE = ADCP_3_2.derive(coverage=ADCP_3_2.coverage._replace(with_content=("content-digest",)))


def is_json(*types: str) -> bool:
    """Return whether content of this type is read as JSON: then no key of an object may be repeated."""
    fields = [("Content-Type", value) for value in types]
    request = signed_request(fields=fields, body=b'{"a": 1, "a": 2}', profile=UNCOVERED_TYPE)
    try:
        verifier(UNCOVERED_TYPE).verify(request)
    except SignatureError as error:
        return error.code == "request_body_malformed"
    return False


@pytest.mark.parametrize(
    "value",
    [
        *(
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            "application/json ; a=b",
            "text/json",
        ),
        *("application/vnd.acme.v1+json", "application/vnd.a+b+json;v=1", "text/plain, application/json"),
        *("text/plain,\tapplication/json\t;a=b", "application/json, text/plain"),
    ],
)
def test_json_type_is_recognised_in_any_case_and_with_parameters(value):
    assert is_json(value)


@pytest.mark.parametrize(
    "value",
    [
        *("text/plain", "text/plain;application/json", "application/jsonl", "application/jsonp", "application/x-json"),
        *("application/+json", "application/x-ndjson", "json", "multipart/json", ""),
    ],
)
def test_another_type_is_not_json(value):
    assert not is_json(value)


def test_any_of_several_content_type_lines_makes_the_content_json():
    assert is_json("text/plain", "application/json")
    assert not is_json("text/plain", "text/html")
    assert not is_json()


def test_long_content_type_may_be_json():
    longest = "text/plain;x=".ljust(4096, "v")
    assert not is_json(longest)
    assert is_json(longest + "v")
    assert is_json(longest[:130], longest[:3965])


JSON_TYPE = re.compile(
    r"[ \t]*(?:application|text)/(?:[!#$%&'*+.^_`|~0-9a-z-]+\+)?json[ \t]*(?:;.*)?", re.IGNORECASE | re.DOTALL
)
"""One part of a Content-Type."""
PARTS = ["application/json", "text/", "json", "a+", "b", "/", ";", ",", " ", "\t", "JSON", "text/x+json", "é"]


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_content_is_json_if_any_part_between_commas_is_a_json_type(value):
    value = value.strip(" \t")
    assert is_json(value) == any(map(JSON_TYPE.fullmatch, value.split(",")))
