"""Every snippet of docs/frameworks.md is run and served, with the imports of its example."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import re
import sys
from pathlib import Path
from types import ModuleType

import litestar
import pytest
import quart
import sanic
import tornado.routing
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from fastapi import APIRouter, Depends
from flask import Blueprint
from starlette.routing import Mount
from tests.integrations.agreement import BODY, JSON, KEYID, ORIGINS, Agreement, ask, assert_rejected, raw_request
from tests.integrations.django_site import site
from tests.integrations.test_aiohttp import serve_aiohttp
from tests.integrations.test_sanic import serve_sanic
from tests.integrations.test_tornado import serve_tornado
from tests.serving import uvicorn_server, waitress_server

import undersigned_django
import undersigned_fastapi
import undersigned_flask
import undersigned_starlette
from undersigned import Policy
from undersigned.asgi import SignatureMiddleware
from undersigned.signature.key_pair import KeyPair
from undersigned_pytest.clients import SignedClients

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/frameworks.md"
SNIPPETS = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
SNIPPETS |= dict(re.findall(r"^### (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
LONGEST = 8


@pytest.fixture(scope="module")
def agreement() -> Agreement:
    return Agreement.make()


@pytest.fixture(autouse=True)
def _applications_may_have_one_name(monkeypatch):
    monkeypatch.setattr(sanic.Sanic, "test_mode", True)


def statements(example: str) -> list[ast.stmt]:
    return ast.parse((ROOT / f"examples/{example}_app.py").read_text()).body


def run(
    title: str, example: str, agreement: Agreement, *, before: tuple[str, ...] = (), without: str = "", **more: object
) -> dict:
    """Run a snippet after its example's imports, and after those statements of the example that define `before`."""
    # Litestar looks its handlers' module up to read their annotations.
    module = sys.modules[f"snippet_{example}"] = ModuleType(f"snippet_{example}")
    names = vars(module)
    names.update(verifier=agreement.verifier(), origins=ORIGINS, Policy=Policy, **more)
    for statement in statements(example):
        defines = {getattr(statement, "name", None), *(ast.unparse(t) for t in getattr(statement, "targets", []))}
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or defines & set(before):
            exec(compile(ast.Module([statement], []), example, "exec"), names)  # noqa: S102 - our own example
    snippet = SNIPPETS[title].replace(without, "")
    exec(compile(snippet, "<frameworks.md>", "exec", dont_inherit=True), names)  # noqa: S102 - the page's own words
    return names


def wrap(app, names: dict) -> SignatureMiddleware:
    mode = names.get("wrapped_mode", "optional")
    return SignatureMiddleware(app, verifier=names["verifier"], origins=names["origins"], mode=mode)


def asgi_app(names: dict):
    return uvicorn_server(names["app"])


def litestar_app(names: dict):
    handlers = {names["SignatureError"]: names["rejected"]}
    return uvicorn_server(wrap(names["Litestar"]([names["buy"]], exception_handlers=handlers), names))


def falcon_app(names: dict):
    app = names["falcon"].asgi.App()
    app.add_route("/plans/{plan}", names["Plans"]())
    app.add_error_handler(names["SignatureError"], names["rejected"])
    return uvicorn_server(wrap(app, names))


def sanic_app(names: dict):
    app, events = names["app"], [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    # When an application starts, Sanic removes the signals that it does not use, also from other applications.
    app.config.TOUCHUP = False

    async def receive() -> dict:
        return events.pop(0)

    async def send(_message) -> None:
        pass

    # Sanic makes its router when its server says that it starts, which the servers of these tests do not.
    asyncio.run(app({"type": "lifespan"}, receive, send))
    return uvicorn_server(wrap(app, names))


def sanic_server(names: dict):
    names["app"].config.TOUCHUP = False
    return serve_sanic(names["app"])


def aiohttp_app(names: dict):
    return serve_aiohttp(names["app"])


def tornado_app(names: dict):
    return serve_tornado(names["app"])


def flask_app(names: dict):
    return waitress_server(names["app"])


@contextlib.contextmanager
def django_app(names: dict):
    view = names["buy"] if "buy" in names else names["Plans"].as_view()
    urls = type("urls", (), {"urlpatterns": [path("plans/<str:plan>", view)]})
    policy = {"POLICY": names["policy"], "MODE": None} if "policy" in names else {}
    if callable(names.get("mode")):
        policy = {"MODE": names["mode"]}
    elif "wrapped_mode" in names:
        policy = {"MODE": names["wrapped_mode"]}
    with (
        site(names["verifier"], **policy),
        override_settings(ROOT_URLCONF=urls),
        waitress_server(get_wsgi_application()) as port,
    ):
        yield port


ROWS = {
    "FastAPI": ("fastapi", asgi_app, ()),
    "Starlette": ("starlette", asgi_app, ()),
    "Flask": ("flask", flask_app, ()),
    "Django": ("django", django_app, ()),
    "aiohttp": ("aiohttp", aiohttp_app, ()),
    "Tornado": ("tornado", tornado_app, ()),
    "Litestar": ("litestar", litestar_app, ("rejected",)),
    "Quart": ("quart", asgi_app, ("app", "rejected")),
    "Falcon": ("falcon", falcon_app, ("rejected",)),
    "Sanic": ("sanic", sanic_app, ("app", "rejected")),
    "Sanic's own server": ("sanic_server", sanic_server, ("app",)),
}


def litestar_router(names: dict):
    return uvicorn_server(names["app"])


def quart_blueprint(names: dict):
    names["app"].register_blueprint(names["plans"])
    return uvicorn_server(wrap(names["app"], names))


def sanic_blueprint(names: dict):
    names["app"].blueprint(names["plans"])
    return sanic_app(names)


def falcon_routes(names: dict):
    return uvicorn_server(wrap(names["app"], names))


ROUTERS = {
    "FastAPI, a router": (
        ("fastapi", asgi_app, ()),
        {"APIRouter": APIRouter, "Depends": Depends, "require_signature": undersigned_fastapi.require_signature},
    ),
    "Starlette, a router": (("starlette", asgi_app, ()), {"Mount": Mount}),
    "Flask, a blueprint": (("flask", flask_app, ()), {"Blueprint": Blueprint}),
    "Django, a part of the URLs": (("django", django_app, ()), {"csrf_exempt": csrf_exempt}),
    "aiohttp, a sub-application": (("aiohttp", aiohttp_app, ()), {}),
    "Tornado, a router": (("tornado", tornado_app, ()), vars(tornado.routing)),
    "Litestar, a router": (("litestar", litestar_router, ("signed", "rejected")), {"Router": litestar.Router}),
    "Quart, a blueprint": (("quart", quart_blueprint, ("app", "rejected")), {"Blueprint": quart.Blueprint}),
    "Falcon, a part of the routes": (("falcon", falcon_routes, ("signed", "Plans", "rejected")), {}),
    "Sanic, a blueprint": (("sanic", sanic_blueprint, ("app", "rejected")), {"Blueprint": sanic.Blueprint}),
}
REST_IMPORTS = """
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from undersigned_django.rest_framework import SignatureAuthentication
"""


BY_ROUTE = {
    "FastAPI by route": ("fastapi", asgi_app, undersigned_fastapi.RouteResolver),
    "Starlette by route": ("starlette", asgi_app, undersigned_starlette.RouteResolver),
    "Flask by route": ("flask", flask_app, undersigned_flask.RouteResolver),
    "Django by route": ("django", django_app, undersigned_django.RouteResolver),
}


def test_every_snippet_is_run_and_has_at_most_eight_lines():
    others = {"Django REST framework, a base class", "Django REST framework", "Policies by route", "Tests of your own"}
    others.add("Frameworks on top of Flask and Django")
    assert set(SNIPPETS) == {*ROWS, *ROUTERS, *BY_ROUTE, *others}
    long = {title for title, text in SNIPPETS.items() if len([line for line in text.splitlines() if line]) > LONGEST}
    assert not long


@pytest.mark.parametrize("title", ROWS)
def test_snippet_serves_signed_requests_and_rejects_unsigned_ones(title, agreement):
    example, serve, before = ROWS[title]
    with serve(run(title, example, agreement, before=before)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status // 100, answer.json) == (2, {"plan": "gold", "caller": KEYID})
        assert_rejected(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)), "request_signature_required")


@pytest.mark.parametrize("title", ROUTERS)
def test_snippet_of_a_router_requires_signatures_for_its_routes_only(title, agreement):
    (example, serve, before), more = ROUTERS[title]
    with serve(run(title, example, agreement, before=before, **more)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status // 100, answer.json["plan"], answer.json["caller"]) == (2, "gold", KEYID)
        assert_rejected(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)), "request_signature_required")
        assert ask(port, raw_request("GET", "/nothing")).status == 404


@pytest.mark.parametrize("title", ROWS)
def test_snippet_without_its_mode_requires_a_signature_of_every_request(title, agreement):
    example, serve, before = ROWS[title]
    names = run(title, example, agreement, before=before, without=', mode="optional"', wrapped_mode="required")
    with serve(names) as port:
        assert_rejected(ask(port, raw_request("GET", "/nothing")), "request_signature_required")
        assert ask(port, agreement.raw("GET", "/nothing")).status == 404
        assert ask(port, agreement.raw("POST", "/plans/gold", BODY)).json["caller"] == KEYID


@pytest.mark.parametrize("title", BY_ROUTE)
def test_snippet_with_a_policy_by_route_rejects_unsigned_requests(title, agreement):
    example, serve, resolver = BY_ROUTE[title]
    with serve(run(title, example, agreement, RouteResolver=resolver, csrf_exempt=csrf_exempt)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status, answer.json["plan"]) == (200, "gold")
        assert_rejected(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)), "request_signature_required")
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


def test_snippet_for_tests_passes_with_the_plugin(agreement):
    pair = KeyPair.generate("ed25519", keyid="test-key")
    clients = SignedClients(pair, origin=ORIGINS[0])
    names = run("FastAPI", "fastapi", Agreement(agreement.signer, agreement.stranger, dict(pair.public)))
    exec(SNIPPETS["Tests of your own"], names)  # noqa: S102 - the page's own words
    names["test_signed_order_is_accepted"](clients)


@pytest.mark.parametrize("title", ["Django REST framework", "Django REST framework, a base class"])
def test_rest_framework_snippet_identifies_its_caller(title, agreement):
    names: dict = {"verifier": agreement.verifier()}
    exec(REST_IMPORTS + SNIPPETS[title], names)  # noqa: S102 - the page's own words
    with django_app(names) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status, answer.json) == (200, {"plan": "gold", "caller": KEYID})
        assert ask(port, raw_request("POST", "/plans/gold", JSON, BODY)).status == 401
