"""The key source for actors against a real key server, with threads and with asyncio."""

from __future__ import annotations

import inspect
from functools import cache

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from tests.discovery.key_server import failure, redirect
from tests.discovery.key_server import response as plain
from tests.keys import lookup

from undersigned import KeySet, Request, SignatureError, SigningKey, VerificationKey
from undersigned.activitypub import ActivityPubVerifier, AsyncActivityPubVerifier
from undersigned.cavage import CavageSigner
from undersigned.discovery import Freshness
from undersigned.discovery.activitypub import ActorKeys

GONE = plain(b"", status="410 Gone")
DOWN = plain(b"", status="503 Down")
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo


def response(body, *fields, **options):
    return plain(body, "Content-Type: application/activity+json", *fields, **options)


@cache
def private_key(name="first"):
    return name and rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key=None, form=SPKI) -> str:
    public = (key or private_key()).public_key()
    return public.public_bytes(serialization.Encoding.PEM, form).decode()


@pytest.fixture
def actor(server):
    return server.url("/users/bob")


@pytest.fixture
def keyid(actor):
    return f"{actor}#main-key"


@pytest.fixture
def key(actor, keyid):
    return {"id": keyid, "owner": actor, "publicKeyPem": pem()}


@pytest.fixture
def source(server, clock):
    return ActorKeys(network=server.network(), clock=clock)


@pytest.fixture
def find(world, source):
    def find(keyid, **options):
        return world.find_all(source, lookup(keyid, **options))

    return find


@pytest.mark.parametrize("form", [SPKI, serialization.PublicFormat.PKCS1], ids=["spki", "pkcs1"])
@pytest.mark.parametrize("listed", [False, True], ids=["one", "list"])
@pytest.mark.parametrize("owner", ["owner", "controller"])
def test_key_of_an_actor_is_found_once_and_kept(find, server, actor, keyid, form, listed, owner):
    key = {"id": keyid, owner: actor, "publicKeyPem": pem(form=form)}
    keys = ["https://other.example/#key", {"id": f"{actor}#other"}, 7, key] if listed else key
    server.answers["/users/bob"] = response({"id": actor, "publicKey": keys})
    for _ in range(2):
        [found] = find(keyid)
    assert (found.keyid, found.owner, found.algorithm) == (keyid, actor, "rsa-v1_5-sha256")
    assert server.asked("/users/bob") == 1
    assert b"\r\naccept: application/activity+json, application/ld+json; profile=" in server.requests[0].lower()


@pytest.mark.parametrize("short", ["the key", "its owner"])
def test_key_is_used_no_longer_than_either_document_of_it(find, server, clock, short):
    """The key has a document of its own, and that of its owner confirms it."""
    owner, keyid = server.url("/users/bob"), server.url("/keys/1")
    brief, long = "Cache-Control: max-age=60", "Cache-Control: max-age=3600"
    key = {"id": keyid, "owner": owner, "publicKeyPem": pem()}
    server.answers["/keys/1"] = response(key, brief if short == "the key" else long)
    server.answers["/users/bob"] = response({"id": owner, "publicKey": keyid}, long if short == "the key" else brief)
    assert find(keyid)
    server.answers["/keys/1"] = server.answers["/users/bob"] = response({"id": "gone"})
    clock.now += 61
    assert not find(keyid)


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def multibase(codec: bytes, content: bytes) -> str:
    number, text = int.from_bytes(codec + content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return f"z{text}"


def rsa_multibase() -> str:
    public = private_key().public_key()
    return multibase(b"\x85\x24", public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1))


ED25519 = multibase(b"\xed\x01", bytes(range(32)))


@pytest.mark.parametrize(
    ("spelled", "algorithm"), [(rsa_multibase, "rsa-v1_5-sha256"), (lambda: ED25519, "ed25519")], ids=["rsa", "ed25519"]
)
def test_multikey_that_a_keyid_names_is_found_in_assertion_method(find, server, actor, keyid, spelled, algorithm):
    multikey = {"id": keyid, "type": "Multikey", "controller": actor, "publicKeyMultibase": spelled()}
    main = {"id": f"{actor}#rsa", "owner": actor, "publicKeyPem": pem()}
    server.answers["/users/bob"] = response({"id": actor, "publicKey": main, "assertionMethod": [multikey]})
    [found] = find(keyid)
    assert (found.keyid, found.owner, found.algorithm) == (keyid, actor, algorithm)


@pytest.mark.parametrize(
    "spelled",
    ["", "z", "u" + ED25519[1:], "z0OIl", "z" * 2049, multibase(b"\xed\x01", b"x"), multibase(b"\x85\x24", b"0\x80")],
)
def test_multikey_that_is_none_of_ours_cannot_be_used(find, server, actor, keyid, spelled):
    multikey = {"id": keyid, "controller": actor, "publicKeyMultibase": spelled}
    server.answers["/users/bob"] = response({"id": actor, "assertionMethod": multikey})
    assert failure(find, keyid).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize("later", [{"publicKey": []}, {"id": "https://other.example/users/bob"}])
def test_key_that_its_owner_no_longer_confirms_is_refused_when_it_is_known(find, server, clock, actor, later):
    keyid = server.url("/keys/1")
    server.answers["/keys/1"] = response({"id": keyid, "owner": actor, "publicKeyPem": pem()})
    server.answers["/users/bob"] = response({"id": actor, "publicKey": keyid})
    assert find(keyid)
    server.answers["/users/bob"] = response(b"", status="503 Down")
    clock.now += 3600
    assert find(keyid)
    server.answers["/users/bob"] = response({"id": actor, "publicKey": keyid, **later})
    clock.now += 7200
    assert failure(find, keyid).reason == "signature_jwks_untrusted"
    server.answers["/users/bob"] = response(b"", status="503 Down")
    clock.now += 60
    assert failure(find, keyid).reason == "signature_jwks_unavailable"


def test_key_in_a_stub_of_its_actor_is_found(find, server, actor):
    keyid = f"{actor}/main-key"
    document = response({"id": actor, "publicKey": {"id": keyid, "owner": actor, "publicKeyPem": pem()}})
    server.answers["/users/bob/main-key"] = server.answers["/users/bob"] = document
    assert find(keyid)[0].owner == actor


def test_key_of_another_actor_must_be_listed_by_that_actor(find, server, actor, key):
    victim = server.url("/users/alice", host="agent.example.com")
    server.answers["/users/bob"] = response({"id": victim, "publicKey": key | {"owner": victim}})
    server.answers["/users/alice"] = response({"id": victim, "publicKey": f"{victim}#main-key"})
    assert failure(find, f"{actor}#main-key").reason == "signature_jwks_untrusted"


@pytest.mark.parametrize(
    "change",
    [
        {"id": "https://other.example/users/bob"},
        {"publicKey": {"owner": None}},
        {"publicKey": {"owner": "http://keys.example.com/users/bob"}},
        {"publicKey": {"owner": "https://169.254.169.254/"}},
        {"publicKey": {"owner": "é"}},
        {"publicKey": {"publicKeyPem": None}},
        {"publicKey": {"publicKeyPem": "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----"}},
        {"publicKey": {"publicKeyPem": pem(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)))}},
        {"publicKey": ["https://keys.example.com/"] * 257},
    ],
)
def test_document_that_contradicts_itself_is_not_trusted(find, server, actor, keyid, key, change):
    keys = change.get("publicKey", {})
    document = {"id": actor, **change, "publicKey": keys if isinstance(keys, list) else key | keys}
    server.answers["/users/bob"] = response(document)
    assert failure(find, keyid).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"id":1,"id":2}'])
def test_answer_that_is_not_an_actor_is_not_trusted(find, server, keyid, body):
    server.answers["/users/bob"] = response(body)
    assert failure(find, keyid).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize("document", [{}, {"publicKey": []}, {"publicKey": {"id": "https://keys.example.com/#other"}}])
def test_key_that_its_document_does_not_have_is_unknown(find, server, actor, keyid, document):
    server.answers["/users/bob"] = response({"id": actor, **document})
    assert find(keyid) == ()


@pytest.mark.parametrize("keyid", ["", "main-key", "acct:bob@keys.example.com", "http://keys.example.com/users/bob"])
def test_keyid_that_is_not_an_https_url_is_unknown(find, server, keyid):
    assert find(keyid) == ()
    assert server.requests == []


@pytest.mark.parametrize(
    "keyid", ["https://", "https://bob@keys.example.com/", "https://127.1.1.1.1/", "https://[::1]/"]
)
def test_keyid_that_the_guard_rejects_is_not_trusted(find, server, keyid):
    assert failure(find, keyid).reason == "signature_jwks_untrusted"
    assert server.requests == []


def test_redirect_and_outage_are_unavailable(find, server, actor, keyid):
    server.answers["/users/bob"] = redirect(f"{actor}2")
    assert failure(find, keyid).reason == "signature_jwks_unavailable"
    server.answers["/users/eve"] = DOWN
    assert failure(find, server.url("/users/eve")).reason == "signature_jwks_unavailable"


def test_gone_actor_is_unknown_or_known_by_the_key_it_had(find, server, clock, actor, keyid, key):
    server.answers["/users/eve"] = GONE
    assert failure(find, server.url("/users/eve")).reason == "signature_key_unknown"
    server.answers["/users/bob"] = response({"id": actor, "publicKey": key})
    [found] = find(keyid)
    server.answers["/users/bob"] = GONE
    clock.now += 3600
    assert find(keyid) == (found,)
    assert server.asked("/users/bob") == 2
    clock.now += 86400
    assert failure(find, keyid).reason == "signature_key_unknown"


def test_host_that_the_operator_does_not_trust_is_not_fetched(world, server, clock, actor, keyid, key):
    source = ActorKeys(network=server.network(), clock=clock, trusted=lambda host: host != "evil.example.net")

    def find(keyid):
        return world.find_all(source, lookup(keyid))

    assert failure(find, server.url("/users/eve", host="evil.example.net")).reason == "signature_jwks_untrusted"
    assert server.requests == []
    server.answers["/users/bob"] = response({"id": actor, "publicKey": key | {"owner": "https://evil.example.net/e"}})
    assert failure(find, keyid).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize("later", ["keys.example.com", "agent.example.com"], ids=["keyid", "owner"])
def test_host_that_is_blocked_later_is_not_trusted_although_its_actor_is_kept(world, server, clock, later):
    blocked = set()
    source = ActorKeys(network=server.network(), clock=clock, trusted=lambda host: host not in blocked)
    owner = server.url("/users/alice", host="agent.example.com")
    keyid = server.url("/keys/1")
    server.answers["/keys/1"] = response({"id": keyid, "owner": owner, "publicKeyPem": pem()})
    server.answers["/users/alice"] = response({"id": owner, "publicKey": keyid})
    assert world.find(source, keyid).owner == owner
    blocked.add(later)
    for wait in (0, 3600, 80000):
        clock.now += wait
        assert failure(world.find, source, keyid).reason == "signature_jwks_untrusted"


def test_fetch_is_signed_for_servers_that_ask_for_it(world, server, clock, actor, keyid, key):
    signing = SigningKey.from_private_key(
        private_key(), keyid="https://me.example/actor#key", algorithm="rsa-v1_5-sha256"
    )
    source = ActorKeys(network=server.network(), clock=clock, signer=CavageSigner(signing))
    server.answers["/users/bob"] = response({"id": actor, "publicKey": key})
    assert world.find_all(source, lookup(keyid))
    head, *lines = server.requests[0].decode().split("\r\n")
    fields = [tuple(line.split(": ", 1)) for line in lines if line]
    method, target, _ = head.split()
    mine = VerificationKey.from_pem(pem(), keyid=signing.keyid, algorithm="rsa-v1_5-sha256")
    verifier = ActivityPubVerifier(keys=KeySet.of(mine))
    assert verifier.verify(Request(method, server.url(target), fields)).components[0] == "(request-target)"


def test_verifier_finds_the_key_that_replaced_another_one(world, server, clock, actor, keyid):
    def publish(name):
        key = {"id": keyid, "owner": actor, "publicKeyPem": pem(private_key(name))}
        server.answers["/users/bob"] = response({"id": actor, "publicKey": key})

    def signed(name):
        signing = SigningKey.from_private_key(private_key(name), keyid=keyid, algorithm="rsa-v1_5-sha256")
        request = Request("POST", "https://inbox.example/inbox", (), b"{}")
        host = ("Host", "inbox.example")
        return Request(request.method, request.url, [host, *CavageSigner(signing).sign(request)], request.body)

    source = ActorKeys(network=server.network(), clock=clock, freshness=Freshness(default=900))
    verifier = (AsyncActivityPubVerifier if world.is_async else ActivityPubVerifier)(keys=source)

    def verify(request):
        ask = verifier.verify
        return world._answer(ask, request) if inspect.iscoroutinefunction(ask) else ask(request)

    publish("first")
    assert verify(signed("first")).signer == actor
    publish("second")
    with pytest.raises(SignatureError) as caught:
        verify(signed("second"))
    assert caught.value.reason == "signature_invalid"
    clock.now += 30
    assert verify(signed("second")).signer == actor
    assert server.asked("/users/bob") == 2
