"""The page of an application in development: its decisions as they are made."""

from __future__ import annotations

import pytest
from tests.drive import Message, call_wsgi, environ_of
from tests.integrations.test_inspector_page import Visitor, serving
from tests.keys import KEY, KEYS

from undersigned import ConfigurationError, MemoryReplayStore, Request, Signer, Verifier, wsgi
from undersigned.profiles import ADCP_3_2
from undersigned_inspector import Inspector
from undersigned_inspector.page import paste

LOCAL = "http://localhost:8000"


def decide(inspector, target="/a", *, signed="/a", origin=LOCAL, fields=(), host=""):
    """Send one request to an application with the inspector."""
    scheme, _, authority = origin.partition("://")
    verifier = Verifier(ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    app = wsgi.SignatureMiddleware(answer, verifier=verifier, origins=[origin], mode="optional", on_decision=inspector)
    lines = [*fields]
    if signed is not None:
        signer = Signer(KEY, profile=ADCP_3_2, components=[name.lower() for name, _ in fields])
        lines += signer.sign(Request("GET", origin + signed, lines))
    lines.append(("Host", host or authority))
    environ = environ_of(Message(target, "GET", lines), "werkzeug")
    call_wsgi(app, {**environ, "wsgi.url_scheme": scheme})


def answer(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


@pytest.fixture
def inspector():
    made = Inspector(most=3)
    yield made
    made.stop()


def shown(inspector, path=""):
    status, _, content = Visitor(inspector.url).ask(path)
    assert status == 200
    return content.decode()


def test_page_is_served_from_the_first_decision_on(inspector, caplog):
    assert inspector.url is None
    decide(inspector)
    decide(inspector, "/b", signed=None)
    assert caplog.text.count(inspector.url) == 1
    page = shown(inspector)
    assert page.index("2. Unsigned: GET /b") < page.index("1. Verified: GET /a")
    assert '<meta http-equiv="refresh"' in page
    assert "Paste a request" in shown(inspector, "paste")


def test_rejection_is_shown_with_its_step_base_and_request(inspector):
    decide(inspector, "/b?access_token=c4nary", fields=[("Authorization", "Bearer c4nary"), ("X-A", "<b>")])
    page = shown(inspector, "1")
    assert "1. Rejected: request_signature_invalid: GET /b" in page
    assert '<li class="failed">target, authority and signature' in page
    assert '<li class="not reached">content digest' in page
    assert "&quot;@target-uri&quot;: http://localhost:8000/b" in page
    assert "&quot;authorization&quot;: (masked)" in page
    assert "<u>&lt;b&gt;</u>" in page
    assert "Canonical form: http://localhost:8000/b" in page
    assert "c4nary" not in page + shown(inspector)


def test_decision_without_a_signature_has_no_checklist(inspector):
    decide(inspector, signed=None)
    page = shown(inspector, "1")
    assert "Checklist" not in page
    assert "Signature base" not in page


def test_request_for_an_unknown_host_is_shown(inspector):
    decide(inspector, host="other.example")
    assert "Received" in shown(inspector, "1")


def test_only_the_last_decisions_are_kept(inspector):
    for number in range(5):
        decide(inspector, f"/{number}", signed=None)
    assert shown(inspector).count("<li ") == 3
    visitor = Visitor(inspector.url)
    assert [visitor.ask(str(number))[0] for number in (2, 3, 5, 6)] == [404, 200, 200, 404]


def test_form_is_explained_beside_the_decisions(inspector):
    decide(inspector)
    assert "line 1 is not a request line" in Visitor(inspector.url).paste("paste", request="nothing")


def test_nothing_is_kept_unless_all_origins_are_local(inspector, caplog):
    for _ in range(2):
        decide(inspector, origin="https://seller.example.com")
    assert inspector.url is None
    assert caplog.text.count("the inspector shows nothing: it is for development") == 1


def test_port_in_use_is_logged(caplog):
    with serving(paste) as visitor:
        decide(Inspector(port=visitor.port))
        assert f"the inspector has no page: port {visitor.port}" in caplog.text


@pytest.mark.parametrize("option", [{"port": -1}, {"port": 65_536}, {"most": 0}])
def test_wrong_option_is_rejected(option):
    with pytest.raises(ConfigurationError, match=next(iter(option))):
        Inspector(**option)
