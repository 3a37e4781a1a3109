"""Replay stores that count the claims of another store."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from opentelemetry.metrics import Counter

    from undersigned import AsyncReplayStore, Caps, Claim, ReplayStore

Answer = TypeVar("Answer")

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

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `ReplayStore.claim`."""
        try:
            result = self._store.claim(keyid, nonce, now=now, until=until, caps=caps, content=content)
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

    __slots__ = ("_claim", "_claims", "_full")

    def __init__(self, store: AsyncReplayStore, claims: Counter) -> None:
        self._full: Callable[..., bool | Awaitable[bool]] = getattr(store, "async_full", store.full)
        self._claim: Callable[..., Claim | Awaitable[Claim]] = getattr(store, "async_claim", store.claim)
        self._claims = claims

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `AsyncReplayStore.full`."""
        return await _resolve(self._full(keyid, now=now, caps=caps))

    async def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `AsyncReplayStore.claim`."""
        try:
            result: Claim = await _resolve(self._claim(keyid, nonce, now=now, until=until, caps=caps, content=content))
        except Exception:
            self._claims.add(1, _FAILED)
            raise
        self._claims.add(1, {"result": result})
        return result


async def _resolve(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer
