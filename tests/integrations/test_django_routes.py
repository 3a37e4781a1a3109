"""The policy decides about the view that Django really runs, also if the site changes how views are found."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from functools import wraps
from inspect import iscoroutinefunction
from types import ModuleType
from typing import TYPE_CHECKING

import a2wsgi
import httpx
import pytest
from django.conf.urls.i18n import i18n_patterns
from django.contrib.auth.decorators import user_passes_test
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.test import override_settings
from django.urls import include, path
from django.utils import translation
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from starlette.testclient import TestClient, WebSocketDenialResponse
from tests.integrations import django_site  # noqa: F401 - it sets Django up
from tests.integrations.django_apis import CALLED, Orders, order, routes
from tests.integrations.routes import Asked, environ_of
from tests.keys import HOST, ORIGIN, verifier
from werkzeug.test import EnvironBuilder, run_wsgi_app

from undersigned import Policy, asgi, wsgi
from undersigned_django import RouteResolver
from undersigned_django.middleware import RouteMiddleware

if TYPE_CHECKING:
    from undersigned.policy import MatchedRoute

RAN: list[str] = []
ON_LOOP: list[bool] = []
OWN = "undersigned_django.middleware.SignatureMiddleware"
CHECK = "undersigned_django.middleware.RouteMiddleware"
LOCALE = "django.middleware.locale.LocaleMiddleware"


def ran(name: str) -> HttpResponse:
    RAN.append(name)
    return HttpResponse(name)


def create(_request, **_parameters) -> HttpResponse:
    return ran("create")


def read(_request, **_parameters) -> HttpResponse:
    return ran("read")


async def read_async(_request) -> HttpResponse:
    return ran("read_async")


def named(_request, name: str) -> HttpResponse:
    return ran(name)


class Plans(View):
    def get(self, _request) -> HttpResponse:
        return ran("Plans")


def urlconf(*patterns) -> ModuleType:
    module = ModuleType("urls")
    module.urlpatterns = [*patterns]
    return module


URLS = urlconf(
    path("create", create),
    path("read", read),
    path("read_async", read_async),
    path("op/<str:name>", named),
    path("inner/", include(([path("<int:number>/read", read, name="read")], "inner"))),
    *i18n_patterns(path("local", create)),
)
OTHER = urlconf(path("read", create), path("new", create))


def in_another_urlconf(get_response):
    def middleware(request):
        if "other" in request.GET:
            request.urlconf = OTHER
        return get_response(request)

    return middleware


def at_another_path(get_response):
    def middleware(request):
        request.path_info = request.path_info.removeprefix("/old")
        return get_response(request)

    return middleware


def in_german(get_response):
    def middleware(request):
        with translation.override("de"):
            return get_response(request)

    return middleware


def here(*names: str) -> list[str]:
    return [f"{__name__}.{name}" for name in names]


def ask(party, interface: str, middleware, target: str, *, signed: bool = False, handler=WSGIHandler):
    """Return the status of the answer to a request, and what ran."""
    url = f"{ORIGIN}{target}"
    fields = party.fields("POST", url) if signed else []
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=middleware, USE_I18N=True, ALLOWED_HOSTS=[HOST]):
        operations = {"named": lambda parameters: parameters["name"]}
        policy = Policy(required_for=["create"], resolver=RouteResolver(operations))
        options = {"verifier": party.verifier(), "origins": [ORIGIN], "policy": policy}
        if OWN in middleware:
            own = {"VERIFIER": options["verifier"], "ORIGINS": [ORIGIN], "POLICY": policy, "RECONSTRUCT": True}
            with override_settings(UNDERSIGNED=own):
                return _send(interface, WSGIHandler() if interface == "wsgi" else ASGIHandler(), url, fields)
        if interface == "wsgi":
            return _send(interface, wsgi.SignatureMiddleware(handler(), reconstruct=True, **options), url, fields)
        return _send(interface, asgi.SignatureMiddleware(ASGIHandler(), **options), url, fields)


def _send(interface: str, app, url: str, fields) -> tuple[int, list[str]]:
    RAN.clear()
    if interface == "wsgi":
        target = url.removeprefix(ORIGIN)
        environ = EnvironBuilder(target, method="POST", headers=fields, base_url=ORIGIN).get_environ()
        return int(run_wsgi_app(app, environ)[1][:3]), list(RAN)

    async def call() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return (await client.post(url, headers=fields)).status_code

    return asyncio.run(call()), list(RAN)


INTERFACES = pytest.mark.parametrize(
    ("interface", "first"), [(interface, first) for interface in ("wsgi", "asgi") for first in (CHECK, OWN)]
)


@INTERFACES
@pytest.mark.parametrize(
    ("changes", "free", "changed"),
    [
        ("in_another_urlconf", "/read", "/read?other"),
        ("in_another_urlconf", "/read", "/new?other"),
        ("at_another_path", "/read", "/old/create"),
        ("in_german", "/read", "/de/local"),
    ],
)
def test_view_that_a_middleware_changes_needs_a_signature(party, interface, first, changes, free, changed):
    middleware = [first, *here(changes)]
    assert ask(party, interface, middleware, free) == (200, ["read"])
    assert ask(party, interface, middleware, changed) == (401, [])
    assert ask(party, interface, middleware, changed, signed=True) == (200, ["create"])


@INTERFACES
def test_view_that_nothing_changes_needs_a_signature_only_if_it_is_listed(party, interface, first):
    assert ask(party, interface, [first], "/op/read") == (200, ["read"])
    assert ask(party, interface, [first], "/read_async") == (200, ["read_async"])
    assert ask(party, interface, [first], "/op/create") == (401, [])
    assert ask(party, interface, [first], "/nothing") == (404, [])


class OtherView(WSGIHandler):
    """A handler that runs another view than Django's URL resolver has found."""

    def resolve_request(self, request):
        super().resolve_request(request)
        return create, (), {}


def test_view_of_a_handler_of_another_class_needs_a_signature(party):
    assert ask(party, "wsgi", [CHECK], "/read", handler=OtherView) == (401, [])
    assert ask(party, "wsgi", [CHECK], "/read", handler=OtherView, signed=True) == (200, ["create"])


@pytest.mark.parametrize("interface", ["wsgi", "asgi"])
@pytest.mark.parametrize("middleware", [[], [LOCALE, "tests.integrations.test_django_routes.in_german"]])
def test_every_request_must_be_signed_if_no_middleware_asks_the_policy(party, interface, middleware):
    assert ask(party, interface, middleware, "/read") == (401, [])
    assert ask(party, interface, middleware, "/read", signed=True) == (200, ["read"])


def async_only(get_response):
    async def middleware(request):
        return await get_response(request)

    return middleware


async_only.sync_capable, async_only.async_capable = False, True


@INTERFACES
@pytest.mark.parametrize("inner", ["async_only", "in_german"])
def test_policy_is_asked_beside_a_middleware_of_the_other_kind(party, interface, first, inner):
    middleware = [first, *here(inner)]
    assert ask(party, interface, middleware, "/read") == (200, ["read"])
    assert ask(party, interface, middleware, "/create") == (401, [])
    assert ask(party, interface, middleware, "/create", signed=True) == (200, ["create"])


def test_no_view_runs_if_no_middleware_has_verified_the_request():
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[CHECK]):
        assert _send("wsgi", WSGIHandler(), f"{ORIGIN}/create", []) == (500, [])
        assert _send("asgi", ASGIHandler(), f"{ORIGIN}/create", []) == (500, [])


class Noting(RouteMiddleware):
    """The middleware, which notes whether what it calls runs on the event loop."""

    def __init__(self, get_response) -> None:
        super().__init__(get_response)
        ON_LOOP.append(iscoroutinefunction(get_response))


@pytest.mark.parametrize(("handler", "is_async"), [(WSGIHandler, False), (ASGIHandler, True)])
def test_middleware_that_checks_views_runs_where_the_handler_runs_and_not_in_another_thread(handler, is_async):
    ON_LOOP.clear()
    with override_settings(MIDDLEWARE=here("Noting")):
        handler()
    assert list(ON_LOOP) == [is_async]


def test_resolver_may_be_made_in_the_settings_before_they_say_which_middleware_runs(tmp_path):
    lines = [
        'MIDDLEWARE = ["shop.middleware"]',
        "from undersigned_django import RouteResolver",
        "FIND = RouteResolver()",
    ]
    (tmp_path / "own_settings.py").write_text("\n".join(lines))
    program = "from django.conf import settings; print(type(settings.FIND).__name__)"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "own_settings", "PYTHONPATH": path}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert run.stdout == "RouteResolver\n"


def test_bridge_that_keeps_the_scope_outside_lets_only_a_signed_request_pass(party):
    policy = Policy(required_for=["create"], resolver=RouteResolver())
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "policy": policy}
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[CHECK]):
        app = asgi.SignatureMiddleware(a2wsgi.WSGIMiddleware(WSGIHandler()), **options)
        for fields, expected in (([], (401, [])), (party.fields("POST", f"{ORIGIN}/create"), (200, ["create"]))):
            assert _send("asgi", app, f"{ORIGIN}/create", fields) == expected


def test_handshake_beside_django_must_be_signed(party):
    async def accept(_scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})

    policy = Policy(required_for=["create"], resolver=RouteResolver())
    app = asgi.SignatureMiddleware(accept, verifier=party.verifier(), origins=[ORIGIN], policy=policy)
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[CHECK]):
        client = TestClient(app, base_url=ORIGIN)
        with pytest.raises(WebSocketDenialResponse), client.websocket_connect("/live"):
            pass


class Resolver(Asked, RouteResolver):
    """A resolver that keeps the routes."""


def guarded(policy: Policy, by=verifier) -> wsgi.SignatureMiddleware:
    return wsgi.SignatureMiddleware(WSGIHandler(), verifier=by(), origins=[ORIGIN], policy=policy, reconstruct=True)


def find(environ: dict) -> MatchedRoute | None:
    """Return the route that Django asks the policy about, which lists nothing, or None if it does not ask."""
    resolver = Resolver()
    RAN.clear()
    run_wsgi_app(guarded(Policy(resolver=resolver)), environ)
    return resolver.asked[0] if resolver.asked else None


@pytest.mark.parametrize("mount", ["/shop", "/create", "/Z\u00fcrich"])
def test_policy_is_asked_about_the_same_view_below_a_mount(mount):
    environ = EnvironBuilder("/create", base_url=f"{ORIGIN}{mount}", method="POST").get_environ()
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[CHECK]):
        assert environ["SCRIPT_NAME"]
        assert find(environ).endpoint is create
        assert RAN == ["create"]


def test_policy_is_asked_with_parameters_and_names():
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[CHECK]):
        route = find(environ_of("GET", "/inner/7/read"))
    assert (route.endpoint, route.names, route.parameters) == (read, ("inner:read", "read"), {"number": 7})
    assert route.path == "inner/<int:number>/read"


@pytest.mark.parametrize(
    ("operations", "rejected", "ran_unsigned"),
    [
        ({order: "create", Orders: "create", "api:free": None}, {"/order", "/orders", "/orders/look", "/api/plans"}, 1),
        ({Orders: "create", "order-look": None, "api:plans": None}, {"/orders", "/api/free"}, 3),
        ({}, {"/api/plans", "/api/free"}, 3),
    ],
)
def test_policy_by_route_knows_the_views_of_rest_framework_and_ninja(operations, rejected, ran_unsigned, party):
    policy = Policy(required_for=["create"], resolver=RouteResolver(operations))
    urls = urlconf(*routes())
    targets = ("/order", "/orders", "/orders/look", "/api/plans", "/api/free")
    with override_settings(ROOT_URLCONF=urls, MIDDLEWARE=[CHECK]):
        app = guarded(policy, party.verifier)
        CALLED.clear()
        answers = {target: run_wsgi_app(app, environ_of("POST", target))[1][:3] for target in targets}
        assert {target for target, status in answers.items() if status == "401"} == rejected
        assert len(CALLED) == ran_unsigned
        for target in rejected:
            fields = dict(party.fields("POST", target))
            _, status, _ = run_wsgi_app(app, environ_of("POST", target, **fields))
            assert status[:3] == "200"
        assert len(CALLED) == len(targets)


def overriding(view):
    @wraps(view)
    def post(request, *args, **kwargs):
        request.method = "GET"
        return view(request, *args, **kwargs)

    return post


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (csrf_exempt(Plans.as_view()), "200"),
        (overriding(Plans.as_view()), "401"),
        (csrf_exempt(overriding(Plans.as_view())), "401"),
        (user_passes_test(lambda _user: True)(Plans.as_view()), "401"),
    ],
)
def test_preflight_passes_only_if_the_frameworks_own_methods_answer_it(view, expected):
    policy = Policy(required_for=["plans"], resolver=RouteResolver({"any": "plans"}))
    with override_settings(ROOT_URLCONF=urlconf(path("any", view, name="any")), MIDDLEWARE=[CHECK]):
        fields = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
        RAN.clear()
        assert run_wsgi_app(guarded(policy), environ_of("OPTIONS", "/any", **fields))[1][:3] == expected
        assert RAN == []


def test_a_listed_name_of_a_url_requires_a_signature_for_its_class():
    policy = Policy(required_for=["shop"], resolver=RouteResolver())
    with override_settings(ROOT_URLCONF=urlconf(path("any", Plans.as_view(), name="shop")), MIDDLEWARE=[CHECK]):
        assert run_wsgi_app(guarded(policy), environ_of("GET", "/any"))[1][:3] == "401"
