"""Times in documents: RFC 3339 text as seconds since the epoch."""

from __future__ import annotations

import math
from datetime import datetime


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
