"""Replay stores that count the claims of another store."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from opentelemetry.metrics import Counter

    from undersigned import AsyncReplayStore, Caps, Claim, ReplayStore
    from undersigned.replay import AsyncContentStore, ContentClaim, ContentStore

Answer = TypeVar("Answer")
Text = TypeVar("Text", bound=str)

_FAILED: Final = {"result": "error"}


class CountedReplayStore:
    """A replay store for a `Verifier` that counts the claims of another store.

    Args:
        store: the store.
        claims: the counter.
    """

    __slots__ = ("_claims", "_store")

    def __init__(self, store: ReplayStore, claims: Counter) -> None:
        self._store = store
        self._claims = claims

    @property
    def blocking(self) -> bool:
        """Whether a call of the store may block."""
        return getattr(self._store, "blocking", True)

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `ReplayStore.full`."""
        return self._store.full(keyid, now=now, caps=caps)

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """As `ReplayStore.claim`."""
        return self._count(lambda: self._store.claim(keyid, nonce, now=now, until=until, caps=caps))

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """As `ContentStore.claim_content`, of a store that has it."""
        store = cast("ContentStore", self._store)
        return self._count(lambda: store.claim_content(keyid, nonce, content, now=now, until=until, caps=caps))

    def _count(self, claim: Callable[[], Text]) -> Text:
        try:
            result = claim()
        except Exception:
            self._claims.add(1, _FAILED)
            raise
        self._claims.add(1, {"result": result})
        return result


class AsyncCountedReplayStore:
    """A replay store for an `AsyncVerifier` that counts the claims of another store.

    Args:
        store: the store, whose answers may be awaitable.
        claims: the counter.
    """

    __slots__ = ("_claims", "_store")

    def __init__(self, store: AsyncReplayStore, claims: Counter) -> None:
        self._store = store
        self._claims = claims

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `AsyncReplayStore.full`."""
        return await _resolve(self._store.full(keyid, now=now, caps=caps))

    async def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """As `AsyncReplayStore.claim`."""
        return await self._count(lambda: self._store.claim(keyid, nonce, now=now, until=until, caps=caps))

    async def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """As `AsyncContentStore.claim_content`, of a store that has it."""
        store = cast("AsyncContentStore", self._store)
        return await self._count(lambda: store.claim_content(keyid, nonce, content, now=now, until=until, caps=caps))

    async def _count(self, claim: Callable[[], Text | Awaitable[Text]]) -> Text:
        try:
            result: Text = await _resolve(claim())
        except Exception:
            self._claims.add(1, _FAILED)
            raise
        self._claims.add(1, {"result": result})
        return result


async def _resolve(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer
