from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request
from undersigned.cli.lines import MalformedLine, parse_request

URL = "https://a.example/"


def parse_with(**members: object) -> Request:
    return parse_request({"method": "GET", "url": URL, **members})


def test_headers_keep_their_order_and_repetition():
    assert parse_with(headers={"A": "1", "b": " 2 "}).fields.lines == (("a", "1"), ("b", "2"))
    assert parse_with(headers=[["b", "1"], ["a", "2"], ["B", "3"]]).fields.lines == (("b", "1"), ("a", "2"), ("b", "3"))


@pytest.mark.parametrize("members", [{}, {"headers": None, "body": None, "body_b64": None}, {"id": 1}])
def test_headers_and_body_are_optional_and_other_members_ignored(members):
    assert parse_with(**members) == Request("GET", URL)


def test_body_is_encoded_as_utf_8_and_body_b64_is_any_bytes():
    assert parse_with(body="\u00fc").body == b"\xc3\xbc"
    assert parse_with(body="").body == b""
    assert parse_with(body_b64="//79").body == b"\xff\xfe\xfd"
    assert parse_with(body_b64="").body == b""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "not a JSON object"),
        ([], "not a JSON object"),
        ("GET", "not a JSON object"),
        ({}, "method and url must be strings"),
        ({"method": "GET"}, "method and url must be strings"),
        ({"method": 1, "url": URL}, "method and url must be strings"),
        ({"method": "GET", "url": None}, "method and url must be strings"),
    ],
)
def test_line_is_malformed_without_method_and_url(value, message):
    with pytest.raises(MalformedLine, match=message):
        parse_request(value)


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ("a: b", "an object or a list"),
        (1, "an object or a list"),
        ({"a": 1}, "must be strings"),
        ({"a": ["b", "c"]}, "must be strings"),
        (["ab"], "must be strings"),
        ([["a"]], "must be strings"),
        ([["a", "b", "c"]], "must be strings"),
        ([["a", None]], "must be strings"),
        ([{"a": "b"}], "must be strings"),
    ],
)
def test_line_is_malformed_when_headers_have_another_form(headers, message):
    with pytest.raises(MalformedLine, match=message):
        parse_with(headers=headers)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"body": "a", "body_b64": "YQ=="}, "either body or body_b64"),
        ({"body": "", "body_b64": ""}, "either body or body_b64"),
        ({"body": {"a": 1}}, "either body or body_b64"),
        ({"body_b64": 1}, "either body or body_b64"),
        ({"body": "\ud800"}, "lone surrogate"),
        ({"body_b64": "YQ"}, "not padded Base64"),
        ({"body_b64": "YQ==\n"}, "not padded Base64"),
        ({"body_b64": "_-__"}, "not padded Base64"),
        ({"body_b64": "\u00fc"}, "not padded Base64"),
    ],
)
def test_line_is_malformed_when_the_body_is_ambiguous_or_invalid(members, message):
    with pytest.raises(MalformedLine, match=message):
        parse_with(**members)


@given(body=st.binary())
def test_every_body_can_be_described(body):
    assert parse_with(body_b64=base64.b64encode(body).decode()).body == body


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet=st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON | st.fixed_dictionaries({"method": JSON, "url": JSON}, optional={"headers": JSON, "body": JSON}))
def test_any_json_value_is_a_request_or_a_malformed_line(value):
    try:
        request = parse_request(json.loads(json.dumps(value)))
    except MalformedLine:
        return
    assert isinstance(request, Request)
