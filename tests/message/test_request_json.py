from __future__ import annotations

import codecs

import pytest

from undersigned import Request, UndersignedError

URL = "https://seller.example.com/adcp/get_products"


def request(body: bytes | str, *types: str) -> Request:
    return Request("POST", URL, [("Content-Type", value) for value in types], body)


@pytest.mark.parametrize(
    "parameter", ["", "; charset=utf-8", ";charset=UTF-8", '; charset="utf-8"', ";charset=utf8;a=b"]
)
def test_utf_8_is_read_whether_or_not_the_type_says_so(parameter):
    assert request('{"a":"\u00e9"}', f"application/json{parameter}").strict_json() == {"a": "\u00e9"}
    assert request('{"a":1}', "application/json;charset=us-ascii").strict_json() == {"a": 1}


def test_content_that_another_charset_turns_into_other_members_is_rejected():
    body = b'{"sk+AGk-ll":"create_media_buy","skill":"get_products"}'
    assert set(codecs.decode(body, "utf-7").split('"')) >= {"skill", "create_media_buy"}
    with pytest.raises(UndersignedError, match="charset"):
        request(body, "application/json; charset=utf-7").strict_json()


@pytest.mark.parametrize(
    "value",
    [
        "application/json;charset=utf-7",
        "application/json;Charset=latin-1",
        "application/json;charset*=utf-8''utf-7",
        "application/json;charset*0=ut;charset*1=f-7",
        "application/json;charset=utf-8;charset=utf-7",
        "application/json;charset=utf-8x",
        'application/json;charset="utf-8"x',
        "application/json;charset",
        "application/json;x=charset=utf-8",
    ],
)
def test_charset_that_is_not_plainly_utf_8_is_rejected(value):
    for types in [(value,), ("application/json", value)]:
        with pytest.raises(UndersignedError, match="charset"):
            request("{}", *types).strict_json()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_content_in_another_encoding_is_rejected(encoding):
    with pytest.raises(ValueError):  # noqa: PT011 - JSONDecodeError and UnicodeDecodeError alike
        request('{"a":"\u00e9"}'.encode(encoding), "application/json").strict_json()


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "identity, gzip"])
def test_content_that_a_reader_may_decode_first_is_rejected(coding):
    with pytest.raises(UndersignedError, match="Content-Encoding"):
        Request("POST", URL, [("Content-Encoding", coding)], b"{}").strict_json()
    assert Request("POST", URL, [("Content-Encoding", "identity")], b"{}").strict_json() == {}


def test_content_type_over_the_length_limit_says_its_size():
    with pytest.raises(UndersignedError, match="Content-Type has 4,115 characters, and at most 4,096 are read"):
        request("{}", f"application/json;a={'v' * 4096}").strict_json()
