"""What a view without a requirement can ask for: the signature of its request, or None."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import path
from flask import Flask
from flask import request as flask_request
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.integrations.django_site import site
from tests.integrations.every_framework import optional
from tests.keys import HOST, KEYID, ORIGIN

import undersigned_django
import undersigned_flask
import undersigned_starlette


def keyid(signature) -> str:
    return "unsigned" if signature is None else signature.keyid


def ask_django(party, fields) -> str:
    def view(request) -> HttpResponse:
        return HttpResponse(keyid(undersigned_django.find_signature(request)))

    urls = type("urls", (), {"urlpatterns": [path("p", view)]})
    with site(party.verifier(), RECONSTRUCT=True), override_settings(ROOT_URLCONF=urls):
        return Client().get("/p", headers={**fields, "Host": HOST}, secure=True).content.decode()


def ask_flask(party, fields) -> str:
    app = Flask(__name__)
    undersigned_flask.Undersigned(app, reconstruct=True, **optional(party))

    @app.get("/p")
    def view() -> str:
        return keyid(undersigned_flask.find_signature(flask_request))

    return app.test_client().get("/p", base_url=ORIGIN, headers=fields).text


def ask_starlette(party, fields) -> str:
    async def view(request) -> PlainTextResponse:
        return PlainTextResponse(keyid(undersigned_starlette.find_signature(request)))

    app = undersigned_starlette.SignatureMiddleware(Starlette(routes=[Route("/p", view)]), **optional(party))
    return TestClient(app, base_url=ORIGIN).get("/p", headers=fields).text


@pytest.mark.parametrize("asked", [ask_django, ask_flask, ask_starlette])
def test_view_finds_the_signature_or_none(asked, party):
    assert asked(party, dict(party.fields("GET", "/p"))) == KEYID
    assert asked(party, {}) == "unsigned"


def test_django_view_that_asks_for_a_missing_signature_is_answered_401_and_other_errors_are_its_own(party):
    def view(request) -> HttpResponse:
        return HttpResponse(undersigned_django.verified_signature(request).keyid)

    def broken(_request) -> HttpResponse:
        raise ValueError("broken")

    urls = type("urls", (), {"urlpatterns": [path("p", view), path("broken", broken)]})
    with site(party.verifier(), RECONSTRUCT=True), override_settings(ROOT_URLCONF=urls):
        assert Client().get("/p", headers={"Host": HOST}, secure=True).status_code == 401
        with pytest.raises(ValueError, match="broken"):
            Client().get("/broken", headers={"Host": HOST}, secure=True)
