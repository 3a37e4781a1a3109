"""The inspector of both middlewares: what it keeps of each decision, what it masks, and when it is rejected."""

from __future__ import annotations

import logging
import threading

import flask
import pytest
from sanic import Sanic
from starlette.testclient import TestClient
from tornado.web import Application
from werkzeug.test import Client

import undersigned_aiohttp
import undersigned_flask
import undersigned_sanic
import undersigned_tornado
from undersigned import ConfigurationError, Decision, Request, Signer, asgi, wsgi
from undersigned.limits import LONGEST_INSPECTED
from undersigned.middleware import Inspector
from undersigned.profiles import ADCP_3_2
from undersigned_django.settings import options as undersigned_django_options

ORIGIN = "http://localhost:8000"
HOST = ("Host", "localhost:8000")
KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])


async def asgi_app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def wsgi_app(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


def send(kind, party, inspector, method="GET", target="/p", fields=(), **options):
    """Send a request to an application on loopback, and return the status of the answer."""
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "inspector": inspector, **options}
    if kind == "asgi":
        client = TestClient(asgi.SignatureMiddleware(asgi_app, **options), base_url=ORIGIN)
        return client.request(method, target, headers=dict(fields)).status_code
    client = Client(wsgi.SignatureMiddleware(wsgi_app, **options), use_cookies=False)
    return client.open(target, method=method, base_url=ORIGIN, headers=list(fields)).status_code


def sign(party, target="/p", fields=(), **options):
    signer = Signer(party.key, profile=ADCP_3_2, **options)
    return [*fields, *signer.sign(Request("GET", ORIGIN + target, [HOST, *fields]))]


@KINDS
def test_verified_request_is_kept_with_its_base_and_fields(kind, party):
    inspector = Inspector()
    fields = sign(party, "/a%2Fb?x=1")
    assert send(kind, party, inspector, target="/a%2Fb?x=1", fields=fields) == 200
    (kept,) = inspector.after(0)
    assert (kept.number, kept.decision.outcome, kept.url) == (1, "verified", f"{ORIGIN}/a%2Fb?x=1")
    assert f'"@target-uri": {ORIGIN}/a%2Fb?x=1' in kept.base.split("\n")
    assert dict(kept.fields)["signature-input"] == dict(fields)["Signature-Input"]


@KINDS
def test_rejected_request_is_kept_with_its_step_and_base(kind, party):
    inspector = Inspector()
    assert send(kind, party, inspector, target="/other", fields=sign(party)) == 401
    (kept,) = inspector.after(0)
    assert (kept.decision.outcome, kept.decision.step, kept.url) == ("rejected", 10, f"{ORIGIN}/other")
    assert f'"@target-uri": {ORIGIN}/other' in kept.base.split("\n")
    assert kept.detail


@KINDS
def test_request_for_another_origin_is_kept_with_its_target(kind, party):
    inspector = Inspector()
    assert send(kind, party, inspector, fields=sign(party), origins=["http://127.0.0.2:9"]) == 401
    (kept,) = inspector.after(0)
    assert (kept.decision.code, kept.url, kept.base) == ("request_target_uri_malformed", "/p", None)
    assert "Host localhost:8000, request target /p" in kept.received


@KINDS
def test_unsigned_request_is_kept_with_its_target(kind, party):
    inspector = Inspector()
    assert send(kind, party, inspector, target="/p?x=1", mode="optional") == 200
    (kept,) = inspector.after(0)
    assert (kept.decision.outcome, kept.url, kept.base, kept.detail) == ("unsigned", "/p?x=1", None, None)


@KINDS
def test_request_with_too_many_fields_is_kept_without_them(kind, party):
    inspector = Inspector()
    assert send(kind, party, inspector, fields=[(f"x-{at}", "v") for at in range(200)]) == 431
    (kept,) = inspector.after(0)
    assert (kept.decision.code, kept.fields) == ("request_header_fields_too_large", ())


@KINDS
def test_credentials_are_masked_in_fields_base_and_target(kind, party):
    inspector = Inspector()
    secret = "c4nary"
    given = [("Authorization", f"Bearer {secret}"), ("Cookie", f"a={secret}"), ("X-Api-Key", secret), ("X-Kept", "k")]
    target = f"/p?access_token={secret}&client_secret={secret}&x=1"
    covered = ["authorization", "cookie", "x-api-key"]
    for path in (target, target + "&changed"):
        send(kind, party, inspector, target=path, fields=sign(party, target, given, components=covered))
    verified, rejected = inspector.after(0)
    assert (verified.decision.outcome, rejected.decision.step) == ("verified", 10)
    for kept in (verified, rejected):
        assert secret not in repr(kept)
        assert '"authorization": (masked)' in kept.base.split("\n")
        assert "access_token=(masked)&client_secret=(masked)&x=1" in kept.url
        assert dict(kept.fields)["x-kept"] == "k"


def test_texts_of_the_sender_are_escaped_and_truncated(party):
    inspector = Inspector()
    fields = [("X-A", "\x7f<script>"), ("X-B", "b" * (LONGEST_INSPECTED + 1))]
    send("asgi", party, inspector, fields=[(name, value.encode("latin-1")) for name, value in fields], mode="optional")
    (kept,) = inspector.after(0)
    assert dict(kept.fields)["x-a"] == "\\x7f<script>"
    assert dict(kept.fields)["x-b"] == "b" * LONGEST_INSPECTED + f"... ({LONGEST_INSPECTED + 1} characters)"


def test_only_the_last_decisions_are_kept():
    inspector = Inspector(most=2)
    for seconds in (1.0, 2.0, 3.0):
        inspector.record(Decision(outcome="unsigned", profile="p", seconds=seconds))
    assert [(one.number, one.decision.seconds) for one in inspector.after(0)] == [(2, 2.0), (3, 3.0)]
    assert [one.number for one in inspector.after(2)] == [3]
    assert repr(inspector) == "<Inspector: 2 decisions>"


def test_decisions_of_several_threads_are_numbered_once_each():
    inspector = Inspector(most=400)
    decision = Decision(outcome="unsigned", profile="p", seconds=0.0)
    threads = [threading.Thread(target=lambda: [inspector.record(decision) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.number for one in inspector.after(0)] == list(range(1, 201))


@pytest.mark.parametrize("most", [0, -1, True, "200"])
def test_wrong_number_of_decisions_is_rejected(most):
    with pytest.raises(ConfigurationError, match=r"^most"):
        Inspector(most=most)


@KINDS
def test_rejection_by_a_route_is_kept_with_its_reason(kind, party):
    inspector = Inspector()
    verifier = party.verifier()
    if kind == "asgi":

        async def app(scope, _receive, send):
            with pytest.raises(Exception, match="signature_required"):
                asgi.required_signature(scope, route="/r")
            await asgi_app(scope, _receive, send)

        TestClient(
            asgi.SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN], mode="optional", inspector=inspector),
            base_url=ORIGIN,
        ).get("/r")
    else:
        app = flask.Flask("app")
        app.add_url_rule("/r", view_func=undersigned_flask.signature_required(lambda: "ok"))
        undersigned_flask.Undersigned(app, verifier=verifier, origins=[ORIGIN], mode="optional", inspector=inspector)
        app.test_client().get("/r", base_url=ORIGIN)
    unsigned, rejected = inspector.after(0)
    assert (unsigned.decision.outcome, rejected.decision.outcome, rejected.url) == ("unsigned", "rejected", "")
    assert (rejected.decision.route, rejected.detail) == ("/r", "the route requires a signature; the request has none")


@KINDS
def test_exception_of_the_inspector_does_not_change_the_answer(kind, party, caplog):
    class Broken(Inspector):
        def record(self, *_evidence):
            raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR, "undersigned"):
        assert send(kind, party, Broken(), fields=sign(party)) == 200
    assert "inspector raised an exception" in caplog.text


@KINDS
def test_on_decision_and_inspector_both_get_a_decision(kind, party):
    inspector, decisions = Inspector(), []
    send(kind, party, inspector, fields=sign(party), on_decision=decisions.append)
    assert [one.decision for one in inspector.after(0)] == decisions


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware], ids=["asgi", "wsgi"])
@pytest.mark.parametrize(
    "origins",
    [
        ["https://seller.example.com"],
        ["http://localhost:8000", "https://seller.example.com"],
        ["http://localhost:8000", "https://*.example.com"],
        ["http://192.168.0.1"],
        ["http://localhost.example"],
        ["http://127.1"],
        lambda authority: f"http://{authority}",
    ],
    ids=["public", "one public", "pattern", "private address", "lookalike", "no address", "function"],
)
def test_inspector_is_rejected_at_construction_unless_all_origins_are_loopback(party, middleware, origins):
    with pytest.raises(ConfigurationError, match=r"^inspector: it is for development"):
        middleware(lambda *_: None, verifier=party.verifier(), origins=origins, inspector=Inspector())


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware], ids=["asgi", "wsgi"])
def test_inspector_of_another_type_is_rejected_by_name(party, middleware):
    with pytest.raises(ConfigurationError, match=r"^inspector: pass an Inspector"):
        middleware(lambda *_: None, verifier=party.verifier(), origins=[ORIGIN], inspector=Inspector)


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:8000", "http://127.0.0.1:5000", "http://127.0.0.2", "http://[::1]:8000", "https://a.localhost"],
)
def test_inspector_is_accepted_for_loopback_origins(party, origin):
    asgi.SignatureMiddleware(asgi_app, verifier=party.verifier(), origins=[origin], inspector=Inspector())


def test_django_setting_is_an_option_of_the_middleware(party):
    inspector = Inspector()
    chosen = {"VERIFIER": party.verifier(), "ORIGINS": [ORIGIN], "INSPECTOR": inspector}
    assert [undersigned_django_options(chosen, asgi=asgi)["inspector"] for asgi in (True, False)] == [inspector] * 2


@pytest.mark.parametrize(
    "wrap",
    [
        undersigned_aiohttp.signature_middleware,
        lambda **options: undersigned_tornado.SignatureMiddleware(Application(), **options),
        lambda **options: undersigned_sanic.verify_signatures(Sanic("inspected"), **options),
        lambda **options: undersigned_flask.Undersigned(flask.Flask("inspected"), **options),
    ],
    ids=["aiohttp", "tornado", "sanic", "flask"],
)
def test_integration_passes_the_inspector_to_the_middleware(party, wrap):
    with pytest.raises(ConfigurationError, match="inspector"):
        wrap(verifier=party.verifier(), origins=["https://seller.example.com"], inspector=Inspector())
