"""Decisions of routes: a route that rejects an unsigned request makes one, which names the route."""

from __future__ import annotations

import contextlib
import logging

import pytest
from aiohttp import web
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path
from fastapi import APIRouter, Depends, FastAPI
from flask import Blueprint, Flask
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.integrations.django_site import FIRST, Named, Never, Nobody, Plans, allowed, authenticated, site
from tests.integrations.test_aiohttp import serve_aiohttp
from tests.keys import BODY, JSON, KEYID, ORIGIN, ORIGINS
from tests.serving import uvicorn_server, waitress_server
from tests.wire import ask, raw_request

import undersigned_aiohttp
import undersigned_django
import undersigned_fastapi
import undersigned_flask
import undersigned_starlette
from undersigned import Decision, Policy, asgi, wsgi
from undersigned.policy import RouteResolver
from undersigned_django.rest_framework import IsSigned, SignatureAuthentication

BRACES = "/plans/{plan}"


def starlette_app(verifier, decisions, **options):
    def buy(_request) -> PlainTextResponse:
        return PlainTextResponse("bought")

    guarded = buy if "policy" in options else undersigned_starlette.signature_required(buy)
    app = Starlette(routes=[Route(BRACES, guarded, methods=["POST"])])
    return uvicorn_server(_asgi(app, undersigned_starlette, verifier, decisions, options))


def starlette_class_app(verifier, decisions, **options):
    class Plans(HTTPEndpoint):
        @undersigned_starlette.signature_required
        async def post(self, _request) -> PlainTextResponse:
            raise AssertionError

    return uvicorn_server(
        _asgi(Starlette(routes=[Route(BRACES, Plans)]), undersigned_starlette, verifier, decisions, options)
    )


def fastapi_app(verifier, decisions, **options):
    required = [] if "policy" in options else [Depends(undersigned_fastapi.require_signature)]
    app, router = FastAPI(), APIRouter(dependencies=required)

    @router.post(BRACES)
    async def buy(plan: str) -> str:
        return plan

    app.include_router(router)
    return uvicorn_server(_asgi(app, undersigned_fastapi, verifier, decisions, options))


def _asgi(app, package, verifier, decisions, options):
    if "policy" in options:
        options["policy"] = Policy(required_for=["buy"], resolver=package.RouteResolver(app))
    options = {"mode": "required" if "policy" in options else "optional", **options}
    app.add_middleware(asgi.SignatureMiddleware, verifier=verifier, origins=ORIGINS, on_decision=decisions, **options)
    return app


def flask_app(verifier, decisions, **options):
    app, blueprint = Flask(__name__), Blueprint("plans", __name__)

    @blueprint.post("/plans/<plan>")
    def buy(plan: str) -> str:
        return plan

    if "policy" in options:
        options["policy"] = Policy(required_for=["buy"], resolver=undersigned_flask.RouteResolver(app))
    else:
        undersigned_flask.signature_required(blueprint)
        options["mode"] = "optional"
    app.register_blueprint(blueprint)
    undersigned_flask.Undersigned(app, verifier=verifier, origins=ORIGINS, on_decision=decisions, **options)
    return waitress_server(app)


@contextlib.contextmanager
def django_app(verifier, decisions, *, serve=waitress_server, application=get_wsgi_application, rest=None, **options):
    def buy(_request, plan: str) -> HttpResponse:
        return HttpResponse(plan)

    view = rest.as_view() if rest else buy if "policy" in options else undersigned_django.signature_required(buy)
    urls = type("urls", (), {"urlpatterns": [path("plans/<str:plan>", view)]})
    named = {}
    if "policy" in options:
        named = {"POLICY": Policy(required_for=["buy"], resolver=undersigned_django.RouteResolver()), "MODE": None}
    named |= {"USER": options["user"]} if "user" in options else {}
    with (
        site(verifier, ON_DECISION=decisions, middleware=(FIRST,), **named),
        override_settings(ROOT_URLCONF=urls),
        serve(application()) as port,
    ):
        yield port


def django_asgi_app(verifier, decisions, **options):
    return django_app(verifier, decisions, serve=uvicorn_server, application=get_asgi_application, **options)


def rest_app(verifier, decisions, view=Plans, **options):
    return django_app(verifier, decisions, rest=view, **options)


def rest_asgi_app(verifier, decisions, view=Plans, **options):
    return django_asgi_app(verifier, decisions, rest=view, **options)


def aiohttp_app(verifier, decisions, **options):
    async def buy(_request: web.Request) -> web.Response:
        return web.Response()

    if "policy" in options:
        options["policy"] = Policy(required_for=["buy"], resolver=RouteResolver())
    else:
        options["mode"] = "optional"
    middleware = undersigned_aiohttp.signature_middleware(
        verifier=verifier, origins=ORIGINS, on_decision=decisions, **options
    )
    app = web.Application(middlewares=[middleware])
    guarded = buy if "policy" in options else undersigned_aiohttp.signature_required(buy)
    app.add_routes([web.post(BRACES, guarded), web.put("/named", buy, name="free")])
    return serve_aiohttp(app)


def any_asgi_app(verifier, decisions):
    async def app(scope, _receive, send) -> None:
        with contextlib.suppress(undersigned_starlette.SignatureRequired, Exception):
            asgi.required_signature(scope, route=BRACES)
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    options = {"origins": ORIGINS, "mode": "optional", "on_decision": decisions}
    return uvicorn_server(asgi.SignatureMiddleware(app, verifier=verifier, **options))


def any_wsgi_app(verifier, decisions):
    def app(environ, start_response) -> list[bytes]:
        with contextlib.suppress(Exception):
            wsgi.required_signature(environ, route=BRACES)
        start_response("401 Unauthorized", [("Content-Length", "0")])
        return []

    options = {"origins": ORIGINS, "mode": "optional", "on_decision": decisions}
    return waitress_server(wsgi.SignatureMiddleware(app, verifier=verifier, **options))


REQUIRING = {
    "starlette": (starlette_app, BRACES),
    "a class of starlette": (starlette_class_app, BRACES),
    "fastapi": (fastapi_app, BRACES),
    "flask": (flask_app, "/plans/<plan>"),
    "django over wsgi": (django_app, "plans/<str:plan>"),
    "django over asgi": (django_asgi_app, "plans/<str:plan>"),
    "rest framework over wsgi": (rest_app, "plans/<str:plan>"),
    "rest framework over asgi": (rest_asgi_app, "plans/<str:plan>"),
    "aiohttp": (aiohttp_app, BRACES),
    "any asgi": (any_asgi_app, BRACES),
    "any wsgi": (any_wsgi_app, BRACES),
}
BY_ROUTE = ["starlette", "fastapi", "flask", "django over wsgi", "aiohttp"]


@pytest.mark.parametrize("name", REQUIRING)
def test_rejection_by_a_route_is_a_decision_with_its_method_and_route(name, party):
    make, route = REQUIRING[name]
    decisions: list[Decision] = []
    with make(party.verifier(), decisions.append) as port:
        assert ask(port, raw_request("POST", "/plans/gold", JSON, BODY)).status == 401
    unsigned, rejected = decisions
    assert (unsigned.outcome, unsigned.method, unsigned.route) == ("unsigned", "POST", None)
    code = "request_signature_required"
    assert rejected == Decision(
        outcome="rejected",
        profile="adcp-3.2",
        code=code,
        step="presence of a signature",
        method="POST",
        target="/plans/gold",
        origin=ORIGIN,
        client="127.0.0.1",
        status=401,
        route=route,
        seconds=0.0,
    )


@pytest.mark.parametrize("name", BY_ROUTE)
def test_policy_by_route_names_the_route_that_it_rejects(name, party):
    make, route = REQUIRING[name]
    decisions: list[Decision] = []
    with make(party.verifier(), decisions.append, policy=None) as port:
        assert ask(port, raw_request("POST", "/plans/gold", JSON, BODY)).status == 401
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).status == 200
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404
    told = [(decision.outcome, decision.route, decision.keyid, decision.algorithm) for decision in decisions]
    assert told == [
        ("unsigned", None, None, None),
        ("rejected", route, None, None),
        ("verified", None, KEYID, "ed25519"),
        ("unsigned", None, None, None),
    ]


def test_policy_by_route_knows_the_names_of_aiohttp(party):
    with aiohttp_app(party.verifier(), None, policy=None) as port:
        assert ask(port, raw_request("PUT", "/named", JSON, BODY)).status == 401
        assert ask(port, raw_request("POST", "/named", JSON, BODY)).status == 405


def test_signed_request_whose_caller_rest_framework_does_not_know_makes_a_decision(party, caplog):
    decisions: list[Decision] = []
    with (
        caplog.at_level(logging.INFO, "undersigned"),
        rest_app(party.verifier(), decisions.append, user=lambda _signature: None) as port,
    ):
        answer = ask(port, party.raw("POST", "/plans/gold", BODY))
    assert (answer.status, answer.fields.get("accept-signature")) == (401, None)
    verified, rejected = decisions
    assert verified.outcome == "verified"
    assert (rejected.outcome, rejected.method, rejected.route) == ("rejected", "POST", "plans/<str:plan>")
    assert 'UNDERSIGNED["USER"] knows none for this key' in caplog.text


SERVED = {"wsgi": rest_app, "asgi": rest_asgi_app}


@pytest.mark.parametrize("served", SERVED)
@pytest.mark.parametrize(
    ("authentication", "permissions", "status", "outcomes"),
    [
        ((), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Named,), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Nobody,), [authenticated & IsSigned], 403, ["unsigned"]),
        ((Nobody,), [allowed & IsSigned], 403, ["unsigned", "rejected"]),
        ((SignatureAuthentication,), [IsSigned], 401, ["unsigned", "rejected"]),
        ((SignatureAuthentication, Named), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Nobody, SignatureAuthentication), [authenticated], 403, ["unsigned", "rejected"]),
        ((SignatureAuthentication, Named), [Never], 403, ["unsigned"]),
        ((Nobody,), [Never], 403, ["unsigned"]),
        ((Named,), [IsSigned | allowed], 200, ["unsigned"]),
    ],
)
def test_rejection_by_a_permission_of_rest_framework_is_one_decision(
    party, served, authentication, permissions, status, outcomes
):
    class Open(Plans):
        authentication_classes = authentication
        permission_classes = permissions

    decisions: list[Decision] = []
    with SERVED[served](party.verifier(), decisions.append, view=Open) as port:
        answer = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
    assert (answer.status, "accept-signature" in answer.fields) == (status, "rejected" in outcomes)
    assert [told.outcome for told in decisions] == outcomes
    for rejected in decisions[1:]:
        assert (rejected.code, rejected.method, rejected.route) == (
            "request_signature_required",
            "POST",
            "plans/<str:plan>",
        )


def test_permission_of_rest_framework_lets_a_signed_request_pass(party):
    class Signed(Plans):
        permission_classes = (IsSigned,)

    decisions: list[Decision] = []
    with rest_app(party.verifier(), decisions.append, view=Signed) as port:
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).status == 200
    assert [decision.outcome for decision in decisions] == ["verified"]


def test_signed_request_that_rest_framework_accepts_makes_one_decision(party):
    decisions: list[Decision] = []
    with rest_app(party.verifier(), decisions.append) as port:
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).status == 200
    assert [decision.outcome for decision in decisions] == ["verified"]


def test_path_that_aiohttp_routed_in_another_spelling_makes_a_decision(party):
    decisions: list[Decision] = []
    with aiohttp_app(party.verifier(), decisions.append) as port:
        ask(port, party.raw("POST", "/x/../plans/gold", BODY))
    assert [(told.outcome, told.route) for told in decisions] == [("rejected", None)]


def test_exception_of_on_decision_does_not_change_the_answer_of_a_route(party, caplog):
    def broken(_decision: Decision) -> None:
        raise RuntimeError("metrics are down")

    with caplog.at_level(logging.ERROR), starlette_app(party.verifier(), broken) as port:
        assert ask(port, raw_request("POST", "/plans/gold", JSON, BODY)).status == 401
    assert "on_decision raised" in caplog.text
