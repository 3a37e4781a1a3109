"""Requests as curl, browsers and proxies show them. What the programs wrote was recorded from them."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request
from undersigned.explanation import MalformedRequest, parse_pasted_request
from undersigned.url import Origin

URL = "https://seller.example.com/a%2Fb?x=1"
WHOLE = b"POST /a%2Fb?x=1 HTTP/1.1\r\nHost: seller.example.com\r\nContent-Length: 6\r\n\r\na\r\nb\r\n"
CURL = """\
curl 'https://seller.example.com/a%2Fb?x=1' \\
  -H 'x-a: a"b' \\
  -H 'signature: sig1=:AA==:' --compressed"""
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
RECORD = json.dumps({"request": json.loads(CADDY)["request"], "received_at": 108.5})
JSON_LOG = f"INFO: started\n{json.dumps({'level': 'INFO', 'message': '1'})}\n{json.dumps({'message': RECORD})}\n"
DOCKER_LOG = json.dumps({"log": f"DEBUG:undersigned:{RECORD}\n", "stream": "stderr"})
LINE = json.dumps({"method": "GET", "url": URL, "headers": [["X-A", 'a"b'], ["Signature", "sig1=:AA==:"]]})


def parse(text, **options):
    return parse_pasted_request(text if isinstance(text, bytes) else text.encode(), **options)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (CURL, "a curl command"),
        (CADDY, "a request in JSON"),
        (LINE, "a request in JSON"),
        (JSON_LOG, "a request in JSON"),
        (DOCKER_LOG, "a request in JSON"),
    ],
    ids=["curl", "caddy", "line", "a log in JSON", "a log of Docker"],
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
    assert (parse(shown).form, parse(shown, origins=[Origin.parse("http://h.example")]).request.url) == (
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
    ],
    ids=["curl", "head", "shorter"],
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
@pytest.mark.parametrize("start", ["> POST /a HTTP/2\n> host: a", "POST /a HTTP/1.1\nhost: a"])
def test_content_is_not_known_if_only_its_digest_is_shown(digest, is_whole, start):
    mark = "> " if start.startswith(">") else ""
    text = f"{start}\n{mark}content-digest: {digest}\n{mark}\n"
    assert parse(text).is_whole is is_whole
    assert parse(text, body=b"{}").is_whole


def test_content_that_contradicts_the_argument_is_rejected():
    with pytest.raises(MalformedRequest, match="no Host"):
        parse(b"GET / HTTP/1.1\n\n", body=b"{}")


@pytest.mark.parametrize(
    "word",
    [
        "plain", "'single \" \\'", '"double \\" \\\\"', "joined'with'\"quotes\"", "a\\ b", "'over\nlines'",
        '"\\$a \\`b\\` \\n 5$"', '"a\\\nb"', "'a\\\nb'", "a\\\nb",
        '"$.a $,$;$:$/$)$]$}$"', r"$'it\'s \u0021\u00e9\xe9\351\n\\u'a''",
    ],
)  # fmt: skip
def test_words_are_split_as_a_shell_splits_them(word):
    program = f'curl() {{ printf "%s\\0" "$@"; }}; curl https://a.test -d {word}'
    run = subprocess.run(["/bin/bash", "-c", program], check=True, capture_output=True)  # noqa: S603 - our own words
    assert parse(f"curl https://a.test -d {word}").request.body == run.stdout.split(b"\0")[-2]


@pytest.mark.parametrize(
    ("command", "method", "url", "fields", "body"),
    [
        ("$ curl -s -X PUT --url https://a.test/", "PUT", "https://a.test/", {}, b""),
        ("curl a.test/p", "GET", "http://a.test/p", {"host": "a.test"}, b""),
        ("curl -I https://a.test/", "HEAD", "https://a.test/", {}, b""),
        ("curl https://a.test/?next=/a/../b", "GET", "https://a.test/?next=/a/../b", {}, b""),
        ("curl https://a.test/ -b a=1 -H 'Cookie: b=2'", "GET", "https://a.test/", {"cookie": "b=2"}, b""),
        ("curl https://a.test/ -b a=1 -H Cookie:", "GET", "https://a.test/", {"cookie": None}, b""),
        ("curl -sSkI --request=PUT https://a.test/", "PUT", "https://a.test/", {}, b""),
        ("curl -vXPUT --head --url=https://a.test/ -d ''", "PUT", "https://a.test/", {}, b""),
        (
            "curl https://a.test/ -d a=1 -d b=2",
            "POST",
            "https://a.test/",
            {"content-type": "application/x-www-form-urlencoded"},
            b"a=1&b=2",
        ),
        (
            "curl https://a.test/ --json '{' -H 'X-A;' -H X-B:b --json '}' --data-raw @ -d c -b a=1 --cookie b=2",
            "POST",
            "https://a.test/",
            {"content-type": "application/json", "x-a": "", "x-b": "b", "cookie": "a=1;b=2"},
            b"{}&@&c",
        ),
        (
            "curl --path-as-is https://a.test/./ -H 'Content-Type:' -d a",
            "POST",
            "https://a.test/./",
            {"content-type": None},
            b"a",
        ),
        ("curl -G 'https://a.test/?a#f' -d b", "GET", "https://a.test/?a&b", {}, b""),
        ("curl --get https://a.test/ -d b", "GET", "https://a.test/?b", {}, b""),
        ("curl -vG https://a.test/ -d ''", "GET", "https://a.test/", {}, b""),
        ("curl https://user@a.test/", "GET", "https://user@a.test/", {"host": "a.test"}, b""),
        ("curl --data-raw @x https://a.test/ -H 'content-type: t'", "POST", "https://a.test/", {}, b"@x"),
    ],
)
def test_options_of_curl_are_read(command, method, url, fields, body):
    pasted = parse(command)
    request = pasted.request
    assert (request.method, request.url, request.body, pasted.is_whole) == (method, url, body, True)
    assert {name: dict(request.fields).get(name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 2_000_000,
        f"curl -d '{'x' * 4_000_000}'",
        f'curl https://a.test -d "{"x " * 2_000_000}',
        f"curl -{'v' * 4_000_000}",
        "curl https://a.test -v " * 50_000,
    ],
    ids=["empty lines", "one word", "an open quote", "one option", "many words"],
)
def test_long_text_is_read_in_linear_time(text):
    """Quadratic time would be minutes or hours."""
    with pytest.raises(MalformedRequest):
        parse(text)


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
        ("curl https://a.test -H nothing", "not a header"),
        ("curl https://a.test 'open", "not closed"),
        ("curl https://a.test -F a=b", "an option that is not read"),
        ("curl https://a.test -b file", "an option that is not read"),
        ("curl https://a.test -G -d @file", "does not show the query"),
        ("curl https://a.test/a/%2e./b", "curl changes the path"),
        ("curl https://a.test/a/./b?c", "curl changes the path"),
        ('curl https://a.test -H "A: $TOKEN"', "a variable"),
        ("curl https://a.test/?a=1&b=2", "on which a shell acts"),
        ("curl https://a.test | jq", "on which a shell acts"),
        ("curl https://a.test -d $'a\\x00b'", "on which a shell acts"),
        ("curl https://a.test -d $'a\\777b'", "on which a shell acts"),
        ('curl ^"https://a.test^" ^\r\n -H ^"a: b^"', "copy it as for bash"),
        ("curl https://a.test -H 'a: b\r\nc: d'", "line end"),
        ('{"method": "GET"}', "method and url must be strings"),
        ('{"method": "GET", "uri": "/p"}', "no Host"),
        ('{"status": 401}', "has no request"),
        ('[{"request": [1, {}]}]', "has no request"),
        ('{"method": "GET", "url": "/"} x', "is not"),
        ('{"method": "GET", "url": "/"}\n[', "is not"),
        ("[" * 100_000, "is not"),
        ('[{"a":' * 100_000, "is not"),
        ("GET / HTTP/1.1\nnothing\n\n", "not a header"),
        ("GET / HTTP/1.1\n\n", "no Host"),
        ("GET p HTTP/1.1\nHost: a\n\n", "not a path"),
    ],
)
def test_malformed_text_has_a_message_without_its_text(text, message):
    with pytest.raises(MalformedRequest, match=message) as raised:
        parse(text)
    assert str(raised.value).isascii()


@pytest.mark.parametrize(
    "content",
    [
        "Content-Length: x\n\n",
        "Transfer-Encoding: chunked\n\nx",
        "Transfer-Encoding: chunked\n\n5\nab",
        "Transfer-Encoding: chunked\n\n1\nab\n0\n\n",
    ],
)
def test_content_that_is_incomplete_is_not_known(content):
    assert not parse(f"POST / HTTP/1.1\nHost: a\n{content}").is_whole


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_chunks_are_joined(line_end):
    text = "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2;x=y\nab\n1\nc\n0\n\n".replace("\n", line_end)
    assert parse(text).request.body == b"abc"


@pytest.mark.parametrize(("target", "url"), [("*", "https://a"), ("http://b.test/p", "http://b.test/p")])
def test_target_in_another_form_is_read(target, url):
    assert parse(f"OPTIONS {target} HTTP/1.1\nHost: a\n\n").request.url == url


@pytest.mark.parametrize(
    ("host", "scheme"),
    [
        ("localhost:8000", "http"), ("Localhost", "http"), ("127.0.0.1:5000", "http"), ("[::1]:8000", "http"),
        ("localhost:443", "https"), ("localhost.example", "https"), ("127.0.0.10", "https"),
    ],
)  # fmt: skip
def test_scheme_of_a_loopback_host_is_http_unless_origins_say_otherwise(host, scheme):
    text = f"GET /p HTTP/1.1\nHost: {host}\n\n"
    assert parse(text).request.url == f"{scheme}://{host}/p"
    assert parse(text, origins=[Origin.parse("https://h.example")]).request.url == f"https://{host}/p"


def test_content_without_a_length_is_the_rest():
    assert parse("POST / HTTP/1.1\nHost: a\n\nrest").request.body == b"rest"
    assert parse("\r\nPOST / HTTP/1.1\nHost: a\n").request.body == b""


def test_first_signed_request_of_the_output_of_curl_is_read():
    shown = b"* x\n> GET /first HTTP/1.1\n> Host: a\n> \n< HTTP/1.1 301 Moved\n< Signature: none\n"
    signed = b"> GET /second HTTP/2\n> Host: a\n* between\n> Signature: sig1=:AA==:\n>\n{ [5 bytes data]\n> not: read\n"
    request = parse(shown + signed).request
    assert (request.url, request.fields.lines) == (
        "https://a/second", (("host", "a"), ("signature", "sig1=:AA==:"))
    )  # fmt: skip
    assert parse(shown).request.url == "https://a/first"
    assert parse(shown + signed[:40]).request.url == "https://a/first"


@pytest.mark.parametrize("option", ["--tcp-nodelay", "--location-trusted", "-q"])
def test_option_of_curl_that_is_not_known_swallows_no_word(option):
    with pytest.raises(MalformedRequest, match="an option that is not read"):
        parse(f"curl {option} -I https://h.example/x")


def test_only_signed_line_of_several_is_read():
    unsigned = {"request": {"method": "GET", "host": "a.example", "uri": "/", "headers": {}}}
    signed = {"request": {"method": "POST", "host": "a.example", "uri": "/b", "headers": {"Signature": ["x"]}}}
    text = "\n".join(map(json.dumps, (unsigned, signed, {"level": "info"}, 5)))
    assert parse(text).request.method == "POST"
    assert parse(json.dumps(unsigned)).request.method == "GET"
    with pytest.raises(MalformedRequest, match="2 signed requests: give one of them"):
        parse(text + json.dumps(signed))


def test_log_of_several_requests_tells_how_far_off_the_clock_of_the_last_sender_is():
    def line(keyid: str, created: int, at: int) -> str:
        fields = {"Signature-Input": f'sig1=();created={created};keyid="{keyid}"', "Signature": "sig1=:AA==:"}
        request = {"method": "GET", "url": f"https://a.example/{created}", "headers": fields}
        return f"DEBUG {json.dumps({'request': request, 'received_at': at})}"

    found = parse("\n".join([line("a", 100, 90), line("b", 1, 90), line("a", 120, 108)]))
    assert (found.request.url, found.received_at) == ("https://a.example/120", 108)
    assert found.clock_offsets == (10, 12)


@pytest.mark.parametrize(
    ("members", "fields", "body"),
    [
        ({}, [], ""),
        ({"headers": None, "body": None, "body_b64": None, "id": 1}, [], ""),
        ({"headers": {"X": ["é", ""], "b": " 2 "}, "body": "é\r\n"}, ["x: é", "x: ", "b: 2"], "é\r\n"),
        ({"headers": [["b", "1"], ["X-A", ""], ["B", "3"]], "body_b64": "w6k="}, ["b: 1", "x-a: ", "b: 3"], "é"),
    ],
)
def test_headers_of_json_are_an_object_or_pairs_and_its_body_is_text_or_base64(members, fields, body):
    request = parse(json.dumps({"method": "POST", "url": "https://a.test/", **members})).request
    lines = [f"{name}: {value}".encode("latin-1").decode() for name, value in request.fields.lines[1:]]
    assert (lines, request.body.decode()) == (fields, body)


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([{"url": None}, {"url": 1}], "method and url must be strings"),
        ([{"headers": one} for one in ("a: b", 1)], "an object or a list"),
        ([{"headers": one} for one in ({"a": 1}, {"a": ["b", 1]}, ["ab"], [["a"]], [[*"abc"]])], "must be strings"),
        ([{"headers": one} for one in ([["a", None]], [{"a": "b"}])], "must be strings"),
        ([{"body": one, "body_b64": one} for one in ("YQ==", "")], "either body or body_b64"),
        ([{"body": {"a": 1}}, {"body_b64": 1}], "either body or body_b64"),
        ([{"body": "\ud800"}], "lone surrogate"),
        ([{"body_b64": one} for one in ("YQ", "YQ==\n", "_-__", "\u00fc", "*")], "not padded Base64"),
    ],
)
def test_json_without_the_form_of_a_request_is_malformed(requests, message):
    for members in requests:
        with pytest.raises(MalformedRequest, match=message):
            parse(json.dumps({"method": "GET", "url": "https://a.test", **members}))


@given(
    st.binary(max_size=80)
    | st.sampled_from([WHOLE.decode(), CURL, CADDY, LINE]).flatmap(
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
