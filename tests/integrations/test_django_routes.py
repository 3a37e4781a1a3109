"""Django asks the policy about the view that it is about to run, and nothing else runs."""

from __future__ import annotations

from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.decorators import user_passes_test
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.test import override_settings
from django.urls import include, path, re_path
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from tests.integrations import django_site  # noqa: F401 - it sets Django up
from tests.integrations.django_apis import CALLED, Orders, order, routes
from tests.integrations.routes import Asked, environ_of
from tests.keys import ORIGIN, verifier
from werkzeug.test import EnvironBuilder, run_wsgi_app

from undersigned import Policy
from undersigned.wsgi import SignatureMiddleware
from undersigned_django import RouteResolver

if TYPE_CHECKING:
    from undersigned.policy import MatchedRoute

RAN: list[str] = []


def ran(name: str) -> HttpResponse:
    RAN.append(name)
    return HttpResponse(name)


def create(_request, **_parameters) -> HttpResponse:
    return ran("create")


def update(_request, **_parameters) -> HttpResponse:
    return ran("update")


def named(_request, name: str) -> HttpResponse:
    return ran(name)


class Plans(View):
    def get(self, _request) -> HttpResponse:
        return ran("Plans")


def urlconf(*patterns) -> ModuleType:
    module = ModuleType("urls")
    module.urlpatterns = [
        path("create", create, name="buy"),
        path("slashed/", create),
        path("op/<str:name>", named),
        path("plans", Plans.as_view()),
        path("inner/", include(([path("<int:number>/update", update, name="update")], "inner"))),
        re_path(r"^pattern/(?P<name>.*)$", named),
        *patterns,
    ]
    return module


URLS = urlconf()


ROUTE = "undersigned_django.middleware.RouteMiddleware"


class Resolver(Asked, RouteResolver):
    """A resolver that keeps the routes."""


def guarded(policy: Policy, by=verifier) -> SignatureMiddleware:
    return SignatureMiddleware(WSGIHandler(), verifier=by(), origins=[ORIGIN], policy=policy, reconstruct=True)


def find(environ: dict) -> MatchedRoute | None:
    """Return the route that Django asks the policy about, which lists nothing, or None if it does not ask."""
    resolver = Resolver()
    RAN.clear()
    run_wsgi_app(guarded(Policy(resolver=resolver)), environ)
    return resolver.asked[0] if resolver.asked else None


@pytest.mark.parametrize("mount", ["/shop", "/create", "/Z\u00fcrich"])
def test_policy_is_asked_about_the_same_view_below_a_mount(mount):
    environ = EnvironBuilder("/create", base_url=f"{ORIGIN}{mount}", method="POST").get_environ()
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[ROUTE]):
        assert environ["SCRIPT_NAME"]
        assert find(environ).endpoint is create
        assert RAN == ["create"]


def test_policy_is_asked_with_parameters_and_names():
    with override_settings(ROOT_URLCONF=URLS, MIDDLEWARE=[ROUTE]):
        route = find(environ_of("GET", "/inner/7/update"))
    assert (route.endpoint, route.names, route.parameters) == (update, ("inner:update", "update"), {"number": 7})
    assert route.path == "inner/<int:number>/update"


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
    with override_settings(ROOT_URLCONF=urls, MIDDLEWARE=[ROUTE]):
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
    with override_settings(ROOT_URLCONF=urlconf(path("any", view, name="any")), MIDDLEWARE=[ROUTE]):
        fields = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
        RAN.clear()
        assert run_wsgi_app(guarded(policy), environ_of("OPTIONS", "/any", **fields))[1][:3] == expected
        assert RAN == []


def test_a_listed_name_of_a_url_requires_a_signature_for_its_class():
    policy = Policy(required_for=["shop"], resolver=RouteResolver())
    with override_settings(ROOT_URLCONF=urlconf(path("any", Plans.as_view(), name="shop")), MIDDLEWARE=[ROUTE]):
        assert run_wsgi_app(guarded(policy), environ_of("GET", "/any"))[1][:3] == "401"
