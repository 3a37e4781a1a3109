"""Buyers: HTTP clients that sign requests and send them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Protocol, cast

import httpx
import requests

import undersigned_httpx
import undersigned_requests
from undersigned import Request

from .attempts import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned import Signer

TIMEOUT = 5.0
"""The time limit for an answer, in seconds."""

_CHALLENGE = re.compile(r'Signature error="([a-z_]+)"')


class Buyer(Protocol):
    """An HTTP client library."""

    @property
    def name(self) -> str:
        """The name of the library."""
        ...

    def sign(self, request: Request, signer: Signer, origin: str) -> Request:
        """Return `request` as the library would send it to `origin`, signed by its integration."""
        ...

    def send(self, request: Request) -> Answer:
        """Send `request` unchanged. If there is no answer, the status of the answer is 0."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class RequestsBuyer:
    """The library requests."""

    name = "requests"

    def __init__(self) -> None:
        self._session = requests.Session()
        # Otherwise a proxy of the environment would also get the requests to loopback addresses.
        self._session.trust_env = False

    def sign(self, request: Request, signer: Signer, origin: str) -> Request:
        """Return the request that a session sends with `auth=SignatureAuth(...)`."""
        auth = undersigned_requests.SignatureAuth(signer, origins=[origin])
        sent = self._session.prepare_request(
            requests.Request(request.method, request.url, dict(request.fields), data=request.body, auth=auth)
        )
        fields = [(str(name), str(value)) for name, value in sent.headers.items()]
        return Request(sent.method or "", sent.url or "", fields, cast("bytes | str | None", sent.body))

    def send(self, request: Request) -> Answer:
        """Send `request` without an auth hook."""
        sent = requests.Request(request.method, request.url, dict(request.fields), data=request.body)
        try:
            response = self._session.send(
                self._session.prepare_request(sent), timeout=TIMEOUT, allow_redirects=False, proxies={}
            )
        except requests.RequestException as failure:
            return _no_answer(failure)
        return read_answer(response.status_code, response.headers, response.content)

    def close(self) -> None:
        """Close the session."""
        self._session.close()


class HTTPXBuyer:
    """The library httpx."""

    name = "httpx"

    def __init__(self) -> None:
        self._client = httpx.Client(trust_env=False, timeout=TIMEOUT, follow_redirects=False)

    def sign(self, request: Request, signer: Signer, origin: str) -> Request:
        """Return the request that a client sends with `auth=SignatureAuth(...)`."""
        auth = undersigned_httpx.SignatureAuth(signer, origins=[origin])
        flow = auth.sync_auth_flow(self._request(request))
        sent = next(flow)
        flow.close()
        return Request(sent.method, str(sent.url), sent.headers.multi_items(), sent.read())

    def send(self, request: Request) -> Answer:
        """Send `request` without an auth hook."""
        try:
            response = self._client.send(self._request(request), auth=None)
        except httpx.TransportError as failure:
            return _no_answer(failure)
        return read_answer(response.status_code, response.headers, response.content)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _request(self, request: Request) -> httpx.Request:
        return self._client.build_request(
            request.method, request.url, headers=list(request.fields), content=request.body or None
        )


def read_answer(status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """Return the answer of a response: the code of its challenge, or the request target that was verified."""
    challenge = _CHALLENGE.fullmatch(headers.get("WWW-Authenticate", ""))
    if challenge is not None:
        return Answer(status, challenge[1])
    try:
        members = cast("Mapping[str, object]", json.loads(content))
        return Answer(status, f"verified {members['verified']}")
    except (KeyError, TypeError, ValueError):
        return Answer(status, "not an answer of the demo applications")


def _no_answer(failure: Exception) -> Answer:
    return Answer(0, f"no answer: {type(failure).__name__}")
