"""A policy that is applied where a route is about to run, over ASGI and over WSGI."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from starlette.testclient import TestClient
from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGIN
from werkzeug.test import Client

from undersigned import ConfigurationError, Policy, SignatureError, asgi, wsgi
from undersigned.middleware import ErrorResponse, is_preflight
from undersigned.policy import MatchedRoute, RouteResolver, Routes

PREFLIGHT = {"origin": "https://app.example", "access-control-request-method": "POST"}


def create_media_buy() -> None:
    """Stand for an endpoint that must be signed."""


def get_products() -> None:
    """Stand for an endpoint that need not be signed."""


class OverASGI:
    """The ASGI middleware around an application that runs one endpoint."""

    def __init__(self, verifier, **options) -> None:
        self.route = MatchedRoute(None)
        self.names = []
        self.app = asgi.SignatureMiddleware(self.run, verifier=verifier, origins=[ORIGIN], **options)

    async def run(self, scope, _receive, send) -> None:
        try:
            signature = await asgi.check_route(scope, self.route)
        except SignatureError as error:
            answer = ErrorResponse.of(error)
        else:
            operation = signature and signature.operation
            self.names.append(operation and operation.name)
            answer = None
        await send({"type": "http.response.start", "status": answer.status if answer else 200, "headers": []})
        await send({"type": "http.response.body", "body": answer.body if answer else b""})

    def request(self, route, fields=(), body=None) -> int:
        self.route = route
        client, method = TestClient(self.app, base_url=ORIGIN), "GET" if body is None else "POST"
        return client.request(method, "/run", headers=dict(fields), content=body).status_code


class OverWSGI:
    """The WSGI middleware around an application that runs one endpoint."""

    def __init__(self, verifier, **options) -> None:
        self.route = MatchedRoute(None)
        self.names = []
        self.app = wsgi.SignatureMiddleware(self.run, verifier=verifier, origins=[ORIGIN], **options)

    def run(self, environ, start_response):
        try:
            signature = wsgi.check_route(environ, self.route)
        except SignatureError as error:
            answer = ErrorResponse.of(error)
            start_response(f"{answer.status} Rejected", [])
            return [answer.body]
        operation = signature and signature.operation
        self.names.append(operation and operation.name)
        start_response("200 OK", [])
        return []

    def request(self, route, fields=(), body=None) -> int:
        self.route = route
        method = "GET" if body is None else "POST"
        return (
            Client(self.app).open("/run", base_url=ORIGIN, method=method, headers=list(fields), data=body).status_code
        )


def hooked(operations=None) -> RouteResolver:
    resolver = RouteResolver(operations)
    resolver.hook(resolver.operation_of)
    return resolver


@pytest.fixture(params=[OverASGI, OverWSGI], ids=["asgi", "wsgi"])
def side(request, party):
    def made(**options):
        policy = Policy(required_for=["create_media_buy"], resolver=hooked())
        return request.param(party.verifier(), **{"policy": policy, **options})

    return made


def signed(party):
    return party.fields("GET", f"{ORIGIN}/run")


BUY, LIST, UNKNOWN = MatchedRoute(create_media_buy, path="/buys/{plan}"), MatchedRoute(get_products), MatchedRoute(None)


def test_required_operation_must_be_signed_when_its_route_runs(side, party, caplog):
    caplog.set_level("DEBUG", "undersigned")
    decisions = []
    gate = side(on_decision=decisions.append)
    assert gate.request(BUY) == 401
    assert '"url": "/run"' in caplog.messages[-1]
    assert [(decision.outcome, decision.code) for decision in decisions] == [
        ("unsigned", None),
        ("rejected", "request_signature_required"),
    ]
    assert decisions[-1].route == "/buys/{plan}"
    assert gate.names == []
    assert gate.request(BUY, signed(party)) == 200
    assert gate.names == ["create_media_buy"]


def test_operation_of_no_list_need_not_be_signed_when_its_route_runs(side, party):
    gate = side()
    assert gate.request(LIST) == 200
    assert gate.request(LIST, signed(party)) == 200
    assert gate.names == [None, "get_products"]


def test_unknown_operation_must_be_signed_whatever_other_credential_is_valid(side, party):
    for options in ({}, {"fallback": lambda _given: True}):
        gate = side(**options)
        assert gate.request(UNKNOWN) == 401
        assert gate.request(UNKNOWN, signed(party)) == 200


@pytest.mark.parametrize(("accepted", "status"), [(True, 200), (False, 401), (1, 401)])
def test_another_credential_excuses_a_missing_signature_when_the_route_runs(side, accepted, status):
    asked = []
    gate = side(fallback=lambda given: asked.append(given) or accepted)
    assert gate.request(LIST) == 200
    assert asked == []
    assert gate.request(BUY) == status
    assert len(asked) == 1


@pytest.mark.parametrize(("accepted", "status"), [(True, 200), (False, 401)])
def test_fallback_may_be_a_coroutine_function_when_the_route_runs(party, accepted, status):
    async def fallback(_scope):
        return accepted

    policy = Policy(required_for=["create_media_buy"], resolver=hooked())
    assert OverASGI(party.verifier(), policy=policy, fallback=fallback).request(BUY) == status


def test_route_needs_no_signature_when_there_is_no_policy(side, party):
    gate = side(policy=None, mode="optional")
    assert gate.request(BUY) == 200
    assert gate.request(BUY, signed(party)) == 200
    assert gate.names == [None, None]


def test_policy_by_path_is_not_applied_to_the_route(side):
    assert side(policy=Policy(required_for=["create_media_buy"])).request(BUY) == 200


def test_policy_of_an_outer_middleware_is_applied_too(side, party):
    inner, options = side(policy=None, mode="optional"), {"verifier": party.verifier(), "origins": [ORIGIN]}
    policy = Policy(required_for=["create_media_buy"], resolver=hooked())
    middleware = asgi if isinstance(inner, OverASGI) else wsgi
    inner.app = middleware.SignatureMiddleware(inner.app, policy=policy, **options)
    assert inner.request(BUY) == 401
    assert inner.request(LIST) == 200
    assert inner.request(BUY, signed(party)) == 200


@pytest.mark.parametrize("operation", ["set_webhook", "set_notification_config"])
def test_route_that_registers_a_webhook_must_be_signed_if_the_content_has_credentials(side, operation):
    gate = side(policy=Policy(resolver=hooked({"hook": operation, "other": "other"})))
    for route, body, status in (
        ("hook", b'{"authentication": {"schemes": ["Bearer"]}}', 401),
        ("hook", b'{"url": "https://buyer.example"}', 200),
        ("hook", b"", 200),
        ("other", b'{"authentication": {"schemes": ["Bearer"]}}', 200),
    ):
        assert gate.request(MatchedRoute(None, (route,)), body=body) == status


def test_policy_that_is_applied_by_route_excuses_no_failed_signature():
    with pytest.raises(ConfigurationError, match=r"^warn_for: a signature is rejected before the route is known"):
        Policy(warn_for=["create_media_buy"], resolver=RouteResolver())


@pytest.mark.parametrize(
    ("method", "fields", "expected"),
    [
        ("OPTIONS", PREFLIGHT, True),
        ("POST", PREFLIGHT, False),
        (None, PREFLIGHT, False),
        ("OPTIONS", {"origin": "https://app.example"}, False),
        ("OPTIONS", {"access-control-request-method": "POST"}, False),
    ],
)
def test_preflight_is_an_options_request_that_names_an_origin_and_a_method(method, fields, expected):
    assert is_preflight(method, fields) is expected


def test_rejection_shapes_no_answer_of_a_route_that_runs(side):
    shown = side(rejection=lambda response, _request: replace(response, status=418))
    assert [shown.request(route) for route in (LIST, BUY, LIST)] == [200, 418, 200]


@pytest.mark.parametrize(("sees", "sent"), [(True, "websocket.accept"), (False, "websocket.close")])
def test_unsigned_handshake_is_rejected_if_the_hook_is_not_asked_about_it(party, sees, sent):
    async def accept(_scope, _receive, send):
        await send({"type": "websocket.accept"})

    resolver = RouteResolver().bound(Routes(ask=lambda: True, sees_handshakes=sees))
    policy = Policy(required_for=["create_media_buy"], resolver=resolver)
    app = asgi.SignatureMiddleware(accept, verifier=party.verifier(), origins=[ORIGIN], policy=policy)
    answer = asyncio.run(call_asgi(app, scope_of(Message("/run", "GET"), kind="websocket")))
    assert [message["type"] for message in answer.sent] == [sent]
