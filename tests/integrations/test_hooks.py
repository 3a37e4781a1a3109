"""No hook that users install leads content or a signature to an origin that is not listed, in any client."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import aiohttp
import pytest
import requests
import yarl
from aiohttp_retry import ExponentialRetry, RetryClient
from httpx_retries import Retry, RetryTransport
from requests.auth import AuthBase, HTTPDigestAuth
from requests_toolbelt.auth.guess import GuessAuth
from tenacity import retry, retry_if_result, stop_after_attempt
from tests.integrations.capture import BUSY, OK, capturing, redirect
from tests.integrations.clients import LIBRARIES, TRUST
from tests.seller import make_signer

from undersigned import SigningError
from undersigned_aiohttp import SigningMiddleware
from undersigned_requests import SignatureAdapter, SignatureAuth

TEXT = {"Content-Type": "text/plain"}
SECRET = b"secret"
CHALLENGE = (
    b'HTTP/1.1 401 X\r\nWWW-Authenticate: Digest realm="a", nonce="b", qop="auth"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


def again(send, hook: str):
    """A call that tenacity repeats as long as the answer is 503, if that is the hook; else the call."""
    busy = retry_if_result(lambda answer: getattr(answer, "status_code", getattr(answer, "status", 0)) == 503)
    if hook != "tenacity":
        return send
    return retry(stop=stop_after_attempt(2), retry=busy, retry_error_callback=lambda _state: None)(send)


class Both(AuthBase):
    """Two auths of requests, as people combine them."""

    def __init__(self, *auths) -> None:
        self.auths = [auth for auth in auths if auth is not None]

    def __call__(self, r):
        for auth in self.auths:
            r = auth(r)
        return r


def send_again(response, **options):
    return response.connection.send(response.request, **options) if response.status_code == 503 else None


def send_by_another_session(response, **_options):
    with requests.Session() as session:
        return session.send(response.request, timeout=10) if response.status_code == 503 else None


def follow(response, **_options):
    with requests.Session() as session:
        return next(session.resolve_redirects(response, response.request, timeout=10))


def changed(to: str, *, by_connection: bool = False):
    """Change where a request leads, after it was signed."""

    def change(response, **options):
        if response.status_code != 503:
            return None
        response.request.url = to
        if by_connection:
            return response.connection.send(response.request, **options)
        with requests.Session() as session:
            return session.send(response.request, timeout=10)

    return change


REQUESTS = {
    "digest or basic by toolbelt": lambda _to: GuessAuth("user", "password"),
    "digest": lambda _to: HTTPDigestAuth("user", "password"),
    "tenacity": lambda _to: None,
    "hook that sends again": lambda _to: send_again,
    "hook with another session": lambda _to: send_by_another_session,
    "hook that follows": lambda _to: follow,
    "hook that changes the URL": changed,
    "hook that changes the URL, by the connection": partial(changed, by_connection=True),
}


def by_requests(hook: str, origin: str, to: str, *, by: str) -> None:
    with requests.Session() as session:
        given = REQUESTS[hook](to)
        auth = given if isinstance(given, AuthBase) else None
        options = {} if auth or given is None else {"hooks": {"response": given}}
        if by == "adapter":
            session.mount(origin, SignatureAdapter(make_signer(), origins=[origin]))
        else:
            auth = Both(auth, SignatureAuth(make_signer(), origins=[origin]))
        again(session.post, hook)(f"{origin}/p", data=SECRET, headers=TEXT, auth=auth, timeout=10, **options)


AGAIN = Retry(total=2, backoff_factor=0, allowed_methods=["POST"])
HTTPX = (
    "httpx-retries",
    "digest",
    "auth that sends elsewhere",
    "hook that changes the URL",
    "hook with another client",
    "retry",
)


def retried(transport, hook: str):
    return RetryTransport(transport=transport, retry=AGAIN) if hook == "httpx-retries" else transport


def by_httpx(hook: str, origin: str, to: str, *, by: str) -> None:
    plain, signed = LIBRARIES[by.partition("-")[0]]
    is_async = by.endswith("async")

    class Elsewhere(plain.Auth):
        def auth_flow(self, request):
            yield request
            request.url = plain.URL(to)
            yield request

    def change(request):
        request.url = plain.URL(to)

    def send_elsewhere(response):
        response.request.url = plain.URL(to)
        with plain.Client(verify=TRUST) as another:
            another.send(response.request)

    async def change_async(request):
        change(request)

    async def send_elsewhere_async(response):
        response.request.url = plain.URL(to)
        async with plain.AsyncClient(verify=TRUST) as another:
            await another.send(response.request)

    options = {
        "digest": {"auth": plain.DigestAuth("user", "password")},
        "auth that sends elsewhere": {"auth": Elsewhere()},
        "hook that changes the URL": {"event_hooks": {"request": [change_async if is_async else change]}},
        "hook with another client": {
            "event_hooks": {"response": [send_elsewhere_async if is_async else send_elsewhere]}
        },
    }.get(hook, {}) | {"follow_redirects": True, "trust_env": False}  # fmt: skip

    async def send_async() -> None:
        transport = signed.AsyncSignatureTransport(
            plain.AsyncHTTPTransport(verify=TRUST), make_signer(), origins=[origin]
        )
        async with plain.AsyncClient(transport=retried(transport, hook), **options) as client:
            for _ in range(2):
                await again(client.post, hook)(f"{origin}/p", content=SECRET, headers=TEXT)

    def send() -> None:
        transport = signed.SignatureTransport(plain.HTTPTransport(verify=TRUST), make_signer(), origins=[origin])
        with plain.Client(transport=retried(transport, hook), **options) as client:
            for _ in range(2):
                again(client.post, hook)(f"{origin}/p", content=SECRET, headers=TEXT)

    asyncio.run(send_async()) if is_async else send()


AIOHTTP = (
    "aiohttp-retry",
    "digest",
    "middleware that changes the URL",
    "middleware inside that changes it",
    "retry",
    "trace",
)


def by_aiohttp(hook: str, origin: str, to: str, **_by) -> None:
    async def change(request, handler):
        request.url = yarl.URL(to)
        return await handler(request)

    async def retry(request, handler):
        response = await handler(request)
        return await handler(request) if response.status == 503 else response

    async def told(_session, _context, params):
        params.headers["X-Traced"] = "1"

    async def send() -> None:
        signing, trace = SigningMiddleware(make_signer(), origins=[origin]), aiohttp.TraceConfig()
        trace.on_request_start.append(told)
        trace.on_request_redirect.append(told)
        middlewares = {
            "digest": [aiohttp.DigestAuthMiddleware("user", "password"), signing],
            "middleware that changes the URL": [change, signing],
            "middleware inside that changes it": [signing, change],
            "retry": [retry, signing],
        }.get(hook, [signing])
        async with aiohttp.ClientSession(middlewares=middlewares, trace_configs=[trace]) as session:
            options = ExponentialRetry(attempts=2, start_timeout=0, statuses={503})
            client = RetryClient(client_session=session, retry_options=options) if hook == "aiohttp-retry" else session
            for _ in range(2):
                await again(client.post, hook)(f"{origin}/p", data=SECRET, headers=TEXT)

    asyncio.run(send())


CASES = [
    *((by_requests, by, hook) for by in ("adapter", "auth") for hook in REQUESTS),
    *(
        (by_httpx, f"{name}-{kind}", hook)
        for name in LIBRARIES
        for kind in ("sync", "async")
        for hook in HTTPX
        if hook != "httpx-retries" or name == "httpx"
    ),
    *((by_aiohttp, "aiohttp", hook) for hook in AIOHTTP),
]


@pytest.mark.parametrize(("send", "by", "hook"), CASES, ids=lambda part: part if isinstance(part, str) else "")
@pytest.mark.parametrize("first", ["401", "503", "307"])
def test_no_hook_leads_content_or_a_signature_to_an_origin_that_is_not_listed(send, by, hook, first):
    """The origin answers with a challenge, an error or nothing else, and then redirects to another origin."""
    with capturing() as elsewhere:
        to = f"{elsewhere.origin}/next"
        answers = {"401": [CHALLENGE], "503": [BUSY, OK]}.get(first, [])
        # The library may end a hook that meets nothing that it acts on.
        with (
            capturing(first=answers, answer=redirect(to)) as capture,
            contextlib.suppress(SigningError, StopIteration),
        ):
            send(hook, capture.origin, to, by=by)
    leaked = [one for one in elsewhere.sent if SECRET in one.body or one.lines("signature-input")]
    assert leaked == []
    made = [one.lines("signature-input") for one in capture.sent if one.lines("signature-input")]
    if by != "auth" and "session" not in hook:  # a plain session sends a request as it is
        assert all(made.count(one) == 1 for one in made), "a signature was sent twice"
    assert capture.sent or "changes the URL" in hook or "inside" in hook
