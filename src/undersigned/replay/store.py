"""The protocol of a replay store: whether a nonce is fresh, and whether a cap is reached.

RFC 9421 section 7.2.2; AdCP steps 9a, 12 and 13.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Literal, Protocol

from undersigned.errors import UndersignedError
from undersigned.limits import LONGEST_CLOCK_STEP, LONGEST_KEYID, LONGEST_NONCE

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from undersigned.signature.rules import Caps

Claim = Literal["fresh", "same", "seen", "forgotten", "full"]
"""The answer to a claim.

`fresh`: claimed now. `same`: claimed before with the same content, and live until the later end of both claims.
`seen`: claimed before, and still live. `forgotten`: not claimed, because it ends before a nonce that was forgotten, so
it may have been claimed before. That happens if a clock was wrong. `full`: not claimed, because a cap is reached.
"""


_DIGEST: Final = "sha-256:"


class NoConnection(UndersignedError):
    """Raised when no connection of a store's pool became free in time. The operator must act."""


class ReplayStore(Protocol):
    """A store that remembers each pair of key and nonce until it can no longer be replayed.

    Times are seconds since the epoch. An exception from either method means that the store is unavailable; the request
    is then rejected with 503. A store may also have `async_full` and `async_claim`, which an event loop awaits.

    Attributes:
        blocking: whether a call may block on IO; on an event loop, it is then made in a thread.
    """

    @property
    def blocking(self) -> bool:
        """Whether a call may block."""
        ...

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`. Nothing is claimed; nonces that have ended may be deleted.

        A verifier asks this once for each key, and at most once a second while the cap is reached.
        """
        ...

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair until `until`, atomically with the check that it is new and that no cap is reached.

        Args:
            keyid: the name of the key, such as its thumbprint: any text of any length.
            nonce: the nonce, or the text that the profile remembers instead: any text of any length.
            now: the verifier's clock.
            until: the last moment at which the pair counts as seen. It is not before `now`.
            caps: how many live nonces there may be.
            content: a digest of what the nonce came with, to be remembered with it. A profile gives one if a sender
                may repeat a request, such as one with an Idempotency-Key. It may count as one more nonce.

        Returns:
            `seen` if the pair is live already. `same` if it was claimed with the same content; the repeat can be sent
            again, so the pair is then live until `until` at least. Else `full` if a cap is reached, else `fresh`. A
            store that has forgotten a nonce with a later end answers `forgotten` or `seen`.
        """
        ...


class AsyncReplayStore(Protocol):
    """A replay store whose answers may be awaitable. A `MemoryReplayStore` is one, too."""

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool | Awaitable[bool]:
        """As `ReplayStore.full`."""
        ...

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim | Awaitable[Claim]:
        """As `ReplayStore.claim`."""
        ...


def bounded_nonce(nonce: str) -> str:
    """Return the form in which a store keeps `nonce`: unchanged if it has 1 to 32 characters, else its SHA-256 in hex.

    A digest has 64 characters, so it never equals a nonce that is kept as it is. The empty string is free for the
    store's own use. A lone surrogate, which UTF-8 cannot encode, is kept as a digest too.
    """
    return nonce if 0 < len(nonce) <= LONGEST_NONCE and _is_encodable(nonce) else _digest(nonce)


def bounded_keyid(keyid: str) -> str:
    """Return the form in which a store keeps `keyid`: unchanged, or its SHA-256 if it is too long for an index.

    The same holds for a lone surrogate, and for what looks like such a digest.
    """
    is_kept = len(keyid) <= LONGEST_KEYID and _is_encodable(keyid) and not keyid.startswith(_DIGEST)
    return keyid if is_kept else f"{_DIGEST}{_digest(keyid)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def forgettable(now: float, clock: float) -> float:
    """Return the time such that a store may forget the nonces that have ended before it.

    A nonce is forgotten when it has ended by both clocks. A verifier whose clock is ahead, with senders whose clocks
    are, does not make the store forget what is live by the right clock. If the clocks differ by more than
    `LONGEST_CLOCK_STEP`, nobody knows which one is right, and a nonce is kept for that time after its end.

    Args:
        now: the verifier's clock.
        clock: a clock of the store's own.
    """
    return min(now, clock) if abs(now - clock) <= LONGEST_CLOCK_STEP else now - LONGEST_CLOCK_STEP
