"""Requests as curl, browsers and proxies show them. What the programs wrote was recorded from them."""

from __future__ import annotations

import base64
import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request
from undersigned.explanation import MalformedRequest, parse_pasted_request

URL = "https://seller.example.com/a%2Fb?x=1"
WHOLE = b"POST /a%2Fb?x=1 HTTP/1.1\r\nHost: seller.example.com\r\nContent-Length: 6\r\n\r\na\r\nb\r\n"
NGINX = """\
2026/11/22 10:08:02 [debug] 17892#17892: *1 http request line: "GET /first HTTP/1.1"
2026/11/22 10:08:02 [debug] 17892#17892: *1 http header: "Host: other.example"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http request line: "GET /a%2Fb?x=1 HTTP/1.1"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http header: "Host: seller.example.com"
2026/11/22 10:08:02 [debug] 17892#17892: *1 http header: "Accept: */*"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http header: "X-A: a"b"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http header: "Signature: sig1=:AA==:"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http header done
2026/11/22 10:08:02 [debug] 17892#17892: *2 http request line: "GET /third HTTP/1.1"
2026/11/22 10:08:02 [debug] 17892#17892: *2 http header: "Host: seller.example.com"
"""
HAPROXY = """\
Using epoll() as the polling mechanism.
00000000:fe.accept(0004)=000b from [127.0.0.1:57016] ALPN=<none>
00000000:fe.clireq[000b:ffffffff]: GET /a%2Fb?x=1 HTTP/1.1
00000000:fe.clihdr[000b:ffffffff]: host: seller.example.com
00000000:fe.clihdr[000b:ffffffff]: x-a: a"b
00000000:fe.clihdr[000b:ffffffff]: signature: sig1=:AA==:
00000000:fe.clicls[000b:ffff]
"""
APACHE = """\
+17913:6b02bf04:0|GET /a%252Fb?x=1 HTTP/1.1|Host:seller.example.com|X-A:a"b|Signature:sig1=%3aAA==%3a
-17913:6b02bf04:0
"""
ENVOY = """\
[2026-11-22 10:08:02.123][15][debug][http] [C0][S1] request headers complete:
':authority', 'seller.example.com'
':path', '/a%2Fb?x=1'
':method', 'GET'
'x-a', 'a"b'
'signature', 'sig1=:AA==:'
"""
PANEL = """\
:authority: seller.example.com
:method: GET
:path: /a%2Fb?x=1
:scheme: https
x-a: a"b
signature: sig1=:AA==:
"""
PANEL_IN_TWO_LINES = PANEL.replace(": ", "\n").replace("\nsig1", "\nsig1")
FETCH = """\
await fetch("https://seller.example.com/a%2Fb?x=1#top", {
  "headers": {
    "x-a": "a\\"b",
    "signature": "sig1=:AA==:"
  },
  "body": null,
  "method": "GET"
});"""
CURL = """\
curl 'https://seller.example.com/a%2Fb?x=1' \\
  -H 'x-a: a"b' \\
  -H $'signature: sig1=:AA==\\u003a' --compressed"""
HAR = json.dumps(
    {
        "log": {
            "entries": [
                {"request": {"method": "GET", "url": "https://other.example/", "headers": []}},
                {
                    "request": {
                        "method": "GET",
                        "url": URL,
                        "headers": [{"name": "X-A", "value": 'a"b'}, {"name": "Signature", "value": "sig1=:AA==:"}],
                    }
                },
            ]
        }
    }
)
CADDY = json.dumps(
    {
        "level": "info",
        "request": {
            "method": "GET",
            "host": "seller.example.com",
            "uri": "/a%2Fb?x=1",
            "headers": {"X-A": ['a"b'], "Signature": ["sig1=:AA==:"]},
        },
        "status": 401,
    }
)
LINE = json.dumps({"method": "GET", "url": URL, "headers": [["X-A", 'a"b'], ["Signature", "sig1=:AA==:"]]})


def parse(text, **options):
    return parse_pasted_request(text if isinstance(text, bytes) else text.encode(), **options)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (NGINX, "the log of a proxy"),
        (HAPROXY, "the log of a proxy"),
        (APACHE, "the log of a proxy"),
        (ENVOY, "the log of a proxy"),
        (PANEL, "the header fields of a browser"),
        (PANEL_IN_TWO_LINES, "the header fields of a browser"),
        (FETCH, "a fetch call"),
        (CURL, "a curl command"),
        (HAR, "a request in JSON"),
        (CADDY, "a request in JSON"),
        (LINE, "a request in JSON"),
    ],
    ids=["nginx", "haproxy", "apache", "envoy", "panel", "panel 2", "fetch", "curl", "har", "caddy", "line"],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_signed_request_is_read_from_every_form(text, form, line_end):
    pasted = parse(text.replace("\n", line_end))
    request = pasted.request
    assert (request.method, request.url, request.body) == ("GET", URL, b"")
    named = dict(request.fields)
    assert named.items() >= {"host": "seller.example.com", "x-a": 'a"b', "signature": "sig1=:AA==:"}.items()
    assert (pasted.form, pasted.is_whole) == (form, True)


def test_http_and_the_output_of_curl_are_read_as_before():
    assert parse(WHOLE).request == Request(
        "POST", URL, [("host", "seller.example.com"), ("content-length", "6")], b"a\r\nb\r\n"
    )
    shown = b"> GET /p HTTP/1.1\n> Host: seller.example.com\n> \n"
    assert (parse(shown).form, parse(shown, scheme="http").request.url) == (
        "the output of curl -v",
        "http://seller.example.com/p",
    )
    assert parse(b"$ curl -v https://seller.example.com/p\n" + shown).form == "the output of curl -v"


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_content_keeps_its_length_when_a_page_changed_its_line_ends(line_end):
    pasted = parse(WHOLE.replace(b"\r\n", line_end))
    assert (pasted.request.body, pasted.is_whole) == (b"a\r\nb\r\n", True)


@pytest.mark.parametrize(
    "text",
    [
        b"> POST /a HTTP/1.1\n> Host: a\n> Content-Length: 2\n> \n",
        b"POST /a HTTP/1.1\nHost: a\nContent-Length: 2\n",
        b"POST /a HTTP/1.1\nHost: a\nContent-Length: 2\n\nlonger\nthan that"[:52],
        b":authority: a\n:method: POST\n:path: /a\n:scheme: https\ncontent-length: 2\n",
    ],
    ids=["curl", "head", "shorter", "panel"],
)
def test_request_without_its_content_is_marked(text):
    text = text.replace(b"Content-Length: 2\n\nlonger", b"Content-Length: 99\n\nlonger")
    pasted = parse(text)
    assert (pasted.is_whole, pasted.request.has_body, pasted.request.body) == (False, True, b"")
    assert "body" in pasted.fault
    whole = parse(text, body=b"{}")
    assert (whole.is_whole, whole.request.body) == (True, b"{}")


@pytest.mark.parametrize(
    ("digest", "is_whole"),
    [
        ("sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:", False),
        ("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", True),
        ("nothing", True),
    ],
    ids=["of content", "of no content", "malformed"],
)
@pytest.mark.parametrize("start", ["> POST /a HTTP/2\n> host: a", ":path: /a\n:authority: a\n:method: POST"])
def test_content_is_not_known_if_only_its_digest_is_shown(digest, is_whole, start):
    mark = "> " if start.startswith(">") else ""
    text = f"{start}\n{mark}content-digest: {digest}\n{mark}\n"
    assert parse(text).is_whole is is_whole
    assert parse(text, body=b"{}").is_whole


def test_content_that_contradicts_the_argument_is_rejected():
    with pytest.raises(MalformedRequest, match="no Host"):
        parse(b"GET / HTTP/1.1\n\n", body=b"{}")


def bash(command: str) -> list[str]:
    """Return the words that bash makes of a command."""
    program = 'curl() { printf "%s\\0" "$@"; }; ' + command
    run = subprocess.run(["/bin/bash", "-c", program], check=True, capture_output=True)  # noqa: S603 - our own words
    return run.stdout.decode("latin-1").split("\0")[:-1]


@pytest.mark.parametrize(
    "word",
    [
        "plain",
        "'single \" \\ $'",
        '"double \\" \\\\ \\$ \\n \' \\`"',
        "$'ansi \\' \\\\ \\n \\t \\r \\x41\\xc3\\xa9 \\u00e9 \\u0021'",
        "joined'with'\"quotes\"",
        "a\\ b",
        "'over\nlines'",
        '"over\\\nlines"',
        "'\u00e9'",
    ],
)
def test_words_are_split_as_bash_splits_them(word):
    command = f"curl https://a.test -d {word}"
    request = parse(command).request
    assert request.body.decode("latin-1") == bash(command)[-1]


def test_characters_beyond_16_bits_are_read_as_browsers_write_them():
    assert parse("curl https://a.test --data-raw $'\\ud83d\\ude00'").request.body == "\U0001f600".encode()


@pytest.mark.parametrize(
    ("command", "method", "url", "fields", "body"),
    [
        ("curl -X PUT https://a.test/", "PUT", "https://a.test/", {}, b""),
        ("curl -XPUT --url https://a.test/", "PUT", "https://a.test/", {}, b""),
        ("curl -sSLXPUT https://a.test/", "PUT", "https://a.test/", {}, b""),
        ("curl a.test/p", "GET", "http://a.test/p", {"host": "a.test"}, b""),
        ("curl -I https://a.test/", "HEAD", "https://a.test/", {}, b""),
        (
            "curl https://a.test/ -d a=1 -d b=2",
            "POST",
            "https://a.test/",
            {"content-type": "application/x-www-form-urlencoded", "content-length": "7"},
            b"a=1&b=2",
        ),
        (
            "curl https://a.test/ --json '{}' -H 'X-A;' -H X-B:b",
            "POST",
            "https://a.test/",
            {"content-type": "application/json", "accept": "application/json", "x-a": "", "x-b": "b"},
            b"{}",
        ),
        ("curl -G https://a.test/?c=3 -d a=1", "GET", "https://a.test/?c=3&a=1", {}, b""),
        ("curl -G https://a.test/ -d a=1", "GET", "https://a.test/?a=1", {}, b""),
        (
            "curl https://a.test/ -u me:pass -A agent -e from -b c=1",
            "GET",
            "https://a.test/",
            {
                "authorization": f"Basic {base64.b64encode(b'me:pass').decode()}",
                "user-agent": "agent",
                "referer": "from",
                "cookie": "c=1",
            },
            b"",
        ),
        ("curl https://user@a.test/", "GET", "https://user@a.test/", {"host": "a.test"}, b""),
        ("curl --data-raw @x https://a.test/ -H 'content-type: t'", "POST", "https://a.test/", {}, b"@x"),
    ],
)
def test_options_of_curl_are_read(command, method, url, fields, body):
    pasted = parse(command)
    request = pasted.request
    assert (request.method, request.url, request.body, pasted.is_whole) == (method, url, body, True)
    assert dict(request.fields).items() >= fields.items()


@pytest.mark.parametrize("option", ["-d @file", "--data-binary @file", "--json @file"])
def test_content_of_a_file_is_not_known(option):
    pasted = parse(f"curl https://a.test/ {option} -H 'content-length: 3'")
    assert (pasted.is_whole, pasted.request.has_body) == (False, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curl", "line 1"),
        ("curl ", "0 URLs"),
        ("curl a b", "2 URLs"),
        ("curl https://a.test -H", "has no value"),
        ("curl https://a.test -H nothing", "not a name, a colon"),
        ("curl https://a.test 'open", "not closed"),
        ('curl ^"https://a.test^"', "cmd.exe"),
        ("curl https://a.test -F a=b", "has -F, which is not read"),
        ("curl https://a.test -H $'a: b\\r\\nc: d'", "line end"),
        ('fetch("https://a.test', "is not"),
        ("fetch(1, {})", "not as a browser copies it"),
        ('fetch("https://a.test", [])', "not as a browser copies it"),
        ('fetch("https://a.test/\\n", {"headers": {}})', "line end"),
        ('{"method": "GET"}', "no method and url"),
        ('{"method": "GET", "uri": "/p"}', "no Host"),
        ('{"status": 401}', "has no request"),
        ('[{"request": [1, {}]}]', "has no request"),
        ('{"method": "GET", "url": "https://a.test", "headers": ["x"]}', "header of the JSON"),
        ('{"method": "GET", "url": "https://a.test", "body_b64": "*"}', "padded Base64"),
        ("[" * 100_000, "line 1"),
        ('[{"a":' * 100_000, "is not"),
        (":authority: a\nnothing", "not a header field"),
        (":authority: a\nx: y", "no :path"),
        (NGINX[NGINX.index("\n") + 1 :], "without its request line"),
        (HAPROXY.replace("x-a: a", "x-a a"), "not a header field"),
    ],
)
def test_malformed_text_has_a_message_without_its_text(text, message):
    with pytest.raises(MalformedRequest, match=message) as raised:
        parse(text)
    assert str(raised.value).isascii()


def test_request_of_a_log_without_scheme_or_host_keeps_what_it_has():
    assert parse(":path: /p\n:authority: a.test\n:method: GET").request.url == "https://a.test/p"
    assert parse('fetch("https://a.test/p")').request == Request("GET", "https://a.test/p", [("host", "a.test")])
    with pytest.raises(MalformedRequest, match="no Host"):
        parse(":path: /p\n:method: GET")


@pytest.mark.parametrize(
    "members",
    [{"body": "\u00e9"}, {"body_b64": "w6k="}, {"postData": {"mimeType": "text/plain", "text": "\u00e9"}}],
)
def test_content_of_json_is_read(members):
    line = json.dumps({"method": "POST", "url": "https://a.test/", "headers": {"X": ["\u00e9", 1]}, **members})
    request = parse(line).request
    assert request.body == b"\xc3\xa9"
    assert request.fields.lines[1:] == (("x", "\xc3\xa9"), ("x", "1"))


@given(
    st.binary(max_size=80)
    | st.sampled_from([NGINX, HAPROXY, APACHE, ENVOY, PANEL, FETCH, CURL, HAR, CADDY]).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, 40), st.binary(max_size=8)).map(
            lambda cut: text[: cut[0]].encode() + cut[2] + text[cut[0] + cut[1] :].encode()
        )
    )
)
def test_any_bytes_are_a_request_or_malformed(text):
    message = ""
    try:
        parse(text)
    except MalformedRequest as malformed:
        message = str(malformed)
    assert message.isascii()
