"""Replay stores, which a verifier asks whether a nonce is fresh (RFC 9421 section 7.2.2)."""

from undersigned.replay.memory import MemoryReplayStore
from undersigned.replay.nonce import bounded_nonce, content_marker
from undersigned.replay.sqlite import ReplacedFile, SqliteReplayStore
from undersigned.replay.store import AsyncContentStore, AsyncReplayStore, Claim, ContentClaim, ContentStore, ReplayStore

__all__ = [
    "AsyncContentStore",
    "AsyncReplayStore",
    "Claim",
    "ContentClaim",
    "ContentStore",
    "MemoryReplayStore",
    "ReplacedFile",
    "ReplayStore",
    "SqliteReplayStore",
    "bounded_nonce",
    "content_marker",
]
