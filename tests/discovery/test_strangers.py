"""What strangers and other tenants can do through a key source: nothing to a sender who is known."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.discovery.activitypub.test_sources import pem
from tests.discovery.key_server import failure, response
from tests.discovery.test_revocation_sources import publish
from tests.discovery.web_bot_auth.test_sources import ask_about
from tests.keys import NOW, OTHER_PUBLIC, PUBLIC, lookup
from tests.work import most_memory
from tests.workers import wait_until

from undersigned import KeyPair, KeySourceError, VerificationKey
from undersigned.discovery import Freshness, KeySources, RemoteJWKS, RevocationFile
from undersigned.discovery.activitypub import ActorKeys
from undersigned.discovery.adcp.protocols import EventStream
from undersigned.discovery.web_bot_auth import WebBotAuthKeys


def jwks(*keys):
    return response({"keys": list(keys)})


@pytest.mark.parametrize("empty", [[], [{}], [{**PUBLIC, "kid": 5}]])
def test_empty_set_counts_only_if_it_is_fetched_twice(world, server, clock, caplog, empty):
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(), clock=clock)
    assert world.find(source, "buyer-ed25519")
    server.answers["/jwks.json"] = jwks(*empty)
    clock.now += 300
    assert world.find(source, "buyer-ed25519")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "no keys any more" in caplog.text
    clock.now += 30
    wait_until(lambda: world.find(source, "buyer-ed25519") is None)


def test_set_is_fetched_ahead_and_nobody_waits_for_a_server_that_hangs(world, server, clock):
    """Nothing but `wait_timeout` ends a wait, and it is longer than the test may take."""
    hung, release = threading.Event(), threading.Event()
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(wait_timeout=600, total_timeout=600), clock=clock)
    assert world.find(source, "buyer-ed25519")

    def hang(connection, _request) -> None:
        hung.set()
        release.wait(60)
        connection.sendall(jwks(OTHER_PUBLIC))

    server.answers["/jwks.json"] = hang
    clock.now += 275
    assert world.find(source, "buyer-ed25519")
    assert hung.wait(60)
    for _ in range(5):
        assert world.find(source, "buyer-ed25519")
    assert not release.is_set()
    assert server.asked() == 2
    release.set()
    wait_until(lambda: world.find(source, "buyer-ed25519") is None)


def test_nobody_waits_for_an_expired_set_once_its_fetch_is_late(world, server, clock, monkeypatch):
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(wait_timeout=0.05), clock=clock)
    wait_until(lambda: found_now(world, source))
    server.hold.clear()
    clock.now += 350
    waited = []

    async def wait(*asked) -> None:
        waited.append(asked)

    def answers_at_once() -> bool:
        waited.clear()
        assert world.find(source, "buyer-ed25519")
        return not waited

    for name in ("wait_in_thread", "wait_in_task"):
        monkeypatch.setattr(f"undersigned.discovery.fetching_key_source.{name}", wait)
    assert not answers_at_once()
    wait_until(answers_at_once)
    assert all(answers_at_once() for _ in range(5))
    server.wait_for(2)
    assert server.asked() == 2


def found_now(world, source) -> bool:
    """Whether there is a key, however long its first fetch takes."""
    with contextlib.suppress(KeySourceError):
        return world.find(source, "buyer-ed25519") is not None
    return False


def test_signer_that_a_message_names_is_asked_alone(world, server, clock):
    server.answers |= {"/victim": jwks(PUBLIC), "/mallory": response(b"", status="503 Down")}
    named = "victim"
    sources = KeySources(
        {n: RemoteJWKS(server.url(f"/{n}"), network=server.network(), clock=clock) for n in ("mallory", "victim")},
        signer_of=lambda _lookup: named,
    )
    assert [key.owner for key in world.find_all(sources, lookup())] == ["victim"]
    assert server.asked("/mallory") == 0
    server.answers["/mallory"] = jwks(PUBLIC)
    named = "mallory"
    assert [key.owner for key in world.find_all(sources, lookup())] == ["mallory"]
    named = "victim"
    assert [key.owner for key in world.find_all(sources, lookup())] == ["victim"]
    assert [key.owner for key in world.find_all(sources, lookup(is_second_try=True))] == ["victim"]
    named = "nobody"
    assert world.find_all(sources, lookup()) == ()


def test_keys_of_one_name_that_are_not_tried_are_named(world, caplog):
    signers = [f"signer {number}" for number in range(5)]
    sources = KeySources({n: KeyPair.generate(keyid=PUBLIC["kid"]).key_set() for n in signers})
    for _ in range(2):
        assert [key.owner for key in world.find_all(sources, lookup())] == signers
    [record] = caplog.records
    assert "only 4 are tried" in record.getMessage()


def test_few_silent_sources_are_asked_and_waited_for_until_one_deadline(world, server, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.DEFAULT_WAIT_TIMEOUT", 1.5)
    server.hold.clear()
    network = server.network(wait_timeout=2)
    sources = {f"{number}": RemoteJWKS(server.url(f"/{number}"), network=network) for number in range(70)}
    with pytest.raises(KeySourceError):
        world.find_all(KeySources(sources), lookup())
    server.wait_for(17)
    time.sleep(0.1)
    assert len(server.requests) <= 64


def test_event_stream_does_not_copy_an_unfinished_line_for_every_chunk():
    stream = EventStream()
    stream.feed(b"x" * 65_536)
    assert most_memory(lambda: stream.feed(b"x")) < 4_096
    assert stream.feed(b'\ndata: {"id": 1, "result": {}}\n\n')


def test_waiting_threads_are_bounded_and_a_known_key_waits_for_nothing(server, clock):
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(), clock=clock, freshness=Freshness())
    assert source.find(lookup())
    server.hold.clear()
    clock.now += 1
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(source.find, lookup(f"stranger {number}")) for number in range(12)]
        wait_until(lambda: sum(one.done() for one in asked) >= 8)
        failures = [one.exception() for one in asked if one.done()]
        assert [type(failure) for failure in failures] == [KeySourceError] * 8
        assert source.find(lookup())
        server.hold.set()


@pytest.mark.parametrize("old", [300, 36_000])
def test_nobody_uses_an_expired_set_while_its_owner_is_asked(server, clock, old):
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(), clock=clock)
    assert source.find(lookup())
    server.answers["/jwks.json"] = jwks(OTHER_PUBLIC)
    server.hold.clear()
    clock.now += old
    with ThreadPoolExecutor(12) as pool:
        found = [pool.submit(source.find, lookup()) for _ in range(12)]
        server.wait_for(2)
        server.hold.set()
        assert [one.result() for one in found] == [()] * 12
    assert server.asked() == 2


def test_expired_set_is_not_used_for_a_failure_of_long_ago(world, server, clock):
    server.answers["/jwks.json"] = jwks(PUBLIC)
    source = RemoteJWKS(server.url(), network=server.network(), clock=clock)
    assert world.find(source, "buyer-ed25519")
    server.answers["/jwks.json"] = response(b"", status="503 Down")
    clock.now += 300
    assert world.find(source, "buyer-ed25519")
    server.answers["/jwks.json"] = jwks(OTHER_PUBLIC)
    clock.now += 36_000
    assert world.find(source, "buyer-ed25519") is None


@contextlib.contextmanager
def silent(server, *hosts):
    """Let hosts answer nothing at /slow/ until the end. Yield a function that lets strangers ask for keys."""
    ended = threading.Event()
    server.answers |= {f"/slow/{host}": lambda *_: ended.wait(60) for host in hosts}
    with ThreadPoolExecutor(16) as pool:
        try:
            yield lambda source, *asked: [pool.submit(source.find, one) for one in asked]
        finally:
            ended.set()


def slow_keys(server, *hosts):
    """What is asked about keys of such hosts."""
    return [lookup(server.url(f"/slow/{host}", host) + "#key") for host in hosts]


def slow_requests(server) -> int:
    return sum(b"/slow/" in request for request in server.requests)


def test_many_keys_of_a_set_that_a_stranger_names_are_made_when_they_are_looked_up(world, server, monkeypatch):
    jwks_of_many = [KeyPair.generate().public["keys"][0] for _ in range(40)]
    server.answers["/jwks.json"] = jwks(*jwks_of_many)
    source = WebBotAuthKeys(form="jwks", network=server.network())
    made, make = [], VerificationKey.from_jwk
    monkeypatch.setattr(
        VerificationKey, "from_jwk", lambda jwk, **options: made.append(jwk["kid"]) or make(jwk, **options)
    )
    names = [make(jwk).thumbprint for jwk in jwks_of_many]
    assert [world.find_all(source, of_agent(server.url(), name))[0].keyid for name in names[:2]] == names[:2]
    assert made == names[:2]
    assert world.find_all(source, of_agent(server.url(), names[31]))
    assert not world.find_all(source, of_agent(server.url(), names[32]))


def of_agent(url, keyid):
    """What is asked about a signature whose Signature-Agent names a JWK set."""
    return ask_about(f'sig1="{url}"', keyid)


def test_fetches_for_keyids_that_known_sets_do_not_have_are_counted(world, server, clock):
    server.answers |= {f"/{number}": jwks(PUBLIC) for number in range(20)}
    source = WebBotAuthKeys(form="jwks", network=server.network(), clock=clock, most_a_minute=20)
    urls = [server.url(f"/{number}") for number in range(20)]
    for url in urls:
        assert world.find_all(source, of_agent(url, VerificationKey.from_jwk(PUBLIC).thumbprint))
    for _ in range(4):
        clock.now += 31
        for url in urls:
            with contextlib.suppress(KeySourceError):
                assert not world.find_all(source, of_agent(url, "unknown"))
    # 20 at first, 20 at once for the unknown keyid, and 10 in each further half minute.
    assert 40 <= len(server.requests) <= 20 + 20 + 4 * 11
    assert world.find_all(source, of_agent(urls[0], VerificationKey.from_jwk(PUBLIC).thumbprint))


def actor_at(server, path, host="keys.example.com") -> str:
    """Publish an actor, and return the keyid of its key."""
    url = server.url(path, host)
    key = {"id": f"{url}#main-key", "owner": url, "publicKeyPem": pem()}
    server.answers[path] = response({"id": url, "publicKey": key}, "Content-Type: application/activity+json")
    return key["id"]


def test_hosts_of_one_domain_hold_two_fetches_and_write_one_line(server, caplog):
    hosts = ("one.example", "a.one.example", "b.one.example", "c.one.example")
    source = ActorKeys(network=server.network(total_timeout=60), most_at_once=4)
    with silent(server, *hosts) as ask:
        ask(source, *slow_keys(server, *hosts))
        server.wait_for(2)
        assert source.find(lookup(actor_at(server, "/users/bob")))
        assert slow_requests(server) == 2
    assert len(caplog.records) <= 1


HOSTS = ("evil.example.net", "one.example", "two.example", "three.example")


def test_some_places_are_kept_for_known_senders(server, clock):
    source = ActorKeys(network=server.network(total_timeout=60), clock=clock, most_at_once=4)
    bob = actor_at(server, "/users/bob")
    assert source.find(lookup(bob))
    clock.now += 31
    with silent(server, *HOSTS) as ask:
        ask(source, *slow_keys(server, *HOSTS))
        server.wait_for(1 + 3)
        assert source.find(lookup(bob, is_second_try=True))
        assert server.asked("/users/bob") == 2
        assert slow_requests(server) == 3


def test_fetch_that_hangs_keeps_its_place_for_a_while_only(world, server, clock):
    """All places are taken by known senders whose servers hang: a healthy one is asked, and its old key is not used."""
    source = ActorKeys(network=server.network(total_timeout=60, wait_timeout=4), clock=clock, most_at_once=4)
    slow = [actor_at(server, f"/slow/{host}", host) for host in HOSTS]
    bob = actor_at(server, "/users/bob")
    for keyid in (*slow, bob):
        assert world.find_all(source, lookup(keyid))
    server.answers["/users/bob"] = response({"id": server.url("/users/bob")}, "Content-Type: application/activity+json")
    clock.now += 36_000
    with silent(server, *HOSTS) as ask:
        ask(source, *map(lookup, slow[:3]))
        server.wait_for(len(slow) + 1 + 3)
        ask(source, lookup(slow[3]))
        server.wait_for(len(slow) + 1 + 4)
        wait_until(lambda: found_by(world, source, bob) == ())


def found_by(world, source, keyid):
    """What is found, or the reason why nothing is; never a key."""
    try:
        return tuple(world.find_all(source, lookup(keyid)))
    except KeySourceError as failure:
        return failure.reason


def test_document_without_the_key_makes_no_known_actor(world, server, clock, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.activitypub.MOST_ACTORS", 4)
    source = ActorKeys(network=server.network(), clock=clock, most_a_minute=30)
    bob = actor_at(server, "/users/bob")
    assert world.find_all(source, lookup(bob))
    server.answers["/any.json"] = response({"id": "an actor without keys"}, "Content-Type: application/activity+json")
    for _ in range(5):
        for number in range(9):
            with contextlib.suppress(KeySourceError):
                assert not world.find_all(source, lookup(server.url("/any.json") + f"#{number}"))
        clock.now += 31
    assert world.find_all(source, lookup(bob))
    assert server.asked("/users/bob") == 1
    assert server.asked("/any.json") <= 30 + 5 * 16


def test_failures_of_a_host_write_one_line_a_minute(world, server, caplog):
    source = ActorKeys(network=server.network())
    for number in range(20):
        with pytest.raises(KeySourceError):
            world.find_all(source, lookup(server.url(f"/{number}") + "#key"))
    assert len(caplog.records) == 1
    assert len(caplog.text) < 500


def test_failures_of_more_hosts_than_are_remembered_are_logged(world, server, caplog, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.document_cache.MOST_LOGGED_HOSTS", 1)
    source = ActorKeys(network=server.network())
    hosts = ("keys.example.com", "one.example")
    for host in hosts:
        with pytest.raises(KeySourceError):
            world.find_all(source, lookup(server.url("/actor", host) + "#key"))
    assert [host for host in hosts if host in caplog.text] == list(hosts)


@pytest.mark.parametrize("kind", ["text/plain", "image/png", "application/json", "application/ld+json"])
def test_uploaded_file_is_no_actor(world, server, kind):
    url = server.url("/media/cat.txt")
    server.answers["/media/cat.txt"] = response({"id": url}, f"Content-Type: {kind}")
    actors = ActorKeys(network=server.network())
    assert failure(world.find_all, actors, lookup(f"{url}#key")).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize(("later", "revoked"), [(-1, {"a"}), (0, {"a", "b"}), (60, {"b"}), (61, {"a"})])
def test_revocation_file_is_read_again_and_only_a_newer_list_takes_a_revocation_back(tmp_path, clock, later, revoked):
    path = tmp_path / "list.json"
    path.write_bytes(publish("a"))
    source = RevocationFile(path, clock=clock, now=lambda: NOW)
    assert source.current("").revoked == {"a"}
    path.write_bytes(publish("b", updated=NOW + later, note="longer"))
    clock.now += 2
    current = source.current("")
    assert current.revoked == revoked
    assert source.is_ready(current.stale_after)
    assert not source.is_ready(current.stale_after + 1)
