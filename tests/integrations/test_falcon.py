"""Falcon asks the policy about its sinks and static routes, and a guarded class has no open responder."""

from __future__ import annotations

import asyncio

import falcon
import falcon.asgi
import pytest
from falcon.testing import create_req
from tests.drive import Message, call_asgi, call_wsgi, scope_of
from tests.integrations.routes import environ_of
from tests.keys import ORIGINS, verifier

from undersigned import Policy
from undersigned.testing import put_signature
from undersigned_falcon import RouteResolver, SignatureMiddleware, SignatureRequired, signature_required


def options(*required, runs) -> dict:
    """Return the options of a middleware that requires a signature for these operations."""
    resolver = RouteResolver({runs: "sink", "static_files": "files"})
    return {
        "verifier": verifier(),
        "origins": ORIGINS,
        "policy": Policy(required_for=required, resolver=resolver),
    }


def sink(_request, response, **_found) -> None:
    response.text = "sunk"


async def async_sink(_request, response, **_found) -> None:
    response.text = "sunk"


def statuses(required: str, directory) -> list[tuple[int, int]]:
    """Return what a WSGI and an ASGI application answer for a sink and for a file, unsigned."""
    (directory / "file").write_text("x")
    found = []
    for app, runs in ((falcon.App(), sink), (falcon.asgi.App(), async_sink)):
        app.add_sink(runs, "/sink")
        app.add_static_route("/files", directory)
        guarded = SignatureMiddleware(app, **options(required, runs=runs))
        if runs is sink:
            answers = [call_wsgi(guarded, environ_of("GET", path)).status for path in ("/sink", "/files/file")]
        else:
            scopes = [scope_of(Message(path, "GET", ())) for path in ("/sink", "/files/file")]
            answers = [asyncio.run(call_asgi(guarded, scope)).sent[0]["status"] for scope in scopes]
        found.append(tuple(answers))
    return found


def test_policy_decides_about_a_sink(tmp_path):
    assert statuses("sink", tmp_path) == [(401, 200)] * 2


def test_policy_decides_about_a_static_route(tmp_path):
    assert statuses("files", tmp_path) == [(200, 401)] * 2


@pytest.mark.parametrize("name", ["on_get", "on_get_item", "on_request", "on_request_item", "on_websocket"])
def test_every_responder_of_a_guarded_class_is_guarded(name):
    resource = signature_required(type("Plans", (), {name: sink, "on_sale": "everything"}))()
    with pytest.raises(SignatureRequired):
        getattr(resource, name)(put_signature(create_req(), None), falcon.Response())
