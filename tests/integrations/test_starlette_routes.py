"""The routers of Starlette and FastAPI ask the policy about what they run, and nothing else runs."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import pytest
from fastapi import APIRouter, FastAPI, routing
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Host, Match, Mount, Route, Router, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from tests import drive
from tests.integrations.routes import Asked
from tests.keys import HOST, ORIGIN, verifier

import undersigned_fastapi
import undersigned_starlette
from undersigned import ConfigurationError, Policy
from undersigned.asgi import SignatureMiddleware

RAN: list[str] = []


def ran(name: str) -> PlainTextResponse:
    RAN.append(name)
    return PlainTextResponse(name)


async def create(_request) -> PlainTextResponse:
    return ran("create")


async def update(_request) -> PlainTextResponse:
    return ran("update")


async def created() -> str:
    return ran("create").body.decode()


async def updated() -> str:
    return ran("update").body.decode()


async def named(request) -> PlainTextResponse:
    return ran(request.path_params["name"])


async def files(scope, receive, send) -> None:
    """Stand for an application that is not Starlette's."""
    await PlainTextResponse("static")(scope, receive, send)


class Application:
    """An application of the user's own, as a callable object."""

    async def __call__(self, scope, receive, send) -> None:
        await PlainTextResponse(ran("application").body)(scope, receive, send)


class Versioned(routing.APIRoute):
    """A route of the user's own, which also asks a header field."""

    def matches(self, scope):
        match, child = super().matches(scope)
        asked = dict(scope["headers"]).get(b"version", b"create").decode()
        return (match, child) if self.name == asked else (Match.NONE, {})


class Odd(BaseRoute):
    """A route of one's own, which matches everything below /odd."""

    def __init__(self, match: Match) -> None:
        self.match = match

    def matches(self, scope):
        return (self.match if scope["path"].startswith("/odd") else Match.NONE), {}


def starlette(*more: BaseRoute) -> Starlette:
    routes = [Route("/create", create, methods=["POST"]), Route("/op/{name}", named, name="op")]
    return Starlette(routes=[*routes, Mount("/static", files), *more])


class StarletteResolver(Asked, undersigned_starlette.RouteResolver):
    """A resolver that keeps the routes."""


class FastAPIResolver(Asked, undersigned_fastapi.RouteResolver):
    """A resolver that keeps the routes."""


def scope_of(method: str, path: str, *, kind: str = "http", host: str = HOST) -> dict:
    scope = drive.scope_of(drive.Message(path, method), kind=kind)
    return {**scope, "headers": [(b"host", host.encode())]}


def call(app, scope: dict, **options) -> None:
    """Send an unsigned request through the middleware."""
    guarded = SignatureMiddleware(app, verifier=verifier(), origins=[ORIGIN], **options)
    with contextlib.suppress(Exception):
        asyncio.run(drive.call_asgi(guarded, scope))


def run(app, scope: dict) -> list[str]:
    """Return what the application runs for a scope without a policy."""
    RAN.clear()
    call(app, scope, mode="optional")
    return list(RAN)


def refuses(app, path: str) -> bool:
    """Return whether an unsigned request runs nothing, as a policy requires a signature for `create`."""
    policy = Policy(required_for=["create"], resolver=undersigned_starlette.RouteResolver())
    RAN.clear()
    call(app, scope_of("GET", path), policy=policy)
    return not RAN


def find(app, scope: dict, operations=None) -> str | None:
    """Return what the application asks the policy about, which lists nothing, or None if it does not ask."""
    resolver = (FastAPIResolver if isinstance(app, FastAPI) else StarletteResolver)(operations)
    RAN.clear()
    call(app, scope, policy=Policy(resolver=resolver))
    if not resolver.asked:
        return None
    [route] = resolver.asked
    if route.is_opaque:
        assert RAN == []
    return "?" if route.is_opaque else route.endpoint.__name__


@pytest.mark.parametrize("path", ["/static/x", "/odd/x"])
def test_route_that_is_not_starlettes_leaves_open_what_runs(path):
    assert find(starlette(Odd(Match.FULL)), scope_of("GET", path)) == "?"
    assert find(starlette(Odd(Match.PARTIAL)), scope_of("GET", path)) == "?"


@pytest.mark.parametrize("version", ["create", "update"])
def test_routes_that_match_in_a_way_of_their_own_leave_open_which_runs_when_included(version):
    plans = APIRouter(prefix="/plans", route_class=Versioned)
    plans.post("/x", name="create")(created)
    plans.post("/x", name="update")(updated)
    app, scope = FastAPI(openapi_url=None), scope_of("POST", "/plans/x")
    app.include_router(plans)
    scope["headers"].append((b"version", version.encode()))
    assert run(app, scope) == [version]
    # Older versions of FastAPI copy the routes, which then match by themselves.
    assert find(app, scope) in {"?", f"{version}d"}
    assert find(app, scope_of("POST", "/plans/y")) is None


def test_default_of_ones_own_leaves_open_what_runs():
    app = starlette()
    app.router.default = files
    assert find(app, scope_of("GET", "/nothing")) == "?"


def test_router_is_as_good_as_its_application():
    assert find(starlette().router, scope_of("POST", "/create")) == "create"


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_router_without_an_application_answers_what_must_be_signed(kind):
    router = Router(routes=[Route("/create", create), WebSocketRoute("/create", create)])
    policy = Policy(required_for=["create"], resolver=undersigned_starlette.RouteResolver())
    guarded = SignatureMiddleware(router, verifier=verifier(), origins=[ORIGIN], policy=policy)
    RAN.clear()
    sent = asyncio.run(drive.call_asgi(guarded, scope_of("GET", "/create", kind=kind))).sent
    assert (sent[0].get("status"), sent[0].get("code")) == ((401, None) if kind == "http" else (None, 1008))
    assert RAN == []


class Hidden:
    """A middleware that keeps its application by another name, and functions that it asks."""

    def __init__(self, app) -> None:
        self.inner, self.hook, self.kind, self.measure = app, create, PlainTextResponse, len

    async def __call__(self, scope, receive, send) -> None:
        await self.inner(scope, receive, send)


class Dispatching(Hidden):
    """A middleware that may call another application."""

    def __init__(self, app, other=None) -> None:
        super().__init__(app)
        self.other = other or Application()

    async def __call__(self, scope, receive, send) -> None:
        await (self.other if scope["path"] == "/other" else self.inner)(scope, receive, send)


def hiding(app):
    async def hidden(scope, receive, send) -> None:
        await app(scope, receive, send)

    return hidden


def dispatching(app):
    others = {"/other": Application()}

    async def dispatch(scope, receive, send) -> None:
        await others.get(scope["path"], app)(scope, receive, send)

    return dispatch


def nothing(_app):
    async def answer(scope, receive, send) -> None:
        await PlainTextResponse("")(scope, receive, send)

    return answer


LAYERS = [(hiding, "read"), (Hidden, "read"), (dispatching, None), (Dispatching, None), (nothing, None)]


@pytest.mark.parametrize(("layer", "reached"), LAYERS)
@pytest.mark.parametrize("inside", [True, False])
def test_application_is_found_behind_layers_that_call_no_other(layer, reached, inside):
    async def read(_request) -> PlainTextResponse:
        return ran("read")

    routes = [Route("/create", create), Route("/read", read)]
    policy = Policy(required_for=["create"], resolver=undersigned_starlette.RouteResolver())
    options = {"verifier": verifier(), "origins": [ORIGIN], "policy": policy}
    app = Starlette(routes=routes, middleware=[Middleware(SignatureMiddleware, **options), Middleware(layer)])
    guarded = app if inside else SignatureMiddleware(layer(Starlette(routes=routes)), **options)
    for path in ("/create", "/other", "/read"):
        RAN.clear()
        asyncio.run(drive.call_asgi(guarded, scope_of("GET", path)))
        expected = [reached] if path == "/read" and reached else []
        assert expected == RAN


def test_middleware_of_the_application_that_gets_another_one_leaves_open_what_runs():
    app = Starlette(routes=[Route("/create", create)], middleware=[Middleware(Dispatching, other=Application())])
    assert refuses(app, "/other")


class CallsApplication(Starlette):
    """An application that runs something before its router is asked."""

    async def __call__(self, scope, receive, send) -> None:
        await (Application() if scope["path"].endswith("/create") else super().__call__)(scope, receive, send)


class CallsRouter(Router):
    async def __call__(self, scope, receive, send) -> None:
        await (Application() if scope["path"].endswith("/create") else super().__call__)(scope, receive, send)


class RoutesRouter(Router):
    async def app(self, scope, receive, send) -> None:
        await (Application() if scope["path"].endswith("/create") else super().app)(scope, receive, send)


OF_THEIR_OWN = [CallsApplication, CallsRouter, RoutesRouter]


def with_router(router: Router) -> Starlette:
    app = Starlette()
    app.router = router
    return app


@pytest.mark.parametrize("kind", OF_THEIR_OWN)
def test_resolver_is_not_made_of_a_class_that_decides_by_itself_what_runs(kind):
    app = kind(routes=[Route("/create", create, methods=["POST"])])
    for given in (app, with_router(app)) if isinstance(app, Router) else (app,):
        assert run(given, scope_of("POST", "/create")) == ["application"]
        with pytest.raises(ConfigurationError, match=f"policy: {kind.__name__} decides by itself what runs"):
            undersigned_starlette.RouteResolver().routes_of(given)


class Handles:
    """A mixin that decides by itself what runs."""

    async def handle(self, scope, receive, send) -> None:
        await Application()(scope, receive, send)


class HandlesRoute(Handles, Route):
    """A route that decides by itself what it runs."""


class HandlesMount(Handles, Mount):
    """A mount that decides by itself what it runs."""


class HandlesHost(Handles, Host):
    """A host that decides by itself what it runs."""


class HandlesAPI(Handles, routing.APIRoute):
    """A path operation that decides by itself what it runs."""


class Answers(Router):
    """A router that answers by itself if no route matches."""

    async def not_found(self, scope, receive, send) -> None:
        await Application()(scope, receive, send)


def including(router: APIRouter) -> FastAPI:
    app = FastAPI(openapi_url=None)
    router.post("/create")(created)
    app.include_router(router)
    return app


def with_route(app: Starlette, endpoint) -> Starlette:
    app.router.routes += [Route("/in/create", endpoint), WebSocketRoute("/listen", endpoint)]
    return app


CREATE = [Route("/create", create, methods=["POST"])]
OPAQUE = {
    "object": with_route(Starlette(), Application()),
    "part of an object": with_route(Starlette(), partial(Application())),
    "object in FastAPI": with_route(FastAPI(), Application()),
    **{kind.__name__: Starlette(routes=[Mount("/in", kind(routes=CREATE))]) for kind in OF_THEIR_OWN},
    **{f"in {kind.__name__}": Starlette(routes=[Mount("/in", with_router(kind(CREATE)))]) for kind in OF_THEIR_OWN[1:]},
    "route": Starlette(routes=[HandlesRoute("/in/create", create, methods=["POST"])]),
    "mount": Starlette(routes=[HandlesMount("/in", starlette())]),
    "host": Starlette(routes=[HandlesHost("{host}", starlette())]),
    "included route": including(APIRouter(prefix="/in", route_class=HandlesAPI)),
    "router that finds no route": with_router(Answers(CREATE)),
}


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("name", OPAQUE)
def test_what_decides_by_itself_leaves_open_what_runs(name, method):
    app = OPAQUE[name]
    assert run(app, scope_of(method, "/in/create")) == ["application"]
    assert find(app, scope_of(method, "/in/create")) == "?"
    if "object" in name:
        assert find(app, scope_of("GET", "/listen", kind="websocket")) == "?"


def test_routes_of_a_router_that_answers_by_itself_are_asked_about():
    assert find(OPAQUE["router that finds no route"], scope_of("POST", "/create")) == "create"


class HandlesIncluded(Handles, APIRouter):
    """A router that decides by itself what it runs when it is included."""


class MatchesNothing(APIRouter):
    """A router that decides by itself what it matches when it is included."""

    def matches(self, _scope):
        return Match.NONE, {}


@pytest.mark.parametrize("kind", [HandlesIncluded, MatchesNothing])
@pytest.mark.parametrize("is_nested", [False, True])
def test_included_router_that_decides_by_itself_is_not_followed(kind, is_nested):
    itself, outer, app = kind(prefix="/plans"), APIRouter(), FastAPI(openapi_url=None)
    itself.post("/x")(updated)
    outer.include_router(itself)
    app.include_router(outer if is_nested else itself)
    app.post("/plans/x")(created)
    # Older versions of FastAPI copy the routes, and ask no router that is included.
    (ran,) = run(app, scope_of("POST", "/plans/x"))
    assert find(app, scope_of("POST", "/plans/x")) in {"?", f"{ran}d"}


def test_class_that_only_adds_to_an_application_is_followed():
    class Named(Starlette):
        title = "plans"

    assert find(Named(routes=[Route("/create", create)]), scope_of("GET", "/create")) == "create"


class Files(StaticFiles):
    """Files of the user's own class, which may run anything."""


@pytest.mark.parametrize(
    ("kind", "name", "required", "status"),
    [
        (StaticFiles, "assets", "create", 200),
        (StaticFiles, "web-assets", "create", 200),
        (StaticFiles, None, "create", 200),
        (StaticFiles, "assets", "assets", 401),
        (StaticFiles, None, "static_files", 401),
        (Files, "assets", "create", 401),
    ],
)
def test_static_files_have_the_operation_of_their_name(tmp_path, kind, name, required, status):
    (tmp_path / "a.css").touch()
    app = Starlette(routes=[Route("/create", create), Mount("/static", kind(directory=tmp_path), name=name)])
    policy = Policy(required_for=[required], resolver=undersigned_starlette.RouteResolver())
    guarded = SignatureMiddleware(app, verifier=verifier(), origins=[ORIGIN], policy=policy)
    with TestClient(guarded) as client:
        assert client.get("/static/a.css").status_code == status


def test_function_of_the_parameters_gets_those_of_the_route():
    parameters: list[dict[str, object]] = []
    find(starlette(), scope_of("GET", "/op/x"), {"op": lambda given: parameters.append(dict(given))})
    assert parameters == [{"name": "x"}]


def test_route_that_is_added_later_is_asked_about_too():
    app = Starlette()
    app.router.routes.append(Route("/create", create))
    assert refuses(app, "/create")


def changing(path: str, other: str):
    """Return a middleware that changes a path."""

    class Changing:
        def __init__(self, app) -> None:
            self.app = app

        async def __call__(self, scope, receive, send) -> None:
            await self.app({**scope, "path": other if scope["path"] == path else scope["path"]}, receive, send)

    return Middleware(Changing)


@pytest.mark.parametrize("where", ["application", "mount", "mounted application", "router"])
def test_middleware_that_changes_the_path_needs_a_signature(where):
    routes, changed = [Route("/create", create), Route("/update", update)], [changing("/x/update", "/x/create")]
    app = {
        "application": Starlette(routes=[Mount("/x", routes=routes)], middleware=changed),
        "mount": Starlette(routes=[Mount("/x", routes=routes, middleware=changed)]),
        "mounted application": Starlette(routes=[Mount("/x", Starlette(routes=routes, middleware=changed))]),
        "router": Router(routes=[Mount("/x", routes=routes)], middleware=changed),
    }[where]
    assert run(app, scope_of("GET", "/x/update")) == ["create"]
    assert refuses(app, "/x/update")


def test_router_whose_middleware_hides_it_has_no_hook():
    router = Router([Route("/update", update)], middleware=[Middleware(hiding)])
    with pytest.raises(ConfigurationError, match=r"^policy: a middleware of the router has no app attribute"):
        undersigned_starlette.RouteResolver().routes_of(router)
    assert find(Starlette(routes=[Mount("/x", router)]), scope_of("GET", "/x/update")) == "?"


def test_application_whose_router_is_replaced_asks_again():
    app = Starlette(routes=[Route("/create", create)])
    assert refuses(app, "/create")
    app.router = Router([Route("/create", create)])
    assert refuses(app, "/create")


def test_application_that_asks_a_policy_runs_nothing_outside_of_a_middleware():
    app = Starlette(routes=[Route("/create", create)])
    undersigned_starlette.RouteResolver().routes_of(app)
    RAN.clear()
    with pytest.raises(ConfigurationError, match="no middleware has verified this request"):
        TestClient(app).get("/create")
    assert RAN == []


def test_middleware_around_a_mount_does_not_hide_the_policy_outside():
    inner = Starlette(routes=[Route("/create", create)])
    inner.add_middleware(SignatureMiddleware, verifier=verifier(), origins=[ORIGIN], mode="optional")
    assert refuses(Starlette(routes=[Mount("/x", inner)]), "/x/create")


class Plans(HTTPEndpoint):
    async def get(self, _request) -> PlainTextResponse:
        return ran("Plans")


class Answers(Plans):
    async def options(self, _request) -> PlainTextResponse:
        return ran("Answers")


@pytest.mark.parametrize(("endpoint", "expected"), [(Plans, None), (Answers, "Answers")])
def test_policy_is_asked_about_options_unless_starlette_answers_405(endpoint, expected):
    app = Starlette(routes=[Route("/any", endpoint)])
    assert find(app, scope_of("OPTIONS", "/any")) == expected
    listed = undersigned_starlette.RouteResolver().routes_of(app).listed()
    assert ("OPTIONS" in {one.method for one in listed}) == (expected is not None)


def test_frontend_of_fastapi_is_asked_about_as_static_files(tmp_path):
    (tmp_path / "index.html").write_text("page")
    app = FastAPI()
    app.frontend("/", directory=tmp_path)
    policy = Policy(required_for=["files"], resolver=undersigned_fastapi.RouteResolver({"static_files": "files"}))
    guarded = SignatureMiddleware(app, verifier=verifier(), origins=[ORIGIN], policy=policy)
    assert TestClient(guarded, base_url=ORIGIN).get("/index.html").status_code == 401
