from __future__ import annotations

import asyncio
import gc
import threading
from contextlib import suppress

import pytest
from tests.discovery.conftest import AwaitingSource, BlockingSource
from tests.discovery.key_server import response
from tests.keys import (
    EC_PUBLIC,
    KEYS,
    OTHER_PUBLIC,
    PUBLIC,
    es256_pair,
    lookup,
)
from tests.workers import wait_until

from undersigned import ConfigurationError, KeySet, KeySourceError, VerificationKey
from undersigned.discovery import KeySources, RemoteJWKS

CLASH = {**OTHER_PUBLIC, "kid": PUBLIC["kid"]}


def jwks(*keys) -> bytes:
    return response({"keys": keys})


@pytest.fixture
def pair(server, clock):
    """Sources of two signers, whose keys are at /a and /b."""
    server.answers |= {"/a": jwks(PUBLIC), "/b": jwks(EC_PUBLIC)}
    return KeySources(
        {name: RemoteJWKS(server.url(path), network=server.network(), clock=clock) for name, path in SIGNERS}
    )


DAY = 86_400
SIGNERS = (("a.example.com", "/a"), ("b.example.com", "/b"))


def owners(keys) -> list[str]:
    return [key.owner for key in keys]


def test_source_of_one_signer_is_not_fetched_for_a_key_of_another(world, pair, server, clock):
    world.find_all(pair, lookup())
    assert (server.asked("/a"), server.asked("/b")) == (1, 1)
    for _ in range(3):
        clock.now += 300
        world.find_all(pair, lookup())
    assert (server.asked("/a"), server.asked("/b")) == (4, 1)


def test_kept_key_of_a_signer_whose_server_is_down_is_found_beside_anothers_of_its_name(world, pair, server, clock):
    server.answers["/b"] = jwks(CLASH)
    world.find_all(pair, lookup())
    server.answers["/a"] = response(b"", status="503 Down")
    for seconds in (310, 70, 70):
        clock.now += seconds
        assert sorted(owners(world.find_all(pair, lookup()))) == ["a.example.com", "b.example.com"]


def test_new_key_with_the_name_of_another_signers_key_is_found_at_a_second_look(world, pair, server, clock):
    assert owners(world.find_all(pair, lookup())) == ["a.example.com"]
    server.answers["/b"] = jwks(EC_PUBLIC, CLASH)
    clock.now += 1
    assert owners(world.find_all(pair, lookup())) == ["a.example.com"]
    assert owners(world.find_all(pair, lookup(is_second_try=True))) == ["a.example.com", "b.example.com"]
    assert owners(world.find_all(pair, lookup())) == ["a.example.com", "b.example.com"]


def test_key_that_moved_to_another_signer_is_found_there(world, pair, server, clock):
    world.find_all(pair, lookup())
    server.answers |= {"/a": jwks(EC_PUBLIC), "/b": jwks(PUBLIC)}
    clock.now += 300
    assert owners(world.find_all(pair, lookup())) == ["b.example.com"]


def test_signer_whose_server_is_down_stops_no_other(world, pair, server):
    server.answers["/a"] = response(b"", status="503 Down")
    assert owners(world.find_all(pair, lookup("buyer-es256"))) == ["b.example.com"]
    with pytest.raises(KeySourceError, match="503"):
        world.find_all(pair, lookup())


def test_sources_may_be_of_any_kind_and_block_or_be_awaited_or_fail(world, server):
    class Broken(AtOnce):
        def find(self, asked):
            raise RuntimeError(f"no {asked.keyid}")

    class Wrong(AtOnce):
        def find(self, _asked):
            return None

    server.answers["/a"] = jwks(es256_pair("far")[1])
    own = {"own": (Awaited if world.is_async else AtOnce)(PUBLIC), "blocking": Held(OTHER_PUBLIC)}
    fetched = {"far": RemoteJWKS(server.url("/a"), network=server.network())}
    fixed = {"set": KeySet.from_jwks({"keys": [OTHER_PUBLIC | {"kid": "set"}]}, owner="its own")}
    sources = KeySources(fixed | fetched | own | {"broken": Broken(), "wrong": Wrong()})
    keyids = {"set": "set", "far": "far", PUBLIC["kid"]: "own", OTHER_PUBLIC["kid"]: "blocking"}
    assert {keyid: owners(world.find_all(sources, lookup(keyid))) for keyid in keyids} == {
        keyid: [owner] for keyid, owner in keyids.items()
    }
    with pytest.raises(RuntimeError, match="no nobody"):
        world.find_all(sources, lookup("nobody"))
    with pytest.raises(KeySourceError, match=r"^find of Wrong returned something other than a sequence of keys"):
        world.find_all(KeySources({"set": KEYS, "wrong": Wrong()}), lookup("nobody"))


def test_source_of_the_application_that_hangs_stops_no_other(world, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.DEFAULT_WAIT_TIMEOUT", 0.1)
    released = threading.Event()

    class Hanging:
        blocking = True

        def find(self, _asked):
            released.wait(20)
            return ()

    sources = KeySources({**{f"hanging {number}": Hanging() for number in range(17)}, "set": KEYS})
    assert owners(world.find_all(sources, lookup())) == ["set"]
    with pytest.raises(KeySourceError, match="did not return in time"):
        world.find_all(sources, lookup("stranger"))
    released.set()


def test_task_of_a_source_that_hangs_is_cancelled(monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.DEFAULT_WAIT_TIMEOUT", 0.1)

    class Hanging:
        async def find(self, _asked):
            await asyncio.Event().wait()

    async def checked() -> None:
        before = asyncio.all_tasks()
        assert owners(await KeySources({"hanging": Hanging(), "set": KEYS}).async_find(lookup())) == ["set"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before

    asyncio.run(checked())


def test_request_that_is_cancelled_cancels_what_it_asks_and_no_failure_is_an_error_of_the_loop(caplog, server):
    begun = asyncio.Event()

    class Failing:
        async def find(self, _asked):
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise OSError from None

    async def checked() -> None:
        before = asyncio.all_tasks()
        fetching = RemoteJWKS(server.url(), network=server.network())
        asking = asyncio.ensure_future(KeySources({"failing": Failing(), "a": fetching}).async_find(lookup()))
        await begun.wait()
        asking.cancel()
        await asyncio.wait(asyncio.all_tasks() - before, timeout=5)
        assert asyncio.all_tasks() == before
        gc.collect()

    asyncio.run(checked())
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_signer_whose_server_failed_and_now_hangs_delays_no_other(world, pair, server, clock, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.DEFAULT_WAIT_TIMEOUT", 60)
    released, ended = threading.Event(), threading.Event()

    def hang(_connection, _request) -> None:
        released.wait(5)
        ended.set()

    server.answers |= {"/a": jwks(PUBLIC, EC_PUBLIC), "/b": response(b"", status="503 Down")}
    assert owners(world.find_all(pair, lookup())) == ["a.example.com"]
    server.answers["/b"] = hang
    clock.now += 30
    assert owners(world.find_all(pair, lookup("buyer-es256"))) == ["a.example.com"]
    assert not ended.is_set()
    released.set()


def test_expired_keys_are_used_once_all_sources_hang_until_the_deadline(world, server, clock, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.DEFAULT_WAIT_TIMEOUT", 0.4)
    released, network = threading.Event(), server.network(wait_timeout=0.4)

    def hang(connection, _request) -> None:
        released.wait(5)
        connection.sendall(jwks(EC_PUBLIC))

    paths = [f"/{number}" for number in range(12)]
    server.answers |= dict.fromkeys(paths, jwks(EC_PUBLIC)) | {paths[-1]: jwks(PUBLIC)}
    keys = KeySources({path: RemoteJWKS(server.url(path), network=network, clock=clock) for path in paths}, clock=clock)
    world.find_all(keys, lookup("stranger"))
    server.answers |= dict.fromkeys(paths, hang)
    clock.now += 1000
    assert owners(world.find_all(keys, lookup())) == [paths[-1]]
    released.set()


@pytest.mark.parametrize(
    "sources",
    [
        {"a": None},
        {"a": "https://a.example.com"},
        {"a": b"https://a.example.com"},
        {"a": KeySet},
        {},
        [KEYS],
        KEYS,
    ],
)
def test_sources_that_cannot_be_used_are_a_mistake(sources):
    with pytest.raises(ConfigurationError, match=r"^sources: (a has no|give a) key source"):
        KeySources(sources)


class Held:
    """A source of the application, whose keys a test changes, or which fails."""

    def __init__(self, *jwks) -> None:
        self.jwks, self.fails = jwks, False

    def find(self, asked):
        if self.fails:
            raise KeySourceError("signature_jwks_unavailable", "the database is down")
        keys = [VerificationKey.from_jwk(jwk) for jwk in self.jwks]
        return [key for key in keys if key.keyid == asked.keyid]


class AtOnce(Held):
    blocking = False


class Awaited(Held):
    blocking = False

    async def find(self, asked):
        await asyncio.sleep(0)
        return Held.find(self, asked)


class AwaitedToo(AtOnce):
    def find(self, asked):
        return Awaited.find(self, asked)


@pytest.mark.parametrize(
    ("world", "kind"),
    [
        *((BlockingSource, kind) for kind in (Held, AtOnce)),
        *((AwaitingSource, kind) for kind in (Held, AtOnce, Awaited, AwaitedToo)),
    ],
    indirect=["world"],
)
@pytest.mark.parametrize("failing", [True, False], ids=["while the owner's source fails", "at a second look"])
def test_key_stays_with_who_was_known_first_whoever_copies_it(world, clock, kind, failing):
    owner, copiers = kind(PUBLIC), [kind(OTHER_PUBLIC), kind(CLASH)]
    keys = KeySources({"b": copiers[0], "c": copiers[1], "a": owner}, clock=clock)
    assert owners(world.find_all(keys, lookup())) == ["c", "a"]
    for copier in copiers:
        copier.jwks += (PUBLIC,)
    owner.fails = failing
    for _ in range(2):
        assert owners(world.find_all(keys, lookup())) == (["c"] if failing else ["c", "a"])
        if failing:
            with pytest.raises(KeySourceError, match="database"):
                world.find_all(keys, lookup(is_second_try=True))
        else:
            assert owners(world.find_all(keys, lookup(is_second_try=True))) == ["c", "a"]
        assert owners(world.find_all(keys, lookup(OTHER_PUBLIC["kid"]))) == ["b"]
        clock.now += 31
    owner.fails = False
    assert owners(world.find_all(keys, lookup())) == ["c", "a"]
    owner.jwks, copiers[0].jwks = (), (OTHER_PUBLIC,)
    assert owners(world.find_all(keys, lookup())) == ["c", "c"]


def test_keys_of_one_name_are_tried_in_turn_by_signer():
    keys = KeySources({"mallory": AtOnce(*[CLASH] * 4), "victim": KEYS}).find(lookup())
    assert owners(keys)[:2] == ["mallory", "victim"]


def test_key_of_two_is_nobodys_while_one_of_them_fails_and_the_log_names_both(world, caplog):
    first, second = Held(PUBLIC), Held(PUBLIC)
    keys = KeySources({"a": first, "b": second})
    for failing, match in ((False, "two signers"), (True, "database"), (False, "two signers")):
        first.fails = failing
        with pytest.raises(KeySourceError, match=match):
            world.find_all(keys, lookup())
    [told] = caplog.messages
    assert told.startswith("sources: a and b (keyid 'buyer-ed25519') publish the same key (thumbprint ")


def test_signer_who_had_the_key_while_it_could_not_be_asked_shares_it(world, clock):
    first, second = Held(PUBLIC), Held(PUBLIC)
    keys = KeySources({"a": first, "b": second}, clock=clock)
    first.fails = True
    assert owners(world.find_all(keys, lookup())) == ["b"]
    first.fails = False
    clock.now += 31
    with pytest.raises(KeySourceError, match="two signers"):
        world.find_all(keys, lookup())


def test_copied_key_is_nobodys_while_the_source_that_had_it_fails(world, pair, server, clock):
    assert owners(world.find_all(pair, lookup("buyer-es256"))) == ["b.example.com"]
    server.answers |= {"/a": response(b"", status="503 Down"), "/b": jwks(EC_PUBLIC, PUBLIC)}
    for _ in range(3):
        clock.now += 30 * DAY
        with pytest.raises(KeySourceError, match=r"503|is asked again"):
            world.find_all(pair, lookup())
    server.answers |= {"/a": jwks(PUBLIC), "/b": jwks(EC_PUBLIC)}

    def is_found() -> bool:
        # A fetch that began before may still fail.
        clock.now += 30 * DAY
        with suppress(KeySourceError):
            return owners(world.find_all(pair, lookup())) == ["a.example.com"]
        return False

    wait_until(is_found)


def test_signer_with_many_keyids_displaces_no_other(world, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.key_sources.MOST_HINTS", 4)
    owner, copier = Held(PUBLIC), Held(*[{**OTHER_PUBLIC, "kid": f"{number}"} for number in range(9)])
    keys = KeySources({"b": copier, "a": owner})
    assert owners(world.find_all(keys, lookup())) == ["a"]
    for number in range(9):
        assert owners(world.find_all(keys, lookup(f"{number}"))) == ["b"]
    copier.jwks = (PUBLIC,)
    assert owners(world.find_all(keys, lookup(is_second_try=True))) == ["a"]


def test_new_key_under_a_known_keyid_is_claimed_when_all_were_asked(world):
    owner, copier = AtOnce(PUBLIC), AtOnce(CLASH)
    keys = KeySources({"a": owner})
    assert owners(world.find_all(keys, lookup())) == ["a"]
    owner.jwks = copier.jwks
    assert owners(world.find_all(keys, lookup())) == ["a"]


def test_exception_of_the_owners_source_at_a_second_look_is_no_answer(world):
    class Down(Held):
        def find(self, asked):
            if self.fails:
                raise OSError
            return super().find(asked)

    owner, other = Down(PUBLIC), Held(CLASH)
    keys = KeySources({"a": owner, "b": other})
    assert owners(world.find_all(keys, lookup())) == ["a", "b"]
    owner.fails = True
    with pytest.raises(KeySourceError, match="raised an exception"):
        world.find_all(keys, lookup(is_second_try=True))


def test_source_whose_answers_have_to_be_awaited_is_a_mistake_in_threads():
    with pytest.raises(ConfigurationError, match=r"^sources: .*AsyncVerifier"):
        KeySources({"a": Awaited(PUBLIC)}).find(lookup())
