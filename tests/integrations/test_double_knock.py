"""Double-knocking by every client, against a real server that verifies one scheme only."""

from __future__ import annotations

import io

import pytest
import requests
from tests.activitypub.actors import CREATE, signing_key
from tests.integrations.every_client import CLIENTS, EVERY
from tests.integrations.inbox import DRAFT, RFC_9421, TYPE, knock, start_inboxes

from undersigned import ConfigurationError, Signer
from undersigned.cavage import CavageSigner
from undersigned.client import ClientSigner, DoubleKnock
from undersigned.profiles import ACTIVITYPUB
from undersigned_requests import SignatureAdapter, SignatureAuth


@pytest.fixture
def inbox():
    with start_inboxes() as start:
        yield start


def send(client, server, signer, path="/inbox", *, method="POST", body=CREATE) -> int:
    return client.send(server, path, method=method, signer=signer, body=body, fields=TYPE)[0]


@EVERY
@pytest.mark.parametrize(("method", "body"), [("POST", CREATE), ("GET", None)])
@pytest.mark.parametrize("only", [DRAFT, RFC_9421])
@pytest.mark.parametrize("first", [DRAFT, RFC_9421])
def test_scheme_that_an_origin_accepted_is_remembered(inbox, client, method, body, only, first):
    server, signer = inbox(only), knock(first=first)
    for _ in range(2):
        assert send(client, server, signer, method=method, body=body) == 202
    tried = [only] if only == first else [first, only]
    assert server.asked == [*tried, only]
    assert server.bodies == [body or b""] * 2
    legacy = {"Date", "Digest"} <= server.names[-1]
    assert (legacy or not body, "Signature-Input" in server.names[-1]) == (only == DRAFT or not body, only == RFC_9421)


@EVERY
def test_receiver_that_accepts_none_is_asked_twice_each_time(inbox, client):
    server, signer = inbox(), knock()
    assert [send(client, server, signer) for _ in range(2)] == [401, 401]
    assert server.asked == [RFC_9421, DRAFT] * 2


@EVERY
@pytest.mark.parametrize(
    ("refusal", "again"), [(400, True), (403, True), (406, True), (404, False), (410, False), (429, False)]
)
def test_another_scheme_is_tried_where_it_may_help(inbox, client, refusal, again):
    server = inbox(DRAFT)
    server.refusal = refusal
    assert send(client, server, knock()) == (202 if again else refusal)
    assert server.asked == [RFC_9421, DRAFT][: 1 + again]


@EVERY
@pytest.mark.parametrize(
    ("challenge", "asked", "nonce"),
    [
        ('a=("@method");b', [RFC_9421, DRAFT], ""),
        ('sig1=("@method" "cookie");created;nonce="n-1";keyid="x"', [RFC_9421, RFC_9421], "n-1"),
        ('sig1=("@method");nonce=1', [RFC_9421, DRAFT], ""),
        ("(", [RFC_9421, DRAFT], ""),
    ],
)
def test_nonce_that_a_receiver_asks_for_is_answered_and_nothing_else(inbox, client, challenge, asked, nonce):
    server = inbox(RFC_9421, DRAFT)
    server.challenge = challenge
    status = send(client, server, knock())
    assert (status, server.asked, server.nonces[-1]) == (202 if nonce else 401, asked, nonce)


@EVERY
def test_one_signer_is_not_followed_by_another_try(inbox, client):
    server = inbox(RFC_9421)
    assert send(client, server, CavageSigner(signing_key())) == 401
    assert server.asked == [DRAFT]


@EVERY
def test_error_of_the_server_teaches_nothing(inbox, client):
    server, signer = inbox(DRAFT), knock()
    assert send(client, server, signer, "/down") == 500
    assert send(client, server, signer) == 202
    assert server.asked == [RFC_9421, DRAFT] * 2


@EVERY
def test_redirect_is_signed_after_two_tries(inbox, client):
    server = inbox(DRAFT)
    assert send(client, server, knock(), "/old") == 202
    # A redirect says nothing of what the receiver did with the message.
    assert server.asked == [RFC_9421, DRAFT, RFC_9421, DRAFT]
    assert server.bodies == [CREATE, CREATE]


@EVERY
def test_each_hop_of_a_chain_has_tries_of_its_own(inbox, client):
    server = inbox(RFC_9421)
    server.schemes_at["/inbox"] = DRAFT
    assert send(client, server, knock(), "/old") == 202
    assert server.asked == [RFC_9421, RFC_9421, DRAFT]


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.sends_files], ids=str)
def test_file_is_sent_twice_each_time_by_another_scheme(inbox, client):
    server = inbox(DRAFT)
    assert send(client, server, knock(), body=io.BytesIO(CREATE)) == 202
    assert (server.asked, server.bodies) == ([RFC_9421, DRAFT], [CREATE])


def test_requests_shows_both_tries(inbox):
    server = inbox(DRAFT)
    with requests.Session() as session:
        session.mount("http://", SignatureAdapter(knock(), origins=[server.origin]))
        answer = session.post(f"{server.origin}/inbox", data=CREATE, headers=TYPE, timeout=10)
    [before] = answer.history
    assert (before.status_code, answer.status_code) == (401, 202)
    assert "Signature-Input" in before.request.headers
    assert "Signature-Input" not in answer.request.headers


def test_auth_that_sends_once_takes_one_scheme():
    with pytest.raises(ConfigurationError, match=r"^signer: SignatureAuth sends a request once"):
        SignatureAuth(knock(), origins=["https://inbox.example"])
    late = ClientSigner(knock, ["https://inbox.example"])
    with pytest.raises(ConfigurationError, match=r"^signer: the function must return a Signer"):
        late.sign("GET", "https://inbox.example/", (), b"")
    one = ClientSigner(CavageSigner(signing_key()), ["https://inbox.example"])
    signed = one.sign("GET", "https://inbox.example/", [("Date", "today"), ("Digest", "x")], b"")
    assert [name for name, _ in signed.headers] == ["Date", "Signature"]


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
