"""The Flask extension on a real server: what reaches a view, and what is answered instead."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import pytest
from flask import Blueprint, Flask, request
from flask.views import MethodView
from tests.keys import BODY, KEYID, ORIGIN, ORIGINS
from tests.serving import waitress_server
from tests.wire import CHANGES, ask, assert_rejected, raw_request
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from undersigned_flask import Undersigned, current_signature, signature_required

UNSIGNED = "request_signature_required"
BROWSER = [("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")]
PATHS = ["/view", "/async", "/class", "/blueprint", "/nested"]


class AsyncFlask(Flask):
    """Runs async views without the asgiref extra."""

    def async_to_sync(self, func):
        return lambda *args, **kwargs: asyncio.run(func(*args, **kwargs))


def flask_app(calls: list) -> Flask:
    """Guards of every kind: a view, an async view, a view class, a blueprint, and one nested in it."""
    app = AsyncFlask(__name__)
    methods = ["POST", "PUT"]

    def note() -> dict[str, str]:
        assert request.get_data() == BODY
        calls.append(request.path)
        return {"keyid": current_signature.keyid, "target_uri": current_signature.target_uri, "path": request.path}

    @app.route("/view/<path:rest>", methods=methods)
    @signature_required
    def view(rest: str) -> dict[str, str]:
        assert request.path == f"/view/{rest}"
        return note()

    @app.route("/async/<path:rest>", methods=methods)
    @signature_required
    async def asynchronous(rest: str) -> dict[str, str]:
        assert request.path == f"/async/{rest}"
        return note()

    class ViewClass(MethodView):
        decorators = (signature_required,)

        def post(self, rest: str) -> dict[str, str]:
            assert request.path == f"/class/{rest}"
            return note()

        put = post

    app.add_url_rule("/class/<path:rest>", view_func=ViewClass.as_view("class"))
    blueprint = signature_required(Blueprint("blueprint", __name__))
    nested = Blueprint("nested", __name__)
    for guarded, path in ((blueprint, "/blueprint"), (nested, "/nested")):
        guarded.add_url_rule(f"{path}/<path:rest>", "view", lambda rest: note() | {"rest": rest}, methods=methods)
    blueprint.register_blueprint(nested)
    app.register_blueprint(blueprint)

    @app.get("/public")
    def public() -> dict[str, bool]:
        return {"signed": bool(current_signature)}

    return app


@dataclass
class Service:
    """A running application, and every call that reached one of its guarded views."""

    port: int
    calls: list[str]


@pytest.fixture(scope="module")
def running(party):
    """An application in mode optional, so that the requirement alone keeps unsigned requests out."""
    calls: list[str] = []
    app = flask_app(calls)
    Undersigned(app, verifier=party.verifier(), origins=ORIGINS, mode="optional")
    with waitress_server(app) as port:
        yield Service(port, calls)


@pytest.fixture
def service(running):
    running.calls.clear()
    return running


paths = pytest.mark.parametrize("path", PATHS)


@paths
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_signed_request_reaches_the_view_with_its_signature(service, path, method, party):
    answer = ask(service.port, party.raw(method, f"{path}/a%2Fb?plan=1", BODY))
    assert answer.status == 200
    assert (
        answer.json.items()
        >= {
            "keyid": KEYID,
            "target_uri": f"{ORIGIN}{path}/a%2Fb?plan=1",
            "path": f"{path}/a/b",
        }.items()
    )
    assert service.calls == [f"{path}/a/b"]


@paths
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_unsigned_request_is_answered_401_with_the_code_only(service, path, method):
    assert_rejected(ask(service.port, raw_request(method, f"{path}/x", body=BODY)), UNSIGNED)
    assert service.calls == []


@paths
def test_browser_gets_the_code_of_a_request_changed_after_signing(service, path, party):
    change = CHANGES["path"]
    assert_rejected(ask(service.port, change.raw(party, path, BROWSER)), change.code)
    assert service.calls == []


def test_view_without_requirement_is_open_to_unsigned_requests(service, party):
    assert ask(service.port, raw_request("GET", "/public")).json == {"signed": False}
    assert ask(service.port, party.raw("GET", "/public")).json == {"signed": True}


def assert_html(answer) -> None:
    """The HTML answer has the same code as the JSON answer, and nothing else."""
    assert (answer.status, answer.fields["www-authenticate"]) == (401, f'Signature error="{UNSIGNED}"')
    assert answer.fields["content-type"] == "text/html; charset=utf-8"
    assert answer.fields["vary"] == "Accept"
    assert answer.content.decode() == (
        f'<!doctype html><html lang="en"><title>{UNSIGNED}</title><h1>{UNSIGNED}</h1></html>\n'
    )


@paths
def test_browser_gets_the_code_in_html(service, path):
    assert_html(ask(service.port, raw_request("POST", f"{path}/x", BROWSER, BODY)))
    assert service.calls == []


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "text/html;q=0.5, application/json", "text/plain", ";q=?"]
)
def test_answer_is_json_without_a_preference_for_html(service, accept):
    assert_rejected(ask(service.port, raw_request("POST", "/view/x", [("Accept", accept)], BODY)), UNSIGNED)


@pytest.fixture(scope="module")
def strict(party):
    """The same application in mode required, with another WSGI application mounted next to it, all inside."""
    calls: list[str] = []
    app = flask_app(calls)

    def neighbour(_environ, start_response):
        calls.append("neighbour")
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"neighbour"]

    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {"/neighbour": neighbour})
    Undersigned(verifier=party.verifier(), origins=ORIGINS).init_app(app)
    with waitress_server(app) as port:
        yield Service(port, calls)


@pytest.mark.parametrize("path", ["/public", "/neighbour/x", "/view/x", "/nothing", "/static/x"])
def test_unsigned_request_reaches_no_view_in_mode_required(strict, path):
    strict.calls.clear()
    assert_rejected(ask(strict.port, raw_request("GET", path)), UNSIGNED)
    assert_html(ask(strict.port, raw_request("GET", path, BROWSER)))
    assert strict.calls == []


def test_signed_request_reaches_the_view_in_mode_required(strict, party):
    for fields in ([], BROWSER):
        assert ask(strict.port, party.raw("GET", "/public", extra=fields)).json == {"signed": True}
        assert ask(strict.port, party.raw("GET", "/neighbour/x", extra=fields)).content == b"neighbour"


def test_rejection_is_logged_whichever_part_answers_it(service, strict, caplog):
    # DEBUG has also the lines that are left out because earlier tests caused as many.
    with caplog.at_level(logging.DEBUG, "undersigned"):
        for port in (service.port, strict.port):
            for fields in ([], BROWSER):
                caplog.clear()
                ask(port, raw_request("POST", "/view/x", fields, BODY))
                lines = [message for message in caplog.messages if message.startswith("request rejected: ")]
                assert [line.count(UNSIGNED) for line in lines] == [1]


def test_body_over_the_limit_is_answered_413(party):
    calls: list[str] = []
    app = flask_app(calls)
    app.config["UNDERSIGNED_MAX_BODY"] = len(BODY) - 1
    Undersigned(app, verifier=party.verifier(), origins=ORIGINS)
    with waitress_server(app) as port:
        assert ask(port, party.raw("POST", "/view/x", BODY)).status == 413
    assert calls == []


PREFLIGHT = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}


def test_guard_of_a_blueprint_lets_the_preflights_pass_that_run_no_view(party):
    app, plans, ran = Flask(__name__), Blueprint("plans", __name__, url_prefix="/plans"), []

    @plans.post("/buy")
    def buy() -> str:
        ran.append("buy")
        return ""

    @plans.route("/any", methods=["POST", "OPTIONS"])
    def every_method() -> str:
        ran.append("any")
        return ""

    app.register_blueprint(signature_required(plans))
    Undersigned(app, verifier=party.verifier(), origins=ORIGINS, mode="optional")
    client = app.test_client()
    assert client.options("/plans/buy", headers=PREFLIGHT).status_code == 200
    assert client.options("/plans/buy").status_code == 401
    assert client.options("/plans/any", headers=PREFLIGHT).status_code == 401
    assert client.post("/plans/buy", headers=PREFLIGHT).status_code == 401
    assert ran == []
