"""Replay stores, which a verifier asks whether a nonce is fresh (RFC 9421 section 7.2.2)."""

from undersigned.replay.memory import MemoryReplayStore
from undersigned.replay.sqlite import ReplacedFile, SqliteReplayStore
from undersigned.replay.store import (
    AsyncReplayStore,
    Claim,
    NoConnection,
    ReplayStore,
    bounded_keyid,
    bounded_nonce,
    forgettable,
)

__all__ = [
    "AsyncReplayStore",
    "Claim",
    "MemoryReplayStore",
    "NoConnection",
    "ReplacedFile",
    "ReplayStore",
    "SqliteReplayStore",
    "bounded_keyid",
    "bounded_nonce",
    "forgettable",
]
