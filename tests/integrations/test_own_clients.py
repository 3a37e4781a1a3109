"""Each framework's own test client works against an application with the middleware, for what needs no signature.

The clients name a host of their own, such as `localhost` or `testserver`, which is not one of the origins.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import aiohttp.test_utils
import falcon.testing
import litestar.testing
import pytest
import starlette.testclient
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
from tests.integrations import every_framework as made
from tests.keys import ORIGINS, Party
from tests.wire import ask, raw_request
from tornado.testing import AsyncHTTPTestCase

from undersigned import KeyPair, KeySet, MemoryReplayStore, Policy, Verifier, profiles
from undersigned.testing.fixtures import SignedClients

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

NAME = "Zürich €"
TARGET = "/open/Z%C3%BCrich%20%E2%82%AC?q=1"
CONTENT = {"plan": "gold", "note": "x" * 100_000}
GUARDED = "/signed/gold"


@pytest.fixture(params=["optional", "policy"])
def options(request) -> dict:
    chosen = (
        {"mode": "optional"} if request.param == "optional" else {"policy": Policy(required_for=["create_media_buy"])}
    )
    return {"verifier": Party.make().verifier(), "origins": ORIGINS, **chosen}


def check(answers: dict[str, tuple[int, object]], name: str = NAME) -> None:
    """Check the answers to the same three requests."""
    assert answers["get"] == (200, {"name": name, "query": "q=1", "caller": None})
    assert answers["post"][0] == 200
    assert answers["guarded"][0] == 401


def by_starlette(app):
    client = starlette.testclient.TestClient(app)
    return lambda method, target, content=None: client.request(method, target, json=content)


def by_litestar(app):
    client = litestar.testing.TestClient(app)
    return lambda method, target, content=None: client.request(method, target, json=content)


def by_werkzeug(app):
    client = app.test_client()
    return lambda method, target, content=None: client.open(target, method=method, json=content)


@pytest.mark.parametrize(
    ("make", "by"),
    [(made.starlette, by_starlette), (made.fastapi, by_starlette), (made.litestar, by_litestar)],
)
def test_client_of_an_asgi_framework_works(make, by, options):
    send = by(make(options))
    got = {"get": send("GET", TARGET), "post": send("POST", TARGET, CONTENT), "guarded": send("POST", GUARDED, CONTENT)}
    check({name: (answer.status_code, answer.status_code == 200 and answer.json()) for name, answer in got.items()})


def test_client_of_flask_works(options):
    send = by_werkzeug(made.flask(options))
    got = {"get": send("GET", TARGET), "post": send("POST", TARGET, CONTENT), "guarded": send("POST", GUARDED, CONTENT)}
    check({name: (answer.status_code, answer.json) for name, answer in got.items()})


def test_client_of_quart_works(options):
    async def run() -> None:
        client = made.quart(options).test_client()
        got = {
            "get": await client.get(TARGET),
            "post": await client.post(TARGET, json=CONTENT),
            "guarded": await client.post(GUARDED, json=CONTENT),
        }
        check({name: (answer.status_code, await answer.get_json()) for name, answer in got.items()})

    asyncio.run(run())


@pytest.mark.parametrize("make", [made.falcon, made.falcon_asgi])
def test_client_of_falcon_works(make, options):
    client = falcon.testing.TestClient(make(options))
    got = {
        "get": client.simulate_get(TARGET),
        "post": client.simulate_post(TARGET, json=CONTENT),
        "guarded": client.simulate_post(GUARDED, json=CONTENT),
    }
    check({name: (answer.status_code, answer.json) for name, answer in got.items()})


def test_client_of_aiohttp_works(options):
    async def run() -> None:
        async with aiohttp.test_utils.TestClient(aiohttp.test_utils.TestServer(made.aiohttp(options))) as client:
            got = {
                "get": await client.get(TARGET),
                "post": await client.post(TARGET, json=CONTENT),
                "guarded": await client.post(GUARDED, json=CONTENT),
            }
            check({name: (answer.status, await answer.json()) for name, answer in got.items()})

    asyncio.run(run())


def test_client_of_tornado_works(options):
    class Case(AsyncHTTPTestCase):
        def get_app(self):
            return made.tornado(options)

        def runTest(self) -> None:  # noqa: N802 - unittest's
            post = {"method": "POST", "body": json.dumps(CONTENT)}
            got = {
                "get": self.fetch(TARGET),
                "post": self.fetch(TARGET, **post),
                "guarded": self.fetch(GUARDED, **post),
            }
            check({name: (answer.code, answer.code == 200 and json.loads(answer.body)) for name, answer in got.items()})

    result = Case("runTest").run()
    assert result is not None
    assert not result.errors + result.failures


@pytest.mark.parametrize("interface", ["wsgi", "asgi"])
def test_client_of_django_works(interface, options):
    # Django's asynchronous client spoils a path that is not ASCII, also without the middleware.
    target = TARGET if interface == "wsgi" else "/open/gold?q=1"
    with made.serve_django(options, interface=interface, serve=contextlib.nullcontext):
        client = Client() if interface == "wsgi" else AsyncClient()
        call = (lambda method: method) if interface == "wsgi" else async_to_sync
        got = {
            "get": call(client.get)(target),
            "post": call(client.post)(TARGET, CONTENT, content_type="application/json"),
            "guarded": call(client.post)(GUARDED, CONTENT, content_type="application/json"),
        }
        answers = {name: (answer.status_code, answer.json()) for name, answer in got.items()}
        check(answers, NAME if interface == "wsgi" else "gold")


@pytest.mark.parametrize("path", ["Z%C3%BCrich", "%E2%82%AC", "%F0%9F%98%80"])
@pytest.mark.parametrize("view", ["/open/", "/rest/open/"])
def test_signed_client_of_django_reaches_a_view_with_a_path_in_any_language(view, path):
    pair = KeyPair.generate(keyid="test-key")
    verifier = Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(pair.public), replay=MemoryReplayStore())
    options = {"verifier": verifier, "origins": ["https://testserver"], "mode": "optional"}
    with made.serve_django(options, interface="wsgi", serve=contextlib.nullcontext):
        answer = SignedClients(pair).django().get(f"{view}{path}")
        alone = Client().get(f"{view}{path}")
    assert (answer.status_code, alone.status_code) == (200, 200)
    assert answer.json() == {**alone.json(), "caller": "test-key"}
    assert alone.json()["name"] == unquote(path)


SITE = """
import sys
from django.core.management import execute_from_command_line
from django.test import override_settings
from tests.keys import ORIGINS, Party
from tests.integrations.django_site import FIRST
from tests.integrations.every_framework import django_views
from undersigned import Policy

chosen = {"MODE": "optional"} if sys.argv[1] == "optional" else {"POLICY": Policy(required_for=["create_media_buy"])}
options = {"VERIFIER": Party.make().verifier(), "ORIGINS": ORIGINS, **chosen}
override_settings(ROOT_URLCONF="__main__", MIDDLEWARE=[FIRST], UNDERSIGNED=options).enable()
urlpatterns = django_views(asynchronous=False)
execute_from_command_line(["manage.py", "runserver", "--noreload", "--skip-checks", sys.argv[2]])
"""


@pytest.mark.parametrize("chosen", ["optional", "policy"])
def test_runserver_of_django_works(chosen):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root), *sys.path))}
    process = subprocess.Popen(  # noqa: S603 - Django's own server
        [sys.executable, "-c", SITE, chosen, str(port)],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                got = ask(port, raw_request("GET", TARGET, host=f"localhost:{port}"))
                break
            except OSError:
                time.sleep(0.1)
        assert (got.status, got.json) == (200, {"name": NAME, "query": "q=1", "caller": None})
        fields = [("Content-Type", "application/json")]
        assert ask(port, raw_request("POST", TARGET, fields, b'{"a":1}', host=f"localhost:{port}")).status == 200
        assert ask(port, raw_request("POST", GUARDED, fields, b"{}", host=f"localhost:{port}")).status == 401
    finally:
        process.terminate()
        process.wait(20)
