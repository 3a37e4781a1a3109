"""Revocation lists: keys whose signatures are no longer accepted (AdCP step 9)."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.message.timestamps import read_time
from undersigned.watched_file import NotYet

if TYPE_CHECKING:
    from collections.abc import Awaitable

_logger = logging.getLogger("undersigned")

_GRACE: Final = 4
_LATEST: Final = 32_503_680_000
"""The year 3000 in seconds. Milliseconds of today are beyond it, and such a list would never be stale."""

CLOCK_SKEW: Final = 60
"""Upper bound on the seconds that a list's `updated` may lie in the future: two clocks differ."""

SHORTEST_INTERVAL: Final = 60
"""The least seconds between two lists (AdCP)."""

LONGEST_INTERVAL: Final = 1800
"""The most seconds between two lists (AdCP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationList:
    """A revocation list, as it was last read. It is a `RevocationSource` that applies to every key.

    Args:
        revoked: the revoked key IDs or thumbprints. A key is revoked by each of its names, whatever its signature says.
        updated: when the issuer made the list, seconds since the epoch.
        next_update: when the issuer makes the next one, seconds since the epoch.
        issuer: who made the list.

    Raises:
        ConfigurationError: `next_update` is not after `updated`, or one of them is not a number.
    """

    revoked: frozenset[str]
    updated: float
    next_update: float
    issuer: str = ""
    blocking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Reject a list that is stale from the start or never becomes stale."""
        object.__setattr__(self, "revoked", _key_ids(self.revoked))
        for option, seconds in (("updated", self.updated), ("next_update", self.next_update)):
            if _LATEST < seconds < math.inf:
                raise ConfigurationError(f"{option}: give seconds since the epoch; these look like milliseconds")
        if not -math.inf < self.updated < self.next_update < math.inf:
            raise ConfigurationError("next_update: must be later than updated, both in seconds since the epoch")

    @classmethod
    def from_json(cls, text: bytes | str, *, issuer: str | None = None) -> RevocationList:
        """Read a list as it is published: `issuer`, `updated`, `next_update` and `revoked_kids` (AdCP, Revocation).

        Args:
            text: the JSON object; not its JWS.
            issuer: who must have made the list, or None for anyone.

        Raises:
            ConfigurationError: it is not such a list, or its interval is not 1 to 30 minutes.
        """
        try:
            document: object = loads(text)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise ConfigurationError("the revocation list is not a JSON object without repeated keys")
        return cls.from_document(cast("Mapping[str, object]", document), issuer)

    @classmethod
    def from_document(cls, document: Mapping[str, object], issuer: str | None) -> RevocationList:
        """Read a list that was parsed already, as `from_json`.

        Raises:
            ConfigurationError: it is not a list of this issuer.
        """
        named, kids = document.get("issuer"), document.get("revoked_kids")
        if not isinstance(named, str) or (issuer is not None and named != issuer):
            raise ConfigurationError("the revocation list's issuer is not the expected one")
        if not isinstance(kids, list) or not all(isinstance(kid, str) for kid in cast("list[object]", kids)):
            raise ConfigurationError("the revocation list's revoked_kids is not an array of strings")
        updated, next_update = read_time(document.get("updated")), read_time(document.get("next_update"))
        if math.isnan(updated) or math.isnan(next_update):
            raise ConfigurationError(
                "the revocation list's updated and next_update must be dates and times with a zone, such as "
                "2026-11-22T10:00:00Z"
            )
        if not SHORTEST_INTERVAL <= next_update - updated <= LONGEST_INTERVAL:
            raise ConfigurationError("the revocation list's next_update is not 1 to 30 minutes after its updated")
        return cls(revoked=frozenset(cast("list[str]", kids)), updated=updated, next_update=next_update, issuer=named)

    def after(self, last: RevocationList | None, *, now: float) -> RevocationList:
        """Return the list to use, if this one was read after another: only a newer list takes a revocation back.

        Args:
            last: the list that was read before.
            now: seconds since the epoch.

        Raises:
            ConfigurationError: this list is older, or dated in the future: no current list could replace it.
        """
        if self.updated > now + CLOCK_SKEW:
            raise NotYet(
                "the revocation list's updated is in the future: compare the clock of this machine with its publisher's"
            )
        if last is None or self.updated > last.updated:
            return self
        if self.updated < last.updated:
            raise ConfigurationError("the revocation list is older than the one that was read before")
        if not self.revoked >= last.revoked:
            _logger.warning(
                "the revocation list lacks keys that it had, but its updated is not later: they stay revoked; "
                "`undersigned revoke --restore KID` takes a key off the list"
            )
        return replace(self, revoked=self.revoked | last.revoked)

    def current(self, owner: str) -> RevocationList:  # noqa: ARG002 - the protocol's signature
        """Return this list, whoever owns the key."""
        return self

    @property
    def stale_after(self) -> float:
        """When the list becomes stale: four intervals after `next_update`, seconds since the epoch."""
        return self.next_update + _GRACE * (self.next_update - self.updated)

    def is_stale(self, now: float) -> bool:
        """Return whether the list is stale."""
        return now > self.stale_after

    def is_ready(self, now: float) -> bool:
        """Return whether the list is not stale."""
        return not self.is_stale(now)


def _key_ids(given: object) -> frozenset[str]:
    # A text is a collection of texts too: of its characters.
    if isinstance(given, Collection) and not isinstance(given, (str, bytes, Mapping)):
        kids = list(cast("Collection[object]", given))
        if all(isinstance(kid, str) for kid in kids):
            return frozenset(cast("list[str]", kids))
    raise ConfigurationError("revoked: give the revoked key IDs, such as frozenset({'buyer-2026'})")


class RevocationSource(Protocol):
    """A source of the revocation list that applies to a key.

    Attributes:
        blocking: whether `current` may block on IO; the ASGI middleware then asks it off the event loop.
    """

    @property
    def blocking(self) -> bool:
        """Whether `current` may block."""
        ...

    def current(self, owner: str) -> RevocationList | None:
        """Return the list that applies to the keys of `owner`, or None if there is none for them.

        Args:
            owner: the key's owner, or "" if the key source does not say.

        Raises:
            Exception: the list is unavailable; the signature is then rejected as if the list were stale.
        """
        ...


class AsyncRevocationSource(Protocol):
    """A revocation source whose answers may be awaitable. A `RevocationList` is one, too."""

    def current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """As `RevocationSource.current`, or an awaitable of the answer."""
        ...
