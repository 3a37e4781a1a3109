from __future__ import annotations

import pytest
from tests.keys import KEYS

from undersigned import ConfigurationError
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.state import State
from undersigned.signature.rules import Caps

NOW = 1_776_520_800
CAPS = Caps(10, 100)


def state(**members) -> State:
    return State(Document(members), NOW)


def claim(given: State, keyid: str, nonce: str) -> str:
    return given.store().claim(keyid, nonce, now=NOW, until=NOW + 360, caps=given.caps(CAPS))


def full(given: State, keyid: str) -> bool:
    return given.store().full(keyid, now=NOW, caps=given.caps(CAPS))


def test_empty_state_has_no_nonces_no_revocations_and_free_caps():
    empty = state()
    assert (claim(empty, "k", "n"), full(empty, "k"), empty.caps(CAPS)) == ("fresh", False, CAPS)
    assert empty.revocations() is None
    assert empty.keys(KEYS) is KEYS
    assert empty.fallback is False


def test_state_is_new_each_time():
    given = state()
    assert [claim(given, "k", "n"), claim(given, "k", "n")] == ["fresh", "fresh"]


@pytest.mark.parametrize("entry", [{"keyid": "k", "nonce": "n"}, {"keyid": "k", "nonce": "n", "ttl_seconds": 1}])
def test_entry_of_the_replay_cache_is_a_used_nonce(entry):
    given = state(replay_cache_entries=[entry])
    assert (claim(given, "k", "n"), claim(given, "k", "o"), claim(given, "l", "n")) == ("seen", "fresh", "fresh")


@pytest.mark.parametrize(
    "members", [{"per_keyid_cap_filled_for": "k"}, {"replay_cache_per_keyid_cap_hit": {"keyid": "k"}}]
)
def test_cap_of_a_key_is_reached_for_that_key_only(members):
    given = state(**members)
    assert (full(given, "k"), full(given, "l")) == (True, False)


def test_total_cap_is_reached_for_every_key():
    given = state(replay_cache_total_cap_hit=True)
    assert (full(given, "k"), full(given, "l"), claim(given, "k", "n")) == (True, True, "full")


def test_cap_reached_meanwhile_appears_at_the_claim_only():
    given = state(replay_cache_cap_hit_meanwhile={"keyid": "k"})
    assert (full(given, "k"), claim(given, "k", "n")) == (False, "full")


def test_source_raises_when_it_is_down():
    down = state(key_source_down=True, replay_store_down=True)
    with pytest.raises(ConnectionError):
        down.keys(KEYS).find("k")
    with pytest.raises(ConnectionError):
        full(down, "k")
    with pytest.raises(ConnectionError):
        claim(down, "k", "n")


def test_clock_is_fixed_until_the_content_was_read():
    clock = state().clock()
    assert [clock(), clock(), clock()] == [NOW, NOW, NOW]
    clock = state(now_when_read=NOW + 5).clock()
    assert [clock(), clock(), clock()] == [NOW, NOW + 5, NOW + 5]


def test_revocation_list_comes_from_keys_age_or_publication():
    assert state(revoked_kids=["k"]).revocations().revoked == {"k"}
    assert not state(revocation_list_stale_seconds=2400).revocations().is_stale(NOW)
    assert state(revocation_list_stale_seconds=2401).revocations().is_stale(NOW)
    published = {"revoked_kids": ["k"], "updated": "2026-04-18T14:00:00Z", "next_update": "2026-04-18T14:15:00+00:00"}
    read = state(revocation_list={**published, "issuer": "https://a.example"}).revocations()
    assert (read.revoked, read.updated, read.next_update - read.updated) == ({"k"}, NOW, 900)
    assert read.issuer == "https://a.example"


@pytest.mark.parametrize("time", ["yesterday", "2026-04-18T14:00:00", "", "9999999-01-01T00:00:00Z"])
def test_malformed_time_is_rejected(time):
    published = {"revoked_kids": [], "updated": time, "next_update": "2026-04-18T14:15:00Z"}
    with pytest.raises(MalformedVector, match="a time of revocation_list"):
        state(revocation_list=published).revocations()


def test_revocation_list_is_rejected_when_it_ends_before_it_begins():
    published = {"revoked_kids": [], "updated": "2026-04-18T14:15:00Z", "next_update": "2026-04-18T14:00:00Z"}
    with pytest.raises(ConfigurationError, match="next_update"):
        state(revocation_list=published).revocations()
