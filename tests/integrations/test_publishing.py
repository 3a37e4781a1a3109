"""The routes that publish keys, each on a real server."""

from __future__ import annotations

import contextlib
import json
from functools import partial

import pytest
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from tests.integrations.django_site import site
from tests.keys import JWKS, verifier
from tests.publishing.signed import keyids_that_signed
from tests.serving import gunicorn_server, uvicorn_server, waitress_server
from tests.wire import ask, raw_request

import undersigned_django
import undersigned_fastapi
import undersigned_flask
import undersigned_starlette
from undersigned import KeyPair, Request
from undersigned.message import Response
from undersigned.publishing import PublishedDirectory, PublishedKeys

PATH = "/.well-known/jwks.json"
PAIR = KeyPair.generate()
ORIGIN = "https://bot.example"


def starlette(published, path=None):
    return uvicorn_server(Starlette(routes=[undersigned_starlette.jwks_route(published, path)]))


def fastapi(published, path=None):
    app = FastAPI()
    app.routes.append(undersigned_fastapi.jwks_route(published, path))
    return uvicorn_server(app, http="httptools")


def flask(published, path=None):
    app = Flask(__name__)
    app.register_blueprint(undersigned_flask.jwks_route(published, path))
    return waitress_server(app)


@contextlib.contextmanager
def django(published, path=None, *, serve=gunicorn_server, make=get_wsgi_application):
    urls = type("urls", (), {"urlpatterns": [undersigned_django.jwks_route(published, path)]})
    with site(verifier()), override_settings(ROOT_URLCONF=urls), serve(make()) as port:
        yield port


SERVED = {
    "starlette": starlette,
    "fastapi": fastapi,
    "flask": flask,
    "django": django,
    "django over ASGI": partial(django, serve=uvicorn_server, make=get_asgi_application),
}
frameworks = pytest.mark.parametrize("framework", SERVED.values(), ids=SERVED)


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
