"""The published signing vectors, read in place: each as data, and the verifier and signer it is meant for."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from undersigned import KeySet, MemoryReplayStore, Profile, Request, RevocationList, Signer, SigningKey, profiles
from undersigned.replay import Caps

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "vectors"
ROOT = Path(os.environ.get("UNDERSIGNED_VECTORS", _BESIDE))
_ADCP = ROOT / "adcp-3.2.4"
_SETS = {
    "request-signing/profile-3.2": (profiles.ADCP_3_2, "request-signing/keys.json"),
    "request-signing": (profiles.ADCP_3_1, "request-signing/keys.json"),
    "webhook-signing": (profiles.ADCP_WEBHOOK, "webhook-signing/keys.json"),
}


@dataclass(frozen=True)
class Vector:
    """One published request, what it is judged by, and what must become of it."""

    name: str
    data: dict
    base_profile: Profile
    published_keys: dict

    @property
    def request(self) -> Request:
        sent = self.data["request"]
        return Request(sent["method"], sent["url"], sent["headers"], sent.get("body", ""))

    @property
    def now(self) -> int:
        return self.data["reference_now"]

    @property
    def code(self) -> str | None:
        return self.data["expected_outcome"].get("error_code")

    @property
    def base(self) -> str | None:
        return self.data.get("expected_signature_base")

    @property
    def label(self) -> str:
        return self.data["expected_outcome"].get("verified_label", "sig1")

    @property
    def profile(self) -> Profile:
        """The profile under the vector's digest policy, with a cap that the harness can fill."""
        policy = self.data.get("verifier_capability", {}).get("covers_content_digest", self.base_profile.digest)
        caps = Caps(1) if self._capped else self.base_profile.caps
        return replace(self.base_profile, digest=policy, caps=caps)

    @property
    def keys(self) -> KeySet:
        override = self.data.get("jwks_override")
        if override is None:
            return KeySet.from_jwks({"keys": [self.published_keys[kid] for kid in self.data["jwks_ref"]]})
        return KeySet.from_jwks(override if "keys" in override else {"keys": list(override.values())})

    @property
    def revocations(self) -> RevocationList | None:
        state = self._state
        if "revocation_list_stale_seconds" in state:
            ended = self.now - state["revocation_list_stale_seconds"]
            return RevocationList(revoked=frozenset(), updated=ended - 600, next_update=ended)
        if "revocation_list" in state:
            published = state["revocation_list"]
            updated, following = (datetime.fromisoformat(published[key]) for key in ("updated", "next_update"))
            return RevocationList(
                revoked=frozenset(published["revoked_kids"]),
                updated=updated.timestamp(),
                next_update=following.timestamp(),
                issuer=published["issuer"],
            )
        if "revoked_kids" in state:
            revoked = frozenset(state["revoked_kids"])
            return RevocationList(revoked=revoked, updated=self.now - 10, next_update=self.now + 600)
        return None

    def store(self) -> MemoryReplayStore:
        """A fresh store in the state the vector starts from."""
        store, caps = MemoryReplayStore(), Caps(10)
        for entry in self._state.get("replay_cache_entries", []):
            until = self.now + entry.get("ttl_seconds", 360)
            store.claim(entry["keyid"], entry["nonce"], now=self.now, until=until, caps=caps)
        if self._capped:
            store.claim(self._capped, "another", now=self.now, until=self.now + 360, caps=caps)
        return store

    def signer(self, keyid: str, **options) -> Signer:
        published = self.published_keys[keyid]
        private = {**published, "key_ops": ["sign"], "d": published["_private_d_for_test_only"]}
        return Signer(SigningKey.from_jwk(private), profile=self.profile, **options)

    @property
    def _state(self) -> dict:
        return self.data.get("test_harness_state", {})

    @property
    def _capped(self) -> str | None:
        filled = self._state.get("replay_cache_per_keyid_cap_hit", {})
        return filled.get("keyid") or self._state.get("per_keyid_cap_filled_for")


def absent(path: Path) -> list[ParameterSet]:
    """One parameter that skips, and says where the data was looked for."""
    reason = f"no published vectors at {path}; set UNDERSIGNED_VECTORS to their directory"
    return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]


def vectors(*kinds: str) -> list[ParameterSet]:
    """A parameter a vector, of the sets' `kinds`: positive, negative."""
    found = []
    for folder, (profile, keys) in _SETS.items():
        for path in sorted(path for kind in kinds for path in (_ADCP / folder / kind).glob("*.json")):
            published = {key["kid"]: key for key in json.loads((_ADCP / keys).read_text("utf-8"))["keys"]}
            name = f"{folder}/{path.parent.name}/{path.stem}"
            found.append(pytest.param(Vector(name, json.loads(path.read_text("utf-8")), profile, published), id=name))
    return found or absent(_ADCP)
