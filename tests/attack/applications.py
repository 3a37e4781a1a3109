"""Generated applications: kinds of endpoint, mounts and layers of every framework. Each endpoint tells that it ran."""

# The annotations of views are read while they run, in the scope that imports a framework.
import functools
import re
import threading
import types
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import iscoroutinefunction
from random import Random
from typing import Any
from urllib.parse import unquote

from tests.attack.bridges import LAYERS, asgi_endpoint, wsgi_endpoint
from tests.drive import Message
from tests.integrations.own_servers import aiohttp_server, sanic_server, tornado_server
from tests.keys import ORIGINS, verifier

from undersigned import PathResolver, Policy, asgi, wsgi

OPERATION, OTHER = "create_media_buy", "get_products"
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")
BELOW = frozenset({"mount", "sink"})
"""The kinds of endpoint that run for every path below their own."""
PATTERNED = ("slashed", "inner", "parameter", "tail")
"""The kinds whose route is a pattern. The last two run the operation that the end of the path names."""


@dataclass(frozen=True)
class Endpoint:
    """Something that an application can run.

    Attributes:
        number: its number in the application.
        kind: how it is written, in words of its framework.
        place: where it is mounted.
        methods: the methods that it is registered for, where the kind has methods.
        operation: what it does.
        listing: what tells that: its own `name`, or an entry of the mapping for the `object` or the name of the
            `route`; or `nothing` does.
    """

    number: int
    kind: str
    place: str
    methods: tuple[str, ...]
    operation: str
    listing: str

    def route_of(self, name: str = "{name}", tail: str = "{name:path}") -> str:
        """Return the path of its route, in a framework that spells a parameter and the rest of a path so."""
        name = name if self.kind in {"inner", "parameter"} else tail
        last = {"slashed": f"{self.operation}/", "inner": f"{name}/{self.operation}"}.get(self.kind, name)
        return f"/e{self.number}/{last if self.kind in PATTERNED else self.operation}"

    @property
    def path(self) -> str:
        """The path, below that of the place. `PathResolver` finds the operation in it."""
        before, after = {"slashed": ("", "/"), "inner": ("acme/", ""), "tail": ("acme/", "")}.get(self.kind, ("", ""))
        return f"/e{self.number}/{before}{self.operation}{after}"

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.operation if self.listing == "name" else f"function_{self.number}"

    @property
    def route(self) -> str:
        """The name of its route."""
        return f"route_{self.number}"

    def named(self, function: Any) -> Any:
        """Return a function or class with this name."""
        function.__name__ = function.__qualname__ = self.name
        return function


@dataclass
class Site:
    """An application of a framework, and what it ran.

    Attributes:
        framework: the framework.
        by_route: whether the policy has a `RouteResolver`, or else a `PathResolver`.
        endpoints: what it can run. The first one is a function with the name of the operation.
        layer: what is between the middleware and the application.
        places: the path of each place.
        paths: the whole path of each endpoint that is registered, with whether it is a WebSocket.
        opaque: the endpoints whose operation nobody can know, so that they must be signed.
        mapping: the mapping of the resolver for the application that was made last.
        ran: the endpoints that ran since somebody last asked.
        has_run: whether one did, for a server that answers a handshake before it runs something.
        is_guarded: whether the application that was made last has the middleware.
    """

    framework: "Framework"
    by_route: bool
    endpoints: tuple[Endpoint, ...]
    layer: str = "none"
    paths: dict[Endpoint, tuple[str, bool]] = field(default_factory=dict)
    opaque: set[Endpoint] = field(default_factory=set)
    mapping: dict[object, str | None] = field(default_factory=dict)
    ran: list[Endpoint] = field(default_factory=list)
    has_run: threading.Event = field(default_factory=threading.Event)
    is_guarded: bool = False

    @classmethod
    def random(cls, random: Random, framework: "Framework", *, by_route: bool) -> "Site":
        made = [
            Endpoint(
                number,
                random.choice(framework.kinds if by_route else framework.kinds_by_path),
                random.choice([place for place in framework.places if by_route or place not in BELOW]),
                tuple(random.sample(METHODS, random.randint(1, 3))),
                random.choice((OPERATION, OPERATION, OTHER)),
                random.choice(("name", "name", "object", "route", "nothing")),
            )
            for number in range(random.randint(3, 6))
        ]
        first = replace(made[0], kind="function", place="top", listing="name", operation=OPERATION, methods=("POST",))
        # A lambda has no name.
        made = [replace(one, listing="route") if (one.kind, one.listing) == ("lambda", "name") else one for one in made]
        made = [replace(one, place="top") if one.kind in PATTERNED else one for one in made]
        # A policy by path cannot know what a layer makes of the path.
        layers = [layer for layer in framework.layers if by_route or layer != "rewrite"]
        return cls(framework, by_route, (first, *made[1:]), random.choice(("none", "none", *layers)))

    @classmethod
    def routed(cls, framework: "Framework") -> "Site":
        """Return one with every kind of route to the operation: at the top, mounted, by patterns, by a handshake."""
        kinds = [kind for kind in framework.kinds_by_path if kind in {*PATTERNED, "socket"}]
        routes = [("function", place) for place in framework.places[:2] if place not in BELOW]
        made = [*routes, *((kind, "top") for kind in kinds)]
        endpoints = [
            Endpoint(number, kind, place, ("GET", "POST"), OPERATION, "name")
            for number, (kind, place) in enumerate(made)
        ]
        harmless = Endpoint(len(made), "function", "top", ("POST",), OTHER, "name")
        return cls(framework, by_route=False, endpoints=(*endpoints, harmless))

    def again(self) -> "Site":
        """Return another one with the same endpoints."""
        return Site(self.framework, self.by_route, self.endpoints, self.layer)

    def run(self, endpoint: Endpoint, name: str = "") -> str:
        """Tell that an endpoint runs, and whatever its path names there."""
        if endpoint.kind in {"parameter", "tail"}:
            endpoint = replace(endpoint, operation=str(name).rpartition("/")[2])
        self.ran.append(endpoint)
        self.has_run.set()
        return f"endpoint {endpoint.number}"

    def told(self) -> list[Endpoint]:
        self.has_run.clear()
        ran, self.ran[:] = list(self.ran), []
        return ran

    def add(
        self, endpoint: Endpoint, key: object, *, at: str, route: str = "", has_route: bool = True,
        is_opaque: bool = False, is_socket: bool = False,
    ) -> None:  # fmt: skip
        """Note that an endpoint is registered, and list it in the mapping as its listing says.

        Args:
            endpoint: the endpoint.
            key: its function or class.
            at: the path of its place.
            route: the name of its route, if the framework has another than the endpoint.
            has_route: whether routes of this kind have a name.
            is_opaque: whether nobody can know its operation unless the mapping says it.
            is_socket: whether it is a WebSocket.
        """
        self.paths[endpoint] = (at + endpoint.path, is_socket)
        if endpoint.listing in {"object", "route"}:
            by_route = endpoint.listing == "route" and has_route
            listed = (route or endpoint.route) if by_route else key
            self.mapping[listed] = OPERATION if endpoint.operation == OPERATION else None
        elif is_opaque:
            self.opaque.add(endpoint)

    def must_be_signed(self, endpoint: Endpoint) -> bool:
        """Return whether no unsigned request may run an endpoint."""
        if self.by_route and endpoint.listing == "nothing":
            return endpoint in self.opaque
        return endpoint.operation == OPERATION or (self.by_route and endpoint in self.opaque)

    def may_refuse(self, message: Message) -> bool:
        """Return whether an unsigned request may be refused although it runs nothing that must be signed.

        That is one whose path can be read in two ways and may name the operation, one for a route that matches in its
        own way, and a handshake beside a framework that runs none.
        """
        if self.by_route:
            is_handshake = any(name == "Upgrade" for name, _ in message.fields)
            # Whether such a route would answer 405, nobody can ask it.
            shown = unquote(message.target, errors="ignore") + dict(message.fields).get("X-Original-URL", "")
            at_opaque = any(self.paths[one][0] in shown for one in self.opaque)
            # Starlette's classes tell the case of a method in newer versions only.
            is_odd = self.framework.make is starlette and not message.method.isupper()
            return at_opaque or is_odd or (is_handshake and self.framework.make in {flask, django})
        squeezed = re.sub("[^a-z0-9_]", "", unquote(message.target, errors="ignore").casefold())
        return OPERATION in squeezed

    def options(self) -> dict[str, Any]:
        """Return the options of the middleware for the application that was made last."""
        resolver = self.framework.package.RouteResolver(self.mapping) if self.by_route else PathResolver()
        policy = Policy(required_for=[OPERATION], resolver=resolver)
        return {"verifier": verifier(), "origins": ORIGINS, "policy": policy}

    def made(self, *, guarded: bool, install: bool = True) -> Any:
        """Return the application.

        Args:
            guarded: whether a middleware verifies its requests.
            install: whether to put the middleware around it then.
        """
        for held in (self.paths, self.opaque, self.mapping):
            held.clear()
        self.is_guarded = guarded
        app = self.framework.make(self)
        return self.framework.install(app, self.options()) if guarded and install else app

    def layered(self, app: Any) -> Any:
        """Return an ASGI or WSGI application with the layer around it."""
        return app if self.layer == "none" else LAYERS[self.framework.interface][self.layer](app)

    def with_layer(self, app: Any) -> Any:
        """Return an application of Starlette or FastAPI with the layer as its middleware."""
        if self.layer != "none":
            app.add_middleware(LAYERS["asgi"][self.layer])
        return app


@dataclass(frozen=True)
class Framework:
    """A framework, and how its applications are made.

    Attributes:
        name: what it is called.
        make: makes an application.
        install: puts the middleware of the package around an application, and returns what a server calls.
        kinds: the kinds of endpoint.
        places: the places of an endpoint.
        interface: `asgi` or `wsgi`, or nothing if the framework has its own server.
        serve: serves an application on its own server, and yields the port.
    """

    name: str
    make: Callable[[Site], Any]
    install: Callable[[Any, dict[str, Any]], Any]
    kinds: tuple[str, ...]
    places: tuple[str, ...] = ("top",)
    interface: str = ""
    serve: Callable[[Any], AbstractContextManager[int]] | None = None

    @property
    def package(self) -> Any:
        return import_module(f"undersigned_{self.name.partition('-')[0]}")

    @property
    def kinds_by_path(self) -> list[str]:
        """The kinds of endpoint whose operation is in the path."""
        # Falcon takes a slash at the end away.
        patterned = [kind for kind in PATTERNED if kind != "slashed" or not self.name.startswith("falcon")]
        return [*(kind for kind in self.kinds if kind not in BELOW), *patterned]

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(LAYERS[self.interface]) if self.interface else ()


def _wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    @functools.wraps(function)
    async def awaiting(*args: object, **kwargs: object) -> object:
        return await function(*args, **kwargs)

    return awaiting if iscoroutinefunction(function) else wrapper


def _written(e: Endpoint, plain: Any, own: Any = None) -> Any:
    """Return a function as people write it: as a lambda, in a partial or a wrapper, as a method, or as it is."""
    match e.kind:
        case "lambda":
            return lambda *args, **kwargs: plain(*args, **kwargs)  # noqa: PLW0108 - what people write
        case "partial":
            return functools.partial(e.named(plain))
        case "wrapped":
            return _wrapped(e.named(plain))
        case "bound method":
            return types.MethodType(e.named(own), object())
    return e.named(plain)


def _methods(endpoint: Endpoint, function: Callable[..., object], prefix: str = "") -> dict[str, object]:
    """Return the methods of a class that have the names of HTTP's."""
    return {prefix + method.lower(): function for method in endpoint.methods}


def starlette(site: Site) -> Any:
    from starlette.applications import Starlette
    from starlette.endpoints import HTTPEndpoint, WebSocketEndpoint
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Host, Mount, Route, Router, WebSocketRoute
    from tests.keys import HOST

    class Handling(Route):
        async def handle(self, scope: Any, receive: Any, send: Any) -> None:
            scope["method"] = next(iter(self.methods or {"GET"}))
            await super().handle(scope, receive, send)

    def made(e: Endpoint, at: str) -> Any:
        async def function(request: Any) -> Any:
            return PlainTextResponse(site.run(e, request.path_params.get("name", "")))

        def synchronous(_request: Any) -> Any:
            return PlainTextResponse(site.run(e))

        async def own(*_request: Any) -> Any:
            return PlainTextResponse(site.run(e))

        async def dispatch(self: Any) -> None:
            await PlainTextResponse(site.run(e))(self.scope, self.receive, self.send)

        async def socket(websocket: Any) -> None:
            site.run(e)
            await websocket.accept()
            await websocket.close()

        async def connect(_self: object, websocket: Any) -> None:
            await socket(websocket)

        app = asgi_endpoint(site.run, e)
        methods, name = list(e.methods), e.route
        match e.kind:
            case "class" | "dispatching class":
                extra = {"dispatch": dispatch} if e.kind == "dispatching class" else {}
                kind = e.named(
                    types.new_class("_", (HTTPEndpoint,), {}, lambda ns: ns.update(_methods(e, own), **extra))
                )
                site.add(e, kind, at=at)
                return Route(e.path, kind, name=name)
            case "ASGI class":
                kind = e.named(
                    type(
                        "_",
                        (),
                        {
                            "__init__": lambda self, *call: setattr(self, "call", call),
                            "__await__": lambda self: app(*self.call).__await__(),
                        },
                    )
                )
                site.add(e, kind, at=at)
                return Route(e.path, kind, name=name)
            case "object":
                endpoint = type("_", (), {"__call__": lambda _self, *call: app(*call)})()
                site.add(e, endpoint, at=at, is_opaque=True)
                return Route(e.path, endpoint, name=name)
            case "mount":
                site.add(e, app, at=at, is_opaque=True)
                return Mount(e.path, app, name=name)
            case "handling route":
                site.add(e, e.named(function), at=at, is_opaque=True)
                return Handling(e.path, function, methods=methods, name=name)
            case "socket":
                site.add(e, e.named(socket), at=at, is_socket=True)
                return WebSocketRoute(e.path, socket, name=name)
            case "socket class":
                kind = e.named(type("_", (WebSocketEndpoint,), {"on_connect": connect}))
                site.add(e, kind, at=at, is_socket=True)
                return WebSocketRoute(e.path, kind, name=name)
        endpoint = _written(e, synchronous if e.kind in {"synchronous", "wrapped", "lambda"} else function, own)
        site.add(e, endpoint, at=at)
        return Route(e.route_of(), endpoint, methods=methods, name=name)

    routes, below = [], {"routes": "/m1", "application": "/m2", "zipped": "/m3", "deep": "/m4/n", "host": ""}
    held: dict[str, list[Any]] = {place: [] for place in below}
    for e in site.endpoints:
        held.get(e.place, routes).append(made(e, below.get(e.place, "")))
    routes += [
        Mount("/m1", routes=held["routes"]),
        Mount("/m2", Starlette(routes=held["application"])),
        Mount("/m3", routes=held["zipped"], middleware=[Middleware(GZipMiddleware)]),
        Mount("/m4", Router([Mount("/n", Starlette(routes=held["deep"]))])),
        Host(HOST, Router(held["host"])),
    ]
    return site.with_layer(Starlette(routes=routes))


def fastapi(site: Site) -> Any:
    from fastapi import APIRouter, FastAPI, WebSocket, routing
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse

    class Versioned(routing.APIRoute):
        def matches(self, scope: Any) -> Any:
            return super().matches(scope)

    app, sub = FastAPI(openapi_url=None), FastAPI(openapi_url=None)
    router, inner = APIRouter(prefix="/m1"), APIRouter(prefix="/n")
    versioned = APIRouter(prefix="/m3", route_class=Versioned)
    places: dict[str, tuple[Any, str]] = {
        "top": (app, ""), "router": (router, "/m1"), "nested router": (inner, "/m1/n"), "application": (sub, "/m2"),
        "route class": (versioned, "/m3"),
    }  # fmt: skip

    def register(e: Endpoint) -> None:
        to, at = places[e.place]

        async def function() -> str:
            return site.run(e)

        def synchronous() -> str:
            return site.run(e)

        async def of_starlette(_request: Request) -> Any:
            return PlainTextResponse(site.run(e))

        async def patterned(request: Request) -> str:
            return site.run(e, request.path_params.get("name", ""))

        async def socket(websocket: WebSocket) -> None:
            site.run(e)
            await websocket.accept()
            await websocket.close()

        methods = list(e.methods)
        match e.kind:
            case "socket":
                site.add(e, e.named(socket), at=at, is_socket=True)
                to.add_api_websocket_route(e.path, socket, name=e.route)
            case "mount":
                mounted = asgi_endpoint(site.run, e)
                site.add(e, mounted, at=at, is_opaque=True)
                to.mount(e.path, mounted, name=e.route)
            case "object":
                endpoint = type("_", (), {"__call__": lambda _self: site.run(e)})()
                site.add(e, endpoint, at=at, is_opaque=True)
                to.add_api_route(e.path, endpoint, methods=methods, name=e.route)
            case "slashed" | "inner" | "parameter" | "tail":
                site.add(e, e.named(patterned), at=at)
                to.add_api_route(e.route_of(), patterned, methods=methods, name=e.route)
            case "route of Starlette":
                site.add(e, e.named(of_starlette), at="")
                app.add_route(e.path, of_starlette, methods=methods, name=e.route)
            case _:
                endpoint = _written(e, synchronous if e.kind in {"synchronous", "wrapped"} else function)
                site.add(e, endpoint, at=at)
                to.add_api_route(e.path, endpoint, methods=methods, name=e.route)

    for e in site.endpoints:
        register(e)
    # Nobody can ask a route class of one's own inside of an included router which of its routes will run.
    held = [e for e in site.endpoints if e.place == "route class" and e.kind != "route of Starlette"]
    site.opaque.update(held if any(e.kind not in {"mount", "socket"} for e in held) else ())
    router.include_router(inner)
    app.include_router(router)
    app.include_router(versioned)
    app.mount("/m2", sub)
    return site.with_layer(app)


def _flask_like(site: Site, app: Any, blueprint: Any, views: Any) -> None:
    """Register the endpoints in an application of Flask or Quart."""
    outer, inner = blueprint("outer", "outer", url_prefix="/m1"), blueprint("inner", "inner", url_prefix="/n")
    places = {"top": (app, "", ""), "blueprint": (outer, "/m1", "outer."), "nested": (inner, "/m1/n", "outer.inner.")}

    def register(e: Endpoint) -> None:
        to, at, prefix = places[e.place]

        async def function() -> str:
            return site.run(e)

        def synchronous(name: str = "") -> str:
            return site.run(e, name)

        def own(_self: object) -> str:
            return site.run(e)

        async def socket() -> None:
            site.run(e)
            await import_module("quart").websocket.accept()

        if e.kind == "socket":
            site.add(e, e.named(socket), at=at, route=prefix + e.route, is_socket=True)
            to.add_websocket(e.path, e.route, socket)
            return
        view = key = _written(e, function if e.kind == "asynchronous" else synchronous, own)
        options: dict[str, Any] = {"methods": list(e.methods)}
        match e.kind:
            case "method view":
                key, options = e.named(type("_", (views.MethodView,), _methods(e, own))), {}
                view = key.as_view(e.name)
            case "dispatching view":
                key = e.named(type("_", (views.View,), {"dispatch_request": own}))
                view = key.as_view(e.name)
            case "own options":
                options = {"methods": [*e.methods, "OPTIONS"], "provide_automatic_options": False}
        site.add(e, key, at=at, route=prefix + e.route)
        to.add_url_rule(e.route_of("<name>", "<path:name>"), e.route, view, **options)

    for e in site.endpoints:
        if e.place in places:
            register(e)
    outer.register_blueprint(inner)
    app.register_blueprint(outer)


def flask(site: Site) -> Any:
    from flask import Blueprint, Flask, views
    from werkzeug.middleware.dispatcher import DispatcherMiddleware

    app, mounted = Flask("seller", static_folder=None), Flask("mounted", static_folder=None)
    _flask_like(site, app, Blueprint, views)
    mounts: dict[str, Any] = {"/m2": mounted}

    def mount(e: Endpoint) -> None:
        def view() -> str:
            return site.run(e)

        if e.place == "dispatcher":
            mounted.add_url_rule(e.path, e.route, e.named(view), methods=list(e.methods))
            site.add(e, view, at="/m2")
        elif e.place == "mount":
            mounts[f"/m3{e.path}"] = opaque = wsgi_endpoint(site.run, e)
            site.add(e, opaque, at="/m3", is_opaque=True, has_route=False)

    for e in site.endpoints:
        mount(e)
    app.wsgi_app = DispatcherMiddleware(site.layered(app.wsgi_app), mounts)  # type: ignore[method-assign]
    return app


def quart(site: Site) -> Any:
    from quart import Blueprint, Quart, views

    app = Quart("seller", static_folder=None)
    _flask_like(site, app, Blueprint, views)
    app.asgi_app = site.layered(app.asgi_app)  # type: ignore[method-assign]
    return app


def django(site: Site) -> Any:
    import django
    from django.conf import settings
    from django.core.handlers.asgi import ASGIHandler
    from django.core.handlers.wsgi import WSGIHandler
    from django.http import HttpResponse
    from django.urls import clear_url_caches, include, path, re_path
    from django.utils.decorators import method_decorator
    from django.views import View
    from django.views.decorators.csrf import csrf_exempt

    if not settings.configured:
        settings.configure(SECRET_KEY="s", LOGGING_CONFIG=None)
        django.setup()
    held: dict[str, list[Any]] = {"top": [], "include": [], "namespace": [], "pattern": []}
    places = {"top": "", "include": "/m1", "namespace": "/m2", "pattern": "/m3"}

    def register(e: Endpoint) -> None:
        def view(_request: object, name: str = "") -> Any:
            return HttpResponse(site.run(e, name))

        async def asynchronous(_request: object) -> Any:
            return HttpResponse(site.run(e))

        def own(_self: object, _request: object) -> Any:
            return HttpResponse(site.run(e))

        chosen = key = _written(e, asynchronous if e.kind == "asynchronous" else view)
        match e.kind:
            case "exempt":
                chosen = csrf_exempt(chosen)
            case "class" | "exempt class" | "dispatching class" | "class with options":
                extra = {"dispatching class": "dispatch", "class with options": "options"}
                methods = _methods(e, own) | ({extra[e.kind]: own} if e.kind in extra else {})
                key = e.named(type("_", (View,), methods))
                if e.kind == "exempt class":
                    key = method_decorator(csrf_exempt, name="dispatch")(key)
                chosen = key.as_view()
        site.add(e, key, at=places[e.place], route=f"named:{e.route}" if e.place == "namespace" else e.route)
        is_pattern, below = e.place == "pattern", e.route_of("<str:name>", "<path:name>")[1:]
        held[e.place].append(
            (re_path if is_pattern else path)(f"^{below}$" if is_pattern else below, chosen, name=e.route)
        )

    for e in site.endpoints:
        register(e)
    urls: Any = types.ModuleType("urls")
    urls.urlpatterns = [
        *held["top"],
        path("m1/", include(held["include"])),
        path("m2/", include((held["namespace"], "named"))),
        re_path("^m3/", include(held["pattern"])),
    ]
    # Another module may have configured its own site.
    settings.ALLOWED_HOSTS, settings.ROOT_URLCONF = ["*"], urls
    settings.MIDDLEWARE = ["undersigned_django.middleware.RouteMiddleware"] if site.is_guarded else []
    clear_url_caches()
    return site.layered(ASGIHandler() if site.framework.interface == "asgi" else WSGIHandler())


def litestar(site: Site) -> Any:
    from litestar import Controller, Litestar, Request, Router, WebSocket
    from litestar import asgi as mount
    from litestar import route as handle
    from litestar import websocket as listen
    from litestar.types import Receive, Scope, Send

    held: dict[str, list[Any]] = {"top": [], "router": []}

    def registered(e: Endpoint) -> Any:
        async def function() -> str:
            return site.run(e)

        def synchronous() -> str:
            return site.run(e)

        async def patterned(request: Request) -> str:
            return site.run(e, str(request.path_params.get("name", "")))

        async def own(_self: object) -> str:
            return site.run(e)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await asgi_endpoint(site.run, e)(scope, receive, send)

        async def socket(socket: WebSocket) -> None:
            site.run(e)
            await socket.accept()
            await socket.close()

        at, is_mount = "/m1" if e.place == "router" else "", e.kind == "mount"
        path = e.route_of("{name:str}")
        register = functools.partial(handle, path, http_method=list(e.methods), name=e.route, status_code=200)
        match e.kind:
            case "mount" | "application":
                chosen = mount(e.path, name=e.route, is_mount=is_mount, copy_scope=True)(e.named(app))
            case "socket":
                chosen = listen(e.path, name=e.route)(e.named(socket))
            case "slashed" | "inner" | "parameter" | "tail":
                chosen = register()(e.named(patterned))
            case "controller":
                chosen = register()(e.named(own))
            case "synchronous":
                chosen = register(sync_to_thread=False)(e.named(synchronous))
            case _:
                chosen = register()(e.named(function))
        site.add(e, chosen.fn, at=at, is_opaque=is_mount, is_socket=e.kind == "socket")
        return type("_", (Controller,), {"path": "", "own": chosen}) if e.kind == "controller" else chosen

    for e in site.endpoints:
        held[e.place].append(registered(e))
    app = Litestar([*held["top"], Router("/m1", route_handlers=held["router"])], openapi_config=None)
    app.asgi_handler = site.layered(app.asgi_handler)
    return app


def falcon(site: Site) -> Any:
    import falcon
    import falcon.asgi

    is_asgi = site.framework.interface == "asgi"
    app: Any = falcon.asgi.App() if is_asgi else falcon.App()

    def register(e: Endpoint) -> None:
        def answer(*given: Any, name: str = "") -> None:
            given[-1].text = site.run(e, name)

        async def answer_async(*given: Any, name: str = "") -> None:
            answer(*given, name=name)

        async def connect(_self: object, _request: object, socket: Any) -> None:
            site.run(e)
            await socket.accept()

        own, suffix = answer_async if is_asgi else answer, "buy" if e.kind == "suffix" else None
        if e.kind == "sink":
            site.add(e, e.named(own), at="", has_route=False)
            app.add_sink(own, e.path)
            return
        methods = {name + (f"_{suffix}" if suffix else ""): one for name, one in _methods(e, own, "on_").items()}
        kind = e.named(type("_", (), {"on_websocket": connect} if e.kind == "socket" else methods))
        site.add(e, kind, at="", route=e.path, is_socket=e.kind == "socket")
        app.add_route(e.route_of(), kind(), suffix=suffix)

    for e in site.endpoints:
        register(e)
    return app


def sanic(site: Site) -> Any:
    from sanic import Blueprint
    from sanic.response import text
    from sanic.views import HTTPMethodView
    from tests.integrations.own_servers import sanic_app

    app, blueprint = sanic_app(), Blueprint("below", url_prefix="/m1")

    def register(e: Endpoint) -> None:
        async def function(_request: object, name: str = "") -> Any:
            return text(site.run(e, name))

        async def own(_self: object, _request: object) -> Any:
            return text(site.run(e))

        async def socket(_request: object, _websocket: object) -> None:
            site.run(e)

        to, at = (blueprint, "/m1") if e.place == "blueprint" else (app, "")
        named = f"{app.name}.below.{e.route}" if e.place == "blueprint" else f"{app.name}.{e.route}"
        if e.kind == "socket":
            site.add(e, e.named(socket), at=at, route=named, is_socket=True)
            to.add_websocket_route(socket, e.path, name=e.route)
            return
        view = key = _written(e, function)
        options: dict[str, Any] = {"methods": list(e.methods)}
        if e.kind == "class":
            key, options = e.named(type("_", (HTTPMethodView,), _methods(e, own))), {}
            view = key.as_view()
        site.add(e, key, at=at, route=named)
        to.add_route(view, e.route_of("<name>", "<name:path>"), name=e.route, **options)

    for e in site.endpoints:
        register(e)
    app.blueprint(blueprint)
    return app


def tornado(site: Site) -> Any:
    from tornado.web import Application, RequestHandler, URLSpec
    from tornado.websocket import WebSocketHandler

    held: dict[str, list[Any]] = {"top": [], "application": []}

    def registered(e: Endpoint) -> Any:
        def own(self: Any, *given: str) -> None:
            self.write(site.run(e, "".join(given)))

        async def asynchronous(self: Any, *_given: object) -> None:
            own(self)

        def prepare(self: Any) -> None:
            self.finish(site.run(e))

        def opened(_self: object, *_given: object) -> None:
            site.run(e)

        methods = _methods(e, asynchronous if e.kind == "asynchronous" else own)
        if e.kind == "preparing":
            methods |= {"prepare": prepare}
        base = WebSocketHandler if e.kind == "socket" else RequestHandler
        kind = e.named(type("_", (base,), {"open": opened} if e.kind == "socket" else methods))
        at = "/m1" if e.place == "application" else ""
        site.add(e, kind, at=at, is_socket=e.kind == "socket")
        return URLSpec(at + e.route_of("([^/]+)", "(.*)"), kind, name=e.route)

    for e in site.endpoints:
        held[e.place].append(registered(e))
    return Application([*held["top"], ("/m1/.*", Application(held["application"]))])


def aiohttp(site: Site) -> Any:
    from aiohttp import web

    app, below = web.Application(), web.Application()

    def register(e: Endpoint) -> None:
        async def function(request: Any) -> Any:
            return web.Response(text=site.run(e, request.match_info.get("name", "")))

        async def own(_self: object, _request: object = None) -> Any:
            return web.Response(text=site.run(e))

        async def socket(request: Any) -> Any:
            site.run(e)
            response = web.WebSocketResponse()
            await response.prepare(request)
            await response.close()
            return response

        to, at = (below, "/m1") if e.place == "application" else (app, "")
        view, methods = _written(e, function, own), list(e.methods)
        match e.kind:
            case "any method":
                methods = ["*"]
            case "view" | "awaiting view":
                awaits = {"__await__": lambda self: own(self).__await__()} if e.kind == "awaiting view" else {}
                view, methods = e.named(type("_", (web.View,), _methods(e, own) | awaits)), ["*"]
            case "socket":
                view, methods = e.named(socket), ["GET"]
        site.add(e, view, at=at, is_socket=e.kind == "socket")
        resource = to.router.add_resource(e.route_of("{name}", "{name:.*}"), name=e.route)
        for method in methods:
            resource.add_route(method, view)

    for e in site.endpoints:
        register(e)
    app.add_subapp("/m1", below)
    return app


def bottle(site: Site) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bottle import Bottle

    app = Bottle()
    for e in site.endpoints:
        view = functools.partial(site.run, e)
        site.add(e, view, at="", has_route=False)
        app.route(e.route_of("<name>", "<name:path>"), list(e.methods), view)
    return site.layered(app)


def pyramid(site: Site) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyramid.config import Configurator
        from pyramid.response import Response

    config = Configurator()

    def register(e: Endpoint) -> None:
        def view(request: Any) -> Any:
            return Response(site.run(e, request.matchdict.get("name", "")))

        site.add(e, view, at="", has_route=False)
        config.add_route(e.route, e.route_of("{name}", "{name:.*}"), request_method=list(e.methods))
        config.add_view(view, route_name=e.route)

    for e in site.endpoints:
        register(e)
    return site.layered(config.make_wsgi_app())


def _around(app: Any, options: dict[str, Any]) -> Any:
    """Put the middleware of the interface around an application."""
    is_asgi = iscoroutinefunction(getattr(app, "__call__", app)) or iscoroutinefunction(app)  # noqa: B004
    return (asgi if is_asgi else wsgi).SignatureMiddleware(app, **options)


def _package(app: Any) -> Any:
    return import_module(f"undersigned_{type(app).__module__.partition('.')[0]}")


def _added(app: Any, options: dict[str, Any]) -> Any:
    app.add_middleware(_package(app).SignatureMiddleware, **options)
    return app


def _extended(app: Any, options: dict[str, Any]) -> Any:
    _package(app).Undersigned(app, **options)
    return app


def _wrapping(app: Any, options: dict[str, Any]) -> Any:
    return _package(app).SignatureMiddleware(app, **options)


def _of_tornado(app: Any, options: dict[str, Any]) -> Any:
    return import_module("undersigned_tornado").Undersigned(app, **options)


def _of_aiohttp(app: Any, options: dict[str, Any]) -> Any:
    app.middlewares.append(import_module("undersigned_aiohttp").SignatureMiddleware(**options))
    return app


_FUNCTIONS = ("function", "synchronous", "partial", "wrapped")
_VIEWS = ("function", "asynchronous", "lambda", "partial", "wrapped", "bound method", "method view", "dispatching view",
          "own options")  # fmt: skip
_CLASSES = ("class", "exempt class", "dispatching class", "class with options")
_DJANGO = ("function", "asynchronous", "lambda", "partial", "wrapped", "exempt", *_CLASSES)
_INCLUDED = ("top", "include", "namespace", "pattern")

FRAMEWORKS = (
    Framework(
        "starlette", starlette, _added,
        (*_FUNCTIONS, "bound method", "lambda", "class", "dispatching class", "ASGI class", "object", "mount",
         "handling route", "socket", "socket class"),
        ("top", "routes", "application", "zipped", "deep", "host"), "asgi",
    ),
    Framework(
        "fastapi", fastapi, _added, (*_FUNCTIONS, "object", "mount", "route of Starlette", "socket"),
        ("top", "router", "nested router", "application", "route class"), "asgi",
    ),
    Framework("litestar", litestar, _wrapping,
              ("function", "synchronous", "controller", "application", "mount", "socket"), ("top", "router"), "asgi"),
    Framework("quart", quart, _extended, (*_VIEWS, "socket"), ("top", "blueprint", "nested"), "asgi"),
    Framework("django-asgi", django, _around, _DJANGO, _INCLUDED, "asgi"),
    Framework("falcon-asgi", falcon, _wrapping, ("function", "suffix", "sink", "socket"), ("top",), "asgi"),
    Framework("flask", flask, _extended, tuple(kind for kind in _VIEWS if kind != "asynchronous"),
              ("top", "blueprint", "nested", "dispatcher", "mount"), "wsgi"),
    Framework("django", django, _around, _DJANGO, _INCLUDED, "wsgi"),
    Framework("falcon", falcon, _wrapping, ("function", "suffix", "sink"), ("top",), "wsgi"),
    Framework("sanic", sanic, _extended, ("function", "wrapped", "class", "socket"), ("top", "blueprint"),
              serve=sanic_server),
    Framework("tornado", tornado, _of_tornado, ("function", "asynchronous", "preparing", "socket"),
              ("top", "application"), serve=tornado_server),
    Framework("aiohttp", aiohttp, _of_aiohttp,
              ("function", "any method", "wrapped", "bound method", "view", "awaiting view", "socket"),
              ("top", "application"), serve=aiohttp_server),
)  # fmt: skip

ROUTERS = (
    *FRAMEWORKS,
    *(Framework(make.__name__, make, _around, ("function",), interface="wsgi") for make in (bottle, pyramid)),
)
"""The frameworks, and those that have a router and no package of ours."""
