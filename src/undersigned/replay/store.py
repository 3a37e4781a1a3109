"""The protocol of a replay store: whether a nonce is fresh, and whether a cap is reached.

RFC 9421 section 7.2.2; AdCP steps 9a, 12 and 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from undersigned.signature.rules import Caps

Claim = Literal["fresh", "seen", "full"]
"""`fresh`: claimed now. `seen`: claimed before and still live. `full`: not claimed, the cap is reached."""

ContentClaim = Literal["fresh", "same", "seen", "full"]
"""As `Claim`; `same`: claimed before, with the same content, and still live. `seen`: with another content."""


class ReplayStore(Protocol):
    """A store that remembers each pair of keyid and nonce until it can no longer be replayed.

    Times are seconds since the epoch. An exception from either method means that the store is unavailable; the request
    is then rejected with 503.

    Attributes:
        blocking: whether a call may block on IO; the ASGI middleware then makes it off the event loop.
    """

    @property
    def blocking(self) -> bool:
        """Whether a call may block."""
        ...

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`. Nothing is claimed; nonces that have ended may be deleted."""
        ...

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """Remember the pair until `until`, atomically with the check that it is new and that no cap is reached.

        Args:
            keyid: the name of the key, with its owner if it has one: any text.
            nonce: the nonce, or the text that the profile remembers instead: any text of any length.
            now: the verifier's clock.
            until: the last moment at which the pair counts as seen. It is not before `now`.
            caps: how many live nonces there may be.

        Returns:
            `seen` if the pair is live already, else `full` if a cap is reached, else `fresh`.
        """
        ...


class AsyncReplayStore(Protocol):
    """A replay store whose answers may be awaitable. A `MemoryReplayStore` is one, too."""

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool | Awaitable[bool]:
        """As `ReplayStore.full`."""
        ...

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim | Awaitable[Claim]:
        """As `ReplayStore.claim`."""
        ...


class ContentStore(ReplayStore, Protocol):
    """A replay store that also knows with which content a nonce came. Every store of this library is one.

    A profile needs one if a sender may repeat a request, such as one with an Idempotency-Key (`accepts_repeats`).
    """

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """As `claim`, and remember the content in the same atomic step. It may count as one more nonce of the key."""
        ...


class AsyncContentStore(AsyncReplayStore, Protocol):
    """A `ContentStore` whose answers may be awaitable."""

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim | Awaitable[ContentClaim]:
        """As `ContentStore.claim_content`."""
        ...
