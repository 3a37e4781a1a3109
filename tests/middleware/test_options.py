"""The options of both middlewares."""

from __future__ import annotations

import functools
import io

import pytest
from fastapi import FastAPI
from flask import Flask
from tests.keys import HOST, ORIGIN

from undersigned import ConfigurationError, Policy, Verifier, asgi, wsgi


async def returns_later(*_given):
    return True


class ReturnsLater:
    async def __call__(self, _given):
        return True


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware], ids=["asgi", "wsgi"])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"origins": []}, "origins"),
        ({"origins": "https://seller.example.com"}, "origins"),
        ({"origins": ["seller.example.com"]}, "origins"),
        ({"origins": ["https://user@seller.example.com"]}, "origins"),
        ({"origins": ["https://seller.example.com/?q"]}, "origins"),
        ({"origins": ["https://a.example", "http://a.example"]}, "origins"),
        ({"mode": "lax"}, "mode"),
        ({"max_body": -1}, "max_body"),
        ({"max_body": True}, "max_body"),
        ({"max_body": "1"}, "max_body"),
        ({"http2_server": "granian"}, "http2_server"),
        ({"http2_server": "mod_wsgi"}, "http2_server"),
        ({"verifier": None}, "verifier"),
        ({"verifier": Verifier}, "verifier"),
        ({"mode": ["required"]}, "mode"),
        ({"mode": {"required"}}, "mode"),
        ({"mode": returns_later}, "mode"),
        ({"http2_server": ["hypercorn"]}, "http2_server"),
        ({"policy": Policy}, "policy"),
        ({"policy": ["create_media_buy"]}, "policy"),
        ({"on_decision": []}, "on_decision"),
        ({"on_decision": returns_later}, "on_decision: the function must not be async"),
        ({"on_decision": ReturnsLater()}, "on_decision: the function must not be async"),
        ({"on_decision": functools.partial(returns_later, 1)}, "on_decision: the function must not be async"),
    ],
)
def test_wrong_option_is_rejected_by_name_at_construction(party, middleware, options, named):
    given = {"verifier": party.verifier(), "origins": [ORIGIN], **options}
    with pytest.raises(ConfigurationError, match=f"^{named}"):
        middleware(lambda *_: None, **given)


def name_of(given) -> str:
    return getattr(given, "__name__", type(given).__name__)


def make(middleware, party, app=lambda *_: None, **options):
    return middleware(app, verifier=party.verifier(), origins=[ORIGIN], **options)


def over_wsgi(app, method, target):
    environ = {"REQUEST_METHOD": method, "PATH_INFO": target, "RAW_URI": target, "SERVER_PROTOCOL": "HTTP/1.1"}
    return app({**environ, "HTTP_HOST": HOST, "wsgi.input": io.BytesIO()}, lambda *_: None)


@pytest.mark.parametrize(
    "app",
    [None, "main:app", 5, Flask("shop"), lambda: None, lambda _scope: None],
    ids=name_of,
)
def test_asgi_middleware_rejects_what_is_not_an_asgi_application(party, app):
    with pytest.raises(ConfigurationError, match=r"^app: pass the ASGI application .* undersigned.wsgi"):
        make(asgi.SignatureMiddleware, party, app)


@pytest.mark.parametrize(
    "app",
    [None, "main:app", FastAPI(), lambda: None, returns_later, ReturnsLater()],
    ids=name_of,
)
def test_wsgi_middleware_rejects_what_is_not_a_wsgi_application(party, app):
    with pytest.raises(ConfigurationError, match=r"^app: pass the WSGI application .* undersigned.asgi"):
        make(wsgi.SignatureMiddleware, party, app)


@pytest.mark.parametrize(
    ("middleware", "app"),
    [
        (asgi.SignatureMiddleware, FastAPI()),
        (asgi.SignatureMiddleware, returns_later),
        (asgi.SignatureMiddleware, max),
        (wsgi.SignatureMiddleware, Flask("shop")),
        (wsgi.SignatureMiddleware, Flask("shop").wsgi_app),
        (wsgi.SignatureMiddleware, print),
    ],
    ids=name_of,
)
def test_application_that_can_be_called_is_accepted(party, middleware, app):
    assert make(middleware, party, app).app == app


@pytest.mark.parametrize(
    ("middleware", "option"),
    [(asgi.SignatureMiddleware, "server_adds_root_path"), (wsgi.SignatureMiddleware, "reconstruct")],
)
def test_flag_that_is_not_true_or_false_is_rejected(party, middleware, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: give True or False"):
        make(middleware, party, **{option: "false"})


@pytest.mark.parametrize("fallback", [returns_later, ReturnsLater()])
def test_async_fallback_is_rejected_over_wsgi_and_accepted_over_asgi(party, fallback):
    policy = Policy(required_for=["create_media_buy"])
    with pytest.raises(ConfigurationError, match=r"^fallback: the function must not be async"):
        make(wsgi.SignatureMiddleware, party, policy=policy, fallback=fallback)
    assert make(asgi.SignatureMiddleware, party, policy=policy, fallback=fallback)


class Later:
    def __await__(self):
        raise AssertionError


@pytest.mark.parametrize("fallback", [lambda _environ: returns_later(), lambda _environ: Later()])
def test_fallback_that_returns_something_to_await_lets_no_request_through_over_wsgi(party, fallback):
    policy = Policy(required_for=["create_media_buy"])
    app = make(wsgi.SignatureMiddleware, party, policy=policy, fallback=fallback)
    with pytest.raises(ConfigurationError, match=r"^fallback: the function must return True or False"):
        over_wsgi(app, "POST", "/adcp/create_media_buy")


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware])
@pytest.mark.parametrize("mode", [lambda _request: "required", "lax", True, None, ["required"]])
def test_mode_that_is_not_one_of_the_three_words_is_rejected(party, middleware, mode):
    with pytest.raises(ConfigurationError, match=r'^mode: use "required", "optional" or "observe"'):
        make(middleware, party, mode=mode)
