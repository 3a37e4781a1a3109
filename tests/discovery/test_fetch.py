"""The guarded fetch, as a source of keys uses it. Webhooks are fetched by it too: `tests/test_webhooks.py`."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.discovery.key_server import redirect, response
from tests.keys import JWKS, lookup

from undersigned import ConfigurationError, KeySourceError
from undersigned.discovery import RemoteJWKS

LIMIT = 65_536
SET = json.dumps(JWKS).encode()


@pytest.fixture
def fetched(world, server):
    """Fetches a JWK set from the server, and returns a key of it."""

    def fetch(path="/x", *, host="keys.example.com", network=None, url=None):
        source = RemoteJWKS(url or server.url(path, host), network=network or server.network())
        return world.find(source, lookup().keyid)

    return fetch


def failure(fetched, *, reason="signature_jwks_unavailable", **options) -> str:
    """Why the set cannot be fetched."""
    with pytest.raises(KeySourceError) as raised:
        fetched(**options)
    assert raised.value.reason == reason
    return str(raised.value)


def test_fetch_sends_host_and_target_of_the_url_and_nothing_of_the_environment(fetched, server, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine keys.example.com login user password secret")
    monkeypatch.setenv("NETRC", str(netrc))
    for proxy in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:1")
    server.answers["/x?y=%20"] = response(SET)
    assert fetched("/x?y=%20#part")
    assert server.requests == [
        f"GET /x?y=%20 HTTP/1.1\r\nHost: keys.example.com:{server.port}\r\nAccept: application/jwk-set+json, "
        "application/json\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n".encode()
    ]


def test_address_of_ipv6_has_brackets_in_the_host_field(fetched, server):
    server.answers["/keys?x"] = response(SET)
    network = server.network(resolve=lambda _host, _port: ["127.0.0.1"])
    assert fetched("/keys?x", host="[2606:4700::1111]", network=network)
    assert f"\r\nHost: [2606:4700::1111]:{server.port}\r\n".encode() in server.requests[0]


def test_fetch_reads_a_body_up_to_the_limit(fetched, server):
    server.answers["/x"] = response(SET.ljust(LIMIT))
    assert fetched()


def test_fetch_does_not_read_the_body_of_an_error(fetched, server):
    server.answers["/x"] = response(b"x" * (2 * LIMIT), "Content-Encoding: br", status="500 Oops")
    assert "the server answers 500" in failure(fetched)


CLOSED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


HOSTILE = {
    "too large": (response(b"x" * (LIMIT + 1)), "more than 65536 bytes"),
    "says too large": (response(b"x", length=10**15), "more than 65536 bytes"),
    "absurd length": (response(b"x", length=10**25), "exchange failed"),
    "too large without length": (CLOSED + b"\r\n" + b"x" * (LIMIT + 1), "more than 65536 bytes"),
    "gzip": (response(gzip.compress(SET), "Content-Encoding: gzip"), "content coding"),
    "cut off": (response(SET, length=len(SET) + 5), "exchange failed"),
    "two lengths": (response(SET, "Content-Length: 7"), "exchange failed"),
    "nothing": (b"", "exchange failed"),
    "another protocol": (b"SSH-2.0-OpenSSH\r\n\r\n", "exchange failed"),
    "endless field": (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 400_000, ("exchange failed", "too many bytes")),
    "to metadata": (redirect("https://169.254.169.254/latest/meta-data"), "redirect"),
    "to http": (redirect("http://keys.example.com/"), "redirect"),
    "to itself": (redirect("/x"), "redirect"),
}


@pytest.mark.parametrize(("answer", "told"), HOSTILE.values(), ids=HOSTILE)
def test_fetch_rejects_what_a_server_should_not_send(fetched, server, answer, told):
    server.answers["/x"] = answer
    said = failure(fetched)
    assert any(words in said for words in ((told,) if isinstance(told, str) else told))
    assert len(server.requests) == 1


ENDLESS = {
    "body": (CLOSED + b"\r\n", b"x" * 100),
    "fields": (CLOSED, b"Name: value\r\n" * 20),
    "chunks": (CLOSED + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


@pytest.mark.parametrize(("start", "rest"), ENDLESS.values(), ids=ENDLESS)
def test_fetch_ends_although_the_server_does_not(fetched, server, start, rest):
    server.answers["/x"] = server.endlessly(start, rest)
    assert failure(fetched)


@pytest.mark.parametrize("slow", [0, 3, 60])
def test_fetch_ends_in_time_although_every_byte_comes_in_time(fetched, server, slow):
    text = response(b"x" * 500)
    started = server.slowly(text[slow:], seconds=0.05)

    def answer(connection, request):
        connection.sendall(text[:slow])
        started(connection, request)

    server.answers["/x"] = answer
    assert "too long" in failure(fetched, network=server.network(total_timeout=0.3))


def test_fetch_ends_in_time_when_the_server_is_silent(fetched, server):
    server.hold.clear()
    assert "too long" in failure(fetched, network=server.network(total_timeout=0.2))


def test_fetch_ends_in_time_when_the_resolver_is_silent(fetched, server):
    released = threading.Event()

    def resolve(_host, _port):
        released.wait(10)
        return ["127.0.0.1"]

    assert "too long" in failure(fetched, network=server.network(total_timeout=0.1, resolve=resolve))
    released.set()


class Slow(list):
    """Addresses that take longer to read than a fetch may take."""

    def __iter__(self):
        time.sleep(0.3)
        return super().__iter__()


def test_fetch_connects_nowhere_when_its_time_is_over(fetched, server):
    network = server.network(total_timeout=0.2, resolve=lambda _host, _port: Slow(["127.0.0.1"]))
    assert "too long" in failure(fetched, network=network)
    assert server.requests == []


def test_fetch_ends_in_time_when_the_handshake_is_silent(fetched, server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://keys.example.com:{silent.getsockname()[1]}/x"
        assert "the connection failed: it timed out" in failure(
            fetched, url=url, network=server.network(total_timeout=0.3)
        )


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
def test_fetch_says_that_a_name_has_no_address(fetched, server, error):
    def resolve(_host, _port):
        raise error

    assert "no address" in failure(fetched, network=server.network(resolve=resolve))


def test_fetch_rejects_a_certificate_of_another_name(fetched):
    said = failure(fetched, host="other.example.com")
    assert re.search(r"^the JWK set: the connection failed: the server's certificate is for another host$", said)


def test_fetch_rejects_an_unknown_authority(fetched, server):
    assert "certificate is not trusted" in failure(fetched, network=server.network(tls=None))


def test_fetch_says_that_the_server_refused(fetched):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    said = failure(fetched, url=f"https://keys.example.com:{port}/x")
    assert re.search(r"^the JWK set: the connection failed: the server refused it$", said)


@contextlib.contextmanager
def plain_server(serve):
    """Serve one connection without TLS; yield the URL."""
    with socket.create_server(("127.0.0.1", 0)) as plain, ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: serve(plain.accept()[0]))
        yield f"https://keys.example.com:{plain.getsockname()[1]}/x"


def test_fetch_needs_tls(fetched):
    def speak(connection) -> None:
        with connection:
            connection.sendall(response(b"{}"))

    with plain_server(speak) as url:
        assert "does not speak TLS" in failure(fetched, url=url)


def test_fetch_connects_to_the_address_that_was_checked_and_asks_for_it_once(fetched, server):
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    server.answers["/x"] = response(SET)
    network = server.network(resolve=lambda _host, _port: next(answers))
    assert fetched(network=network)
    failure(fetched, reason="signature_jwks_untrusted", network=network)
    assert len(server.requests) == 1


def test_fetch_tries_another_checked_address_when_one_does_not_connect(fetched, server):
    server.answers["/x"] = response(SET)
    assert fetched(network=server.network(resolve=lambda _host, _port: ["127.0.0.2", "127.0.0.1"]))


@pytest.mark.parametrize(
    "url",
    [
        "http://keys.example.com/",
        "https://user@keys.example.com/",
        "https://keys.example.com:99999/",
        "file:///etc/passwd",
        "https://keys.example.com/" + "x" * 2048,
        "keys.example.com",
        b"https://keys.example.com/",
        "",
    ],
)
def test_url_that_is_not_plainly_https_is_a_mistake(url):
    with pytest.raises(ConfigurationError, match=r"^url: "):
        RemoteJWKS(url)


LOCAL = (
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "localhost",
    "[64:ff9b::7f00:1]",
)


@pytest.mark.parametrize("host", LOCAL)
def test_fetch_rejects_every_spelling_of_a_local_address(fetched, server, host):
    network = server.network(allowed=(), resolve=lambda host, port: [a[4][0] for a in socket.getaddrinfo(host, port)])
    assert "private, local" in failure(
        fetched, reason="signature_jwks_untrusted", url=f"https://{host}:{server.port}/x", network=network
    )
    assert server.requests == []


def test_fetch_says_that_the_server_closed_the_connection(fetched):
    def reset(connection) -> None:
        connection.recv(1)  # the client is connected, and has begun the handshake
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    with plain_server(reset) as url:
        assert "cannot be reached, or closed it (ConnectionResetError)" in failure(fetched, url=url)


def test_fetch_works_when_the_process_may_have_no_more_threads(fetched, server, monkeypatch):
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("undersigned"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    server.answers["/x"] = response(SET)
    assert fetched()
