"""How an application finds or requires the signature that a middleware published."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of
from tests.keys import ORIGIN

from undersigned import ConfigurationError, SignatureError, asgi, profiles, wsgi


def asgi_scope(fields, verifier) -> dict:
    """The scope that the ASGI middleware forwards."""
    forwarded = []

    async def app(scope, _receive, _send) -> None:
        forwarded.append(scope)

    middleware = asgi.SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN], mode="optional")
    asyncio.run(call_asgi(middleware, scope_of(Message("/p", "GET", fields))))
    return forwarded[0]


def wsgi_environ(fields, verifier) -> dict:
    """The environ that the WSGI middleware forwards."""
    forwarded = []

    def app(environ, _start_response) -> list[bytes]:
        forwarded.append(environ)
        return []

    middleware = wsgi.SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN], mode="optional")
    call_wsgi(middleware, environ_of(Message("/p", "GET", fields), "gunicorn"))
    return forwarded[0]


both = pytest.mark.parametrize(("interface", "publish"), [(asgi, asgi_scope), (wsgi, wsgi_environ)])


@both
def test_application_finds_the_signature_of_a_signed_request(interface, publish, party):
    published = publish(party.fields("GET", f"{ORIGIN}/p"), party.verifier())
    signature = interface.find_signature(published)
    assert signature.keyid == "buyer-2026"
    assert interface.verified_signature(published) is signature


@both
def test_requiring_a_missing_signature_raises_and_logs_the_code_of_the_profile(interface, publish, party, caplog):
    published = publish([], party.verifier(profile=profiles.ADCP_WEBHOOK))
    assert interface.find_signature(published) is None
    with caplog.at_level(logging.INFO, "undersigned"), pytest.raises(SignatureError) as caught:
        interface.verified_signature(published)
    assert str(caught.value) == "webhook_signature_required"
    assert "webhook_signature_required (presence of a signature): the route requires a signature" in caplog.text


@pytest.mark.parametrize(
    ("interface", "published"),
    [
        (asgi, {}),
        (asgi, {asgi.ADMISSION: "mallory"}),
        (wsgi, {}),
        (wsgi, {wsgi.ADMISSION: "mallory"}),
    ],
)
@pytest.mark.parametrize("function", ["find_signature", "verified_signature"])
def test_request_without_middleware_is_neither_signed_nor_unsigned(interface, published, function):
    with pytest.raises(ConfigurationError, match="put SignatureMiddleware outside the application"):
        getattr(interface, function)(published)
