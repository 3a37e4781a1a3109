"""Flask asks the policy about the view that it is about to run, and nothing else runs."""

from __future__ import annotations

import pytest
from flask import Blueprint, Flask
from flask.views import MethodView
from tests.integrations.routes import Asked, environ_of
from tests.keys import ORIGIN, verifier
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from undersigned import Policy, wsgi
from undersigned.policy import MatchedRoute
from undersigned_flask import RouteResolver, Undersigned

RAN: list[str] = []


def ran(name: str) -> str:
    RAN.append(name)
    return name


class Plans(MethodView):
    def get(self) -> str:
        return ran("plans")


def make(**config) -> Flask:
    app, plans = Flask("seller"), Blueprint("plans", "plans", url_prefix="/plans")
    app.config.update(config)

    @app.post("/create")
    def create() -> str:
        return ran("create")

    @app.put("/create")
    def update() -> str:
        return ran("update")

    @app.get("/slashed/")
    def slashed() -> str:
        return ran("slashed")

    @app.get("/loose/", strict_slashes=False)
    def loose() -> str:
        return ran("loose")

    @app.get("/op/<name>")
    def named(name: str) -> str:
        return ran(name)

    @app.route("/options", methods=["OPTIONS"])
    def options() -> str:
        return ran("options")

    @plans.post("/<int:number>/create")
    def numbered(number: int) -> str:
        return ran("numbered") + str(number)

    app.register_blueprint(plans)
    app.add_url_rule("/plans", view_func=Plans.as_view("plans"))
    app.add_url_rule("/nowhere", endpoint="nowhere")
    return app


class Resolver(Asked, RouteResolver):
    """A resolver that keeps the routes."""


def find(app: Flask, environ: dict) -> MatchedRoute | None:
    """Return the route that the application asks the policy about, which lists nothing, or None if it does not ask."""
    resolver = Resolver()
    Undersigned(app, verifier=verifier(), origins=[ORIGIN], policy=Policy(resolver=resolver), reconstruct=True)
    RAN.clear()
    run_wsgi_app(app, environ)
    return resolver.asked[0] if resolver.asked else None


def run(app: Flask, environ: dict) -> list[str]:
    RAN.clear()
    run_wsgi_app(app, environ)
    return list(RAN)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/create", "create"),
        ("PUT", "/create", "update"),
        ("GET", "/create", None),
        ("OPTIONS", "/create", None),
        ("OPTIONS", "/options", "options"),
        ("POST", "/create/", None),
        ("POST", "//create", None),
        ("GET", "/slashed/", "slashed"),
        ("HEAD", "/slashed/", "slashed"),
        ("GET", "/slashed", None),
        ("GET", "/loose", "loose"),
        ("POST", "/plans/7/create", "numbered"),
        ("POST", "/plans/x/create", None),
        ("GET", "/plans", "plans"),
        ("GET", "/nothing", None),
        ("GET", "/static/nothing", "<lambda>"),
    ],
)
def test_policy_is_asked_about_what_flask_runs(method, path, expected):
    app = make()
    assert run(app, environ_of(method, path)) == ([expected] if expected and expected.isidentifier() else [])
    route = find(app, environ_of(method, path))
    assert (route and route.endpoint.__name__) == expected
    assert list(RAN) == ([expected] if expected and expected.isidentifier() else [])


def test_view_of_a_class_is_listed_by_the_class(party):
    app = make()
    policy = Policy(required_for=["get_plans"], resolver=RouteResolver({Plans: "get_plans"}))
    Undersigned(app, verifier=party.verifier(), origins=[ORIGIN], policy=policy, reconstruct=True)
    assert run(app, environ_of("GET", "/plans")) == []
    fields = dict(party.fields("GET", "/plans"))
    assert run(app, environ_of("GET", "/plans", **fields)) == ["plans"]


@pytest.mark.parametrize("front", [NotFound(), Response(status=404)])
def test_policy_is_asked_below_a_dispatcher_that_has_only_mounts(front):
    policy = Policy(required_for=["create"], resolver=RouteResolver())
    site = DispatcherMiddleware(front, {"/shop": make()})
    app = wsgi.SignatureMiddleware(site, verifier=verifier(), origins=[ORIGIN], policy=policy, reconstruct=True)
    statuses = [run_wsgi_app(app, environ_of("GET", path))[1][:3] for path in ("/shop/plans", "/elsewhere")]
    assert statuses == ["200", "404"]
    assert run(app, environ_of("POST", "/shop/create")) == []


def test_policy_is_not_asked_for_a_host_that_flask_rejects():
    environ = environ_of("POST", "/create", Host="evil.example")
    app = make(TRUSTED_HOSTS=["seller.example.com"])
    assert find(app, environ) is None
    assert run(app, environ) == []


def test_policy_is_asked_with_parameters_and_names():
    app = make()
    view = app.view_functions["plans.numbered"]
    route = find(app, environ_of("POST", "/plans/7/create"))
    assert route == MatchedRoute(view, ("plans.numbered", "numbered"), {"number": 7})
    assert route.path == "/plans/<int:number>/create"


def test_route_without_a_view_fails_as_without_a_policy():
    app = make(PROPAGATE_EXCEPTIONS=False)
    assert find(app, environ_of("GET", "/nowhere")).endpoint is None
    assert run_wsgi_app(app, environ_of("GET", "/nowhere"))[1][:3] == "500"
