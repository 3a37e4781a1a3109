"""Times in documents and fields: RFC 3339 text and HTTP dates as seconds since the epoch."""

from __future__ import annotations

import math
from datetime import datetime
from email.utils import formatdate, parsedate_to_datetime


def read_time(value: object) -> float:
    """Return a date and time with a zone as seconds since the epoch.

    A value that is not such a text is `math.nan`, which is neither before nor after any time.
    """
    if not isinstance(value, str):
        return math.nan
    try:
        moment = datetime.fromisoformat(value)
        return math.nan if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return math.nan


def read_http_date(value: str) -> int | None:
    """Return an HTTP date, such as `Sun, 22 Nov 2026 00:00:00 GMT`, as seconds since the epoch.

    None means that it is not a date in this form, which senders must write (RFC 9110 section 5.6.7).
    """
    try:
        seconds = int(parsedate_to_datetime(value).timestamp())
    except (ValueError, OverflowError):
        return None
    return seconds if http_date(seconds) == value else None


def http_date(seconds: float) -> str:
    """Return seconds since the epoch as an HTTP date (RFC 9110 section 5.6.7)."""
    return formatdate(int(seconds), usegmt=True)
