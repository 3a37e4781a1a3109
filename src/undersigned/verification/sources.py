"""The sources of a verifier, checked when it is made: its keys, its replay store, its revocations and its clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.signature.key_source import KeySet, is_key_source
from undersigned.signature.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from undersigned.signature.key_source import AsyncKeySource
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.verification.screening import ParsedSignature

_MADE = {
    "keys": "KeySet.from_jwks(jwks)",
    "replay": "MemoryReplayStore()",
    "revocations": "RevocationList.from_json(text)",
}
_OTHER_CLOCKS = (time.monotonic, time.perf_counter, time.time_ns)
"""Functions whose answers are numbers, but not seconds since the epoch."""


def finder(
    keys: AsyncKeySource,
) -> Callable[[ParsedSignature], Sequence[VerificationKey] | Awaitable[Sequence[VerificationKey]]]:
    """Return the function that asks a key source for the keys of a signature."""
    if type(keys) is KeySet:
        # A `KeySet` reads only the keyid, so it needs no `KeyLookup`.
        return keys.find
    return lambda parsed: keys.find(parsed.lookup())


def check_sources(profile: object, keys: object, replay: object, revocations: object, clock: object) -> None:
    """Check the arguments of a verifier, and that a key can verify a signature of the profile.

    Raises:
        ConfigurationError: an argument is of the wrong type, or lacks what the profile needs.
    """
    if not isinstance(profile, Profile):
        raise ConfigurationError(
            'profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2, or profiles.BY_NAME["adcp-3.2"]'
        )
    for option, source in (("keys", keys), ("replay", replay), ("revocations", revocations)):
        if isinstance(source, type):
            raise ConfigurationError(f"{option}: {source.__name__} is a class; make one, such as {_MADE[option]}")
    if not is_key_source(keys):
        raise ConfigurationError(
            "keys: pass a key source: KeySet.from_jwks(jwks) for a JWK set, KeySet.of(key) for keys, or JWKSFile(path)"
        )
    if not callable(getattr(replay, "claim", None)) or not callable(getattr(replay, "full", None)):
        raise ConfigurationError("replay: pass a replay store, such as MemoryReplayStore()")
    if profile.replay.accepts_repeats and not callable(getattr(replay, "claim_content", None)):
        raise ConfigurationError(
            f"replay: profile {profile.name} accepts a repeated request, so the store needs claim_content; "
            "MemoryReplayStore() has it, and the other stores of the library"
        )
    if revocations is not None and not callable(getattr(revocations, "current", None)):
        raise ConfigurationError("revocations: pass a RevocationList or a source of them, or leave it out")
    if not callable(clock) or clock in _OTHER_CLOCKS:
        raise ConfigurationError("clock: pass a function that returns seconds since the epoch, such as time.time")
    if isinstance(keys, KeySet):
        keys.check_for(profile)
