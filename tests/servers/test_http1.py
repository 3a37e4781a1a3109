"""Every server over HTTP/1.1: valid spellings are verified, and no unsigned change reaches the application."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from tests.servers.matrix import MERGED, TRAILER_OF_A_NEW_FIELD
from tests.servers.requests_http1 import (
    ATTACKS,
    CHUNKED,
    HONEST,
    HOST,
    ORIGIN,
    SIGNER,
    post,
    signed,
    write_chunked,
    write_request,
)
from tests.wire import exchange, read_response

from undersigned import MalformedURL, Request, canonicalize


@pytest.mark.parametrize("case", HONEST)
def test_valid_request_is_verified_and_reaches_the_application_as_signed(served, case):
    honest = HONEST[case]
    if (honest.chunked and not served.server.chunked) or case in served.server.rejects:
        response = exchange(served.port, honest.raw())
        assert b" 200 " not in response.partition(b"\r\n")[0]
        assert served.calls() == []
        return
    head, _, content = exchange(served.port, honest.raw()).partition(b"\r\n\r\n")
    assert b" 200 " in head.partition(b"\r\n")[0], (head, content, served.logged()[-2000:])
    [call] = served.calls()
    assert json.loads(content) == call
    canonical = canonicalize(honest.url or ORIGIN + honest.target)
    assert (call["path"], call["scheme"], call["body"]) == (honest.path, "https", honest.body.decode())
    # ASGI does not show a question mark without a query.
    assert call["raw"] in {canonical.target_uri.removeprefix("https://" + canonical.authority), canonical.path}
    assert call["target_uri"].rstrip("?") == canonical.target_uri.rstrip("?")


@pytest.mark.parametrize("path", ["/Z%C3%BCrich", "/%E2%82%AC", "/%F0%9F%98%80", "/a%20b/%C3%BC?q=%C3%BC"])
def test_path_in_any_language_reaches_the_application_as_without_the_middleware(served, path):
    def seen(fields) -> dict:
        exchange(served.port, write_request(f"GET {path} HTTP/1.1", [("Host", HOST), *fields]))
        [call] = served.calls()
        return {name: call[name] for name in ("method", "path", "raw", "root", "body")}

    alone = seen([("X-Endpoint", "alone")])
    assert seen([("X-Endpoint", "optional")]) == alone
    assert seen(signed("GET", f"{ORIGIN}{path}")) == alone


@pytest.mark.parametrize("place", ["/a{}b", "/p?q={}b"])
def test_what_the_signer_signs_is_verified_if_the_server_takes_it(served, place):
    for code in range(0x20, 0x7F):
        for written in (chr(code), f"%{code:02X}"):
            try:
                target = SIGNER.sign(Request("GET", ORIGIN + place.replace("{}", written))).target_uri
            except MalformedURL:
                assert written in ' "%<>[]\\^`{|}' or written == "%2E"
                continue
            sent = write_request(
                f"GET {target.removeprefix(ORIGIN)} HTTP/1.1", [("Host", HOST), *signed("GET", target)]
            )
            head = exchange(served.port, sent).partition(b"\r\n\r\n")[0]
            # Some servers answer 400 by themselves.
            assert b"www-authenticate" not in head.lower(), (written, head)
    served.calls()  # the next test begins with none


@pytest.mark.parametrize("case", ATTACKS)
def test_unsigned_change_never_reaches_the_application(served, case):
    attack, seconds = ATTACKS[case], 30 if case in served.server.hides else 5
    try:
        response = exchange(served.port, attack.make(), shut=attack.ends, timeout=seconds)
    except (ConnectionError, TimeoutError):
        response = b""
    calls = served.calls()
    if case not in served.server.hides:
        assert calls == [], (calls, response)
        return
    # A hidden difference is harmless: the application sees the signed values and nothing of the attack.
    [call] = calls
    assert call["target_uri"] == attack.url
    assert call["raw"] == attack.url.removeprefix(ORIGIN)
    assert call["body"] in {"", '{"plan_id":"plan_001"}'}
    if served.server.hides[case] != MERGED:
        assert "evil" not in json.dumps(call)


@pytest.mark.parametrize("late", [False, True], ids=["with the content", "after the content"])
@pytest.mark.parametrize("name", ["X-User", "Content-Type"])
def test_trailer_never_becomes_a_header_field(served, late, name):
    if not served.server.chunked:
        pytest.skip(f"{served.server.name} does not read chunked content")
    raw = post(CHUNKED, content=write_chunked(trailers=f"{name}: evil\r\n")).make()
    cut = raw.index(b"0\r\n" + name.encode())
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as connection:
        if late:
            connection.sendall(raw[:cut])
            threading.Event().wait(0.2)
            raw = raw[cut:]
        connection.sendall(raw)
        response = read_response(connection)
    calls = served.calls()
    merged = any(value == "evil" for call in calls for _, value in call["fields"])
    hidden = TRAILER_OF_A_NEW_FIELD in served.server.hides and name == "X-User" and not late
    assert merged == hidden, response


@pytest.mark.parametrize("name", ["SCRIPT_NAME", "Script-Name", "Daphne-Root-Path", "PATH_INFO", "Path-Info"])
def test_header_field_never_changes_the_route_of_a_request(served, name):
    exchange(
        served.port, write_request("GET /p/q HTTP/1.1", [("Host", HOST), *signed("GET", f"{ORIGIN}/p/q"), (name, "/p")])
    )
    assert [(call["root"], call["path"]) for call in served.calls()] in ([], [("", "/p/q")])


FORWARDED = [
    ("X-Forwarded-Host", "evil.example"),
    ("X-Forwarded-Proto", "http"),
    ("X-Forwarded-Proto", "https, http"),
    ("X-Forwarded-Port", "8443"),
    ("X-Forwarded-Prefix", "/evil"),
    ("X-Forwarded-Ssl", "off"),
    ("Forwarded", "host=evil.example;proto=http"),
    ("X-Original-URL", "/evil"),
    ("X-Rewrite-URL", "/evil"),
    ("X-HTTP-Method-Override", "DELETE"),
]


@pytest.mark.parametrize("forwarded", FORWARDED, ids=lambda pair: f"{pair[0]}: {pair[1]}")
def test_forwarding_field_changes_nothing(served, forwarded):
    exchange(served.port, write_request("GET /p HTTP/1.1", [("Host", HOST), forwarded, *signed("GET", f"{ORIGIN}/p")]))
    [call] = served.calls()
    assert (call["target_uri"], call["scheme"], call["path"], call["method"]) == (f"{ORIGIN}/p", "https", "/p", "GET")


def test_folded_line_is_rejected_or_reaches_the_application_as_one_line(served):
    exchange(
        served.port,
        write_request("GET /p HTTP/1.1", [("Host", HOST), ("X-A", "one\r\n two"), *signed("GET", f"{ORIGIN}/p")]),
    )
    values = [value for call in served.calls() for name, value in call["fields"] if name == "x-a"]
    assert values in ([], ["one two"])


def test_replay_is_rejected(served):
    raw = HONEST["no query"].raw()
    exchange(served.port, raw)
    assert len(served.calls()) == 1
    exchange(served.port, raw)
    assert served.calls() == []


def test_server_is_recognised_when_it_identifies_itself(served):
    assert served.seen()["server"] == served.server.detected


@pytest.mark.parametrize("case", ["no query", "content"])
def test_server_that_hides_signed_values_is_rejected_by_name_with_its_reason_in_the_log(rejected, case):
    response = exchange(rejected.port, HONEST[case].raw())
    assert b" 503 " in response.partition(b"\r\n")[0], response
    assert b"request_signature_server_unsupported" in response
    assert rejected.calls() == []
    assert rejected.seen()["server"] == rejected.server.name.removesuffix("-wsgi")
    assert rejected.seen()["server"] in rejected.log.read_text()
