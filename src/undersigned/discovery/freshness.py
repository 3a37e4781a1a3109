"""Freshness: how long a fetched document is used, by its Cache-Control and within the operator's limits."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_AGE = re.compile(r'(?:^|,)[ \t]*max-age=(?:"([0-9]{1,10})"|([0-9]{1,10}))[ \t]*(?=,|$)', re.IGNORECASE | re.ASCII)
_NEVER = re.compile(r"(?:^|,)[ \t]*no-(?:store|cache)[ \t]*(?=,|=|$)", re.IGNORECASE | re.ASCII)
_SECONDS = re.compile(r"[ \t]*([0-9]{1,10})[ \t]*(?:,|$)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """A rule that says how long a fetched document is used. All values are seconds.

    Args:
        least: a document is fresh for at least this long, whatever its Cache-Control says.
        most: a document is fresh for at most this long. A key that its owner has removed is accepted no longer, unless
            the server cannot be reached. AdCP asks for no more than the revocation list's interval.
        default: a document without `max-age` is fresh for this long.
        stale: a document that is no longer fresh is used for this long while it cannot be fetched again.
        interval: the least time between two fetches for something that the document does not have, and after a fetch
            that failed (AdCP: 30).

    Raises:
        ConfigurationError: a value is less than 1 (`stale`: 0), or `default` is not between `least` and `most`.
    """

    least: float = 60.0
    most: float = 900.0
    default: float = 300.0
    stale: float = 86400.0
    interval: float = 30.0

    def __post_init__(self) -> None:
        """Check that the values are finite and in order."""
        for option in ("least", "most", "default", "stale", "interval"):
            check_seconds(option, getattr(self, option), least=0 if option == "stale" else 1)
        if not self.least <= self.default <= self.most:
            raise ConfigurationError("default: give seconds from least to most")

    def lifetime(self, fields: Mapping[str, str]) -> float:
        """Return for how many seconds a response is fresh (RFC 9111 sections 4.2 and 5.2.2).

        `max-age`, or else Expires less Date, counts less the Age field. `no-store` and `no-cache` count as 0, and so
        does an Expires that is no date. Then the limits apply.

        Args:
            fields: the response's headers by lower-case name.
        """
        control = fields.get("cache-control", "")
        found = _MAX_AGE.search(control)
        if _NEVER.search(control):
            lifetime = 0.0
        elif found or "expires" in fields:
            age = _SECONDS.match(fields.get("age", ""))
            lifetime = float(found[1] or found[2]) if found else _expires(fields)
            lifetime -= float(age[1]) if age else 0.0
        else:
            lifetime = self.default
        return min(max(lifetime, self.least), self.most)


def _expires(fields: Mapping[str, str]) -> float:
    """Return the seconds from Date to Expires; 0 if one of them cannot be read."""
    try:
        expires, date = (parsedate_to_datetime(fields[name]) for name in ("expires", "date"))
        return (expires - date).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0


def check_seconds(option: str, value: object, *, least: float) -> None:
    """Check that an option is a finite number of seconds.

    Raises:
        ConfigurationError: it is not, or it is less than `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < math.inf:
        raise ConfigurationError(f"{option}: give seconds, at least {least:g}")
