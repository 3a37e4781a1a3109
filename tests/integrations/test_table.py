"""The table of docs/frameworks.md: each package has each name of it, and each does what the table says.

What the names do on a server is in test_every_framework.py, whose applications are written with them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import aiohttp.test_utils
import falcon.asgi
import falcon.testing
import flask
import litestar.testing
import pytest
import quart
import sanic
import tornado.httputil
import tornado.web
from django.http import JsonResponse
from django.test import RequestFactory
from falcon import HTTPUnauthorized
from fastapi import APIRouter, Depends, FastAPI
from litestar.exceptions import NotAuthorizedException
from litestar.params import FromPath  # noqa: TC002 - Litestar reads the annotations
from sanic.compat import Header
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from tests.drive import Message, call_asgi, scope_of
from tests.integrations.django_site import Plans, site
from tests.integrations.own_servers import sanic_app
from tests.integrations.routes import environ_of
from tests.keys import ORIGINS, verifier
from werkzeug.exceptions import Unauthorized
from werkzeug.test import Client

import undersigned.asgi
import undersigned.wsgi
import undersigned_fastapi
import undersigned_litestar
from undersigned import ConfigurationError, Policy, SignatureError
from undersigned.testing import put_signature

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PAGE = (Path(__file__).parents[2] / "docs/frameworks.md").read_text("utf-8")


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        package: the package of the framework.
        error: the framework's own exception for 401, or what is next to it.
        unit: calls a guarded route in a unit test: a function of what prepares its request, which returns the signer.
        names: names that the package has besides those of every framework.
    """

    package: ModuleType
    error: type[Exception]
    unit: Callable[[Callable[[Any], Any]], Any]
    names: frozenset[str] = field(default_factory=frozenset)

    @property
    def required(self) -> Any:
        return self.package.signature_required


def guarded(package: str) -> tuple[Any, Any]:
    """Return the decorator and the reader of a package."""
    found = import_module(f"undersigned_{package}")
    return found.signature_required, found.verified_signature


def unit_django(prepare):
    required, verified = guarded("django")
    view = required(lambda request: JsonResponse({"caller": verified(request).signer}))
    return json.loads(view(prepare(RequestFactory().post("/plans"))).content)["caller"]


def unit_rest_framework(prepare):
    request = import_module("rest_framework.test").APIRequestFactory().post("/plans")
    with site(None):
        answer = Plans.as_view()(prepare(request), plan="gold")
    if answer.status_code == 401:
        raise import_module("undersigned_django").SignatureRequired(SignatureError("request_signature_required"))
    return answer.data["signed"] and "acme"


def unit_flask(prepare):
    required, verified = guarded("flask")
    app = flask.Flask("unit")
    with app.test_request_context("/plans", method="POST"):
        prepare(flask.request)
        return required(lambda: verified(flask.request).signer)()


async def unit_quart(prepare):
    required, verified = guarded("quart")

    @required
    async def buy():
        return verified(quart.request).signer

    async with quart.Quart("unit").test_request_context("/plans", method="POST"):
        prepare(quart.request)
        return await buy()


async def unit_starlette(prepare):
    required, verified = guarded("starlette")

    @required
    async def buy(request):
        return verified(request).signer

    return await buy(prepare(Request({"type": "http", "method": "POST", "path": "/plans", "headers": []})))


async def unit_fastapi(prepare):
    required, verified = guarded("fastapi")
    request = prepare(Request({"type": "http", "method": "POST", "path": "/plans", "headers": []}))
    return (await required(verified(request))).signer


async def unit_litestar(prepare):
    required, verified = guarded("litestar")

    @litestar.post("/plans", guards=[required])
    async def buy(request: litestar.Request) -> str:
        return verified(request).signer

    request = prepare(litestar.testing.RequestFactory().post("/plans"))
    required(request, buy)
    return await buy.fn(request)


def unit_falcon(prepare):
    required, verified = guarded("falcon")

    @required
    class Buy:
        def on_post(self, request, response):
            response.media = verified(request).signer

    response = falcon.Response()
    Buy().on_post(prepare(falcon.testing.create_req(method="POST")), response)
    return response.media


async def unit_falcon_asgi(prepare):
    required, verified = guarded("falcon")

    class Buy:
        @required
        async def on_post(self, request, response):
            response.media = verified(request).signer

    response = falcon.asgi.Response()
    await Buy().on_post(prepare(falcon.testing.create_asgi_req(method="POST")), response)
    return response.media


async def unit_aiohttp(prepare):
    required, verified = guarded("aiohttp")

    @required
    async def buy(request):
        return verified(request).signer

    return await buy(prepare(aiohttp.test_utils.make_mocked_request("POST", "/plans")))


async def unit_tornado(prepare):
    required, verified = guarded("tornado")

    class Buy(tornado.web.RequestHandler):
        @required
        def post(self):
            return verified(self.request).signer

    start_line = tornado.httputil.RequestStartLine("POST", "/plans", "HTTP/1.1")
    headers = tornado.httputil.HTTPHeaders({"Host": "localhost"})
    request = tornado.httputil.HTTPServerRequest(start_line=start_line, headers=headers, connection=Mock())
    return Buy(tornado.web.Application(), prepare(request)).post()


async def unit_sanic(prepare):
    required, verified = guarded("sanic")

    @required
    async def buy(request):
        return verified(request).signer

    return await buy(prepare(sanic.Request(b"/plans", Header(), "1.1", "POST", None, sanic_app())))


async def unit_asgi(prepare):
    async def app(scope, _receive, _send):
        return undersigned.asgi.verified_signature(scope).signer

    return await undersigned.asgi.signature_required(app)(prepare({"type": "http"}), None, None)


def unit_wsgi(prepare):
    def app(environ, _start_response):
        return undersigned.wsgi.verified_signature(environ).signer

    return undersigned.wsgi.signature_required(app)(prepare({"REQUEST_METHOD": "POST"}), None)


def row(name: str, error: type[Exception], unit: Callable[..., Any], *names: str) -> Row:
    return Row(import_module(name), error, unit, frozenset(names))


ROWS = {
    "Django": row("undersigned_django", Exception, unit_django, "jwks_route"),
    "Django REST framework": row("undersigned_django", Exception, unit_rest_framework),
    "Flask": row("undersigned_flask", Unauthorized, unit_flask, "jwks_route"),
    "Quart": row("undersigned_quart", Unauthorized, unit_quart),
    "Starlette": row("undersigned_starlette", HTTPException, unit_starlette, "jwks_route"),
    "FastAPI": row("undersigned_fastapi", HTTPException, unit_fastapi, "Signature", "document_policy", "jwks_route"),
    "Litestar": row("undersigned_litestar", NotAuthorizedException, unit_litestar, "document_policy"),
    "Falcon": row("undersigned_falcon", HTTPUnauthorized, unit_falcon),
    "Falcon over ASGI": row("undersigned_falcon", HTTPUnauthorized, unit_falcon_asgi),
    "aiohttp": row("undersigned_aiohttp", aiohttp.web.HTTPUnauthorized, unit_aiohttp),
    "Tornado": row("undersigned_tornado", tornado.web.HTTPError, unit_tornado),
    "Sanic": row("undersigned_sanic", sanic.exceptions.Unauthorized, unit_sanic),
    "plain ASGI": row("undersigned.asgi", SignatureError, unit_asgi),
    "plain WSGI": row("undersigned.wsgi", SignatureError, unit_wsgi),
}
every_row = pytest.mark.parametrize("framework", ROWS.values(), ids=ROWS)
PLAIN = {"undersigned.asgi", "undersigned.wsgi"}


def test_table_of_the_page_installs_by_these_names():
    rows = dict(re.findall(r"^\| \[?([A-Za-z ]+?)(?:\]\([^)]*\))? \| `[^`]*` \| (`[^|]*) \|", PAGE, re.MULTILINE))
    assert rows.keys() == ROWS.keys() - {"Falcon over ASGI"}
    for name, cell in rows.items():
        installs = set(re.findall(r"`(\w+)", cell)) - {"UNDERSIGNED"}
        package = ROWS[name].package
        installed = {"SignatureMiddleware", "Undersigned"} & set(package.__all__)
        assert installed == installs - ({"SignatureMiddleware"} if "Django" in name else set()), name


@every_row
def test_package_has_the_names_of_the_table(framework):
    names = {"find_signature", "verified_signature", "signature_required"} | framework.names
    if framework.package.__name__ not in PLAIN:
        names |= {"RouteResolver", "SignatureRequired"}
        assert issubclass(framework.package.SignatureRequired, framework.error)
    assert names <= set(framework.package.__all__)


def called(framework: Row, prepare: Callable[[Any], Any]) -> object:
    """Return what a guarded route of a framework returns in a unit test."""
    answer = framework.unit(prepare)
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


@every_row
def test_guarded_route_is_called_without_the_middleware(framework):
    assert called(framework, lambda request: put_signature(request, "acme")) == "acme"
    error = getattr(framework.package, "SignatureRequired", SignatureError)
    with pytest.raises(error) as raised:
        called(framework, lambda request: put_signature(request, None))
    assert getattr(raised.value, "error", raised.value).code in {"signature_required", "request_signature_required"}
    with pytest.raises(ConfigurationError, match="no middleware has verified this request"):
        called(framework, lambda request: request)


@pytest.mark.parametrize("thing", [None, "view", object])
@pytest.mark.parametrize("name", [name for name in ROWS if name not in {"FastAPI", "Litestar"}])
def test_decorator_takes_nothing_but_a_function(name, thing):
    framework = ROWS[name]
    with pytest.raises(ConfigurationError, match=r"^signature_required: decorate "):
        framework.required(thing)


@pytest.mark.parametrize(
    "name", [name for name in ROWS if name not in {"FastAPI", "Litestar", "Falcon", "Falcon over ASGI"}]
)
def test_guarded_function_keeps_its_name(name):
    async def buy(_request) -> None:
        """Buys."""

    guarded = ROWS[name].required(buy)
    assert (guarded.__name__, guarded.__doc__, inspect.unwrap(guarded)) == ("buy", "Buys.", buy)


@pytest.mark.parametrize(("name", "app"), [("Flask", flask.Flask("app")), ("Quart", quart.Quart("app"))])
def test_decorator_takes_no_application(name, app):
    with pytest.raises(ConfigurationError, match=r"^signature_required: decorate a view function"):
        ROWS[name].required(app)


@pytest.mark.parametrize("name", [name for name in ROWS if name in {"Litestar", "Quart", "Falcon", "Sanic"}])
def test_application_of_another_kind_is_rejected(name):
    package = ROWS[name].package
    install = getattr(package, "SignatureMiddleware", None) or package.Undersigned
    with pytest.raises(ConfigurationError, match=r"^app: pass the "):
        install(object(), verifier=verifier(), origins=ORIGINS)


def test_signature_is_put_on_nothing_but_a_request():
    with pytest.raises(ConfigurationError, match=r"^request: pass a request"):
        put_signature(object())


# What is documented


def fastapi_document(by: str, *, nested: bool) -> dict:
    package = undersigned_fastapi
    app, router = FastAPI(), APIRouter()
    dependencies = [Depends(package.signature_required)] if by == "guard" else []

    @router.post("/plans/{plan}", dependencies=dependencies)
    async def buy(plan: str) -> str:
        raise AssertionError(plan)

    if by != "mode":

        @router.get("/plans/{plan}")
        async def read(plan: str) -> str:
            raise AssertionError(plan)

    package.document_policy(app)
    app.include_router(router)
    if nested:
        return app.openapi()
    options = settings(by, package.RouteResolver, buy)
    app.add_middleware(GZipMiddleware)
    app.add_middleware(package.SignatureMiddleware, verifier=verifier(), origins=ORIGINS, **options)
    app.openapi()
    return app.openapi()


def litestar_document(by: str, *, nested: bool) -> dict:
    package = undersigned_litestar

    @litestar.post("/plans/{plan:str}", guards=[package.signature_required] if by == "guard" else [])
    async def buy(plan: FromPath[str]) -> str:
        raise AssertionError(plan)

    @litestar.get("/plans/{plan:str}")
    async def read(plan: FromPath[str]) -> str:
        raise AssertionError(plan)

    app = litestar.Litestar([buy] if by == "mode" else [buy, read])
    package.document_policy(app)
    if not nested:
        options = settings(by, package.RouteResolver, buy)
        package.SignatureMiddleware(app, verifier=verifier(), origins=ORIGINS, **options)
    app.openapi_schema.to_schema()
    return app.openapi_schema.to_schema()


def settings(by: str, resolver, buy) -> dict:
    policy = Policy(required_for=["buying"], resolver=resolver({buy: "buying"}))
    return {"policy": {"policy": policy}, "mode": {}, "guard": {"mode": "optional"}}[by]


@pytest.mark.parametrize(
    ("by", "nested"), [("guard", False), ("guard", True), ("policy", False), ("mode", False)], ids=str
)
@pytest.mark.parametrize("make", [fastapi_document, litestar_document])
def test_operations_that_must_be_signed_show_it_in_the_openapi_document(make, by, nested):
    document = make(by, nested=nested)
    operations = document["paths"]["/plans/{plan}"]
    assert document["components"]["securitySchemes"]["Signature"]["scheme"] == "Signature"
    post = operations.pop("post")
    assert post["security"] == [{"Signature": []}]
    assert post["responses"]["401"]["description"].startswith("The request is not signed")
    shown = [one["name"] for one in post["parameters"]]
    assert shown == ["plan", "Signature-Input", "Signature"]
    for other in operations.values():
        assert "security" not in other
        assert "401" not in other["responses"]


@pytest.mark.parametrize("make", [fastapi_document, litestar_document])
def test_policy_that_knows_no_routes_documents_nothing(make, monkeypatch):
    monkeypatch.setattr(f"{__name__}.settings", lambda *_given: {"policy": Policy(required_for=["buying"])})
    with pytest.raises(ConfigurationError, match=r"^policy: give it a RouteResolver"):
        make("policy", nested=False)


# Plain ASGI and WSGI


def shape(answer, _context):
    return answer.with_content(b"shaped", "text/plain")


@pytest.mark.parametrize("rejection", [None, shape])
def test_middleware_answers_what_a_plain_application_rejects(rejection):
    options = {"verifier": verifier(), "origins": ORIGINS, "mode": "optional", "rejection": rejection}

    async def app(scope, _receive, _send):
        undersigned.asgi.verified_signature(scope)

    def wsgi_app(environ, _start_response):
        undersigned.wsgi.verified_signature(environ)

    def generator(environ, start_response):
        wsgi_app(environ, start_response)
        yield b""

    expected = b"shaped" if rejection else b'{"error": "request_signature_required"}'
    for made in (wsgi_app, generator):
        # Werkzeug's client has a start_response that raises whatever it is told of.
        answer = Client(undersigned.wsgi.SignatureMiddleware(made, **options)).post("/", base_url=ORIGINS[0])
        assert (answer.status_code, answer.data) == (401, expected)
    sent = asyncio.run(call_asgi(undersigned.asgi.SignatureMiddleware(app, **options), scope_of(Message("/", "POST"))))
    assert (sent.sent[0]["status"], sent.sent[1]["body"]) == (401, expected)


def test_rejection_of_a_plain_application_that_has_begun_its_response_or_made_its_own_error_is_raised():
    async def begun(scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        undersigned.asgi.verified_signature(scope)

    def own(_environ, _start_response):
        raise SignatureError("its own")

    options = {"verifier": verifier(), "origins": ORIGINS, "mode": "optional"}
    with pytest.raises(SignatureError, match="request_signature_required"):
        asyncio.run(call_asgi(undersigned.asgi.SignatureMiddleware(begun, **options), scope_of(Message("/", "POST"))))
    with pytest.raises(SignatureError, match="its own"):
        Client(undersigned.wsgi.SignatureMiddleware(own, **options)).post("/", base_url=ORIGINS[0])


def test_generator_that_the_server_ends_early_is_closed_and_shown_outside():
    ended = []

    def app(environ, start_response):
        start_response("200 OK", [])
        environ["seen"] = "first"
        try:
            yield b"1"
            yield b"2"
        finally:
            ended.append(environ["seen"])
            environ["seen"] = "last"

    environ = environ_of("GET", "/")
    served = undersigned.wsgi.SignatureMiddleware(app, verifier=verifier(), origins=ORIGINS, mode="optional")
    content = served(environ, lambda *_started: None)
    assert environ["seen"] == "first"
    content.close()
    assert (ended, environ["seen"]) == (["first"], "last")


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        ("undersigned_aiohttp", "signature_middleware", "SignatureMiddleware"),
        ("undersigned_sanic", "verify_signatures", "Undersigned"),
        ("undersigned_tornado", "SignatureMiddleware", "Undersigned"),
    ],
)
def test_old_name_is_the_new_one_with_a_warning_for_one_release(package, old, new):
    module = import_module(package)
    with pytest.warns(DeprecationWarning, match=f"{old} of {package} is now {new}"):
        assert getattr(module, old) is getattr(module, new)
    assert not hasattr(module, "other")
