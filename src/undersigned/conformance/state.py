"""States: the content of a verifier's sources when a vector's request arrives (`test_harness_state`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, cast

from undersigned.conformance.document import Document, MalformedVector
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.rules import Caps
from undersigned.verification.revocation import RevocationList

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.replay.store import ReplayStore
    from undersigned.signature.key_source import KeySource

_TTL = 360
_ROOM = 1_000_000
_INTERVAL = 600
_OTHER = "another"
_CAP_HIT = "replay_cache_per_keyid_cap_hit"
_MEANWHILE = "replay_cache_cap_hit_meanwhile"


@dataclass(frozen=True, slots=True)
class State:
    """The state in which a vector starts, read again for each verification.

    The published members are `replay_cache_entries`, `replay_cache_per_keyid_cap_hit`, `per_keyid_cap_filled_for`,
    `revocation_list`, `revocation_list_stale_seconds` and `revoked_kids`. Our own members are:

    - `replay_cache_cap_hit_meanwhile`: a key's cap is reached between steps 9a and 13;
    - `replay_cache_total_cap_hit`: the cap of all keys together is reached;
    - `now_when_read`: the clock after the content was read;
    - the flags `key_source_down`, `replay_store_down` and `fallback_auth_valid`.
    """

    document: Document
    now: int

    @property
    def fallback(self) -> bool:
        """Whether another authenticator of the application accepts the caller."""
        return self.document.flag("fallback_auth_valid", default=False)

    def clock(self) -> Callable[[], float]:
        """Return a clock that returns `reference_now` once, and then `now_when_read`."""
        times = [self.document.integer("now_when_read", self.now), self.now]
        return lambda: times.pop() if len(times) > 1 else times[0]

    def caps(self, caps: Caps) -> Caps:
        """Return the profile's `caps`, reduced to one if the state asks for a full cache."""
        if self.document.flag("replay_cache_total_cap_hit", default=False):
            return replace(caps, total=1)
        return replace(caps, per_key=1) if self._full_keys() else caps

    def store(self) -> ReplayStore:
        """Return a fresh replay store."""
        if self.document.flag("replay_store_down", default=False):
            return cast("ReplayStore", _Down())
        store = _FilledMeanwhile() if _MEANWHILE in self.document else MemoryReplayStore()
        entries = self.document.documents("replay_cache_entries") if "replay_cache_entries" in self.document else []
        for entry in entries:
            until = self.now + entry.integer("ttl_seconds", _TTL)
            store.claim(entry.text("keyid"), entry.text("nonce"), now=self.now, until=until, caps=Caps(_ROOM))
        for keyid in self._full_keys():
            store.claim(keyid, _OTHER, now=self.now, until=self.now + _TTL, caps=Caps(_ROOM))
        return store

    def keys(self, keys: KeySource) -> KeySource:
        """Return the key source: `keys`, or a source that fails."""
        return cast("KeySource", _Down()) if self.document.flag("key_source_down", default=False) else keys

    def revocations(self) -> RevocationList | None:
        """Return the revocation list, or None if the state has none.

        Raises:
            MalformedVector: a time is malformed.
            ConfigurationError: the list contradicts itself.
        """
        if "revocation_list_stale_seconds" in self.document:
            ended = self.now - self.document.integer("revocation_list_stale_seconds")
            return RevocationList(revoked=frozenset(), updated=ended - _INTERVAL, next_update=ended)
        if "revocation_list" in self.document:
            published = self.document.document("revocation_list")
            return RevocationList(
                revoked=frozenset(published.texts("revoked_kids")),
                updated=_seconds(published.text("updated")),
                next_update=_seconds(published.text("next_update")),
                issuer=published.text("issuer", ""),
            )
        if "revoked_kids" in self.document:
            revoked = frozenset(self.document.texts("revoked_kids"))
            return RevocationList(revoked=revoked, updated=self.now, next_update=self.now + _INTERVAL)
        return None

    def _full_keys(self) -> list[str]:
        """Return the keys with a live nonce other than the vector's, so that a cap of one is reached."""
        if self.document.flag("replay_cache_total_cap_hit", default=False):
            return [_OTHER]
        if "per_keyid_cap_filled_for" in self.document:
            return [self.document.text("per_keyid_cap_filled_for")]
        hits = [name for name in (_CAP_HIT, _MEANWHILE) if name in self.document]
        return [self.document.document(name).text("keyid") for name in hits]


class _Down:
    """A source that always fails."""

    def find(self, _keyid: str) -> object:
        raise ConnectionError("down, because the vector says so")

    def full(self, _keyid: str, **_asked: object) -> object:
        raise ConnectionError("down, because the vector says so")

    def claim(self, _keyid: str, _nonce: str, **_asked: object) -> object:
        raise ConnectionError("down, because the vector says so")


class _FilledMeanwhile(MemoryReplayStore):
    """A store whose cap another request reaches between the check and the claim."""

    __slots__ = ()

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:  # noqa: ARG002 - the protocol's signature
        return False


def _seconds(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise MalformedVector("a time of revocation_list is not an ISO 8601 time") from None
    if moment.tzinfo is None:
        raise MalformedVector("a time of revocation_list has no UTC offset")
    return moment.timestamp()
