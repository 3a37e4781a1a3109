"""A clock that moves only by `advance`, and nonces that are the same in every run."""

from __future__ import annotations

from undersigned.message.structured_fields import base64url


class FrozenNonceClock:
    """A clock and a source of nonces for a signer and a verifier, so that every run of a test makes the same bytes.

    `Signer(key, profile=..., clock=frozen, nonces=frozen.nonce)` and `Verifier(..., clock=frozen)`.

    Args:
        now: seconds since the epoch.

    Attributes:
        now: seconds since the epoch; a test may change it.
    """

    def __init__(self, now: float = 1_776_520_800.0) -> None:
        self.now = now
        self._count = 0

    def __call__(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def nonce(self) -> str:
        """Return the next nonce: unpadded Base64url of 32 bytes that count up."""
        self._count += 1
        return base64url(self._count.to_bytes(32, "big"))
