"""Each framework's own test client works against an application with the middleware, for what needs no signature.

The clients name a host of their own, such as `localhost` or `testserver`, which is not one of the origins.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from functools import partial
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
from tests.workers import answers, free_port, started
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


def by_starlette(options, make=made.starlette, client=starlette.testclient.TestClient):
    sends = client(make(options)).request
    return lambda method, target, content=None: of_httpx(sends(method, target, json=content))


def of_httpx(answer) -> tuple[int, object]:
    return answer.status_code, answer.json() if answer.status_code == 200 else None


def by_litestar(options):
    return by_starlette(options, made.litestar, litestar.testing.TestClient)


def by_flask(options):
    client = made.flask(options).test_client()

    def send(method, target, content=None):
        answer = client.open(target, method=method, json=content)
        return answer.status_code, answer.json

    return send


def by_quart(options):
    client = made.quart(options).test_client()

    async def sending(method, target, content):
        answer = await client.open(target, method=method, json=content)
        return answer.status_code, await answer.get_json()

    return lambda method, target, content=None: asyncio.run(sending(method, target, content))


def by_falcon(options, make=made.falcon):
    client = falcon.testing.TestClient(make(options))

    def send(method, target, content=None):
        answer = client.simulate_request(method, target, json=content)
        return answer.status_code, answer.json

    return send


def by_aiohttp(options):
    async def sending(method, target, content):
        server = aiohttp.test_utils.TestServer(made.aiohttp(options))
        async with aiohttp.test_utils.TestClient(server) as client:
            answer = await client.request(method, target, json=content)
            return answer.status, await answer.json()

    return lambda method, target, content=None: asyncio.run(sending(method, target, content))


def by_tornado(options):
    def send(method, target, content=None):
        got = []

        class Case(AsyncHTTPTestCase):
            def get_app(self):
                return made.tornado(options)

            def runTest(self) -> None:  # noqa: N802 - unittest's
                body = None if content is None else json.dumps(content)
                got.append(self.fetch(target, method=method, body=body))

        result = Case("runTest").run()
        assert result is not None
        assert not result.errors + result.failures
        return got[0].code, json.loads(got[0].body) if got[0].code == 200 else None

    return send


CLIENTS = {
    "starlette": by_starlette,
    "fastapi": partial(by_starlette, make=made.fastapi),
    "litestar": by_litestar,
    "flask": by_flask,
    "quart": by_quart,
    "falcon": by_falcon,
    "falcon-asgi": partial(by_falcon, make=made.falcon_asgi),
    "aiohttp": by_aiohttp,
    "tornado": by_tornado,
}


def check(send, *, target=TARGET, name=NAME) -> None:
    assert send("GET", target) == (200, {"name": name, "query": "q=1", "caller": None})
    assert send("POST", TARGET, CONTENT)[0] == 200
    assert send("POST", GUARDED, CONTENT)[0] == 401


@pytest.mark.parametrize("framework", CLIENTS)
def test_client_of_a_framework_works(framework, options):
    check(CLIENTS[framework](options))


@pytest.mark.parametrize("interface", ["wsgi", "asgi"])
def test_client_of_django_works(interface, options):
    client = Client() if interface == "wsgi" else AsyncClient()

    def send(method, target, content=None):
        call = getattr(client, method.lower())
        answer = (call if interface == "wsgi" else async_to_sync(call))(
            target, content, **({"content_type": "application/json"} if content else {})
        )
        return answer.status_code, answer.json()

    with made.serve_django(options, interface=interface, serve=contextlib.nullcontext):
        # Django's asynchronous client spoils a path that is not ASCII, also without the middleware.
        asked = {} if interface == "wsgi" else {"target": "/open/gold?q=1", "name": "gold"}
        check(send, **asked)


@pytest.mark.parametrize("path", ["Z%C3%BCrich", "%E2%82%AC", "%F0%9F%98%80"])
@pytest.mark.parametrize("view", ["/open/", "/rest/open/"])
def test_signed_client_of_django_reaches_a_view_with_a_path_in_any_language(view, path):
    pair = KeyPair.generate(keyid="test-key")
    verifier = Verifier(profiles.DEFAULT, keys=KeySet.from_jwks(pair.public), replay=MemoryReplayStore())
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
def test_runserver_of_django_works(chosen, tmp_path):
    port = free_port()
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root), *sys.path))}
    command = [sys.executable, "-c", SITE, chosen, str(port)]
    with started(command, lambda _: answers(port), log=tmp_path / "log", cwd=root, env=environment):
        got = ask(port, raw_request("GET", TARGET, host=f"localhost:{port}"))
        assert (got.status, got.json) == (200, {"name": NAME, "query": "q=1", "caller": None})
        fields = [("Content-Type", "application/json")]
        assert ask(port, raw_request("POST", TARGET, fields, b'{"a":1}', host=f"localhost:{port}")).status == 200
        assert ask(port, raw_request("POST", GUARDED, fields, b"{}", host=f"localhost:{port}")).status == 401
