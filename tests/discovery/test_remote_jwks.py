from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.discovery.key_server import response
from tests.keys import JWKS, OTHER_PUBLIC, PUBLIC, lookup

from undersigned import KeySourceError
from undersigned.discovery import FetchReport, Freshness, KeySources, RemoteJWKS

BOTH = response(JWKS)
ONE = response({"keys": [PUBLIC]})
DOWN = response(b"", status="503 Down")


@pytest.fixture
def source(server, clock):
    """A source over the server's set, fresh for 300 seconds and stale for 1,000."""
    return RemoteJWKS(server.url(), network=server.network(), clock=clock, freshness=Freshness(stale=1000))


@pytest.fixture
def find(world, source):
    def find(keyid="buyer-ed25519"):
        return world.find(source, keyid)

    return find


def test_source_fetches_at_once_for_an_unknown_key_and_then_after_the_interval(find, server, clock):
    server.answers["/jwks.json"] = ONE
    assert find("buyer-es256") is None  # fetched for this very request: asking again could not help
    assert server.asked() == 1
    clock.now += 1
    server.answers["/jwks.json"] = BOTH
    assert find("buyer-es256") is not None
    assert server.asked() == 2
    for seconds, asked in ((29, 2), (1, 3)):
        clock.now += seconds
        assert {find(f"stranger {number}") for number in range(1000)} == {None}
        assert server.asked() == asked


@pytest.mark.parametrize("several", [True, False], ids=["of several", "alone"])
def test_key_that_fails_is_fetched_again_at_most_once_in_an_interval(world, server, clock, source, several):
    asked = KeySources({"": source}, clock=clock) if several else source
    server.answers["/jwks.json"] = ONE
    assert world.find_all(asked, lookup())
    server.answers["/jwks.json"] = response({"keys": [{**OTHER_PUBLIC, "kid": PUBLIC["kid"]}]})
    clock.now += 29
    [old] = world.find_all(asked, lookup(is_second_try=True))
    assert server.asked() == 1
    for _ in range(20):
        clock.now += 1
        [new] = world.find_all(asked, lookup(is_second_try=True))
        assert new.thumbprint != old.thumbprint
    assert server.asked() == 2
    server.answers["/jwks.json"] = DOWN
    clock.now += 30
    for _ in range(2):
        with pytest.raises(KeySourceError, match="503"):
            world.find_all(asked, lookup(is_second_try=True))
    assert [key.thumbprint for key in world.find_all(asked, lookup())] == [new.thumbprint]
    assert server.asked() == 3


def test_source_fetches_again_when_the_set_expires(find, server, clock):
    server.answers["/jwks.json"] = response(JWKS, "Cache-Control: max-age=100")
    find()
    clock.now += 79
    find()
    assert server.asked() == 1
    clock.now += 21
    find()
    assert server.asked() == 2


def test_source_does_not_call_a_key_unknown_when_it_could_not_ask(find, server, clock):
    server.answers["/jwks.json"] = ONE
    find()
    server.answers["/jwks.json"] = DOWN
    clock.now += 1
    with pytest.raises(KeySourceError):
        find("buyer-es256")
    assert find() is not None


def test_source_says_and_logs_why_it_could_not_fetch_with_an_error_of_its_own_each_time(find, server, caplog):
    server.answers["/jwks.json"] = DOWN
    errors = set()
    for _ in range(2):
        with pytest.raises(KeySourceError, match=r"^the JWK set: the server answers 503$") as raised:
            find()
        errors.add(raised.value)
    assert len(errors) == 2
    [told] = caplog.messages
    assert told.startswith(f"{server.url()}: the JWK set: the server answers 503. There is none yet: signatures are")


def test_source_without_keys_tries_again_soon_and_later_each_time(world, server, clock):
    server.answers["/jwks.json"] = DOWN
    source = RemoteJWKS(server.url(), network=server.network(), clock=clock)
    fetched_at = []
    for _ in range(1000):
        before = server.asked()
        with pytest.raises(KeySourceError):
            world.find(source, "x")
        if server.asked() > before:
            fetched_at.append(clock.now)
        clock.now += 0.25
    pauses = [later - before for before, later in itertools.pairwise(fetched_at)]
    assert pauses[0] <= 2.25
    assert max(pauses) <= 30.25
    assert all(pause >= min(30, 2**number) / 2 for number, pause in enumerate(pauses, 1))


def test_source_is_ready_once_its_keys_are_there_and_begins_to_fetch_them(server, clock):
    server.answers["/jwks.json"] = BOTH
    fetched = threading.Event()
    source = RemoteJWKS(server.url(), network=server.network(on_fetch=lambda _report: fetched.set()), clock=clock)
    assert not source.is_ready()
    assert fetched.wait(60)
    assert source.is_ready()
    clock.now += 300 + Freshness().stale
    assert not source.is_ready()


@pytest.mark.parametrize("mistake", [RuntimeError, asyncio.CancelledError, SystemExit])
def test_source_reports_an_exception_of_a_resolver_as_unavailable(world, server, caplog, mistake):
    def resolve(_host, _port):
        raise mistake("a resolver's mistake")

    source = RemoteJWKS(server.url(), network=server.network(resolve=resolve))
    with pytest.raises(KeySourceError, match="see the log"):
        world.find(source, "x")
    assert "a resolver's mistake" in caplog.text
    # A fetch of an earlier test may end now, and warn.
    assert logging.ERROR in {record.levelno for record in caplog.records}


@pytest.fixture
def impatient(server, clock):
    """A source whose callers do not wait: half a second is much for nothing."""
    network = server.network(wait_timeout=0.001)
    source = RemoteJWKS(server.url(), network=network, clock=clock, freshness=Freshness(stale=1000))
    yield source
    server.hold.set()


def find_at_last(world, source, keyid="buyer-ed25519"):
    """Ask until the fetch that goes on has ended."""
    while True:
        try:
            return world.find(source, keyid)
        except KeySourceError as failure:
            assert "not ended" in str(failure) or "wait_timeout" in str(failure)  # noqa: PT017 - or another one is raised
            world.pause()


def test_request_does_not_wait_for_a_slow_server_and_the_fetch_goes_on(world, server, impatient):
    server.answers["/jwks.json"] = ONE
    server.hold.clear()
    for _ in range(3):
        with pytest.raises(KeySourceError, match="wait_timeout") as raised:
            world.find(impatient, "buyer-ed25519")
        assert raised.value.reason == "signature_jwks_unavailable"
    server.hold.set()
    assert find_at_last(world, impatient) is not None
    assert server.asked() == 1


def test_stale_set_is_used_while_a_slow_server_is_asked(world, server, impatient, clock):
    server.answers["/jwks.json"] = ONE
    assert find_at_last(world, impatient) is not None
    server.hold.clear()
    clock.now += 300
    assert world.find(impatient, "buyer-ed25519") is not None
    with pytest.raises(KeySourceError, match="longer than wait_timeout"):
        world.find(impatient, "buyer-es256")
    server.answers["/jwks.json"] = BOTH
    server.hold.set()
    assert find_at_last(world, impatient, "buyer-es256") is not None
    assert server.asked() == 2


class TestThreads:
    def test_thread_that_waited_for_an_older_fetch_asks_again(self, server):
        server.hold.clear()

        def publish(connection, _request):
            server.answers["/jwks.json"] = BOTH
            connection.sendall(ONE)

        server.answers["/jwks.json"] = publish
        source = RemoteJWKS(server.url(), network=server.network())
        with ThreadPoolExecutor(2) as pool:
            pool.submit(source.find, lookup())
            server.wait_for(1)
            second = pool.submit(source.find, lookup("buyer-es256"))
            time.sleep(0.1)
            server.hold.set()
            assert second.result()
        assert server.asked() == 2


class TestTasks:
    def test_source_answers_without_waiting_when_it_has_the_key(self, server):
        server.answers["/jwks.json"] = BOTH

        async def ask():
            source = RemoteJWKS(server.url(), network=server.network())
            await source.async_find(lookup())
            return source.async_find(lookup("buyer-es256"))

        assert asyncio.run(ask())[0].keyid == "buyer-es256"

    def test_source_of_an_old_event_loop_serves_a_new_one(self, server):
        server.hold.clear()
        source = RemoteJWKS(server.url(), network=server.network())

        async def leave():
            asking = asyncio.ensure_future(source.async_find(lookup()))
            await asyncio.to_thread(server.wait_for, 1)
            asking.cancel()

        asyncio.run(leave())
        server.answers["/jwks.json"] = ONE
        server.hold.set()

        async def ask():
            return await source.async_find(lookup())

        assert asyncio.run(ask())
        assert server.asked() == 1


def report_fetches(server, clock, on_fetch):
    """A source whose fetches are reported."""
    network = replace(server.network(), on_fetch=on_fetch)
    return RemoteJWKS(server.url(), network=network, clock=clock, freshness=Freshness(stale=1000))


def test_each_fetch_is_reported_with_its_time_and_failure(world, server, clock):
    reports: list[FetchReport] = []
    source = report_fetches(server, clock, reports.append)
    server.answers["/jwks.json"] = ONE
    world.find(source, "buyer-ed25519")
    world.find(source, "buyer-ed25519")
    server.answers["/jwks.json"] = DOWN
    clock.now += 301
    world.find(source, "buyer-ed25519")
    assert [(report.document, report.url, report.error) for report in reports] == [
        ("keys", server.url(), None),
        ("keys", server.url(), "signature_jwks_unavailable"),
    ]
    assert all(report.seconds > 0 for report in reports)
    assert reports[1].made is None
    assert reports[0].made == pytest.approx(time.time(), abs=600)


@pytest.mark.parametrize("mistake", [ZeroDivisionError, SystemExit])
def test_exception_of_on_fetch_ends_no_fetch(world, server, clock, caplog, mistake):
    def broken(_report: FetchReport) -> None:
        raise mistake("metrics are down")

    server.answers["/jwks.json"] = ONE
    assert world.find(report_fetches(server, clock, broken), "buyer-ed25519") is not None
    assert "on_fetch raised" in caplog.text


@pytest.mark.parametrize("several", [True, False], ids=["of several", "alone"])
@pytest.mark.parametrize("age", [None, 280, 400], ids=["never fetched", "expires soon", "expired"])
def test_key_that_a_new_set_does_not_have_costs_one_fetch(world, server, clock, age, several):
    def tick() -> float:
        clock.now += 0.001
        return clock.now

    for _ in range(8):
        server.answers["/jwks.json"] = BOTH
        fetched = RemoteJWKS(server.url(), network=server.network(), clock=tick)
        source = KeySources({"": fetched}, clock=tick) if several else fetched
        asked = server.asked()
        if age is not None:
            assert world.find(source, "buyer-es256") is not None
            clock.now += age
            asked += 1
        server.answers["/jwks.json"] = ONE
        assert world.find(source, "stranger" if age == 280 else "buyer-es256") is None
        assert server.asked() == asked + 1
