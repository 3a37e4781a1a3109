from __future__ import annotations

import asyncio
import gzip
import math
import socket
import struct
import threading

import pytest
from tests.discovery.key_server import redirect, response

from undersigned.discovery.fetch import FetchRequest, Target, fetch_async
from undersigned.discovery.fetch import fetch as fetch_blocking
from undersigned.discovery.fetch_errors import NotConnected, Unreachable, UntrustedURL, UnusableDocument

LIMIT = 1000


@pytest.fixture(params=["threads", "asyncio"])
def fetched(request, server):
    """Fetches from the server as a source would."""

    def fetch(path="/x", *, host="keys.example.com", network=None, url=None, **options):
        asked = FetchRequest(url=url or server.url(path, host), **{"max_bytes": LIMIT, **options})
        network = network or server.network()
        if request.param == "threads":
            return fetch_blocking(asked, network)
        return asyncio.run(fetch_async(asked, network))

    return fetch


def test_fetch_returns_status_fields_and_body(fetched, server):
    server.answers["/x"] = response(b"body", "ETag: x", "Vary: a", "vary: b")
    answer = fetched()
    assert (answer.status, answer.body) == (200, b"body")
    assert answer.fields == {"etag": "x", "vary": "a, b", "content-length": "4"}


def test_fetch_sends_host_and_target_of_the_url_and_nothing_of_the_environment(fetched, server, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine keys.example.com login user password secret")
    monkeypatch.setenv("NETRC", str(netrc))
    for proxy in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:1")
    server.answers["/x?y=%20"] = response(b"")
    fetched("/x?y=%20#part", accept="text/plain", fields=[("If-None-Match", '"a"')])
    assert server.requests == [
        f"GET /x?y=%20 HTTP/1.1\r\nHost: keys.example.com:{server.port}\r\nAccept: text/plain\r\n"
        'Accept-Encoding: identity\r\nConnection: close\r\nIf-None-Match: "a"\r\n\r\n'.encode()
    ]


def test_fetch_posts_content(fetched, server):
    server.answers["/x"] = response(b"")
    fetched(method="POST", content=b"{}")
    assert server.requests[0].startswith(b"POST /x HTTP/1.1\r\n")
    assert server.requests[0].endswith(b"\r\nContent-Length: 2\r\n\r\n{}")


def test_fetch_reads_a_body_up_to_the_limit(fetched, server):
    server.answers["/x"] = response(b"x" * LIMIT)
    assert fetched().body == b"x" * LIMIT


def test_fetch_does_not_read_the_body_of_an_error(fetched, server):
    server.answers["/x"] = response(b"x" * 5000, "Content-Encoding: br", status="500 Oops")
    answer = fetched()
    assert (answer.status, answer.body) == (500, b"")


def test_fetch_stops_to_read_when_the_caller_has_enough(fetched, server):
    server.answers["/x"] = server.endlessly(b"HTTP/1.1 200 OK\r\n\r\n", b"data: 1\n\n")
    assert fetched(ends=lambda read: b"\n\n" in read, max_bytes=100_000).body.startswith(b"data: 1\n\n")


CLOSED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


HOSTILE = {
    "too large": (response(b"x" * (LIMIT + 1)), UnusableDocument, "more than 1000 bytes"),
    "says too large": (response(b"x", length=10**15), UnusableDocument, "more than 1000 bytes"),
    "absurd length": (response(b"x", length=10**25), Unreachable, "exchange failed"),
    "too large without length": (CLOSED + b"\r\n" + b"x" * (LIMIT + 1), UnusableDocument, "more than 1000 bytes"),
    "gzip": (response(gzip.compress(b"x"), "Content-Encoding: gzip"), UnusableDocument, "content coding"),
    "another coding": (response(b"x", "Content-Encoding: br"), UnusableDocument, "content coding"),
    "gzip twice": (response(b"x", "Content-Encoding: gzip", "Content-Encoding: gzip"), UnusableDocument, "coding"),
    "cut off": (response(b"x", length=5), Unreachable, "exchange failed"),
    "two lengths": (response(b"x", "Content-Length: 7"), Unreachable, "exchange failed"),
    "nothing": (b"", Unreachable, "exchange failed"),
    "another protocol": (b"SSH-2.0-OpenSSH\r\n\r\n", Unreachable, "exchange failed"),
    "endless field": (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, Unreachable, "exchange failed|too many bytes"),
    "endless responses": (b"HTTP/1.1 103 Early\r\n\r\n" * 5000, Unreachable, "too many bytes"),
    "to metadata": (redirect("https://169.254.169.254/latest/meta-data"), Unreachable, "redirect"),
    "to http": (redirect("http://keys.example.com/"), Unreachable, "redirect"),
    "to itself": (redirect("/x"), Unreachable, "redirect"),
}


@pytest.mark.parametrize(("answer", "error", "told"), HOSTILE.values(), ids=HOSTILE)
def test_fetch_rejects_what_a_server_should_not_send(fetched, server, answer, error, told):
    server.answers["/x"] = answer
    with pytest.raises(error, match=told):
        fetched()
    assert len(server.requests) == 1


ENDLESS = {
    "body": (CLOSED + b"\r\n", b"x" * 100),
    "fields": (CLOSED, b"Name: value\r\n" * 20),
    "chunks": (CLOSED + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


@pytest.mark.parametrize(("start", "rest"), ENDLESS.values(), ids=ENDLESS)
def test_fetch_ends_although_the_server_does_not(fetched, server, start, rest):
    server.answers["/x"] = server.endlessly(start, rest)
    with pytest.raises((UnusableDocument, Unreachable)):
        fetched()


@pytest.mark.parametrize("slow", [0, 3, 60])
def test_fetch_ends_in_time_although_every_byte_comes_in_time(fetched, server, slow):
    text = response(b"x" * 500)
    started = server.slowly(text[slow:], seconds=0.05)

    def answer(connection, request):
        connection.sendall(text[:slow])
        started(connection, request)

    server.answers["/x"] = answer
    with pytest.raises(Unreachable, match="too long"):
        fetched(network=server.network(total_timeout=0.3))


@pytest.mark.parametrize(("network", "request_"), [(0.2, math.inf), (10, 0.2), (10, -1)])
def test_fetch_ends_in_time_when_the_server_is_silent(fetched, server, network, request_):
    server.hold.clear()
    with pytest.raises(Unreachable, match="too long"):
        fetched(network=server.network(total_timeout=network), seconds=request_)


def test_fetch_ends_in_time_when_the_resolver_is_silent(fetched, server):
    released = threading.Event()

    def resolve(_host, _port):
        released.wait(10)
        return ["127.0.0.1"]

    with pytest.raises(Unreachable, match="too long"):
        fetched(network=server.network(total_timeout=0.1, resolve=resolve))
    released.set()


def test_fetch_ends_in_time_when_the_handshake_is_silent(fetched, server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://keys.example.com:{silent.getsockname()[1]}/x"
        with pytest.raises(NotConnected, match="the connection failed: it timed out"):
            fetched(url=url, network=server.network(total_timeout=0.3))


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
def test_fetch_says_that_a_name_has_no_address(fetched, server, error):
    def resolve(_host, _port):
        raise error

    with pytest.raises(Unreachable, match="no address"):
        fetched(network=server.network(resolve=resolve))


def test_fetch_rejects_a_certificate_of_another_name(fetched):
    with pytest.raises(NotConnected, match=r"^the connection failed: the server's certificate is for another host$"):
        fetched(host="other.example.com")


def test_fetch_rejects_an_unknown_authority(fetched, server):
    with pytest.raises(NotConnected, match="certificate is not trusted"):
        fetched(network=server.network(tls=None))


def test_fetch_says_that_the_server_refused(fetched):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(NotConnected, match=r"^the connection failed: the server refused it$"):
        fetched(url=f"https://keys.example.com:{port}/x")


def test_fetch_needs_tls(fetched):
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def speak() -> None:
            connection, _ = plain.accept()
            with connection:
                connection.sendall(response(b"{}"))

        thread = threading.Thread(target=speak)
        thread.start()
        with pytest.raises(NotConnected, match="does not speak TLS"):
            fetched(url=f"https://keys.example.com:{plain.getsockname()[1]}/x")
        thread.join()


def test_fetch_connects_to_the_address_that_was_checked_and_asks_for_it_once(fetched, server):
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    server.answers["/x"] = response(b"first")
    network = server.network(resolve=lambda _host, _port: next(answers))
    assert fetched(network=network).body == b"first"
    with pytest.raises(UntrustedURL):
        fetched(network=network)
    assert len(server.requests) == 1


def test_fetch_connects_nowhere_when_one_of_the_addresses_is_special(fetched, server):
    with pytest.raises(UntrustedURL):
        fetched(network=server.network(resolve=lambda _host, _port: ["127.0.0.1", "10.0.0.1"]))
    assert server.requests == []


def test_fetch_tries_another_checked_address_when_one_does_not_connect(fetched, server):
    server.answers["/x"] = response(b"second")
    assert fetched(network=server.network(resolve=lambda _host, _port: ["127.0.0.2", "127.0.0.1"])).body == b"second"


@pytest.mark.parametrize(
    "url",
    [
        "http://keys.example.com/",
        "https://user@keys.example.com/",
        "https://user:password@keys.example.com/",
        "https://keys.example.com:99999/",
        "https://keys.example.com\\@evil.example.net/",
        "https://[fe80::1%25eth0]/",
        "https://kéys.example.com/",
        "https:///x",
        "ftp://keys.example.com/",
        "file:///etc/passwd",
        "https://keys.example.com/" + "x" * 2048,
        "",
    ],
)
def test_fetch_rejects_a_url_that_is_not_plainly_https(fetched, server, url):
    with pytest.raises(UntrustedURL):
        fetched(url=url or "x")
    assert server.requests == []


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
    with pytest.raises(UntrustedURL, match="private, local"):
        fetched(url=f"https://{host}:{server.port}/x", network=network)
    assert server.requests == []


def test_target_of_an_ipv6_url_keeps_brackets_for_the_host_field_only():
    target = Target.of("https://[2606:4700::1111]:8443/keys?x")
    assert (target.host, target.port, target.authority) == ("2606:4700::1111", 8443, "[2606:4700::1111]:8443")
    assert target.path_and_query == "/keys?x"


def test_fetch_says_that_the_server_closed_the_connection(fetched):
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def reset() -> None:
            connection, _ = plain.accept()
            connection.recv(1)  # the client is connected, and has begun the handshake
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        with pytest.raises(NotConnected, match=r"cannot be reached, or closed it \(ConnectionResetError\)"):
            fetched(url=f"https://keys.example.com:{plain.getsockname()[1]}/x")
        thread.join()


def test_fetch_works_when_the_process_may_have_no_more_threads(fetched, server, monkeypatch):
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("undersigned"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    server.answers["/x"] = response(b"body")
    assert fetched().body == b"body"
