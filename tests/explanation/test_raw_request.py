from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request
from undersigned.explanation.raw_request import MalformedRequest, parse_raw_request

POST = (
    b"POST /a%2Fb? HTTP/1.1\r\nHost: seller.example.com\r\nContent-Type:  text/plain \r\nX-A: 1\r\nX-A: 2\r\n"
    b"Content-Length: 7\r\n\r\na\r\nb\n\r\n"
)
FIELDS = (("host", "seller.example.com"), ("content-type", "text/plain"), ("x-a", "1"), ("x-a", "2"))
CURL = b"""* Host seller.example.com:443 was resolved.
* Connected to seller.example.com
> GET /first HTTP/1.1
> Host: other.example.com
>
* Request completely sent off
< HTTP/1.1 301 Moved
< Signature: none
<
> GET /second?x=1 HTTP/2
> Host: seller.example.com
> user-agent: curl/8.5.0
* a line of curl's own between
> Signature: sig1=:AA==:
>\x20
{ [5 bytes data]
> not: read
"""


def test_raw_request_is_read_to_the_byte():
    request = parse_raw_request(POST)
    assert (request.method, request.url) == ("POST", "https://seller.example.com/a%2Fb?")
    assert request.fields.lines[:4] == FIELDS
    assert request.body == b"a\r\nb\n\r\n"


def test_lines_may_end_with_lf_and_the_content_is_unchanged():
    head, _, content = POST.partition(b"\r\n\r\n")
    assert parse_raw_request(head.replace(b"\r\n", b"\n") + b"\n\n" + content) == parse_raw_request(POST)


def test_blank_lines_around_a_request_are_ignored():
    assert parse_raw_request(b"\r\n\n" + POST + b"\n") == parse_raw_request(POST)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r\n\r\n", b"\n\n\n"])
def test_request_without_content_may_end_after_its_fields(end):
    request = parse_raw_request(b"GET / HTTP/1.1\r\nHost: a" + end)
    assert request == Request("GET", "https://a/", [("host", "a")])


def test_scheme_comes_from_the_argument():
    assert parse_raw_request(POST, scheme="http").url == "http://seller.example.com/a%2Fb?"


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("/", "https://a/"),
        ("//b//c?d", "https://a//b//c?d"),
        ("/x://y", "https://a/x://y"),
        ("http://b/c?d", "http://b/c?d"),
        ("*", "https://a"),
    ],
)
def test_url_comes_from_the_request_target(target, url):
    assert parse_raw_request(f"GET {target} HTTP/1.1\nHost: a\n\n".encode()).url == url


def test_authority_comes_from_the_pseudo_header_field_when_there_is_one():
    request = parse_raw_request(b"GET / HTTP/2\n:authority: a\nhost: b\n\n")
    assert (request.url, request.fields.lines) == ("https://a/", ((":authority", "a"), ("host", "b")))


def test_field_is_latin_1_and_its_value_may_be_empty_or_contain_colons():
    request = parse_raw_request(b"GET / HTTP/1.1\nHost: a:8443\nX: \xe9\nY:\nZ: :b:\n\n")
    assert request.fields.lines == (("host", "a:8443"), ("x", "\xe9"), ("y", ""), ("z", ":b:"))


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_chunks_are_joined(line_end):
    head = line_end.join([b"POST / HTTP/1.1", b"Host: a", b"Transfer-Encoding: Chunked", b"", b""])
    chunks = line_end.join([b"3;x=y", b"a\nb", b"0A", b"0123456789", b"0", b"", b""])
    assert parse_raw_request(head + chunks).body == b"a\nb0123456789"


def test_content_without_a_length_ends_with_the_file():
    assert parse_raw_request(b"POST / HTTP/2\nhost: a\n\n{}\n").body == b"{}\n"
    assert parse_raw_request(b"POST / HTTP/2\nhost: a\n\n\n").body == b""


def test_content_may_come_from_the_argument():
    assert parse_raw_request(POST, body=b"other").body == b"other"
    assert parse_raw_request(POST, body=b"").body == b""


def test_signed_request_is_read_from_the_output_of_curl():
    request = parse_raw_request(CURL)
    assert (request.method, request.url) == ("GET", "https://seller.example.com/second?x=1")
    assert request.fields.lines == (
        ("host", "seller.example.com"),
        ("user-agent", "curl/8.5.0"),
        ("signature", "sig1=:AA==:"),
    )


def test_first_request_is_read_from_the_output_of_curl_when_none_is_signed():
    assert parse_raw_request(CURL.replace(b"> Signature", b"> X")).url == "https://other.example.com/first"
    assert parse_raw_request(CURL.replace(b"\n", b"\r\n")).url == "https://seller.example.com/second?x=1"


@pytest.mark.parametrize("field", [b"Content-Length: 2", b"transfer-encoding: chunked"])
def test_output_of_curl_needs_the_body_when_the_request_has_content(field):
    shown = b"> POST / HTTP/1.1\n> Host: a\n> " + field + b"\n> \n"
    with pytest.raises(MalformedRequest, match="--body"):
        parse_raw_request(shown)
    assert parse_raw_request(shown, body=b"{}").body == b"{}"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "line 1"),
        (b"GET /", "line 1"),
        (b"GET / b HTTP/1.1\nHost: a", "line 1"),
        (b'{"method": "GET"}', "line 1"),
        (b"GET / HTTP/1.1\nHost a", "line 2"),
        (b"GET / HTTP/1.1\nHost: a\n folded: b", "line 3"),
        (b"GET / HTTP/1.1\nX: a", "no Host"),
        (b"CONNECT a:443 HTTP/1.1\nHost: a", "not a path"),
        (b"POST / HTTP/1.1\nHost: a\nContent-Length: 3\n\nab", "has 2 bytes, but Content-Length is 3"),
        (b"POST / HTTP/1.1\nHost: a\nContent-Length: \xb2\n\nab", "not a number"),
        (b"POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n3\nab", "chunks"),
        (b"POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\nx\nab", "chunks"),
        (b"POST / HTTP/1.1\nHost: a\nContent-Length: " + b"9" * 4301 + b"\n\nab", "not a number of bytes"),
        (b"POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n" + b"f" * 40 + b"\nab", "chunks"),
    ],
)
def test_malformed_request_has_a_message_without_its_text(raw, message):
    with pytest.raises(MalformedRequest, match=message):
        parse_raw_request(raw)


@given(st.binary(max_size=60) | st.binary(max_size=40).map(lambda tail: b"> GET / HTTP/1.1\n> Host: a\n" + tail))
def test_any_bytes_are_a_request_or_malformed(raw):
    message = ""
    try:
        parse_raw_request(raw)
    except MalformedRequest as malformed:
        message = str(malformed)
    assert message.isascii()
    assert message.isprintable() or not message
