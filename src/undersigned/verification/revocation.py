"""Revocation lists: keys whose signatures are no longer accepted (AdCP step 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from undersigned.errors import ConfigurationError

_GRACE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationList:
    """A revocation list, as it was last read.

    Args:
        revoked: the key ids revoked.
        updated: when the issuer made the list, seconds since the epoch.
        next_update: when the issuer makes the next one, seconds since the epoch.
        issuer: who made the list.

    Raises:
        ConfigurationError: `next_update` is not after `updated`, or one of them is no time.
    """

    revoked: frozenset[str]
    updated: float
    next_update: float
    issuer: str = ""

    def __post_init__(self) -> None:
        """Refuse a list that is stale from the start or never becomes stale."""
        if not -math.inf < self.updated < self.next_update < math.inf:
            raise ConfigurationError("next_update: must be later than updated, both in seconds since the epoch")

    def is_stale(self, now: float) -> bool:
        """Return whether the list is older than its grace: four intervals beyond `next_update`."""
        return now > self.next_update + _GRACE * (self.next_update - self.updated)
