"""A covered field in two lines comes to the view in one, as it was signed: in frameworks with servers of their own."""

from __future__ import annotations

import pytest
from aiohttp import web
from sanic.response import json as json_response
from tests.integrations.every_framework import optional
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server
from tests.wire import ask

from undersigned import Signer, profiles
from undersigned_aiohttp import SignatureMiddleware
from undersigned_sanic import Undersigned

LINES = [("X-Plan", "a"), ("X-Plan", "b")]


def serve_aiohttp(party):
    async def show(request: web.Request) -> web.Response:
        return web.json_response([request.headers.getall("X-Plan"), request.headers.getall("X-Other")])

    app = web.Application(middlewares=[SignatureMiddleware(**optional(party))])
    app.add_routes([web.get("/", show)])
    return aiohttp_server(app)


def serve_sanic(party):
    app = sanic_app()

    @app.get("/")
    async def show(request):
        return json_response([request.headers.getall("X-Plan"), request.headers.getall("X-Other")])

    Undersigned(app, **optional(party))
    return sanic_server(app)


@pytest.mark.parametrize("serve", [serve_aiohttp, serve_sanic])
def test_covered_field_in_two_lines_comes_in_one_and_others_as_they_came(serve, party):
    signer = Signer(party.key, profile=profiles.ADCP_3_2, components=["x-plan"])
    raw = party.raw("GET", "/", extra=[*LINES, ("X-Other", "a"), ("X-Other", "b")], signer=signer)
    with serve(party) as port:
        assert ask(port, raw).json == [["a, b"], ["a", "b"]]
