"""Flask asks the policy about the view that it really runs, also in applications that change Flask's routing."""

from __future__ import annotations

import pytest
from flask import Blueprint, Flask, request
from flask.views import MethodView
from tests.integrations.routes import Asked, environ_of
from tests.keys import ORIGIN, verifier
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import Rule
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from undersigned import ConfigurationError, Policy, wsgi
from undersigned.policy import MatchedRoute
from undersigned_flask import RouteResolver, Undersigned

RAN: list[str] = []


def ran(name: str) -> str:
    RAN.append(name)
    return name


# What Flask asks about


class Plans(MethodView):
    def get(self) -> str:
        return ran("plans")


def make(**config) -> Flask:
    app, plans = Flask("seller"), Blueprint("plans", "plans", url_prefix="/plans")
    app.config.update(config)

    @app.post("/create")
    def create() -> str:
        return ran("create")

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


def test_policy_is_not_asked_for_a_host_that_flask_rejects():
    app = make(TRUSTED_HOSTS=["seller.example.com"])
    assert (find(app, environ_of("POST", "/create", Host="evil.example")), RAN) == (None, [])


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


# What must be signed, if the policy lists "create"


def add_routes(app: Flask) -> Flask:
    @app.post("/create")
    def create() -> str:
        return ran("create")

    @app.post("/read")
    def read() -> str:
        return ran("read")

    @app.post("/op/<name>")
    def named(name: str) -> str:
        return ran(name)

    return app


OPERATIONS = {"named": lambda given: given["name"], "plans.buy": "create"}


def verified(app: Flask, party, **options) -> Flask:
    known = {name: OPERATIONS[name] for name in OPERATIONS.keys() & app.view_functions.keys()}
    known |= {Plans: "create"} if "plans" in app.view_functions else {}
    options = {"policy": Policy(required_for=["create"], resolver=RouteResolver(known)), **options}
    Undersigned(app, verifier=party.verifier(), origins=[ORIGIN], reconstruct=True, **options)
    return app


@pytest.fixture
def ask(party):
    """Send an unsigned or a signed request to an application, and return the status and what ran."""

    def ask(app: Flask, target: str, *, signed: bool = False) -> tuple[int, list[str]]:
        app = app if "undersigned" in app.extensions else verified(app, party)
        method = "GET" if target == "/plans" else "POST"
        fields = party.fields(method, target) if signed else []
        RAN.clear()
        answer = app.test_client().open(target, method=method, base_url=ORIGIN, headers=fields)
        return answer.status_code, list(RAN)

    return ask


def changed_rule() -> Flask:
    app = add_routes(Flask("seller"))

    @app.before_request
    def change() -> None:
        if "as" in request.args:
            [request.url_rule] = app.url_map.iter_rules(request.args["as"])

    return app


def changed_parameter() -> Flask:
    app = add_routes(Flask("seller"))

    @app.url_value_preprocessor
    def change(_endpoint, values) -> None:
        if "as" in request.args:
            values["name"] = request.args["as"]

    return app


def removed_parameter() -> Flask:
    app = Flask("seller")
    app.url_value_preprocessor(lambda _endpoint, values: values.pop("name"))
    app.add_url_rule("/op/<name>", "named", lambda: ran("named"), methods=["POST"])
    return app


def around(middleware) -> Flask:
    app = add_routes(Flask("seller"))
    app.wsgi_app = middleware(app.wsgi_app)
    return app


def mounting(mounts) -> Flask:
    return around(lambda inner: ProxyFix(DispatcherMiddleware(inner, mounts)))


def unknown_operation() -> Flask:
    sub = Flask("sub")
    sub.add_url_rule("/op/<code>", "named", lambda code: ran(f"code {code}"), methods=["POST"])
    return mounting({"/sub": sub})


def no_framework(_environ, start_response):
    start_response("200 OK", [])
    return [ran("sub").encode()]


def changed_path(inner):
    def changed(environ, start_response):
        return inner({**environ, "PATH_INFO": environ["PATH_INFO"].replace("/old", "")}, start_response)

    return changed


def deciding(method: str) -> type[Flask]:
    """Return a class of applications that decides by a method of its own what runs."""

    def decide(app: Flask, *_call: object):
        return app.view_functions["create"]()

    return type("Deciding", (Flask,), {method: decide})


def several_resolvers() -> Flask:
    app = add_routes(Flask("seller"))
    RouteResolver().routes_of(app)
    return app


def choosing() -> Flask:
    sub = add_routes(deciding("dispatch_request")("sub"))
    return around(
        lambda inner: lambda environ, start: (sub if environ["PATH_INFO"] == "/read" else inner)(environ, start)
    )


class Around:
    """A middleware that keeps the next application under a name of its own."""

    def __init__(self, wsgi_app) -> None:
        self.wsgi_app = wsgi_app

    def __call__(self, environ, start_response):
        return self.wsgi_app(environ, start_response)


def endless(_inner) -> Around:
    loop = Around(None)
    loop.wsgi_app = loop
    return loop


PLAIN = {"/read": "read"}, {"/create": "create"}
UNKNOWN = {}, {"/read": "create"}


@pytest.mark.parametrize(
    ("make", "free", "listed"),
    [
        pytest.param(make, {}, {"/plans": "plans"}, id="class of a view"),
        pytest.param(
            changed_rule,
            {"/read": "read", "/create?as=read": "read"},
            {"/read?as=create": "create"},
            id="rule that a function changes",
        ),
        pytest.param(changed_parameter, {"/op/read": "read"}, {"/op/read?as=create": "create"}, id="changed parameter"),
        pytest.param(removed_parameter, {"/op/read": "named"}, {"/op/create": "named"}, id="removed parameter"),
        pytest.param(
            lambda: mounting({"/sub": add_routes(Flask("sub"))}),
            {"/read": "read", "/sub/read": "read", "/sub/op/%20read": " read", "/sub/op/": None, "/sub/nothing": None},
            {"/create": "create", "/sub/create": "create", "/sub/op/create": "create"},
            id="mounted Flask",
        ),
        pytest.param(unknown_operation, {}, {"/sub/op/x": "code x"}, id="mounted Flask, unknown operation"),
        pytest.param(lambda: mounting({"/sub": no_framework}), {"/subway": None}, {"/sub/x": "sub"}, id="no framework"),
        pytest.param(lambda: mounting({"": no_framework}), {}, {"/read": "sub"}, id="no framework at the root"),
        pytest.param(
            lambda: mounting({"/sub": add_routes(deciding("dispatch_request")("sub"))}),
            {},
            {"/sub/read": "create"},
            id="mounted Flask that decides by itself",
        ),
        pytest.param(
            lambda: around(changed_path),
            {"/read": "read", "/old/read": "read"},
            {"/old/create": "create"},
            id="changed path",
        ),
        pytest.param(several_resolvers, *PLAIN, id="several resolvers"),
        pytest.param(choosing, *UNKNOWN, id="another application, chosen by a function"),
    ],
)
def test_policy_decides_about_the_view_that_really_runs(ask, make, free, listed):
    app = make()
    for target, runs in free.items():
        assert ask(app, target) == ((404, []) if runs is None else (200, [runs]))
    for target, runs in listed.items():
        assert ask(app, target) == (401, [])
        assert ask(app, target, signed=True) == (200, [runs])


@pytest.mark.parametrize("middleware", [endless, lambda _inner: no_framework])
def test_every_request_must_be_signed_if_no_middleware_leads_to_flask(ask, middleware):
    assert ask(around(middleware), "/read") == (401, [])


def test_rejection_of_a_changed_route_is_a_decision_and_says_why(party, caplog):
    decisions = []
    app = verified(changed_rule(), party, on_decision=decisions.append)
    answer = app.test_client().post("/read?as=create", base_url=ORIGIN)
    assert (answer.status_code, answer.json) == (401, {"error": "request_signature_required"})
    told = [(decision.outcome, decision.route) for decision in decisions]
    assert told == [("unsigned", None), ("rejected", "/create")]
    assert "the operation must be signed" in caplog.text


@pytest.mark.parametrize(("accepts", "expected"), [(True, (200, ["create"])), (False, (401, []))])
def test_another_credential_counts_for_a_mounted_application_too(ask, party, accepts, expected):
    app = mounting({"/sub": add_routes(Flask("sub"))})
    assert ask(verified(app, party, fallback=lambda _environ: accepts), "/sub/create") == expected


@pytest.mark.parametrize("front", [NotFound(), Response(status=404)])
def test_policy_is_asked_below_a_dispatcher_that_has_only_mounts(front):
    policy = Policy(required_for=["create"], resolver=RouteResolver())
    site = DispatcherMiddleware(front, {"/shop": make()})
    app = wsgi.SignatureMiddleware(site, verifier=verifier(), origins=[ORIGIN], policy=policy, reconstruct=True)
    asked = {("GET", "/shop/plans"): "200", ("GET", "/elsewhere"): "404", ("POST", "/shop/create"): "401"}
    assert {given: run_wsgi_app(app, environ_of(*given))[1][:3] for given in asked} == asked


@pytest.mark.parametrize("method", ["dispatch_request", "full_dispatch_request", "preprocess_request", "wsgi_app"])
def test_application_that_decides_itself_what_runs_is_rejected(method):
    with pytest.raises(ConfigurationError, match=rf"^policy: Deciding defines {method}, .* use PathResolver"):
        RouteResolver().routes_of(deciding(method)("seller"))


def test_application_with_a_method_of_its_own_is_rejected():
    app = Flask("seller")
    app.dispatch_request = lambda: ""
    with pytest.raises(ConfigurationError, match=r"^policy: Flask defines dispatch_request"):
        RouteResolver().routes_of(app)


def test_method_that_is_replaced_later_leaves_open_what_runs(ask):
    app = add_routes(Flask("seller"))
    assert ask(app, "/read") == (200, ["read"])
    app.dispatch_request = app.view_functions["create"]
    assert ask(app, "/read") == (401, [])


def test_options_of_a_rule_that_was_added_to_the_map_needs_a_signature(party):
    app = add_routes(Flask("seller"))
    app.url_map.add(Rule("/rule", endpoint="plans.buy", methods=["OPTIONS"]))
    app.view_functions["plans.buy"] = lambda: ran("plans.buy")
    assert verified(app, party).test_client().options("/rule", base_url=ORIGIN).status_code == 401


def test_application_without_a_policy_runs_its_views():
    app = add_routes(Flask("other"))
    assert app.test_client().post("/read").text == "read"


def test_application_under_a_path_that_is_mounted_in_another_middleware_asks_both_policies(ask, party):
    app = verified(add_routes(Flask("seller")), party, policy=None, mode="optional")
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "reconstruct": True}
    policy = Policy(required_for=["create"], resolver=RouteResolver())
    app.wsgi_app = wsgi.SignatureMiddleware(app.wsgi_app, policy=policy, **options)
    assert ask(app, "/create") == (401, [])
    assert ask(app, "/read") == (200, ["read"])
