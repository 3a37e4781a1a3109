"""The routes that publish keys, each on a real server, and read by our own key source."""

from __future__ import annotations

import contextlib
import json
import ssl
from typing import TYPE_CHECKING

import pytest
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from tests.integrations.django_site import site
from tests.keys import JWKS, KEYS, lookup, verifier
from tests.publishing.signed import keyids_that_signed
from tests.serving import gunicorn_server, https_server, uvicorn_server, waitress_server
from tests.wire import ask, raw_request

import undersigned_django
import undersigned_fastapi
import undersigned_flask
import undersigned_starlette
from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier
from undersigned.discovery import Network, RemoteJWKS
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned.message import Response, write_signature_agent
from undersigned.profiles import WEB_BOT_AUTH_STRING
from undersigned.publishing import PublishedDirectory, PublishedKeys

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/.well-known/jwks.json"
PAIR = KeyPair.generate()
ORIGIN = "https://bot.example"


@contextlib.contextmanager
def starlette(published, path=None):
    with uvicorn_server(Starlette(routes=[undersigned_starlette.jwks_route(published, path)])) as port:
        yield port


@contextlib.contextmanager
def fastapi(published, path=None):
    app = FastAPI()
    app.routes.append(undersigned_fastapi.jwks_route(published, path))
    with uvicorn_server(app, http="httptools") as port:
        yield port


@contextlib.contextmanager
def flask(published, path=None):
    app = Flask(__name__)
    app.register_blueprint(undersigned_flask.jwks_route(published, path))
    with waitress_server(app) as port:
        yield port


@contextlib.contextmanager
def django(published, path=None):
    urls = type("urls", (), {"urlpatterns": [undersigned_django.jwks_route(published, path)]})
    with site(verifier()), override_settings(ROOT_URLCONF=urls), gunicorn_server(get_wsgi_application()) as port:
        yield port


@contextlib.contextmanager
def django_asgi(published, path=None):
    urls = type("urls", (), {"urlpatterns": [undersigned_django.jwks_route(published, path)]})
    with site(verifier()), override_settings(ROOT_URLCONF=urls), uvicorn_server(get_asgi_application()) as port:
        yield port


frameworks = pytest.mark.parametrize("framework", [starlette, fastapi, flask, django, django_asgi])


@frameworks
def test_route_serves_the_set_to_whoever_asks(framework):
    with framework(PublishedKeys(JWKS, max_age=60)) as port:
        answer = ask(port, raw_request("GET", PATH))
        assert (answer.status, answer.json) == (200, JWKS)
        named = {"content-type", "cache-control", "x-content-type-options"}
        assert {name: value for name, value in answer.fields.items() if name in named} == {
            "content-type": "application/jwk-set+json",
            "cache-control": "public, max-age=60",
            "x-content-type-options": "nosniff",
        }
        assert ask(port, raw_request("POST", PATH)).status == 405


@frameworks
def test_route_answers_head_without_content_at_the_path_it_was_given(framework):
    with framework(PublishedKeys(JWKS), path="/keys/mine.json") as port:
        answer = ask(port, raw_request("HEAD", "/keys/mine.json"))
        assert (answer.status, answer.content) == (200, b"")
        assert int(answer.fields["content-length"]) > len(json.dumps(JWKS))
        assert ask(port, raw_request("GET", PATH)).status == 404


@frameworks
def test_route_serves_a_directory_that_its_keys_sign(framework):
    with framework(PublishedDirectory(PAIR.public, [PAIR.signing_key()], origin=ORIGIN)) as port:
        answer = ask(port, raw_request("GET", PublishedDirectory.path))
        request = Request("GET", ORIGIN + PublishedDirectory.path)
        response = Response(answer.status, answer.fields, answer.content, request=request)
        assert keyids_that_signed(response) == [PAIR.signing_key().keyid]
        assert ask(port, raw_request("POST", PublishedDirectory.path)).status == 405


@pytest.fixture
def behind_tls(tmp_path, key_server_certificate) -> Iterator:
    """A Starlette application served by uvicorn over https at localhost, and the network to reach it."""
    pem = key_server_certificate
    (tmp_path / "jwks.json").write_text(json.dumps(JWKS))
    routes = [
        undersigned_starlette.jwks_route(PublishedKeys(tmp_path / "jwks.json")),
        undersigned_starlette.jwks_route(
            PublishedDirectory(PAIR.public, [PAIR.signing_key()], origin="https://localhost")
        ),
    ]
    app = Starlette(routes=routes)
    tls = ssl.create_default_context(cafile=pem)
    network = Network(allowed=["127.0.0.0/8"], resolve=lambda _host, _port: ["127.0.0.1"], tls=tls, wait_timeout=60)
    with https_server(app, pem) as port:
        yield f"https://localhost:{port}{PATH}", network


def test_our_key_source_reads_what_the_route_publishes(behind_tls):
    url, network = behind_tls
    source = RemoteJWKS(url, network=network)
    assert source.find(lookup())[0].algorithm == KEYS.find(lookup())[0].algorithm


def test_our_bot_is_known_by_the_directory_that_the_route_publishes(behind_tls):
    url, network = behind_tls
    origin = url.removesuffix(PATH)
    profile = WEB_BOT_AUTH_STRING
    request = Request(
        "GET", "https://shop.example/", [("Signature-Agent", write_signature_agent(origin, form="string"))]
    )
    fields = Signer(PAIR.signing_key(), profile=profile).sign(request)
    keys = WebBotAuthKeys(form="string", network=network)
    verified = Verifier(profile, keys=keys, replay=MemoryReplayStore()).verify(
        Request("GET", request.url, [*request.fields, *fields])
    )
    assert verified.signer == origin + PublishedDirectory.path
