"""An application reads a covered field as the signature base has it, and other fields as they came."""

from __future__ import annotations

import asyncio

from tests.drive import Message, call_asgi, environ_of, scope_of
from tests.keys import BARE, NOW, ORIGIN, covering, hostile_request

from undersigned import Request, Signer, asgi, profiles, wsgi
from undersigned.signature.rules import CoverageRule

PROFILE = profiles.GNAP.derive(coverage=CoverageRule(if_sent=("x-order",)))


def sent(party, came):
    signer = Signer(party.key, profile=PROFILE)
    signed = signer.sign(Request("GET", f"{ORIGIN}/p", came))
    return Message("/p", "GET", [*came, *signed])


def seen_over_asgi(party, message, **options) -> list[str]:
    """The values of X-Order and X-Note in the scope of the application."""
    seen = []

    async def app(scope, _receive, send):
        seen.extend(value.decode() for name, value in scope["headers"] if name in {b"x-order", b"x-note"})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    app = asgi.SignatureMiddleware(app, verifier=party.verifier(PROFILE, **options), origins=[ORIGIN])
    assert asyncio.run(call_asgi(app, scope_of(message))).status == 200
    return seen


def seen_over_wsgi(party, message) -> list[str]:
    """The same in the environ."""
    seen = []

    def app(environ, start_response):
        seen.extend([environ["HTTP_X_ORDER"], environ["HTTP_X_NOTE"]])
        start_response("200 OK", [])
        return []

    app = wsgi.SignatureMiddleware(app, verifier=party.verifier(PROFILE), origins=[ORIGIN])
    statuses = []
    app(environ_of(message, "gunicorn"), lambda status, _fields: statuses.append(status))
    assert statuses == ["200 OK"]
    return seen


def test_covered_field_is_one_line_without_white_space_at_its_ends(party):
    lines = [("x-order", " a "), ("x-order", "\tb"), ("x-note", " n ")]
    assert seen_over_asgi(party, sent(party, lines)) == ["a, b", " n "]


def test_covered_variable_has_no_white_space_at_its_ends(party):
    assert seen_over_wsgi(party, sent(party, [("x-order", " a "), ("x-note", " n ")])) == ["a", " n "]


def test_field_covered_line_by_line_keeps_its_lines(party):
    lines = [("x-order", " a"), ("x-note", " m "), ("x-note", "n")]
    covered = covering(*BARE, "x-order", '"x-note";bs', keyid='"buyer-2026"', alg=None, tag='"gnap"')
    signed = hostile_request(Request("GET", f"{ORIGIN}/p", lines), covered, key=party.key)
    message = Message("/p", "GET", [*lines, *list(signed.fields)[-2:]])
    assert seen_over_asgi(party, message, clock=lambda: NOW) == ["a", "m", "n"]
