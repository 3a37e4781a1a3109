"""The probe client against sockets with prepared answers."""

from __future__ import annotations

import socket
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.certificate import localhost_certificate
from tests.cli.listener import listener

from undersigned import canonicalize
from undersigned.cli.doctor import probes
from undersigned.cli.doctor.probes import MOST_CONTENT, Probe
from undersigned.cli.http import NoAnswer, Verdict, read_verdict

PLAIN = Probe("GET", "/p", "seller.example.com")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def ask(port: int, probe: Probe = PLAIN, *, scheme: str = "http", timeout: float = 10) -> Verdict:
    site = canonicalize(f"{scheme}://127.0.0.1:{port}")
    return probes.ask(site, probe, timeout=timeout, tls=ssl.create_default_context())


@pytest.mark.parametrize("target", ["/a%2Fb//c/./d/%7Eu?b=2&a=1", "//evil.example/p", "/p?", "/p??", "/a/../b"])
def test_probe_is_sent_byte_for_byte(target):
    received: list[bytes] = []
    with listener(OK, received) as port:
        assert ask(port, Probe("HEAD", target, "Seller.example.com:443", (("Signature", "sig1=:AAAA:"),))).status == 200
    lines = received[0].split(b"\r\n")
    assert lines[0] == f"HEAD {target} HTTP/1.1".encode()
    assert [line for line in lines if line.lower().startswith(b"host:")] == [b"Host: Seller.example.com:443"]
    assert b"Signature: sig1=:AAAA:" in lines
    assert not [line for line in lines if line.lower().startswith((b"content-", b"transfer-", b"accept-encoding"))]


def test_content_is_sent_with_its_length():
    received: list[bytes] = []
    with listener(OK, received, until=b"{}") as port:
        ask(port, Probe("POST", "/p", "h", content=b"{}"))
    assert b"\r\nContent-Length: 2\r\n" in received[0]
    assert received[0].endswith(b"\r\n\r\n{}")


def test_content_is_sent_in_chunks_without_its_length():
    received: list[bytes] = []
    with listener(OK, received, until=b"\r\n0\r\n\r\n") as port:
        ask(port, Probe("POST", "/p", "h", content=b"{}", chunked=True))
    assert b"\r\nTransfer-Encoding: chunked\r\n" in received[0]
    assert b"Content-Length" not in received[0]
    assert received[0].endswith(b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("challenges", "code"),
    [
        (['Signature error="request_signature_invalid"'], "signature_invalid"),
        (['Signature error="webhook_signature_required"'], "signature_required"),
        (["Basic", 'Bearer realm="x", Signature error="request_signature_invalid"'], "signature_invalid"),
        (['Signature error="unheard_of"'], "unheard_of"),
        (['Signature error="REQUEST"'], ""),
        (['XSignature error="request_signature_invalid"'], ""),
        (['Signature error="' + "a" * 65 + '"'], ""),
        (["Basic"], ""),
        ([], ""),
    ],
)
def test_code_comes_from_the_challenge(challenges, code):
    head = "HTTP/1.1 401 Unauthorized\r\n" + "".join(f"WWW-Authenticate: {value}\r\n" for value in challenges)
    with listener(f"{head}Content-Length: 0\r\n\r\n".encode()) as port:
        assert ask(port) == Verdict(401, code)


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        (503, b'{"error": "request_signature_server_unsupported"}', "signature_server_unsupported"),
        (413, b'{"error": "content_too_large"}', "content_too_large"),
        (408, b'{"error": "request_timeout"}', "request_timeout"),
        (503, b'{"error": "overloaded"}', ""),
        (503, b'{"error": "request_\x1b[31m"}', ""),
        (503, b'{"error": 1}', ""),
        (503, b'{"reason": "x"}', ""),
        (503, b"[]", ""),
        (503, b"<html>", ""),
        (503, b"\xff", ""),
        (503, b"[" * 100_000, ""),
        (404, b'{"error": "request_signature_invalid"}', ""),
    ],
)
def test_code_comes_from_content_only_when_a_challenge_is_impossible(status, content, code):
    assert read_verdict(status, [], content) == Verdict(status, code)


@given(status=st.integers(100, 599), challenge=st.text(max_size=100), content=st.binary(max_size=100))
def test_any_answer_is_read(status, challenge, content):
    code = read_verdict(status, [challenge], content).code
    assert code == "" or (code.isascii() and code.islower() and code.isprintable())


def test_content_is_read_up_to_its_bound_only():
    head = b"HTTP/1.1 503 No\r\nContent-Length: 100000000\r\n\r\n"
    with listener(head + b" " * MOST_CONTENT) as port:
        assert ask(port) == Verdict(503, "")


@pytest.mark.parametrize("response", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 xyz\r\n\r\n"])
def test_response_is_no_answer_when_it_is_not_http(response):
    with listener(response) as port, pytest.raises(NoAnswer, match=r"not HTTP/1\.1|connection|reset"):
        ask(port)


def test_ask_raises_when_the_server_cannot_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    with pytest.raises(NoAnswer, match="refused"):
        ask(port)


def test_ask_raises_when_the_name_does_not_resolve():
    site = canonicalize("http://undersigned.invalid")
    with pytest.raises(NoAnswer, match="no such name"):
        probes.ask(site, PLAIN, timeout=10, tls=ssl.create_default_context())


def test_ask_raises_when_the_server_is_silent():
    with listener(None) as port, pytest.raises(NoAnswer, match=r"no data for 0\.2 seconds"):
        ask(port, timeout=0.2)


def test_ask_raises_when_the_server_does_not_use_tls():
    with listener(b"HTTP/1.1 400 Bad\r\n\r\n") as port, pytest.raises(NoAnswer):
        ask(port, scheme="https")


@pytest.fixture
def certificate(tmp_path):
    return localhost_certificate(tmp_path / "localhost.pem")


@pytest.fixture
def tls(certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_probe_is_sent_over_tls_when_the_certificate_is_trusted(tls, certificate):
    with listener(OK, tls=tls) as port:
        site, trusted = canonicalize(f"https://localhost:{port}"), ssl.create_default_context(cafile=certificate)
        assert probes.ask(site, PLAIN, timeout=10, tls=trusted) == Verdict(200, "")


def test_probe_is_not_sent_when_the_certificate_is_not_trusted(tls):
    received: list[bytes] = []
    with (
        listener(OK, received, tls=tls) as port,
        pytest.raises(NoAnswer, match="certificate is not trusted: self-signed certificate"),
    ):
        ask(port, scheme="https")
    assert received == []
