"""Every server that compares `:authority` with Host, over HTTP/2, and a rejected server that does not."""

from __future__ import annotations

import json

import pytest
from tests.servers.http2 import exchange
from tests.servers.requests_http1 import ORIGIN
from tests.servers.requests_http2 import ATTACKS, HONEST, to

from undersigned import canonicalize


def send(running, *parts, **options):
    return exchange(running.port, *parts, tls=running.server.tls, **options)


@pytest.mark.parametrize("case", HONEST)
def test_valid_request_is_verified_and_reaches_the_application_as_signed(served_http2, case):
    sent = HONEST[case]()
    answer = send(served_http2, sent.fields, sent.content, sent.trailers)
    assert answer.status == 200, (answer, served_http2.logged()[-2000:])
    [call] = served_http2.calls()
    canonical = canonicalize(sent.url)
    assert (call["path"], call["scheme"]) == (sent.path, "https")
    assert call["body"] == (sent.content or b"").decode()
    assert call["target_uri"].rstrip("?") == canonical.target_uri.rstrip("?")


@pytest.mark.parametrize("case", ATTACKS)
def test_unsigned_change_never_reaches_the_application(served_http2, case):
    sent, seconds = ATTACKS[case](), 30 if case in served_http2.server.hides_http2 else 3
    answer = send(served_http2, sent.fields, sent.content, sent.trailers, timeout=seconds)
    calls = served_http2.calls()
    if case not in served_http2.server.hides_http2:
        assert calls == [], (calls, answer)
        return
    [call] = calls
    assert call["target_uri"] == sent.url
    assert call["raw"] == sent.url.removeprefix(ORIGIN)
    assert "evil" not in json.dumps(call)


def test_trailer_never_becomes_a_header_field(served_http2):
    sent = HONEST["content without a length"]()
    send(served_http2, sent.fields, sent.content, [("x-user", "evil"), ("content-type", "evil")], timeout=3)
    assert not any(value == "evil" for call in served_http2.calls() for _, value in call["fields"])


def test_server_that_hides_the_authority_is_rejected_for_any_http2_server(unchecked_http2):
    sent = to("/p")()
    answer = send(unchecked_http2, sent.fields)
    assert (answer.status, json.loads(answer.content)) == (503, {"error": "request_signature_server_unsupported"})
    assert unchecked_http2.calls() == []
    assert "granian does not show over HTTP version 2" in unchecked_http2.logged()
