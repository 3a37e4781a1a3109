"""What the log says about rejected requests by default, and what a sender can make it say."""

from __future__ import annotations

import asyncio
import logging
from typing import get_args

import pytest
from tests.asgi.service import Service
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of
from tests.keys import KEYS, ORIGIN

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles, wsgi
from undersigned.errors import KeySourceError, Reason, signature_error
from undersigned.explanation import explain_request, parse_pasted_request
from undersigned.reasons import REASONS, UNREAD

PROFILE = profiles.ADCP_3_2


class Failing(Verifier):
    """A verifier that rejects every request for one error."""

    def __init__(self, error) -> None:
        super().__init__(PROFILE, keys=KEYS, replay=MemoryReplayStore())
        self.error = error

    def screen(self, _message):
        raise self.error


def log_rejections(caplog, error, *, times: int = 1, level: int = logging.WARNING) -> list[logging.LogRecord]:
    """The records of a log that hears of one error several times, without the line of the start."""
    app = wsgi.SignatureMiddleware(None, verifier=Failing(error), origins=[ORIGIN])
    signed = Message("/p?a=b", fields=[("Signature", "sig1=:AA==:"), ("Signature-Input", "sig1=()")])
    with caplog.at_level(level, "undersigned"):
        for _ in range(times):
            call_wsgi(app, environ_of(signed, "gunicorn"))
    return caplog.records


def line_of(caplog, error) -> str:
    (record,) = log_rejections(caplog, error)
    return record.getMessage()


def unknown_key():
    error = PROFILE.error("signature_key_unknown", step=7, detail="no key source knows the key ID")
    error.keyid, error.signature_base = "buyer-2027", '"@method": GET\n"x": y'
    return error


def test_line_says_the_code_the_check_the_reason_the_request_the_keyid_and_the_fix(caplog):
    (record,) = log_rejections(caplog, unknown_key())
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        "request rejected: request_signature_key_unknown (key lookup): no key source knows the key ID "
        "(POST /p?(withheld); origin: https://seller.example.com; client: 127.0.0.1; status: 401; "
        "keyid: buyer-2027). "
        "Fix: if you know the sender, its public key must be where keys= looks for it, with the key ID as its kid; "
        "a key that was just published is found within a minute"
    )
    fields = (record.signature_code, record.signature_step, record.signature_keyid, record.signature_detail)
    assert fields == ("request_signature_key_unknown", "key lookup", "buyer-2027", "no key source knows the key ID")


def test_every_reason_has_a_fix():
    assert set(REASONS) == set(get_args(Reason))
    assert all(
        fix.isascii() and fix.isprintable()
        for fix in (*(text for advice in REASONS.values() for text in advice), *(fix for _, fix in UNREAD.values()))
    )


@pytest.mark.parametrize("reason", get_args(Reason))
def test_no_rejection_is_an_error_or_more_than_one_line(caplog, reason):
    error = signature_error(reason, reason, step=10, detail="one\nline\x1b[31m", received="Host a\r\nforged")
    error.keyid = "k\nforged"
    (record,) = log_rejections(caplog, error)
    assert record.levelname == "WARNING"
    assert record.getMessage().isprintable()
    assert record.getMessage().endswith(REASONS[reason].operator)


def test_text_of_the_sender_is_cut_in_the_line(caplog):
    error = PROFILE.error("target_uri_malformed", step=10, detail="short", received="x" * 9000)
    assert len(line_of(caplog, error)) < 700


@pytest.mark.parametrize(
    "query",
    [
        "x=1&access_token=hidden",
        "x=1#access_token=hidden",
        "x=1&%61ccess%5Ftoken=hidden",
        "next=https://b/%3Ftoken%3Dhidden",
        "next=https%253A%252F%252Fb%252F%253Fx%253D1%2526token%253Dhidden",
        "a=1;jwt=hidden",
    ],
)
def test_credential_in_the_query_of_a_rejected_target_is_withheld(caplog, query):
    received = f"Host a, request target /p?{query}"
    error = PROFILE.error("target_uri_malformed", step=10, detail="short", received=received)
    line = line_of(caplog, error)
    assert "=(withheld)" in line
    error.signature_base = '"@target-uri": https://a/p?api-key=hidden&y=2'
    assert "https://a/p?api-key=(withheld)&y=2" in error.explain()
    assert "hidden" not in line + error.explain()


@pytest.mark.parametrize(
    "name", ["X-Amz-Signature", "X-Goog-Signature", "x_signature", "Signature", "sig", "%73ig", "key"]
)
def test_signature_of_a_presigned_url_is_withheld(caplog, name):
    received = f"Host a, request target /p?design=1&{name}=hidden"
    error = PROFILE.error("target_uri_malformed", step=10, detail="short", received=received)
    error.signature_base = f'"@target-uri": https://a/p?{name}=hidden&y=2\n"signature";key="a": :shown:'
    line = line_of(caplog, error)
    assert f"/p?design=1&{name}=(withheld)" in line
    assert "hidden" not in line + error.explain()
    assert '"signature";key="a": :shown:' in error.explain()
    error.signature_base = f'"@query-param";req;name="{name}": hidden\n"@query-param";name="design": sig'
    assert error.explain().endswith(
        f'"@query-param";req;name="{name}": (withheld)\n  "@query-param";name="design": sig'
    )


def test_code_of_an_application_has_a_line_without_a_fix(caplog):
    error = unknown_key()
    error.reason = None
    (record,) = log_rejections(caplog, error)
    assert record.getMessage().endswith("; keyid: buyer-2027)")


def test_evidence_follows_at_info(caplog):
    line, evidence = log_rejections(caplog, unknown_key(), level=logging.INFO)
    assert (line.levelname, evidence.levelname) == ("WARNING", "INFO")
    assert evidence.getMessage() == f"evidence: {unknown_key().explain()}"
    assert '\n  "@method": GET\n' in evidence.getMessage()


@pytest.mark.parametrize(
    ("cause", "level"),
    [(ConnectionError("down"), "ERROR"), (KeySourceError("signature_jwks_unavailable", "down"), "WARNING")],
)
def test_only_the_exception_of_a_source_is_an_error_and_shows_its_cause(caplog, cause, level):
    error = PROFILE.error("signature_jwks_unavailable", step=7, detail="it is down")
    error.__cause__ = cause
    records = log_rejections(caplog, error, times=6)
    assert [record.levelname for record in records] == [level] * 6
    assert (records[0].exc_info is not None) == (level == "ERROR")


def test_failing_read_of_a_body_is_not_an_error(caplog):
    error = PROFILE.error("signature_digest_mismatch", step=11, detail="reading the body raised an exception")
    error.__cause__ = OSError("gone")
    (record,) = log_rejections(caplog, error)
    assert (record.levelname, record.exc_info) == ("WARNING", None)


@pytest.mark.parametrize(
    ("root", "options", "named"),
    [("/api", {}, True), ("", {}, False), ("/api", {"server_adds_root_path": True}, False)],
)
def test_root_path_that_a_server_may_add_is_named_with_its_option(root, options, named, party, caplog):
    service = Service(party, **options)
    with caplog.at_level("WARNING", "undersigned"):
        service.get("/api/orders", url=f"{ORIGIN}/elsewhere", root_path=root, path="/api/orders")
    assert ("server_adds_root_path=True" in caplog.messages[-1]) is named
    assert ("Otherwise: set this logger to DEBUG" in caplog.messages[-1]) is named


def test_rejected_request_is_logged_at_debug_as_it_is_explained(party, caplog):
    fields = party.fields("POST", "/p?token=a", b'{"a": 1}', extra=[("Authorization", "Bearer s3cr3t")])
    pasted = logged(party, caplog, Message("/q?token=a", "POST", fields, b'{"a": 1}'))
    assert "s3cr3t" not in caplog.text
    assert not pasted.is_whole
    found = explain_request(pasted.request, PROFILE, KeySet.from_jwks(party.jwks))
    assert found.summary.startswith("No cause found: @target-uri is covered, and its value is withheld in this record")


def test_rejected_request_is_logged_whole_if_it_is_asked_for(party, caplog):
    fields = party.fields("POST", "/p?token=a", b'{"a":1}', extra=[("Authorization", "Bearer s3cr3t")])
    pasted = logged(party, caplog, Message("/p?token=a", "POST", fields, b'{"a": 1}'), log_whole=True)
    assert pasted.request.fields.combined["authorization"] == "Bearer s3cr3t"
    found = explain_request(pasted.request, PROFILE, KeySet.from_jwks(party.jwks))
    assert "the same JSON written compactly" in found.summary


def test_clock_is_judged_as_of_when_the_logged_request_was_received(party, caplog):
    fields = party.fields("GET", "/p", age=7200)
    pasted = logged(party, caplog, Message("/p", "GET", fields))
    keys = KeySet.from_jwks(party.jwks)
    assert explain_request(pasted.request, PROFILE, keys).error is None
    found = explain_request(pasted.request, PROFILE, keys, now=pasted.received_at)
    assert " seconds behind, 2 hours, as when local time is taken for UTC" in found.summary


def logged(party, caplog, message: Message, **options):
    """Return a request as it is read from the log of a middleware that rejects it."""
    service = Service(party, **options)
    with caplog.at_level("DEBUG", "undersigned"):
        asyncio.run(call_asgi(service.app, scope_of(message), message.body))
    return parse_pasted_request("\n".join(f"DEBUG:undersigned:{line}" for line in caplog.messages).encode())
