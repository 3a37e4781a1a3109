"""aiohttp's client: the middleware signs every attempt, and says what it cannot sign."""

from __future__ import annotations

import asyncio
import io
import json
import os
from dataclasses import dataclass

import aiohttp
import pytest
import yarl
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.capture import DROPPED, capturing
from tests.seller import KEYID, is_accepted, make_signer, make_verifier

from undersigned import Request, SigningError, UndersignedError
from undersigned.client import ClientSigner
from undersigned_aiohttp import SigningMiddleware

ORIGIN = "http://seller.example.com"
JSON = {"json": {"a": 1}}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    content: bytes

    def json(self):
        return json.loads(self.content)


CONTENT = b"ab\x00\xff" * 20_000


async def chunks():
    for start in range(0, len(CONTENT), 1000):
        yield CONTENT[start : start + 1000]


def send(method, url, origin, *, signer=None, signing=None, session=None, **parts) -> Answer:
    """Send one request by a session of its own; `origin` is one, or a list of them."""
    origins = origin if isinstance(origin, list) else [origin]

    async def sending() -> Answer:
        middlewares = (SigningMiddleware(signer or make_signer(), origins=origins, **(signing or {})),)
        async with (
            aiohttp.ClientSession(middlewares=middlewares, **(session or {})) as client,
            client.request(method, url, **parts) as response,
        ):
            return Answer(response.status, await response.read())

    return asyncio.run(sending())


def send_once(method="POST", target="/p", **parts):
    with capturing() as capture:
        origin = capture.origin
        send(method, f"{origin}{target}", origin, **parts)
    assert is_accepted(capture.only)
    return capture.only


@pytest.mark.parametrize("raw", ["/p?a[]=1|2^`{}", "/[|^]", "/%7e?%7e", "/%41", "/p?", "/p??"])
def test_target_that_is_not_quoted_again_is_sent_as_it_is_signed(raw):
    with capturing() as capture:
        origin = capture.origin
        send("GET", yarl.URL(f"{origin}{raw}", encoded=True), origin)
    assert is_accepted(capture.only)


@given(typed=st.text(st.characters(codec="utf-8"), max_size=40), encoded=st.booleans())
def test_aiohttp_changes_nothing_of_any_target_that_was_signed(typed, encoded):
    try:
        asked = str(yarl.URL(f"{ORIGIN}/{typed}", encoded=encoded))
        signed = ClientSigner(make_signer(), [ORIGIN]).sign("GET", asked, [], b"")
    except (UndersignedError, ValueError):
        return
    url = yarl.URL(signed.url, encoded=True)
    assert (str(url), f"{ORIGIN}{url.raw_path_qs}") == (signed.url, signed.url)


@pytest.mark.parametrize(
    ("body", "content_type", "content"),
    [
        ({"json": {"a": "\u00e9"}}, "application/json", b'{"a": "\\u00e9"}'),
        ({"data": {"a": "1", "b": "\u00e9"}}, "application/x-www-form-urlencoded", b"a=1&b=%C3%A9"),
        ({"data": CONTENT}, "application/octet-stream", CONTENT),
        ({"data": "caf\u00e9"}, "text/plain; charset=utf-8", "caf\u00e9".encode()),
        ({"data": io.BytesIO(CONTENT)}, "application/octet-stream", CONTENT),
        ({"data": io.StringIO("caf\u00e9")}, "text/plain; charset=utf-8", "caf\u00e9".encode()),
        ({"data": chunks(), "headers": {"Content-Type": "a/b"}}, "a/b", CONTENT),
        ({"data": CONTENT, "chunked": True, "headers": {"Content-Type": "a/b"}}, "a/b", CONTENT),
        ({"data": CONTENT, "headers": {"Content-Type": "a/b", "Content-Length": "10"}}, "a/b", CONTENT[:10]),
        ({"data": chunks(), "headers": {"Content-Type": "a/b", "Content-Length": "10"}}, "a/b", CONTENT[:10]),
    ],
    ids=["json", "form", "bytes", "text", "file", "text file", "generator", "chunked", "cut", "generator, cut"],
)
def test_content_on_the_wire_is_the_signed_content(body, content_type, content):
    sent = send_once(**body)
    assert sent.lines("content-type") == [content_type]
    assert (sent.body, len(sent.lines("content-digest"))) == (content, 1)


@pytest.mark.parametrize("extra", ["text", "file", "generator", "deflated"])
def test_multipart_on_the_wire_is_the_signed_content(extra, tmp_path):
    form = aiohttp.FormData()
    form.add_field("a", "1", content_type="text/plain")
    if extra == "file":
        (tmp_path / "f").write_bytes(CONTENT)
        form.add_field("f", (tmp_path / "f").open("rb"))
    if extra == "generator":
        form.add_field("f", chunks(), content_type="a/b")
    if extra == "deflated":
        form = aiohttp.MultipartWriter()
        form.append(CONTENT, {"Content-Encoding": "deflate"})
    sent = send_once(data=form)
    assert sent.lines("content-type")[0].startswith("multipart/")
    assert (CONTENT in sent.body) == (extra in {"file", "generator"})


def test_pipe_is_kept():
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert send_once(data=pipe).body == b"abc"


def test_compression_is_rejected_as_it_changes_the_content():
    with pytest.raises(SigningError, match="compress: aiohttp would change the body after it is signed"):
        send("POST", ORIGIN, ORIGIN, data=CONTENT, compress="gzip")


def test_field_that_is_not_ascii_is_sent_beside_the_signed_ones():
    assert send_once("GET", headers={"X-A": "\u20ac"}).lines("x-a") == ["\u20ac".encode().decode("latin-1")]


def test_proxy_from_the_environment_gets_the_canonical_url(monkeypatch):
    with capturing() as proxy:
        monkeypatch.setenv("http_proxy", proxy.origin)
        send("GET", f"{ORIGIN}:80/%7ea/./b?q", ORIGIN, session={"trust_env": True})
    assert (proxy.only.target, proxy.only.lines("host")) == (f"{ORIGIN}/~a/b?q", ["seller.example.com"])


def test_dropped_connection_is_retried_with_a_signature_of_its_own():
    with capturing(first=[DROPPED]) as capture:
        origin = capture.origin
        send("PUT", f"{origin}/p", origin, **JSON)
    verifier = make_verifier()
    assert [verifier.verify(one.request()).keyid for one in capture.sent] == [KEYID] * 2


def test_websocket_handshake_is_signed_as_http():
    came = []

    async def echo(request):
        came.append(request)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str("hello")
        await socket.close()
        return socket

    async def connect():
        app = web.Application()
        app.router.add_get("/ws", echo)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host = f"127.0.0.1:{runner.addresses[0][1]}"
        signing = SigningMiddleware(make_signer(), origins=[f"http://{host}"])
        async with aiohttp.ClientSession(middlewares=[signing]) as client, client.ws_connect(f"ws://{host}/ws") as ws:
            told = await ws.receive_str()
        await runner.cleanup()
        return host, told

    host, told = asyncio.run(connect())
    assert told == "hello"
    [request] = came
    received = Request("GET", f"http://{host}/ws", list(request.headers.items()))
    assert make_verifier().verify(received).keyid == KEYID


def test_middleware_inside_reads_a_signed_file_as_text(seller, tmp_path):
    (tmp_path / "file").write_text("signed")
    seen = []

    async def reading(request, handler):
        seen.append(request.body.decode())
        return await handler(request)

    async def sending():
        middlewares = (SigningMiddleware(make_signer(), origins=[seller.origin]), reading)
        with (tmp_path / "file").open("rb") as file:
            async with (
                aiohttp.ClientSession(middlewares=middlewares) as client,
                client.post(f"{seller.origin}/p", data=file) as response,
            ):
                return await response.json()

    assert asyncio.run(sending())["keyid"] == KEYID
    assert seen == ["signed"]
