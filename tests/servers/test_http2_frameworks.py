"""Every framework over HTTP/2: the example applications on hypercorn, which compares `:authority` with Host."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import threading
from importlib import util
from pathlib import Path

import pytest
from django.core.asgi import get_asgi_application
from django.http import JsonResponse
from django.test import override_settings
from django.urls import path
from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.routing import Route
from tests.integrations.django_site import FIRST, Plans, site
from tests.keys import KEY, KEYS
from tests.servers.http2 import exchange
from tests.servers.requests_http1 import BODY, HOST, ORIGIN
from tests.servers.requests_http2 import LENGTH, to

from undersigned import Decision, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned_django import signature_required, verified_signature

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = "/plans/gold"
REST = "django rest framework"


def verifier() -> Verifier:
    return Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())


def example(name: str):
    """The module of an example."""
    spec = util.spec_from_file_location(f"http2_{name}_app", EXAMPLES / f"{name}_app.py")
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def wrapped(name: str):
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


FRAMEWORKS = {
    **dict.fromkeys(("fastapi", "starlette", "litestar", "quart", "falcon", "sanic"), wrapped),
    "django": django,
    REST: django,
}
REQUIRED = {"error": "request_signature_required"}
UNSIGNED = {REST: {"detail": "Authentication credentials were not provided."}}
"""The answers to an unsigned request; that of REST framework has the code in WWW-Authenticate."""


@contextlib.contextmanager
def hypercorn(app):
    """Serve an application by hypercorn in a thread; yields the port."""
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    config = Config()
    # hypercorn closes it.
    config.bind = [f"fd://{bound.detach()}"]
    serving = serve(app, config, shutdown_trigger=stop.wait)
    thread = threading.Thread(target=lambda: loop.run_until_complete(serving), daemon=True)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


@pytest.fixture(scope="module", params=FRAMEWORKS)
def port(request):
    with FRAMEWORKS[request.param](request.param) as app, hypercorn(app) as port:
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


def test_unsigned_request_and_a_changed_one_do_not_reach_the_route(port, request):
    unsigned = ask_unsigned(port)
    expected = UNSIGNED.get(request.node.callspec.params["port"], REQUIRED)
    assert (unsigned.status, json.loads(unsigned.content)) == (401, expected)
    sent = to(PLAN, method="POST", body=BODY, content=BODY.replace(b"1", b"2"), extra=[LENGTH])()
    changed = exchange(port, sent.fields, sent.content, timeout=20)
    assert (changed.status, json.loads(changed.content)) == (401, {"error": "request_signature_digest_mismatch"})


def test_rejection_by_rest_framework_over_http_2_is_a_decision():
    decisions: list[Decision] = []
    with django(REST, ON_DECISION=decisions.append) as app, hypercorn(app) as port:
        assert ask_unsigned(port).status == 401
    assert [(told.outcome, told.code, told.route) for told in decisions] == [
        ("unsigned", None, None),
        ("rejected", REQUIRED["error"], "plans/<str:plan>"),
    ]
