"""The contract of docs/frameworks.md: each package has the names of its table, and they do what the table says.

First without a server, then in one application with and without the middleware, on a real server.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
import re
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import product
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
import trio
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
from tests.integrations.every_framework import FRAMEWORKS, SECRET, optional
from tests.integrations.own_servers import sanic_app
from tests.integrations.routes import environ_of
from tests.integrations.unsigned import LEAVING, leave_early, uploads_ended
from tests.keys import BODY, JSON, KEYID, ORIGIN, ORIGINS, verifier
from tests.wire import (
    CHANGES,
    SIGNED,
    ask,
    assert_rejected,
    assert_unsigned,
    exchange,
    raw_request,
    read_all,
)
from werkzeug.exceptions import Unauthorized
from werkzeug.test import Client
from werkzeug.wsgi import ClosingIterator

import undersigned.asgi
import undersigned.wsgi
import undersigned_fastapi
import undersigned_litestar
from undersigned import ConfigurationError, Decision, Policy, SignatureError
from undersigned.policy import RouteResolver
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


def unit_function(package: str, make: Callable[[], Any]) -> Callable[..., Any]:
    """Return a unit test of an async function of its request."""

    async def unit(prepare):
        required, verified = guarded(package)

        @required
        async def buy(request):
            return verified(request).signer

        return await buy(prepare(make()))

    return unit


def asgi_request() -> Request:
    return Request({"type": "http", "method": "POST", "path": "/plans", "headers": []})


async def unit_fastapi(prepare):
    required, _verified = guarded("fastapi")
    return (await required(prepare(asgi_request()))).signer


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


aiohttp_request = partial(aiohttp.test_utils.make_mocked_request, "POST", "/plans")


def sanic_request() -> sanic.Request:
    return sanic.Request(b"/plans", Header(), "1.1", "POST", None, sanic_app())


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
    "Starlette": row("undersigned_starlette", HTTPException, unit_function("starlette", asgi_request), "jwks_route"),
    "FastAPI": row("undersigned_fastapi", HTTPException, unit_fastapi, "Signature", "document_policy", "jwks_route"),
    "Litestar": row("undersigned_litestar", NotAuthorizedException, unit_litestar, "document_policy"),
    "Falcon": row("undersigned_falcon", HTTPUnauthorized, unit_falcon),
    "Falcon over ASGI": row("undersigned_falcon", HTTPUnauthorized, unit_falcon_asgi),
    "aiohttp": row("undersigned_aiohttp", aiohttp.web.HTTPUnauthorized, unit_function("aiohttp", aiohttp_request)),
    "Tornado": row("undersigned_tornado", tornado.web.HTTPError, unit_tornado),
    "Sanic": row("undersigned_sanic", sanic.exceptions.Unauthorized, unit_function("sanic", sanic_request)),
    "plain ASGI": row("undersigned.asgi", SignatureError, unit_asgi),
    "plain WSGI": row("undersigned.wsgi", SignatureError, unit_wsgi),
}
every_row = pytest.mark.parametrize("framework", ROWS.values(), ids=ROWS)
PLAIN = {"undersigned.asgi", "undersigned.wsgi"}
ANSWERED_BY_THE_MIDDLEWARE = {"undersigned_django", "undersigned_tornado"}
"""The packages whose middleware adds the headers of the exception to the response."""


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
def test_guarded_route_is_called_without_the_middleware(framework, caplog):
    assert called(framework, lambda request: put_signature(request, "acme")) == "acme"
    error = getattr(framework.package, "SignatureRequired", SignatureError)
    with pytest.raises(error) as raised:
        called(framework, lambda request: put_signature(request, None))
    assert not caplog.messages or "(POST /" in caplog.text or framework.package.__name__ in PLAIN
    if framework.package.__name__ not in PLAIN | ANSWERED_BY_THE_MIDDLEWARE:
        assert raised.value.headers["WWW-Authenticate"] == 'Signature error="signature_required"'
    assert getattr(raised.value, "error", raised.value).code in {"signature_required", "request_signature_required"}
    with pytest.raises(ConfigurationError, match=r"no middleware has verified this request: .* use put_signature of "):
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


async def caller_name(signature: undersigned_fastapi.Signature) -> str:
    raise AssertionError(signature)


def fastapi_document(by: str, *, nested: bool) -> dict:
    package = undersigned_fastapi
    app, router = FastAPI(), APIRouter()
    dependencies = [Depends(caller_name)] if by == "guard" else []

    @router.post("/plans/{plan}", dependencies=dependencies)
    async def buy(plan: str) -> str:
        raise AssertionError(plan)

    if by != "mode":

        @router.get("/plans/{plan}")
        async def read(plan: str) -> str:
            raise AssertionError(plan)

    options = settings(by, package.RouteResolver, buy)
    package.document_policy(app, options.get("policy") if nested else None)
    app.include_router(router)
    if nested:
        return app.openapi()
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
    ("make", "by", "nested"),
    [
        *product([fastapi_document, litestar_document], ["guard", "policy", "mode"], [False]),
        (fastapi_document, "guard", True),
        (fastapi_document, "policy", True),
        (litestar_document, "guard", True),
    ],
)
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
def test_middleware_answers_what_a_plain_application_rejects_and_the_decision_has_the_route_that_it_names(rejection):
    decisions: list[Decision] = []
    options = {"verifier": verifier(), "origins": ORIGINS, "mode": "optional", "rejection": rejection}
    options["on_decision"] = decisions.append

    async def app(scope, _receive, _send):
        undersigned.asgi.verified_signature(scope, route="/plans/{plan}")

    def wsgi_app(environ, _start_response):
        undersigned.wsgi.verified_signature(environ, route="/plans/{plan}")

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
    told = [("unsigned", None), ("rejected", "/plans/{plan}")]
    assert [(one.outcome, one.route) for one in decisions] == told * 3


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


class Lines:
    """A file without a known length, such as a server makes of one to send it by its own means."""

    def __init__(self, lines):
        self.lines = iter(lines)

    def __iter__(self):
        return self.lines


UNCLOSED = partial(map, bytes)


@pytest.mark.parametrize("kind", [iter, list, Lines, lambda made: ClosingIterator(made, made.close), UNCLOSED])
def test_content_that_the_server_ends_early_is_closed_and_what_it_writes_is_shown_outside(kind):
    def lines(environ):
        try:
            yield b"1"
            environ["seen"] = "second"
            yield b"2"
        finally:
            environ["closed"] = True

    def app(environ, start_response):
        start_response("200 OK", [])
        environ["seen"] = "first"
        return kind(lines(environ))

    environ = {**environ_of("GET", "/"), "wsgi.file_wrapper": Lines}
    served = undersigned.wsgi.SignatureMiddleware(app, verifier=verifier(), origins=ORIGINS, mode="optional")
    content = served(environ, lambda *_started: None)
    if kind in {list, Lines}:
        # Servers know the length of the one, and send the other.
        assert type(content) is kind
        return
    assert (next(iter(content)), environ["seen"]) == (b"1", "first")
    content.close()
    assert environ.get("closed", False) is (kind is not UNCLOSED)
    assert [*served(environ, lambda *_started: None)] == [b"1", b"2"]
    assert environ["seen"] == "second"


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


def test_resolver_takes_a_mapping_only_and_ignores_an_application_before_it_with_a_warning_for_one_release():
    with pytest.raises(TypeError, match="operations: pass a mapping only"):
        RouteResolver(["create_media_buy"])
    with pytest.warns(DeprecationWarning, match="pass the mapping only"):
        assert RouteResolver(flask.Flask("shop"), {"create": "buy"}).operations == {"create": "buy"}


# On real servers

UNSIGNED = "request_signature_required"
every_framework = pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)


@every_framework
def test_fragment_hides_no_operation_that_must_be_signed(framework, party):
    # A target has none (RFC 9112 section 3.2). Some servers and frameworks cut it off before they route.
    policy = Policy(required_for=["listed"])
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}) as port:
        for target in ("/open/listed", "/open/listed#x", "/open/listed#?x", "/open/listed?#x"):
            assert (target, ask(port, raw_request("GET", target)).status) in {(target, 400), (target, 401)}


every_guard = pytest.mark.parametrize(
    ("framework", "path"),
    [pytest.param(one, path, id=f"{one.name}{path}") for one in FRAMEWORKS for path in one.guards],
)


@every_guard
def test_signed_request_reaches_a_guarded_view_once_and_no_other_one_does(framework, path, party):
    decisions: list[Decision] = []
    with framework.running(optional(party, on_decision=decisions.append)) as port:
        name = ask(port, raw_request("GET", f"/open{SIGNED}")).json["name"]
        raw = party.raw("POST", f"{path}{SIGNED}", BODY)
        answer = ask(port, raw).json
        # A view that runs in a thread of Starlette's cannot read.
        in_thread = path == "/sync" and framework.name in {"starlette", "fastapi"}
        assert answer.pop("content") == (None if in_thread else BODY.decode())
        assert answer == {"secret": SECRET, "caller": KEYID, "signed": f"{ORIGIN}{path}{SIGNED}", "name": name}
        assert_rejected(ask(port, raw), "request_signature_replayed")
        for change in CHANGES.values():
            assert_rejected(ask(port, change.raw(party, path)), change.code)
        decisions.clear()
        unsigned = ask(port, raw_request("POST", f"{path}{SIGNED}", JSON, BODY))
        assert_unsigned(unsigned)
        assert SECRET.encode() not in unsigned.content
    if framework.shows_decisions:
        assert [(told.outcome, told.method, told.route) for told in decisions[:1]] == [("unsigned", "POST", None)]
        assert decisions[1:] == [unsigned_decision(f"{path}/a%2Fb?(withheld)", framework.guards[path])]


def unsigned_decision(target: str, route: str | None) -> Decision:
    """The decision about an unsigned request that a route rejects."""
    return Decision(
        outcome="rejected",
        profile="adcp-3.2",
        code=UNSIGNED,
        step="presence of a signature",
        method="POST",
        target=target,
        origin=ORIGIN,
        client="127.0.0.1",
        status=401,
        route=route,
        seconds=0.0,
    )


@every_framework
def test_guarded_view_fails_without_the_middleware_and_the_log_says_to_add_it(framework, caplog):
    with framework.running() as port, caplog.at_level(logging.ERROR):
        answer = ask(port, raw_request("POST", "/signed/x", JSON, BODY))
    assert (answer.status, SECRET.encode() in answer.content) == (500, False)
    assert framework.advice in caplog.text


@every_framework
def test_signed_content_in_chunks_reaches_a_view_and_content_that_ends_early_does_not(framework, party):
    chunked = [*party.fields("POST", "/signed/x", BODY), ("Transfer-Encoding", "chunked")]
    chunks = b"5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
    short = party.raw("POST", "/signed/x", BODY).replace(b"Content-Length: 22", b"Content-Length: 99")
    with framework.running(optional(party)) as port:
        assert SECRET.encode() not in exchange(port, short, shut=True)
        assert ask(port, raw_request("POST", "/signed/x", chunked) + chunks).json["content"] == BODY.decode()


def part_of(request, environ_key: str, scope_key: str) -> str:
    """Return a part of the request that a function of the application gets."""
    if isinstance(request, dict):
        return request.get(environ_key) or request.get(scope_key, "")
    return getattr(request, scope_key)


def is_known(request) -> bool:
    fields = request if isinstance(request, dict) else request.headers
    return (b"x-key", b"known") in fields.get("headers", ()) or "known" in (
        fields.get("HTTP_X_KEY"),
        fields.get("X-Key"),
    )


@every_framework
def test_policy_and_fallback_decide_and_the_view_gets_the_body(framework, party, caplog):
    decisions: list[Decision] = []
    options = {"policy": Policy(required_for=["read"]), "fallback": is_known, "on_decision": decisions.append}
    content = {"octets": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest()}
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, **options}) as port:
        assert_rejected(ask(port, raw_request("POST", "/read", JSON, BODY)), UNSIGNED)
        assert ask(port, raw_request("POST", "/read", [*JSON, ("X-Key", "known")], BODY)).json == content
        assert ask(port, party.raw("POST", "/read", BODY)).json == content
        assert ask(port, raw_request("POST", "/open/x", JSON, BODY)).json["caller"] is None
    if framework.shows_decisions:
        assert [told.outcome for told in decisions] == ["rejected", "unsigned", "verified", "unsigned"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.by_route], ids=lambda framework: framework.name)
def test_policy_by_route_decides_and_names_the_route_that_it_rejects(framework, party):
    decisions: list[Decision] = []
    options = {"by_route": ["show"], "on_decision": decisions.append}
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, **options}) as port:
        assert ask(port, raw_request("POST", "/open/x", JSON, BODY)).status == 401
        assert ask(port, party.raw("POST", "/open/x", BODY)).json["caller"] == KEYID
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404
    if framework.shows_decisions:
        assert [(told.outcome, told.route, told.keyid, told.algorithm) for told in decisions] == [
            ("unsigned", None, None, None),
            ("rejected", framework.open_route, None, None),
            ("verified", None, KEYID, "ed25519"),
            ("unsigned", None, None, None),
        ]


@every_framework
def test_function_shapes_an_answer_and_one_that_fails_leaves_it_as_it_is(framework, party, caplog, monkeypatch):
    # Litestar takes the handlers of the root logger away.
    monkeypatch.setattr(logging.getLogger("undersigned"), "handlers", [caplog.handler])

    def shape(response, request):
        method = part_of(request, "REQUEST_METHOD", "method")
        return response.with_content({"PUT": method.encode()}[method], "text/plain")

    with framework.running(optional(party, mode="required", rejection=shape)) as port:
        shaped = ask(port, raw_request("PUT", "/open/x"))
        assert (shaped.status, shaped.content, shaped.fields["content-type"]) == (401, b"PUT", "text/plain")
        assert "accept-signature" in shaped.fields
        assert_rejected(ask(port, raw_request("POST", "/open/x")), UNSIGNED)
    if framework.shows_decisions:
        assert "rejection raised an exception" in caplog.text


@every_framework
def test_status_that_is_sent_is_the_status_of_the_decision_also_if_a_function_shapes_it(framework, party):
    decisions: list[Decision] = []

    def shape(response, _request):
        return replace(response.with_content(b"shaped", "text/plain"), status=403)

    with framework.running(optional(party, rejection=shape, on_decision=decisions.append)) as port:
        by_route = ask(port, raw_request("POST", "/signed/x", JSON, BODY))
        by_guard = ask(port, raw_request("POST", "/open/x", [("Signature", "sig1=:AA==:")]))
    assert (by_route.status, by_guard.status) == (403, 403)
    assert by_guard.content == by_route.content == b"shaped"
    if framework.shows_decisions:
        told = [decision.status for decision in decisions if decision.outcome == "rejected"]
        assert told == [by_route.status, by_guard.status]


@every_framework
def test_head_of_a_rejected_request_is_answered_without_content(framework, party):
    with framework.running(optional(party)) as port:
        received = exchange(port, raw_request("HEAD", "/open/x", [("Signature", "sig1=:AA==:")]))
    assert received.startswith(b"HTTP/1.1 401 ")
    assert received.endswith(b"\r\n\r\n")


@every_framework
def test_content_over_the_limit_is_answered_413(framework, party):
    with framework.running(optional(party, max_body=len(BODY) - 1)) as port:
        assert ask(port, party.raw("POST", "/read", BODY)).status == 413


TOO_LARGE = {
    "target": (414, f"/open/{'a' * 8995}", []),
    "query": (414, f"/open/x?{'a' * 8993}", []),
    "method": (414, "/open/x", []),
    "fields": (431, "/open/x", [(f"X-{at}", "v") for at in range(98)]),
    "names": (431, "/open/x", [(f"X-{at:0248}", "v") for at in range(90)]),
    "Signature-Input": (431, "/open/x", [("Signature-Input", f'a=("x");p="{"v" * 4096}";q=1.5')]),
    "parameters": (431, "/open/x", [("Signature-Input", "sig1=()" + "".join(f";p{at}=1.5" for at in range(30)))]),
    "components": (431, "/open/x", [("Signature-Input", "a=(" + " ".join(f'"{at}"' for at in range(33)) + ")")]),
    "Signature": (431, "/open/x", [("Signature", f"a=:{'A' * 4096}:")]),
    "signatures": (431, "/open/x", [("Signature", ", ".join(f"s{at}=:AAAA:" for at in range(33)))]),
    "Host": (431, "/open/x", [("Host", "h" * 1025)]),
}


@every_framework
def test_size_that_the_server_takes_and_the_middleware_does_not_is_answered_414_or_431(framework, party):
    def raw(name: str) -> bytes:
        _, target, fields = TOO_LARGE[name]
        given = {name for name, _ in fields}
        signed = [field for field in party.fields("GET", "/open/x") if field[0] not in given]
        return raw_request("A" * 65 if name == "method" else "GET", target, [*signed, *fields])

    with framework.running() as port:
        alone = {name: ask(port, raw(name)).status for name in TOO_LARGE}
    taken = [name for name, status in alone.items() if status in {200, 405}]
    assert "parameters" in taken
    with framework.running(optional(party)) as port:
        assert {name: ask(port, raw(name)).status for name in taken} == {name: TOO_LARGE[name][0] for name in taken}


@every_framework
def test_content_of_one_request_is_never_part_of_the_next_one_of_its_connection(framework, party):
    def kept(raw: bytes) -> bytes:
        return raw.replace(b"Connection: close\r\n", b"")

    def signed(body: bytes, *, last: bool = False) -> bytes:
        raw = party.raw("POST", "/upload", body)
        return raw if last else kept(raw)

    first = kept(raw_request("POST", "/upload", body=b"1"))
    series = [first, signed(b"22"), signed(b"333"), signed(b"4444", last=True)]
    with framework.running(optional(party)) as port:
        received = read_all(port, b"".join(series))
    counted = [json.loads(part)["octets"] for part in _objects(received)]
    # A server that does not keep connections alive answers the first request only.
    assert counted in ([1, 2, 3, 4], [1])
    assert counted == [1, 2, 3, 4] or framework.name.endswith("gunicorn")


def _objects(received: bytes) -> list[bytes]:
    return [b"{" + part.partition(b"}")[0] + b"}" for part in received.split(b"{")[1:]]


@pytest.mark.parametrize("name", ["aiohttp", "tornado", "sanic"])
def test_view_gets_an_upload_or_learns_that_a_client_left_early_although_a_policy_has_read_some_of_it(name, party):
    [framework] = [one for one in FRAMEWORKS if one.name == name]
    policy = Policy(required_for=["create_media_buy"])
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}) as port:
        leave_early(port, LEAVING)
        assert uploads_ended(port, at_least=1) == ["left"]
        assert ask(port, raw_request("POST", "/upload", body=LEAVING.body)).json == {"octets": len(LEAVING.body)}


def run_asyncio(app, *call) -> None:
    asyncio.run(app(*call))


@pytest.mark.parametrize(
    ("name", "run", "decides", "expected"),
    [
        *(
            (name, trio.run, {"mode": "optional"}, "trio, which undersigned does not support")
            for name in ("starlette", "fastapi", "litestar", "quart", "falcon-asgi")
        ),
        *(
            (name, run_asyncio, {"by_route": ["shw"]}, "no route is named 'shw'; the closest name is 'show'")
            for name in ("starlette", "litestar")
        ),
    ],
)
def test_start_on_trio_or_with_a_policy_for_no_route_fails_and_says_so(name, run, decides, expected, party):
    [framework] = [one for one in FRAMEWORKS if one.name == name]
    app, sent = framework.make({"verifier": party.verifier(), "origins": ORIGINS, **decides}), []

    async def receive():
        return {"type": "lifespan.startup"}

    async def send(message):
        sent.append(message)

    with pytest.raises((ConfigurationError, ExceptionGroup)):
        run(app, {"type": "lifespan"}, receive, send)
    assert [message["type"] for message in sent] == ["lifespan.startup.failed"]
    assert expected in sent[0]["message"]
