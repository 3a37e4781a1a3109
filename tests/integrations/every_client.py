"""Every client with a hook: `send` sends one request by a session of its own, and returns the status and the text."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
import requests
from tests.integrations.clients import LIBRARIES, Means
from tests.seller import make_signer

from undersigned_aiohttp import SigningMiddleware
from undersigned_requests import SignatureAdapter

TYPE = {"Content-Type": "application/json"}


class WithHttpx:
    """httpx and httpx2, sync and async."""

    def __init__(self, *which) -> None:
        self._means = Means(*which)
        self.asynchronous = self._means.asynchronous
        self.sends_files = not self.asynchronous

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
        self.headers, self.cookies = response.headers, dict(response.cookies)
        self.signature = response.extensions.get("signature")
        return response.status_code, response.text


class WithRequests:
    asynchronous, sends_files = False, True

    def __init__(self, *, stream) -> None:
        self._stream = stream

    def __str__(self) -> str:
        return "requests, streamed" if self._stream else "requests"

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        adapter = SignatureAdapter(signer or make_signer(), **{"origins": [server.origin], **signing})
        with requests.Session() as session:
            session.mount("http://", adapter)
            response = session.request(
                method,
                server.origin + path,
                data=body,
                headers=fields,
                stream=self._stream,
                allow_redirects=True,
                timeout=10,
            )
            if path == "/cookie":
                assert session.cookies.get_dict() == {"a": "1"}
            self.headers, self.cookies = response.headers, session.cookies.get_dict()
            self.signature = vars(response).get("signature")
            return response.status_code, b"".join(response.iter_content(4)).decode()


class WithAiohttp:
    asynchronous, sends_files = True, True

    def __init__(self, *, stream) -> None:
        self._stream = stream

    def __str__(self) -> str:
        return "aiohttp, streamed" if self._stream else "aiohttp"

    def send(self, server, path, *, method="GET", signer=None, body=None, fields=TYPE, **signing):
        signing = SigningMiddleware(signer or make_signer(), **{"origins": [server.origin], **signing})

        async def send():
            async with (
                aiohttp.ClientSession(middlewares=[signing], cookie_jar=aiohttp.CookieJar(unsafe=True)) as session,
                session.request(
                    method, server.origin + path, data=body, headers=fields, allow_redirects=True
                ) as response,
            ):
                self.headers = response.headers
                assert [name.decode().lower() for name, _ in response.raw_headers] == [
                    *map(str.lower, response.headers)
                ]
                self.cookies = {one.key: one.value for one in session.cookie_jar}
                assert self.cookies == {name: one.value for name, one in response.cookies.items()}
                self.signature = vars(response).get("signature")
                if self._stream:
                    return response.status, b"".join([chunk async for chunk in response.content]).decode()
                return response.status, await response.text()

        return asyncio.run(send())


HTTPX = [WithHttpx(library, asynchronous) for library in LIBRARIES for asynchronous in (False, True)]
CLIENTS = [
    *HTTPX, WithRequests(stream=False), WithRequests(stream=True), WithAiohttp(stream=False),
    WithAiohttp(stream=True),
]  # fmt: skip
EVERY = pytest.mark.parametrize("client", CLIENTS, ids=str)
