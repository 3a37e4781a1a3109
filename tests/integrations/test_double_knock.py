"""Double-knocking by every client, against a real server that verifies one scheme only."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener
from urllib.request import Request as UrllibRequest

import aiohttp
import httpx
import httpx2
import pytest
import requests
from tests.activitypub.actors import CREATE, signing_key
from tests.integrations.clients import TRUST
from tests.integrations.inbox import DRAFT, RFC_9421, TYPE, knock, start_inboxes

import undersigned_httpx.httpx2
from undersigned import ConfigurationError, Signer
from undersigned.cavage import CavageSigner
from undersigned.client import ClientSigner, DoubleKnock
from undersigned.profiles import ACTIVITYPUB
from undersigned_aiohttp import SigningMiddleware
from undersigned_httpx import AsyncSignatureTransport, SignatureTransport
from undersigned_httpx import SignatureAuth as HttpxAuth
from undersigned_requests import SignatureAuth as RequestsAuth
from undersigned_urllib import SignatureHandler


@pytest.fixture
def inbox():
    with start_inboxes() as start:
        yield start


class WithRequests:
    def __init__(self, signer, origin) -> None:
        self._session = requests.Session()
        self._auth = RequestsAuth(signer, origins=[origin])

    def send(self, method, url, body=None):
        with self._session as session:
            return session.request(method, url, data=body, headers=TYPE, auth=self._auth)


class WithHttpx:
    library = httpx
    auth = HttpxAuth

    def __init__(self, signer, origin) -> None:
        self._auth = self.auth(signer, origins=[origin])

    def send(self, method, url, body=None):
        with self.library.Client(auth=self._auth, verify=TRUST, trust_env=False, follow_redirects=True) as client:
            return client.request(method, url, content=body, headers=TYPE)


class WithHttpx2(WithHttpx):
    library = httpx2
    auth = undersigned_httpx.httpx2.SignatureAuth


class WithAsyncHttpx(WithHttpx):
    def send(self, method, url, body=None):
        async def send():
            async with httpx.AsyncClient(auth=self._auth, verify=TRUST, trust_env=False) as client:
                return await client.request(method, url, content=body, headers=TYPE)

        return asyncio.run(send())


class WithTransport(WithHttpx):
    def __init__(self, signer, origin) -> None:
        self._transport = SignatureTransport(httpx.HTTPTransport(verify=TRUST), signer, origins=[origin])

    def send(self, method, url, body=None):
        with httpx.Client(transport=self._transport, follow_redirects=True) as client:
            return client.request(method, url, content=body, headers=TYPE)


class WithAsyncTransport(WithHttpx):
    def __init__(self, signer, origin) -> None:
        self._signing = (signer, origin)

    def send(self, method, url, body=None):
        signer, origin = self._signing

        async def send():
            transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(verify=TRUST), signer, origins=[origin])
            async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
                return await client.request(method, url, content=body, headers=TYPE)

        return asyncio.run(send())


@dataclass
class Answered:
    """The response of a client that spells its status in another way."""

    status_code: int


class WithAiohttp:
    def __init__(self, signer, origin) -> None:
        self._middleware = SigningMiddleware(signer, origins=[origin])

    def send(self, method, url, body=None):
        async def send() -> Answered:
            async with (
                aiohttp.ClientSession(middlewares=[self._middleware]) as session,
                session.request(method, url, data=body, headers=TYPE) as answer,
            ):
                return Answered(answer.status)

        return asyncio.run(send())


class WithUrllib:
    def __init__(self, signer, origin) -> None:
        self._opener = build_opener(SignatureHandler(signer, origins=[origin]), ProxyHandler({}))

    def send(self, method, url, body=None):
        try:
            with self._opener.open(UrllibRequest(url, body, TYPE, method=method)) as answer:  # noqa: S310 - our server
                return Answered(answer.status)
        except HTTPError as error:
            with error:
                return Answered(error.code)


BY_TRANSPORT = [WithTransport, WithAsyncTransport]
EVERY = pytest.mark.parametrize(
    "kind", [WithRequests, WithHttpx, WithHttpx2, WithAsyncHttpx, *BY_TRANSPORT, WithAiohttp, WithUrllib]
)


@EVERY
@pytest.mark.parametrize(("method", "body"), [("POST", CREATE), ("GET", None)])
@pytest.mark.parametrize("only", [DRAFT, RFC_9421])
@pytest.mark.parametrize("first", [DRAFT, RFC_9421])
def test_scheme_that_an_origin_accepted_is_remembered(inbox, kind, method, body, only, first):
    server = inbox(only)
    client = kind(knock(first=first), server.origin)
    for _ in range(2):
        answer = client.send(method, f"{server.origin}/inbox", body)
        assert answer.status_code == 202
    tried = [only] if only == first else [first, only]
    assert server.asked == [*tried, only]
    assert server.bodies == [body or b""] * 2


@EVERY
def test_receiver_that_accepts_none_is_asked_twice_each_time(inbox, kind):
    server = inbox()
    client = kind(knock(), server.origin)
    for _ in range(2):
        assert client.send("POST", f"{server.origin}/inbox", CREATE).status_code == 401
    assert server.asked == [RFC_9421, DRAFT] * 2


@EVERY
def test_one_signer_is_not_followed_by_another_try(inbox, kind):
    server = inbox(RFC_9421)
    client = kind(CavageSigner(signing_key()), server.origin)
    assert client.send("POST", f"{server.origin}/inbox", CREATE).status_code == 401
    assert server.asked == [DRAFT]


@EVERY
def test_error_of_the_server_teaches_nothing(inbox, kind):
    server = inbox(DRAFT)
    client = kind(knock(), server.origin)
    assert client.send("POST", f"{server.origin}/down", CREATE).status_code == 500
    assert client.send("POST", f"{server.origin}/inbox", CREATE).status_code == 202
    assert server.asked == [RFC_9421, DRAFT] * 2


def test_requests_signs_a_redirect_after_two_tries(inbox):
    server = inbox(DRAFT)
    answer = WithRequests(knock(), server.origin).send("POST", f"{server.origin}/old", CREATE)
    assert answer.status_code == 202
    assert server.asked == [RFC_9421, DRAFT, DRAFT]
    assert server.bodies == [CREATE, CREATE]
    assert "Signature-Input" not in answer.request.headers
    assert [one.status_code for one in answer.history] == [307]


def test_requests_sends_a_file_twice_and_shows_both_tries(inbox):
    server = inbox(DRAFT)
    client = WithRequests(knock(), server.origin)
    answer = client.send("POST", f"{server.origin}/inbox", io.BytesIO(CREATE))
    assert (answer.status_code, server.bodies) == (202, [CREATE])
    [before] = answer.history
    assert before.status_code == 401
    assert "Signature-Input" in before.request.headers


@pytest.mark.parametrize("kind", [WithHttpx, WithHttpx2, WithTransport, WithAiohttp, WithUrllib])
def test_client_sends_a_file_twice_each_time_by_another_scheme(inbox, kind):
    server = inbox(DRAFT)
    response = kind(knock(), server.origin).send("POST", f"{server.origin}/inbox", io.BytesIO(CREATE))
    assert (response.status_code, server.asked, server.bodies) == (202, [RFC_9421, DRAFT], [CREATE])


def test_httpx_does_not_try_again_after_a_redirect_without_signature(inbox):
    server, other = inbox(RFC_9421), inbox()

    def elsewhere(response):
        if response.status_code == 307:
            response.headers["Location"] = f"{other.origin}/inbox"

    auth = HttpxAuth(knock(), origins=[server.origin], follow_unsigned=True)
    options = {"verify": TRUST, "trust_env": False, "follow_redirects": True, "event_hooks": {"response": [elsewhere]}}
    with httpx.Client(auth=auth, **options) as client:
        answer = client.post(f"{server.origin}/old", content=CREATE, headers=TYPE)
    assert answer.status_code == 401
    assert (server.asked, len(other.asked)) == ([RFC_9421], 1)


@pytest.mark.parametrize("kind", [*BY_TRANSPORT, WithAiohttp, WithUrllib])
@pytest.mark.parametrize("only", [DRAFT, RFC_9421])
def test_second_try_has_no_field_of_the_first(inbox, kind, only):
    server = inbox(only)
    first = RFC_9421 if only == DRAFT else DRAFT
    assert kind(knock(first=first), server.origin).send("POST", f"{server.origin}/inbox", CREATE).status_code == 202
    legacy = {"Date", "Digest"} <= server.names[-1]
    assert (legacy, "Signature-Input" in server.names[-1]) == (only == DRAFT, only == RFC_9421)


@pytest.mark.parametrize("kind", [WithHttpx, WithHttpx2, *BY_TRANSPORT])
def test_httpx_signs_a_redirect_after_two_tries(inbox, kind):
    server = inbox(DRAFT)
    answer = kind(knock(), server.origin).send("POST", f"{server.origin}/old", CREATE)
    assert answer.status_code == 202
    assert server.asked == [RFC_9421, DRAFT, DRAFT]
    assert server.bodies == [CREATE, CREATE]


@pytest.mark.parametrize("kind", [WithHttpx, WithHttpx2, *BY_TRANSPORT])
def test_httpx_sends_only_the_last_request_of_a_chain_by_another_scheme(inbox, kind):
    server = inbox(RFC_9421)
    server.schemes_at["/inbox"] = DRAFT
    answer = kind(knock(), server.origin).send("POST", f"{server.origin}/old", CREATE)
    assert answer.status_code == 202
    assert server.asked == [RFC_9421, RFC_9421, DRAFT]


def test_requests_does_not_try_again_after_a_redirect_without_signature(inbox):
    server, other = inbox(RFC_9421), inbox()
    auth = RequestsAuth(knock(), origins=[server.origin], follow_unsigned=True)

    class Elsewhere(requests.Session):
        def get_redirect_target(self, resp):
            return f"{other.origin}/inbox" if resp.status_code == 307 else None

    with Elsewhere() as session:
        assert session.post(f"{server.origin}/old", data=CREATE, headers=TYPE, auth=auth).status_code == 401
    assert len(other.asked) == 1


def test_client_that_does_not_try_again_takes_one_scheme():
    with pytest.raises(ConfigurationError, match=r"^signer: this client does not try a second time"):
        ClientSigner(knock(), ["https://inbox.example"])
    late = ClientSigner(knock, ["https://inbox.example"])
    with pytest.raises(ConfigurationError, match=r"^signer: the function must return a Signer"):
        late.sign("GET", "https://inbox.example/", (), b"")
    one = ClientSigner(CavageSigner(signing_key()), ["https://inbox.example"])
    signed = one.sign("GET", "https://inbox.example/", [("Date", "today"), ("Digest", "x")], b"")
    assert signed.fields == ()
    assert [name for name, _ in signed.signature] == ["Date", "Signature"]
    assert signed.covered == {"host", "date"}


@pytest.mark.parametrize(
    ("arguments", "options", "fault"),
    [
        ((None, CavageSigner(signing_key())), {}, r"^modern: "),
        ((Signer(signing_key(), profile=ACTIVITYPUB), None), {}, r"^legacy: "),
        ((Signer(signing_key(), profile=ACTIVITYPUB), CavageSigner(signing_key())), {"first": "any"}, r"^first: "),
    ],
)
def test_wrong_argument_is_a_configuration_error(arguments, options, fault):
    with pytest.raises(ConfigurationError, match=fault):
        DoubleKnock(*arguments, **options)


def test_remembered_origins_are_bounded(monkeypatch):
    monkeypatch.setattr("undersigned.client.double_knock.MOST_HINTS", 1)
    pair = knock()
    for origin in ("https://a.example", "https://b.example"):
        pair.note_answer(origin, 200, modern=False)
    assert pair.signer("https://b.example") is pair.legacy
    assert pair.signer("https://a.example") is not pair.legacy
