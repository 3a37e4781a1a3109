"""A policy that is applied where a route is about to run, over ASGI and over WSGI."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import pytest
from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGIN
from tests.middleware.gate import OverASGI

from undersigned import Policy, asgi
from undersigned.policy import MatchedRoute, RouteResolver, Routes


def create_media_buy() -> None:
    """Stand for an endpoint that must be signed."""


def get_products() -> None:
    """Stand for an endpoint that need not be signed."""


def hooked(operations=None) -> RouteResolver:
    resolver = RouteResolver(operations)
    resolver.hook(resolver.operation_of)
    return resolver


POLICY = Policy(required_for=["create_media_buy"], resolver=hooked())


class Routed:
    """A gate whose application runs one route."""

    def __init__(self, side, **options) -> None:
        self.gate = side(run=self.run, **{"policy": POLICY, **options})
        self.names = []

    def run(self, context):
        return self.gate.interface.check_route(context, self.route)

    def request(self, route, fields=(), body=None) -> int:
        self.route = route
        status = self.gate.status("GET" if body is None else "POST", "/run", fields, body or b"")
        if status == 200:
            operation = self.gate.calls[-1].signature and self.gate.calls[-1].operation
            self.names.append(operation and operation.name)
        return status


@pytest.fixture
def routed(side):
    return partial(Routed, side)


def signed(party):
    return party.fields("GET", f"{ORIGIN}/run")


BUY, LIST, UNKNOWN = MatchedRoute(create_media_buy, path="/buys/{plan}"), MatchedRoute(get_products), MatchedRoute(None)


def test_required_operation_must_be_signed_when_its_route_runs(routed, party, caplog):
    caplog.set_level("DEBUG", "undersigned")
    decisions = []
    gate = routed(on_decision=decisions.append)
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


def test_operation_of_no_list_need_not_be_signed_when_its_route_runs(routed, party):
    gate = routed()
    assert gate.request(LIST) == 200
    assert gate.request(LIST, signed(party)) == 200
    assert gate.names == [None, "get_products"]


def test_unknown_operation_must_be_signed_whatever_other_credential_is_valid(routed, party):
    for options in ({}, {"fallback": lambda _given: True}):
        gate = routed(**options)
        assert gate.request(UNKNOWN) == 401
        assert gate.request(UNKNOWN, signed(party)) == 200


@pytest.mark.parametrize(("accepted", "status"), [(True, 200), (False, 401), (1, 401)])
def test_another_credential_excuses_a_missing_signature_when_the_route_runs(routed, accepted, status):
    asked = []
    gate = routed(fallback=lambda given: asked.append(given) or accepted)
    assert gate.request(LIST) == 200
    assert asked == []
    assert gate.request(BUY) == status
    assert len(asked) == 1


@pytest.mark.parametrize(("accepted", "status"), [(True, 200), (False, 401)])
def test_fallback_may_be_a_coroutine_function_when_the_route_runs(party, accepted, status):
    async def fallback(_scope):
        return accepted

    assert Routed(partial(OverASGI, party), fallback=fallback).request(BUY) == status


def test_route_needs_no_signature_when_there_is_no_policy(routed, party):
    gate = routed(policy=None, mode="optional")
    assert gate.request(BUY) == 200
    assert gate.request(BUY, signed(party)) == 200
    assert gate.names == [None, None]


def test_policy_by_path_is_not_applied_to_the_route(routed):
    assert routed(policy=Policy(required_for=["create_media_buy"])).request(BUY) == 200


def test_policy_of_an_outer_middleware_is_applied_too(routed, party):
    inner, options = routed(policy=None, mode="optional"), {"verifier": party.verifier(), "origins": [ORIGIN]}
    inner.gate.app = inner.gate.interface.SignatureMiddleware(inner.gate.app, policy=POLICY, **options)
    assert inner.request(BUY) == 401
    assert inner.request(LIST) == 200
    assert inner.request(BUY, signed(party)) == 200


@pytest.mark.parametrize("operation", ["set_webhook", "set_notification_config"])
def test_route_that_registers_a_webhook_must_be_signed_if_the_content_has_credentials(routed, operation):
    gate = routed(policy=Policy(resolver=hooked({"hook": operation, "other": "other"})))
    for route, body, status in (
        ("hook", b'{"authentication": {"schemes": ["Bearer"]}}', 401),
        ("hook", b'{"url": "https://buyer.example"}', 200),
        ("hook", b"", 200),
        ("other", b'{"authentication": {"schemes": ["Bearer"]}}', 200),
    ):
        assert gate.request(MatchedRoute(None, (route,)), body=body) == status


def test_rejection_shapes_no_answer_of_a_route_that_runs(routed):
    shown = routed(rejection=lambda response, _request: replace(response, status=418))
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
