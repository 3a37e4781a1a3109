"""The Starlette decorator and the FastAPI dependency, inside the middleware, on a real server."""

from dataclasses import dataclass
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from tests.keys import BODY, KEYID, ORIGIN, ORIGINS
from tests.serving import uvicorn_server
from tests.wire import ask, assert_rejected, assert_unsigned, raw_request

from undersigned import VerifiedSignature
from undersigned_fastapi import Signature, require_signature
from undersigned_starlette import SignatureMiddleware, signature_required

UNSIGNED = "request_signature_required"


def show_seen(signature: VerifiedSignature, path: str) -> dict[str, str]:
    return {"keyid": signature.keyid, "target_uri": signature.target_uri, "path": path}


def starlette_app(calls: list) -> Starlette:
    """Guards by decorator: an async and a sync function, the methods of a class, a mounted application."""

    def note(request: Request) -> JSONResponse:
        calls.append(request.url.path)
        return JSONResponse(show_seen(request.state.signature, request.url.path))

    @signature_required
    async def asynchronous(request: Request) -> JSONResponse:
        assert await request.body() == BODY
        return note(request)

    @signature_required
    def synchronous(request: Request) -> JSONResponse:
        return note(request)

    class Endpoint(HTTPEndpoint):
        @signature_required
        async def post(self, request: Request) -> JSONResponse:
            return note(request)

        @signature_required
        def put(self, request: Request) -> JSONResponse:
            return note(request)

    def public(request: Request) -> JSONResponse:
        return JSONResponse({"signed": request.state.signature is not None})

    methods = ["POST", "PUT"]
    return Starlette(
        routes=[
            Route("/async/{rest:path}", asynchronous, methods=methods),
            Route("/sync/{rest:path}", synchronous, methods=methods),
            Route("/class/{rest:path}", Endpoint),
            Mount("/mount", Starlette(routes=[Route("/{rest:path}", asynchronous, methods=methods)])),
            Route("/public", public),
        ]
    )


def fastapi_app(calls: list) -> FastAPI:
    """Guards by dependency: an async and a sync endpoint, a whole router, a decorator, a mounted application."""
    app = FastAPI()

    @app.api_route("/async/{rest:path}", methods=["POST", "PUT"])
    async def asynchronous(
        request: Request, signature: Annotated[VerifiedSignature, Depends(require_signature)]
    ) -> dict[str, str]:
        calls.append(request.url.path)
        return show_seen(signature, request.url.path)

    @app.api_route("/sync/{rest:path}", methods=["POST", "PUT"])
    def synchronous(request: Request, signature: Signature) -> dict[str, str]:
        calls.append(request.url.path)
        return show_seen(signature, request.url.path)

    router = APIRouter(prefix="/router", dependencies=[Depends(require_signature)])

    @router.api_route("/{rest:path}", methods=["POST", "PUT"])
    async def routed(request: Request) -> dict[str, str]:
        calls.append(request.url.path)
        return show_seen(request.state.signature, request.url.path)

    @app.api_route("/decorated/{rest:path}", methods=["POST", "PUT"])
    @signature_required
    async def decorated(request: Request, plan: int) -> dict[str, str]:
        assert plan == 1
        calls.append(request.url.path)
        return show_seen(request.state.signature, request.url.path)

    mounted = FastAPI()
    mounted.include_router(router)
    app.include_router(router)
    app.mount("/mount", mounted)

    @app.get("/public")
    async def public(request: Request) -> dict[str, bool]:
        return {"signed": request.state.signature is not None}

    return app


@dataclass
class Service:
    """A running application, and every call that reached one of its guarded endpoints."""

    port: int
    calls: list[str]


SERVICES = {
    "starlette": (starlette_app, ["/async", "/sync", "/class", "/mount"]),
    "fastapi": (fastapi_app, ["/async", "/sync", "/router", "/decorated", "/mount/router"]),
}
ENDPOINTS = [(name, path) for name, (_, paths) in SERVICES.items() for path in paths]


@pytest.fixture(scope="module")
def services(party):
    """Every application in mode optional, so that the requirement alone keeps unsigned requests out."""
    calls: dict[str, list] = {name: [] for name in SERVICES}
    apps = {name: make(calls[name]) for name, (make, _) in SERVICES.items()}
    for app in apps.values():
        app.add_middleware(SignatureMiddleware, verifier=party.verifier(), origins=ORIGINS, mode="optional")
    with uvicorn_server(apps["starlette"]) as first, uvicorn_server(apps["fastapi"], http="httptools") as second:
        yield {name: Service(port, calls[name]) for name, port in (("starlette", first), ("fastapi", second))}


@pytest.fixture
def service(services, request):
    service = services[request.param]
    service.calls.clear()
    return service


endpoints = pytest.mark.parametrize(("service", "path"), ENDPOINTS, indirect=["service"])


@endpoints
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_signed_request_reaches_the_endpoint_with_its_signature(service, path, method, party):
    answer = ask(service.port, party.raw(method, f"{path}/a%2Fb?plan=1", BODY))
    assert (answer.status, answer.json) == (
        200,
        {"keyid": KEYID, "target_uri": f"{ORIGIN}{path}/a%2Fb?plan=1", "path": f"{path}/a/b"},
    )
    assert service.calls == [f"{path}/a/b"]


@endpoints
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_unsigned_request_gets_the_401_of_its_framework(service, path, method):
    answer = ask(service.port, raw_request(method, f"{path}/x?plan=1", body=BODY))
    assert_unsigned(answer)
    assert UNSIGNED.encode() in answer.content
    assert service.calls == []


@pytest.mark.parametrize("service", SERVICES, indirect=True)
def test_endpoint_without_requirement_is_open_to_unsigned_requests(service, party):
    assert ask(service.port, raw_request("GET", "/public")).json == {"signed": False}
    assert ask(service.port, party.raw("GET", "/public")).json == {"signed": True}


@pytest.mark.parametrize("make", [starlette_app, fastapi_app])
def test_unsigned_request_reaches_no_endpoint_in_mode_required(make, party):
    app = make([])
    app.add_middleware(SignatureMiddleware, verifier=party.verifier(), origins=ORIGINS)
    with uvicorn_server(app) as port:
        assert_rejected(ask(port, raw_request("GET", "/public")), UNSIGNED)
        assert ask(port, party.raw("GET", "/public")).json == {"signed": True}
