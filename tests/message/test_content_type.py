from __future__ import annotations

import pytest

from undersigned.message.content_type import has_content_coding, has_other_charset, is_decoded_alike, is_json
from undersigned.message.header_fields import HeaderFields


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
    ("value", "other", "alike"),
    [
        ("text/plain", False, True),
        ("text/plain; charset=UTF-8", False, True),
        ('text/plain; charset="us-ascii"; a=b', False, True),
        ("text/plain;charset=iso-8859-1", True, True),
        ("text/plain;charset=windows-1252", True, True),
        ("text/plain;charset=utf-7", True, False),
        ("text/plain;charset=utf-16", True, False),
        ("text/plain;charset*=utf-8", True, False),
    ],
)
def test_charset_may_change_how_content_is_read(value, other, alike):
    assert has_other_charset(of_type(value)) is has_other_charset(of_type("text/plain", value)) is other
    assert is_decoded_alike(of_type(value)) is is_decoded_alike(of_type("text/plain", value)) is alike


@pytest.mark.parametrize(
    ("value", "coded"), [("gzip", True), ("identity, gzip", True), ("", False), (" Identity", False)]
)
def test_content_coding_may_change_how_content_is_read(value, coded):
    fields = HeaderFields([("Content-Encoding", value)])
    assert has_content_coding(fields) is coded
    assert is_decoded_alike(fields) is not coded


def test_long_content_type_may_be_json_with_any_charset():
    longest = "text/plain;x=".ljust(256, "v")
    for lines, is_long in (([longest], False), ([longest + "v"], True), ([longest[:130], longest[:125]], True)):
        fields = HeaderFields([("content-type", line) for line in lines])
        assert is_json(fields) is is_long
        assert has_other_charset(fields) is is_long
        assert is_decoded_alike(fields) is not is_long
