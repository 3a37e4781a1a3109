"""The same routes in every framework that dispatches by path; each route tells that it was run."""

# The annotations of views are read while they run, in the scope that imports a framework.
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

OPERATION = "create_media_buy"
STATIC = f"/adcp/{OPERATION}"
SLASHED = f"/adcp/slashed/{OPERATION}/"
INNER = f"/adcp/acme/{OPERATION}"
LAST = f"/op/{OPERATION}"
MOUNTED = f"/mount/{OPERATION}"
PATTERN = f"/pattern/{OPERATION}"
WEBSOCKET = f"/ws/{OPERATION}"
HARMLESS = "/adcp/get_products"


@dataclass
class Ran:
    """The operations that were run since somebody last asked."""

    names: list[str] = field(default_factory=list)

    def run(self, name: str = OPERATION) -> str:
        self.names.append(name)
        return name

    def dispatch(self, name: str) -> str:
        """Run an operation by its name, as a view with the name in its path does."""
        return self.run() if name == OPERATION else name

    def told(self) -> list[str]:
        names, self.names = self.names, []
        return names


@dataclass(frozen=True)
class Framework:
    """A framework, and how its application is made.

    Attributes:
        name: what it is called.
        make: makes an application that runs the operation on each of `routes`.
        kind: `asgi` or `wsgi`.
        routes: the paths that run it.
        websocket: the path of the handshake that runs it, or nothing.
    """

    name: str
    make: Callable[[Ran], object]
    kind: str
    routes: tuple[str, ...]
    websocket: str = ""


def starlette(ran: Ran, *, application=None):
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route, WebSocketRoute

    async def buy(_request):
        return PlainTextResponse(ran.run())

    async def named(request):
        return PlainTextResponse(ran.dispatch(request.path_params["name"]))

    async def tail(request):
        return PlainTextResponse(ran.dispatch(request.path_params["tail"].rsplit("/", 1)[-1]))

    async def harmless(_request):
        return PlainTextResponse("products")

    async def socket(websocket):
        ran.run()
        await websocket.accept()
        await websocket.close()

    post = {"methods": ["GET", "POST"]}
    routes = [
        Route(STATIC, buy, **post),
        Route(SLASHED, buy, **post),
        Route(f"/adcp/{{account}}/{OPERATION}", buy, **post),
        Route("/op/{name}", named, **post),
        Route("/pattern/{tail:path}", tail, **post),
        Mount("/mount", routes=[Route(f"/{OPERATION}", buy, **post)]),
        Route(HARMLESS, harmless, **post),
        WebSocketRoute(WEBSOCKET, socket),
    ]
    return (application or Starlette)(routes=routes)


def fastapi(ran: Ran):
    from fastapi import APIRouter, FastAPI, WebSocket

    app, router = FastAPI(openapi_url=None), APIRouter(prefix="/mount")

    async def buy():
        return ran.run()

    for add in (app.get, app.post):
        for path in (STATIC, SLASHED):
            add(path)(buy)

        @add("/adcp/{account}/" + OPERATION)
        async def inner(account: str):
            return ran.run() + account

        @add("/op/{name}")
        async def named(name: str):
            return ran.dispatch(name)

        @add("/pattern/{tail:path}")
        async def tailed(tail: str):
            return ran.dispatch(tail.rsplit("/", 1)[-1])

        @add(HARMLESS)
        async def harmless():
            return "products"

    router.add_api_route(f"/{OPERATION}", buy, methods=["GET", "POST"])

    @app.websocket(WEBSOCKET)
    async def socket(websocket: WebSocket):
        ran.run()
        await websocket.accept()
        await websocket.close()

    app.include_router(router)
    return app


def flask(ran: Ran):
    from flask import Flask

    return _flask_like(Flask("seller"), ran)


def quart(ran: Ran):
    from quart import Quart, websocket

    app = _flask_like(Quart("seller"), ran, run_async=True)

    @app.websocket(WEBSOCKET)
    async def socket():
        ran.run()
        await websocket.accept()

    return app


def _flask_like(app, ran: Ran, *, run_async: bool = False):
    post = {"methods": ["GET", "POST"]}

    def add(rule: str, view) -> None:
        async def run(**parameters):
            return view(**parameters)

        app.add_url_rule(rule, rule, run if run_async else view, **post)

    for rule in (STATIC, SLASHED, MOUNTED):
        add(rule, ran.run)
    add(f"/adcp/<account>/{OPERATION}", lambda account: ran.run() + account)
    add("/op/<name>", ran.dispatch)
    add("/pattern/<path:tail>", lambda tail: ran.dispatch(tail.rsplit("/", 1)[-1]))
    add(HARMLESS, lambda: "products")
    return app


def django(ran: Ran, *, asynchronous: bool):
    import django
    from django.conf import settings
    from django.http import HttpResponse

    if not settings.configured:
        settings.configure(SECRET_KEY="s", LOGGING_CONFIG=None)
        django.setup()
    # Another module may have configured its own site, which is only collected here.
    settings.ALLOWED_HOSTS, settings.ROOT_URLCONF = ["*"], "tests.attack.django_urls"
    settings.MIDDLEWARE = []
    import logging

    from tests.attack import django_urls

    logging.getLogger("django.request").disabled = True
    django_urls.show(ran, HttpResponse)
    if asynchronous:
        from django.core.handlers.asgi import ASGIHandler

        return ASGIHandler()
    from django.core.handlers.wsgi import WSGIHandler

    return WSGIHandler()


def falcon(ran: Ran, *, asynchronous: bool):
    import falcon
    import falcon.asgi

    class Buy:
        def _run(self, response, parameters) -> None:
            response.text = ran.dispatch(parameters.get("name", OPERATION).rsplit("/", 1)[-1])

        def on_post(self, _request, response, **parameters):
            self._run(response, parameters)

        on_get = on_post

    class AsyncBuy(Buy):
        async def on_post(self, _request, response, **parameters):
            self._run(response, parameters)

        on_get = on_post

        async def on_websocket(self, _request, websocket):
            ran.run()
            await websocket.accept()

    class Harmless:
        def on_post(self, _request, response):
            response.text = "products"

    class AsyncHarmless:
        async def on_post(self, _request, response):
            response.text = "products"

    app = falcon.asgi.App() if asynchronous else falcon.App()
    app.req_options.strip_url_path_trailing_slash = True
    buy = AsyncBuy() if asynchronous else Buy()
    for route in (STATIC, f"/adcp/{{account}}/{OPERATION}", "/op/{name}", "/pattern/{name:path}", MOUNTED):
        app.add_route(route, buy)
    app.add_route(HARMLESS, AsyncHarmless() if asynchronous else Harmless())
    if asynchronous:
        app.add_route(WEBSOCKET, buy)
    return app


def bottle(ran: Ran):
    from bottle import Bottle

    app = Bottle()
    methods = ["GET", "POST"]
    for route in (STATIC, SLASHED, MOUNTED):
        app.route(route, methods, ran.run)
    app.route(f"/adcp/<account>/{OPERATION}", methods, lambda account: ran.run() + account)
    app.route("/op/<name>", methods, ran.dispatch)
    app.route("/pattern/<tail:path>", methods, lambda tail: ran.dispatch(tail.rsplit("/", 1)[-1]))
    app.route(HARMLESS, methods, lambda: "products")
    return app


def pyramid(ran: Ran):
    from pyramid.config import Configurator
    from pyramid.response import Response

    config = Configurator()

    def view(request):
        return Response(ran.dispatch(request.matchdict.get("name", OPERATION)))

    def tail(request):
        return Response(ran.dispatch(request.matchdict["tail"][-1] if request.matchdict["tail"] else ""))

    def harmless(_request):
        return Response("products")

    for route in (STATIC, SLASHED, f"/adcp/{{account}}/{OPERATION}", "/op/{name}", MOUNTED):
        config.add_route(route, route)
        config.add_view(view, route_name=route)
    config.add_route("tail", "/pattern/*tail")
    config.add_view(tail, route_name="tail")
    config.add_route("harmless", HARMLESS)
    config.add_view(harmless, route_name="harmless")
    return config.make_wsgi_app()


def litestar(ran: Ran):
    from litestar import Litestar, Router, WebSocket, get, post, websocket
    from litestar.params import FromPath

    made = []
    for index, handler in enumerate((get, post)):

        @handler([STATIC, SLASHED, MOUNTED], name=f"buy{index}", status_code=200)
        async def buy() -> str:
            return ran.run()

        @handler("/adcp/{account:str}/" + OPERATION, name=f"inner{index}", status_code=200)
        async def inner(account: FromPath[str]) -> str:
            return ran.run() + account

        @handler("/op/{name:str}", name=f"named{index}", status_code=200)
        async def named(name: FromPath[str]) -> str:
            return ran.dispatch(name)

        @handler("/pattern/{tail:path}", name=f"tail{index}", status_code=200)
        async def tailed(tail: FromPath[str]) -> str:
            return ran.dispatch(str(tail).rsplit("/", 1)[-1])

        @handler(HARMLESS, name=f"harmless{index}", status_code=200)
        async def harmless() -> str:
            return "products"

        made += [buy, inner, named, tailed, harmless]

    @websocket(WEBSOCKET)
    async def socket(socket: WebSocket) -> None:
        ran.run()
        await socket.accept()
        await socket.close()

    return Litestar(route_handlers=[Router("/", route_handlers=[*made, socket])], openapi_config=None)


def sanic(ran: Ran):
    from sanic import Sanic
    from sanic.response import text

    Sanic.test_mode = True
    app = Sanic(f"seller{id(ran)}", configure_logging=False)
    # An application that removes unused signals removes them for the whole process.
    app.config.TOUCHUP = False
    methods = ["GET", "POST"]

    async def buy(_request, **parameters):
        return text(ran.dispatch(parameters.get("name", OPERATION)))

    async def tail(_request, tail):
        return text(ran.dispatch(tail.rsplit("/", 1)[-1]))

    async def harmless(_request):
        return text("products")

    for at, route in enumerate((STATIC, SLASHED, f"/adcp/<account>/{OPERATION}", "/op/<name>", MOUNTED)):
        app.add_route(buy, route, methods=methods, name=f"buy{at}")
    app.add_route(tail, "/pattern/<tail:path>", methods=methods)
    app.add_route(harmless, HARMLESS, methods=methods)

    @app.websocket(WEBSOCKET)
    async def socket(_request, _websocket):
        ran.run()

    return app


def aiohttp(ran: Ran, *middlewares):
    from aiohttp import web

    async def buy(request):
        return web.Response(text=ran.dispatch(request.match_info.get("name", OPERATION).rsplit("/", 1)[-1]))

    async def harmless(_request):
        return web.Response(text="products")

    app, mounted = web.Application(middlewares=middlewares), web.Application()
    for method in ("GET", "POST"):
        for route in (STATIC, SLASHED, f"/adcp/{{account}}/{OPERATION}", "/op/{name}", "/pattern/{name:.*}"):
            app.router.add_route(method, route, buy)
        app.router.add_route(method, HARMLESS, harmless)
        mounted.router.add_route(method, f"/{OPERATION}", buy)
    app.add_subapp("/mount", mounted)
    return app


def tornado(ran: Ran):
    from tornado.web import Application, RequestHandler

    class Buy(RequestHandler):
        def get(self, name: str = OPERATION) -> None:
            self.write(ran.dispatch(name.rsplit("/", 1)[-1]))

        post = get

    class Inner(RequestHandler):
        def get(self, account: str) -> None:
            self.write(ran.run() + account)

        post = get

    class Harmless(RequestHandler):
        def get(self) -> None:
            self.write("products")

        post = get

    routes = [(route, Buy) for route in (STATIC, SLASHED, "/op/([^/]+)", "/pattern/(.*)")]
    mounted = Application([(MOUNTED, Buy)])
    inner = (f"/adcp/([^/]+)/{OPERATION}", Inner)
    return Application([*routes, inner, (HARMLESS, Harmless), ("/mount/.*", mounted)])


_ALL = (STATIC, SLASHED, INNER, LAST, MOUNTED, PATTERN)
_WITHOUT_SLASHED = tuple(route for route in _ALL if route is not SLASHED)

FRAMEWORKS = (
    Framework("starlette", starlette, "asgi", _ALL, WEBSOCKET),
    Framework("fastapi", fastapi, "asgi", _ALL, WEBSOCKET),
    Framework("litestar", litestar, "asgi", _ALL, WEBSOCKET),
    Framework("quart", quart, "asgi", _ALL, WEBSOCKET),
    Framework("sanic", sanic, "asgi", _ALL, WEBSOCKET),
    Framework("django-asgi", partial(django, asynchronous=True), "asgi", _ALL),
    Framework("falcon-asgi", partial(falcon, asynchronous=True), "asgi", _WITHOUT_SLASHED, WEBSOCKET),
    Framework("flask", flask, "wsgi", _ALL),
    Framework("django", partial(django, asynchronous=False), "wsgi", _ALL),
    Framework("falcon", partial(falcon, asynchronous=False), "wsgi", _WITHOUT_SLASHED),
    Framework("bottle", bottle, "wsgi", _ALL),
    Framework("pyramid", pyramid, "wsgi", _ALL),
)
