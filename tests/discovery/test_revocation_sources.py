from __future__ import annotations

import json
import queue
from datetime import UTC, datetime

import pytest
from tests.discovery.key_server import response
from tests.keys import EC_PUBLIC, KEYS, PRIVATE, PUBLIC, ed25519_key, es256_key, signed_request, verifier
from tests.tokens.issuing import issue, segment
from tests.workers import wait_until

from undersigned import ConfigurationError, KeyPair, KeySourceError, RevocationList, SignatureError
from undersigned.discovery import KeySources, RemoteRevocationList, RevocationFile, RevocationSources

ISSUER = "https://gov.example.com"
NOW = 1_776_520_800
PINNED = {"keys": [PUBLIC, EC_PUBLIC]}
HEADER = {"alg": "Ed25519", "kid": "buyer-ed25519", "typ": "adcp-gov-revocation+jws"}
KEY, EC_KEY = (KeyPair.from_private_key(key) for key in (ed25519_key(), es256_key()))
OTHER_KEY = KeyPair.generate()


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def publish(*revoked: str, updated: float = NOW, interval: float = 900, **members) -> bytes:
    document = {
        "version": 1,
        "issuer": ISSUER,
        "updated": stamp(updated),
        "next_update": stamp(updated + interval),
        "revoked_jtis": [],
        "revoked_kids": list(revoked),
    }
    return json.dumps(document | members).encode()


def sign(*revoked: str, **members) -> bytes:
    return issue(HEADER, publish(*revoked, **members), KEY).encode()


def flatten(text: bytes) -> bytes:
    protected, payload, signature = text.decode().split(".")
    return json.dumps({"payload": payload, "protected": protected, "signature": signature}).encode()


def general(text: bytes, copies: int = 1) -> bytes:
    protected, payload, signature = text.decode().split(".")
    return json.dumps(
        {"payload": payload, "signatures": [{"protected": protected, "signature": signature}] * copies}
    ).encode()


@pytest.fixture
def wall(clock):
    """The time of day, which goes as the clock goes."""
    return lambda: NOW + clock.now - 1000


@pytest.fixture
def source(server, clock, wall):
    return RemoteRevocationList(
        server.url("/list"), issuer=ISSUER, keys=PINNED, network=server.network(), clock=clock, now=wall
    )


@pytest.fixture
def current(world, source, server):
    """Serve a text, and return what the source has then."""

    def current(text: bytes | None = None, **options):
        if text is not None:
            server.answers["/list"] = response(text, **options)
        return world.current(source)

    return current


@pytest.mark.parametrize("form", [bytes, flatten, general, lambda text: b"\n " + text + b"\n"])
def test_list_is_read_in_each_serialization(current, form):
    listed = current(form(sign("stolen")))
    assert listed.revoked == {"stolen"}
    assert (listed.updated, listed.next_update, listed.issuer) == (NOW, NOW + 900, ISSUER)


@pytest.mark.parametrize(
    ("header", "key"), [(HEADER | {"alg": "EdDSA"}, KEY), (HEADER | {"alg": "ES256", "kid": "buyer-es256"}, EC_KEY)]
)
def test_list_may_be_signed_by_each_algorithm_of_adcp(current, header, key):
    assert current(issue(header, publish("stolen"), key).encode()).revoked == {"stolen"}


HOSTILE = {
    "another key": issue(HEADER, publish(), OTHER_KEY),
    "an unknown kid": issue(HEADER | {"kid": "other"}, publish(), KEY),
    "another type": issue(HEADER | {"typ": "JWT"}, publish(), KEY),
    "algorithm none": issue(HEADER | {"alg": "none"}, publish(), KEY),
    "a key in the header": issue(HEADER | {"jwk": PUBLIC}, publish(), OTHER_KEY),
    "a deep header": issue(b"[" * 300, publish(), KEY),
    "a changed payload": sign().decode().replace(".", ".AA", 1),
    "not ASCII": "é.é.é",
    "nothing": "",
    "two signatures": general(sign(), copies=2).decode(),
    "no signatures": general(sign(), copies=0).decode(),
    "signatures of another type": json.dumps({"payload": "", "signatures": [5]}),
    "an unprotected header": json.dumps({"payload": segment(publish()), "header": HEADER, "signature": ""}),
    "an unsigned list": publish().decode(),
    "another issuer": issue(HEADER, publish(issuer="https://evil.example.net"), KEY),
    "a list of the future": issue(HEADER, publish(updated=NOW + 10_000), KEY),
    "a payload that is not JSON": issue(HEADER, b"list", KEY),
    "a list too large": sign("x" * 262_144).decode(),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_that_is_not_the_issuers_list_is_rejected_and_the_last_good_one_stays(current, clock, text):
    with pytest.raises(KeySourceError) as raised:
        current(text.encode())
    assert raised.value.reason == "signature_revocation_stale"
    clock.now += 30
    assert current(sign("stolen")).revoked == {"stolen"}
    clock.now += 900
    assert current(text.encode()).revoked == {"stolen"}


def test_older_list_does_not_replace_a_newer_one(current, server, clock):
    current(sign("stolen", updated=NOW))
    clock.now += 900
    assert current(sign(updated=NOW - 1)).revoked == {"stolen"}
    clock.now += 30
    server.answers["/list"] = response(sign("other", updated=NOW))
    wait_until(lambda: current().revoked == {"stolen", "other"})
    clock.now += 900
    assert not current(sign(updated=NOW + 1)).revoked


def test_clocks_may_differ_by_a_minute(current, clock):
    with pytest.raises(KeySourceError, match="is in the future"):
        current(sign(updated=NOW + 61))
    clock.now += 30
    assert current(sign("stolen", updated=NOW + 90)).revoked == {"stolen"}


def test_file_of_a_publisher_whose_clock_is_ahead_is_used_when_its_time_has_come(tmp_path, clock, wall):
    path = tmp_path / "list.json"
    path.write_bytes(publish("a"))
    source = RevocationFile(path, clock=clock, now=wall)
    path.write_bytes(publish("a", "b", updated=NOW + 100))
    for seconds, revoked in ((10, {"a"}), (40, {"a", "b"})):
        clock.now += seconds
        assert source.current("").revoked == revoked


@pytest.mark.parametrize("interval", [60, 900, 1800])
def test_list_is_polled_at_its_next_update(current, server, clock, interval):
    current(sign(interval=interval))
    # From a little before, a request begins the next fetch and does not wait for it.
    clock.now += interval * 3 // 4
    current()
    assert server.asked("/list") == 1
    clock.now += interval // 4
    current()
    assert server.asked("/list") == 2


def test_list_that_is_overdue_is_polled_every_minute(current, server, clock):
    current(sign(updated=NOW - 2000))
    clock.now += 45
    current()
    assert server.asked("/list") == 1
    clock.now += 15
    current()
    assert server.asked("/list") == 2


def test_list_of_an_issuer_whose_clock_is_ahead_is_polled_within_half_an_hour(current, server, clock):
    current(sign(updated=NOW + 60, interval=1800))
    clock.now += 1800
    current()
    assert server.asked("/list") == 2


def test_unchanged_list_grows_no_younger(world, source, server, clock):
    server.answers["/list"] = response(sign(), "Cache-Control: max-age=99999")
    first = world.current(source)
    clock.now += 900
    assert world.current(source) == first
    clock.now += 60
    world.current(source)
    assert server.asked("/list") == 3


def test_stale_list_rejects_and_a_fresh_one_heals(server, clock, wall):
    server.answers["/list"] = response(sign())
    source = RemoteRevocationList(
        server.url("/list"), issuer=ISSUER, keys=PINNED, network=server.network(), clock=clock, now=wall
    )

    def judge():
        now = wall()
        request = signed_request(created=int(now))
        return verifier(now=now, revocations=source).verify(request)

    assert judge()
    server.answers.clear()
    clock.now += 900 + 4 * 900
    assert judge()
    clock.now += 31
    with pytest.raises(SignatureError, match="revocation_stale"):
        judge()
    server.answers["/list"] = response(sign("buyer-ed25519", updated=wall()))

    def revokes():
        # The fetch that failed may end after this, and then it is tried again 30 seconds later.
        clock.now += 1
        return source.current("").revoked

    wait_until(revokes)
    with pytest.raises(SignatureError, match="key_revoked"):
        judge()
    server.answers["/list"] = response(sign(updated=wall() + 900))
    clock.now += 900
    wait_until(lambda: not source.current("").revoked)
    assert judge()


def test_remote_list_is_ready_until_it_is_stale_and_its_fetches_say_when_it_was_made(server, clock):
    server.answers["/list"] = response(sign())
    made = queue.Queue()
    network = server.network(on_fetch=lambda report: made.put(report.made))
    options = {"issuer": ISSUER, "keys": PINNED, "network": network, "clock": clock, "now": lambda: NOW}
    source = RemoteRevocationList(server.url("/list"), **options)
    assert not source.is_ready(NOW)
    assert made.get(timeout=60) == NOW
    assert source.is_ready(NOW + 5 * 900)
    assert not source.is_ready(NOW + 5 * 900 + 1)


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://gov.example.com"},
        {"keys": {"keys": []}},
        {"keys": {"keys": [{"kty": "OKP"}]}},
        {"keys": {"keys": [PRIVATE]}},
        {"keys": {"keys": [PUBLIC | {"alg": "RS256"}]}},
        {"keys": []},
    ],
)
def test_source_names_the_option_that_cannot_be_used(options):
    [named] = options
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        RemoteRevocationList(**{"url": "https://gov.example.com/list", "issuer": ISSUER, "keys": PINNED} | options)


class TestSources:
    """Revocation lists by owner."""

    REVOKING = RevocationList(revoked=frozenset({"buyer-ed25519"}), updated=NOW, next_update=NOW + 900)

    def test_list_of_one_owner_does_not_count_for_another(self):
        lists = [RevocationSources({f"{owner}.example.com": self.REVOKING}) for owner in "ba"]
        other, own = [verifier(keys=KeySources({"a.example.com": KEYS}), revocations=one) for one in lists]
        assert other.verify(signed_request())
        with pytest.raises(SignatureError, match="key_revoked"):
            own.verify(signed_request())

    def test_source_of_an_owner_is_asked_and_no_other(self, world, source, server):
        server.answers["/list"] = response(sign("stolen"))
        assert world.current(RevocationSources({"": source, "a": self.REVOKING})).revoked == {"stolen"}
        assert world.current(RevocationSources({"a": self.REVOKING})) is None

    def test_sources_block_when_one_does(self, server):
        remote = RemoteRevocationList(server.url(), issuer=ISSUER, keys=PINNED)
        assert not RevocationSources({"a": self.REVOKING}).blocking
        assert RevocationSources({"a": self.REVOKING, "b": remote}).blocking
