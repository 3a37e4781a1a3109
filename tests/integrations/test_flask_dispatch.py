"""The policy decides about the view that Flask really runs, also in applications that change Flask's routing."""

from __future__ import annotations

import pytest
from flask import Blueprint, Flask, request
from flask.ctx import RequestContext
from tests.keys import ORIGIN, verifier
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import BaseConverter, Map, Rule, ValidationError

from undersigned import ConfigurationError, Policy, wsgi
from undersigned_flask import RouteResolver, Undersigned

RAN: list[str] = []


def ran(name: str) -> str:
    RAN.append(name)
    return name


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


OPERATIONS = {"named": lambda parameters: parameters["name"], "plans.buy": "create", "plans.look": "read"}


def resolver_of(app: Flask) -> RouteResolver:
    return RouteResolver({name: OPERATIONS[name] for name in OPERATIONS.keys() & app.view_functions.keys()})


@pytest.fixture
def ask(party):
    """Send an unsigned or a signed request to an application, and return the status and what ran."""

    def ask(app: Flask, target: str, *, signed: bool = False, **options) -> tuple[int, list[str]]:
        if "undersigned" not in app.extensions:
            policy = Policy(required_for=["create"], resolver=resolver_of(app))
            Undersigned(app, verifier=party.verifier(), origins=[ORIGIN], policy=policy, reconstruct=True)
        body = options.get("data", b"")
        kind = {"Content-Type": options.pop("content_type")} if "content_type" in options else {}
        fields = party.fields("POST", target, body, [*kind.items()]) if signed else kind
        RAN.clear()
        answer = app.test_client().post(target, base_url=ORIGIN, headers=fields, **options)
        return answer.status_code, list(RAN)

    return ask


def test_route_that_a_function_changes_before_the_view_needs_a_signature(ask):
    app = add_routes(Flask("seller"))

    @app.before_request
    def change() -> None:
        if "as" in request.args:
            [request.url_rule] = app.url_map.iter_rules(request.args["as"])

    assert ask(app, "/read") == (200, ["read"])
    assert ask(app, "/read?as=create") == (401, [])
    assert ask(app, "/read?as=create", signed=True) == (200, ["create"])
    assert ask(app, "/create?as=read") == (200, ["read"])


def test_rejection_of_a_changed_route_is_a_decision_and_says_why(party, caplog):
    app, decisions = add_routes(Flask("seller")), []

    @app.before_request
    def change() -> None:
        [request.url_rule] = app.url_map.iter_rules("create")

    policy = Policy(required_for=["create"], resolver=RouteResolver())
    options = {"policy": policy, "reconstruct": True, "on_decision": decisions.append}
    Undersigned(app, verifier=party.verifier(), origins=[ORIGIN], **options)
    answer = app.test_client().post("/read", base_url=ORIGIN)
    assert (answer.status_code, answer.json) == (401, {"error": "request_signature_required"})
    assert [(decision.outcome, decision.route) for decision in decisions] == [
        ("unsigned", None),
        ("rejected", "/create"),
    ]
    assert "the operation must be signed" in caplog.text


def test_parameter_that_a_function_changes_needs_a_signature(ask):
    app = add_routes(Flask("seller"))

    @app.url_value_preprocessor
    def change(_endpoint, values) -> None:
        if "as" in request.args:
            values["name"] = request.args["as"]

    assert ask(app, "/op/read") == (200, ["read"])
    assert ask(app, "/op/read?as=create") == (401, [])


def test_parameter_that_a_function_removes_is_still_known(ask):
    app = Flask("seller")

    @app.url_value_preprocessor
    def remove(_endpoint, values) -> None:
        values.pop("name")

    @app.post("/op/<name>")
    def named() -> str:
        return ran("named")

    assert ask(app, "/op/read") == (200, ["named"])
    assert ask(app, "/op/create") == (401, [])


def mounting(mounts) -> Flask:
    app = add_routes(Flask("seller"))
    app.wsgi_app = ProxyFix(DispatcherMiddleware(app.wsgi_app, mounts))
    return app


def test_policy_decides_about_the_views_of_another_flask_application_that_is_mounted(ask, caplog):
    app = mounting({"/sub": add_routes(Flask("sub"))})
    assert ask(app, "/sub/create") == (401, [])
    assert "the operation must be signed" in caplog.text
    assert ask(app, "/sub/create", signed=True) == (200, ["create"])
    assert ask(app, "/sub/op/create") == (401, [])
    assert ask(app, "/sub/op/") == (404, [])
    assert ask(app, "/sub/op/%20read") == (200, [" read"])
    assert ask(app, "/sub/read") == (200, ["read"])
    assert ask(app, "/sub/nothing") == (404, [])
    assert ask(app, "/create") == (401, [])
    assert ask(app, "/read") == (200, ["read"])


def test_view_of_a_mounted_application_whose_operation_is_unknown_must_be_signed(ask):
    sub = Flask("sub")

    @sub.post("/op/<code>")
    def named(code: str) -> str:
        return ran(code)

    app = mounting({"/sub": sub})
    assert ask(app, "/sub/op/x") == (401, [])
    assert ask(app, "/sub/op/x", signed=True) == (200, ["x"])


def test_mounted_application_of_no_known_framework_must_be_signed(ask):
    def sub(_environ, start_response):
        start_response("200 OK", [])
        return [ran("sub").encode()]

    app = mounting({"/sub": sub})
    assert ask(app, "/sub/x") == (401, [])
    assert ask(app, "/sub/x", signed=True) == (200, ["sub"])
    assert ask(app, "/subway") == (404, [])
    assert ask(mounting({"": sub}), "/read") == (401, [])


@pytest.mark.parametrize(("accepts", "expected"), [(True, (200, ["create"])), (False, (401, []))])
def test_another_credential_counts_for_a_mounted_application_too(ask, party, accepts, expected):
    app = mounting({"/sub": add_routes(Flask("sub"))})
    policy = Policy(required_for=["create"], resolver=resolver_of(app))
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "reconstruct": True}
    Undersigned(app, policy=policy, fallback=lambda _environ: accepts, **options)
    assert ask(app, "/sub/create") == expected


def test_middleware_between_that_changes_the_path_needs_a_signature(ask):
    app = add_routes(Flask("seller"))
    inner = app.wsgi_app

    def changed(environ, start_response):
        environ["PATH_INFO"] = environ["PATH_INFO"].replace("/old", "")
        return inner(environ, start_response)

    app.wsgi_app = changed
    assert ask(app, "/read") == (200, ["read"])
    assert ask(app, "/old/read") == (200, ["read"])
    assert ask(app, "/old/create") == (401, [])
    assert ask(app, "/old/create", signed=True) == (200, ["create"])


class Versioned(RequestContext):
    """A context that also finds routes below `/v1`."""

    def match_request(self) -> None:
        super().match_request()
        if self.request.routing_exception is not None and self.request.path.startswith("/v1/"):
            self.request.routing_exception = None
            path = self.request.path.removeprefix("/v1")
            matched = self.url_adapter.match(path, return_rule=True)
            self.request.url_rule, self.request.view_args = matched


class WithContext(Flask):
    def request_context(self, environ):
        return Versioned(self, environ)


class WithAdapter(Flask):
    def create_url_adapter(self, given):
        adapter = super().create_url_adapter(given)
        if given is not None and given.path.startswith("/v1/"):
            adapter.path_info = given.path.removeprefix("/v1")
        return adapter


class LooseRule(Rule):
    """A rule that also matches below `/v1`."""

    def __init__(self, string: str, **options) -> None:
        super().__init__("/<any(v1):version>" + string if options["endpoint"] != "static" else string, **options)


class LowerMap(Map):
    """A map that finds paths whatever their case."""

    def bind_to_environ(self, environ, *arguments, **options):
        return super().bind_to_environ({**environ, "PATH_INFO": environ["PATH_INFO"].lower()}, *arguments, **options)


class WithMap(Flask):
    url_map_class = LowerMap


class WithRules(Flask):
    url_rule_class = LooseRule


@pytest.mark.parametrize(
    ("app", "read", "create"),
    [(WithContext, "/v1/read", "/v1/create"), (WithAdapter, "/v1/read", "/v1/create"), (WithMap, "/READ", "/CREATE")],
    ids=["context", "adapter", "map"],
)
def test_class_that_changes_how_a_path_is_matched_is_asked_itself(ask, app, read, create):
    app = add_routes(app("seller"))
    assert ask(app, read) == (200, ["read"])
    assert ask(app, create) == (401, [])
    assert ask(app, create, signed=True) == (200, ["create"])
    assert ask(app, "/nothing") == (404, [])


def test_rules_of_another_class_are_asked_themselves(ask):
    app = WithRules("seller")

    @app.post("/create")
    def create(version: str) -> str:
        return ran(f"create {version}")

    assert ask(app, "/v1/create") == (401, [])
    assert ask(app, "/v1/create", signed=True) == (200, ["create v1"])
    assert ask(app, "/create") == (404, [])


class WithForm(Flask):
    """An application whose form says the path, which no router can know before the body is read."""

    def create_url_adapter(self, given):
        adapter = super().create_url_adapter(given)
        if given is not None and "path" in given.form:
            adapter.path_info = given.form["path"]
        return adapter


def test_router_that_reads_the_body_runs_what_need_not_be_signed_only(ask):
    app, form = (
        add_routes(WithForm("seller")),
        {"data": b"path=/create", "content_type": "application/x-www-form-urlencoded"},
    )
    assert ask(app, "/read") == (200, ["read"])
    assert ask(app, "/read", **form) == (401, [])
    assert ask(app, "/read", signed=True, **form) == (200, ["create"])


class Once(BaseConverter):
    """A converter that takes a value only the second time."""

    seen: tuple[str, ...] = ()

    def to_python(self, value: str) -> str:
        Once.seen = (*Once.seen, value)
        if Once.seen.count(value) % 2:
            raise ValidationError
        return value


def test_router_that_answers_differently_the_second_time_is_asked_once(ask, monkeypatch):
    monkeypatch.setattr(Once, "seen", ())
    app = Flask("seller")
    app.url_map.converters["once"] = Once

    @app.post("/<once:path>")
    def create(path: str) -> str:
        return ran(path)

    assert ask(app, "/a") == (404, [])
    assert ask(app, "/a") == (401, [])


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        ({"host_matching": True, "static_host": "s.example"}, {"host": ["seller.example.com", "other.example.com"]}),
        ({"subdomain_matching": True}, {"subdomain": ["seller", "other"]}),
    ],
)
def test_rule_of_another_host_does_not_count(ask, options, hosts):
    app, plans = Flask("seller", **options), Blueprint("plans", "plans")
    [(place, (own, other))] = hosts.items()
    if place == "subdomain":
        app.config["SERVER_NAME"] = "example.com"
    plans.add_url_rule("/plans", "look", lambda: ran("look"), methods=["POST"], **{place: other})
    plans.add_url_rule("/plans", "buy", lambda: ran("buy"), methods=["POST"], **{place: own})
    app.register_blueprint(plans)
    assert ask(app, "/plans") == (401, [])
    assert ask(app, "/plans", signed=True) == (200, ["buy"])


class Dispatching(Flask):
    def dispatch_request(self):
        return self.view_functions["create"]()


class FullyDispatching(Flask):
    def full_dispatch_request(self):
        return self.finalize_request(self.view_functions["create"]())


class Preprocessing(Flask):
    def preprocess_request(self):
        return self.view_functions["create"]()


class Wrapping(Flask):
    def wsgi_app(self, environ, start_response):
        return super().wsgi_app({**environ, "PATH_INFO": "/create"}, start_response)


@pytest.mark.parametrize("app", [Dispatching, FullyDispatching, Preprocessing, Wrapping])
def test_application_that_decides_itself_what_runs_is_rejected(app):
    method = next(name for name in vars(app) if not name.startswith("__"))
    with pytest.raises(ConfigurationError, match=rf"^policy: {app.__name__} defines {method}, .* use PathResolver"):
        RouteResolver().routes_of(app("seller"))


@pytest.mark.parametrize("method", ["dispatch_request", "full_dispatch_request", "preprocess_request"])
def test_application_with_a_method_of_its_own_is_rejected(method, monkeypatch):
    app = Flask("seller")
    monkeypatch.setattr(app, method, lambda: "")
    with pytest.raises(ConfigurationError, match=f"^policy: .* defines {method}"):
        RouteResolver().routes_of(app)


def test_method_that_is_replaced_later_leaves_open_what_runs(ask):
    app = add_routes(Flask("seller"))
    assert ask(app, "/read") == (200, ["read"])
    app.dispatch_request = app.view_functions["create"]
    assert ask(app, "/read") == (401, [])


def test_application_may_have_several_resolvers(ask):
    app = add_routes(Flask("seller"))
    RouteResolver().routes_of(app)
    assert ask(app, "/read") == (200, ["read"])
    assert ask(app, "/create") == (401, [])


def test_options_of_a_rule_that_was_added_to_the_map_needs_a_signature():
    app = Flask(__name__)
    app.url_map.add(Rule("/rule", endpoint="plans.buy", methods=["OPTIONS"]))
    app.add_url_rule("/create", "create", lambda: "")
    app.view_functions["plans.buy"] = lambda: ran("plans.buy")
    policy = Policy(required_for=["create"], resolver=resolver_of(app))
    Undersigned(app, verifier=verifier(), origins=[ORIGIN], policy=policy)
    assert app.test_client().options("/rule", base_url=ORIGIN).status_code == 401


@pytest.mark.parametrize("app", [Dispatching, FullyDispatching, Preprocessing])
def test_mounted_application_that_decides_itself_what_runs_must_be_signed(ask, app):
    outer = mounting({"/sub": add_routes(app("sub"))})
    assert ask(outer, "/sub/read") == (401, [])
    assert ask(outer, "/sub/read", signed=True) == (200, ["create"])


def test_application_that_asks_a_policy_runs_no_view_outside_of_a_middleware():
    app = add_routes(Flask("seller", static_folder=None))
    app.testing = True
    RouteResolver().routes_of(app)
    with pytest.raises(ConfigurationError, match="no middleware has verified this request"):
        app.test_client().post("/read")


def test_application_without_a_policy_runs_its_views():
    app = add_routes(Flask("other"))
    assert app.test_client().post("/read").text == "read"


def test_application_under_a_path_that_is_mounted_in_another_middleware_asks_both_policies(ask, party):
    app = add_routes(Flask("seller"))
    policy = Policy(required_for=["create"], resolver=resolver_of(app))
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "reconstruct": True}
    Undersigned(app, mode="optional", **options)
    app.wsgi_app = wsgi.SignatureMiddleware(app.wsgi_app, policy=policy, **options)
    assert ask(app, "/create") == (401, [])
    assert ask(app, "/read") == (200, ["read"])


def test_application_that_decides_itself_what_runs_must_be_signed_however_it_is_mounted(ask):
    app, sub = add_routes(Flask("seller")), add_routes(Dispatching("sub"))
    inner = app.wsgi_app

    def choosing(environ, start_response):
        return (sub if environ["PATH_INFO"] == "/read" else inner)(environ, start_response)

    app.wsgi_app = choosing
    assert ask(app, "/read") == (401, [])
    assert ask(app, "/read", signed=True) == (200, ["create"])


class Around:
    """A middleware that keeps the next application under a name of its own."""

    def __init__(self, wsgi_app) -> None:
        self.wsgi_app = wsgi_app

    def __call__(self, environ, start_response):
        return self.wsgi_app(environ, start_response)


class Several(Around):
    """A dispatcher of the application's own."""

    def __init__(self, wsgi_app) -> None:
        super().__init__(wsgi_app)
        self.mounts = {"/other": wsgi_app}


def closed_over(inner):
    def middleware(environ, start_response):
        return inner(dict(environ), start_response)

    return middleware


def endless(_environ, _start_response):
    raise AssertionError


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (Around, 200),
        (closed_over, 200),
        (Several, 401),
        (lambda _inner: endless, 401),
    ],
)
def test_every_request_must_be_signed_if_it_is_unknown_what_a_middleware_calls(ask, around, expected):
    app = add_routes(Flask("seller"))
    app.wsgi_app = around(app.wsgi_app)
    assert ask(app, "/read")[0] == expected
    assert ask(app, "/create") == (401, [])


def test_chain_of_middlewares_without_end_must_be_signed(ask):
    app = add_routes(Flask("seller"))
    loop = Around(None)
    loop.wsgi_app = loop
    app.wsgi_app = loop
    assert ask(app, "/read") == (401, [])
