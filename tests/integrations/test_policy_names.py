"""A policy by route is a table, and a name in it that no route has is an error at the start."""

import asyncio
import logging
from functools import partial
from types import ModuleType
from typing import Any

import falcon
import falcon.asgi
import pytest
from aiohttp import web
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.test import override_settings
from django.urls import include, path
from fastapi import APIRouter, FastAPI
from flask import Blueprint, Flask
from litestar import Litestar, Router, post
from litestar import asgi as mounted
from quart import Quart
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Host, Mount, Route
from tests.drive import Message, call_asgi, scope_of
from tests.integrations import django_site  # noqa: F401 - it sets Django up
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server, tornado_server
from tests.integrations.routes import environ_of
from tests.keys import ORIGIN, verifier
from tests.wire import ask, raw_request
from tornado.web import Application, RequestHandler, URLSpec
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import run_wsgi_app

import undersigned_aiohttp
import undersigned_django
import undersigned_falcon
import undersigned_fastapi
import undersigned_flask
import undersigned_litestar
import undersigned_quart
import undersigned_sanic
import undersigned_starlette
import undersigned_tornado
from undersigned import ConfigurationError, Policy, policy, wsgi
from undersigned.policy import policy_table


async def create_order(_request) -> PlainTextResponse:
    return PlainTextResponse("")


async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
    """An application of which nothing is known."""


def given(by_route: Policy) -> dict[str, Any]:
    return {"policy": by_route, "verifier": verifier(), "origins": [ORIGIN]}


def over_asgi(app, method: str = "POST", path: str = "/orders") -> int:
    return asyncio.run(call_asgi(app, scope_of(Message(path, method, ())))).sent[0]["status"]


def over_wsgi(app, method: str = "POST", path: str = "/orders") -> int:
    return int(run_wsgi_app(app, environ_of(method, path))[1][:3])


def of_starlette(options, *, opaque: bool = False):
    routes = [Route("/orders", create_order, methods=["POST"])]
    opaque_mount = [Mount("/x", elsewhere)] if opaque else []
    app = Starlette(routes=[Host("x.example", Starlette(routes=routes)), Mount("", routes=routes), *opaque_mount])
    return undersigned_starlette.SignatureMiddleware(app, **options)


def of_fastapi(options, *, opaque: bool = False):
    app, router = FastAPI(), APIRouter()
    app.add_middleware(undersigned_fastapi.SignatureMiddleware, **options)
    router.post("/orders")(create_order)
    app.include_router(router)
    if opaque:
        app.mount("/x", elsewhere)
    return app


def of_flask(options, *, opaque: bool = False):
    app, orders = Flask("shop"), Blueprint("orders", "orders")
    given = wsgi.SignatureMiddleware(DispatcherMiddleware(app, {"/x": elsewhere} if opaque else {}), **options)
    orders.add_url_rule("/orders", "create_order", lambda: "", methods=["POST"])
    app.register_blueprint(orders)
    return given


def of_django(options, *, opaque: bool = False):
    def create_order(_request) -> HttpResponse:
        return HttpResponse("")

    urls = ModuleType("urls")
    urls.urlpatterns = [path("", include([path("orders", create_order)]))]
    listed = [*([_SELECTING] if opaque else []), "undersigned_django.middleware.RouteMiddleware"]
    ENABLED.append(override_settings(ROOT_URLCONF=urls, ALLOWED_HOSTS=["*"], MIDDLEWARE=listed))
    ENABLED[-1].enable()
    return wsgi.SignatureMiddleware(WSGIHandler(), **options)


ENABLED: list[override_settings] = []
_SELECTING = f"{__name__}.selecting"


def selecting(get_response):
    def select(request):
        request.urlconf = None
        return get_response(request)

    return select


def of_aiohttp(options):
    async def create_order(_request) -> web.Response:
        return web.Response()

    inner = web.Application()
    app = web.Application(middlewares=[undersigned_aiohttp.SignatureMiddleware(**options)])
    inner.router.add_post("/in", create_order)
    app.router.add_post("/orders", create_order, name="orders")
    app.add_subapp("/sub", inner)
    return app


def of_litestar(options, *, opaque: bool = False):
    @post("/orders")
    async def create_order() -> None: ...

    mounts = [mounted("/x", is_mount=True, copy_scope=True)(elsewhere)] if opaque else []
    app = Litestar([Router("/", route_handlers=[create_order]), *mounts], openapi_config=None, logging_config=None)
    return undersigned_litestar.SignatureMiddleware(app, **options)


def of_quart(options):
    app = Quart("shop")
    undersigned_quart.Undersigned(app, **options)
    app.post("/orders")(create_order)
    app.websocket("/feed")(elsewhere)
    return app


class Orders:
    def on_post(self, _request, _response) -> None:
        """Answer."""


def of_falcon(options):

    def create_order(_request, _response) -> None: ...

    app = falcon.App()
    app.add_route("/in/orders", Orders())
    app.add_sink(create_order, "/orders")
    return undersigned_falcon.SignatureMiddleware(app, **options)


def of_sanic(options):
    async def create_order(_request):
        """Stand for a handler."""

    async def feed(request, ws):
        """Stand for a handler."""

    app = sanic_app()
    app.add_route(create_order, "/orders", methods=["POST"])
    app.add_websocket_route(feed, "/feed")
    undersigned_sanic.Undersigned(app, **options)
    return app


def of_tornado(options, *, opaque: bool = False):
    kind = type("create_order", (RequestHandler,), {"post": lambda self: self.finish()})
    inner = Application([URLSpec("/in", kind, name="inner")])
    rules = [("/orders", kind), ("/in", inner), *([("/x", elsewhere)] if opaque else [])]
    return undersigned_tornado.Undersigned(Application(rules), **options)


def over_socket(serve, app, method: str = "POST", path: str = "/orders") -> int:
    with serve(app) as port:
        return ask(port, raw_request(method, path)).status


MOUNTING = [
    undersigned_starlette,
    undersigned_fastapi,
    undersigned_flask,
    undersigned_django,
    undersigned_litestar,
]
FRAMEWORKS = {
    undersigned_starlette: (of_starlette, over_asgi),
    undersigned_fastapi: (of_fastapi, over_asgi),
    undersigned_flask: (of_flask, over_wsgi),
    undersigned_django: (of_django, over_wsgi),
    undersigned_aiohttp: (of_aiohttp, partial(over_socket, aiohttp_server)),
    undersigned_litestar: (of_litestar, over_asgi),
    undersigned_quart: (of_quart, over_asgi),
    undersigned_falcon: (of_falcon, over_wsgi),
    undersigned_sanic: (of_sanic, partial(over_socket, sanic_server)),
    undersigned_tornado: (of_tornado, partial(over_socket, tornado_server)),
}


@pytest.fixture(params=FRAMEWORKS, ids=[package.__name__ for package in FRAMEWORKS])
def made(request):
    """Make an application with a policy by route, and return it with what sends it a request."""

    def made(required, operations=None, **options):
        make, send = FRAMEWORKS[request.param]
        by_route = Policy(required_for=required, resolver=request.param.RouteResolver(operations))
        return make(given(by_route), **options), send

    yield made
    while ENABLED:
        ENABLED.pop().disable()


@pytest.fixture
def told(made, caplog):
    """Send the first request, and return its status, and the levels and lines that the log told."""

    def told(*names, **options) -> tuple[int | None, list[tuple[int, str]]]:
        app, send = made(*names, **options)
        caplog.clear()
        try:
            status = send(app)
        except ConfigurationError:
            status = None
        records = [record for record in caplog.records if " named " in record.getMessage()]
        return status, [(record.levelno, record.getMessage()) for record in records]

    return told


@pytest.mark.parametrize(
    ("required", "operations", "expected"),
    [
        (["create_ordr"], None, "required_for: no route is named 'create_ordr'; the closest name is 'create_order'"),
        (["create_order", "update_order"], None, "required_for: no route is named 'update_order'"),
        (["buy"], {"create_ordr": "buy"}, "operations: no route is named 'create_ordr'"),
        (["buy"], {"create_order": "by"}, "required_for: no route is named 'buy'; the closest name is 'by'"),
        (["create_order"], {"unused": None}, "operations: no route is named 'unused'"),
        (["create_order"], {"create_order": "buy"}, "is named 'create_order', but operations= gives it another op"),
        (
            ["buy"],
            {"create_order": "buy", type("create_order", (), {}): "buy"},
            "is named 'create_order', but runs another function",
        ),
    ],
)
def test_name_that_no_route_has_is_an_error(told, required, operations, expected):
    status, [(level, line)] = told(required, operations)
    assert (status in {None, 500}, level) == (True, logging.ERROR)
    assert expected in line


@pytest.mark.parametrize(
    ("required", "operations"),
    [
        (["create_order"], None),
        (["buy"], {"create_order": "buy"}),
        (["pay"], {"create_order": lambda _parameters: "pay"}),
        (["create_order"], {"create_order": lambda _parameters: "create_order"}),
    ],
)
def test_name_that_a_route_has_is_none(told, required, operations):
    assert told(required, operations) == (401, [])


@pytest.mark.parametrize("made", MOUNTING, indirect=True)
def test_name_that_may_be_elsewhere_is_a_warning_only_if_it_is_like_one_of_a_route(told):
    status, [(level, line)] = told(["create_order", "create_ordr", "pay"], opaque=True)
    assert (status, level) == (401, logging.WARNING)
    assert "'create_ordr'" in line
    assert "'pay'" not in line


def test_table_says_what_an_unsigned_request_gets(made):
    lines = policy_table(made(["create_order"])[0])
    orders = {line for line in lines if line.operation == "create_order"}
    assert {line.method for line in orders} - {"*"} <= {"POST", "GET", "HEAD"}
    assert {(line.demand, line.source) for line in orders} == {("required", "required_for; its name")}
    assert any(line.path.endswith("/orders") or line.path == "/*" for line in orders)
    for line in lines:
        path = line.path.replace("/*", "/x").replace("<path:filename>", "x").removeprefix("x.example")
        if "{" not in path and line.method != "WEBSOCKET" and not line.path.startswith("x.example"):
            app, send = made(["create_order"])
            is_refused = send(app, line.method.replace("*", "POST"), path) == 401
            assert is_refused == (line.demand in {"required", "unknown: must be signed"}), line


@pytest.mark.parametrize("made", MOUNTING, indirect=True)
def test_mount_of_which_nothing_is_known_must_be_signed(made):
    app, _ = made(["create_order"], opaque=True)
    unknown = {line.path for line in policy_table(app) if line.demand == "unknown: must be signed"}
    assert unknown in ({"/x/*"}, {"/x"}, set())


def test_table_shows_what_names_an_operation(made):
    for operation, *shown in (
        ("buy", "buy", "required", "required_for; operations="),
        (lambda _: "buy", None, "by the path parameters", "a function in operations="),
        ("buy\0", None, "unknown: must be signed", "operations="),
    ):
        lines = policy_table(made(["buy"], {"create_order": operation})[0])
        assert shown in [[one.operation, one.demand, one.source] for one in lines]


def test_route_that_wraps_functions_without_end_must_be_signed_and_starts():
    async def endless(_request) -> None:
        """Stand for an endpoint."""

    endless.__wrapped__ = endless
    by_route = Policy(required_for=["create_order"], resolver=undersigned_starlette.RouteResolver())
    routes = [Route("/endless", endless), Route("/orders", create_order)]
    app = undersigned_starlette.SignatureMiddleware(Starlette(routes=routes), **given(by_route))
    assert over_asgi(app, "GET", "/endless") == 401
    assert {line.demand for line in policy_table(app) if line.path == "/endless"} == {"unknown: must be signed"}


class Routerless:
    """A router of Falcon that shows no routes."""

    def add_route(self, *_route, **_options) -> None: ...

    def find(self, *_request, **_options) -> None: ...


def without_routes(options):
    return undersigned_falcon.SignatureMiddleware(falcon.App(router=Routerless()), **options)


def by_path(options):
    return undersigned_starlette.SignatureMiddleware(elsewhere, **{**options, "policy": Policy(required_for=["x"])})


def hooked(options):
    return undersigned_starlette.SignatureMiddleware(policy.Routes(elsewhere, ask=lambda: True), **options)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (without_routes, "the routes of this application cannot be listed"),
        (hooked, "the routes of this application cannot be listed"),
        (by_path, "PathResolver does not see the routes"),
    ],
)
def test_policy_that_has_no_table_says_why(make, expected):
    by_route = Policy(resolver=policy.RouteResolver())
    with pytest.raises(ConfigurationError, match=expected):
        policy_table(make(given(by_route)))


class Skipping(Quart):
    async def preprocess_request(self, *_context: object) -> None:
        """Call no function that is to be called before a view."""


def traced(app: Any, hook: Any = lambda _scope: None) -> Any:
    async def call(scope: Any, *rest: Any) -> None:
        hook(scope)
        await app(scope, *rest)

    return call


def quart_behind(middleware: Any) -> Quart:
    app = Quart("shop")
    app.asgi_app = middleware(app.asgi_app)
    return app


@pytest.mark.parametrize(
    ("make", "app"),
    [
        (undersigned_starlette.SignatureMiddleware, elsewhere),
        (undersigned_quart.Undersigned, Skipping("shop")),
        (undersigned_quart.Undersigned, quart_behind(lambda app: DispatcherMiddleware(app, {"/x": elsewhere}))),
    ],
)
def test_application_that_does_not_ask_must_be_signed(make, app):
    app = make(app, **given(Policy(resolver=policy.RouteResolver())))
    [line] = policy_table(app)
    assert (line.method, line.path, line.demand) == ("*", "/*", "unknown: must be signed")
    assert over_asgi(app) == 401


def test_application_of_quart_asks_behind_middlewares_that_call_nothing_else():
    app = quart_behind(lambda app: CORSMiddleware(traced(app), allow_origins=["*"]))
    assert over_asgi(undersigned_quart.Undersigned(app, **given(Policy(resolver=policy.RouteResolver())))) == 404
    assert policy.Routes().listed() is None


def test_table_is_found_behind_another_middleware_of_aiohttp():
    @web.middleware
    async def other(request, handler):
        return await handler(request)

    options = given(Policy(resolver=policy.RouteResolver()))
    app = web.Application(middlewares=[other, undersigned_aiohttp.SignatureMiddleware(**options)])
    assert policy_table(app) == []
