"""How both middlewares read the values that a server shows."""

from __future__ import annotations

import asyncio

import pytest
from tests.asgi.service import Service
from tests.asgi.test_middleware import http_scope
from tests.keys import ORIGIN
from tests.middleware.gate import OverASGI

from undersigned.asgi import SignatureMiddleware

MALFORMED = "request_signature_header_malformed"


@pytest.fixture
def service(party):
    return Service(party)


@pytest.mark.parametrize(
    "fields",
    [
        [("content-length", "2"), ("transfer-encoding", "chunked")],
        [("transfer-encoding", "gzip"), ("content-length", "")],
    ],
)
def test_content_length_together_with_transfer_encoding_is_rejected(service, fields):
    assert "Content-Length and Transfer-Encoding" in service.rejects(fields=fields, code=MALFORMED)


@pytest.mark.parametrize("alias", ["Signature_Input", "signature_input", "X_User", "X-Use_R"])
def test_name_with_an_underscore_is_rejected_next_to_the_same_with_hyphens(service, alias):
    fields = [("X-User", "b"), ("x-use-r", "c"), (alias, "evil")]
    assert "underscores" in service.rejects(fields=fields, code=MALFORMED)


@pytest.mark.parametrize("names", [["a-b_c", "a_b-c"], ["A_B", "a-b"], ["a_b_c", "x", "a_b-c"]])
def test_two_names_of_one_cgi_variable_are_rejected(service, names):
    assert "underscores" in service.rejects(fields=[(name, "v") for name in names], code=MALFORMED)


@pytest.mark.parametrize("names", [["x_user", "X_User", "x-a"], ["x_user"], ["Sec-CH-UA"], ["x-user"]])
def test_name_that_is_not_an_alias_of_another_is_accepted(service, names):
    assert service.get(fields=[(name, "v") for name in names]) is not None


def test_version_error_names_the_fix(service):
    detail = service.does_not_support(http_version="2")
    assert detail.startswith("the server does not show over HTTP version 2 whether")
    assert "http2_server=" in detail


@pytest.mark.parametrize("version", ["", "0.9", "2.0", "2.1", "9", "11.1", "b\r\nHTTP/1.1", "\u00b2"])
@pytest.mark.parametrize("named", [None, "uvicorn"])
def test_unknown_http_version_is_the_mistake_of_the_sender(party, version, named):
    assert Service(party, http2_server=named).rejects(http_version=version).isprintable()


@pytest.mark.parametrize(("version", "shown"), [("1.123456", "1.123456"), ("1.1234567", "1.123456... (9 characters)")])
def test_unknown_http_version_is_shown_up_to_8_characters(service, version, shown):
    assert service.rejects(http_version=version).endswith(f"HTTP has no version {shown}")


@pytest.mark.parametrize("method", ["", "get", "G T", "GET\n", "CONNECT"])
def test_method_that_is_not_an_upper_case_token_or_is_connect_is_rejected(service, method):
    assert "upper-case token" in service.rejects(method=method)


@pytest.mark.parametrize(
    ("version", "named", "accepted"),
    [
        *((version, None, True) for version in ("1", "1.0", "1.1")),
        *((version, None, False) for version in ("2", "3")),
        ("2", "hypercorn", True),
        ("3", "hypercorn", False),
    ],
)
def test_version_is_accepted_only_if_the_named_server_compares_authorities(party, version, named, accepted):
    service = Service(party, http2_server=named)
    if accepted:
        assert service.get(http_version=version) is not None
    else:
        service.does_not_support(http_version=version)


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
    app = SignatureMiddleware(OverASGI(party).application, verifier=party.verifier(), origins=[ORIGIN])
    server = Server()
    asyncio.run(app(http_scope(party, path="/sub/p", **roots), server.receive, server.send))
    assert sent[0]["status"] == status


@pytest.mark.parametrize(
    ("length", "code", "why"),
    [
        (1025, "request_header_fields_too_large", "1,025 characters, and at most 1,024 are read"),
        (1024, "request_target_uri_malformed", "longer than 253 characters"),
    ],
)
def test_authority_over_the_length_limit_is_rejected_without_parsing(party, service, length, code, why):
    signed = [(name.lower().encode(), value.encode()) for name, value in party.fields("GET", f"{ORIGIN}/p")]
    assert why in service.rejects(headers=[(b"host", b"a" * length), *signed], code=code)


def test_long_method_is_rejected(service):
    assert service.get(method="M" * 64) is None
    assert service.decision.code == "request_signature_invalid"
    assert "the method has 65 characters, and at most 64 are read" in service.rejects(
        method="M" * 65, code="uri_too_long"
    )
