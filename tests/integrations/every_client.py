"""Every client with a hook: `send` sends one request by a session of its own, and returns the status and the text."""

from __future__ import annotations

import asyncio
import urllib.error
from http.cookiejar import CookieJar
from urllib.request import HTTPCookieProcessor, build_opener
from urllib.request import Request as UrllibRequest

import aiohttp
import pytest
import requests
from tests.integrations.clients import LIBRARIES, Means
from tests.integrations.seller import make_signer

from undersigned_aiohttp import SigningMiddleware
from undersigned_requests import SignatureAuth as RequestsAuth
from undersigned_urllib import SignatureHandler

TYPE = {"Content-Type": "application/json"}


class WithHttpx:
    """httpx and httpx2, by the auth and the transport, sync and async."""

    def __init__(self, *which) -> None:
        self._means = Means(*which)
        self.follows = self._means.transport

    def __str__(self) -> str:
        return str(self._means)

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        response = self._means.send(
            method,
            server.origin + path,
            signer=signer or make_signer(),
            origins=[server.origin],
            signing=signing,
            options={"follow_redirects": True, "trust_env": False},
            headers=fields,
            content=body,
        )
        return response.status_code, response.text


class WithRequests:
    follows = True

    def __init__(self, *, stream) -> None:
        self._stream = stream

    def __str__(self) -> str:
        return "requests, streamed" if self._stream else "requests"

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        auth = RequestsAuth(signer or make_signer(), origins=[server.origin], **signing)
        with requests.Session() as session:
            response = session.request(
                method,
                server.origin + path,
                data=body,
                headers=fields,
                auth=auth,
                stream=self._stream,
                allow_redirects=True,
                timeout=10,
            )
            if path == "/cookie":
                assert session.cookies.get_dict() == {"a": "1", "b": "2"}
            return response.status_code, b"".join(response.iter_content(4)).decode()


class WithUrllib:
    follows = True

    def __str__(self) -> str:
        return "urllib"

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        jar = CookieJar()
        handler = SignatureHandler(signer or make_signer(), origins=[server.origin], **signing)
        opener = build_opener(HTTPCookieProcessor(jar), handler)
        try:
            request = UrllibRequest(server.origin + path, body, dict(fields), method=method)  # noqa: S310 - our own
            with opener.open(request, timeout=10) as response:
                if path == "/cookie":
                    assert {cookie.name for cookie in jar} == {"a", "b"}
                return response.status, (response.read(4) + response.read()).decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


class WithAiohttp:
    follows = True

    def __init__(self, *, stream) -> None:
        self._stream = stream

    def __str__(self) -> str:
        return "aiohttp, streamed" if self._stream else "aiohttp"

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        signing = SigningMiddleware(signer or make_signer(), origins=[server.origin], **signing)

        async def send():
            async with (
                aiohttp.ClientSession(middlewares=[signing]) as session,
                session.request(
                    method, server.origin + path, data=body, headers=fields, allow_redirects=True
                ) as response,
            ):
                if self._stream:
                    return response.status, b"".join([chunk async for chunk in response.content]).decode()
                return response.status, await response.text()

        return asyncio.run(send())


HTTPX = [
    WithHttpx(library, asynchronous, transport)
    for library in LIBRARIES
    for asynchronous in (False, True)
    for transport in (False, True)
]
CLIENTS = [
    *HTTPX, WithRequests(stream=False), WithRequests(stream=True), WithUrllib(), WithAiohttp(stream=False),
    WithAiohttp(stream=True),
]  # fmt: skip
EVERY = pytest.mark.parametrize("client", CLIENTS, ids=str)
FOLLOWING = pytest.mark.parametrize("client", [client for client in CLIENTS if client.follows], ids=str)
