"""Every framework over HTTP/2: the examples on hypercorn and gunicorn, which compare `:authority` with Host.

The servers of aiohttp, Tornado and Sanic speak no HTTP/2.
"""

from __future__ import annotations

import contextlib
import json
import sys
from importlib import util
from pathlib import Path

import pytest
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.test import override_settings
from django.urls import path
from sanic import HTTPResponse, Sanic
from sanic import Request as SanicRequest
from sanic import json as json_response
from starlette.applications import Starlette
from starlette.routing import Route
from tests.integrations.django_site import FIRST, Plans, site
from tests.keys import JWKS, KEY
from tests.servers.http2 import exchange
from tests.servers.hypercorn_server import hypercorn
from tests.servers.requests_http1 import BODY, HOST, ORIGIN
from tests.servers.requests_http2 import LENGTH, to
from tests.serving import gunicorn_server

import undersigned_sanic
from undersigned import Decision, KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned_django import signature_required, verified_signature
from undersigned_flask import Undersigned

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = "/plans/gold"
REST = "django rest framework"


def verifier() -> Verifier:
    keys = KeySet.from_jwks(JWKS, owner=KEY.keyid)
    return Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())


def example(name: str):
    """The module of an example."""
    spec = util.spec_from_file_location(f"http2_{name}_app", EXAMPLES / f"{name}_app.py")
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sanic() -> Sanic:
    """A service of Sanic by ASGI: its example runs on Sanic's own server."""
    app = Sanic("http2", configure_logging=False)

    @app.post("/plans/<plan>")
    async def buy(request: SanicRequest, plan: str) -> HTTPResponse:
        signature = undersigned_sanic.verified_signature(request)
        return json_response({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})

    return app


@contextlib.contextmanager
def wrap(name: str):
    if name == "sanic":
        app = sanic()
    else:
        module = example(name)
        app = getattr(module, "app", None) or Starlette(routes=[Route("/plans/{plan}", module.buy, methods=["POST"])])
    options = {"origins": [ORIGIN], "mode": "optional", "http2_server": "hypercorn"}
    yield SignatureMiddleware(app, verifier=verifier(), **options)


@signature_required
def buy(request, plan: str) -> JsonResponse:
    signature = verified_signature(request)
    return JsonResponse({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


@contextlib.contextmanager
def django(name: str, **options):
    view = buy if name == "django" else Plans.as_view()
    urls = type("urls", (), {"urlpatterns": [path("plans/<str:plan>", view)]})
    options = {"HTTP2_SERVER": "hypercorn", **options}
    with site(verifier(), middleware=(FIRST,), **options), override_settings(ROOT_URLCONF=urls):
        yield get_asgi_application()


def by_hypercorn(make):
    @contextlib.contextmanager
    def served(name: str):
        with make(name) as app, hypercorn(app) as port:
            yield port

    return served


def flask(_name: str):
    module = example("flask")
    Undersigned(module.app, verifier=verifier(), origins=[ORIGIN], mode="optional", http2_server="gunicorn")
    return gunicorn_server(module.app, **GUNICORN)


@contextlib.contextmanager
def django_by_gunicorn(_name: str):
    with django("django", HTTP2_SERVER="gunicorn"), gunicorn_server(get_wsgi_application(), **GUNICORN) as port:
        yield port


GUNICORN = {"worker_class": "gthread", "http_protocols": "h2,h1", "http2_cleartext": "prior-knowledge"}
FRAMEWORKS = {
    **dict.fromkeys(("fastapi", "starlette", "litestar", "quart", "falcon", "sanic"), by_hypercorn(wrap)),
    "django": by_hypercorn(django),
    REST: by_hypercorn(django),
    "django over wsgi": django_by_gunicorn,
    "flask": flask,
}
REQUIRED = "request_signature_required"


@pytest.fixture(scope="module", params=FRAMEWORKS)
def port(request):
    with FRAMEWORKS[request.param](request.param) as port:
        yield port


@pytest.mark.parametrize("extra", [[LENGTH], []], ids=["with a length", "without a length"])
def test_signed_request_reaches_the_route_once_with_its_caller(port, extra):
    sent = to(PLAN, method="POST", body=BODY, extra=extra)()
    answer = exchange(port, sent.fields, sent.content, timeout=20)
    expected = {"plan": "gold", "caller": KEY.keyid, "signed": ORIGIN + PLAN}
    assert (answer.status // 100, json.loads(answer.content)) == (2, expected)
    again = exchange(port, sent.fields, sent.content, timeout=20)
    assert (again.status, json.loads(again.content)) == (401, {"error": "request_signature_replayed"})


def ask_unsigned(port):
    pseudo = [(":method", "POST"), (":scheme", "http"), (":authority", HOST), (":path", PLAN)]
    return exchange(port, [*pseudo, ("content-type", "application/json"), LENGTH], BODY, timeout=20)


def test_unsigned_request_and_a_changed_one_do_not_reach_the_route(port):
    unsigned = ask_unsigned(port)
    assert unsigned.status == 401
    sent = to(PLAN, method="POST", body=BODY, content=BODY.replace(b"1", b"2"), extra=[LENGTH])()
    changed = exchange(port, sent.fields, sent.content, timeout=20)
    assert (changed.status, json.loads(changed.content)) == (401, {"error": "request_signature_digest_mismatch"})


def test_rejection_by_rest_framework_over_http_2_is_a_decision():
    decisions: list[Decision] = []
    with django(REST, ON_DECISION=decisions.append) as app, hypercorn(app) as port:
        assert ask_unsigned(port).status == 401
    assert [(told.outcome, told.code, told.route) for told in decisions] == [
        ("unsigned", None, None),
        ("rejected", REQUIRED, "plans/<str:plan>"),
    ]
