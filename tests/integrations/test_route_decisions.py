"""Decisions of REST framework: a view that rejects an unsigned request makes one, which names the route."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace

import pytest
from django.test import override_settings
from django.urls import path
from tests.integrations.django_site import (
    APPLICATIONS,
    FIRST,
    Named,
    Never,
    Nobody,
    Plans,
    allowed,
    authenticated,
    site,
)
from tests.keys import BODY, JSON
from tests.serving import uvicorn_server, waitress_server
from tests.wire import ask, raw_request

from undersigned_django import verified_signature
from undersigned_django.rest_framework import IsSigned, SignatureAuthentication

SERVED = {"wsgi": waitress_server, "asgi": uvicorn_server}


@contextlib.contextmanager
def rest(verifier, decisions, view=Plans, interface: str = "wsgi", **options):
    """Serve a view of REST framework."""
    urls = type("urls", (), {"urlpatterns": [path("plans/<str:plan>", view.as_view())]})
    settings = site(verifier, ON_DECISION=decisions.append, middleware=(FIRST,), **options)
    with settings, override_settings(ROOT_URLCONF=urls), SERVED[interface](APPLICATIONS[interface]()) as port:
        yield port


def test_signed_request_whose_caller_rest_framework_does_not_know_makes_a_decision(party, caplog):
    decisions = []
    with (
        caplog.at_level(logging.INFO, "undersigned"),
        rest(party.verifier(), decisions, USER=lambda _signature: None) as port,
    ):
        answer = ask(port, party.raw("POST", "/plans/gold", BODY))
    assert (answer.status, answer.fields.get("accept-signature")) == (401, None)
    verified, rejected = decisions
    assert verified.outcome == "verified"
    assert (rejected.outcome, rejected.method, rejected.route) == ("rejected", "POST", "plans/<str:plan>")
    assert 'UNDERSIGNED["USER"] knows none for this key' in caplog.text


@pytest.mark.parametrize("interface", SERVED)
@pytest.mark.parametrize(
    ("authentication", "permissions", "status", "outcomes"),
    [
        ((), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Named,), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Nobody,), [authenticated & IsSigned], 403, ["unsigned"]),
        ((Nobody,), [allowed & IsSigned], 403, ["unsigned", "rejected"]),
        ((SignatureAuthentication,), [IsSigned], 401, ["unsigned", "rejected"]),
        ((SignatureAuthentication, Named), [IsSigned], 403, ["unsigned", "rejected"]),
        ((Nobody, SignatureAuthentication), [authenticated], 403, ["unsigned", "rejected"]),
        ((SignatureAuthentication, Named), [Never], 403, ["unsigned"]),
        ((Nobody,), [Never], 403, ["unsigned"]),
        ((Named,), [IsSigned | allowed], 200, ["unsigned"]),
    ],
)
def test_rejection_by_a_permission_of_rest_framework_is_one_decision(
    party, interface, authentication, permissions, status, outcomes
):
    class Open(Plans):
        authentication_classes = authentication
        permission_classes = permissions

    decisions = []
    with rest(party.verifier(), decisions, Open, interface) as port:
        answer = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
    assert (answer.status, "accept-signature" in answer.fields) == (status, "rejected" in outcomes)
    assert [told.outcome for told in decisions] == outcomes
    for rejected in decisions[1:]:
        assert (rejected.code, rejected.method, rejected.route) == (
            "request_signature_required",
            "POST",
            "plans/<str:plan>",
        )


@pytest.mark.parametrize("authentication", [(), (SignatureAuthentication,)])
@pytest.mark.parametrize("rejection", [None, lambda answer, _request: answer.with_content(b"shaped", "text/plain")])
def test_view_of_rest_framework_that_reads_the_signature_answers_an_unsigned_request_with_401(
    party, authentication, rejection
):
    class Reading(Plans):
        authentication_classes = authentication
        permission_classes = ()

        def post(self, request, **_plan):
            return verified_signature(request)

    decisions = []
    with rest(party.verifier(), decisions, Reading, REJECTION=rejection) as port:
        answer = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
    assert (answer.status, "www-authenticate" in answer.fields) == (401, True)
    assert answer.content == (b"shaped" if rejection else b'{"detail":"request_signature_required"}')
    assert [(told.outcome, told.status) for told in decisions] == [("unsigned", None), ("rejected", 401)]


def test_permission_of_rest_framework_lets_a_signed_request_pass(party):
    class Signed(Plans):
        permission_classes = (IsSigned,)

    decisions = []
    with rest(party.verifier(), decisions, Signed) as port:
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).status == 200
    assert [decision.outcome for decision in decisions] == ["verified"]


def test_rejection_by_rest_framework_is_shaped_as_every_other_one(party):
    with rest(party.verifier(), [], REJECTION=lambda answer, _request: replace(answer, status=403)) as port:
        assert ask(port, raw_request("POST", "/plans/gold", JSON, BODY)).status == 403
