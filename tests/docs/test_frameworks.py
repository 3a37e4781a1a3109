"""Every snippet of docs/frameworks.md is run and served, with the imports of its example."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import re
import sys
from pathlib import Path
from types import ModuleType

import fastapi
import litestar
import litestar.connection
import litestar.handlers
import litestar.params
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
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Mount, WebSocketRoute
from tests.integrations.agreement import (
    BODY,
    JSON,
    KEYID,
    ORIGINS,
    Agreement,
    ask,
    assert_rejected,
    assert_unsigned,
    handshake,
    raw_request,
)
from tests.integrations.django_site import site
from tests.integrations.test_aiohttp import serve_aiohttp
from tests.integrations.test_sanic import serve_sanic
from tests.integrations.test_tornado import serve_tornado
from tests.serving import uvicorn_server, waitress_server
from tornado.websocket import WebSocketHandler

import undersigned_django
import undersigned_fastapi
import undersigned_flask
import undersigned_starlette
from undersigned import Policy
from undersigned.asgi import SignatureMiddleware, check_route
from undersigned.middleware import is_preflight
from undersigned.policy import MatchedRoute, RouteResolver
from undersigned.signature.key_pair import KeyPair
from undersigned.testing.fixtures import SignedClients

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/frameworks.md"
SNIPPETS = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
SNIPPETS |= dict(re.findall(r"^### (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
LONGEST = 10


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
    if "wrapped_mode" in names:
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
    "aiohttp, a sub-application": (("aiohttp", aiohttp_app, ()), {}),
    "Tornado, a router": (("tornado", tornado_app, ()), vars(tornado.routing)),
    "Litestar, a router": (("litestar", litestar_router, ("signed", "rejected")), {"Router": litestar.Router}),
    "Quart, a blueprint": (
        ("quart", quart_blueprint, ("app", "rejected")),
        {"Blueprint": quart.Blueprint, "websocket": quart.websocket, "is_preflight": is_preflight},
    ),
    "Falcon, a part of the routes": (
        ("falcon", falcon_routes, ("signed", "Plans", "rejected")),
        {"is_preflight": is_preflight},
    ),
    "Sanic, a blueprint": (
        ("sanic", sanic_blueprint, ("app", "rejected")),
        {"Blueprint": sanic.Blueprint, "is_preflight": is_preflight},
    ),
}
REST_IMPORTS = """
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from undersigned_django.rest_framework import SignatureAuthentication
"""


BY_HOOK = {
    "Litestar by route": ("litestar", litestar_router, ("rejected",)),
    "Quart by route": ("quart", asgi_app, ("app", "rejected")),
    "Falcon by route": ("falcon", asgi_app, ("rejected",)),
    "aiohttp by route": ("aiohttp", aiohttp_app, ()),
}
BY_ROUTE = {
    "FastAPI by route": ("fastapi", asgi_app, undersigned_fastapi.RouteResolver),
    "Starlette by route": ("starlette", asgi_app, undersigned_starlette.RouteResolver),
    "Flask by route": ("flask", flask_app, undersigned_flask.RouteResolver),
    "Django by route": ("django", django_app, undersigned_django.RouteResolver),
}


CORS = "FastAPI with CORS"


def test_snippet_with_cors_answers_preflights_and_lets_pages_read_a_rejection(agreement):
    names = run(CORS, "fastapi", agreement, CORSMiddleware=CORSMiddleware)
    origin = ("Origin", "https://shop.example")
    with asgi_app(names) as port:
        asked = [origin, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "signature")]
        preflight = ask(port, raw_request("OPTIONS", "/plans/gold", asked))
        assert (preflight.status, preflight.fields["access-control-allow-origin"]) == (200, "https://shop.example")
        unsigned = ask(port, raw_request("POST", "/plans/gold", [*JSON, origin], BODY))
        assert_rejected(unsigned, "request_signature_required")
        assert unsigned.fields["access-control-allow-origin"] == "https://shop.example"
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY, extra=[origin]))
        assert (answer.status, answer.json["caller"]) == (200, KEYID)


def test_every_snippet_is_run_and_has_at_most_ten_lines():
    others = {"Django REST framework, a base class", "Django REST framework", "Policies by route", "Tests of your own"}
    others |= {"Frameworks on top of Flask and Django", "CORS", CORS}
    assert set(SNIPPETS) == {*ROWS, *ROUTERS, *BY_ROUTE, *BY_HOOK, *others}
    lengths = {title: len([line for line in text.splitlines() if line]) for title, text in SNIPPETS.items()}
    # A hook is a function of its own.
    long = {title for title, length in lengths.items() if length > LONGEST * (2 if title in BY_HOOK else 1)}
    assert not long


@pytest.mark.parametrize("title", ROWS)
def test_snippet_serves_signed_requests_and_rejects_unsigned_ones(title, agreement):
    example, serve, before = ROWS[title]
    with serve(run(title, example, agreement, before=before)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status // 100, answer.json) == (2, {"plan": "gold", "caller": KEYID})
        assert_unsigned(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)))


@pytest.mark.parametrize("title", ROUTERS)
def test_snippet_of_a_router_requires_signatures_for_its_routes_only(title, agreement):
    (example, serve, before), more = ROUTERS[title]
    with serve(run(title, example, agreement, before=before, **more)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status // 100, answer.json["plan"], answer.json["caller"]) == (2, "gold", KEYID)
        assert_unsigned(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)))
        assert ask(port, raw_request("GET", "/nothing")).status == 404


def add_fastapi_socket(names: dict) -> None:
    @names["router"].websocket("/socket")
    async def socket(websocket: fastapi.WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("secret")
        await websocket.close()

    names["app"].include_router(names["router"])


def add_starlette_socket(names: dict) -> None:
    async def socket(websocket) -> None:
        await websocket.accept()
        await websocket.send_text("secret")
        await websocket.close()

    names["app"].routes[0].app.app.routes.append(WebSocketRoute("/socket", socket))


def add_litestar_socket(names: dict) -> None:
    @litestar.websocket("/socket")
    async def socket(socket: litestar.WebSocket) -> None:
        await socket.accept()
        await socket.send_text("secret")
        await socket.close()

    names["plans"].register(socket)
    handlers = {names["SignatureError"]: names["rejected"]}
    names["app"] = wrap(litestar.Litestar([names["plans"]], exception_handlers=handlers), names)


def add_quart_socket(names: dict) -> None:
    @names["plans"].websocket("/socket")
    async def socket() -> None:
        await quart.websocket.send("secret")


def add_falcon_socket(names: dict) -> None:
    class Socket:
        async def on_websocket(self, _request, websocket) -> None:
            await websocket.accept()
            await websocket.send_text("secret")
            await websocket.close()

    names["app"].add_route("/plans/socket", Socket())


def add_sanic_socket(names: dict) -> None:
    @names["plans"].websocket("/socket")
    async def socket(_request, websocket) -> None:
        await websocket.send("secret")


def add_aiohttp_socket(names: dict) -> None:
    web = names["web"]

    async def socket(request):
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        await answer.send_str("secret")
        await answer.close()
        return answer

    names["plans"] = web.Application(middlewares=names["plans"].middlewares)
    names["plans"].add_routes([web.get("/socket", socket)])
    names["app"] = web.Application()
    names["app"].add_subapp("/plans", names["plans"])


def add_tornado_socket(names: dict) -> None:
    class Socket(WebSocketHandler):
        async def open(self) -> None:
            await self.write_message("secret")
            self.close()

    application = names["Application"]([("/plans/socket", Socket)])
    guarded = names["SignatureMiddleware"](application, verifier=names["verifier"], origins=names["origins"])
    names["app"].rules[0].target = guarded


SOCKETS = {
    "FastAPI, a router": add_fastapi_socket,
    "Starlette, a router": add_starlette_socket,
    "aiohttp, a sub-application": add_aiohttp_socket,
    "Tornado, a router": add_tornado_socket,
    "Litestar, a router": add_litestar_socket,
    "Quart, a blueprint": add_quart_socket,
    "Falcon, a part of the routes": add_falcon_socket,
    "Sanic, a blueprint": add_sanic_socket,
}


@pytest.mark.parametrize("title", SOCKETS)
def test_snippet_of_a_router_requires_signatures_for_its_websockets_too(title, agreement):
    (example, serve, before), more = ROUTERS[title]
    names = run(title, example, agreement, before=before, **more)
    SOCKETS[title](names)
    with serve(names) as port:
        unsigned = handshake(port, "/plans/socket")
        # On an ASGI server, Sanic answers a handshake as a request, which the server cannot send.
        assert unsigned.split(b" ")[1] in ({b"500"} if example == "sanic" else {b"401", b"403"}), unsigned
        assert b"secret" not in unsigned
        assert b"secret" in handshake(port, "/plans/socket", agreement.fields("GET", "/plans/socket"))


WITHIN = ["Starlette, a router", "aiohttp, a sub-application", "Tornado, a router"]
"""The snippets whose middleware requires signatures within an application, which has to answer preflights itself."""


@pytest.mark.parametrize("title", [title for title in ROUTERS if title not in WITHIN])
def test_snippet_of_a_router_lets_preflights_pass(title, agreement):
    (example, serve, before), more = ROUTERS[title]
    asked = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
    names = run(title, example, agreement, before=before, **more)
    if example == "sanic":
        # Sanic answers OPTIONS only if an extension, or somebody else, has added a route.
        names["plans"].add_route(lambda _request, plan: sanic.text(plan), "/<plan>", methods=["OPTIONS"], name="cors")
    with serve(names) as port:
        preflight = ask(port, raw_request("OPTIONS", "/plans/gold", asked))
        assert preflight.status in {200, 204, 405}
        plain = ask(port, raw_request("OPTIONS", "/plans/gold"))
        assert plain.status in {401, preflight.status}


@pytest.mark.parametrize("title", ROWS)
def test_snippet_without_its_mode_requires_a_signature_of_every_request(title, agreement):
    example, serve, before = ROWS[title]
    names = run(title, example, agreement, before=before, without=', mode="optional"', wrapped_mode="required")
    with serve(names) as port:
        assert_rejected(ask(port, raw_request("GET", "/nothing")), "request_signature_required")
        assert ask(port, agreement.raw("GET", "/nothing")).status == 404
        assert ask(port, agreement.raw("POST", "/plans/gold", BODY)).json["caller"] == KEYID


@pytest.mark.parametrize("title", BY_HOOK)
def test_snippet_with_a_hook_rejects_unsigned_requests(title, agreement):
    example, serve, before = BY_HOOK[title]
    named = {
        "ASGIConnection": litestar.connection.ASGIConnection,
        "BaseRouteHandler": litestar.handlers.BaseRouteHandler,
        "FromPath": litestar.params.FromPath,
        "MatchedRoute": MatchedRoute,
        "RouteResolver": RouteResolver,
        "SignatureMiddleware": SignatureMiddleware,
        "check_route": check_route,
        "websocket": quart.websocket,
    }
    with serve(run(title, example, agreement, before=before, **named)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status, answer.json["plan"]) == (200, "gold")
        assert_unsigned(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)))
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


@pytest.mark.parametrize("title", BY_ROUTE)
def test_snippet_with_a_policy_by_route_rejects_unsigned_requests(title, agreement):
    example, serve, resolver = BY_ROUTE[title]
    with serve(run(title, example, agreement, RouteResolver=resolver, csrf_exempt=csrf_exempt)) as port:
        answer = ask(port, agreement.raw("POST", "/plans/gold", BODY))
        assert (answer.status, answer.json["plan"]) == (200, "gold")
        assert_unsigned(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)))
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


def test_snippet_for_tests_passes_with_the_fixtures(agreement):
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
