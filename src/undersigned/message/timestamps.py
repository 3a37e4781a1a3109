"""Times in documents and fields: RFC 3339 text and HTTP dates as seconds since the epoch."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Final

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HTTP_DATE: Final = re.compile(
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{{2}}) ({'|'.join(_MONTHS)}) ([0-9]{{4}}) ([0-9]{{2}}):([0-9]{{2}}):"
    r"([0-9]{2}) GMT"
)


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
    match = _HTTP_DATE.fullmatch(value)
    if match is None:
        return None
    day, month, year, hour, minute, second = match.groups()
    try:
        moment = datetime(
            int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC
        )
    except ValueError:
        return None
    return int(moment.timestamp())


def http_date(seconds: float) -> str:
    """Return seconds since the epoch as an HTTP date (RFC 9110 section 5.6.7)."""
    return formatdate(int(seconds), usegmt=True)
