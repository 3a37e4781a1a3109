"""How both middlewares read the values that a server shows."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from tests.asgi.test_middleware import Echo, http_scope, run
from tests.keys import ORIGIN

from undersigned import MalformedSignature, MalformedURL, VerificationUnavailable, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.message import HeaderFields
from undersigned.middleware import authority
from undersigned.url import Origins

PROFILE = profiles.ADCP_3_2


@pytest.mark.parametrize(
    "fields",
    [
        [("content-length", "2"), ("transfer-encoding", "chunked")],
        [("Transfer-Encoding", "gzip"), ("Content-Length", "")],
    ],
)
def test_content_length_together_with_transfer_encoding_is_rejected(fields):
    with pytest.raises(MalformedSignature, match="header_malformed"):
        authority.check_head("GET", HeaderFields(fields), (), PROFILE)


@pytest.mark.parametrize("fields", [[], [("content-length", "2")], [("transfer-encoding", "chunked")]])
def test_request_with_at_most_one_framing_is_accepted(fields):
    authority.check_head("GET", HeaderFields(fields), (), PROFILE)


@pytest.mark.parametrize("alias", ["Signature_Input", "signature_input", "X_User", "X-Use_R"])
def test_name_with_an_underscore_is_rejected_next_to_the_same_with_hyphens(alias):
    fields = [("signature-input", "a"), ("X-User", "b"), ("x-use-r", "c"), (alias, "evil")]
    with pytest.raises(MalformedSignature, match="header_malformed"):
        authority.check_head("GET", HeaderFields(), [name for name, _ in fields], PROFILE)


@pytest.mark.parametrize("names", [["a-b_c", "a_b-c"], ["A_B", "a-b"], ["a_b_c", "x", "a_b-c"]])
def test_two_names_of_one_cgi_variable_are_rejected(names):
    with pytest.raises(MalformedSignature, match="header_malformed"):
        authority.check_head("GET", HeaderFields(), names, PROFILE)


def test_name_with_an_underscore_may_be_repeated():
    authority.check_head("GET", HeaderFields(), ["x_user", "X_User", "x-a"], PROFILE)


@pytest.mark.parametrize("name", ["x_user", "Sec-CH-UA", "x-user"])
def test_name_that_is_not_an_alias_of_another_is_accepted(name):
    authority.check_head("GET", HeaderFields(), ["signature-input", name], PROFILE)


@pytest.mark.parametrize("server", ["granian", None])
def test_version_error_names_the_server_and_the_fix(server):
    with pytest.raises(VerificationUnavailable) as caught:
        authority.check_version("2", None, detect=lambda: server, profile=PROFILE)
    assert caught.value.detail.startswith(f"{server or 'the server'} does not show over HTTP version 2 whether")
    assert "http2_server=" in caught.value.detail
    assert caught.value.step == 10


@pytest.mark.parametrize("version", ["", "0.9", "2.0", "2.1", "9", "11.1", "b\r\nHTTP/1.1", "\u00b2"])
@pytest.mark.parametrize("named", [None, "uvicorn"])
def test_unknown_http_version_is_the_mistake_of_the_sender(version, named):
    with pytest.raises(MalformedSignature, match="target_uri_malformed") as caught:
        authority.check_version(version, named, detect=lambda: None, profile=PROFILE)
    assert caught.value.detail.isprintable()
    assert caught.value.step == 10


@pytest.mark.parametrize(("version", "shown"), [("1.123456", "1.123456"), ("1.1234567", "1.123456... (9 characters)")])
def test_unknown_http_version_is_shown_up_to_8_characters(version, shown):
    with pytest.raises(MalformedSignature) as caught:
        authority.check_version(version, None, detect=lambda: None, profile=PROFILE)
    assert caught.value.detail.endswith(f"HTTP has no version {shown}")


@pytest.mark.parametrize("method", ["", "get", "G T", "GET\n", "CONNECT"])
def test_method_that_is_not_an_upper_case_token_or_is_connect_is_rejected(method):
    with pytest.raises(MalformedURL, match="upper-case token"):
        authority.check_head(method, HeaderFields(), (), PROFILE)


@pytest.mark.parametrize(
    ("version", "named", "server", "accepted"),
    [
        ("1.1", None, "granian", True),
        ("2", "hypercorn", "hypercorn", True),
        ("1", None, "granian", True),
        ("1.0", None, None, True),
        ("2", "hypercorn", None, True),
        ("2", "hypercorn", "uvicorn", False),
        ("3", "hypercorn", "hypercorn", False),
    ],
)
def test_version_is_accepted_only_if_the_named_server_compares_authorities(version, named, server, accepted):
    with contextlib.nullcontext() if accepted else pytest.raises(VerificationUnavailable):
        authority.check_version(version, named, detect=lambda: server, profile=PROFILE)


@pytest.mark.parametrize(
    "extra", [(b"signature_input", b"sig2=()"), (b"transfer-encoding", b"chunked"), (b"content_type", b"text/evil")]
)
def test_asgi_middleware_rejects_ambiguous_fields(party, extra):
    echo = Echo()
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN])
    body = b'{"plan_id":"plan_001"}'
    scope = http_scope(party, method="POST", headers=[("Content-Type", "application/json")], body=body)
    scope["headers"] += [(b"content-length", b"22"), extra]
    assert run(app, scope, [{"type": "http.request", "body": body}])[0]["status"] == 401
    assert echo.calls == []


@pytest.mark.parametrize(
    ("roots", "status"),
    [
        ({"root_path": ""}, 200),
        ({"root_path": "/evil"}, 503),
        ({"root_path": "/sub", "app_root_path": ""}, 200),
        ({"root_path": "/evil/sub", "app_root_path": "/evil"}, 503),
    ],
)
def test_root_path_field_of_daphne_is_rejected(party, roots, status):
    sent = []

    class Server:
        async def receive(self):
            return {"type": "http.request"}

        async def send(self, message):
            sent.append(message)

    Server.__module__ = "daphne.server"
    app = SignatureMiddleware(Echo(), verifier=party.verifier(), origins=[ORIGIN])
    server = Server()
    asyncio.run(app(http_scope(party, path="/sub/p", **roots), server.receive, server.send))
    assert sent[0]["status"] == status


def test_authority_over_the_length_limit_is_rejected_without_parsing():
    with pytest.raises(MalformedURL, match="1,025 characters, and at most 1,024 are read"):
        authority.matched_origin(Origins(["https://seller.example.com"]), HeaderFields([("host", "a" * 1025)]), "1.1")
    with pytest.raises(MalformedURL, match="longer than 253 characters"):
        authority.matched_origin(Origins(["https://seller.example.com"]), HeaderFields([("host", "a" * 1024)]), "1.1")


def test_long_method_is_rejected():
    authority.check_head("M" * 64, HeaderFields(), (), PROFILE)
    with pytest.raises(MalformedURL, match="the method has 65 characters, and at most 64 are read"):
        authority.check_head("M" * 65, HeaderFields(), (), PROFILE)
